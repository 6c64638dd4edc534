//! One step of a tree: M (v − v0) = δt(τ − k) + J(q0)ᵀγ, dampers and springs in τ at v^θ and q^θ.
//!
//! The folder's other files fill it in: the balance of momentum, free flight, constraints, and the state at the end.
//!
//! Degrees of freedom that are held leave the problem: A and b are those of the free ones, and what the prescribed
//! velocities do to them is part of b and of the bases' bias.

use std::ops::Range;
use std::sync::Arc;

use nalgebra::{DMatrix, Isometry3, Point3, Vector3};
use pliant_contact_sap::{
    BasisIdx, BodyError, BodyReport, BodyState, BodyStep, Control, ControlAdjoint, DenseDynamics,
    Dynamics, EndFrames, ExplicitStep, FrameWrench, Integration, InternalConstraints,
    Interpolation, JointReaction, MaterialPoint, PdGains, Primitive, Reactions, Rows, StepInput,
    Surface, SurfaceMotion, TimeStep,
};

use super::JointActuator;
use super::checks::{check, link_of};
use super::end_frames::EndPlace;
use super::free_flight::{EndState, FreeFlight};
use super::free_rotation::FreeRotation;
use crate::articulated_body::ArticulatedBodies;
use crate::dynamics::Workspace;
use crate::held::HeldDofs;
use crate::jacobian::column;
use crate::kinematics::{AccelerationKinematics, PositionKinematics};
use crate::model::{BodyIdx, DofIdx, Link, LinkIdx, Model};
use crate::reactions::joint_reactions;
use crate::spatial::Wrench;

pub(super) struct TreeStep {
    pub(super) model: Arc<Model>,
    pub(super) actuators: Arc<[Option<JointActuator>]>,
    /// Gains of the drive of each tendon, if it has one.
    pub(super) tendon_actuators: Arc<[Option<PdGains>]>,
    /// At the state the step starts from: what is touched and where constraints act.
    pub(super) workspace: Workspace,
    /// Half a step ahead, in use only by midpoint steps.
    pub(super) midpoint: Option<Box<Workspace>>,
    pub(super) time_step: TimeStep,
    pub(super) gravity: Vector3<f64>,
    pub(super) control: Control,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) q_midpoint: Vec<f64>,
    pub(super) held: HeldDofs,
    /// Velocities during the step: the held ones as prescribed, the others zero.
    pub(super) prescribed: Vec<f64>,
    /// Place of each degree of freedom among the free ones.
    pub(super) free_of: Vec<Option<usize>>,
    /// The free degrees of freedom that move a body, in runs of neighbours from the tip's to the root's.
    pub(super) runs: Vec<Range<usize>>,
    /// Which of the runs are a body's.
    pub(super) runs_of_body: Vec<Range<usize>>,
    pub(super) start: Vec<f64>,
    /// All velocities of the solution, in use only while a step ends.
    pub(super) solved: Vec<f64>,
    pub(super) dynamics: DenseDynamics,
    /// M of all degrees of freedom, in use only while some are held.
    pub(super) mass: DMatrix<f64>,
    pub(super) diagonal: Vec<f64>,
    pub(super) tau: Vec<f64>,
    pub(super) bias: Vec<f64>,
    /// Force of dry friction at the start of the step, N or N·m, zero where there is none.
    pub(super) dry_friction: Vec<f64>,
    pub(super) flights: Vec<FreeFlight>,
    pub(super) rotations: Vec<FreeRotation>,
    /// Workspace of [`BodyStep::advance`], of models with free flights.
    pub(super) end_state: Option<EndState>,
    /// In use only by steppers whose forces act at the end of the step.
    pub(super) end_place: Option<Box<EndPlace>>,
}

impl TreeStep {
    pub(super) fn new(
        model: Arc<Model>,
        actuators: Arc<[Option<JointActuator>]>,
        tendon_actuators: Arc<[Option<PdGains>]>,
    ) -> Self {
        let n_v = model.n_v();
        let flights = FreeFlight::all_of(&model);
        let mut step = Self {
            end_state: (!flights.is_empty()).then(|| EndState::new(&model)),
            flights,
            rotations: FreeRotation::all_of(&model),
            end_place: None,
            workspace: Workspace::new(&model),
            midpoint: None,
            time_step: TimeStep::default(),
            gravity: Vector3::zeros(),
            control: Control::default(),
            q: Vec::new(),
            v: Vec::new(),
            q_midpoint: Vec::new(),
            held: HeldDofs::none(&model),
            prescribed: vec![0.0; n_v],
            free_of: Vec::new(),
            runs: Vec::new(),
            runs_of_body: Vec::new(),
            start: Vec::new(),
            solved: Vec::new(),
            dynamics: DenseDynamics::default(),
            mass: DMatrix::zeros(0, 0),
            diagonal: vec![0.0; n_v],
            tau: vec![0.0; n_v],
            bias: vec![0.0; n_v],
            dry_friction: vec![0.0; n_v],
            model,
            actuators,
            tendon_actuators,
        };
        step.number_free();
        step
    }

