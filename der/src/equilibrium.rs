//! Rest: the state in which elastic forces balance loads, by implicit steps of growing length without momentum.

use nalgebra::Vector3;
use pliant_contact_sap::{BodyState, BodyStep, Control, StartLinearisation, StepInput, TimeStep};

use crate::error::RodError;
use crate::free_motion::{FreeMotionSettings, FreeMotionStop};
use crate::rod::Rod;
use crate::step::RodStep;

/// How rest is searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EquilibriumSettings {
    /// Residual force relative to elastic forces and loads.
    pub relative_tolerance: f64,
    /// Steps before giving up.
    pub steps_max: usize,
}

impl Default for EquilibriumSettings {
    fn default() -> Self {
        Self {
            relative_tolerance: 1e-9,
            steps_max: 300,
        }
    }
}

/// A state at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// The state; velocities are zero.
    pub state: BodyState,
    /// Steps taken.
    pub steps: usize,
    /// Newton iterations of all steps.
    pub iterations: usize,
    /// Residual force relative to elastic forces and loads.
    pub residual: f64,
}

impl Rod {
    /// A state at rest near `start` under `gravity` and `control`: where the rod comes to when it gives up its momentum
    /// after every step. It is stable, or at least a saddle that rounding did not leave. Held velocities stand still; the
    /// natural shape is that of the time of `start`.
    ///
    /// # Errors
    /// [`RodError::NoEquilibrium`], naming the node with the largest force left; [`RodError::Body`] for a state or control
    /// that the rod cannot take.
    pub fn equilibrium(
        &self,
        start: &BodyState,
        gravity: &Vector3<f64>,
        control: &Control,
        settings: &EquilibriumSettings,
    ) -> Result<Equilibrium, RodError> {
        let mut control = control.clone();
        for held in control.held.iter_mut().flatten() {
            *held = 0.0;
        }
        let mut found = Equilibrium {
            state: start.clone(),
            steps: 0,
            iterations: 0,
            residual: f64::INFINITY,
        };
        found.state.v.fill(0.0);
        let mut step = RodStep::new(self);
        step.set_free_motion(FreeMotionSettings {
            relative_tolerance: 1e-10,
            ..self.parts.settings
        });
        let (mut velocity, mut next) = (Vec::new(), BodyState::default());
        let length = self.total_rest_length();
        let slowest = self.slowest_time_s();
        let mut time_step_s = 0.03 * slowest;
        let mut worst = 0;
        while found.steps < settings.steps_max {
            let input = StepInput {
                time_step: TimeStep::from(time_step_s),
                gravity: *gravity,
                control: &control,
            };
            step.begin(&found.state, &input)?;
            (found.residual, worst) = step.static_residual()?;
            if found.residual <= settings.relative_tolerance {
                return Ok(found);
            }
            found.steps += 1;
            let solved = step.linearise_start(&mut velocity);
            let report = step.report();
            found.iterations += report.iterations as usize;
            let converged = report.stop != FreeMotionStop::IterationLimit;
            // What fell short of the minimum lies nearer to it all the same.
            match converged {
                true => step.free_velocity(&mut velocity),
                false => velocity = step.last_iterate().to_vec(),
            }
            if solved.is_err() || step.advance(&velocity, &mut next).is_err() {
                time_step_s *= 0.25;
                continue;
            }
            let moved = velocity.iter().fold(0.0_f64, |a, v| a.max(v.abs())) * time_step_s;
            next.v.fill(0.0);
            // Time stands still for the natural shape.
            next.history[0] = found.state.history[0];
            std::mem::swap(&mut found.state, &mut next);
            // Unloaded rods end with forces that are all round-off: rest is where nothing moves in a very long step.
            if time_step_s > 1e3 * slowest && moved <= 1e-12 * length {
                step.begin(&found.state, &input)?;
                (found.residual, _) = step.static_residual()?;
                return Ok(found);
            }
            let growth = if converged { 4.0 } else { 0.5 };
            time_step_s = (growth * time_step_s).min(1e6 * slowest);
        }
        Err(RodError::NoEquilibrium {
            iterations: found.steps,
            residual: found.residual,
            node: worst,
        })
    }

    /// L² √(ρA/EI) with the softest bending, or the slowest spin where that is slower: times at which a rod swings.
    fn slowest_time_s(&self) -> f64 {
        let parts = &self.parts;
        let length = self.total_rest_length();
        let mass = self.total_mass() / length;
        let soft = parts
            .joint_stiffness
            .iter()
            .zip(&parts.voronoi)
            .map(|(w, v)| w.bend_1.min(w.bend_2).min(w.twist) * v)
            .filter(|s| *s > 0.0)
            .fold(f64::INFINITY, f64::min);
        let bend = length * length * (mass / soft).sqrt();
        let stretch = length * (mass / parts.stretch[0]).sqrt();
        if bend.is_finite() {
            bend
        } else {
            100.0 * stretch
        }
    }
}
