//! The balance of momentum: m(v), A and b.

use nalgebra::Vector3;
use pliant_contact_sap::{Assembled, BlockDiagonal, BodyError, Dynamics};

use super::FemStep;
use super::elements::{Elasticity, Scratch};
use crate::material::Linearity;
use crate::parallel;
use crate::parts::Preconditioning;

impl FemStep {
    /// m(v) of all vertices for velocities `v` of all vertices.
    pub(super) fn momentum(
        &self,
        v: &[Vector3<f64>],
        elasticity: Elasticity,
        scratch: &mut Scratch,
    ) {
        let parts = &*self.motion.parts;
        let dt = self.motion.time_step.length_s;
        let alpha = parts.damping.mass;
        self.elements
            .write_stresses(&self.motion, v, elasticity, scratch);
        let Scratch {
            field,
            residual,
            stresses,
            ..
        } = scratch;
        // M(v − v0 + δtα v^θ).
        let change = v.iter().enumerate().map(|(vertex, v)| {
            (v - self.motion.v[vertex]) + self.motion.force_velocity(vertex, v) * (dt * alpha)
        });
        field.clear();
        field.extend(change);
        residual.resize(v.len(), Vector3::zeros());
        parts.mass_product(field, residual);
        let stresses = &*stresses;
        parallel::update(residual, |vertex, momentum| {
            let internal = parts.internal_force(vertex as u32, stresses);
            *momentum += (internal - self.external[vertex]) * dt;
        });
    }

    /// Computes b with the present rest strains. For laws that are linear within the step, m is affine and b = −m(0). For others
    /// b = A v0 − m(v0) with stresses extrapolated from the start, where A is evaluated; the projection of tangents then resists only
    /// changes of velocity.
    pub(super) fn write_right_hand_side(&mut self) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let quadratic = self.motion.parts.linearity != Linearity::Nonlinear;
        let mut v = std::mem::take(&mut scratch.velocity);
        v.clone_from(&self.motion.v);
        let mut b = std::mem::take(&mut self.system.right_hand_side);
        scratch.values.clear();
        scratch.values.resize(self.motion.dofs.n_dofs(), 0.0);
        if quadratic {
            self.motion.dofs.scatter(&scratch.values, &mut v);
        } else {
            self.system.apply(&self.start, &mut scratch.values);
        }
        self.momentum(&v, Elasticity::Extrapolated, &mut scratch);
        self.motion.dofs.gather(&scratch.residual, &mut b);
        for (b, av) in b.iter_mut().zip(&scratch.values) {
            *b = av - *b;
        }
        scratch.velocity = v;
        self.system.right_hand_side = b;
        self.scratch = scratch;
    }

    /// A and b with stiffness, stress and rotations of `begin`.
    pub(super) fn linearise_at_start(&mut self) {
        if self.elements.corrected {
            self.elements.predict_targets(&self.motion);
        }
        self.assemble();
        self.write_right_hand_side();
    }

    /// A factor of A at rest, and the rotation to apply it in.
    pub(super) fn prepare_preconditioner(&mut self) -> Result<(), BodyError> {
        if self.motion.parts.preconditioning == Preconditioning::RestShape {
            self.provide_rest_factor()?;
            self.mean_rotation = self.find_mean_rotation();
        }
        Ok(())
    }

    pub(super) fn assemble(&mut self) {
        self.linearised = true;
        self.elements.assemble(&self.motion, &mut self.system);
    }
}

impl Dynamics for FemStep {
    fn right_hand_side(&self) -> &[f64] {
        &self.system.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.system.apply(x, y);
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        self.system.diagonal_blocks()
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        self.system.assembled()
    }

    fn precondition(&self, x: &mut [f64]) -> bool {
        // Only if requested: a factor of an earlier step must have no influence on this one.
        match self.motion.parts.preconditioning {
            Preconditioning::None => false,
            Preconditioning::RestShape => self
                .free_motion
                .precondition(self.mean_rotation.as_ref(), x),
        }
    }
}
