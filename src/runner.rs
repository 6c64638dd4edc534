//! Runs a scene: builds its world, drives it, steps it, records it, and checks its expectations.
//!
//! ```
//! use pliant::runner::{RunLength, RunOptions, run};
//! use pliant::scene::{Scene, SceneOptions};
//!
//! let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
//! let options = RunOptions { length: RunLength::Until(0.1), ..RunOptions::default() };
//! let outcome = run(&scene, &options, &mut |_| {})?;
//! assert_eq!(outcome.summary.unconverged_steps, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod actuation;
mod assembly;
mod attendant;
mod checkpoint;
mod drive_conflicts;
mod observer;
mod series;
mod simulation;
mod soft;
mod stepping;
mod summary;
mod suspicious_input;
mod suspicious_settings;
pub(crate) mod views;

use std::ops::{ControlFlow, Deref};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pliant_contact_sap::Control;
use pliant_contact_sap::StopReason;
use pliant_coupling::{PatchFinder, State, StepError, StepReport, Stepper};

pub use assembly::{Assembly, BundledOrPath, find_file};
pub use attendant::{Attendant, Push};
pub use checkpoint::{Checkpoint, CheckpointError};
pub use series::{Outcome, Series, Verdict};
pub use simulation::{Simulation, StateMismatch};
pub use summary::{RunSummary, Stages, SubstepSummary};

use crate::recording::{ContactArrow, Observable, Recording, RecordingError, Viewpoint};
use crate::registry::Snapshot;
use crate::scene::{Scene, SceneError};
use actuation::Actuation;
use attendant::Watched;
use observer::Observer;
pub(crate) use observer::{LayerCount, built_in_quantities};
use stepping::{AdaptiveSteps, stepper};
use summary::Tally;

/// Why a run could not be finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The world of the scene cannot be built.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A step failed.
    #[error("{scene}: {source}")]
    Step {
        /// Name of the scene.
        scene: String,
        /// The fault, with step and time.
        source: Box<StepError>,
        /// The run until then, with its last good state; `None` from [`check`], which keeps nothing.
        until_then: Option<Box<RunOutcome>>,
    },
    /// A run that cannot begin at the state given.
    #[error("{scene}: {reason}")]
    Start {
        /// Name of the scene.
        scene: String,
        /// Why.
        reason: String,
    },
    /// A state that cannot be recorded.
    #[error("{scene}: {source}")]
    Recording {
        /// Name of the scene.
        scene: String,
        /// The fault.
        source: Box<RecordingError>,
    },
}

impl RunError {
    /// Takes out what the run had before the step that failed, with its last good state.
    pub fn take_outcome(&mut self) -> Option<RunOutcome> {
        match self {
            Self::Step { until_then, .. } => until_then.take().map(|outcome| *outcome),
            _ => None,
        }
    }
}

/// Simulated length of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RunLength {
    /// `smoke_s` of the scene.
    #[default]
    Smoke,
    /// `full_s` of the scene.
    Full,
    /// Until this simulated time, s.
    Until(f64),
}

/// Recorded data of particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParticleDetail {
    /// Data for the replay: positions, and the values that colour them.
    #[default]
    Shown,
    /// Their [states](crate::recording::ParticleStates), too: about 150 bytes per particle and frame.
    States,
}

/// Options of a run.
///
/// ```
/// use pliant::runner::{RunLength, RunOptions};
///
/// let options = RunOptions { length: RunLength::Until(0.5), ..RunOptions::default() };
/// assert_eq!(RunOptions::default().length, RunLength::Smoke);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Simulated length.
    pub length: RunLength,
    /// Recorded data of particles.
    pub particles: ParticleDetail,
    /// Folder for temporary files with frames and rows; `None`: they are kept in memory.
    pub recording_in: Option<PathBuf>,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Steps taken.
    pub step: u64,
    /// Steps in total.
    pub steps: u64,
    /// Simulated time, s.
    pub time_s: f64,
    /// Wall time since the first step.
    pub elapsed: Duration,
    /// Contact points of the last step.
    pub contacts: usize,
    /// Iterations of the last step.
    pub iterations: usize,
    /// Whether the last step's solver met its tolerance.
    pub stop: StopReason,
}

