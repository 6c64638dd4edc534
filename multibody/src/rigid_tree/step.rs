//! One step of a tree: M(q0)(v − v0) = δt(τ − k(q0, v0)) + Jᵀγ with dampers and springs implicit.

use std::sync::Arc;

use nalgebra::{DMatrix, Isometry3, Point3, Vector3};
use pliant_contact_sap::{
    BasisIdx, Bilateral, BodyError, BodyReport, BodyState, BodyStep, ConstraintKind,
    ConstraintLabel, Control, DenseDynamics, Dynamics, InternalConstraints, Lever, Limit,
    MaterialPoint, PdActuator, PdCommand, PdGains, Primitive, RowLaw, Rows, StepInput,
};

use crate::dynamics::{Workspace, inverse_dynamics_again, mass_matrix_again};
use crate::held::HeldDofs;
use crate::jacobian::{add_wrench, jacobian_columns};
use crate::kinematics::PositionKinematics;
use crate::model::{DofIdx, JointIdx, LinkIdx, Model};
use crate::spatial::Wrench;

/// σ of dry joint friction: a stuck joint creeps no faster than σ w γ.
const DRY_FRICTION_REGULARISATION: f64 = 1e-3;

pub(super) struct TreeStep {
    model: Arc<Model>,
    actuators: Arc<[Option<PdGains>]>,
    workspace: Workspace,
    time_step_s: f64,
    gravity: Vector3<f64>,
    control: Control,
    q: Vec<f64>,
    v: Vec<f64>,
    held: HeldDofs,
    /// Velocities during the step: the held ones as prescribed, the others not used.
    prescribed: Vec<f64>,
    /// Place of each degree of freedom among the free ones.
    free_of: Vec<Option<usize>>,
    start: Vec<f64>,
    dynamics: DenseDynamics,
    mass: DMatrix<f64>,
    diagonal: Vec<f64>,
    tau: Vec<f64>,
    bias: Vec<f64>,
    no_acceleration: Vec<f64>,
}

impl TreeStep {
    pub(super) fn new(model: Arc<Model>, actuators: Arc<[Option<PdGains>]>) -> Self {
        let n_v = model.n_v();
        Self {
            workspace: Workspace::new(&model),
            time_step_s: 0.0,
            gravity: Vector3::zeros(),
            control: Control::default(),
            q: Vec::new(),
            v: Vec::new(),
            held: HeldDofs::none(&model),
            prescribed: vec![0.0; n_v],
            free_of: Vec::new(),
            start: Vec::new(),
            dynamics: DenseDynamics::default(),
            mass: DMatrix::zeros(n_v, n_v),
            diagonal: vec![0.0; n_v],
            tau: vec![0.0; n_v],
            bias: vec![0.0; n_v],
            no_acceleration: vec![0.0; n_v],
            model,
            actuators,
        }
    }

    fn check(&self, state: &BodyState, control: &Control) -> Result<(), BodyError> {
        let (n_q, n_v) = (self.model.n_q(), self.model.n_v());
        let lengths = [
            ("q", state.q.len(), n_q),
            ("v", state.v.len(), n_v),
            ("control.position", control.position.len(), n_v),
            ("control.velocity", control.velocity.len(), n_v),
            ("control.effort", control.effort.len(), n_v),
            ("control.held", control.held.len(), n_v),
        ];
        for (what, found, expected) in lengths {
            let left_out = found == 0 && what.starts_with("control");
            if found != expected && !left_out {
                return Err(BodyError::StateLength {
                    what,
                    found,
                    expected,
                });
            }
        }
        let arrays = [
            ("q", &state.q),
            ("v", &state.v),
            ("control.position", &control.position),
            ("control.velocity", &control.velocity),
            ("control.effort", &control.effort),
        ];
        for (name, values) in arrays {
            if let Some(k) = values.iter().position(|x| !x.is_finite()) {
                return Err(BodyError::NotFinite {
                    place: format!("{name}[{k}]"),
                    value: values[k],
                });
            }
        }
        for (k, held) in control.held.iter().enumerate() {
            if let Some(value) = held.filter(|v| !v.is_finite()) {
                return Err(BodyError::NotFinite {
                    place: format!("control.held[{k}]"),
                    value,
                });
            }
        }
        for (k, load) in control.loads.iter().enumerate() {
            let sum = load.force_W.sum() + load.torque_W.sum() + load.point.offset.sum();
            if !sum.is_finite() {
                return Err(BodyError::NotFinite {
                    place: format!("control.loads[{k}]"),
                    value: sum,
                });
            }
            let Primitive::Frame(frame) = load.point.primitive else {
                return Err(BodyError::Model(format!(
                    "control.loads[{k}] acts on {:?}; a tree of links has frames only",
                    load.point.primitive
                )));
            };
            let n_links = self.model.links().len();
            if frame as usize >= n_links {
                return Err(BodyError::Model(format!(
                    "control.loads[{k}] acts on frame {frame}, but there are only {n_links} links"
                )));
            }
        }
        Ok(())
    }

