//! Speed, measured: the scenes that every engine runs, pliant's side of the comparison, and the quality of what came out.
//!
//! A [`Scene`] is a plain description, written once by [`catalogue`] and handed to all engines as JSON, so that nothing
//! differs by accident. An [`Engine`] runs it; [`measure`] times it; [`Quality`] judges the final poses of any engine by
//! one ruler. `compare.py` beside this crate starts the engines and prints the table.
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

pub mod catalogue;
mod cpu_time;
mod engine;
mod error;
pub mod fem;
mod paper_table;
mod pliant_engine;
mod quality;
#[cfg(feature = "rapier")]
mod rapier_engine;
pub mod robot_dynamics;
mod scene;
mod scene_run;
mod tetrahedra;
pub mod transfers;

pub use engine::{Engine, Outcome, measure};
pub use error::BenchError;
pub use paper_table::{MeasuredRow, Paper, PaperRow, Printed, PrintedPoints};
pub use pliant_engine::{ContactKind, PliantEngine, SolverChoice};
pub use quality::Quality;
#[cfg(feature = "rapier")]
pub use rapier_engine::RapierEngine;
pub use scene::{Arm, Fixed, Free, Hydroelastic, Pose, Scene, Solid, Surface};
pub use scene_run::{SceneResult, SceneRun, SceneSource};
pub use tetrahedra::write_tetrahedra;
