//! Joint reactions: the wrench of the parent on the child, for fixed joints, too.

use crate::kinematics::{AccelerationKinematics, PositionKinematics, VelocityKinematics};
use crate::model::{JointIdx, LinkIdx, Model};
use crate::spatial::Wrench;

/// The wrench (N m, N) that each joint exerts on its child link, about the child link's origin in world axes, indexed by
/// [`JointIdx`].
///
/// A joint transmits the wrench that the acceleration of the child's subtree requires, minus the external wrenches on the
/// subtree. `accelerations` are those of a root accelerated by −gravity, as the dynamics functions compute them.
/// `external` has a wrench for each link, about the link's origin in world axes; empty for none. The components along a
/// joint's degrees of freedom are the sum of all joint forces: actuator, damper, spring, limit, friction, rotor.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("pendulum");
/// # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
/// # bob.com = Vector3::new(1.0, 0.0, 0.0);
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("rod", bob));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
/// # let model = builder.build()?;
/// use pliant_multibody::{Workspace, inverse_dynamics, joint_reactions};
///
/// // A ball of 2 kg hangs from a hinge by 1 m and passes its lowest point at 3 rad/s: m g + m ω² l.
/// let (mut w, mut tau) = (Workspace::new(&model), [0.0]);
/// let (q, gravity) = ([std::f64::consts::FRAC_PI_2], Vector3::new(0.0, 0.0, -9.81));
/// inverse_dynamics(&model, &q, &[3.0], &[0.0], &gravity, &mut w, &mut tau);
/// let reactions = joint_reactions(&model, &w.positions, &w.velocities, &w.accelerations, &[]);
/// assert!((reactions[0].force - Vector3::new(0.0, 0.0, 2.0 * 9.81 + 2.0 * 9.0)).norm() < 1e-12);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
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
