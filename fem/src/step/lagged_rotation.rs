//! The lagged rotation of the linear corotated law: the rotation of each element at the end of the step.
//!
//! With ε = sym(R₀ᵀF) − I an element that rotates by θ is free of stress only when it has grown by 1 + θ²: the linear step follows the
//! chord of a rotation instead of its arc. So the rotation has two roles here. Forces act along R₀, and the strain is measured against
//! T = sym(R₀ᵀR₁) with R₁ a prediction of the rotation at the end. A, its factor and its definiteness are those of T = I.
//!
//! R₁ is first predicted by the rotation of the last step, R₀R_prevᵀR₀. Where it is large it is corrected by fixed-point iteration, and b
//! with it: from the free motion if nothing constrains the body, otherwise from the solution with all constraints, because a deformed
//! body that is held does not rotate as it would in free motion. Without the correction, noise in the rates of rotation would become strain.

use std::f64::consts::SQRT_2;

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::{axial_vector, polar_rotation, rest_stretch};
use pliant_contact_sap::{BodyError, Dynamics};

use super::FemStep;
use super::elements::{ElementState, scale_gradients};
use super::motion::Motion;
use crate::free_motion::{Accuracy, Precision, RestKey};
use crate::matrix::{HookeBlocks, System};
use crate::parallel;
use crate::parts::Preconditioning;

/// Rotations up to this (rad) in a step change T by less than 1e-4 and need no correction.
const ROTATION_CORRECTED: f64 = 0.014;
/// Largest change of T without a further solve by free motion.
const TARGET_CHANGE_MIN: f64 = 1e-4;
/// Largest change of T without a further solve with contact.
const TARGET_CHANGE_IN_CONTACT: f64 = 1e-3;
/// The same relative to the largest T − I, for rotations up to [`ROTATION_WARNED`]: the fraction of the chord's error that remains.
const TARGET_RELATIVE_CHANGE_IN_CONTACT: f64 = 0.05;
/// Rotations up to this (rad) are computed from the rates alone, with an error of θ⁴/24.
const ROTATION_SMALL: f64 = 1e-3;
/// Below this T is I to round-off.
const ROTATION_NONE: f64 = 1e-8;
/// Rotations beyond this (rad) are untested.
pub(super) const ROTATION_WARNED: f64 = 0.6;

impl ElementState {
    /// Predicts T: every element repeats its rotation of the last step.
    pub(super) fn predict_targets(&mut self, motion: &Motion) {
        let parts = &*motion.parts;
        self.predicted_rotation = 0.0;
        self.corrected = false;
        if !motion.has_lagged_rotations() {
            self.targets.clear();
            return;
        }
        self.predicted_rotation = self.largest_rotation(motion, &motion.v);
        if self.predicted_rotation < ROTATION_NONE {
            self.targets.clear();
            return;
        }
        let mut targets = std::mem::take(&mut self.targets);
        targets.resize(parts.domains.len(), Matrix3::identity());
        parallel::fill(&mut targets, |d| {
            let rotation = &self.rotations[d];
            let change = parts.domains.at(d).gradient(&motion.v) * motion.time_step.length_s;
            let sine = axial_vector(&(rotation.transpose() * change));
            if sine.norm_squared() < ROTATION_SMALL * ROTATION_SMALL {
                // cos θ ≈ 1 − θ²/2.
                let across = sine * sine.transpose();
                return Matrix3::identity()
                    + 0.5 * (across - Matrix3::from_diagonal_element(sine.norm_squared()));
            }
            let before = polar_rotation(&(parts.deformation(d, &motion.q) - change));
            rest_stretch(&(before.transpose() * rotation))
        });
        self.targets = targets;
    }

