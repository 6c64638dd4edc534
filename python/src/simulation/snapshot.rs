//! A state kept in memory.

use std::sync::Arc;

use pliant_coupling::State as Whole;
use pyo3::prelude::*;

/// A state of a simulation, to return to.
#[pyclass(frozen, module = "pliant._pliant")]
pub(crate) struct State(pub(super) Arc<Whole>);

#[pymethods]
impl State {
    #[getter]
    fn time(&self) -> f64 {
        self.0.time_s
    }
}