    /// All velocities, given the free ones.
    fn whole_velocity(&self, v: &[f64], whole: &mut Vec<f64>) {
        whole.clone_from(&self.prescribed);
        self.held.scatter(v, whole);
    }

    fn entry(values: &[f64], k: usize) -> f64 {
        values.get(k).copied().unwrap_or(0.0)
    }
}

impl BodyStep for TreeStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        self.check(state, input.control)?;
        self.time_step_s = input.time_step_s;
        self.gravity = input.gravity;
        self.control.clone_from(input.control);
        self.q.clone_from(&state.q);
        self.v.clone_from(&state.v);
        let prescribed = |k: usize| input.control.held.get(k).copied().flatten();
        let n_v = self.model.n_v();
        let unchanged = (0..n_v).all(|k| self.held.contains(DofIdx(k)) == prescribed(k).is_some());
        if !unchanged {
            let dofs = (0..n_v).filter(|&k| prescribed(k).is_some());
            self.held = HeldDofs::of(&self.model, dofs.map(DofIdx));
        }
        for (k, p) in self.prescribed.iter_mut().enumerate() {
            *p = prescribed(k).unwrap_or(0.0);
        }
        self.free_of.clear();
        self.free_of.resize(n_v, None);
        for (i, &k) in self.held.free().iter().enumerate() {
            self.free_of[k] = Some(i);
        }
        self.start.resize(self.held.free().len(), 0.0);
        self.held.gather(&self.v, &mut self.start);
        self.workspace.update(&self.model, &self.q, &self.v);
        Ok(())
    }

    fn start_velocity(&self) -> &[f64] {
        &self.start
    }

    fn linearise(&mut self) -> Result<(), BodyError> {
        let (model, w, dt) = (&*self.model, &mut self.workspace, self.time_step_s);
        mass_matrix_again(model, w, &mut self.mass);
        model.implicit_diagonal(dt, &mut self.diagonal);
        self.tau.fill(0.0);
        model.add_passive_forces(&self.q, &self.v, dt, &mut self.tau);
        for (k, gains) in self.actuators.iter().enumerate() {
            if gains.is_none() {
                self.tau[k] += Self::entry(&self.control.effort, k);
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
            add_wrench(model, &w.positions, link, &p_WQ, &wrench, &mut self.tau);
        }
        inverse_dynamics_again(
            model,
            &self.no_acceleration,
            &self.gravity,
            w,
            &mut self.bias,
        );

        let free = self.held.free();
        let n = free.len();
        let (a, b) = self.dynamics.resize(n);
        for (column, &k) in free.iter().enumerate() {
            for (row, &j) in free.iter().enumerate() {
                a[column * n + row] = self.mass[(j, k)];
            }
            a[column * n + column] += self.diagonal[k];
        }
        // b = A v0 + δt(τ − k) − M_fh (v_h − v_h0).
        for (row, &j) in free.iter().enumerate() {
            b[row] = dt * (self.tau[j] - self.bias[j]);
            for (column, &k) in free.iter().enumerate() {
                b[row] += a[column * n + row] * self.v[k];
            }
            for &h in self.held.held() {
                b[row] -= self.mass[(j, h)] * (self.prescribed[h] - self.v[h]);
            }
        }
        Ok(())
    }

    fn dynamics(&self) -> &dyn Dynamics {
        &self.dynamics
    }

    fn lever(&self, p: &MaterialPoint, out: &mut Lever) -> BasisIdx {
        *out = Lever::Twist;
        match p.primitive {
            Primitive::Frame(link) => BasisIdx(link),
            other => unreachable!("a tree of links has frames only, not {other:?}"),
        }
    }

    fn basis(&self, basis: BasisIdx, p_WO: &Point3<f64>, out: &mut Rows) {
        let link = LinkIdx(basis.0 as usize);
        let columns =
            || jacobian_columns(&self.model, &self.workspace.positions, link, &p_WO.coords);
        out.reset(6);
        let (mut first, mut end) = (usize::MAX, 0);
        for (DofIdx(k), column) in columns() {
            match self.free_of[k] {
                Some(i) => {
                    first = first.min(i);
                    end = end.max(i + 1);
                }
                None => {
                    let rate = self.prescribed[k];
                    let bias = out.bias_mut();
                    for r in 0..3 {
                        bias[r] += rate * column.angular[r];
                        bias[r + 3] += rate * column.linear[r];
                    }
                }
            }
        }
        if first == usize::MAX {
            return;
        }
        let values = out.dense(0, 6, first, end - first);
        for (DofIdx(k), column) in columns() {
            if let Some(i) = self.free_of[k] {
                let at = 6 * (i - first);
                values[at..at + 3].copy_from_slice(column.angular.as_slice());
                values[at + 3..at + 6].copy_from_slice(column.linear.as_slice());
            }
        }
    }

    fn internal_constraints(&self, out: &mut InternalConstraints<'_>) {
        let dt = self.time_step_s;
        for joint in self.model.joints() {
            for k in joint.dofs() {
                let Some(i) = self.free_of[k] else { continue };
                let w = out.inverse_inertia(i);
                let label = |kind| ConstraintLabel {
                    kind,
                    index: k as u32,
                };
                if let Some(entry) = self.model.position_of_dof(DofIdx(k)) {
                    let q = self.q[entry];
                    let limits = &joint.limits;
                    if joint.kind.n_v() == 1 && limits.lower.is_finite() {
                        let law = Limit::near_rigid(dt, q - limits.lower, w);
                        out.velocity(i, RowLaw::Limit(law), label(ConstraintKind::LowerLimit));
                    }
                    if joint.kind.n_v() == 1 && limits.upper.is_finite() {
                        let law = Limit::near_rigid(dt, limits.upper - q, w);
                        let kind = label(ConstraintKind::UpperLimit);
                        out.combination(&[(i, -1.0)], 0.0, RowLaw::Limit(law), kind);
                    }
                    if let Some(gains) = self.actuators[k] {
                        let target = self.control.position.get(k).copied().unwrap_or(q);
                        let command = PdCommand {
                            position_error: q - target,
                            velocity: Self::entry(&self.control.velocity, k),
                            feed_forward: Self::entry(&self.control.effort, k),
                        };
                        let law = RowLaw::PdActuator(PdActuator::new(dt, gains, command, w));
                        out.velocity(i, law, label(ConstraintKind::Actuator));
                    }
                }
                if joint.passive.dry_friction > 0.0 {
                    let bound = dt * joint.passive.dry_friction;
                    let law = Bilateral::dry_friction(bound, DRY_FRICTION_REGULARISATION * w);
                    let kind = label(ConstraintKind::DryFriction);
                    out.velocity(i, RowLaw::Bilateral(law), kind);
                }
            }
        }
        for coupler in self.model.couplers() {
            let dof = |joint: JointIdx| self.model.joint(joint).dofs().start;
            let (k, s) = (dof(coupler.joint), dof(coupler.source));
            let position = |k: usize| {
                let entry = self.model.position_of_dof(DofIdx(k));
                entry.map_or(0.0, |i| self.q[i])
            };
            let error = position(k) - coupler.multiplier * position(s) - coupler.offset;
            let (mut bias, mut w) = (0.0, 0.0);
            let mut terms = [(0, 0.0); 2];
            let mut n_terms = 0;
            for (dof, coefficient) in [(k, 1.0), (s, -coupler.multiplier)] {
                match self.free_of[dof] {
                    Some(i) => {
                        terms[n_terms] = (i, coefficient);
                        n_terms += 1;
                        w += coefficient * coefficient * out.inverse_inertia(i);
                    }
                    None => bias += coefficient * self.prescribed[dof],
                }
            }
            if n_terms > 0 {
                let law = RowLaw::Bilateral(Bilateral::near_rigid(dt, error, w));
                let label = ConstraintLabel {
                    kind: ConstraintKind::Coupler,
                    index: k as u32,
                };
                out.combination(&terms[..n_terms], bias, law, label);
            }
        }
    }

    fn advance(&self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        self.whole_velocity(v, &mut next.v);
        next.q.resize(self.q.len(), 0.0);
        self.model
            .integrate(&self.q, &next.v, self.time_step_s, &mut next.q);
        next.history.clear();
        Ok(BodyReport::default())
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

    fn point(&self, v: &[f64], p: &MaterialPoint) -> Point3<f64> {
        let mut whole = Vec::new();
        self.whole_velocity(v, &mut whole);
        let mut q = vec![0.0; self.q.len()];
        self.model
            .integrate(&self.q, &whole, self.time_step_s, &mut q);
        let mut positions = PositionKinematics::new(&self.model);
        positions.update(&self.model, &q);
        let frame = match p.primitive {
            Primitive::Frame(link) => positions.link_pose(&self.model, LinkIdx(link as usize)),
            _ => Isometry3::identity(),
        };
        frame * Point3::from(p.offset)
    }
}
