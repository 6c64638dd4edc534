//! What each joint transmits: the wrench of the parent on the child, fixed joints included.

use crate::kinematics::{AccelerationKinematics, PositionKinematics, VelocityKinematics};
use crate::model::{JointIdx, LinkIdx, Model};
use crate::spatial::Wrench;

/// Wrench each joint exerts on its child link, about the child link's origin in world axes, indexed by joint.
///
/// The child's whole subtree must accelerate as `accelerations` says (computed with the root accelerated by −gravity,
/// as the dynamics calls leave them), so the joint transmits what its inertia needs less what acts on the subtree from
/// outside. `external`: a wrench on each link about the link's origin, world axes; empty for none. The part along a
/// joint's degrees of freedom is the sum of all joint forces: drive, damper, spring, limit, friction, rotor.
pub fn joint_reactions(
    model: &Model,
    positions: &PositionKinematics,
    velocities: &VelocityKinematics,
    accelerations: &AccelerationKinematics,
    external: &[Wrench],
) -> Vec<Wrench> {
    let n = model.links().len();
    let at: Vec<_> = (0..n)
        .map(|l| positions.link_position(model, LinkIdx(l)))
        .collect();
    let mut needed = vec![Wrench::zero(); n];
    for (l, link) in model.links().iter().enumerate() {
        let own = link
            .inertia
            .about_origin()
            .rotated(&positions.link_rotation(model, LinkIdx(l)));
        let acceleration =
            accelerations.acceleration_at(model, positions, velocities, LinkIdx(l), &at[l]);
        needed[l] = own.newton_euler(&velocities.bodies[link.body.0].angular, &acceleration);
        if let Some(outside) = external.get(l) {
            needed[l].torque -= outside.torque;
            needed[l].force -= outside.force;
        }
    }
    let mut reactions = vec![Wrench::zero(); model.joints().len()];
    for l in (0..n).rev() {
        let Some(JointIdx(j)) = model.links()[l].parent_joint else {
            continue;
        };
        reactions[j] = needed[l];
        if let Some(LinkIdx(parent)) = model.joints()[j].parent {
            let carried = needed[l].about_point_seeing_it_at(&(at[l] - at[parent]));
            needed[parent] += carried;
        }
    }
    reactions
}
