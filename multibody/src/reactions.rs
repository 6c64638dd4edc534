//! Joint reactions: the wrench of the parent on the child, for fixed joints, too.

use crate::kinematics::{AccelerationKinematics, PositionKinematics, VelocityKinematics};
use crate::model::{JointIdx, LinkIdx, Model};
use crate::spatial::Wrench;

/// The wrench that each joint exerts on its child link, about the child link's origin in world axes, indexed by joint.
///
/// A joint transmits the wrench that the acceleration of the child's subtree requires, minus the external wrenches on the
/// subtree. `accelerations` are those of a root accelerated by −gravity, as the dynamics functions compute them.
/// `external` has a wrench for each link, about the link's origin in world axes; empty for none. The components along a
/// joint's degrees of freedom are the sum of all joint forces: actuator, damper, spring, limit, friction, rotor.
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
    let mut required = vec![Wrench::zero(); n];
    for (l, link) in model.links().iter().enumerate() {
        let own = link
            .inertia
            .about_origin()
            .rotated(&positions.link_rotation(model, LinkIdx(l)));
        let acceleration =
            accelerations.acceleration_at(model, positions, velocities, LinkIdx(l), &at[l]);
        required[l] = own.newton_euler(&velocities.bodies[link.body.0].angular, &acceleration);
        if let Some(applied) = external.get(l) {
            required[l].torque -= applied.torque;
            required[l].force -= applied.force;
        }
    }
    let mut reactions = vec![Wrench::zero(); model.joints().len()];
    for l in (0..n).rev() {
        let Some(JointIdx(j)) = model.links()[l].parent_joint else {
            continue;
        };
        reactions[j] = required[l];
        if let Some(LinkIdx(parent)) = model.joints()[j].parent {
            let shifted = required[l].shifted_back(&(at[l] - at[parent]));
            required[parent] += shifted;
        }
    }
    reactions
}
