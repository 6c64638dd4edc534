//! How the momentum balance depends on efforts, which are forces on the components of vertices.

use pliant_contact_sap::ControlAdjoint;

use super::FemStep;

impl ControlAdjoint for FemStep {
    fn n_velocities(&self) -> usize {
        3 * self.held.len()
    }

    fn solved_entries(&self, full: &[f64], out: &mut Vec<f64>) {
        let entries = full.iter().zip(self.held.as_flattened());
        out.clear();
        out.extend(entries.filter(|(_, held)| !**held).map(|(x, _)| *x));
    }

    fn effort_gradient(&self, lambda: &[f64], out: &mut Vec<f64>) {
        let time_step_s = self.motion.time_step.length_s;
        let mut solved = lambda.iter();
        out.clear();
        out.extend(self.held.as_flattened().iter().map(|held| match held {
            true => 0.0,
            false => time_step_s * solved.next().copied().unwrap_or(0.0),
        }));
    }
}
