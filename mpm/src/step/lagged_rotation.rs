//! The lagged rotation of a step: the rotation that the rest strain of each particle has at its end.
//!
//! R₁ of T = sym(R₀ᵀR₁) is first predicted from the C of the last step. Where it is off, T is corrected by fixed-point iteration, and b
//! with it: from the free motion if nothing constrains the points, otherwise from the solution with all constraints, because a deformed
//! body that is held does not rotate as it would in free motion. The directions of forces, R₀, do not change, and A does not either.

use nalgebra::Matrix3;
use pliant_contact_sap::{CgLimits, Dynamics, ResidualNorm};

use super::MpmStep;
use crate::material::Lagged;
use crate::model::RotationTarget;
use crate::system::StepMotion;

/// Targets that differ from the identity by less need no free motion; this is a rotation of about 0.014 rad.
const TARGET_DIFFERENCE_MIN: f64 = 1e-4;

/// Relative tolerance of the free motion. A target is of second order in the rotation of a step, so that its error is below 1e-6.
const FREE_MOTION_TOLERANCE: f64 = 1e-3;

/// Largest change of targets without a correction by the free motion.
const CHANGE_MIN: f64 = 1e-4;

/// Largest change of targets without a correction with contact, root mean square over the particles of an object.
const CHANGE_IN_CONTACT: f64 = 1e-3;

/// The same relative to their difference from the identity: the fraction of the chord's error that remains.
const RELATIVE_CHANGE_IN_CONTACT: f64 = 0.05;

/// Change of targets to those of given velocities: root mean squares over the particles of the object with the largest change.
#[derive(Clone, Copy, Debug, Default)]
struct TargetChange {
    change: f64,
    rotated: f64,
}

impl MpmStep {
    /// Whether rest strains include the rotation at the end of the step.
    pub(super) fn has_lagged_rotations(&self) -> bool {
        self.parts.settings.rotation_target == RotationTarget::End && self.system.alpha() != 0.0
    }

    /// Predicts T: every particle repeats its rotation of the last step.
    pub(super) fn predict_targets(&mut self) {
        if !self.has_lagged_rotations() {
            return;
        }
        let dt = self.system.time_step.forces_s();
        // C was fitted to the last step's velocities at its start, so that I + δt C is its rotation in that step.
        let mut lagged = std::mem::take(&mut self.system.lagged);
        self.system
            .lag(&mut lagged, |system, p| Some(system.particles[p].c * dt));
        self.system.lagged = lagged;
    }

    /// Corrects T and b by the free motion with the same A, if any particle rotates enough.
    pub(super) fn update_targets_in_free_motion(&mut self) {
        let difference = |l: &Lagged<f64>| (l.target - Matrix3::identity()).amax();
        let rotates = self
            .system
            .lagged
            .iter()
            .any(|l| difference(l) > TARGET_DIFFERENCE_MIN);
        if !rotates {
            return;
        }
        let v = self.free_velocity();
        let found = self.find_targets(&v);
        if found.change > CHANGE_MIN {
            self.update_targets();
        }
    }

    /// A⁻¹b to [`FREE_MOTION_TOLERANCE`].
    pub(super) fn free_velocity(&mut self) -> Vec<f64> {
        if !self.is_linear() {
            return self.velocity.clone();
        }
        let mut v = self.system.start.clone();
        let mut cg = std::mem::take(&mut self.free.cg);
        self.free.preconditioner.factor(&self.diagonal);
        let mut system = (
            |x: &[f64], y: &mut [f64]| self.apply(x, y),
            |r: &[f64], z: &mut [f64]| self.free.preconditioner.apply(r, z),
        );
        let limits = CgLimits {
            norm: ResidualNorm::Preconditioned,
            relative_residual: FREE_MOTION_TOLERANCE,
            iterations_max: self.parts.settings.free_motion.linear_iterations_max as usize,
        };
        let _ = cg.improve(&mut system, limits, &self.right_hand_side, &mut v);
        self.free.cg = cg;
        v
    }

    /// Change of targets to those of velocities `v`, relative to the tolerance.
    pub(super) fn target_error(&mut self, v: &[f64]) -> f64 {
        let TargetChange { change, rotated } = self.find_targets(v);
        change / f64::max(CHANGE_IN_CONTACT, RELATIVE_CHANGE_IN_CONTACT * rotated)
    }

    /// Sets targets to those of the last `find_targets`, and computes b with them.
    pub(super) fn update_targets(&mut self) {
        std::mem::swap(&mut self.system.lagged, &mut self.lagged_found);
        self.write_right_hand_side();
    }

    /// Computes T of velocities `v` for [`MpmStep::update_targets`].
    fn find_targets(&mut self, v: &[f64]) -> TargetChange {
        let system = &self.system;
        let (mut admissible, mut motion) = (Vec::new(), StepMotion::default());
        system.admissible(v, &mut admissible);
        system.motion(&admissible, &mut motion);
        system.lag(&mut self.lagged_found, |_, p| Some(motion.gradients[p]));
        let mut sums = vec![(0.0, 0.0, 0.0); system.materials.len()];
        let each = system.lagged.iter().zip(&self.lagged_found);
        for (particle, (predicted, found)) in system.particles.iter().zip(each) {
            let (n, change, rotated) = &mut sums[particle.object as usize];
            *n += 1.0;
            *change += (found.target - predicted.target).norm_squared();
            *rotated += (found.target - Matrix3::identity()).norm_squared();
        }
        let mut worst = TargetChange::default();
        for (n, change, rotated) in sums {
            let change = (change / f64::max(n, 1.0)).sqrt();
            if change > worst.change {
                worst.change = change;
                worst.rotated = (rotated / n).sqrt();
            }
        }
        worst
    }
}
