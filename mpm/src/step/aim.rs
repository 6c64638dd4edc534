//! The rotation that the rest strain of a step follows, and the free motion that tells it.

use nalgebra::Matrix3;

use super::MpmStep;
use crate::free_motion::FreeMotionSettings;
use crate::material::Lagged;
use crate::model::RotationTarget;

/// Targets that differ from the identity by less are not worth a search for the free motion: a turn of about 0.014 rad.
const TARGET_NOTICED: f64 = 1e-4;

/// A target is of second order in the turn of a step: what a free motion that is off by this part makes of it is below a millionth.
const TARGET_TOLERANCE: f64 = 1e-3;

impl MpmStep {
    /// Lets the linear corotated model's rest strain follow the rotation of the step, first as the last step turned, then, if
    /// anything turns noticeably, as the free motion does. The direction of forces stays R₀.
    pub(super) fn aim(&mut self) {
        if self.parts.settings.rotation_target == RotationTarget::Start
            || self.system.alpha() == 0.0
        {
            return;
        }
        let dt = self.system.time_step.forces_s();
        // C was fitted to the last step's velocities at its start, so that I + δt C is what it turned by.
        self.system
            .lag(|system, p| Some(system.particles[p].c * dt));
        let off = |l: &Lagged<f64>| (l.target - Matrix3::identity()).amax();
        let noticed = self.system.lagged.iter().any(|l| off(l) > TARGET_NOTICED);
        if !noticed {
            return;
        }
        let settings = &self.parts.settings.free_motion;
        self.find_free_motion(&FreeMotionSettings {
            rel_tolerance: settings.rel_tolerance.max(TARGET_TOLERANCE),
            ..*settings
        });
        let constant = self.assembled && self.system.is_quadratic();
        self.aimed = constant && self.report.newton_iterations > 0;
        let gradients = std::mem::take(&mut self.free.gradients);
        self.system.lag(|_, p| Some(gradients[p]));
        self.free.gradients = gradients;
    }

    pub(super) fn find_free_motion(&mut self, settings: &FreeMotionSettings) {
        let matrix = self.assembled.then_some(&mut self.matrix);
        let mut v = std::mem::take(&mut self.velocity);
        self.report = self.free.solve(&mut self.system, matrix, settings, &mut v);
        self.velocity = v;
        if !self.report.is_converged() {
            self.warnings.push(format!(
                "the free motion of the material points was left at a residual of {:e} where {:e} was asked for, after {} \
                 Newton iterations; take a shorter step",
                self.report.residual, self.report.tolerance, self.report.newton_iterations
            ));
        }
    }
}
