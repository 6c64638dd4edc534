//! The compiled part of the Python package `pliant`: scenes, runs and steps. Numbers cross as native bytes, of which the Python part
//! makes read-only NumPy arrays; the interpreter is released while a step is computed.

mod error;
mod packing;
mod run;
mod scene;
mod simulation;

use pyo3::prelude::*;

#[pymodule]
fn _pliant(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::add(module)?;
    module.add_class::<scene::Scene>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_function(wrap_pyfunction!(scene::scene_names, module)?)?;
    Ok(())
}
