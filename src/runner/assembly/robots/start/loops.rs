//! Start of robots with closed loops: joints whose positions are not given go where the loops close.

use pliant_multibody::{CouplerLaw, Joint, Model, MultibodyError};

use super::super::super::Draft;
use crate::scene::{JointValues, ModelEntry, Positions, SceneError, SceneFault};

/// Positions that are rounded to four digits leave loops open by no more, m or rad.
const ROUNDED: f64 = 1e-3;
/// Joints that move by less are not worth a note, rad or m.
const NOTED: f64 = 1e-3;

impl Draft<'_> {
    /// Moves joints until loops close and couplings hold. Positions that the scene gives stay, up to rounding.
    pub(super) fn close_loops(
        &mut self,
        entry: &ModelEntry,
        tree: &Model,
        positions: &JointValues,
        (q, v): (&mut [f64], &mut [f64]),
    ) -> Result<(), SceneError> {
        let is_linear = |law: &CouplerLaw| law.coefficients[2..] == [0.0; 3];
        let couplers_hold = tree.couplers().iter().all(|c| is_linear(&c.law));
        if tree.loops().is_empty() && couplers_hold {
            return Ok(());
        }
        let dofs = |is_held: &dyn Fn(&Joint) -> bool| {
            let mut held = vec![false; tree.n_v()];
            for joint in tree.joints().iter().filter(|joint| is_held(joint)) {
                held[joint.dofs()].fill(true);
            }
            held
        };
        let is_root = |joint: &Joint| joint.parent.is_none();
        let given = match &entry.positions {
            Positions::Given(_) => &positions[..],
            Positions::OfFile(_) => &[],
        };
        let shown = q.to_vec();
        // Rounded positions contradict one another a little: the last ones give way.
        for n in (0..=given.len()).rev() {
            let is_held = |joint: &Joint| {
                is_root(joint) || given[..n].iter().any(|(m, _)| m.name == joint.name)
            };
            match tree.close_loops(q, &dofs(&is_held)) {
                Ok(()) => break,
                Err(error) if n > 0 && is_rounding(&error) => {}
                Err(error) => {
                    let at = positions.first().map_or(entry.file.at, |(m, _)| m.at);
                    let fault = SceneFault::File(error.to_string());
                    return Err(self.scene.text.error(at, fault));
                }
            }
        }
        let mut moved = vec![0.0; tree.n_v()];
        tree.difference(&shown, q, &mut moved);
        let most = moved.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        if most > NOTED {
            self.notes.push(format!(
                "robot {:?}: its joints move by up to {most:.4} rad or m at the start, to close its loops",
                entry.name.name
            ));
        }
        tree.project_velocities(
            q,
            v,
            &dofs(&|joint| {
                is_root(joint) || entry.velocities.iter().any(|(m, _)| m.name == joint.name)
            }),
        );
        Ok(())
    }
}

fn is_rounding(error: &MultibodyError) -> bool {
    let size = match error {
        MultibodyError::OpenLoop {
            distance_m, angle, ..
        } => distance_m.max(*angle),
        MultibodyError::BrokenCoupling { error, .. } => *error,
        _ => f64::INFINITY,
    };
    size <= ROUNDED
}
