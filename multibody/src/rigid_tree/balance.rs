//! The momentum balance A v = b of a step: inertia, bias and applied forces, and the state at which they are evaluated.

use std::mem::take;

use pliant_contact_sap::{Integration, Primitive};

use super::constraints::entry;
use super::step::TreeStep;
use crate::dynamics::{
    ForwardDynamicsInput, Workspace, bias_forces_at_update, constrained_forward_dynamics,
    mass_matrix_into,
};
use crate::jacobian::add_wrench;
use crate::model::LinkIdx;
use crate::spatial::Wrench;

impl TreeStep {
    /// The workspace at which inertia and bias of the step are evaluated.
    pub(super) fn evaluation_workspace(&self) -> &Workspace {
        self.midpoint
            .as_deref()
            .filter(|_| self.time_step.integration == Integration::Midpoint)
            .unwrap_or(&self.workspace)
    }

    /// Predicts the midpoint by a backward Euler step of half the length without constraints. M(q^θ) and k(q^θ, v^θ) there
    /// are accurate to O(δt²), which preserves the second order of the midpoint rule, with A symmetric and independent of
    /// v.
    pub(super) fn predict_midpoint(&mut self) {
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
        let mut midpoint = self
            .midpoint
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
        self.q_midpoint.resize(self.q.len(), 0.0);
        model.integrate(&self.q, velocity, half_s, &mut self.q_midpoint);
        midpoint.update(model, &self.q_midpoint, velocity);
        self.midpoint = Some(midpoint);
    }

    /// τ of dampers and springs evaluated `forces_s` after the start, of feed-forward efforts without an actuator, and of
    /// loads at `w`.
    fn applied(&self, w: &Workspace, forces_s: f64, tau: &mut [f64]) {
        let model = &*self.model;
        tau.fill(0.0);
        model.add_passive_forces(&self.q, &self.v, forces_s, tau);
        for joint in model.joints() {
            let limit = joint.limits.effort;
            for k in joint.dofs().filter(|&k| self.actuators[k].is_none()) {
                tau[k] += entry(&self.control.effort, k).clamp(-limit, limit);
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

    /// Computes τ, k, and the diagonal that implicit forces add to M.
    pub(super) fn compute_forces(&mut self) {
        let (forces_s, positions_s) = (self.time_step.forces_s(), self.time_step.positions_s());
        self.model
            .implicit_diagonal(forces_s, positions_s, &mut self.diagonal);
        let mut tau = take(&mut self.tau);
        self.applied(self.evaluation_workspace(), forces_s, &mut tau);
        self.tau = tau;
        let w = evaluation_workspace_of(
            &mut self.workspace,
            &mut self.midpoint,
            self.time_step.integration,
        );
        bias_forces_at_update(&self.model, &self.gravity, w, &mut self.bias);
    }

    /// Computes A = M_ff + diag and b = A v0 + δt(τ − k)_f − M_fh (v_h − v_h0), with the corrections of free flight to v0 and of
    /// free rotation to k.
    pub(super) fn compute_dynamics(&mut self) {
        let (model, dt) = (&*self.model, self.time_step.length_s);
        let w = evaluation_workspace_of(
            &mut self.workspace,
            &mut self.midpoint,
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
        let start = &self.workspace;
        let evaluation = match (&self.midpoint, self.time_step.integration) {
            (Some(midpoint), Integration::Midpoint) => midpoint,
            _ => start,
        };
        for rotation in self
            .rotations
            .iter_mut()
            .filter(|rotation| rotation.is_free)
        {
            rotation.begin(start, evaluation, self.time_step);
            for k in rotation.dofs.clone() {
                let along = start.positions.axes[k].dot(&rotation.impulse);
                b[self.free_of[k].expect("not held")] += along;
            }
        }
        let gravity = model.gravity_from(&self.gravity);
        for flight in self.flights.iter_mut().filter(|flight| flight.is_free) {
            let column = |k: usize| match self.free_of[k] {
                Some(i) if held.is_empty() => &a[n * i..n * (i + 1)],
                _ => &self.mass.as_slice()[n_v * k..n_v * (k + 1)],
            };
            flight.begin(&self.workspace, &self.v, column, &self.bias, &gravity, dt);
            for &h in held {
                flight.add_prescribed_change(h, self.prescribed[h] - self.v[h]);
            }
            for (k, gain) in flight.translations().zip(flight.gains) {
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
}

/// The workspace at which a step by `integration` evaluates inertia and bias.
fn evaluation_workspace_of<'a>(
    start: &'a mut Workspace,
    midpoint: &'a mut Option<Box<Workspace>>,
    integration: Integration,
) -> &'a mut Workspace {
    match (midpoint, integration) {
        (Some(midpoint), Integration::Midpoint) => midpoint,
        _ => start,
    }
}