    /// Takes the held degrees of freedom out, if others than in the last step.
    fn hold(&mut self, prescribed: impl Fn(usize) -> Option<f64>) {
        let n_v = self.model.n_v();
        for k in 0..n_v {
            self.prescribed[k] = prescribed(k).unwrap_or(0.0);
        }
        if (0..n_v).any(|k| self.held.contains(DofIdx(k)) != prescribed(k).is_some()) {
            let dofs = (0..n_v).filter(|&k| prescribed(k).is_some());
            self.held = HeldDofs::of(&self.model, dofs.map(DofIdx));
            self.number_free();
        }
    }

    /// Numbers the free degrees of freedom, and gathers those of every body into runs.
    fn number_free(&mut self) {
        let model = &*self.model;
        self.free_of.clear();
        self.free_of.resize(model.n_v(), None);
        for (i, &k) in self.held.free().iter().enumerate() {
            self.free_of[k] = Some(i);
        }
        for flight in &mut self.flights {
            flight.is_free = flight.translations().all(|k| self.free_of[k].is_some());
        }
        for rotation in &mut self.rotations {
            rotation.is_free = rotation.dofs.clone().all(|k| self.free_of[k].is_some());
        }
        self.start.resize(self.held.free().len(), 0.0);
        let n_kept = if self.held.held().is_empty() {
            0
        } else {
            model.n_v()
        };
        self.mass = DMatrix::zeros(n_kept, n_kept);
        self.runs.clear();
        self.runs_of_body.clear();
        for body in 0..model.n_bodies() {
            let first = self.runs.len();
            let free_of = &self.free_of;
            for i in model.support(BodyIdx(body)).filter_map(|k| free_of[k.0]) {
                match self.runs[first..].last_mut() {
                    Some(run) if run.start == i + 1 => run.start = i,
                    _ => self.runs.push(i..i + 1),
                }
            }
            self.runs_of_body.push(first..self.runs.len());
        }
    }
}

