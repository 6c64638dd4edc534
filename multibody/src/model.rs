//! The [`Model`]: one kinematic tree, validated when built, then immutable.
//!
//! It has two levels. *Links* are the links of the model file: frames with inertia and shapes. *Bodies* are the moving rigid
//! bodies: links connected by fixed joints form one body, so that a humanoid of 58 links has 31 bodies. Body 0 is the part
//! fixed in the world. Bodies and their degrees of freedom are numbered depth first, in the order of the joints as given,
//! so that each subtree is a contiguous range.

mod coordinates;

use nalgebra::{Isometry3, Matrix3, Vector3};

use crate::error::MultibodyError;
use crate::geometry::{Collision, CollisionFilterGroup, Visual};
use crate::inertia::SpatialInertia;
use crate::joint::{DofKind, Drive, JointKind, JointLimits, PassiveForces};
use crate::spatial::OriginInertia;

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

/// How the root link is attached to the world.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{LinkSpec, ModelBuilder, SpatialInertia};
/// use pliant_multibody::Root;
///
/// let mut builder = ModelBuilder::new("cube");
/// builder.root(Root::Floating);
/// builder.link(LinkSpec::new("cube", SpatialInertia::solid_box(1.0, Vector3::repeat(0.1))));
/// let cube = builder.build()?;
/// assert_eq!(cube.neutral_positions(), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]); // x, y, z, w, qx, qy, qz
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Root {
    /// Welded at this pose `X_WR`.
    Fixed(Isometry3<f64>),
    /// By a floating joint: its position is q[0..7] = x, y, z, w, qx, qy, qz and its velocity v[0..6] = [ω; v], world axes.
    Floating,
}

/// Whether gravity acts on a model.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, MultibodyError, SpatialInertia};
/// use pliant_multibody::{GravityAction, Workspace, bias_forces};
///
/// // A ball of 2 kg on a level arm of 1 m: holding it takes m g l, or nothing where gravity is compensated.
/// let torque = |gravity| -> Result<f64, MultibodyError> {
///     # let mut builder = ModelBuilder::new("pendulum");
///     # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
///     # bob.com = Vector3::new(1.0, 0.0, 0.0);
///     # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
///     # builder.link(LinkSpec::new("rod", bob));
///     # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
///     builder.gravity(gravity);
///     let model = builder.build()?;
///     let mut tau = [0.0];
///     bias_forces(&model, &[0.0], &[0.0], &Vector3::new(0.0, 0.0, -9.81), &mut Workspace::new(&model), &mut tau);
///     Ok(tau[0])
/// };
/// assert!((torque(GravityAction::Enabled)? + 2.0 * 9.81).abs() < 1e-12); // about y: upwards
/// assert_eq!(torque(GravityAction::Disabled)?, 0.0);
/// # Ok::<(), MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GravityAction {
    /// Gravity acts on it.
    Enabled,
    /// No gravity, as for a gravity-compensated arm.
    Disabled,
}

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
    /// The joint to its parent; `None` for a fixed root.
    pub parent_joint: Option<JointIdx>,
    /// The body that it is part of.
    pub body: BodyIdx,
    pub(crate) R_BL: Matrix3<f64>,
    pub(crate) p_BL: Vector3<f64>,
}

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

/// A body, as the algorithms use it. The body frame B has the child link's origin and its z axis along the joint's axis. F is
/// the joint frame with the same z axis, fixed on the parent.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) parent: usize,
    pub(crate) kind: JointKind,
    pub(crate) q_start: usize,
    pub(crate) v_start: usize,
    pub(crate) v_end: usize,
    pub(crate) R_PF: Matrix3<f64>,
    pub(crate) p_PF: Vector3<f64>,
    pub(crate) inertia_B: OriginInertia,
}

