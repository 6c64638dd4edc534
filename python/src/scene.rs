//! Scenes, read and checked.

use std::sync::Arc;

use pliant::runner::{self, ParticleDetail};
use pliant::scene::{self, ParameterOverride, SceneOptions, bundled};
use pyo3::prelude::*;

use crate::error::{of_run, of_scene};
use crate::run::Run;
use crate::simulation::Simulation;

/// A scene, read and checked.
#[pyclass(frozen, module = "pliant._pliant")]
pub(crate) struct Scene {
    scene: Arc<scene::Scene>,
}

#[pymethods]
impl Scene {
    #[new]
    #[pyo3(signature = (path_or_name, overrides, time_step, solver))]
    fn new(
        path_or_name: &str,
        overrides: Vec<String>,
        time_step: Option<f64>,
        solver: Option<String>,
    ) -> PyResult<Self> {
        let parameters = (overrides.iter())
            .map(|text| text.parse::<ParameterOverride>())
            .collect::<Result<_, _>>()
            .map_err(|error| of_scene(&error))?;
        let options = SceneOptions {
            parameters,
            time_step_s: time_step,
            solver,
            ..SceneOptions::default()
        };
        let scene = scene::Scene::load(path_or_name, &options).map_err(|error| of_scene(&error))?;
        Ok(Self {
            scene: Arc::new(scene),
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
        let scene = Arc::clone(&self.scene);
        let made = py.detach(|| runner::Simulation::new(scene));
        Ok(Simulation::new(made.map_err(|error| of_run(&error))?))
    }

    /// The same, recorded.
    fn recorded(&self, py: Python<'_>) -> PyResult<Simulation> {
        let scene = Arc::clone(&self.scene);
        let made = py.detach(|| runner::Simulation::recorded(scene, ParticleDetail::Shown));
        Ok(Simulation::new(made.map_err(|error| of_run(&error))?))
    }

    /// Ends a recorded simulation of this scene.
    #[staticmethod]
    fn finish(simulation: &mut Simulation) -> PyResult<Run> {
        let outcome = simulation.take()?.finish();
        Ok(Run::new(outcome.map_err(|error| of_run(&error))?))
    }
}

/// Names of the bundled scenes.
#[pyfunction]
pub(crate) fn scene_names() -> Vec<&'static str> {
    bundled::SCENES.iter().map(|(name, _)| *name).collect()
}