    /// Finds T at the end of a step with velocities `v`, and returns the largest difference from the present T.
    fn find_targets(&mut self, motion: &Motion, v: &[Vector3<f64>]) -> f64 {
        let parts = &*motion.parts;
        let mut targets = std::mem::take(&mut self.new_targets);
        targets.resize(parts.domains.len(), Matrix3::identity());
        let moved = v
            .iter()
            .zip(&motion.q)
            .map(|(v, q)| q + v * motion.time_step.length_s);
        let ends: Vec<Vector3<f64>> = moved.collect();
        parallel::fill(&mut targets, |d| {
            let [before, after] = [&motion.q, &ends].map(|q| parts.deformation(d, q));
            // The polar rotation of an inverted F is not that of the domain.
            if before.determinant() <= 0.0 || after.determinant() <= 0.0 {
                return Matrix3::identity();
            }
            rest_stretch(&(self.rotations[d].transpose() * polar_rotation(&after)))
        });
        let before = |e: usize| match self.targets.get(e) {
            Some(target) => *target,
            None => Matrix3::identity(),
        };
        let change = parallel::largest(targets.len(), |e| (targets[e] - before(e)).norm());
        self.new_targets = targets;
        change
    }

    /// Largest allowed change of T with contact.
    pub(super) fn target_tolerance(&self) -> f64 {
        let targets = &self.new_targets;
        let identity = Matrix3::identity();
        let rotated = parallel::largest(targets.len(), |e| (targets[e] - identity).norm());
        // ‖sym Q − I‖ = √2 (1 − cos θ).
        match rotated > SQRT_2 * (1.0 - ROTATION_WARNED.cos()) {
            true => TARGET_CHANGE_IN_CONTACT,
            false => TARGET_CHANGE_IN_CONTACT.max(TARGET_RELATIVE_CHANGE_IN_CONTACT * rotated),
        }
    }

    /// Whether any element rotates enough for a correction, as predicted or with velocities `v`.
    fn rotates(&self, motion: &Motion, v: &[Vector3<f64>]) -> bool {
        self.predicted_rotation
            .max(self.largest_rotation(motion, v))
            >= ROTATION_CORRECTED
    }

    /// Largest angle by which an element rotates in a step with velocities `v` of all vertices, rad.
    pub(super) fn largest_rotation(&self, motion: &Motion, v: &[Vector3<f64>]) -> f64 {
        let domains = &motion.parts.domains;
        let sine = parallel::largest(domains.len(), |d| {
            let change = domains.at(d).gradient(v) * motion.time_step.length_s;
            axial_vector(&(self.rotation(d).transpose() * change)).norm()
        });
        sine.min(1.0).asin()
    }
}

impl FemStep {
    /// Corrects T and b by the free motion with the same A, if elements rotate enough; returns the free motion then.
    pub(super) fn update_targets_in_free_motion(&mut self) -> Result<Option<&[f64]>, BodyError> {
        if self
            .elements
            .predicted_rotation
            .max(self.rotation_by_net_force())
            < ROTATION_CORRECTED
        {
            return Ok(None);
        }
        self.provide_rest_factor()?;
        let rotation = self.find_mean_rotation();
        let mut v = std::mem::take(&mut self.free);
        v.clone_from(&self.start);
        let mut free_motion = std::mem::take(&mut self.free_motion);
        let solved = free_motion.solve(&self.system, rotation.as_ref(), Accuracy::Inexact, &mut v);
        if solved.is_ok() && self.target_error(&v) > TARGET_CHANGE_MIN {
            self.update_targets();
        }
        let accuracy = Accuracy::Full;
        let solved = solved
            .and_then(|()| free_motion.solve(&self.system, rotation.as_ref(), accuracy, &mut v));
        self.free_motion = free_motion;
        self.free = v;
        match solved {
            Ok(()) => Ok(Some(&self.free)),
            Err(_) => Err(indefinite()),
        }
    }

    /// The largest difference of T from that of velocities `v` of the solve, which is kept for [`FemStep::update_targets`].
    pub(super) fn target_error(&mut self, v: &[f64]) -> f64 {
        let mut velocities = Vec::new();
        self.motion.all_velocities(v, &mut velocities);
        if !self.elements.rotates(&self.motion, &velocities) {
            return 0.0;
        }
        self.elements.find_targets(&self.motion, &velocities)
    }

    /// Sets T to that of the last [`FemStep::target_error`], and computes b with it.
    pub(super) fn update_targets(&mut self) {
        let elements = &mut self.elements;
        std::mem::swap(&mut elements.targets, &mut elements.new_targets);
        elements.corrected = true;
        self.write_right_hand_side();
    }

