//! A quantity that Python measures.

use std::sync::Arc;

use pliant::registry;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::{Faults, Settings};
use crate::packing::{contacts, floats};

/// A state and the step that led to it, as copies.
#[pyclass(frozen, module = "pliant._pliant")]
pub(crate) struct Snapshot {
    state: pliant_coupling::State,
    names: Vec<String>,
    contacts: Vec<pliant_coupling::ContactForce>,
    kinetic: f64,
    potential: f64,
}

#[pymethods]
impl Snapshot {
    #[getter]
    fn time(&self) -> f64 {
        self.state.time_s
    }

    #[getter]
    fn kinetic_energy(&self) -> f64 {
        self.kinetic
    }

    #[getter]
    fn potential_energy(&self) -> f64 {
        self.potential
    }

    fn bodies(&self) -> Vec<String> {
        self.names.clone()
    }

    fn positions<'py>(&self, py: Python<'py>, body: usize) -> Bound<'py, PyBytes> {
        floats(py, self.state.bodies[body].q.iter().copied())
    }

    fn velocities<'py>(&self, py: Python<'py>, body: usize) -> Bound<'py, PyBytes> {
        floats(py, self.state.bodies[body].v.iter().copied())
    }

    fn contacts<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        contacts(py, &self.contacts)
    }
}

impl Snapshot {
    fn of(snapshot: &registry::Snapshot<'_>) -> Self {
        let registry::Snapshot { world, state, step } = snapshot;
        let energy = world.energy(state);
        let names = (0..world.n_bodies()).map(pliant_coupling::BodyIdx);
        Self {
            state: (*state).clone(),
            names: names.map(|body| world.body_name(body).into()).collect(),
            contacts: step.map_or_else(Vec::new, |(report, _)| report.contacts.clone()),
            kinetic: energy.kinetic,
            potential: energy.potential,
        }
    }
}

pub(super) fn measured(
    measure: Arc<Py<PyAny>>,
    settings: Settings,
    faults: Faults,
) -> impl Fn(&registry::Snapshot<'_>) -> f64 + Send + Sync + 'static {
    move |snapshot| {
        let snapshot = Snapshot::of(snapshot);
        let value = Python::attach(|py| {
            let keywords = settings.keywords(py)?;
            let value = measure.bind(py).call((snapshot,), Some(&keywords))?;
            value.extract::<f64>()
        });
        faults.or(value, f64::NAN)
    }
}
