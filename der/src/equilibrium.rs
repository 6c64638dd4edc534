//! Static equilibrium, by implicit steps of growing length with the velocity reset to zero (dynamic relaxation).

use nalgebra::Vector3;
use pliant_contact_sap::{BodyState, BodyStep, Control, StartLinearisation, StepInput, TimeStep};

use crate::error::RodError;
use crate::free_motion::FreeMotionStop;
use crate::free_motion_settings::FreeMotionSettings;
use crate::rod::Rod;
use crate::step::RodStep;

/// Convergence settings of [`Rod::equilibrium`].
///
/// ```
/// use pliant_der::EquilibriumSettings;
/// # use nalgebra::{Point3, Vector3};
/// # use pliant_contact_sap::DeformableModel;
/// # use pliant_der::{Centreline, Material, RodBuilder, Section};
///
/// // A free rod in gravity has no equilibrium: the search ends at the limit of steps.
/// # let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 5);
/// # let rod = RodBuilder::new(line).section(Section::Circle { radius: 5e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?).build()?;
/// let settings = EquilibriumSettings { steps_max: 10, ..EquilibriumSettings::default() };
/// let gravity = Vector3::new(0.0, 0.0, -9.81);
/// assert!(rod.equilibrium(&rod.default_state(), &gravity, &rod.default_control(), &settings).is_err());
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EquilibriumSettings {
    /// Tolerance on the residual force, relative to elastic forces and loads; default 1e-9.
    pub relative_tolerance: f64,
    /// Largest number of implicit steps; default 300.
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

/// A state of static equilibrium, from [`Rod::equilibrium`]: ∇E = f with the forces f of weight, efforts and loads on all unknowns that
/// are not held.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_der::{Centreline, Material, RodBuilder, Section};
/// use pliant_der::EquilibriumSettings;
///
/// // A rubber band of 1 m that hangs from its first node stretches by ρgL²/2E.
/// # let line = Centreline::straight(Point3::origin(), Point3::new(0.0, 0.0, -1.0), 20);
/// # let (section, rubber) = (Section::Circle { radius: 5e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?);
/// let band = RodBuilder::new(line).section(section, rubber).pin(0).build()?;
/// let (gravity, settings) = (Vector3::new(0.0, 0.0, -9.81), EquilibriumSettings::default());
/// let found = band.equilibrium(&band.default_state(), &gravity, &band.default_control(), &settings)?;
/// let stretch = -band.position(&found.state, 20).z - 1.0;
/// assert!((stretch - 1000.0 * 9.81 / 2e6).abs() < 1e-8);
/// assert!(found.residual <= 1e-9 && found.state.v.iter().all(|v| *v == 0.0));
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// The state; velocities are zero and the time is that of the start.
    pub state: BodyState,
    /// Steps taken.
    pub steps: usize,
    /// Newton iterations, summed over all steps.
    pub iterations: usize,
    /// Norm of the residual force, relative to that of elastic forces and loads.
    pub residual: f64,
}

impl Rod {
    /// A static equilibrium near `start` under `gravity` and `control`, found by implicit steps whose velocity is reset to
    /// zero. It is a minimum of the potential, or a saddle point that rounding does not leave. Held unknowns are at rest;
    /// the natural shape is that at the time of `start`.
    ///
    /// # Errors
    /// [`RodError::NoEquilibrium`] with the node of the largest residual force; [`RodError::Body`] for an inadmissible state
    /// or an invalid control.
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
            // An iterate that has not converged is closer to the minimum all the same.
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
            // The natural shape stays that of the start time.
            next.history[0] = found.state.history[0];
            std::mem::swap(&mut found.state, &mut next);
            // In unloaded rods all forces are round-off: they are at rest if a very long step does not move them.
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

    /// Characteristic time of the slowest vibrations, s: L² √(ρA/EI) with the least stiffness.
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
