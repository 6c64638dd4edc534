//! Start of coupled joints: followers where their sources put them, within the limits of both.

use pliant_multibody::{Coupler, Joint, JointIdx, Model};

use super::super::super::Draft;
use crate::scene::{JointValues, ModelEntry, Positions, SceneError};

/// Limits of files are rounded: a range that is shorter by less than this share is the same.
const ROUNDED: f64 = 1e-2;

impl Draft<'_> {
    /// Makes positions and velocities consistent with the mimic joints: a given follower moves a source that is not given, then
    /// each follower takes its place. An error if the scene gives two that disagree; a note if a keyframe does.
    pub(super) fn satisfy_couplers(
        &mut self,
        entry: &ModelEntry,
        tree: &Model,
        positions: &JointValues,
        (q, v): (&mut [f64], &mut [f64]),
    ) -> Result<(), SceneError> {
        self.note_narrowed_ranges(entry, tree);
        let given = |list: &JointValues| -> Vec<bool> {
            let names = |joint: &Joint| list.iter().any(|(m, _)| m.name == joint.name);
            tree.joints().iter().map(names).collect()
        };
        let (q_given, v_given) = (given(positions), given(&entry.velocities));
        let (mut q_known, mut v_known) = (q_given.clone(), v_given.clone());
        for coupler in tree.couplers().iter().rev() {
            let Some(JointIdx(from)) = coupler.source else {
                continue;
            };
            let JointIdx(to) = coupler.joint;
            let (joint, source) = (&tree.joints()[to], &tree.joints()[from]);
            let implied = coupler.law.inverse(q[joint.positions().start]);
            if let Some(implied) = implied.filter(|_| q_known[to] && !q_known[from]) {
                q[source.positions().start] = implied;
                q_known[from] = true;
            }
            let slope = coupler.law.slope(q[source.positions().start]);
            if v_known[to] && !v_known[from] && slope != 0.0 {
                v[source.dofs().start] = v[joint.dofs().start] / slope;
                v_known[from] = true;
            }
        }
        for coupler in tree.couplers() {
            let joint = tree.joint(coupler.joint);
            let source = match coupler.source {
                Some(source) => format!("follows {:?}", tree.joint(source).name),
                None => "is held there by its file".to_owned(),
            };
            let (to, v_to) = (joint.positions().start, joint.dofs().start);
            let JointIdx(index) = coupler.joint;
            let given = (
                q_given[index].then_some(q[to]),
                v_given[index].then_some(v[v_to]),
            );
            let (follower, velocity) = implied(tree, coupler, (q, v), given);
            let place = |key: &'static str, list| (entry, key, list);
            if q_given[index] {
                let place = place("positions", positions);
                self.check_follower(place, (joint, &source), (q[to], follower))?;
            }
            if v_given[index] {
                let place = place("velocities", &entry.velocities);
                self.check_follower(place, (joint, &source), (v[v_to], velocity))?;
            }
            q[to] = follower;
            v[v_to] = velocity;
            self.check_follower_limits(entry, tree, positions, (coupler, follower))?;
        }
        Ok(())
    }

    fn check_follower(
        &mut self,
        (entry, key, list): (&ModelEntry, &str, &JointValues),
        (joint, source): (&Joint, &str),
        (given, implied): (f64, f64),
    ) -> Result<(), SceneError> {
        // Files and scenes round to four digits or more.
        if (given - implied).abs() <= 1e-4 * implied.abs().max(1.0) {
            return Ok(());
        }
        if key == "positions" && matches!(entry.positions, Positions::OfFile(_)) {
            self.notes.push(format!(
                "robot {:?}: the keyframe puts joint {:?} at {given}, but it {source} and starts at {implied}",
                entry.name.name, joint.name
            ));
            return Ok(());
        }
        let Some((reference, values)) = list.iter().find(|(m, _)| m.name == joint.name) else {
            return Ok(());
        };
        let allowed = format!("must be {implied}: the joint {source}; give one of the two only");
        Err(self.out_of_range((entry, key, reference), values, allowed))
    }

    /// A source that the scene gives must not put its follower outside of the follower's limits.
    fn check_follower_limits(
        &self,
        entry: &ModelEntry,
        tree: &Model,
        positions: &JointValues,
        (coupler, follower): (&Coupler, f64),
    ) -> Result<(), SceneError> {
        const SLACK: f64 = 1e-4;
        let joint = tree.joint(coupler.joint);
        let (lower, upper) = (joint.limits.lower, joint.limits.upper);
        if (lower - SLACK..=upper + SLACK).contains(&follower) {
            return Ok(());
        }
        let Some(source) = coupler.source.map(|source| tree.joint(source)) else {
            return Ok(());
        };
        let Some((reference, values)) = positions.iter().find(|(m, _)| m.name == source.name)
        else {
            return Ok(());
        };
        let allowed = format!(
            "puts joint {:?}, which follows it, at {follower}, outside of the limits [{lower}, {upper}] of that joint",
            joint.name
        );
        Err(self.out_of_range((entry, "positions", reference), values, allowed))
    }

    /// A follower that reaches its limits first keeps its source from reaching its own.
    fn note_narrowed_ranges(&mut self, entry: &ModelEntry, tree: &Model) {
        let ranges = tree.admissible_ranges();
        for (joint, range) in tree.joints().iter().zip(&ranges) {
            let limits = &joint.limits;
            let length = (limits.upper - limits.lower).min(1e3);
            let narrowed = (range.lower - limits.lower).max(limits.upper - range.upper);
            let followers: Vec<String> = tree
                .couplers()
                .iter()
                .filter(|c| c.source.is_some_and(|s| tree.joint(s).name == joint.name))
                .map(|c| format!("{:?}", tree.joint(c.joint).name))
                .collect();
            if !followers.is_empty() && narrowed > ROUNDED * length {
                self.notes.push(format!(
                    "robot {:?}: joint {:?} moves in [{:.4}, {:.4}], not in its limits [{:.4}, {:.4}]: of the joints that follow it, {} then reaches a limit",
                    entry.name.name, joint.name, range.lower, range.upper, limits.lower, limits.upper, followers.join(" or ")
                ));
            }
        }
    }
}

/// Position and velocity of a follower: those of a rigid coupling, or the given ones where its play allows them.
fn implied(
    tree: &Model,
    coupler: &Coupler,
    (q, v): (&[f64], &[f64]),
    (q_given, v_given): (Option<f64>, Option<f64>),
) -> (f64, f64) {
    let source = coupler.source.map(|source| tree.joint(source));
    let x = source.map_or(0.0, |source| q[source.positions().start]);
    let rate = source.map_or(0.0, |source| v[source.dofs().start]);
    let velocity = coupler.law.slope(x) * rate;
    let position = q_given.map_or(coupler.law.value(x), |q| coupler.admit(q, x));
    let is_free = coupler.backlash > 0.0;
    (position, v_given.filter(|_| is_free).unwrap_or(velocity))
}
