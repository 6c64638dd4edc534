//! Initial positions and velocities of a robot.

mod couplers;
mod loops;

use std::borrow::Cow;

use pliant_multibody::joint::write_floating_position;
use pliant_multibody::{Joint, JointKind, Keyframe, Model};

use super::super::Draft;
use super::super::directory::movable_joint_in;
use crate::runner::drive_conflicts::as_degrees;
use crate::scene::{
    JointValues, ModelEntry, NamedReference, Positions, RootEntry, SceneError, SceneFault, remedy,
};

impl Draft<'_> {
    /// Initial positions and velocities.
    pub(super) fn start(
        &mut self,
        entry: &ModelEntry,
        tree: &Model,
        keyframes: &[Keyframe],
    ) -> Result<(Vec<f64>, Vec<f64>), SceneError> {
        let positions = self.positions(entry, keyframes)?;
        let mut q = tree.initial_positions();
        let mut v = vec![0.0; tree.n_v()];
        if entry.root == RootEntry::Floating {
            write_floating_position(&entry.pose, &mut q[..7]);
            v[..3].copy_from_slice(entry.angular_velocity.as_slice());
            v[3..6].copy_from_slice(entry.velocity.as_slice());
        }
        let follows = |joint: &Joint| {
            let mut couplers = tree.couplers().iter();
            couplers.any(|coupler| tree.joint(coupler.joint).name == joint.name)
        };
        let single = |joint: &&Joint| joint.kind.n_v() == 1 && !follows(joint);
        let ranges = tree.admissible_ranges();
        let joints = tree.joints().iter().zip(&ranges);
        for (joint, range) in joints.filter(|(joint, _)| single(joint)) {
            let shown = q[joint.positions().start];
            let within = range.clamp(shown);
            if within != shown && !positions.iter().any(|(m, _)| m.name == joint.name) {
                q[joint.positions().start] = within;
                self.notes.push(format!(
                    "robot {:?}: joint {:?} starts at {within}, the limit nearest to {shown}",
                    entry.name.name, joint.name
                ));
            }
        }
        for (reference, values) in positions.iter() {
            let joint = movable_joint_in(self.scene, tree, reference)?;
            let place = (entry, "positions", reference);
            self.check_count(place, joint, values, joint.kind.n_q())?;
            self.check_limits(place, joint, values)?;
            q[joint.positions()].copy_from_slice(values);
            let quat_wxyz = match joint.kind {
                JointKind::Ball => &mut q[joint.positions()],
                JointKind::Floating => &mut q[joint.positions()][3..],
                _ => continue,
            };
            let norm = quat_wxyz.iter().map(|x| x * x).sum::<f64>().sqrt();
            if (norm - 1.0).abs() > 1e-2 {
                let allowed = format!("must have a quaternion of length 1, it has {norm:.4}");
                return Err(self.out_of_range(place, values, allowed));
            }
            quat_wxyz.iter_mut().for_each(|x| *x /= norm);
        }
        for (reference, values) in &entry.velocities {
            let joint = movable_joint_in(self.scene, tree, reference)?;
            self.check_count(
                (entry, "velocities", reference),
                joint,
                values,
                joint.kind.n_v(),
            )?;
            v[joint.dofs()].copy_from_slice(values);
        }
        self.satisfy_couplers(entry, tree, &positions, (&mut q, &mut v))?;
        self.close_loops(entry, tree, &positions, (&mut q, &mut v))?;
        Ok((q, v))
    }

    fn check_count(
        &self,
        place: (&ModelEntry, &str, &NamedReference),
        joint: &Joint,
        values: &[f64],
        expected: usize,
    ) -> Result<(), SceneError> {
        if values.len() == expected {
            return Ok(());
        }
        let allowed = format!("must be {expected} numbers for a {:?} joint", joint.kind);
        Err(self.out_of_range(place, values, allowed))
    }

    fn check_limits(
        &self,
        place: (&ModelEntry, &str, &NamedReference),
        joint: &Joint,
        values: &[f64],
    ) -> Result<(), SceneError> {
        // The tolerance is for limits and positions that were rounded to four digits.
        const SLACK: f64 = 1e-4;
        let limits = joint.limits;
        let is_within = |x: &f64| (limits.lower - SLACK..=limits.upper + SLACK).contains(x);
        if joint.kind.n_v() == 1 && !values.iter().all(is_within) {
            let (lower, upper) = (limits.lower, limits.upper);
            let degrees = values.iter().find_map(|x| as_degrees(joint, *x));
            let hint = degrees.map_or(String::new(), |hint| format!("; {hint}"));
            let allowed = format!("lies outside the joint's limits [{lower}, {upper}]{hint}");
            return Err(self.out_of_range(place, values, allowed));
        }
        Ok(())
    }

    fn out_of_range(
        &self,
        (entry, key, reference): (&ModelEntry, &str, &NamedReference),
        values: &[f64],
        allowed: String,
    ) -> SceneError {
        let value = match values {
            [value] => value.to_string(),
            _ => format!("{values:?}"),
        };
        let fault = SceneFault::OutOfRange {
            table: format!("[[models]] {:?}", entry.name.name),
            key: format!("{key}.{}", reference.name),
            value,
            allowed,
        };
        self.scene.text.error(reference.at, fault)
    }

    /// The positions that the scene gives, or those of a keyframe of the file.
    fn positions<'a>(
        &self,
        entry: &'a ModelEntry,
        keyframes: &[Keyframe],
    ) -> Result<Cow<'a, JointValues>, SceneError> {
        let reference = match &entry.positions {
            Positions::Given(values) => return Ok(Cow::Borrowed(values)),
            Positions::OfFile(reference) => reference,
        };
        let name = &reference.name;
        let Some(keyframe) = keyframes.iter().find(|keyframe| keyframe.name == *name) else {
            let of_scene = entry.keyframes.iter().map(|(name, _)| name.name.as_str());
            let known = of_scene.chain(keyframes.iter().map(|keyframe| &*keyframe.name));
            let fault = SceneFault::UnknownName {
                what: "keyframe".into(),
                remedy: remedy(name, known),
                name: name.clone(),
            };
            return Err(self.scene.text.error(reference.at, fault));
        };
        let at = reference.at;
        let positions = keyframe.positions.iter().map(|(joint, values)| {
            let name = joint.clone();
            (NamedReference { name, at }, values.clone())
        });
        Ok(Cow::Owned(positions.collect()))
    }
}
