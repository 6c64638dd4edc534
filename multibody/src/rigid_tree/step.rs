//! One step of a tree: M (v − v0) = δt(τ − k) + J(q0)ᵀγ, dampers and springs in τ at v^θ and q^θ.
//!
//! Inertia and bias are those of (q0, v0), except in a midpoint step: see [`Self::aim_at_middle`](TreeStep::aim_at_middle).
//!
//! Degrees of freedom that are held leave the problem: A and b are those of the free ones, and what the prescribed
//! velocities do to them is part of b and of the bases' bias.

use std::mem::take;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nalgebra::{DMatrix, Isometry3, Matrix3, Point3, Vector3};
use pliant_contact_sap::{
    BasisIdx, BodyError, BodyReport, BodyState, BodyStep, Control, DenseDynamics, Dynamics,
    FrameWrench, Integration, InternalConstraints, JointReaction, Lever, MaterialPoint, PdGains,
    Primitive, Rows, StepInput, Surface, TimeStep,
};

use super::checks::{check, link_of};
use super::constraints::entry;
use super::free_flight::{Ahead, FreeFlight};
use crate::articulated_body::ArticulatedBodies;
use crate::dynamics::{
    ForwardDynamicsInput, Workspace, bias_forces_again, constrained_forward_dynamics,
    mass_matrix_into,
};
use crate::held::HeldDofs;
use crate::jacobian::{add_wrench, column};
use crate::kinematics::{AccelerationKinematics, PositionKinematics};
use crate::model::{BodyIdx, DofIdx, LinkIdx, Model};
use crate::reactions::joint_reactions;
use crate::spatial::{Wrench, product, rotate};

pub(super) struct TreeStep {
    pub(super) model: Arc<Model>,
    pub(super) actuators: Arc<[Option<PdGains>]>,
    /// At the state the step starts from: what is touched and where constraints act.
    workspace: Workspace,
    /// Half a step ahead, in use only by midpoint steps.
    middle: Option<Box<Workspace>>,
    pub(super) time_step: TimeStep,
    gravity: Vector3<f64>,
    pub(super) control: Control,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    q_middle: Vec<f64>,
    held: HeldDofs,
    /// Velocities during the step: the held ones as prescribed, the others zero.
    pub(super) prescribed: Vec<f64>,
    /// Place of each degree of freedom among the free ones.
    pub(super) free_of: Vec<Option<usize>>,
    /// The free degrees of freedom that move a body, in runs of neighbours from the tip's to the root's.
    runs: Vec<Range<usize>>,
    /// Which of the runs are a body's.
    runs_of_body: Vec<Range<usize>>,
    start: Vec<f64>,
    dynamics: DenseDynamics,
    /// M of all degrees of freedom, in use only while some are held.
    mass: DMatrix<f64>,
    diagonal: Vec<f64>,
    tau: Vec<f64>,
    bias: Vec<f64>,
    flights: Vec<FreeFlight>,
    /// Of models with free flights.
    ahead: Option<Mutex<Ahead>>,
}

