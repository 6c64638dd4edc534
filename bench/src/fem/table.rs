//! The table of Han, Masterjohn and Castro (2023): their examples as bundled scenes, our rate beside the printed one.

use pliant::runner::{Outcome, RunLength, RunOptions, RunSummary, run};
use pliant::scene::{ParameterOverride, Scene, SceneOptions};

use crate::error::BenchError;
use crate::fem::cpu_time::thread_cpu_s;

/// A row: a bundled scene at the paper's step and size, and what the paper prints for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperRow {
    /// Name in the table.
    pub name: &'static str,
    /// Name of the bundled scene.
    pub scene: &'static str,
    /// Parameters that make it the paper's, such as `links=100`.
    pub settings: &'static [&'static str],
    /// Simulated time that is run unless all of it is asked for, s.
    pub length_s: f64,
    /// Simulated over real time as printed; none where nothing is.
    pub rate: Option<f64>,
    /// Contacts as printed, mean and most.
    pub contacts: Option<(f64, usize)>,
    /// Degrees of freedom as printed.
    pub dofs: Option<usize>,
    /// The project's target: our rate over theirs.
    pub target: Option<f64>,
}

/// How a row went.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperResult {
    /// The run in numbers.
    pub summary: RunSummary,
    /// Simulated over processor time of the steps, pictures and tables left out; none where the system does not tell.
    pub cpu_rate: Option<f64>,
    /// Expectations that were met, and those that could be judged in the time that was run.
    pub met: usize,
    /// See there.
    pub judged: usize,
    /// All that the scene expects.
    pub expected: usize,
}

/// Table I, and the cantilever, for which the paper prints no rate.
#[must_use]
pub fn paper_rows() -> Vec<PaperRow> {
    let row = |name, scene, length_s| PaperRow {
        name,
        scene,
        settings: &[],
        length_s,
        rate: None,
        contacts: None,
        dofs: None,
        target: None,
    };
    vec![
        PaperRow {
            rate: Some(0.06),
            contacts: Some((248.3, 335)),
            dofs: Some(3796),
            target: Some(10.0),
            ..row("cylinder", "cylinder-press", 1.0)
        },
        PaperRow {
            rate: Some(6.29),
            contacts: Some((320.2, 364)),
            dofs: Some(225),
            target: Some(5.0),
            ..row("arch, mu 1", "masonry-arch", 20.0)
        },
        PaperRow {
            settings: &["mu=0.2"],
            rate: Some(7.26),
            contacts: Some((259.5, 357)),
            dofs: Some(225),
            target: Some(5.0),
            ..row("arch, mu 0.2", "masonry-arch", 20.0)
        },
        PaperRow {
            rate: Some(0.37),
            contacts: Some((236.5, 464)),
            dofs: Some(2043),
            target: Some(10.0),
            ..row("teddy", "bubble-gripper-teddy", 5.0)
        },
        PaperRow {
            rate: Some(1.13),
            contacts: Some((380.7, 863)),
            dofs: Some(410),
            target: Some(5.0),
            ..row("hand", "hand-holds-ball", 6.0)
        },
        row("cantilevers", "cantilever", 1.0),
        PaperRow {
            settings: &["links=100"],
            rate: Some(0.020),
            contacts: Some((3880.2, 5663)),
            dofs: Some(90_000),
            target: Some(10.0),
            ..row("chain", "torus-chain", 0.4)
        },
        PaperRow {
            settings: &["fine=4"],
            rate: Some(0.017),
            contacts: Some((53.0, 394)),
            dofs: Some(28_800),
            target: Some(10.0),
            ..row("torus", "torus-refinement", 0.4)
        },
    ]
}

impl PaperRow {
    /// Runs it on the current thread for its length, or for all that the scene has.
    ///
    /// # Errors
    /// [`BenchError::Scene`] for a scene that cannot be run.
    pub fn run(&self, length: RunLength) -> Result<PaperResult, BenchError> {
        let failed = |reason: String| BenchError::Scene {
            name: self.scene.into(),
            reason,
        };
        let parameters = self.settings.iter().map(|s| s.parse::<ParameterOverride>());
        let parameters = parameters
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| failed(e.to_string()))?;
        let options = SceneOptions {
            parameters,
            ..SceneOptions::default()
        };
        let scene = Scene::load(self.scene, &options).map_err(|e| failed(e.to_string()))?;
        let length = match length {
            RunLength::Smoke => RunLength::Until(self.length_s),
            all => all,
        };
        // From the end of the first step on: meshes are made before it.
        let (mut first, mut last) = (None, None);
        let outcome = run(&scene, &RunOptions { length }, &mut |progress| {
            last = thread_cpu_s();
            if progress.step == 1 {
                first = last;
            }
        });
        let summary = outcome.map_err(|e| failed(e.to_string()))?.summary;
        // What of the wall time went to steps is taken to hold for the processor time, too.
        let share = summary.stages.step_s / summary.wall_s.max(1e-9);
        let steps = summary.steps as f64;
        let cpu = first.zip(last).filter(|_| summary.steps > 1);
        let cpu = cpu.map(|(first, last)| (last - first) * share * steps / (steps - 1.0));
        let count = |outcome: Outcome| {
            let verdicts = summary.expectations.iter();
            verdicts
                .filter(|verdict| verdict.outcome == outcome)
                .count()
        };
        let (met, lost) = (count(Outcome::Met), count(Outcome::Failed));
        Ok(PaperResult {
            cpu_rate: cpu.map(|cpu| summary.simulated_s / cpu.max(1e-9)),
            met,
            judged: met + lost,
            expected: summary.expectations.len(),
            summary,
        })
    }
}

impl PaperResult {
    /// Simulated over wall time of the steps.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.summary.simulated_s / self.summary.stages.step_s.max(1e-9)
    }

    /// Whether all that could be judged is as expected, and every step met the solver's tolerance.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.met == self.judged && self.summary.unconverged_steps == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_bundled_scene_at_the_papers_step() {
        for row in paper_rows() {
            let parameters = row.settings.iter().map(|s| s.parse().unwrap()).collect();
            let options = SceneOptions {
                parameters,
                ..SceneOptions::default()
            };
            let scene = Scene::load(row.scene, &options).unwrap();
            let dt = match row.name {
                "arch, mu 1" | "arch, mu 0.2" => 0.04,
                "teddy" | "chain" | "torus" => 0.02,
                _ => 0.01,
            };
            assert_eq!(scene.simulation.time_step_s, dt, "{}", row.name);
            assert!(row.length_s <= scene.simulation.full_s, "{}", row.name);
        }
    }
}
