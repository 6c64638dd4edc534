//! The study of the paper on the tolerance ε_r of a substep's contact problem: rolled dough from 1e-1 to 1e-5.
//!
//! Source: Yu et al. (2025), section VI, which finds the motion insensitive to ε_r.

use pliant::runner::{RunLength, RunOptions, run};
use pliant::scene::{ParameterOverride, Scene, SceneOptions};

use crate::error::BenchError;

const SCENE: &str = "async-dough-rolling";

/// ε_r of the table.
pub const TOLERANCES: [f64; 5] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5];

/// A row of the study.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToleranceRow {
    /// ε_r.
    pub tolerance: f64,
    /// Rolled distance in contact, m.
    pub roll_m: f64,
    /// Distance of the handle, m.
    pub advance_m: f64,
    /// Iterations of the contact solver in a substep.
    pub iterations: f64,
    /// Contacts in a substep.
    pub contacts: f64,
    /// Wall time of a step, ms.
    pub step_ms: f64,
    /// Expectations that were met, and how many there are.
    pub met: (usize, usize),
}

/// Rolls dough with ε_r = `tolerance` by the substep solver `solver`.
///
/// # Errors
/// [`BenchError::Scene`] if the scene cannot be run.
pub fn roll_dough(
    tolerance: f64,
    solver: &str,
    length: RunLength,
) -> Result<ToleranceRow, BenchError> {
    let failed = |e: &dyn std::fmt::Display| BenchError::Scene {
        name: SCENE.into(),
        reason: e.to_string(),
    };
    let settings = [
        format!("simulation.substep_tolerance={tolerance:e}"),
        format!("simulation.substep_solver={solver}"),
    ];
    let parameters = settings.iter().map(|s| s.parse::<ParameterOverride>());
    let options = SceneOptions {
        parameters: parameters
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| failed(&e))?,
        ..SceneOptions::default()
    };
    let scene = Scene::load(SCENE, &options).map_err(|e| failed(&e))?;
    let options = RunOptions {
        length,
        ..RunOptions::default()
    };
    let summary = run(&scene, &options, &mut |_| ())
        .map_err(|e| failed(&e))?
        .summary;
    // The last of the expectations on an observable is on the end of its motion.
    let last = |observable: &str| {
        let of = summary.expectations.iter().rev();
        let found = of.filter(|v| v.observable == observable);
        found.filter_map(|v| v.found).next().unwrap_or(f64::NAN)
    };
    let substeps = summary.substeps.unwrap_or_default();
    let met = summary.expectations.iter();
    Ok(ToleranceRow {
        tolerance,
        roll_m: last("roll"),
        advance_m: last("advance"),
        iterations: substeps.iterations_mean,
        contacts: substeps.contacts_mean,
        step_ms: 1e3 * summary.stages.step_s / summary.steps.max(1) as f64,
        met: (
            met.filter(|v| v.outcome == pliant::runner::Outcome::Met)
                .count(),
            summary.expectations.len(),
        ),
    })
}
