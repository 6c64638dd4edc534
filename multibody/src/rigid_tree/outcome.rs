//! The state a step with given end velocities leads to.

use std::sync::PoisonError;

use super::step::TreeStep;

impl TreeStep {
    /// All velocities, given the free ones.
    pub(super) fn whole_velocity(&self, v: &[f64], whole: &mut Vec<f64>) {
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

    /// The state after a step with end velocities `v`.
    pub(super) fn state_after(&self, v: &[f64], q_next: &mut Vec<f64>, v_next: &mut Vec<f64>) {
        let (model, time_step) = (&*self.model, &self.time_step);
        self.mean_velocity(v, v_next);
        q_next.resize(self.q.len(), 0.0);
        model.integrate(&self.q, v_next, time_step.length_s, q_next);
        self.whole_velocity(v, v_next);
        if let Some(ahead) = &self.ahead {
            let mut ahead = ahead.lock().unwrap_or_else(PoisonError::into_inner);
            ahead.update(model, q_next, v_next);
            for flight in self.flights.iter().filter(|flight| flight.is_free) {
                flight.close(time_step, &self.q, &mut ahead, q_next, v_next);
            }
        }
    }
}
