//! Articulated rigid bodies: kinematic trees from URDF, MJCF or SDFormat files or built in code, their kinematics, and their dynamics in
//! O(n).
//!
//! A [`Model`] is one kinematic tree, validated when built and immutable afterwards. Its state consists of two arrays, the
//! positions q and the velocities v; the [`joint`] module documents their layout. Results are written to workspaces owned
//! by the caller:
//!
//! ```
//! use nalgebra::Vector3;
//! use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia, Workspace, forward_dynamics};
//!
//! // A solid sphere of 1 kg on a massless 1 m arm, released from the horizontal: its angular acceleration is g/(1 + 2/5 r²).
//! let mut builder = ModelBuilder::new("pendulum");
//! let mut ball = SpatialInertia::solid_sphere(1.0, 0.1);
//! ball.com = Vector3::new(1.0, 0.0, 0.0);
//! builder.link(LinkSpec::new("base", SpatialInertia::zero()));
//! builder.link(LinkSpec::new("arm", ball));
//! builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "arm").about(Vector3::y()));
//! let model = builder.build()?;
//!
//! let mut workspace = Workspace::new(&model);
//! let mut vdot = [0.0];
//! let gravity = Vector3::new(0.0, 0.0, -9.81);
//! forward_dynamics(&model, &[0.0], &[0.0], &[0.0], &gravity, &mut workspace, &mut vdot);
//! assert!((vdot[0] - 9.81 / 1.004).abs() < 1e-12);
//! # Ok::<(), pliant_multibody::MultibodyError>(())
//! ```
//!
//! # Conventions
//! World axes, z up, SI units. A twist is [ω; v], with v the velocity of the frame's origin, or of the given point.
//! Accelerations are classical, not spatial. A floating root has q = [x y z, w qx qy qz] and v = [ω; v], both in world
//! axes, with v that of the link's origin. For comparison: pinocchio orders [v; ω] in link axes and quaternions x, y, z, w.
//! Drake also has [ω; v] in world axes, but puts the quaternion first in q.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "an index k names one degree of freedom across several arrays"
)]

mod spatial;

mod inertia;

pub mod joint;

mod geometry;

mod model;

mod builder;

mod kinematics;

mod jacobian;

mod body_inertias;

mod inverse_dynamics;

mod mass_matrix;

mod articulated_body;

mod held;

mod passive;

mod dynamics;

mod gravity_compensation;

mod energy;

mod reactions;

mod bounded_least_squares;

mod inverse_kinematics;

mod loop_closure;

pub mod urdf;

pub mod mjcf;

pub mod sdf;

mod markup;

mod package_map;

mod file_budget;

mod robot_file;

mod rigid_tree;

mod capsule_chain;

mod error;

pub use articulated_body::ArticulatedBodies;
pub use body_inertias::BodyInertias;
pub use builder::{JointSpec, LinkSpec, LoopSpec, ModelBuilder, TendonSpec};
pub use capsule_chain::{CapsuleChain, CapsuleChainSpec, RestShape};
pub use dynamics::{
    ForwardDynamicsInput, Workspace, bias_forces, constrained_forward_dynamics, forward_dynamics,
    inverse_dynamics, mass_matrix,
};
pub use energy::{
    CentreOfMass, Momentum, centre_of_mass, kinetic_energy, momentum, potential_energy,
};
pub use error::MultibodyError;
pub use geometry::{
    Collision, CollisionFilterGroup, CollisionMesh, GeometryDescription, HydroelasticCompliance,
    MeshHull, ProximityProperties, Visual,
};
pub use held::HeldDofs;
pub use inertia::{InertiaFlaw, SpatialInertia};
pub use inverse_kinematics::{IkReport, IkSettings, IkStop, InverseKinematics};
pub use jacobian::{add_wrench, jacobian_columns, point_jacobian};
pub use joint::{DofKind, Drive, DriveGains, JointKind, JointLimits, PassiveForces};
pub use kinematics::{AccelerationKinematics, PositionKinematics, VelocityKinematics};
pub use loop_closure::LoopOpening;
pub use model::{
    BodyIdx, Coupler, CouplerLaw, DofIdx, GravityAction, Joint, JointIdx, Link, LinkFrame, LinkIdx,
    LoopConstraint, LoopKind, Model, NamedFrame, PairContact, PairFriction, PositionRange, Root,
    ShapeIdx, ShapePair, Tendon, TendonDrive, TendonIdx, TendonSpring,
};
pub use package_map::PackageMap;
pub use reactions::joint_reactions;
pub use rigid_tree::RigidTree;
pub use robot_file::{Keyframe, LoadedModel, RobotOptions, parse_robot, read_robot};
pub use spatial::{Twist, Wrench};

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmePrograms;