impl Progress {
    /// Simulated time over real time so far.
    pub fn realtime_rate(&self) -> f64 {
        self.time_s / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// Estimated remaining wall time.
    pub fn remaining(&self) -> Duration {
        let left = self.steps.saturating_sub(self.step) as f64 / self.step.max(1) as f64;
        self.elapsed.mul_f64(left)
    }
}

/// Result of a run.
#[derive(Debug)]
pub struct RunOutcome {
    /// Frames and table of observables.
    pub recording: Recording,
    /// Observables of every step.
    pub series: Series,
    /// Statistics of the run.
    pub summary: RunSummary,
    /// Final state.
    pub state: State,
    /// Whether it was ended before its time.
    pub end: RunEnd,
    /// Notes on files and warnings of steps, each once.
    pub notes: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunEnd {
    /// At its time.
    #[default]
    Complete,
    /// Before it, by who watched it or by an error.
    Early,
}

/// No run takes as many steps: at 100,000 steps per second they are four months.
const STEPS_MAX: f64 = 1e12;

/// Maximum number of different warnings of steps.
const WARNINGS_MAX: usize = 20;

/// Runs `scene`, calling `progress` after each step.
///
/// # Errors
/// [`RunError`]. Failed expectations are not an error: the summary lists them. The error of a step has what the run had until then.
///
/// ```
/// use pliant::runner::{RunLength, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("rolling-sphere", &SceneOptions::default())?;
/// let options = RunOptions { length: RunLength::Until(0.05), ..RunOptions::default() };
/// let mut steps = 0;
/// let outcome = run(&scene, &options, &mut |progress| steps = progress.step)?;
/// assert_eq!(outcome.summary.steps, steps);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(
    scene: &Scene,
    options: &RunOptions,
    progress: &mut dyn FnMut(&Progress),
) -> Result<RunOutcome, RunError> {
    run_watched(scene, None, options, &mut |seen, _| {
        progress(seen);
        ControlFlow::Continue(())
    })
}

/// Runs `scene` from its start or from a saved state. `watch` gets the state after each step and may end the run there. Table and replay begin at
/// the start given.
///
/// # Errors
/// As [`run`]; [`RunError::Start`] for a state of another world, or one that is past the end.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use pliant::runner::{RunEnd, RunOptions, run_watched};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("rolling-sphere", &SceneOptions::default())?;
/// let outcome = run_watched(&scene, None, &RunOptions::default(), &mut |progress, _| {
///     if progress.step < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
/// })?;
/// assert_eq!((outcome.state.step, outcome.end), (10, RunEnd::Early));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_watched(
    scene: &Scene,
    start: Option<State>,
    options: &RunOptions,
    watch: &mut dyn FnMut(&Progress, &State) -> ControlFlow<()>,
) -> Result<RunOutcome, RunError> {
    run_attended(scene, start, options, &mut Watched(watch))
}

/// Runs `scene` as [`run_watched`] does, with an attendant that also sees rows and frames and may push bodies.
///
/// # Errors
/// As [`run_watched`].
pub fn run_attended(
    scene: &Scene,
    start: Option<State>,
    options: &RunOptions,
    attendant: &mut dyn Attendant,
) -> Result<RunOutcome, RunError> {
    Run::new(scene)?.simulate(start, options, attendant)
}

/// Builds the world of `scene`, looks up every name in it and tries its first step, as `pliant check` does.
///
/// # Errors
/// As [`run`], except for errors of later steps.
///
/// ```
/// use pliant::runner::check;
/// use pliant::scene::{Scene, SceneOptions};
///
/// let assembly = check(&Scene::load("box-stack", &SceneOptions::default())?)?;
/// assert_eq!(assembly.state.bodies.len(), 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(scene: &Scene) -> Result<Assembly, RunError> {
    let mut run = Run::new(scene)?;
    let mut state = run.assembly.state.clone();
    let mut next = state.clone();
    let step = run.step(&mut *stepper(scene)?, &mut state, &mut next, &[], |_| {});
    let _report = step.map_err(|source| RunError::Step {
        scene: scene.name().into(),
        source,
        until_then: None,
    })?;
    Ok(Assembly {
        notes: run.notes,
        ..run.assembly
    })
}

