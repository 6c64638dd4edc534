//! The balance of momentum, A v = b: where inertia and bias are taken, and what they are.

use std::mem::take;

use pliant_contact_sap::{Integration, Primitive};

use super::constraints::entry;
use super::step::TreeStep;
use crate::dynamics::{
    ForwardDynamicsInput, Workspace, bias_forces_again, constrained_forward_dynamics,
    mass_matrix_into,
};
use crate::jacobian::add_wrench;
use crate::model::LinkIdx;
use crate::spatial::Wrench;

impl TreeStep {
    /// Where inertia and bias of the step are taken.
    pub(super) fn aim(&self) -> &Workspace {
        self.middle
            .as_deref()
            .filter(|_| self.time_step.integration == Integration::Midpoint)
            .unwrap_or(&self.workspace)
    }

    /// Takes a step of half the length, by backward Euler and without constraints, to where a midpoint step takes inertia
    /// and bias: M(q^θ) and k(q^θ, v^θ) up to O(δt²), which keeps the order 2 of the midpoint rule while A stays symmetric
    /// and free of v.
    pub(super) fn aim_at_middle(&mut self) {
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
    pub(super) fn compute_forces(&mut self) {
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
    pub(super) fn compute_dynamics(&mut self) {
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
