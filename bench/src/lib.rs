//! Speed measurements beside other simulators and the papers.
//!
//! A [`Scene`] is plain data: [`catalogue`] makes it once, and all engines read it as JSON. An [`Engine`] runs it, [`measure`]
//! times it, and [`Quality`] measures the final poses in the same way for all engines. `compare.py` starts the engines and
//! prints the tables.
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

pub mod catalogue;
pub mod coupling_table;
mod cpu_time;
mod engine;
mod error;
pub mod fem;
mod paper_table;
pub mod penalty_sweep;
pub mod penalty_table;
mod pliant_engine;
mod quality;
#[cfg(feature = "rapier")]
mod rapier_engine;
pub mod robot_dynamics;
mod scene;
mod scene_run;
pub mod substeps;
mod tetrahedra;
pub mod tolerance_table;
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
