//! How the momentum balance of a tree depends on efforts.

use pliant_contact_sap::ControlAdjoint;

use super::constraints::entry;
use super::step::TreeStep;

impl ControlAdjoint for TreeStep {
    fn n_velocities(&self) -> usize {
        self.model.n_v()
    }

    fn solved_entries(&self, full: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.held.free().iter().map(|&k| full[k]));
    }

    fn effort_gradient(&self, lambda: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.model.n_v(), 0.0);
        for joint in self.model.joints() {
            for k in joint.dofs().filter(|&k| self.actuators[k].is_none()) {
                let within = entry(&self.control.effort, k).abs() < joint.limits.effort;
                if let (Some(i), true) = (self.free_of[k], within) {
                    out[k] = self.time_step.length_s * lambda[i];
                }
            }
        }
    }
}
