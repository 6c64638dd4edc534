//! Motion of the vertices within a step, and the factors of its equations.

use std::borrow::Cow;
use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::{Integration, TimeStep};

use crate::dofs::DofMap;
use crate::material::Linearity;
use crate::matrix::MassPart;
use crate::parts::{Parts, Rotation};

/// A body at the start of a step, and the velocities to solve for.
#[derive(Debug)]
pub(super) struct Motion {
    pub(super) parts: Arc<Parts>,
    pub(super) time_step: TimeStep,
    /// Positions and velocities of all vertices at the start; prescribed velocities have their prescribed values.
    pub(super) q: Vec<Vector3<f64>>,
    pub(super) v: Vec<Vector3<f64>>,
    pub(super) dofs: DofMap,
}

impl Motion {
    pub(super) fn new(parts: Arc<Parts>) -> Self {
        Self {
            parts,
            time_step: TimeStep::default(),
            q: Vec::new(),
            v: Vec::new(),
            dofs: DofMap::default(),
        }
    }

    /// q at the end of the step of a vertex with velocity `v`.
    pub(super) fn end_position(&self, vertex: usize, v: &Vector3<f64>) -> Vector3<f64> {
        self.q[vertex] + self.mean_velocity(vertex, v) * self.time_step.length_s
    }

    /// v^vq of a vertex with end velocity `v`.
    pub(super) fn mean_velocity(&self, vertex: usize, v: &Vector3<f64>) -> Vector3<f64> {
        self.v[vertex].zip_map(v, |v0, v| self.time_step.mean_velocity(v0, v))
    }

    /// v^θ of a vertex with end velocity `v`.
    pub(super) fn force_velocity(&self, vertex: usize, v: &Vector3<f64>) -> Vector3<f64> {
        self.v[vertex].zip_map(v, |v0, v| self.time_step.force_velocity(v0, v))
    }

    /// q^θ of a vertex with end velocity `v`.
    pub(super) fn force_position(&self, vertex: usize, v: &Vector3<f64>) -> Vector3<f64> {
        self.q[vertex] + self.mean_velocity(vertex, v) * self.time_step.forces_s()
    }

    /// Where the rotations of corotated laws are those of the step: at the start, and in the midpoint rule at the middle of a step with the
    /// velocities of the start. There the law is second-order accurate; rotations of the start would stretch a spinning body by θ²/4.
    pub(super) fn rotation_positions(&self) -> Cow<'_, [Vector3<f64>]> {
        let predicted = self.parts.rotation == Rotation::Followed
            && self.time_step.integration == Integration::Midpoint;
        if !predicted {
            return Cow::Borrowed(&self.q);
        }
        let middle = self.v.iter().enumerate();
        Cow::Owned(middle.map(|(i, v)| self.force_position(i, v)).collect())
    }

    /// Velocities of all vertices, with `v` the free ones.
    pub(super) fn all_velocities(&self, v: &[f64], out: &mut Vec<Vector3<f64>>) {
        out.clone_from(&self.v);
        self.dofs.scatter(v, out);
    }

    /// θδt(θ_vq δt + β), the factor of K in A.
    pub(super) fn stiffness_factor(&self) -> f64 {
        self.time_step.forces_s() * (self.time_step.positions_s() + self.parts.damping.stiffness)
    }

    /// Its elastic and viscous parts.
    pub(super) fn stiffness_factors(&self) -> [f64; 2] {
        let parts = [self.time_step.positions_s(), self.parts.damping.stiffness];
        parts.map(|part| self.time_step.forces_s() * part)
    }

    /// 1 + αθδt, the factor of M in A.
    pub(super) fn mass_factor(&self) -> f64 {
        1.0 + self.parts.damping.mass * self.time_step.forces_s()
    }

    /// The mass part of A.
    pub(super) fn mass_part(&self) -> MassPart<'_> {
        let factor = self.mass_factor();
        match &self.parts.consistent_mass {
            None => MassPart::Lumped(factor, &self.parts.vertex_mass),
            Some(mass) => MassPart::Consistent(factor, mass),
        }
    }

    /// Whether T differs from I: by backward Euler only. The midpoint rule has R₀ where its forces act.
    pub(super) fn has_lagged_rotations(&self) -> bool {
        self.parts.linearity == Linearity::Corotated
            && self.parts.rotation == Rotation::Followed
            && self.time_step.integration == Integration::BackwardEuler
    }
}
