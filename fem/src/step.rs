//! One step of a finite-element body: A v = b + Jᵀγ, and the capabilities of the step.
//!
//! ```text
//! m(v) = M(v − v0) + δt (αM v^θ − f_e(q^θ) − f_d(v^θ) − f_ext)
//! q^θ = q0 + θδt(θ_vq v + (1 − θ_vq) v0),   v^θ = θv + (1 − θ)v0
//! A = (1 + αθδt) M + θδt(θ_vq δt + β) K,    b = A v0 − m(v0)
//! ```
//!
//! K is the stiffness at q0, made positive semidefinite; damping is −βK v^θ with the same K, and f_e(q^θ) in b is
//! extrapolated from q0. Laws that are linear within a step make m(v) = A v − b exactly. Others can be linearised again about any
//! velocities (`implicit`).
//!
//! Source: Han, Masterjohn, Castro (2023), equations 6 to 11.

mod angular_momentum;
mod balance;
mod control_adjoint;
mod elastic;
mod elements;
mod explicit_limit;
mod implicit;
mod input;
mod lagged_rotation;
mod motion;
mod outcome;

use std::sync::Arc;

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_contact_sap::{
    BalanceTangent, BasisIdx, Bilateral, BodyError, BodyReport, BodyState, BodyStep,
    ConstraintLabel, ControlAdjoint, Dynamics, ExplicitStep, InternalConstraints, Interpolation,
    LaggedTerms, MaterialPoint, MomentumBalance, NonlinearBalance, PointForce, Primitive,
    Reactions, RowKind, RowLaw, Rows, StartLinearisation, StepInput, SupportReaction, Surface,
    SurfaceMotion,
};

use crate::dofs::HELD;
use crate::field_forces::FieldForces;
use crate::free_motion::FreeMotion;
use crate::mass::MassKind;
use crate::material::Linearity;
use crate::matrix::System;
use crate::parts::{AnchorCompliance, Parts};

use elements::{Elasticity, ElementState, Scratch};
use motion::Motion;

/// Workspace of a step, reused from step to step.
#[derive(Debug)]
pub(crate) struct FemStep {
    motion: Motion,
    /// Gravity, fields and loads on all vertices, N.
    external: Vec<Vector3<f64>>,
    field_forces: FieldForces,
    held: Vec<[bool; 3]>,
    start: Vec<f64>,
    elements: ElementState,
    system: System,
    free_motion: FreeMotion,
    /// A⁻¹b, where the lagged rotations were updated by it.
    free: Vec<f64>,
    /// Whether A and b are of this step.
    linearised: bool,
    /// The body's mean rotation, if the step offers a preconditioner.
    mean_rotation: Option<Matrix3<f64>>,
    /// The longest stable explicit step, s, once one was taken.
    explicit_limit_s: Option<f64>,
    scratch: Scratch,
}

impl FemStep {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        Self {
            motion: Motion::new(parts),
            external: Vec::new(),
            field_forces: FieldForces::default(),
            held: Vec::new(),
            start: Vec::new(),
            elements: ElementState::default(),
            system: System::default(),
            free_motion: FreeMotion::default(),
            free: Vec::new(),
            linearised: false,
            mean_rotation: None,
            explicit_limit_s: None,
            scratch: Scratch::default(),
        }
    }
}

