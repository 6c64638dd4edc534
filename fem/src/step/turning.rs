//! Elements that turn within a step, and the linear corotated law: rest strains where the elements will be.
//!
//! With ε = sym(R₀ᵀF) − I an element that turns by θ is at rest only when it has grown by 1 + θ²: the step sees its chord, not
//! its arc. So two roles of the rotation are kept apart: forces point along R₀, and the strain is measured against
//! T = sym(R₀ᵀR₁) with R₁ an estimate of the rotation at the end. A, its factor and its definiteness are those of T = I.
//!
//! R₁ is first that of last step's turn repeated, R₀R_prevᵀR₀. Where something turns it is then taken from the motion found, and b
//! corrected: from the free motion if nothing touches the body, else from the solution with all that does, since what would spring
//! open and is held shut does not turn. Without the correction, noise in the turning rates would become strain.

use std::f64::consts::SQRT_2;

use nalgebra::{Matrix3, Vector3};
use pliant_contact_sap::{BodyError, Dynamics, Integration};

use super::FemStep;
use super::elements::ElementState;
use crate::body::{Preconditioning, Rotation};
use crate::free_motion::{Digits, Exactness, RestKey};
use crate::material::Linearity;
use crate::matrix::{HookeBlocks, System};
use crate::parallel;
use crate::polar_decomposition::rotation_of;

/// Turns up to this (rad) in a step change T by less than 1e-4 and need no correction.
const TURN_CORRECTED: f64 = 0.014;
/// Corrections of T up to this are not worth a solve
const TARGET_CHANGE_MIN: f64 = 1e-4;
/// or, where it is one with contact, up to this
const TARGET_CHANGE_TOUCHED: f64 = 1e-3;
/// or, of turns up to [`TURN_WARNED`], this part of the largest T − I, which is what stays of the chord's error.
const TARGET_PART_TOUCHED: f64 = 0.05;
/// Turns up to this (rad) are taken from the rates alone: what the chord then misses is θ⁴/24.
const TURN_SMALL: f64 = 1e-3;
/// Below this T is I to round-off.
const TURN_NONE: f64 = 1e-8;
/// Turns beyond this (rad) are outside of what following was tested for.
pub(super) const TURN_WARNED: f64 = 0.6;

impl ElementState {
    /// T as if every element went on turning as it did in the last step.
    pub(super) fn expect_last_turn(&mut self, step: &FemStep) {
        let parts = &*step.parts;
        self.turn = 0.0;
        self.corrected = false;
        if !step.follows() {
            self.targets.clear();
            return;
        }
        self.turn = self.largest_turn(step, &step.v);
        if self.turn < TURN_NONE {
            self.targets.clear();
            return;
        }
        let mut targets = std::mem::take(&mut self.targets);
        targets.resize(parts.elements.len(), Matrix3::identity());
        parallel::fill(&mut targets, |e| {
            let element = &parts.elements[e];
            let rotation = &self.rotations[e];
            let change = element.gradient(&step.v) * step.time_step.length_s;
            let turn = turn_of(&(rotation.transpose() * change));
            if turn.norm_squared() < TURN_SMALL * TURN_SMALL {
                // cos θ ≈ 1 − θ²/2.
                let across = turn * turn.transpose();
                return Matrix3::identity()
                    + 0.5 * (across - Matrix3::from_diagonal_element(turn.norm_squared()));
            }
            let before = rotation_of(&(parts.deformation(element, &step.q) - change));
            target(&(before.transpose() * rotation))
        });
        self.targets = targets;
    }

    /// Finds T where velocities `v` lead; by how much any of them differs from what is foreseen.
    fn find_targets(&mut self, step: &FemStep, v: &[Vector3<f64>]) -> f64 {
        let parts = &*step.parts;
        let mut targets = std::mem::take(&mut self.targets_found);
        targets.resize(parts.elements.len(), Matrix3::identity());
        let moved = v
            .iter()
            .zip(&step.q)
            .map(|(v, q)| q + v * step.time_step.length_s);
        let ends: Vec<Vector3<f64>> = moved.collect();
        parallel::fill(&mut targets, |e| {
            let [before, after] =
                [&step.q, &ends].map(|places| parts.deformation(&parts.elements[e], places));
            // Whatever rotation is nearest to what is inside out, or goes there, the element does not turn by it.
            if before.determinant() <= 0.0 || after.determinant() <= 0.0 {
                return Matrix3::identity();
            }
            target(&(self.rotations[e].transpose() * rotation_of(&after)))
        });
        let before = |e: usize| match self.targets.get(e) {
            Some(target) => *target,
            None => Matrix3::identity(),
        };
        let change = parallel::largest(targets.len(), |e| (targets[e] - before(e)).norm());
        self.targets_found = targets;
        change
    }

