//! The coupling within the substeps beside the published weak one, by the mass ratio of a rigid body and the soft cubes that hold it.
//!
//! With rigid velocities frozen over a step the soft side pushes for Δt before the body answers, so that weak coupling needs
//!
//! ```text
//! Δt < 2m/ΣZ,  Z = ρ c A        Δt < 2 √(m/ΣK),  K = (λ + 2μ) A/L
//! ```
//!
//! however many substeps there are. m is the body's mass; both cubes count.
//!
//! ε_r is 1e-4: the net impulse on a body of 1 g is a small difference of those that press on it, and with 1e-2 its errors excite the body
//! until it leaves the grasp at 10 ms.

use pliant::runner::{Outcome, RunLength, RunOptions, run};
use pliant::scene::{ParameterOverride, Scene, SceneOptions};

use crate::error::BenchError;

const SCENE: &str = include_str!("../scenes/shake-of-ratios.toml");
const NAME: &str = "shake-of-ratios";

/// Mass ratios of the table.
pub const RATIOS: [f64; 6] = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];
/// Time steps of the table, s.
pub const STEPS_S: [f64; 4] = [0.001, 0.0025, 0.005, 0.01];

/// The published bound of Δt for weak coupling, s.
#[must_use]
pub fn weak_bound_s(ratio: f64) -> f64 {
    // Those of the scene.
    let (young, poisson, density, edge) = (5e5, 0.4, 100.0, 0.1);
    let mass = ratio * density * edge * edge * edge;
    let modulus = young * (1.0 - poisson) / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    let impedance = (modulus * density).sqrt() * edge * edge;
    let stiffness = modulus * edge;
    f64::min(
        2.0 * mass / (2.0 * impedance),
        2.0 * (mass / (2.0 * stiffness)).sqrt(),
    )
}

/// How a run of the shake ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// The body stayed in the grasp. Its height, less that expected, m.
    Yes(f64),
    /// It did not. Its height less that expected, m.
    No(f64),
    /// The run ended before the time at which this is decided.
    Undecided,
    /// The run ended with an error.
    Failed(String),
}

/// Shakes the body with `coupling`, `in-substep` or `weak`.
///
/// # Errors
/// [`BenchError::Scene`] for a scene that cannot be read.
pub fn shake(
    ratio: f64,
    time_step_s: f64,
    coupling: &str,
    length: RunLength,
) -> Result<Held, BenchError> {
    let failed = |e: &dyn std::fmt::Display| BenchError::Scene {
        name: NAME.into(),
        reason: e.to_string(),
    };
    let settings = [
        format!("ratio={ratio}"),
        format!("simulation.rigid_coupling={coupling}"),
        "simulation.substep_tolerance=1e-4".to_owned(),
    ];
    let parameters = settings.iter().map(|s| s.parse::<ParameterOverride>());
    let options = SceneOptions {
        parameters: parameters
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| failed(&e))?,
        time_step_s: Some(time_step_s),
        ..SceneOptions::default()
    };
    let scene = Scene::parse(NAME, SCENE, &options).map_err(|e| failed(&e))?;
    let options = RunOptions {
        length,
        ..RunOptions::default()
    };
    let summary = match run(&scene, &options, &mut |_| ()) {
        Ok(outcome) => outcome.summary,
        Err(error) => return Ok(Held::Failed(error.to_string())),
    };
    let height = &summary.expectations[0];
    let middle = height.at_least.zip(height.at_most);
    let middle = middle.map_or(0.0, |(low, high)| 0.5 * (low + high));
    let off = height.found.unwrap_or(f64::NAN) - middle;
    let has = |outcome: Outcome| summary.expectations.iter().any(|v| v.outcome == outcome);
    Ok(if has(Outcome::Failed) {
        Held::No(off)
    } else if has(Outcome::Skipped) {
        Held::Undecided
    } else {
        Held::Yes(off)
    })
}

impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Yes(off) => write!(f, "held, {:.1} mm", 1e3 * off),
            Self::No(off) => write!(f, "lost, {:.0} mm", 1e3 * off),
            Self::Undecided => f.write_str("undecided"),
            Self::Failed(error) => write!(f, "fails: {error}"),
        }
    }
}