impl BodyStep for FemStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        self.check(state, input)?;
        self.linearised = false;
        self.motion.time_step = input.time_step;
        if input.time_step.forces_s() == 0.0 {
            self.refuse_unstable(input.time_step.length_s)?;
        }
        let fill = |out: &mut Vec<Vector3<f64>>, values: &[f64]| {
            out.clear();
            out.extend(values.chunks_exact(3).map(Vector3::from_column_slice));
        };
        fill(&mut self.motion.q, &state.q);
        fill(&mut self.motion.v, &state.v);
        self.hold(input);
        if self.motion.dofs.update(&self.held) {
            let parts = &self.motion.parts;
            self.system
                .lay_out(&parts.domains, &parts.links, &self.motion.dofs);
            self.free_motion.forget_pattern();
        }
        self.start.resize(self.motion.dofs.n_dofs(), 0.0);
        self.motion.dofs.gather(&self.motion.v, &mut self.start);
        self.gather_external(input)?;
        if self.motion.parts.has_barrier() {
            self.refuse_inverted(&self.motion.q, "at the start of the step")?;
        }
        self.elements.begin(&self.motion);
        Ok(())
    }

    fn start_velocity(&self) -> &[f64] {
        &self.start
    }

    fn linearise(&mut self, v: &[f64]) -> Result<(), BodyError> {
        match self.motion.parts.linearity {
            Linearity::Nonlinear => self.linearise_at(v),
            Linearity::Linear | Linearity::Corotated => self.linearise_at_start(),
        }
        self.prepare_preconditioner()
    }

    fn dynamics(&self) -> &dyn Dynamics {
        self
    }

    fn interpolation(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError> {
        let stencil = self.motion.parts.stencil(p)?;
        out.set_weights(stencil.weights().iter().copied());
        // Vertices first, then edges, triangles, tetrahedra.
        let skin = &self.motion.parts.skin;
        let edges = self.motion.parts.rest.len() as u32;
        let triangles = edges + skin.edges.len() as u32;
        let tetrahedra = triangles + skin.triangles.len() as u32;
        Ok(BasisIdx(match p.primitive {
            Primitive::Frame(i) | Primitive::Vertex(i) => i,
            Primitive::Edge(i) => edges + i,
            Primitive::Triangle(i) => triangles + i,
            Primitive::Tetrahedron(i) => tetrahedra + i,
        }))
    }

    fn basis(&self, basis: BasisIdx, _: &Point3<f64>, out: &mut Rows) {
        let skin = &self.motion.parts.skin;
        let (n, n_edges) = (self.motion.parts.rest.len(), skin.edges.len());
        let n_triangles = skin.triangles.len();
        let i = basis.0 as usize;
        let vertex = [basis.0];
        let vertices: &[u32] = if i < n {
            &vertex
        } else if i < n + n_edges {
            &skin.edges[i - n]
        } else if i < n + n_edges + n_triangles {
            &skin.triangles[i - n - n_edges]
        } else {
            &self.motion.parts.elements[i - n - n_edges - n_triangles].vertices
        };
        out.reset(3 * vertices.len());
        for (k, &vertex) in vertices.iter().enumerate() {
            let of = self.motion.dofs.of(vertex);
            if !of.contains(&HELD) {
                out.identity(3 * k, of[0] as usize, 3);
                continue;
            }
            for (axis, dof) in of.into_iter().enumerate() {
                if dof == HELD {
                    out.bias_mut()[3 * k + axis] = self.motion.v[vertex as usize][axis];
                } else {
                    out.identity(3 * k + axis, dof as usize, 1);
                }
            }
        }
    }

    fn constraints(&self, out: &mut InternalConstraints<'_>) {
        for anchor in &self.motion.parts.anchors {
            let vertex = anchor.vertex as usize;
            let displacement = self.motion.q[vertex] - self.motion.parts.rest[vertex];
            for (axis, dof) in self.motion.dofs.free(anchor.vertex) {
                let w = out.inverse_inertia(dof as usize);
                let error = self
                    .motion
                    .time_step
                    .coasted(displacement[axis], self.motion.v[vertex][axis]);
                let law = match anchor.compliance {
                    AnchorCompliance::NearRigid => {
                        Bilateral::near_rigid(self.motion.time_step, error, w)
                    }
                    AnchorCompliance::Spring {
                        stiffness,
                        relaxation_time_s,
                    } => Bilateral::spring(
                        self.motion.time_step,
                        error,
                        stiffness,
                        relaxation_time_s,
                        w,
                    ),
                };
                let label = ConstraintLabel {
                    kind: RowKind::Bilateral,
                    index: 3 * anchor.vertex + axis as u32,
                };
                out.velocity(dof as usize, RowLaw::Bilateral(law), label);
            }
        }
    }

    fn advance(&mut self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        let mut velocities = Vec::new();
        self.motion.all_velocities(v, &mut velocities);
        let vertices = velocities.iter().enumerate();
        let positions: Vec<Vector3<f64>> = vertices
            .map(|(i, v)| self.motion.end_position(i, v))
            .collect();
        if let Some(vertex) = positions.iter().position(|p| !p.sum().is_finite()) {
            return Err(BodyError::NotFinite {
                location: format!("vertex {vertex} at the end of the step"),
                value: positions[vertex].sum(),
            });
        }
        if self.motion.parts.has_barrier() {
            self.refuse_inverted(&positions, "by the step")?;
        }
        let mut warnings = self.warnings(&positions, &velocities);
        warnings.extend(self.field_forces.warning().map(str::to_owned));
        self.keep_angular_momentum(&positions, &mut velocities);
        next.q.clear();
        next.q
            .extend(positions.iter().flat_map(|p| [p.x, p.y, p.z]));
        next.v.clear();
        next.v
            .extend(velocities.iter().flat_map(|v| [v.x, v.y, v.z]));
        next.history.clear();
        Ok(BodyReport { warnings })
    }

    fn as_start_linearisation(&mut self) -> Option<&mut dyn StartLinearisation> {
        match self.motion.parts.linearity {
            Linearity::Nonlinear => Some(self),
            Linearity::Linear | Linearity::Corotated => None,
        }
    }

    fn as_balance(&self) -> Option<&dyn MomentumBalance> {
        Some(self)
    }

    fn as_nonlinear(&self) -> Option<&dyn NonlinearBalance> {
        let implicit = self.motion.time_step.forces_s() > 0.0;
        (self.motion.parts.linearity == Linearity::Nonlinear && implicit).then_some(self)
    }

    fn as_lagged(&mut self) -> Option<&mut dyn LaggedTerms> {
        match self.motion.has_lagged_rotations() {
            true => Some(self),
            false => None,
        }
    }

    fn as_explicit(&self) -> Option<&dyn ExplicitStep> {
        (self.motion.parts.mass_kind == MassKind::Lumped).then_some(self)
    }

    fn as_control_adjoint(&self) -> Option<&dyn ControlAdjoint> {
        Some(self)
    }

    fn as_reactions(&self) -> Option<&dyn Reactions> {
        Some(self)
    }

    fn as_surface(&self) -> Option<&dyn SurfaceMotion> {
        Some(self)
    }
}

