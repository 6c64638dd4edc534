//! The tori of Ding and Schroeder (2020) over friction and stiffness: is every cell of μ × k stable?
//!
//! A cell passes where no step fails, positions and velocities are finite, and energy, kinetic and of gravity and strain, does not grow beyond that at the start.
//! Steps whose balance misses the tolerance are counted; the paper has some at k = 1e4.

use pliant::runner::check;
use pliant::scene::{ParameterOverride, Scene, SceneOptions};
use pliant_contact_sap::SolverKind;
use pliant_coupling::{State, StepReport};

use crate::error::BenchError;

const SCENE: &str = "penalty-tori";

/// μ of the paper's sweep.
pub const FRICTIONS: [f64; 6] = [0.1, 0.2, 0.5, 0.6, 1.0, 10.0];
/// k of the paper's sweep, N/m.
pub const STIFFNESSES: [f64; 4] = [10.0, 1e2, 1e3, 1e4];

/// A cell of the sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepCell {
    /// μ.
    pub friction: f64,
    /// k, N/m.
    pub stiffness: f64,
    /// Steps taken, and those whose balance missed the tolerance.
    pub steps: u64,
    /// Untrusted ones among them.
    pub untrusted: u64,
    /// Newton iterations a step.
    pub iterations: f64,
    /// Mean number of contacts in the last tenth of the run.
    pub contacts: f64,
    /// Largest energy less that at the start, over the height of energy that a fall to the floor takes up.
    pub gain: f64,
    /// Why the run ended early.
    pub failure: Option<String>,
}

impl SweepCell {
    /// Runs the scene for a simulated time (s).
    ///
    /// # Errors
    /// [`BenchError::Scene`] if the scene cannot be loaded; a step that fails is a failure of the cell.
    pub fn run(friction: f64, stiffness: f64, until_s: f64) -> Result<Self, BenchError> {
        let failed = |e: &dyn std::fmt::Display| BenchError::Scene {
            name: SCENE.into(),
            reason: e.to_string(),
        };
        let setting = |name: &str, value: f64| ParameterOverride {
            name: name.into(),
            value: value.to_string(),
        };
        let options = SceneOptions {
            parameters: vec![setting("mu", friction), setting("k", stiffness)],
            ..SceneOptions::default()
        };
        let scene = Scene::load(SCENE, &options).map_err(|e| failed(&e))?;
        let assembly = check(&scene).map_err(|e| failed(&e))?;
        let solver = SolverKind::Newton.build(pliant_contact_sap::StopCriteria::default());
        let mut stepper = scene.stepper.build(solver).map_err(|e| failed(&e))?;
        let dt = scene.simulation.time_step_s;
        let energy = |state: &State| {
            let energy = assembly.world.energy(state);
            energy.kinetic + energy.potential
        };
        let (mut state, mut next) = (assembly.state.clone(), State::default());
        let mut report = StepReport::default();
        let start = energy(&state);
        let planned = ((until_s / dt).round() as u64).max(1);
        let mut cell = Self {
            friction,
            stiffness,
            steps: 0,
            untrusted: 0,
            iterations: 0.0,
            contacts: 0.0,
            gain: 0.0,
            failure: None,
        };
        let tail = (planned / 10).max(1);
        while cell.steps < planned {
            let stepped = stepper.step_into(&assembly.world, &state, dt, &mut next, &mut report);
            if let Err(error) = stepped {
                cell.failure = Some(error.to_string());
                break;
            }
            std::mem::swap(&mut state, &mut next);
            cell.steps += 1;
            cell.untrusted += u64::from(!report.is_trusted());
            if let Some(penalty) = &report.penalty_force {
                cell.iterations += penalty.iterations as f64;
            }
            if cell.steps + tail > planned {
                cell.contacts += report.contacts.len() as f64 / tail as f64;
            }
            let gain = (energy(&state) - start) / start.abs();
            if gain.is_nan() {
                cell.failure = Some("a position or velocity is not finite".into());
                break;
            }
            cell.gain = cell.gain.max(gain);
        }
        cell.iterations /= cell.steps.max(1) as f64;
        Ok(cell)
    }

    /// Whether the motion is stable.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.failure.is_none() && self.gain <= 1e-6
    }

    /// The cell in a table.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.failure {
            Some(failure) => format!("fails after {} steps: {failure}", self.steps),
            None => format!(
                "{}, {} of {} steps untrusted, {:.1} iterations",
                if self.passes() {
                    "pass"
                } else {
                    "gains energy"
                },
                self.untrusted,
                self.steps,
                self.iterations
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_stable_in_its_first_steps_and_one_with_an_error_fails() {
        let cell = SweepCell::run(10.0, 1e4, 0.01).unwrap();
        assert_eq!(cell.steps, 5);
        assert!(cell.passes(), "{cell:?}");
        assert!(cell.text().starts_with("pass"));
        let failed = SweepCell {
            failure: Some("diverged".into()),
            ..cell
        };
        assert!(!failed.passes() && failed.text().contains("diverged"));
    }
}
