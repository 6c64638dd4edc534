//! The joints of a model.

use nalgebra::{Isometry3, Vector3};

use super::LinkIdx;
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
