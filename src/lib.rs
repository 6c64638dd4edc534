//! pliant: convex frictional contact between rigid robots and soft things.
//!
//! This package is the face of the workspace: scenes, recordings and the command line. A program of one's own adds solvers
//! and other parts to a [`Registry`] and passes it to [`scene`] files or to the command line.
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

#[cfg(feature = "cli")]
pub mod cli;
pub mod recording;
pub mod registry;
pub mod runner;
pub mod scene;
#[cfg(feature = "validate")]
pub mod validate;

pub use registry::Registry;

/// The program of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeProgram;

/// The program of the tutorial on solvers, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/tutorials/own-solver.md")]
pub struct OwnSolverProgram;
