//! Timing of one engine on one scene.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::BenchError;
use crate::scene::{Pose, Scene};

/// A simulator with a scene loaded.
pub trait Engine {
    /// Takes steps; only this call is timed.
    ///
    /// # Errors
    /// Any error of the engine.
    fn advance(&mut self, n_steps: usize) -> Result<(), BenchError>;
    /// Contact points of the last step.
    fn contacts(&self) -> usize;
    /// Number of polygons of all patches at the current poses; 0 for point contact.
    ///
    /// # Errors
    /// For poses that are not finite.
    fn polygons(&mut self) -> Result<usize, BenchError> {
        Ok(0)
    }
    /// Solver iterations since the start of the run; 0 if the engine does not report them.
    fn iterations(&self) -> usize;
    /// Poses of the free bodies, in the scene's order.
    fn poses(&self) -> Vec<Pose>;
    /// Joint positions of the arm, rad; empty without one.
    fn joints(&self) -> Vec<f64>;
}

/// Result of a run. The programs of the baselines print the same JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Engine and version.
    pub engine: String,
    /// Wall time of each chunk of the run, s.
    pub chunk_s: Vec<f64>,
    /// Contact points at the end of each chunk.
    pub contacts: Vec<usize>,
    /// Polygons of all patches at the end of each chunk.
    pub polygons: Vec<usize>,
    /// Mean solver iterations per step in each chunk, if known.
    pub iterations: Vec<f64>,
    /// Poses of the free bodies half a second (or a tenth of the run, if shorter) before the end.
    pub poses_before: Vec<Pose>,
    /// Time between `poses_before` and `poses_end`, s.
    pub between_s: f64,
    /// Poses of the free bodies at the end.
    pub poses_end: Vec<Pose>,
    /// Joint positions of the arm at the end, rad.
    pub joints_end: Vec<f64>,
}

/// Number of chunks within the last half second, at whose start `poses_before` is taken.
#[must_use]
fn settled_chunks(scene: &Scene) -> usize {
    let chunk_s = scene.time_step_s * scene.steps_per_chunk as f64;
    ((0.5 / chunk_s).round() as usize).clamp(1, scene.n_chunks)
}

/// Runs `engine` through `scene` and times it.
///
/// # Errors
/// Any error of the engine.
pub fn measure(name: &str, engine: &mut dyn Engine, scene: &Scene) -> Result<Outcome, BenchError> {
    let settled = settled_chunks(scene);
    let mut outcome = Outcome {
        engine: name.into(),
        between_s: scene.time_step_s * (settled * scene.steps_per_chunk) as f64,
        ..Outcome::default()
    };
    engine.advance(scene.warm_up_steps)?;
    for chunk in 0..scene.n_chunks {
        if chunk == scene.n_chunks - settled {
            outcome.poses_before = engine.poses();
        }
        let before = engine.iterations();
        let start = Instant::now();
        engine.advance(scene.steps_per_chunk)?;
        outcome.chunk_s.push(start.elapsed().as_secs_f64());
        outcome.contacts.push(engine.contacts());
        outcome.polygons.push(engine.polygons()?);
        let taken = engine.iterations() - before;
        outcome
            .iterations
            .push(taken as f64 / scene.steps_per_chunk as f64);
    }
    outcome.poses_end = engine.poses();
    outcome.joints_end = engine.joints();
    Ok(outcome)
}