    /// Factors A at rest for steps of the present length.
    pub(super) fn provide_rest_factor(&mut self) -> Result<(), BodyError> {
        let key = RestKey {
            mass: self.motion.mass_factor(),
            stiffness: self.motion.stiffness_factor(),
        };
        let mut free_motion = std::mem::take(&mut self.free_motion);
        let precision = match self.motion.parts.preconditioning {
            Preconditioning::None => Precision::Single,
            Preconditioning::RestShape => Precision::Double,
        };
        let provided = free_motion.provide_rest(key, precision, || {
            let parts = &*self.motion.parts;
            let mut system = System::default();
            let domains = &parts.domains;
            system.lay_out(domains, &parts.links, &self.motion.dofs);
            let mut gradients = Vec::new();
            scale_gradients(domains, &mut gradients, |d| {
                let scale = (key.stiffness * domains.at(d).volume).sqrt();
                Matrix3::from_diagonal_element(scale)
            });
            let blocks = HookeBlocks {
                domains,
                laws: &parts.laws,
                gradients: &gradients,
            };
            let mass = self.motion.mass_part();
            system.assemble(domains, &parts.links, &self.motion.dofs, mass, &blocks);
            system
        });
        self.free_motion = free_motion;
        provided.map_err(|_| indefinite())
    }

    /// The rotation that takes the rest shape closest to the present one; none where a vertex is held in one direction only.
    pub(super) fn find_mean_rotation(&self) -> Option<Matrix3<f64>> {
        if !self.motion.dofs.is_whole() {
            return None;
        }
        let parts = &*self.motion.parts;
        let mean = |positions: &[Vector3<f64>]| {
            let weighted = positions.iter().zip(&parts.vertex_mass);
            weighted.map(|(p, m)| p * *m).sum::<Vector3<f64>>() / parts.mass()
        };
        let (here, rest) = (mean(&self.motion.q), mean(&parts.rest));
        let mut moment = Matrix3::zeros();
        for ((p, x), mass) in self
            .motion
            .q
            .iter()
            .zip(&parts.rest)
            .zip(&parts.vertex_mass)
        {
            moment += (p - here) * (x - rest).transpose() * *mass;
        }
        Some(polar_rotation(&moment))
    }

    /// Estimate of the rotation of a partly held body by the net force within the step, rad: δt² |net force|/(mass · size).
    fn rotation_by_net_force(&self) -> f64 {
        if !self.motion.dofs.holds_any() {
            return 0.0;
        }
        let mut impulse = vec![0.0; self.motion.dofs.n_dofs()];
        self.system.apply(&self.start, &mut impulse);
        for (impulse, b) in impulse.iter_mut().zip(&self.system.right_hand_side) {
            *impulse = b - *impulse;
        }
        let mut impulses = vec![Vector3::zeros(); self.motion.q.len()];
        self.motion.dofs.scatter(&impulse, &mut impulses);
        let net: Vector3<f64> = impulses.iter().sum();
        let moving = self.motion.dofs.moving().iter();
        let mass: f64 = moving
            .map(|v| self.motion.parts.vertex_mass[*v as usize])
            .sum();
        self.motion.time_step.length_s * net.norm() / (mass * self.motion.parts.extent)
    }
}

fn indefinite() -> BodyError {
    BodyError::Model(
        "A is not positive definite to round-off: stiffness exceeds mass by more than 1e15; use a smaller time step"
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Rotation3;

    #[test]
    fn the_sine_of_a_rotation_follows_from_its_chord() {
        let w: Vector3<f64> = Vector3::new(0.2, -0.1, 0.3);
        let Q = Rotation3::from_scaled_axis(w);
        // R₀ = Q R_prev: δF = R₀ − R_prev, and in the frame of R₀ that is I − Qᵀ.
        let change = Matrix3::identity() - Q.matrix().transpose();
        let sine = axial_vector(&change);
        assert!((sine.norm().asin() - w.norm()).abs() < 1e-14);
        assert!(sine.cross(&w).norm() < 1e-15);
    }
}
