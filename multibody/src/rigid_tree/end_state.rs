//! The state at the end of a step with given end velocities.

use super::step::TreeStep;

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
        let (model, time_step) = (&*self.model, &self.time_step);
        model.integrate(&self.q, v_next, time_step.length_s, q_next);
        self.full_velocity(v, v_next);
        if let Some(end_state) = &mut self.end_state {
            end_state.update(model, q_next, v_next);
            for flight in self.flights.iter().filter(|flight| flight.is_free) {
                flight.finish(time_step, &self.q, end_state, q_next, v_next);
            }
        }
    }
}
