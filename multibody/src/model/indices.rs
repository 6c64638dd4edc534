//! Indices of links, joints, bodies and degrees of freedom.

/// Index of a link of a model; parents precede children, 0 is the root.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_multibody::{JointKind, JointSpec, LinkIdx, LinkSpec, ModelBuilder, PositionKinematics, SpatialInertia};
///
/// // Links are given in any order; in the model the parent precedes its child.
/// let mut builder = ModelBuilder::new("drawer");
/// builder.link(LinkSpec::new("drawer", SpatialInertia::solid_box(1.0, Vector3::repeat(0.3))));
/// builder.link(LinkSpec::new("cabinet", SpatialInertia::zero()));
/// let slide = JointSpec::new("slide", JointKind::Prismatic, "cabinet", "drawer").about(Vector3::y());
/// builder.joint(slide.at(Isometry3::translation(0.0, 0.0, 0.5)));
/// let model = builder.build()?;
/// let drawer = model.link_named("drawer")?;
/// assert_eq!(drawer, LinkIdx(1));
/// let mut positions = PositionKinematics::new(&model);
/// positions.update(&model, &[0.2]);
/// assert_eq!(positions.link_position(&model, drawer), Vector3::new(0.0, 0.2, 0.5));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkIdx(pub usize);

/// Index of a joint of a model, in the order of its degrees of freedom.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// use pliant_multibody::{DofIdx, JointIdx, Root};
///
/// // A floating base with a hinge: the joint of the base has six degrees of freedom, the hinge the seventh.
/// # let mut builder = ModelBuilder::new("flying pendulum");
/// # builder.root(Root::Floating);
/// # builder.link(LinkSpec::new("base", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # builder.link(LinkSpec::new("rod", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
/// # let model = builder.build()?;
/// let hinge = model.joint_named("hinge")?;
/// assert_eq!(hinge, JointIdx(1));
/// assert_eq!((model.joint(hinge).positions(), model.joint(hinge).dofs()), (7..8, 6..7));
/// assert_eq!((model.joint_of_dof(DofIdx(5)), model.joint_of_dof(DofIdx(6))), (JointIdx(0), hinge));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointIdx(pub usize);

/// Index of a body of a model; 0 is the part fixed in the world, which may be empty.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, SpatialInertia};
/// use pliant_multibody::{BodyIdx, DofIdx, JointKind, JointSpec};
///
/// // A tool that is welded to an arm is part of its body; the base is fixed in the world.
/// # let mut builder = ModelBuilder::new("arm with a tool");
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("arm", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # builder.link(LinkSpec::new("tool", SpatialInertia::solid_sphere(0.2, 0.02)));
/// builder.joint(JointSpec::new("shoulder", JointKind::Continuous, "base", "arm"));
/// builder.joint(JointSpec::new("flange", JointKind::Fixed, "arm", "tool").at(Isometry3::translation(0.0, 0.0, 0.5)));
/// let model = builder.build()?;
/// let bodies: Vec<BodyIdx> = model.links().iter().map(|link| link.body).collect();
/// assert_eq!(bodies, [BodyIdx(0), BodyIdx(1), BodyIdx(1)]);
/// assert!(model.support(BodyIdx(1)).eq([DofIdx(0)]) && model.support(BodyIdx(0)).next().is_none());
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyIdx(pub usize);

/// Index of a degree of freedom of a model, that is of an entry of v.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// use pliant_multibody::{DofIdx, PositionKinematics, jacobian_columns};
///
/// // The tip of a hinged arm, 1 m from the axis y: ∂(ω, v)/∂v_0 = (y, y × x) = (y, −z).
/// # let mut builder = ModelBuilder::new("arm");
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("arm", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "arm").about(Vector3::y()));
/// # let model = builder.build()?;
/// let arm = model.link_named("arm")?;
/// let mut positions = PositionKinematics::new(&model);
/// positions.update(&model, &[0.0]);
/// let (dof, column) = jacobian_columns(&model, &positions, arm, &Vector3::x()).next().expect("one hinge");
/// assert_eq!(dof, DofIdx(0));
/// assert_eq!((column.angular, column.linear), (Vector3::y(), -Vector3::z()));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DofIdx(pub usize);
