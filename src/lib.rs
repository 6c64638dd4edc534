//! pliant: convex frictional contact between rigid robots and deformable bodies.
//!
//! This crate reads scenes ([`scene`]), runs them ([`runner`]), records the results ([`recording`]) and has the command line.
//! Your own program adds solvers and other parts to a [`Registry`], which scene files and the command line then offer.
//!
//! ```
//! use pliant::runner::{RunLength, RunOptions, run};
//! use pliant::scene::{Scene, SceneOptions};
//!
//! let scene = Scene::load("rolling-sphere", &SceneOptions::default())?;
//! let options = RunOptions { length: RunLength::Until(0.1), ..RunOptions::default() };
//! let outcome = run(&scene, &options, &mut |_| {})?;
//! assert!(outcome.summary.steps > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

#[cfg(feature = "cli")]
pub mod browser;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
mod live;
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