/// A kinematic tree of rigid links, built by [`ModelBuilder`](crate::ModelBuilder) or read from a file; immutable. A state
/// consists of two arrays, positions q and velocities v; the [`joint`](crate::joint) module documents their layout.
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
/// // One hinge: a position and a velocity; integration is q + δt v.
/// assert_eq!((model.n_q(), model.n_v(), model.moving_mass()), (1, 1, 2.0));
/// let mut next = [0.0];
/// model.integrate(&[0.3], &[2.0], 0.1, &mut next);
/// assert_eq!(next, [0.5]);
/// assert!(model.link_named("wheel").unwrap_err().to_string().contains("wheel"));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) name: String,
    pub(crate) root: Root,
    pub(crate) gravity: GravityAction,
    pub(crate) links: Vec<Link>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) couplers: Vec<Coupler>,
    pub(crate) frames: Vec<NamedFrame>,
    pub(crate) filter_groups: Vec<CollisionFilterGroup>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) dof_kind: Vec<DofKind>,
    pub(crate) dof_joint: Vec<usize>,
    pub(crate) dof_body: Vec<usize>,
    pub(crate) n_q: usize,
}

impl Model {
    /// Name of the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the root link is attached to the world.
    pub fn root(&self) -> Root {
        self.root
    }

    /// Whether gravity acts on the model.
    pub fn gravity_action(&self) -> GravityAction {
        self.gravity
    }

    /// Number n_q of position coordinates: the length of q. A quaternion counts as four.
    pub fn n_q(&self) -> usize {
        self.n_q
    }

    /// Number n_v of degrees of freedom: the length of v, v̇ and τ.
    pub fn n_v(&self) -> usize {
        self.dof_kind.len()
    }

    /// Number of bodies, the fixed body 0 included.
    pub fn n_bodies(&self) -> usize {
        self.bodies.len()
    }

    /// All links, parents before children.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// All joints, fixed ones included, in the order of their degrees of freedom.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Couplings of joints.
    pub fn couplers(&self) -> &[Coupler] {
        &self.couplers
    }

    /// Named frames of the model.
    pub fn frames(&self) -> &[NamedFrame] {
        &self.frames
    }

    /// Collision filter groups.
    pub fn collision_filter_groups(&self) -> &[CollisionFilterGroup] {
        &self.filter_groups
    }

    /// The link at an index.
    ///
    /// # Panics
    /// If there is none.
    pub fn link(&self, link: LinkIdx) -> &Link {
        &self.links[link.0]
    }

    /// The joint at an index.
    ///
    /// # Panics
    /// If there is none.
    pub fn joint(&self, joint: JointIdx) -> &Joint {
        &self.joints[joint.0]
    }

    /// The joint that a degree of freedom belongs to.
    pub fn joint_of_dof(&self, dof: DofIdx) -> JointIdx {
        JointIdx(self.dof_joint[dof.0])
    }

    /// Whether a degree of freedom is a rotation (rad, N m) or a translation (m, N).
    pub fn dof_kind(&self, dof: DofIdx) -> DofKind {
        self.dof_kind[dof.0]
    }

    /// The link with a name.
    ///
    /// # Errors
    /// [`MultibodyError::NoSuchName`] with the most similar name.
    pub fn link_named(&self, name: &str) -> Result<LinkIdx, MultibodyError> {
        let found = self.links.iter().position(|l| l.name == name);
        found
            .map(LinkIdx)
            .ok_or_else(|| self.no_such("link", name, self.links.iter().map(|l| &*l.name)))
    }

    /// The joint with a name.
    ///
    /// # Errors
    /// [`MultibodyError::NoSuchName`] with the most similar name.
    pub fn joint_named(&self, name: &str) -> Result<JointIdx, MultibodyError> {
        let found = self.joints.iter().position(|j| j.name == name);
        found
            .map(JointIdx)
            .ok_or_else(|| self.no_such("joint", name, self.joints.iter().map(|j| &*j.name)))
    }

