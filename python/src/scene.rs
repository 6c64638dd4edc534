//! Scenes, read and checked.

use std::sync::Arc;

use pliant::runner::{self, ParticleDetail, RunError};
use pliant::scene::{self, ParameterOverride, SceneOptions, bundled};
use pyo3::prelude::*;

use crate::error::{of_run, of_scene};
use crate::parts::{Faults, Parts, built_in};
use crate::process::{closing, released};
use crate::run::Run;
use crate::simulation::Simulation;

/// A scene, read and checked.
#[pyclass(frozen, module = "pliant._pliant")]
pub(crate) struct Scene {
    scene: Arc<scene::Scene>,
    faults: Faults,
}

impl Scene {
    fn simulated(
        &self,
        py: Python<'_>,
        make: impl FnOnce(Arc<scene::Scene>) -> Result<runner::Simulation<Arc<scene::Scene>>, RunError>
        + Send,
    ) -> PyResult<Simulation> {
        let made = released(py, || make(Arc::clone(&self.scene)))?;
        self.faults.raise()?;
        let mut held = made.map_err(|error| of_run(&error))?;
        held.cancel_with(closing());
        Ok(Simulation::new(held, self.faults.clone()))
    }
}

#[pymethods]
impl Scene {
    /// The bundled scene or the file of that name; with `text`, a scene of that name that stands in the text.
    #[new]
    #[pyo3(signature = (name, text, overrides, time_step, solver, parts))]
    fn new(
        py: Python<'_>,
        name: &str,
        text: Option<&str>,
        overrides: Vec<String>,
        time_step: Option<f64>,
        solver: Option<String>,
        parts: Option<&Parts>,
    ) -> PyResult<Self> {
        let parameters = (overrides.iter())
            .map(|text| text.parse::<ParameterOverride>())
            .collect::<Result<_, _>>()
            .map_err(|error| of_scene(&error))?;
        let options = SceneOptions {
            parameters,
            time_step_s: time_step,
            solver,
            registry: parts.map_or_else(built_in, Parts::registry),
        };
        let read = released(py, || match text {
            Some(text) => scene::Scene::parse(name, text, &options),
            None => scene::Scene::load(name, &options),
        })?;
        let faults = parts.map_or_else(Faults::default, |parts| parts.faults().clone());
        faults.raise()?;
        Ok(Self {
            scene: Arc::new(read.map_err(|error| of_scene(&error))?),
            faults,
        })
    }

    #[getter]
    fn name(&self) -> &str {
        self.scene.name()
    }

    #[getter]
    fn title(&self) -> &str {
        &self.scene.title
    }

    #[getter]
    fn solver(&self) -> &str {
        self.scene.solver.name()
    }

    #[getter]
    fn stepper(&self) -> &str {
        self.scene.stepper.name()
    }

    #[getter]
    fn time_step(&self) -> f64 {
        self.scene.simulation.time_step_s
    }

    #[getter]
    fn smoke_time(&self) -> f64 {
        self.scene.simulation.smoke_s
    }

    #[getter]
    fn full_time(&self) -> f64 {
        self.scene.simulation.full_s
    }

    #[getter]
    fn parameters(&self) -> std::collections::BTreeMap<String, f64> {
        self.scene.parameters.clone()
    }

    /// The scene at its start. `simulation` records nothing.
    fn simulation(&self, py: Python<'_>) -> PyResult<Simulation> {
        self.simulated(py, runner::Simulation::new)
    }

    /// The same, recorded.
    fn recorded(&self, py: Python<'_>) -> PyResult<Simulation> {
        self.simulated(py, |scene| {
            runner::Simulation::recorded(scene, ParticleDetail::Shown)
        })
    }

    /// Ends a recorded simulation of this scene.
    #[staticmethod]
    fn finish(py: Python<'_>, simulation: &mut Simulation) -> PyResult<Run> {
        let held = simulation.take()?;
        let outcome = released(py, || held.finish())?;
        Ok(Run::new(outcome.map_err(|error| of_run(&error))?))
    }
}

/// Names of the bundled scenes.
#[pyfunction]
pub(crate) fn scene_names() -> Vec<&'static str> {
    bundled::SCENES.iter().map(|(name, _)| *name).collect()
}
