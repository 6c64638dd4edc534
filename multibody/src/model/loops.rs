//! Constraints that close kinematic loops.

use nalgebra::Isometry3;

use super::LinkIdx;

/// A constraint between frames A and B of two links, which closes a kinematic loop. The dynamics algorithms of this crate work on the
/// tree without it; a world makes it a constraint.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_multibody::{JointKind, JointSpec, LinkSpec, LoopKind, LoopSpec, ModelBuilder, SpatialInertia};
///
/// // Two rods of 1 m that hang from a beam, 1 m apart, and a third one between their ends.
/// let mut builder = ModelBuilder::new("four-bar");
/// builder.link(LinkSpec::new("beam", SpatialInertia::zero()));
/// for name in ["left", "right", "bar"] {
///     builder.link(LinkSpec::new(name, SpatialInertia::solid_sphere(1.0, 0.1)));
/// }
/// let at = Isometry3::translation;
/// for (name, parent, child, X_PJ) in [
///     ("a", "beam", "left", at(0.0, 0.0, 0.0)), ("b", "left", "bar", at(0.0, 0.0, -1.0)), ("c", "beam", "right", at(1.0, 0.0, 0.0)),
/// ] {
///     builder.joint(JointSpec::new(name, JointKind::Continuous, parent, child).about(Vector3::y()).at(X_PJ));
/// }
/// let ends = [("bar".to_owned(), at(1.0, 0.0, 0.0)), ("right".to_owned(), at(0.0, 0.0, -1.0))];
/// builder.loop_constraint(LoopSpec { name: "pin".to_owned(), kind: LoopKind::Ball, ends });
/// let model = builder.build()?;
/// // The left rod is at 0.3 rad; the other two follow.
/// let mut q = [0.3, 0.0, 0.0];
/// model.close_loops(&mut q, &[true, false, false])?;
/// assert!((q[1] + 0.3).abs() < 1e-9 && (q[2] - 0.3).abs() < 1e-9);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LoopConstraint {
    /// Its name, unique among the loops of the model.
    pub name: String,
    /// What it prescribes.
    pub kind: LoopKind,
    /// A: its link, and its pose in the frame of the link.
    pub a: LinkFrame,
    /// B.
    pub b: LinkFrame,
}

/// A frame fixed on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkFrame {
    /// The link.
    pub link: LinkIdx,
    /// Pose of the frame in the frame of the link.
    pub X_LF: Isometry3<f64>,
}

/// What a constraint that closes a loop prescribes.
///
/// ```
/// use pliant_multibody::LoopKind;
///
/// assert_eq!([LoopKind::Ball, LoopKind::Revolute, LoopKind::Prismatic, LoopKind::Weld].map(LoopKind::n_rows), [3, 5, 5, 6]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// The origins of A and B coincide.
    Ball,
    /// A and B coincide.
    Weld,
    /// The origins and the z axes of A and B coincide.
    Revolute,
    /// The axes of A and B are parallel, and the origin of A is on the z axis of B.
    Prismatic,
}

impl LoopKind {
    /// Number of relative motions that it prevents.
    #[must_use]
    pub fn n_rows(self) -> usize {
        match self {
            Self::Ball => 3,
            Self::Revolute | Self::Prismatic => 5,
            Self::Weld => 6,
        }
    }
}
