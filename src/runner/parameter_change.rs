//! A parameter changes between two steps: the scene is read again with its new value, its world is built anew, and the run goes on from its
//! present state.

use std::ops::Deref;

use pliant_coupling::{PatchFinder, State, Stepper};

use super::actuation::Actuation;
use super::assembly::Assembly;
use super::simulation::StateMismatch;
use super::stepping::stepper;
use super::{Run, imaging};
use crate::scene::{Scene, SceneError, SharedDevice, remedy};

/// Why a parameter is not changed.
///
/// ```
/// use pliant::runner::{ParameterFault, Simulation};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
/// let mut simulation = Simulation::new(&scene)?;
/// assert!(matches!(simulation.set_parameter("nu", 0.3), Err(ParameterFault::Unknown { .. })));
/// // The angle enters a pose, which cannot change during a run.
/// let fault = simulation.set_parameter("angle", 0.3).unwrap_err();
/// assert!(matches!(&fault, ParameterFault::Fixed { key, .. } if key.contains("pose")));
/// assert!(fault.to_string().contains("--set angle=VALUE")); // the remedy
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterFault {
    /// The scene has no such parameter.
    #[error("there is no parameter {name:?}{remedy}")]
    Unknown {
        /// Its name.
        name: String,
        /// A similar name or all names, as a clause.
        remedy: String,
    },
    /// It enters bodies, shapes or initial values.
    #[error(
        "`{name}` cannot change during a run, as it enters `{key}`; start again with `--set {name}=VALUE`"
    )]
    Fixed {
        /// Its name.
        name: String,
        /// The key of the scene file.
        key: String,
    },
    /// The scene does not take the value.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The world has other sizes with it.
    #[error(transparent)]
    State(#[from] StateMismatch),
}

impl<S: Deref<Target = Scene>> Run<S> {
    /// Builds the world anew with the parameter `name` of this value, besides the values that came before. The stepper is that of the new
    /// world.
    pub(super) fn set_parameter(
        &mut self,
        name: &str,
        value: f64,
        state: &State,
        device: &SharedDevice,
    ) -> Result<Box<dyn Stepper>, ParameterFault> {
        if !self.scene.parameters.contains_key(name) {
            return Err(ParameterFault::Unknown {
                name: name.into(),
                remedy: remedy(name, self.scene.parameters.keys().map(String::as_str)),
            });
        }
        if let Some(key) = self.scene.parameter_fixed_at(name) {
            return Err(ParameterFault::Fixed {
                name: name.into(),
                key: key.into(),
            });
        }
        let mut values = self.inputs.last_values();
        values.insert(name.into(), value);
        let scene = self.scene.with_parameters(&values)?;
        let mut assembly = Assembly::new(&scene)?;
        let actuation = Actuation::new(&scene, &mut assembly)?;
        // Sensors and cameras add the bodies that carry them, or that they follow, to the picture.
        imaging::sensors(&scene, &mut assembly)?;
        imaging::cameras(&scene, &mut assembly)?;
        let checked = assembly.world.check_state(state);
        checked.map_err(|source| StateMismatch {
            scene: scene.name().into(),
            source,
        })?;
        let stepper = stepper(&scene, device)?;
        self.observer.set_parameters(&scene.parameters);
        self.assembly = assembly;
        self.actuation = actuation;
        self.patches = PatchFinder::default();
        Ok(stepper)
    }

    /// A stepper of the scene with the values that its parameters have by now.
    pub(super) fn stepper(&self, device: &SharedDevice) -> Result<Box<dyn Stepper>, SceneError> {
        let values = self.inputs.last_values();
        match values.is_empty() {
            true => stepper(&self.scene, device),
            false => stepper(&self.scene.with_parameters(&values)?, device),
        }
    }
}