impl BodyStep for TreeStep {
    /// Computes all there is to a tree's step, A and b included: whatever is asked later is read from memory.
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        check(&self.model, state, input.control)?;
        self.time_step = input.time_step;
        self.gravity = input.gravity;
        self.control.clone_from(input.control);
        self.q.clone_from(&state.q);
        self.v.clone_from(&state.v);
        self.dry_friction.fill(0.0);
        for ((k, _), force) in self.model.dry_friction().zip(&state.history) {
            self.dry_friction[k] = *force;
        }
        self.hold(|k| input.control.held.get(k).copied().flatten());
        self.held.gather(&self.v, &mut self.start);
        self.workspace.update(&self.model, &self.q, &self.v);
        if self.time_step.integration == Integration::Midpoint {
            self.predict_midpoint();
        }
        self.compute_forces();
        self.compute_dynamics();
        Ok(())
    }

    fn start_velocity(&self) -> &[f64] {
        &self.start
    }

    fn linearise(&mut self, _: &[f64]) -> Result<(), BodyError> {
        Ok(())
    }

    fn dynamics(&self) -> &dyn Dynamics {
        &self.dynamics
    }

    fn interpolation(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError> {
        let LinkIdx(link) = link_of(&self.model, p)?;
        *out = Interpolation::Twist;
        Ok(BasisIdx(link as u32))
    }

    fn basis(&self, basis: BasisIdx, p_WO: &Point3<f64>, out: &mut Rows) {
        let (model, positions) = (&*self.model, &self.workspace.positions);
        let body = model.links[basis.0 as usize].body;
        let twist = |k: usize| {
            let arm = p_WO.coords - positions.bodies[model.dof_body[k]].origin;
            column(model.dof_kind[k], &positions.axes[k], &arm)
        };
        out.reset(6);
        for run in &self.runs[self.runs_of_body[body.0].clone()] {
            let values = out.dense(0, 6, run.start, run.len());
            let free = &self.held.free()[run.clone()];
            for (values, &k) in values.chunks_exact_mut(6).zip(free) {
                let column = twist(k);
                values[..3].copy_from_slice(column.angular.as_slice());
                values[3..].copy_from_slice(column.linear.as_slice());
            }
        }
        if self.held.held().is_empty() {
            return;
        }
        let bias = out.bias_mut();
        for DofIdx(k) in model.support(body) {
            // Zero for those that are free.
            let rate = self.prescribed[k];
            let moved = twist(k).to_vector() * rate;
            bias.iter_mut().zip(moved.iter()).for_each(|(b, m)| *b += m);
        }
    }

    fn constraints(&self, out: &mut InternalConstraints<'_>) {
        self.add_constraints(out);
    }

    fn advance(&mut self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        self.state_after(v, &mut next.q, &mut next.v);
        self.write_dry_friction(v, &mut next.history);
        Ok(BodyReport::default())
    }

    fn as_end_frames(&mut self) -> Option<&mut dyn EndFrames> {
        Some(self)
    }

    fn as_explicit(&self) -> Option<&dyn ExplicitStep> {
        Some(self)
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

impl ExplicitStep for TreeStep {
    /// A⁻¹b by the articulated body algorithm: dampers and springs stay implicit, limits and actuators are left out.
    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
        let (model, w) = (&*self.model, self.evaluation_workspace());
        let mut tree = ArticulatedBodies::new(model);
        tree.factor(model, &w.positions, &w.inertias, &self.diagonal, &self.held);
        let mut x = vec![0.0; model.n_v()];
        self.held.scatter(self.dynamics.right_hand_side(), &mut x);
        tree.solve(model, &w.positions, &mut x);
        self.held.gather(&x, out);
        Ok(())
    }
}

impl Reactions for TreeStep {
    /// By Newton-Euler with the accelerations (v − v0)/δt where the step takes inertia and bias.
    fn joint_reactions(
        &self,
        v: &[f64],
        external_wrenches: &[FrameWrench],
        out: &mut Vec<JointReaction>,
    ) {
        let (model, w, start) = (
            &*self.model,
            self.evaluation_workspace(),
            &self.workspace.positions,
        );
        let mut vdot = Vec::new();
        self.full_velocity(v, &mut vdot);
        for (x, v0) in vdot.iter_mut().zip(&self.v) {
            *x = (*x - v0) / self.time_step.length_s;
        }
        for flight in self.flights.iter().filter(|flight| flight.is_free) {
            for (k, gain) in flight.translations().zip(flight.gains) {
                vdot[k] -= gain / self.time_step.length_s;
            }
        }
        let mut accelerations = AccelerationKinematics::new(model);
        let root = -model.gravity_from(&self.gravity);
        accelerations.update(model, &w.positions, &w.velocities, &vdot, &root);

        let mut external = vec![Wrench::zero(); model.links().len()];
        let mut add = |link: u32, p_WQ: &Vector3<f64>, force: Vector3<f64>, torque| {
            let at_point = Wrench { torque, force };
            let link = LinkIdx(link as usize);
            let arm = p_WQ - start.link_position(model, link);
            external[link.0] += at_point.shifted_back(&arm);
        };
        for load in &self.control.loads {
            if let Primitive::Frame(link) = load.point.primitive {
                let offset = &load.point.offset;
                let p_WQ = start.point(model, LinkIdx(link as usize), offset);
                add(link, &p_WQ, load.force_W, load.torque_W);
            }
        }
        for rotation in self.rotations.iter().filter(|rotation| rotation.is_free) {
            let of_body = |link: &Link| link.body.0 == rotation.body;
            if let Some(link) = model.links.iter().position(of_body) {
                let torque = rotation.impulse / self.time_step.length_s;
                add(link as u32, &Vector3::zeros(), Vector3::zeros(), torque);
            }
        }
        for compensation in model.compensations(start, &self.gravity) {
            let link = compensation.link.0 as u32;
            add(
                link,
                &compensation.p_WC,
                compensation.force_W,
                Vector3::zeros(),
            );
        }
        for wrench in external_wrenches {
            let p_WQ = &wrench.p_WQ.coords;
            add(wrench.frame, p_WQ, wrench.force_W, wrench.torque_W);
        }
        let wrenches = joint_reactions(
            model,
            &w.positions,
            &w.velocities,
            &accelerations,
            &external,
        );
        out.clear();
        out.extend(
            wrenches
                .iter()
                .enumerate()
                .map(|(j, wrench)| JointReaction {
                    joint: j as u32,
                    p_WC: start.link_position(model, model.joints()[j].child).into(),
                    force_W: wrench.force,
                    torque_W: wrench.torque,
                }),
        );
    }
}

impl SurfaceMotion for TreeStep {
    fn start_surface(&self, out: &mut Surface) {
        write_surface(&self.model, &self.workspace.positions, out);
    }

    /// A tree has frames, no vertices.
    fn vertex_velocities(&self, _: &[f64], out: &mut Vec<Vector3<f64>>) {
        out.clear();
    }
}

/// The poses of all links.
pub(crate) fn write_surface(model: &Model, positions: &PositionKinematics, out: &mut Surface) {
    out.clear();
    let links = (0..model.links().len()).map(LinkIdx);
    let pose = |link| -> Isometry3<f64> { positions.link_pose(model, link) };
    out.frames.extend(links.map(pose));
}
