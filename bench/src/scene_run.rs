//! A scene, timed: what the papers' tables have in common.

use pliant::runner::{Outcome, RunLength, RunOptions, RunSummary, check, run};
use pliant::scene::{ParameterOverride, Scene, SceneOptions};
use pliant_coupling::{BodyIdx, Mount};

use crate::cpu_time::thread_cpu_s;
use crate::error::BenchError;

/// Where a scene is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SceneSource {
    /// A bundled scene, by its name.
    Bundled(&'static str),
    /// A scene of `bench/scenes`, its file's text.
    Own(&'static str),
}

/// A scene as a paper has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneRun {
    /// Name in the table.
    pub name: &'static str,
    /// The scene.
    pub scene: SceneSource,
    /// Parameters that make it the paper's, such as `links=100`.
    pub settings: &'static [&'static str],
    /// The paper's Δt where it is not the scene's, s.
    pub time_step_s: Option<f64>,
    /// Simulated time that is run unless all of it is asked for, s.
    pub length_s: f64,
}

/// How it went.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneResult {
    /// The run in numbers.
    pub summary: RunSummary,
    /// Processor time of all steps, s, pictures and tables left out; none where the system does not tell.
    pub cpu_s: Option<f64>,
    /// Expectations that were met.
    pub met: usize,
    /// Expectations that could be judged in the time that was run.
    pub judged: usize,
    /// All that the scene expects.
    pub expected: usize,
}

impl SceneRun {
    /// A bundled scene at its own step.
    #[must_use]
    pub const fn bundled(
        name: &'static str,
        scene: &'static str,
        settings: &'static [&'static str],
        length_s: f64,
    ) -> Self {
        Self {
            name,
            scene: SceneSource::Bundled(scene),
            settings,
            time_step_s: None,
            length_s,
        }
    }

    /// The scene with these settings.
    ///
    /// # Errors
    /// [`BenchError::Scene`] for a scene or a parameter that is not there.
    pub fn load(&self) -> Result<Scene, BenchError> {
        let parameters = self.settings.iter().map(|s| s.parse::<ParameterOverride>());
        let parameters = parameters
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| self.failed(&e))?;
        let options = SceneOptions {
            parameters,
            time_step_s: self.time_step_s,
            ..SceneOptions::default()
        };
        let scene = match self.scene {
            SceneSource::Bundled(scene) => Scene::load(scene, &options),
            SceneSource::Own(text) => Scene::parse(self.name, text, &options),
        };
        scene.map_err(|e| self.failed(&e))
    }

    /// Material points at the start.
    ///
    /// # Errors
    /// [`BenchError::Scene`] for a scene that does not make a world.
    pub fn n_particles(&self) -> Result<usize, BenchError> {
        let assembly = check(&self.load()?).map_err(|e| self.failed(&e))?;
        let mounts = assembly.world.geometries().iter().map(|g| g.mount);
        let mut bodies: Vec<BodyIdx> = mounts
            .filter(|mount| matches!(mount, Mount::Vertices { .. }))
            .filter_map(|mount| mount.body())
            .collect();
        // Objects on one grid are one body.
        bodies.dedup();
        let sizes = bodies.iter().map(|b| assembly.state.bodies[b.0].q.len());
        Ok(sizes.sum::<usize>() / 3)
    }

    /// Runs it on the current thread for its length, or for all that the scene has.
    ///
    /// # Errors
    /// [`BenchError::Scene`] for a scene that cannot be run.
    pub fn run(&self, length: RunLength) -> Result<SceneResult, BenchError> {
        let scene = self.load()?;
        let length = match length {
            RunLength::Smoke => RunLength::Until(self.length_s),
            all => all,
        };
        // From the end of the first step on: meshes are made before it.
        let (mut first, mut last) = (None, None);
        let outcome = run(
            &scene,
            &RunOptions {
                length,
                ..RunOptions::default()
            },
            &mut |progress| {
                last = thread_cpu_s();
                if progress.step == 1 {
                    first = last;
                }
            },
        );
        let summary = outcome.map_err(|e| self.failed(&e))?.summary;
        // What of the wall time went to steps is taken to hold for the processor time, too.
        let share = summary.stages.step_s / summary.wall_s.max(1e-9);
        let steps = summary.steps as f64;
        let cpu = first.zip(last).filter(|_| summary.steps > 1);
        let cpu_s = cpu.map(|(first, last)| (last - first) * share * steps / (steps - 1.0));
        let count = |outcome: Outcome| {
            let verdicts = summary.expectations.iter();
            verdicts
                .filter(|verdict| verdict.outcome == outcome)
                .count()
        };
        let (met, lost) = (count(Outcome::Met), count(Outcome::Failed));
        Ok(SceneResult {
            cpu_s,
            met,
            judged: met + lost,
            expected: summary.expectations.len(),
            summary,
        })
    }

    fn failed(&self, reason: &dyn std::error::Error) -> BenchError {
        BenchError::Scene {
            name: self.name.into(),
            reason: reason.to_string(),
        }
    }
}

impl SceneResult {
    /// Processor time of all steps, wall time where the system does not tell it, s.
    #[must_use]
    pub fn best_s(&self) -> f64 {
        self.cpu_s.unwrap_or(self.summary.stages.step_s).max(1e-9)
    }

    /// Whether all that could be judged is as expected, and every step met the solver's tolerance.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.met == self.judged && self.summary.unconverged_steps == 0
    }

    /// Expectations and steps in words for a table.
    #[must_use]
    pub fn verdict(&self) -> String {
        let mut words = format!(
            "{} of {} ({} in full)",
            self.met, self.judged, self.expected
        );
        for (steps, what) in [
            (self.summary.unconverged_steps, "unconverged"),
            (self.summary.missed_contact_steps, "with bodies overlooked"),
            (
                self.summary.unconverged_rotation_steps,
                "with turns not foreseen",
            ),
            (
                self.summary.unconverged_friction_steps,
                "of suspicious friction",
            ),
        ] {
            if steps > 0 {
                words += &format!(", {steps} steps {what}");
            }
        }
        words
    }
}
