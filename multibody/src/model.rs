//! The [`Model`]: one kinematic tree, validated when built, then immutable.
//!
//! It has two levels. *Links* are the links of the model file: frames with inertia and shapes. *Bodies* are the moving rigid
//! bodies: links connected by fixed joints form one body, so that a humanoid of 58 links has 31 bodies. Body 0 is the part
//! fixed in the world. Bodies and their degrees of freedom are numbered depth first, in the order of the joints as given,
//! so that each subtree is a contiguous range.

mod coordinates;
mod couplers;
mod excluded_pairs;
mod indices;
mod joints;
mod links;
mod loops;
mod names;
mod ranges;
mod shape_pairs;
mod tendons;

use nalgebra::{Isometry3, Matrix3, Vector3};

use crate::geometry::CollisionFilterGroup;
use crate::joint::{DofKind, JointKind};
use crate::spatial::OriginInertia;

pub use couplers::{Coupler, CouplerLaw};
pub use indices::{BodyIdx, DofIdx, JointIdx, LinkIdx};
pub use joints::Joint;
pub use links::{Link, NamedFrame};
pub use loops::{LinkFrame, LoopConstraint, LoopKind};
pub(crate) use names::nearest_name;
pub use ranges::PositionRange;
pub use shape_pairs::{PairContact, PairFriction, ShapeIdx, ShapePair};
pub use tendons::{Tendon, TendonDrive, TendonIdx, TendonSpring};

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
    pub(crate) loops: Vec<LoopConstraint>,
    pub(crate) tendons: Vec<Tendon>,
    pub(crate) shape_pairs: Vec<ShapePair>,
    pub(crate) shapes_of_pairs_only: Vec<ShapeIdx>,
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

    /// Constraints that close kinematic loops.
    pub fn loops(&self) -> &[LoopConstraint] {
        &self.loops
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
}
