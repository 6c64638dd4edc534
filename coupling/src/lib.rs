#![doc = include_str!("../README.md")]
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

mod adaptive;
mod adjoint;
mod asynchronous;
mod batch;
mod collision;
mod constraint;
mod constraint_assembly;
mod contact_model;
mod contacts;
mod convergence;
mod duplicate_contacts;
mod error;
mod friction_bounds;
mod impact;
mod impulse_exchange;
mod pair_basis;
mod patch_depth;
mod patches;
mod penalty_force;
mod report;
mod settings;
mod split_world;
mod state;
mod state_fault;
mod stepper;
mod stiction;
mod strong_implicit;
mod world;

pub use adaptive::{Accuracy, Adaptive, AdaptiveReport, ErrorMeasure};
pub use adjoint::{Adjoint, AdjointError, ControlGradient, LoadGradient};
pub use asynchronous::{
    Asynchronous, AsynchronousReport, AsynchronousSettings, FrameForce, ParticleForce, Precision,
    RigidCoupling, Substeps,
};
pub use batch::{Batch, BatchError, BatchReport, StepPipeline, WorldIdx};
pub use constraint::{Anchor, Constraint, ConstraintCompliance, ConstraintKind};
pub use contact_model::{
    ContactInputs, ContactModel, DissipationRule, EnergyModel, FrictionBound, LaggedModel,
    SapModel, SimilarModel,
};
pub use convergence::{Convergence, ImplicitReport, LaggedReport, Untrusted};
pub use error::{StepError, WorldError, WorldPart};
pub use friction_bounds::{FRICTION_TOLERANCE, FrictionError, PairLoad};
pub use impulse_exchange::{ExchangeAt, ImpulseExchange};
pub use patches::{PairPatch, PatchFinder};
pub use penalty_force::{
    Attachment, AttachmentMotion, AttachmentPlace, EdgeCrossing, PenaltyBaseline, PenaltyDamping,
    PenaltyForce, PenaltyForceReport, PenaltyForceSettings, PenaltyForceTimes, WalkCounts,
};
pub use pliant_mpm::SubstepSolver;
pub use report::{
    ConstraintForce, ContactForce, PairForce, RowForce, RowOwner, StepReport, StepTimes, Wrench,
};
pub use settings::{ContactSettings, Speculation, Stiction};
pub use state::{ConstraintState, State, StepperMemory};
pub use state_fault::StateFault;
pub use stepper::{Reactions, Stepper};
pub use stiction::ContactMemory;
pub use strong_implicit::{Linearisation, StrongImplicit, StrongImplicitSettings};
pub use world::{
    Anisotropy, BodyIdx, ConstraintIdx, EdgeContact, Exclusion, Geometry, GeometryIdx, GroupIdx,
    Mount, PairRule, RigidSurface, World, WorldBuilder,
};
