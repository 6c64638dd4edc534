//! The implicit equations of nonlinear laws: A and b about any velocities, and the potential for a line search.
//!
//! ```text
//! E(v) = ½ ‖v − v0‖²_M + δt (α ‖v^θ‖²_M + β ‖v^θ‖²_K)/2θ + Ψ(q^θ)/(θ θ_vq) − δt vᵀf_ext,     ∇E = m
//! ```
//!
//! K is that at the start of the step, as in m: damping is linear within a step.

use nalgebra::Vector3;
use pliant_contact_sap::Dynamics;

use super::FemStep;
use super::elements::{Elasticity, Scratch};

impl FemStep {
    /// A = ∂m/∂v at `v`, semidefinite by element, and b = A v − m(v).
    pub(super) fn linearise_at(&mut self, v: &[f64]) {
        let mut all = Vec::new();
        self.motion.all_velocities(v, &mut all);
        self.elements.linearise_at(&self.motion, &all);
        self.assemble();
        let mut scratch = Scratch::default();
        self.momentum(&all, Elasticity::Exact, &mut scratch);
        let mut b = std::mem::take(&mut self.system.right_hand_side);
        self.motion.dofs.gather(&scratch.residual, &mut b);
        scratch.values.resize(b.len(), 0.0);
        self.system.apply(v, &mut scratch.values);
        for (b, av) in b.iter_mut().zip(&scratch.values) {
            *b = av - *b;
        }
        self.system.right_hand_side = b;
    }

    /// E(v), J, for steps whose forces act at θ > 0.
    pub(super) fn incremental_potential(&self, v: &[f64]) -> f64 {
        let parts = &*self.motion.parts;
        let mut all = Vec::new();
        self.motion.all_velocities(v, &mut all);
        let positions: Vec<Vector3<f64>> = (0..all.len())
            .map(|i| self.motion.force_position(i, &all[i]))
            .collect();
        let elastic = self.elements.elastic_energy(&self.motion, &positions);
        if !elastic.is_finite() {
            return f64::INFINITY;
        }
        let integration = self.motion.time_step.integration;
        let (theta, theta_vq) = (integration.theta(), integration.theta_vq());
        let dt = self.motion.time_step.length_s;
        let mean: Vec<Vector3<f64>> = (0..all.len())
            .map(|i| self.motion.force_velocity(i, &all[i]))
            .collect();
        let change: Vec<Vector3<f64>> = all
            .iter()
            .zip(&self.motion.v)
            .map(|(v, v0)| v - v0)
            .collect();
        let work = all.iter().zip(&self.external).map(|(v, f)| v.dot(f));
        let mut energy = self.kinetic(&change) - dt * work.sum::<f64>();
        energy += elastic / (theta * theta_vq);
        energy += dt * parts.damping.mass / theta * self.kinetic(&mean);
        if parts.damping.stiffness > 0.0 {
            let power = self.elements.viscous_power(&self.motion, &mean);
            energy += dt * parts.damping.stiffness / theta * power;
        }
        energy
    }

    /// ½vᵀMv, all vertices.
    fn kinetic(&self, v: &[Vector3<f64>]) -> f64 {
        let mut momentum = vec![Vector3::zeros(); v.len()];
        self.motion.parts.mass_product(v, &mut momentum);
        0.5 * v.iter().zip(&momentum).map(|(v, p)| v.dot(p)).sum::<f64>()
    }
}
