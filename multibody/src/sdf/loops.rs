//! Joints that close kinematic loops: a link with two parents, or joints in a circle.

use nalgebra::{Isometry3, UnitQuaternion};

use super::joints::ReadJoint;
use crate::builder::{JointSpec, LinkSpec, LoopSpec};
use crate::error::MultibodyError;
use crate::geometry::CollisionFilterGroup;
use crate::joint::{Drive, JointKind, JointLimits, PassiveForces, frame_with_axis};
use crate::markup::Remarks;
use crate::model::LoopKind;

/// Splits the joints into those of a tree and those that close loops, both in the order of the file. Joints with limits, passive
/// forces, a drive or a coupling go into the tree where there is a choice, and before them those of a kind that no constraint has.
pub(super) fn split<'a>(
    links: &[LinkSpec],
    joints: Vec<ReadJoint<'a>>,
) -> (Vec<ReadJoint<'a>>, Vec<ReadJoint<'a>>) {
    let is_child = |link: &LinkSpec| joints.iter().any(|joint| joint.spec.child == link.name);
    let mut reached: Vec<&str> = links
        .iter()
        .filter(|link| !is_child(link))
        .map(|link| &*link.name)
        .collect();
    if reached.is_empty() {
        reached.extend(links.first().map(|link| &*link.name));
    }
    let mut in_tree = vec![false; joints.len()];
    loop {
        let next = |wanted: fn(&ReadJoint<'_>) -> bool| {
            joints.iter().position(|joint| {
                let (parent, child) = (&*joint.spec.parent, &*joint.spec.child);
                wanted(joint) && reached.contains(&parent) && !reached.contains(&child)
            })
        };
        let found = next(|joint| !can_close(joint))
            .or_else(|| next(|joint| !is_bare(joint)))
            .or_else(|| next(is_bare));
        let Some(found) = found else { break };
        in_tree[found] = true;
        reached.push(&joints[found].spec.child);
    }
    // A joint of a part that hangs together with no root is left to the tree, which reports it.
    let closes: Vec<bool> = joints
        .iter()
        .zip(&in_tree)
        .map(|(joint, in_tree)| {
            let ends = [&*joint.spec.parent, &*joint.spec.child];
            !in_tree && ends.iter().all(|end| reached.contains(end))
        })
        .collect();
    let (mut tree, mut loops) = (Vec::new(), Vec::new());
    for (joint, closes) in joints.into_iter().zip(closes) {
        match closes {
            true => loops.push(joint),
            false => tree.push(joint),
        }
    }
    (tree, loops)
}

/// Whether a constraint can take the place of the joint.
fn can_close(joint: &ReadJoint<'_>) -> bool {
    joint.second.is_none() && loop_kind(joint.spec.kind).is_some()
}

fn loop_kind(kind: JointKind) -> Option<LoopKind> {
    match kind {
        JointKind::Revolute | JointKind::Continuous => Some(LoopKind::Revolute),
        JointKind::Prismatic => Some(LoopKind::Prismatic),
        JointKind::Ball => Some(LoopKind::Ball),
        JointKind::Fixed => Some(LoopKind::Weld),
        JointKind::Screw { .. } | JointKind::Planar | JointKind::Floating => None,
    }
}

/// Whether a joint only restricts motion.
fn is_bare(joint: &ReadJoint<'_>) -> bool {
    let spec = &joint.spec;
    let is_limited = spec.limits.lower.is_finite() || spec.limits.upper.is_finite();
    let has_drive =
        spec.drive.gains.is_some() || spec.drive.rotor_inertia != Drive::default().rotor_inertia;
    !is_limited
        && !has_drive
        && spec.passive == PassiveForces::default()
        && spec.limits.effort == JointLimits::default().effort
        && joint.mimic.is_none()
}

/// The constraint of a joint that closes a loop, and the pair of links that overlap at it.
pub(super) fn constraint(
    joint: &ReadJoint<'_>,
    remarks: &mut Remarks,
) -> Result<(LoopSpec, [CollisionFilterGroup; 2]), MultibodyError> {
    let spec = &joint.spec;
    let subject = format!("joint \"{}\"", spec.name);
    let kind = loop_kind(spec.kind).filter(|_| joint.second.is_none());
    let Some(kind) = kind else {
        let text = "closes a loop, which this kind of joint cannot; use revolute, prismatic, ball or fixed";
        return Err(joint.element.error(&subject, text));
    };
    let mut text = format!("{subject}: closes a loop, and is read as a constraint");
    if !is_bare(joint) {
        text += "; its limits, passive forces, drive and couplings have no effect";
        remarks.suspicious(&joint.element.place, text);
    } else {
        remarks.add(
            pliant_hydroelastic::mesh::Severity::Repaired,
            &joint.element.place,
            text,
        );
    }
    let axis = spec.axis.try_normalize(0.0).ok_or_else(|| {
        let text = "its axis must not be zero";
        joint.element.error(&subject, text)
    })?;
    let R_JF = nalgebra::Rotation3::from_matrix_unchecked(frame_with_axis(&axis));
    let X_JF = Isometry3::from_parts(
        Default::default(),
        UnitQuaternion::from_rotation_matrix(&R_JF),
    );
    let loop_spec = LoopSpec {
        name: spec.name.clone(),
        kind,
        ends: [
            (spec.child.clone(), joint.X_JC.inverse() * X_JF),
            (spec.parent.clone(), spec.X_PJ * X_JF),
        ],
    };
    Ok((loop_spec, overlap(spec)))
}

/// Excludes contact of the two links of a joint, which overlap there.
pub(super) fn overlap(spec: &JointSpec) -> [CollisionFilterGroup; 2] {
    let group = |link: &String, ignored_groups: Vec<String>| CollisionFilterGroup {
        name: format!("{}/{link}", spec.name),
        members: vec![link.clone()],
        ignored_groups,
    };
    let child = group(&spec.child, Vec::new());
    let parent = group(&spec.parent, vec![child.name.clone()]);
    [parent, child]
}