struct Run<S> {
    scene: S,
    assembly: Assembly,
    actuation: Actuation,
    observer: Observer,
    patches: PatchFinder,
    recording: Recording,
    series: Series,
    tally: Tally,
    adaptive_steps: AdaptiveSteps,
    notes: Vec<String>,
}

impl<S: Deref<Target = Scene>> Run<S> {
    fn new(held: S) -> Result<Self, RunError> {
        let scene = &*held;
        let mut assembly = Assembly::new(scene)?;
        assembly.notes.extend(suspicious_settings::notes(scene));
        let actuation = Actuation::new(scene, &mut assembly)?;
        let observer = Observer::new(scene, &assembly)?;
        let units = observer.units(scene, &assembly.directory);
        let columns = scene.observables.iter().zip(units);
        let columns = columns
            .map(|(entry, unit)| Observable::new(&*entry.name.name, unit))
            .collect();
        let picture = &assembly.picture;
        let mut recording = Recording::new(
            &*scene.title,
            picture.names().to_vec(),
            picture.visuals().to_vec(),
            columns,
        )
        .map_err(|source| recording_error(scene, source))?;
        let geometries = assembly.world.geometries().iter();
        recording.name_parts(geometries.map(|g| g.name.clone()).collect());
        if let Some(camera) = scene.camera {
            recording.look_from(Viewpoint {
                eye: camera.eye,
                target: camera.target,
            });
        }
        let series = Series::new(scene.observables.len());
        Ok(Self {
            scene: held,
            notes: assembly.notes.clone(),
            assembly,
            actuation,
            observer,
            patches: PatchFinder::default(),
            recording,
            series,
            tally: Tally::default(),
            adaptive_steps: AdaptiveSteps::default(),
        })
    }

    fn simulate(
        mut self,
        start: Option<State>,
        options: &RunOptions,
        attendant: &mut dyn Attendant,
    ) -> Result<RunOutcome, RunError> {
        let simulation = &self.scene.simulation;
        let dt = simulation.time_step_s;
        let until_s = match options.length {
            RunLength::Smoke => simulation.smoke_s,
            RunLength::Full => simulation.full_s,
            RunLength::Until(until_s) => until_s,
        };
        // A duration that is a multiple of Δt but for rounding takes that many steps.
        let steps = (until_s / dt - 1e-9).ceil().max(1.0);
        if steps > STEPS_MAX {
            return Err(RunError::Start {
                scene: self.scene.name().into(),
                reason: format!(
                    "{until_s} s take {steps:.0e} steps of {dt} s, at most {STEPS_MAX:.0e} are allowed; end earlier, or take longer steps"
                ),
            });
        }
        let steps = steps as u64;
        if let Some(start) = start {
            self.begin_at(start, steps)?;
        }
        let first = self.assembly.state.step;
        if let Some(folder) = &options.recording_in {
            let kept = self.recording.keep_in(folder);
            kept.map_err(|source| recording_error(&self.scene, source))?;
        }
        let mut simulation = Simulation::of(self, Some(options.particles))?;
        simulation.introduce(attendant);
        for step in first + 1..=steps {
            simulation.be_pushed(attendant);
            if let Err(source) = simulation.advance(|_| {}) {
                let scene = simulation.scene().name().into();
                return Err(RunError::Step {
                    scene,
                    source,
                    until_then: Some(Box::new(RunOutcome {
                        end: RunEnd::Early,
                        ..simulation.finish_before(attendant)?
                    })),
                });
            }
            simulation.record(attendant)?;
            let Some(report) = simulation.report() else {
                continue;
            };
            let progress = Progress {
                step: step - first,
                steps: steps - first,
                time_s: simulation.state().time_s,
                elapsed: simulation.elapsed(),
                contacts: report.contacts.len(),
                iterations: report.convergence.solve.iterations,
                stop: report.convergence.solve.stop,
            };
            if attendant.step(&progress, simulation.state()).is_break() && step < steps {
                return Ok(RunOutcome {
                    end: RunEnd::Early,
                    ..simulation.finish_before(attendant)?
                });
            }
        }
        simulation.finish_before(attendant)
    }

