//! The joints of a model, and couplings of joints.

use nalgebra::{Isometry3, Vector3};

use super::{JointIdx, LinkIdx};
use crate::joint::{Drive, JointKind, JointLimits, PassiveForces};

/// A joint between two links, or between the world and a floating root.
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
/// use pliant_multibody::JointIdx;
///
/// let hinge = model.joint(JointIdx(0));
/// assert_eq!((hinge.name.as_str(), hinge.axis), ("hinge", Vector3::y()));
/// assert_eq!((hinge.positions(), hinge.dofs()), (0..1, 0..1)); // its entries of q and v
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Joint {
    /// Its name, unique in the model.
    pub name: String,
    /// Kind of joint.
    pub kind: JointKind,
    /// The parent link; `None` is the world (a floating root).
    pub parent: Option<LinkIdx>,
    /// The child link.
    pub child: LinkIdx,
    /// Pose of the joint frame J in the parent link's frame.
    pub X_PJ: Isometry3<f64>,
    /// Axis, a unit vector in J.
    pub axis: Vector3<f64>,
    /// Limits.
    pub limits: JointLimits,
    /// Damping, dry friction and spring.
    pub passive: PassiveForces,
    /// Rotor, gear and gains.
    pub drive: Drive,
    /// Position in which the model starts; `None` is the neutral position.
    pub initial: Option<Vec<f64>>,
    pub(crate) q_start: usize,
    pub(crate) v_start: usize,
}

impl Joint {
    /// Range of its entries of q.
    pub fn positions(&self) -> core::ops::Range<usize> {
        self.q_start..self.q_start + self.kind.n_q()
    }

    /// Range of its entries of v.
    pub fn dofs(&self) -> core::ops::Range<usize> {
        self.v_start..self.v_start + self.kind.n_v()
    }
}

/// A coupling of two joints, q_joint = multiplier · q_source + offset (URDF's `<mimic>`). [`RigidTree`](crate::RigidTree)
/// makes it a constraint; the dynamics algorithms treat both joints as independent.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("gripper");
/// # for name in ["palm", "left", "right"] {
/// #     builder.link(LinkSpec::new(name, SpatialInertia::solid_sphere(1.0, 0.1)));
/// # }
/// # builder.joint(JointSpec::new("left slide", JointKind::Prismatic, "palm", "left").about(Vector3::y()));
/// # builder.joint(JointSpec::new("right slide", JointKind::Prismatic, "palm", "right").about(Vector3::y()));
/// // Two fingers that close together: q_right = −q_left.
/// builder.coupler("right slide", "left slide", -1.0, 0.0);
/// let gripper = builder.build()?;
/// let coupler = gripper.couplers()[0];
/// assert_eq!(gripper.joint(coupler.source).name, "left slide");
/// let mut q = [0.02, 0.0];
/// gripper.make_admissible(&mut q);
/// assert_eq!(q, [0.02, -0.02]);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupler {
    /// The coupled joint.
    pub joint: JointIdx,
    /// The joint that it follows.
    pub source: JointIdx,
    /// Ratio of the two motions, dimensionless between joints of one kind, otherwise rad/m or m/rad.
    pub multiplier: f64,
    /// Offset, rad or m.
    pub offset: f64,
}