    /// How far T may be from where velocities found with contact lead.
    pub(super) fn target_tolerance(&self) -> f64 {
        let targets = &self.targets_found;
        let identity = Matrix3::identity();
        let turned = parallel::largest(targets.len(), |e| (targets[e] - identity).norm());
        // ‖sym Q − I‖ = √2 (1 − cos θ).
        match turned > SQRT_2 * (1.0 - TURN_WARNED.cos()) {
            true => TARGET_CHANGE_TOUCHED,
            false => TARGET_CHANGE_TOUCHED.max(TARGET_PART_TOUCHED * turned),
        }
    }

    /// Whether anything turns noticeably, as foreseen or with velocities `v`.
    fn turns(&self, step: &FemStep, v: &[Vector3<f64>]) -> bool {
        self.turn.max(self.largest_turn(step, v)) >= TURN_CORRECTED
    }

    /// Largest angle by which an element turns in a step with velocities `v` of all vertices, rad.
    pub(super) fn largest_turn(&self, step: &FemStep, v: &[Vector3<f64>]) -> f64 {
        let elements = &step.parts.elements;
        let sine = parallel::largest(elements.len(), |e| {
            let change = elements[e].gradient(v) * step.time_step.length_s;
            turn_of(&(self.rotation(e).transpose() * change)).norm()
        });
        sine.min(1.0).asin()
    }
}

impl FemStep {
    /// Whether rest strains go ahead of the elements: by backward Euler only, with which it was tested; the midpoint rule
    /// has its force half a turn ahead already.
    pub(super) fn follows(&self) -> bool {
        self.parts.linearity == Linearity::Corotated
            && self.parts.rotation == Rotation::Followed
            && self.time_step.integration == Integration::BackwardEuler
    }

    /// Corrects b where elements turn noticeably, by the free motion with the same A, which is returned then.
    pub(super) fn update_targets_in_free_motion(&mut self) -> Result<Option<&[f64]>, BodyError> {
        if self.elements.turn.max(self.swing()) < TURN_CORRECTED {
            return Ok(None);
        }
        self.provide_rest_factor()?;
        let turn = self.mean_turn();
        let mut v = std::mem::take(&mut self.free);
        v.clone_from(&self.start);
        let mut free_motion = std::mem::take(&mut self.free_motion);
        let solved = free_motion.solve(&self.system, turn.as_ref(), Exactness::Estimate, &mut v);
        if solved.is_ok() && self.target_error(&v) > TARGET_CHANGE_MIN {
            self.update_targets();
        }
        let exactness = Exactness::Solution;
        let solved =
            solved.and_then(|()| free_motion.solve(&self.system, turn.as_ref(), exactness, &mut v));
        self.free_motion = free_motion;
        self.free = v;
        match solved {
            Ok(()) => Ok(Some(&self.free)),
            Err(_) => Err(indefinite()),
        }
    }

    /// By how much rest strains differ from where velocities `v` of the solve turn the elements, which it keeps.
    pub(super) fn target_error(&mut self, v: &[f64]) -> f64 {
        let mut velocities = Vec::new();
        self.all_velocities(v, &mut velocities);
        if !self.elements.turns(self, &velocities) {
            return 0.0;
        }
        let mut elements = std::mem::take(&mut self.elements);
        let error = elements.find_targets(self, &velocities);
        self.elements = elements;
        error
    }

    /// Takes rest strains and b to where the velocities of the last [`FemStep::target_error`] turn the elements.
    pub(super) fn update_targets(&mut self) {
        let elements = &mut self.elements;
        std::mem::swap(&mut elements.targets, &mut elements.targets_found);
        elements.corrected = true;
        self.write_right_hand_side();
    }

    /// A factor of A at rest, for steps as long as this one.
    pub(super) fn provide_rest_factor(&mut self) -> Result<(), BodyError> {
        let key = RestKey {
            mass: self.mass_factor(),
            stiffness: self.stiffness_factor(),
        };
        let mut free_motion = std::mem::take(&mut self.free_motion);
        let digits = match self.parts.preconditioning {
            Preconditioning::None => Digits::Single,
            Preconditioning::RestShape => Digits::Double,
        };
        let provided = free_motion.provide_rest(key, digits, || {
            let parts = &*self.parts;
            let mut system = System::default();
            system.lay_out(&parts.links, &self.dofs);
            let mut gradients = vec![[Vector3::zeros(); 4]; parts.elements.len()];
            parallel::fill(&mut gradients, |e| {
                let element = &parts.elements[e];
                let scale = (key.stiffness * element.volume).sqrt();
                element.all_gradients().map(|g| g * scale)
            });
            let blocks = HookeBlocks {
                lames: &parts.lames,
                gradients: &gradients,
            };
            system.assemble(&parts.links, &self.dofs, self.mass_part(), &blocks);
            system
        });
        self.free_motion = free_motion;
        provided.map_err(|_| indefinite())
    }