impl TreeStep {
    pub(super) fn new(model: Arc<Model>, actuators: Arc<[Option<PdGains>]>) -> Self {
        let n_v = model.n_v();
        let flights = FreeFlight::all_of(&model);
        let mut step = Self {
            ahead: (!flights.is_empty()).then(|| Mutex::new(Ahead::new(&model))),
            flights,
            workspace: Workspace::new(&model),
            middle: None,
            time_step: TimeStep::default(),
            gravity: Vector3::zeros(),
            control: Control::default(),
            q: Vec::new(),
            v: Vec::new(),
            q_middle: Vec::new(),
            held: HeldDofs::none(&model),
            prescribed: vec![0.0; n_v],
            free_of: Vec::new(),
            runs: Vec::new(),
            runs_of_body: Vec::new(),
            start: Vec::new(),
            dynamics: DenseDynamics::default(),
            mass: DMatrix::zeros(0, 0),
            diagonal: vec![0.0; n_v],
            tau: vec![0.0; n_v],
            bias: vec![0.0; n_v],
            model,
            actuators,
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
            flight.is_free = flight.shifts().all(|k| self.free_of[k].is_some());
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

    /// Where inertia and bias of the step are taken.
    fn aim(&self) -> &Workspace {
        self.middle
            .as_deref()
            .filter(|_| self.time_step.integration == Integration::Midpoint)
            .unwrap_or(&self.workspace)
    }

    /// Takes a step of half the length, by backward Euler and without constraints, to where a midpoint step takes inertia
    /// and bias: M(q^θ) and k(q^θ, v^θ) up to O(δt²), which keeps the order 2 of the midpoint rule while A stays symmetric
    /// and free of v.
    fn aim_at_middle(&mut self) {
        let half_s = 0.5 * self.time_step.length_s;
        self.model
            .implicit_diagonal(half_s, half_s, &mut self.diagonal);
        let mut tau = take(&mut self.tau);
        self.applied(&self.workspace, half_s, &mut tau);
        self.tau = tau;
        let model = &*self.model;
        let input = ForwardDynamicsInput {
            tau: &self.tau,
            external: &[],
            diagonal: &self.diagonal,
            held: &self.held,
            held_acceleration: &[],
            gravity: self.gravity,
        };
        let mut middle = self
            .middle
            .take()
            .unwrap_or_else(|| Box::new(Workspace::new(model)));
        let velocity = &mut self.bias;
        constrained_forward_dynamics(model, &input, &mut self.workspace, velocity);
        for (k, rate) in velocity.iter_mut().enumerate() {
            *rate = match self.free_of[k] {
                Some(_) => self.v[k] + half_s * *rate,
                None => self.prescribed[k],
            };
        }
        self.q_middle.resize(self.q.len(), 0.0);
        model.integrate(&self.q, velocity, half_s, &mut self.q_middle);
        middle.update(model, &self.q_middle, velocity);
        self.middle = Some(middle);
    }

    /// τ of dampers and springs `forces_s` ahead of the start, of feed-forward without an actuator, and of loads at `w`.
    fn applied(&self, w: &Workspace, forces_s: f64, tau: &mut [f64]) {
        let model = &*self.model;
        tau.fill(0.0);
        model.add_passive_forces(&self.q, &self.v, forces_s, tau);
        for joint in model.joints() {
            let most = joint.limits.effort;
            for k in joint.dofs().filter(|&k| self.actuators[k].is_none()) {
                tau[k] += entry(&self.control.effort, k).clamp(-most, most);
            }
        }
        for load in &self.control.loads {
            let Primitive::Frame(link) = load.point.primitive else {
                continue;
            };
            let link = LinkIdx(link as usize);
            let p_WQ = w.positions.point(model, link, &load.point.offset);
            let wrench = Wrench {
                torque: load.torque_W,
                force: load.force_W,
            };
            add_wrench(model, &w.positions, link, &p_WQ, &wrench, tau);
        }
    }

    /// τ, k, and what the step adds to M's diagonal.
    fn compute_forces(&mut self) {
        let (forces_s, positions_s) = (self.time_step.forces_s(), self.time_step.positions_s());
        self.model
            .implicit_diagonal(forces_s, positions_s, &mut self.diagonal);
        let mut tau = take(&mut self.tau);
        self.applied(self.aim(), forces_s, &mut tau);
        self.tau = tau;
        let w = aim_of(
            &mut self.workspace,
            &mut self.middle,
            self.time_step.integration,
        );
        bias_forces_again(&self.model, &self.gravity, w, &mut self.bias);
    }

    /// A = M_ff + diag and b = A v0 + δt(τ − k)_f − M_fh (v_h − v_h0), where v0 gains in M what free flight adds to it.
    fn compute_dynamics(&mut self) {
        let (model, dt) = (&*self.model, self.time_step.length_s);
        let w = aim_of(
            &mut self.workspace,
            &mut self.middle,
            self.time_step.integration,
        );
        let (free, held) = (self.held.free(), self.held.held());
        let (n, n_v) = (free.len(), model.n_v());
        let (a, b) = self.dynamics.resize(n);
        for (b, &k) in b.iter_mut().zip(free) {
            *b = dt * (self.tau[k] - self.bias[k]);
        }
        if held.is_empty() {
            mass_matrix_into(model, w, a);
        } else {
            mass_matrix_into(model, w, self.mass.as_mut_slice());
            for (column, &k) in a.chunks_exact_mut(n.max(1)).zip(free) {
                let mass = self.mass.column(k);
                for (a, &j) in column.iter_mut().zip(free) {
                    *a = mass[j];
                }
            }
            for &h in held {
                let change = self.prescribed[h] - self.v[h];
                let mass = self.mass.column(h);
                for (b, &k) in b.iter_mut().zip(free) {
                    *b -= mass[k] * change;
                }
            }
        }
        let gravity = model.gravity_from(&self.gravity);
        for flight in self.flights.iter_mut().filter(|flight| flight.is_free) {
            let column = |k: usize| match self.free_of[k] {
                Some(i) if held.is_empty() => &a[n * i..n * (i + 1)],
                _ => &self.mass.as_slice()[n_v * k..n_v * (k + 1)],
            };
            flight.open(&self.workspace, &self.v, column, &self.bias, &gravity, dt);
            for &h in held {
                flight.jump(h, self.prescribed[h] - self.v[h]);
            }
            for (k, gain) in flight.shifts().zip(flight.gains) {
                for (b, &j) in b.iter_mut().zip(free) {
                    *b += column(k)[j] * gain;
                }
            }
        }
        for (i, (column, &k)) in a.chunks_exact_mut(n.max(1)).zip(free).enumerate() {
            column[i] += self.diagonal[k];
            for (b, a) in b.iter_mut().zip(column) {
                *b += *a * self.v[k];
            }
        }
    }

    /// All velocities, given the free ones.
    fn whole_velocity(&self, v: &[f64], whole: &mut Vec<f64>) {
        whole.clone_from(&self.prescribed);
        self.held.scatter(v, whole);
    }

    /// The velocities that move positions over a step with free end velocities `v`: prescribed ones hold throughout.
    fn mean_velocity(&self, v: &[f64], whole: &mut Vec<f64>) {
        whole.clone_from(&self.prescribed);
        for (i, &k) in self.held.free().iter().enumerate() {
            whole[k] = self.time_step.mean_velocity(self.start[i], v[i]);
        }
    }

    fn ahead(&self) -> Option<MutexGuard<'_, Ahead>> {
        let room = self.ahead.as_ref()?;
        Some(room.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The state after a step with end velocities `v`.
    fn state_after(
        &self,
        v: &[f64],
        ahead: Option<&mut Ahead>,
        q_next: &mut Vec<f64>,
        v_next: &mut Vec<f64>,
    ) {
        let (model, time_step) = (&*self.model, &self.time_step);
        self.mean_velocity(v, v_next);
        q_next.resize(self.q.len(), 0.0);
        model.integrate(&self.q, v_next, time_step.length_s, q_next);
        self.whole_velocity(v, v_next);
        if let Some(ahead) = ahead {
            ahead.update(model, q_next, v_next);
            for flight in self.flights.iter().filter(|flight| flight.is_free) {
                flight.close(time_step, &self.q, ahead, q_next, v_next);
            }
        }
    }

    /// Pose of a link after a step with end velocities `v`.
    fn link_pose_after(&self, v: &[f64], link: LinkIdx) -> (Matrix3<f64>, Vector3<f64>) {
        let model = &*self.model;
        let body = model.links[link.0].body.0;
        let carries = |flight: &FreeFlight| flight.is_free && flight.carries(body);
        let room = self.ahead().filter(|_| self.flights.iter().any(carries));
        let Some(mut ahead) = room else {
            return self.chained_pose_after(v, link);
        };
        let (mut q, mut rates) = (take(&mut ahead.q), take(&mut ahead.v));
        self.state_after(v, Some(&mut ahead), &mut q, &mut rates);
        ahead.positions.update(model, &q);
        (ahead.q, ahead.v) = (q, rates);
        (
            ahead.positions.link_rotation(model, link),
            ahead.positions.link_position(model, link),
        )
    }

    /// Pose of a link after a step with end velocities `v` if none of its joints is in free flight: down its own chain only.
    fn chained_pose_after(&self, v: &[f64], link: LinkIdx) -> (Matrix3<f64>, Vector3<f64>) {
        let model = &*self.model;
        let link = &model.links[link.0];
        let (mut rotation, mut origin) = (link.R_BL, link.p_BL);
        let mut at = link.body.0;
        while at != 0 {
            let body = &model.bodies[at];
            let n_q = body.kind.n_q();
            let (mut rates, mut q) = ([0.0; 6], [0.0; 7]);
            for (rate, k) in rates.iter_mut().zip(body.v_start..body.v_end) {
                *rate = match self.free_of[k] {
                    Some(i) => self.time_step.mean_velocity(self.start[i], v[i]),
                    None => self.prescribed[k],
                };
            }
            let before = &self.q[body.q_start..body.q_start + n_q];
            body.kind
                .integrate(before, &rates, self.time_step.length_s, &mut q[..n_q]);
            let (R_FB, p_FB) = body.kind.motion(&q[..n_q]);
            let p_PB = body.p_PF + rotate(&body.R_PF, &p_FB);
            let R_PB = product(&body.R_PF, &R_FB);
            origin = p_PB + rotate(&R_PB, &origin);
            rotation = product(&R_PB, &rotation);
            at = body.parent;
        }
        (rotation, origin)
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
        self.hold(|k| input.control.held.get(k).copied().flatten());
        self.held.gather(&self.v, &mut self.start);
        self.workspace.update(&self.model, &self.q, &self.v);
        if self.time_step.integration == Integration::Midpoint {
            self.aim_at_middle();
        }
        self.compute_forces();
        self.compute_dynamics();
        Ok(())
    }

    fn start_velocity(&self) -> &[f64] {
        &self.start
    }

    fn linearise(&mut self) -> Result<(), BodyError> {
        Ok(())
    }

    fn dynamics(&self) -> &dyn Dynamics {
        &self.dynamics
    }

    fn lever(&self, p: &MaterialPoint, out: &mut Lever) -> Result<BasisIdx, BodyError> {
        let LinkIdx(link) = link_of(&self.model, p)?;
        *out = Lever::Twist;
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

    fn internal_constraints(&self, out: &mut InternalConstraints<'_>) {
        self.add_constraints(out);
    }

    fn advance(&self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        let mut ahead = self.ahead();
        self.state_after(v, ahead.as_deref_mut(), &mut next.q, &mut next.v);
        next.history.clear();
        Ok(BodyReport::default())
    }

    /// A⁻¹b by the articulated body algorithm: dampers and springs stay implicit, limits and actuators are left out.
    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
        let (model, w) = (&*self.model, self.aim());
        let mut tree = ArticulatedBodies::new(model);
        tree.factor(model, &w.positions, &w.inertias, &self.diagonal, &self.held);
        let mut x = vec![0.0; model.n_v()];
        self.held.scatter(self.dynamics.right_hand_side(), &mut x);
        tree.solve(model, &w.positions, &mut x);
        self.held.gather(&x, out);
        Ok(())
    }

    /// Of the linearised balance, which is the whole of a tree's: A v − b.
    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
        self.dynamics.apply(v, out);
        for (m, b) in out.iter_mut().zip(self.dynamics.right_hand_side()) {
            *m -= b;
        }
        Ok(())
    }

    fn tangent(&self, _v: &[f64], x: &[f64], y: &mut [f64]) -> Result<(), BodyError> {
        self.dynamics.apply(x, y);
        Ok(())
    }

    fn start_surface(&self, out: &mut Surface) -> Option<()> {
        write_surface(&self.model, &self.workspace.positions, out);
        Some(())
    }

    /// By Newton-Euler with the accelerations (v − v0)/δt where the step takes inertia and bias.
    fn joint_reactions(&self, v: &[f64], outside: &[FrameWrench], out: &mut Vec<JointReaction>) {
        let (model, w, start) = (&*self.model, self.aim(), &self.workspace.positions);
        let mut vdot = Vec::new();
        self.whole_velocity(v, &mut vdot);
        for (x, v0) in vdot.iter_mut().zip(&self.v) {
            *x = (*x - v0) / self.time_step.length_s;
        }
        for flight in self.flights.iter().filter(|flight| flight.is_free) {
            for (k, gain) in flight.shifts().zip(flight.gains) {
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
            external[link.0] += at_point.about_point_seeing_it_at(&arm);
        };
        for load in &self.control.loads {
            if let Primitive::Frame(link) = load.point.primitive {
                let offset = &load.point.offset;
                let p_WQ = start.point(model, LinkIdx(link as usize), offset);
                add(link, &p_WQ, load.force_W, load.torque_W);
            }
        }
        for wrench in outside {
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

    fn point(&self, v: &[f64], p: &MaterialPoint) -> Result<Point3<f64>, BodyError> {
        let (rotation, origin) = self.link_pose_after(v, link_of(&self.model, p)?);
        Ok((origin + rotate(&rotation, &p.offset)).into())
    }
}

/// Where a step by `integration` takes inertia and bias.
fn aim_of<'a>(
    start: &'a mut Workspace,
    middle: &'a mut Option<Box<Workspace>>,
    integration: Integration,
) -> &'a mut Workspace {
    match (middle, integration) {
        (Some(middle), Integration::Midpoint) => middle,
        _ => start,
    }
}

/// The poses of all links.
pub(super) fn write_surface(model: &Model, positions: &PositionKinematics, out: &mut Surface) {
    out.clear();
    let links = (0..model.links().len()).map(LinkIdx);
    let pose = |link| -> Isometry3<f64> { positions.link_pose(model, link) };
    out.frames.extend(links.map(pose));
}
