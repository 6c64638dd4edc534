//! The state at the end of a step with given end velocities.

use std::mem::take;
use std::sync::{MutexGuard, PoisonError};

use nalgebra::{Matrix3, Vector3};

use super::free_flight::{EndState, FreeFlight};
use super::step::TreeStep;
use crate::model::LinkIdx;
use crate::spatial::{product, rotate};

impl TreeStep {
    /// All velocities, from the free ones and the prescribed ones.
    pub(super) fn full_velocity(&self, v: &[f64], full: &mut Vec<f64>) {
        full.clone_from(&self.prescribed);
        self.held.scatter(v, full);
    }

    /// The velocities by which positions advance in a step with free end velocities `v`; prescribed ones are constant.
    fn mean_velocity(&self, v: &[f64], full: &mut Vec<f64>) {
        full.clone_from(&self.prescribed);
        for (i, &k) in self.held.free().iter().enumerate() {
            full[k] = self.time_step.mean_velocity(self.start[i], v[i]);
        }
    }

    pub(super) fn end_state(&self) -> Option<MutexGuard<'_, EndState>> {
        let workspace = self.end_state.as_ref()?;
        Some(workspace.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The state after a step with end velocities `v`.
    pub(super) fn state_after(
        &self,
        v: &[f64],
        end_state: Option<&mut EndState>,
        q_next: &mut Vec<f64>,
        v_next: &mut Vec<f64>,
    ) {
        let (model, time_step) = (&*self.model, &self.time_step);
        self.mean_velocity(v, v_next);
        q_next.resize(self.q.len(), 0.0);
        model.integrate(&self.q, v_next, time_step.length_s, q_next);
        self.full_velocity(v, v_next);
        if let Some(end_state) = end_state {
            end_state.update(model, q_next, v_next);
            for flight in self.flights.iter().filter(|flight| flight.is_free) {
                flight.finish(time_step, &self.q, end_state, q_next, v_next);
            }
        }
    }

    /// Pose of a link after a step with end velocities `v`.
    pub(super) fn link_pose_after(&self, v: &[f64], link: LinkIdx) -> (Matrix3<f64>, Vector3<f64>) {
        let model = &*self.model;
        let body = model.links[link.0].body.0;
        let moves = |flight: &FreeFlight| flight.is_free && flight.carries(body);
        let workspace = self.end_state().filter(|_| self.flights.iter().any(moves));
        let Some(mut end_state) = workspace else {
            return self.chain_pose_after(v, link);
        };
        let (mut q, mut rates) = (take(&mut end_state.q), take(&mut end_state.v));
        self.state_after(v, Some(&mut end_state), &mut q, &mut rates);
        end_state.positions.update(model, &q);
        (end_state.q, end_state.v) = (q, rates);
        (
            end_state.positions.link_rotation(model, link),
            end_state.positions.link_position(model, link),
        )
    }

    /// Pose of a link after a step with end velocities `v` of a tree that is not in free flight: along its own chain only.
    fn chain_pose_after(&self, v: &[f64], link: LinkIdx) -> (Matrix3<f64>, Vector3<f64>) {
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
