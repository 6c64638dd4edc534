//! Timed runs of scenes, for the papers' tables.

use pliant::runner::{Assembly, Outcome, RunLength, RunOptions, RunSummary, check, run};
use pliant::scene::{ParameterOverride, Scene, SceneOptions};
use pliant_contact_sap::{Surface, VelocityLayout};
use pliant_coupling::{BodyIdx, Mount};

use crate::cpu_time::thread_cpu_s;
use crate::error::BenchError;

/// Source of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SceneSource {
    /// A bundled scene, by its name.
    Bundled(&'static str),
    /// The text of a scene in `bench/scenes`.
    Text(&'static str),
}

/// A scene with the settings of a paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneRun {
    /// Name in the table.
    pub name: &'static str,
    /// The scene.
    pub scene: SceneSource,
    /// Parameters, such as `links=100`.
    pub settings: &'static [&'static str],
    /// The paper's time step, if it differs from the scene's, s.
    pub time_step_s: Option<f64>,
    /// Simulated time of a short run, s.
    pub length_s: f64,
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneResult {
    /// Summary of the run.
    pub summary: RunSummary,
    /// Processor time of all steps without recording, s; `None` if the system does not report it.
    pub cpu_s: Option<f64>,
    /// Number of expectations met.
    pub met: usize,
    /// Number of expectations that the simulated time covers.
    pub decided: usize,
    /// Number of expectations of the scene.
    pub expected: usize,
}

impl SceneRun {
    /// A bundled scene at its own time step.
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
    /// [`BenchError::Scene`] for an unknown scene or parameter.
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
            SceneSource::Text(text) => Scene::parse(self.name, text, &options),
        };
        scene.map_err(|e| self.failed(&e))
    }

    /// Initial number of particles: material points and vertices of finite elements.
    ///
    /// # Errors
    /// [`BenchError::Scene`] for a scene that cannot be assembled.
    pub fn n_particles(&self) -> Result<usize, BenchError> {
        let assembly = check(&self.load()?).map_err(|e| self.failed(&e))?;
        Ok(particles(&assembly))
    }

    /// Runs the scene on the current thread, for `length_s` or for its full length.
    ///
    /// # Errors
    /// [`BenchError::Scene`] for a scene that cannot be run.
    pub fn run(&self, length: RunLength) -> Result<SceneResult, BenchError> {
        let scene = self.load()?;
        let length = match length {
            RunLength::Smoke => RunLength::Until(self.length_s),
            other => other,
        };
        // Timed from the end of the first step on: meshes are generated before.
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
        // The share of steps in the processor time is taken to be that in the wall time.
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
        let (met, failed) = (count(Outcome::Met), count(Outcome::Failed));
        Ok(SceneResult {
            cpu_s,
            met,
            decided: met + failed,
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
    /// Processor time of all steps, s; wall time if the system does not report it.
    #[must_use]
    pub fn best_s(&self) -> f64 {
        self.cpu_s.unwrap_or(self.summary.stages.step_s).max(1e-9)
    }

    /// Whether all decided expectations are met and every step met the solver's tolerance.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.met == self.decided && self.summary.unconverged_steps == 0
    }

    /// Expectations and untrusted steps, as text for a table.
    #[must_use]
    pub fn verdict(&self) -> String {
        let mut text = format!(
            "{} of {} ({} in full)",
            self.met, self.decided, self.expected
        );
        for (steps, what) in [
            (
                self.summary.unconverged_steps,
                "above the solver's tolerance",
            ),
            (self.summary.missed_contact_steps, "with missed contacts"),
            (
                self.summary.unconverged_rotation_steps,
                "with unconverged rotations",
            ),
            (
                self.summary.unconverged_friction_steps,
                "with unconverged friction bounds",
            ),
        ] {
            if steps > 0 {
                text += &format!(", {steps} steps {what}");
            }
        }
        text
    }
}

/// Material points and vertices of finite elements.
pub(crate) fn particles(assembly: &Assembly) -> usize {
    let of_body = |b: BodyIdx| assembly.state.bodies[b.0].q.len() / 3;
    soft_bodies(assembly).into_iter().map(of_body).sum()
}

/// The same without the points at the centroids of cloth, which mass-spring cloth does not have.
pub(crate) fn particles_and_vertices(assembly: &Assembly) -> usize {
    let on_grid = soft_bodies(assembly).into_iter().filter(|b| {
        let layout = assembly.world.model(*b).velocity_layout();
        layout == VelocityLayout::RebuiltEachStep
    });
    let centroids = on_grid.map(|b| {
        let mut surface = Surface::default();
        let state = &assembly.state.bodies[b.0];
        assembly.world.model(b).surface(state, &mut surface);
        surface.triangles.len()
    });
    particles(assembly) - centroids.sum::<usize>()
}

/// Each once: all objects on the grid are one body of the world.
fn soft_bodies(assembly: &Assembly) -> Vec<BodyIdx> {
    let mounts = assembly.world.geometries().iter().map(|g| g.mount);
    let mut bodies: Vec<BodyIdx> = mounts
        .filter(|mount| matches!(mount, Mount::Vertices { .. } | Mount::Surface { .. }))
        .filter_map(|mount| mount.body())
        .collect();
    bodies.sort_unstable();
    bodies.dedup();
    bodies
}
