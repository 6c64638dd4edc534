//! Contact of single pairs of collision shapes, where the file of a model prescribes it.

use super::{LinkIdx, Model};

/// A collision shape: its link, and its index among the collision shapes of that link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShapeIdx {
    /// The link.
    pub link: LinkIdx,
    /// Index in [`Link::collisions`](crate::Link::collisions).
    pub shape: usize,
}

/// Two collision shapes of a model whose contact its file prescribes.
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{PairContact, RobotOptions, parse_robot};
///
/// // MuJoCo takes the larger friction coefficient of two geoms.
/// let mjcf = br#"<mujoco><worldbody><geom type="plane" size="1 1 1" friction="0.3"/>
///   <body><freejoint/><geom size="0.1" friction="0.7"/></body></worldbody></mujoco>"#;
/// let model = parse_robot(mjcf, Path::new("ball.xml"), &RobotOptions::default())?.model;
/// let PairContact::Friction(friction) = model.shape_pairs()[0].contact else { panic!("they touch") };
/// assert_eq!(friction.sliding, Some(0.7));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapePair {
    /// The two shapes, in ascending order.
    pub shapes: [ShapeIdx; 2],
    /// Their contact.
    pub contact: PairContact,
}

/// Contact of two collision shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PairContact {
    /// None.
    Excluded,
    /// Contact, even between links that have none otherwise, with this friction.
    Friction(PairFriction),
}

/// Friction of a pair of shapes; `None` follows from the two shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairFriction {
    /// μ.
    pub sliding: Option<f64>,
    /// Largest torque about the normal per normal force, m.
    pub torsional: Option<f64>,
    /// Largest torque against rolling per normal force, m.
    pub rolling: Option<f64>,
}

impl Model {
    /// Pairs of collision shapes whose contact the file prescribes, in ascending order.
    pub fn shape_pairs(&self) -> &[ShapePair] {
        &self.shape_pairs
    }

    /// Collision shapes that touch in [`shape_pairs`](Self::shape_pairs) only, and nothing outside of the model, in ascending order.
    pub fn shapes_of_pairs_only(&self) -> &[ShapeIdx] {
        &self.shapes_of_pairs_only
    }
}
