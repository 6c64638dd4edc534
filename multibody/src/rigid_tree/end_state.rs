//! The state at the end of a step with given end velocities.

use nalgebra::{Matrix3, Vector3};

use super::step::TreeStep;
use crate::joint::rotation_from_wxyz;

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

    /// The state after a step with end velocities `v`.
    pub(super) fn state_after(&mut self, v: &[f64], q_next: &mut Vec<f64>, v_next: &mut Vec<f64>) {
        self.mean_velocity(v, v_next);
        q_next.resize(self.q.len(), 0.0);
        self.model
            .integrate(&self.q, v_next, self.time_step.length_s, q_next);
        let mut solved = std::mem::take(&mut self.solved);
        self.full_velocity(v, &mut solved);
        v_next.clone_from(&solved);
        self.finish_rotations(&solved, q_next, v_next);
        if let Some(end_state) = &mut self.end_state {
            end_state.update(&self.model, q_next, v_next);
            for flight in self.flights.iter().filter(|flight| flight.is_free) {
                flight.finish(&self.time_step, &self.q, end_state, &solved, q_next, v_next);
            }
        }
        self.solved = solved;
    }

    /// Converts the mean angular velocities of the solution to those at the end.
    fn finish_rotations(&self, solved: &[f64], q: &[f64], v: &mut [f64]) {
        for rotation in self.rotations.iter().filter(|rotation| rotation.is_free) {
            let first = rotation.dofs.start;
            let axes = &self.workspace.positions.axes[rotation.dofs.clone()];
            let joint_to_world = Matrix3::from_columns(axes);
            let to_child = rotation_from_wxyz(&q[rotation.q_start..]);
            let along_axes = Vector3::from_column_slice(&solved[rotation.dofs.clone()]);
            let end = rotation.end_velocity(
                &(joint_to_world * along_axes),
                &(joint_to_world * to_child.to_rotation_matrix().into_inner()),
                self.time_step.length_s,
            );
            let end = joint_to_world.tr_mul(&end);
            v[first..first + 3].copy_from_slice(end.as_slice());
        }
    }
}
