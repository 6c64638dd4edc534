#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! Read in this order: [`Particle`] and [`Transfer`] (particles and grid), [`Law`] and [`Material`] (constitutive laws), [`MpmBuilder`]
//! (a model), [`MaterialPoints`] (the body).
#![allow(
    non_snake_case,
    reason = "monogram frame names such as p_WQ are the field's notation"
)]
#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "`!(x > bound)` rejects NaN, too"
)]

mod block_jacobi;
mod cloth;
mod colours;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod fill;
mod free_motion;
mod lanes;
mod loads;
mod material;
mod mirrors;
mod model;
mod nodes;
mod particle;
mod random;
mod sparse_grid;
mod spline;
mod step;
mod substeps;
mod system;
mod transfer;

pub use cloth::{
    BendingModel, Cloth, ClothForces, ClothLaw, ClothMaterial, ClothMesh, ClothSpec,
    ClothStepLimit, ClothTriangle, Hinge, InPlaneLaw, StepLimitCause, TriangleForces,
};
pub use error::MpmError;
pub use fill::{ParticleSet, Sampling, fill};
pub use free_motion::{FreeMotionReport, FreeMotionSettings};
pub use lanes::{InstructionSet, LaneScalar};
pub use material::{
    Definiteness, EnergyForm, FrictionAngle, GridPlace, HenckyVonMises, Lagged, LaneLaw,
    LaneMaterial, LaneStrain, Law, LinearCorotated, Liquid, Material, MaterialLaw, ParticleLaw,
    Preset, ReturnForm, Sand, ShaderLaw, Strain, Tangent, Tension, VolumeForm,
};
pub use model::{
    MaterialPoints, MatrixForm, MpmBuilder, MpmSettings, ObjectIdx, ObjectSpec, ParticleView,
    RotationTarget, Sink, Source, Wall, WallForm, WallKind,
};
pub use particle::Particle;
pub use sparse_grid::{BLOCK_NODES, SparseGrid};
pub use spline::{GradientForm, Stencil, base_node};
pub use substeps::{
    CpuSubsteps, DeviceCloth, DeviceObject, DeviceParticles, HeldSet, LaggedLaws, LimitReason,
    LinkIdx, LinkImpulse, LinkMotion, Obstacle, ObstaclePair, PairImpulse, ParticleImpulse,
    Precision, RigidLinks, RigidMotion, StageTimes, SubstepBackend, SubstepContact, SubstepInput,
    SubstepLaws, SubstepLimit, SubstepReport, SubstepSolver,
};
pub use transfer::{Before, NodeField, Transfer, TransferScheme, momenta, sort_particles};