impl MomentumBalance for FemStep {
    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
        let mut scratch = Scratch::default();
        let mut all = Vec::new();
        self.motion.all_velocities(v, &mut all);
        self.momentum(&all, Elasticity::Exact, &mut scratch);
        self.motion.dofs.gather(&scratch.residual, out);
        Ok(())
    }

    fn tangent(&self, v: &[f64]) -> Result<BalanceTangent<'_>, BodyError> {
        let motion = &self.motion;
        let mut all = Vec::new();
        motion.all_velocities(v, &mut all);
        let tangents = self.elements.tangents_at(motion, &all);
        let mut change = vec![Vector3::zeros(); all.len()];
        let mut product = change.clone();
        Ok(Box::new(move |x, y| {
            motion.dofs.scatter(x, &mut change);
            motion.parts.mass_product(&change, &mut product);
            let factor = motion.mass_factor();
            product.iter_mut().for_each(|p| *p *= factor);
            self.elements
                .add_tangent_product(motion, &tangents, &change, &mut product);
            motion.dofs.gather(&product, y);
        }))
    }

    fn external_impulse(&self, out: &mut [f64]) {
        self.motion.dofs.gather(&self.external, out);
        let dt = self.motion.time_step.length_s;
        out.iter_mut().for_each(|p| *p *= dt);
    }
}

impl NonlinearBalance for FemStep {
    fn potential(&self, v: &[f64]) -> Result<f64, BodyError> {
        Ok(self.incremental_potential(v))
    }
}

impl StartLinearisation for FemStep {
    fn linearise_start(&mut self, v: &mut Vec<f64>) -> Result<(), BodyError> {
        self.elements.forget_velocity();
        self.linearise_at_start();
        v.clone_from(&self.start);
        self.prepare_preconditioner()
    }
}

impl LaggedTerms for FemStep {
    fn residual(&mut self, v: &[f64]) -> f64 {
        self.target_error(v) / self.elements.target_tolerance()
    }

    fn update(&mut self) {
        self.update_targets();
    }

    fn update_in_free_motion(&mut self) -> Result<Option<&[f64]>, BodyError> {
        self.update_targets_in_free_motion()
    }
}

impl ExplicitStep for FemStep {
    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
        // v0 − M⁻¹m(v0) with forces at the start: θ = 0.
        let mut scratch = Scratch::default();
        self.elements
            .write_start_stresses(&self.motion, &mut scratch);
        let parts = &*self.motion.parts;
        let mut velocities = self.motion.v.clone();
        for (vertex, v) in velocities.iter_mut().enumerate() {
            let drag = *v * (parts.damping.mass * parts.vertex_mass[vertex]);
            let internal = parts.internal_force(vertex as u32, &scratch.stresses);
            let force = self.external[vertex] - drag - internal;
            *v += force * (self.motion.time_step.length_s / parts.vertex_mass[vertex]);
        }
        self.motion.dofs.gather(&velocities, out);
        Ok(())
    }
}

impl Reactions for FemStep {
    fn support_reactions(
        &self,
        v: &[f64],
        external: &[PointForce],
        out: &mut Vec<SupportReaction>,
    ) {
        out.clear();
        if !self.motion.dofs.holds_any() {
            return;
        }
        // The supports exert m(v) − δt f with the external forces f.
        let mut scratch = Scratch::default();
        let mut all = Vec::new();
        self.motion.all_velocities(v, &mut all);
        self.momentum(&all, self.elements.elasticity(), &mut scratch);
        let mut forces = scratch.residual;
        forces
            .iter_mut()
            .for_each(|f| *f /= self.motion.time_step.length_s);
        for load in external {
            if let Ok(stencil) = self.motion.parts.stencil(&load.point) {
                for (vertex, weight) in stencil.terms() {
                    forces[vertex] -= load.force_W * weight;
                }
            }
        }
        for (vertex, (force, held)) in (0_u32..).zip(forces.iter().zip(&self.held)) {
            if held.contains(&true) {
                let mut force_W = Vector3::zeros();
                for k in (0..3).filter(|k| held[*k]) {
                    force_W[k] = force[k];
                }
                out.push(SupportReaction {
                    vertex,
                    p_WV: self.motion.q[vertex as usize].into(),
                    force_W,
                });
            }
        }
    }
}

impl SurfaceMotion for FemStep {
    fn start_surface(&self, out: &mut Surface) {
        let positions = self.motion.q.iter().map(|p| Point3::from(*p));
        self.motion.parts.skin.write(positions, out);
    }

    fn vertex_velocities(&self, v: &[f64], out: &mut Vec<Vector3<f64>>) {
        self.motion.all_velocities(v, out);
    }
}
