#![doc = include_str!("../README.md")]
//!
//! # Reading order
//!
//! [`Potential`] (one constraint), [`Dynamics`] (one body's matrix), [`ConstraintSet`] and [`ContactProblem`] (the whole
//! problem), [`ConvexContactSolver`] (the solution), [`DeformableModel`] (a body of your own).
#![allow(
    non_snake_case,
    reason = "monogram frame names such as p_WQ are the field's notation"
)]

mod block_factors;
mod block_hessian;
mod body;
mod cancellation;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod conjugate_gradients;
mod constraint_set;
mod dense_hessian;
mod dynamics;
mod error;
mod evaluation;
mod friction_tangent;
mod gauss_seidel;
mod hessian;
mod interpolations;
mod island;
mod islands;
mod law;
mod line_search;
mod linear_algebra;
mod local_solve;
mod long_vectors;
mod newton;
mod newton_cg;
mod participant;
mod potential;
mod preconditioner;
mod problem;
mod problem_checks;
mod progress;
mod quasi_newton;
mod rows;
mod small_cholesky;
mod solver;
mod solver_kind;
mod sparse_cholesky;
mod time_step;

pub use block_factors::BlockFactors;
pub use body::{
    BalanceTangent, BasisIdx, BodyReport, BodyState, BodyStep, Control, ControlAdjoint,
    DeformableModel, EndFrames, Energy, ExplicitStep, FlatEdge, FlatOutline, FrameWrench,
    JointReaction, LaggedTerms, Load, MaterialPoint, MomentumBalance, NonlinearBalance, PointForce,
    PointMass, PointMasses, Primitive, Reactions, RigidMotion, SelfContact, StartLinearisation,
    StepInput, SupportReaction, Surface, SurfaceMotion, VelocityLayout, VertexFields, VertexStep,
};
pub use cancellation::Cancellation;
pub use conjugate_gradients::{
    CgLimits, CgReport, CgStop, ConjugateGradients, PreconditionedSystem, ResidualNorm,
    forcing_term,
};
pub use constraint_set::{
    BasisBuilder, BasisId, ConstraintLabel, ConstraintSet, ContactIdx, InternalConstraints, RowIdx,
    RowKind,
};
pub use dynamics::{Assembled, BlockDiagonal, DenseDynamics, DiagonalBlock, Dynamics};
pub use error::{BodyError, SolveError};
pub use friction_tangent::FrictionTangent;
pub use gauss_seidel::{GaussSeidel, GaussSeidelSettings};
pub use law::{
    Bilateral, ContactLaw, ContactParameters, Dissipation, FrictionLimit, Lagged, Limit, Majorant,
    NEAR_RIGID_CONTACT, NEAR_RIGID_ROW, NEAR_RIGID_SIMILAR, NormalForce, NormalPrediction,
    PdActuator, PdCommand, PdGains, PdSensitivity, Play, RowLaw, STICTION_REGULARISATION, Sap,
    Similar, SlipPrediction, SmoothNorm, near_rigid_regularisation,
};
pub use line_search::LineSearch;
pub use linear_algebra::{LinearAlgebra, LinearSystems};
pub use newton::{Newton, NewtonSettings};
pub use newton_cg::{NewtonCg, NewtonCgSettings};
pub use participant::{ParticipantIdx, Participants};
pub use potential::Potential;
pub use preconditioner::Preconditioner;
pub use problem::ContactProblem;
pub use quasi_newton::{Acceleration, QuasiNewton, QuasiNewtonSettings};
pub use rows::{Interpolation, Rows};
pub use solver::{
    ConvexContactSolver, Solution, SolveMode, SolveReport, StageTimes, StopCriteria, StopReason,
};
pub use solver_kind::{SolverKind, UnknownSolver};
pub use sparse_cholesky::{FactorScalar, NotPositiveDefinite, SparseCholesky};
pub use time_step::{Integration, TimeStep};