    /// The frame with a name: a named frame, or the frame of a link.
    ///
    /// # Errors
    /// [`MultibodyError::NoSuchName`] with the most similar name.
    pub fn frame_named(&self, name: &str) -> Result<NamedFrame, MultibodyError> {
        if let Some(frame) = self.frames.iter().find(|f| f.name == name) {
            return Ok(frame.clone());
        }
        if let Some(link) = self.links.iter().position(|l| l.name == name) {
            return Ok(NamedFrame {
                name: name.to_owned(),
                link: LinkIdx(link),
                X_LF: Isometry3::identity(),
            });
        }
        let names = self.frames.iter().map(|f| &*f.name);
        Err(self.no_such(
            "frame or link",
            name,
            names.chain(self.links.iter().map(|l| &*l.name)),
        ))
    }

    fn no_such<'a>(
        &self,
        what: &'static str,
        name: &str,
        names: impl Iterator<Item = &'a str>,
    ) -> MultibodyError {
        MultibodyError::NoSuchName {
            model: self.name.clone(),
            what,
            name: name.to_owned(),
            nearest: nearest_name(name, names),
        }
    }

    /// Total mass of the moving bodies, kg.
    pub fn moving_mass(&self) -> f64 {
        self.bodies[1..].iter().map(|b| b.inertia_B.mass).sum()
    }

    /// Gravitational acceleration on this model in a world with `world_gravity`, m/s²; zero if gravity is disabled.
    pub fn gravity_from(&self, world_gravity: &Vector3<f64>) -> Vector3<f64> {
        match self.gravity {
            GravityAction::Enabled => *world_gravity,
            GravityAction::Disabled => Vector3::zeros(),
        }
    }

    /// The degrees of freedom that move a body, those of its joint and of its ancestors', from the tip to the root
    /// (Featherstone's support).
    pub fn support(&self, body: BodyIdx) -> impl Iterator<Item = DofIdx> + '_ {
        let chain =
            core::iter::successors(Some(body.0), |&b| (b != 0).then(|| self.bodies[b].parent));
        chain.flat_map(|b| {
            (self.bodies[b].v_start..self.bodies[b].v_end)
                .rev()
                .map(DofIdx)
        })
    }

    /// Pairs of links (ascending) that are connected by a joint or welded into one body: no contact is computed between
    /// them.
    pub fn adjacent_links(&self) -> Vec<(LinkIdx, LinkIdx)> {
        let mut pairs = Vec::new();
        for b in 0..self.links.len() {
            for a in 0..b {
                let (body_a, body_b) = (self.links[a].body.0, self.links[b].body.0);
                // Links welded to the two sides of a joint overlap at the joint, like the two links of the joint.
                let joined = |x: usize, y: usize| y != 0 && self.bodies[y].parent == x && x != 0;
                let by_joint = self.links[b]
                    .parent_joint
                    .is_some_and(|j| self.joints[j.0].parent == Some(LinkIdx(a)));
                if body_a == body_b || by_joint || joined(body_a, body_b) || joined(body_b, body_a)
                {
                    pairs.push((LinkIdx(a), LinkIdx(b)));
                }
            }
        }
        pairs
    }

    /// Pairs of links (ascending) that collision filter groups exclude from contact.
    pub fn filtered_links(&self) -> Vec<(LinkIdx, LinkIdx)> {
        let mut pairs = Vec::new();
        let group = |name: &str| self.filter_groups.iter().find(|g| g.name == name);
        let link = |name: &String| self.links.iter().position(|l| l.name == *name);
        for first in &self.filter_groups {
            for second in first.ignored_groups.iter().filter_map(|name| group(name)) {
                for a in first.members.iter().filter_map(link) {
                    for b in second.members.iter().filter_map(link).filter(|&b| b != a) {
                        pairs.push((LinkIdx(a.min(b)), LinkIdx(a.max(b))));
                    }
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// The most similar of `names`, by edit distance; `None` if more than a third of the letters differ.
pub(crate) fn nearest_name<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    names
        .map(|n| (edit_distance(name, n), n))
        .filter(|(d, n)| 3 * d <= name.chars().count().max(n.chars().count()))
        .min_by_key(|(d, _)| *d)
        .map(|(_, n)| n.to_owned())
}

/// Levenshtein distance.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
