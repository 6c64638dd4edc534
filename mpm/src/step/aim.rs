//! The rotation that the rest strain of a step follows: first that of the last step, then the one that the motion found turns out to be.
//!
//! R₁ of T = sym(R₀ᵀR₁) is where the last step's C leads. Where that is not what a step's own velocities do, T and with it b are
//! corrected, and solved with again: by the free motion if nothing touches the points, else by the solution with all that does, since
//! what would spring open and is held shut does not turn. Directions of forces, R₀, stay, and with them A.

use nalgebra::Matrix3;
use pliant_contact_sap::Dynamics;

use super::MpmStep;
use crate::material::Lagged;
use crate::model::RotationTarget;

/// Targets that differ from the identity by less are not worth a search for the free motion: a turn of about 0.014 rad.
const TARGET_NOTICED: f64 = 1e-4;

/// A target is of second order in the turn of a step: what a free motion that is off by this part makes of it is below a millionth.
const FREE_MOTION_TOLERANCE: f64 = 1e-3;

/// Changes of targets up to this are not worth a correction by the free motion,
const CHANGE_MIN: f64 = 1e-4;

/// nor up to this one with contact, in the mean over the particles of an object,
const CHANGE_TOUCHED: f64 = 1e-3;

/// or up to this part of what they differ from the identity by, which is what stays of the chord's error.
const PART_TOUCHED: f64 = 0.05;

/// How far targets are from where velocities lead: root mean squares over the particles of the object that is off most.
#[derive(Clone, Copy, Debug, Default)]
struct TargetChange {
    change: f64,
    turned: f64,
}

impl MpmStep {
    /// Whether rest strains follow the rotation of the step.
    pub(super) fn follows(&self) -> bool {
        self.parts.settings.rotation_target == RotationTarget::End && self.system.alpha() != 0.0
    }

    /// T as if every particle went on turning as it did in the last step.
    pub(super) fn expect_last_turn(&mut self) {
        if !self.follows() {
            return;
        }
        let dt = self.system.time_step.forces_s();
        // C was fitted to the last step's velocities at its start, so that I + δt C is what it turned by.
        let mut lagged = std::mem::take(&mut self.system.lagged);
        self.system
            .lag(&mut lagged, |system, p| Some(system.particles[p].c * dt));
        self.system.lagged = lagged;
    }

    /// Corrects b where something turns noticeably, by the free motion with the same A.
    pub(super) fn update_targets_in_free_motion(&mut self) {
        let off = |l: &Lagged<f64>| (l.target - Matrix3::identity()).amax();
        let noticed = self.system.lagged.iter().any(|l| off(l) > TARGET_NOTICED);
        if !noticed {
            return;
        }
        let v = self.free_velocity();
        let found = self.find_targets(&v);
        if found.change > CHANGE_MIN {
            self.update_targets();
        }
    }

    /// A⁻¹b, roughly.
    pub(super) fn free_velocity(&mut self) -> Vec<f64> {
        if !self.is_linear() {
            return self.velocity.clone();
        }
        let mut v = self.system.start.clone();
        let mut pcg = std::mem::take(&mut self.free.pcg);
        pcg.factor(&self.diagonal);
        let apply = |x: &[f64], y: &mut [f64]| self.apply(x, y);
        let iterations_max = self.parts.settings.free_motion.linear_iterations_max as usize;
        let b = &self.right_hand_side;
        let _ = pcg.solve(apply, b, &mut v, FREE_MOTION_TOLERANCE, iterations_max);
        self.free.pcg = pcg;
        v
    }

    /// How far targets are from where velocities `v` of the solve lead, as a multiple of what is tolerated.
    pub(super) fn target_error(&mut self, v: &[f64]) -> f64 {
        let TargetChange { change, turned } = self.find_targets(v);
        change / f64::max(CHANGE_TOUCHED, PART_TOUCHED * turned)
    }

    /// Takes targets and b to where the velocities that were looked at last lead.
    pub(super) fn update_targets(&mut self) {
        std::mem::swap(&mut self.system.lagged, &mut self.lagged_found);
        self.write_right_hand_side();
    }

    /// Finds T where velocities `v` lead, and keeps it.
    fn find_targets(&mut self, v: &[f64]) -> TargetChange {
        let system = &self.system;
        let (mut admissible, mut gradients) = (Vec::new(), Vec::new());
        system.admissible(v, &mut admissible);
        system.step_gradients(&admissible, &mut gradients);
        system.lag(&mut self.lagged_found, |_, p| Some(gradients[p]));
        let mut sums = vec![(0.0, 0.0, 0.0); system.materials.len()];
        let each = system.lagged.iter().zip(&self.lagged_found);
        for (particle, (foreseen, found)) in system.particles.iter().zip(each) {
            let (n, change, turned) = &mut sums[particle.object as usize];
            *n += 1.0;
            *change += (found.target - foreseen.target).norm_squared();
            *turned += (found.target - Matrix3::identity()).norm_squared();
        }
        let mut worst = TargetChange::default();
        for (n, change, turned) in sums {
            let change = (change / f64::max(n, 1.0)).sqrt();
            if change > worst.change {
                worst.change = change;
                worst.turned = (turned / n).sqrt();
            }
        }
        worst
    }
}
