//! What comes into a simulation between two steps: values of parameters, and pushes.

use std::ops::Deref;

use super::Simulation;
use crate::runner::{ParameterChange, ParameterFault, RunError, RunHooks, RunInputs};
use crate::scene::Scene;

impl<S: Deref<Target = Scene>> Simulation<S> {
    /// Gives a parameter of the scene another value from the next step on. It may enter forces and their laws: gravity, friction, stiffness,
    /// constitutive laws, loads, targets and gains, the contact model and the solver. The scene's expectations keep its first values.
    ///
    /// ```
    /// use pliant::runner::Simulation;
    /// use pliant::scene::{Scene, SceneOptions};
    ///
    /// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
    /// let mut simulation = Simulation::new(&scene)?;
    /// simulation.set_parameter("mu", 0.0)?;
    /// simulation.step(|_| {})?;
    /// let fault = simulation.set_parameter("angle", 0.1).unwrap_err();
    /// assert!(fault.to_string().contains("cannot change during a run"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A parameter that the scene does not have or that enters bodies, shapes or initial values; a value that the scene does not take. Nothing
    /// is changed then.
    pub fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterFault> {
        self.stepper = (self.run).set_parameter(name, value, &self.state, &self.device)?;
        self.stepper.cancel_with(&self.cancellation);
        self.run.inputs.parameters.push(ParameterChange {
            step: self.state.step,
            time_s: self.state.time_s,
            name: name.into(),
            value,
        });
        self.report = None;
        Ok(())
    }

    pub(in crate::runner) fn inputs(&self) -> &RunInputs {
        &self.run.inputs
    }

    /// Takes what comes into the run before its next step: of `given`, and of the hooks.
    pub(in crate::runner) fn take_inputs(
        &mut self,
        given: &RunInputs,
        hooks: &mut dyn RunHooks,
    ) -> Result<(), RunError> {
        let step = self.state.step;
        for (name, value) in given.parameters_at(step) {
            let set = self.set_parameter(name, value);
            set.map_err(|fault| self.refused_start(fault.to_string()))?;
        }
        for (name, value) in hooks.parameters() {
            let result = self.set_parameter(&name, value);
            hooks.changed(&name, value, result);
        }
        self.pushes = given.pushes_at(step).collect();
        (self.pushes).extend(hooks.pushes(&self.run.assembly, &self.state));
        self.run.inputs.add_pushes(step, &self.pushes);
        Ok(())
    }

    /// Takes over what came into the run before its first step.
    pub(in crate::runner) fn take_past_inputs(&mut self, past: RunInputs) -> Result<(), RunError> {
        for (name, value) in past.last_values() {
            let set = self.set_parameter(&name, value);
            set.map_err(|fault| self.refused_start(fault.to_string()))?;
        }
        self.run.inputs = past;
        Ok(())
    }

    fn refused_start(&self, reason: String) -> RunError {
        RunError::Start {
            scene: self.scene().name().into(),
            reason,
        }
    }
}