    /// Begins at a saved state, before the last of so many steps.
    fn begin_at(&mut self, start: State, steps: u64) -> Result<(), RunError> {
        let refuse = |reason: String| {
            Err(RunError::Start {
                scene: self.scene.name().into(),
                reason,
            })
        };
        if let Err(mismatch) =
            simulation::check_sizes(self.scene.name(), &start, &self.assembly.state)
        {
            return refuse(mismatch.to_string());
        }
        if start.step >= steps {
            return refuse(format!(
                "the saved state is at {} s, the run ends there or before; give a later `--until`",
                start.time_s
            ));
        }
        self.assembly.state = start;
        Ok(())
    }

    /// Judges the run, which ended in `state`.
    fn finish(mut self, state: State, elapsed: Duration) -> RunOutcome {
        self.notes.extend(self.adaptive_steps.note());
        self.recording.fit_scales(self.assembly.picture.unscaled());
        let slack_s = 0.5 * self.scene.simulation.time_step_s;
        let expectations = self.scene.expectations.iter();
        let verdicts = expectations
            .map(|e| self.series.verdict(e, slack_s))
            .collect();
        let summary = self
            .tally
            .summary(self.scene.name(), state.time_s, elapsed, verdicts);
        RunOutcome {
            recording: self.recording,
            series: self.series,
            summary,
            state,
            end: RunEnd::Complete,
            notes: self.notes,
        }
    }

    /// Drives `state`, hands the controls to `control`, and takes it to `next`. The pushes end with the step.
    fn step(
        &mut self,
        stepper: &mut dyn Stepper,
        state: &mut State,
        next: &mut State,
        pushes: &[Push],
        control: impl FnOnce(&mut [Control]),
    ) -> Result<StepReport, Box<StepError>> {
        let dt = self.scene.simulation.time_step_s;
        let world = &self.assembly.world;
        let started = Instant::now();
        self.actuation.apply(state, dt);
        control(&mut state.controls);
        self.tally.drives += started.elapsed();
        let started = Instant::now();
        for push in pushes {
            state.controls[push.body.0].loads.push(push.load.clone());
        }
        let stepped = stepper.step(world, state, dt, next);
        for push in pushes {
            state.controls[push.body.0].loads.pop();
            if stepped.is_ok() {
                next.controls[push.body.0].loads.pop();
            }
        }
        let report = stepped?;
        self.tally.step += started.elapsed();
        self.tally.add(&report);
        self.adaptive_steps.add(&report);
        if state.step == 0 {
            self.notes
                .extend(suspicious_input::overlaps(world, state, &report));
        }
        self.note_warnings(&report);
        Ok(report)
    }

    fn observe(&mut self, state: &State, step: Option<(&StepReport, &State)>) {
        let snapshot = Snapshot {
            world: &self.assembly.world,
            state,
            step,
        };
        let (observer, directory) = (&mut self.observer, &self.assembly.directory);
        self.series.push(state.time_s, |row| {
            observer.measure(directory, &snapshot, row)
        });
    }

    fn record_row(&mut self, state: &State, attendant: &mut dyn Attendant) -> Result<(), RunError> {
        attendant.row(state.time_s, self.series.last());
        self.recording
            .push_observables(state.time_s, self.series.last())
            .map_err(|source| recording_error(&self.scene, source))
    }

    fn record_frame(
        &mut self,
        state: &State,
        report: Option<&StepReport>,
        pushes: &[Push],
        particles: ParticleDetail,
        attendant: &mut dyn Attendant,
    ) -> Result<(), RunError> {
        let mut frame = self.assembly.picture.frame(
            &self.assembly.world,
            state,
            report,
            &mut self.patches,
            &self.assembly.directory,
            particles,
        );
        frame
            .contacts
            .extend(pushes.iter().map(|push| ContactArrow {
                p_WC: push.p_WQ,
                f_W: push.load.force_W,
            }));
        attendant.frame(&frame);
        self.recording
            .push_frame(frame)
            .map_err(|source| recording_error(&self.scene, source))
    }

    fn note_warnings(&mut self, report: &StepReport) {
        for warning in &report.warnings {
            if self.notes.len() < WARNINGS_MAX && !self.notes.contains(warning) {
                self.notes.push(warning.clone());
            }
        }
    }
}

fn recording_error(scene: &Scene, source: RecordingError) -> RunError {
    RunError::Recording {
        scene: scene.name().into(),
        source: Box::new(source),
    }
}
