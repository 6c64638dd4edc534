//! The links of a model, and named frames on them.

use nalgebra::{Isometry3, Matrix3, Vector3};

use super::{BodyIdx, JointIdx, LinkIdx};
use crate::geometry::{Collision, Visual};
use crate::inertia::SpatialInertia;

/// A link: a named frame with inertia and shapes.
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{BodyIdx, JointIdx, RobotOptions, parse_robot};
///
/// let urdf = br#"<robot name="r"><link name="base"/>
///   <link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
///     <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
///     <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
///   <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"#;
/// let model = parse_robot(urdf, Path::new("r.urdf"), &RobotOptions::default())?.model;
/// let arm = model.link(model.link_named("arm")?);
/// assert_eq!((arm.inertia.mass, arm.inertia.com.x), (2.0, 0.5));
/// assert_eq!((arm.collisions.len(), arm.visuals.len()), (1, 0));
/// assert_eq!((arm.parent_joint, arm.body), (Some(JointIdx(0)), BodyIdx(1)));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Link {
    /// Its name, unique in the model.
    pub name: String,
    /// Mass properties in the link frame, as written in the file.
    pub inertia: SpatialInertia,
    /// Collision shapes.
    pub collisions: Vec<Collision>,
    /// Visual shapes.
    pub visuals: Vec<Visual>,
    /// Colour of the collision shapes where no visual shape can be shown.
    pub rgba: Option<[f64; 4]>,
    /// Share of its weight that is carried for it: 0 is none, 1 all of it.
    pub gravity_compensation: f64,
    /// The joint to its parent; `None` for a fixed root.
    pub parent_joint: Option<JointIdx>,
    /// The body that it is part of.
    pub body: BodyIdx,
    pub(crate) R_BL: Matrix3<f64>,
    pub(crate) p_BL: Vector3<f64>,
}

/// A named frame fixed on a link.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, SpatialInertia};
/// use pliant_multibody::PositionKinematics;
///
/// // A frame 0.1 m above the origin of a table at 0.7 m.
/// # let mut builder = ModelBuilder::new("table");
/// # builder.root(pliant_multibody::Root::Fixed(Isometry3::translation(0.0, 0.0, 0.7)));
/// # builder.link(LinkSpec::new("table", SpatialInertia::zero()));
/// builder.frame("vase", "table", Isometry3::translation(0.0, 0.0, 0.1));
/// let model = builder.build()?;
/// let mut positions = PositionKinematics::new(&model);
/// positions.update(&model, &[]);
/// let X_WF = positions.frame_pose(&model, &model.frame_named("vase")?);
/// assert!((X_WF.translation.vector - Vector3::new(0.0, 0.0, 0.8)).norm() < 1e-12);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFrame {
    /// Its name.
    pub name: String,
    /// The link on which it is fixed.
    pub link: LinkIdx,
    /// Its pose in the link frame.
    pub X_LF: Isometry3<f64>,
}