    /// The turn that takes the rest shape closest to where the body is; none where velocities do not come in threes.
    pub(super) fn mean_turn(&self) -> Option<Matrix3<f64>> {
        if !self.dofs.is_whole() {
            return None;
        }
        let parts = &*self.parts;
        let mean = |places: &[Vector3<f64>]| {
            let weighted = places.iter().zip(&parts.vertex_mass);
            weighted.map(|(p, m)| p * *m).sum::<Vector3<f64>>() / parts.mass()
        };
        let (here, rest) = (mean(&self.q), mean(&parts.rest));
        let mut moment = Matrix3::zeros();
        for ((p, x), mass) in self.q.iter().zip(&parts.rest).zip(&parts.vertex_mass) {
            moment += (p - here) * (x - rest).transpose() * *mass;
        }
        Some(rotation_of(&moment))
    }

    /// How far a body that is held somewhere is about to swing by what pulls at it, rad: δt² |net force|/(mass · size).
    fn swing(&self) -> f64 {
        if !self.dofs.holds_any() {
            return 0.0;
        }
        let mut impulse = vec![0.0; self.dofs.n_dofs()];
        self.system.apply(&self.start, &mut impulse);
        for (impulse, b) in impulse.iter_mut().zip(&self.system.right_hand_side) {
            *impulse = b - *impulse;
        }
        let mut impulses = vec![Vector3::zeros(); self.q.len()];
        self.dofs.scatter(&impulse, &mut impulses);
        let net: Vector3<f64> = impulses.iter().sum();
        let moving = self.dofs.moving().iter();
        let mass: f64 = moving.map(|v| self.parts.vertex_mass[*v as usize]).sum();
        self.time_step.length_s * net.norm() / (mass * self.parts.extent)
    }
}

fn indefinite() -> BodyError {
    BodyError::Model(
        "A is not positive definite to round-off: stiffness exceeds mass by more than 1e15; take a smaller time step"
            .into(),
    )
}

/// sin θ times the axis, in the frame of R₀, for R₀ᵀδF.
fn turn_of(change: &Matrix3<f64>) -> Vector3<f64> {
    0.5 * Vector3::new(
        change[(2, 1)] - change[(1, 2)],
        change[(0, 2)] - change[(2, 0)],
        change[(1, 0)] - change[(0, 1)],
    )
}

/// T = sym(Q) of the turn Q, kept invertible: beyond about 73 degrees it stays at 0.3 across the axis.
fn target(turn: &Matrix3<f64>) -> Matrix3<f64> {
    let target = 0.5 * (turn + turn.transpose());
    let cosine = 0.5 * (target.trace() - 1.0);
    if cosine >= 0.3 {
        return target;
    }
    let identity = Matrix3::identity();
    identity + (target - identity) * (0.7 / (1.0 - cosine))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Rotation3;

    #[test]
    fn a_target_is_the_turn_seen_across_and_stays_invertible() {
        let axis = Vector3::new(1.0, 2.0, -0.5).normalize();
        for angle in [0.0_f64, 0.3, 1.2, 2.0, 3.1] {
            let Q = Rotation3::from_scaled_axis(axis * angle);
            let T = target(Q.matrix());
            assert!((T * axis - axis).norm() < 1e-14);
            let across = axis.cross(&Vector3::x()).normalize();
            let expected = angle.cos().max(0.3);
            assert!((T * across - across * expected).norm() < 1e-14, "{angle}");
        }
    }

    #[test]
    fn a_turn_is_read_off_its_chord() {
        let w = Vector3::new(0.2, -0.1, 0.3);
        let Q = Rotation3::from_scaled_axis(w);
        // R₀ = Q seen from the step before: δF = R₀ − R_prev, R₀ᵀδF = I − Qᵀ.
        let change = Matrix3::identity() - Q.matrix().transpose();
        let turn = turn_of(&change);
        assert!((turn.norm().asin() - w.norm()).abs() < 1e-14);
        assert!(turn.cross(&w).norm() < 1e-15);
    }
}
