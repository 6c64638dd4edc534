//! pliant: convex frictional contact between rigid robots and soft things.
//!
//! This package is the face of the workspace: scenes, recordings and the command line.
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

pub mod recording;
pub mod runner;
pub mod scene;
pub mod validate;

/// The program of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeProgram;

/// The program of the tutorial on solvers, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/tutorials/own-solver.md")]
pub struct OwnSolverProgram;
