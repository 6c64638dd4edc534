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
mod batch;
mod checkpoint;
mod default_observables;
mod drive_conflicts;
mod error;
mod expectations;
mod hooks;
mod image;
mod imaging;
mod inputs;
mod observer;
mod outcome;
mod parameter_change;
mod penetration;
mod saved;
mod series;
mod simulation;
mod soft;
mod stepping;
mod summary;
mod suspicious_input;
mod suspicious_settings;
pub(crate) mod views;

use std::ops::{ControlFlow, Deref};
use std::time::Duration;

use pliant_contact_sap::Surface;
use pliant_coupling::{PatchFinder, State, StepError, StepReport};

pub use assembly::Assembly;
pub use batch::{SimulationBatch, SimulationSteps};
pub use checkpoint::Checkpoint;
pub use error::RunError;
pub use expectations::{Outcome, Verdict};
pub(crate) use hooks::place;
pub use hooks::{Push, RunHooks};
pub use image::{ImageError, View};
pub use inputs::{ParameterChange, Pull, RunInputs};
pub use outcome::{ParticleDetail, Progress, RunEnd, RunLength, RunOptions, RunOutcome};
pub use parameter_change::ParameterFault;
pub use saved::SavedError;
pub(crate) use series::KeptRows;
pub use series::Series;
pub use simulation::{Simulation, StateMismatch};
pub use summary::{RunSummary, Stages, SubstepSummary};

use crate::recording::{ContactArrow, Observable, Recording};
use crate::registry::Snapshot;
use crate::scene::{Scene, SceneFingerprint, SharedDevice};
use actuation::Actuation;
use error::recording_error;
use expectations::RunningStatistic;
use hooks::Watched;
use observer::Observer;
pub(crate) use observer::{LayerCount, built_in_quantities};
use penetration::Penetration;
use stepping::{AdaptiveSteps, stepper};
use summary::Tally;

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
    run_with_hooks(scene, start, options, &mut Watched(watch))
}

/// Runs `scene` as [`run_watched`] does, with hooks that also see rows and frames and may push bodies.
///
/// # Errors
/// As [`run_watched`].
pub fn run_with_hooks(
    scene: &Scene,
    start: Option<State>,
    options: &RunOptions,
    hooks: &mut dyn RunHooks,
) -> Result<RunOutcome, RunError> {
    Run::new(scene)?.simulate(start, options, hooks)
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
    let mut stepper = stepper(scene, &SharedDevice::default())?;
    run.drive(&mut state, &[], |_| {});
    let step = run.step(&mut *stepper, &mut state, &mut next, &[]);
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
    /// One for each expectation.
    statistics: Vec<RunningStatistic>,
    tally: Tally,
    adaptive_steps: AdaptiveSteps,
    penetration: Penetration,
    notes: Vec<String>,
    inputs: RunInputs,
}

impl<S: Deref<Target = Scene>> Run<S> {
    fn new(held: S) -> Result<Self, RunError> {
        let scene = &*held;
        let mut assembly = Assembly::new(scene)?;
        assembly.notes.extend(suspicious_settings::notes(scene));
        let actuation = Actuation::new(scene, &mut assembly)?;
        let by_default = match scene.observables.is_empty() {
            true => default_observables::entries(scene, &assembly),
            false => Vec::new(),
        };
        let entries = match by_default.is_empty() {
            true => &scene.observables,
            false => &by_default,
        };
        let observer = Observer::new(scene, entries, &assembly)?;
        let units = observer.units(entries, &assembly.directory);
        let columns = entries.iter().zip(units);
        let columns = columns
            .map(|(entry, unit)| Observable::new(&*entry.name.name, unit))
            .collect();
        let image_sensors = imaging::sensors(scene, &mut assembly)?;
        let cameras = imaging::cameras(scene, &mut assembly)?;
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
        for sensor in image_sensors {
            let added = recording.add_image_sensor(sensor);
            added.map_err(|source| recording_error(scene, source))?;
        }
        for camera in cameras {
            let added = recording.add_camera(camera);
            added.map_err(|source| recording_error(scene, source))?;
        }
        let series = Series::new(entries.len(), KeptRows::All);
        let slack_s = 0.5 * scene.simulation.time_step_s;
        let expectations = scene.expectations.iter();
        let statistics = expectations
            .map(|e| RunningStatistic::new(e, slack_s))
            .collect();
        Ok(Self {
            inputs: RunInputs {
                settings: scene.settings(),
                ..RunInputs::new(scene.name())
            },
            scene: held,
            notes: assembly.notes.clone(),
            assembly,
            actuation,
            observer,
            patches: PatchFinder::default(),
            recording,
            series,
            statistics,
            tally: Tally::default(),
            adaptive_steps: AdaptiveSteps::default(),
            penetration: Penetration::default(),
        })
    }

    fn simulate(
        mut self,
        start: Option<State>,
        options: &RunOptions,
        hooks: &mut dyn RunHooks,
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
                    "{until_s:e} s take {steps:.0e} steps of {dt} s, at most {STEPS_MAX:.0e} are allowed; end earlier, or take longer steps"
                ),
            });
        }
        // The short runs of scenes have the steps that they are meant to have.
        if options.length != RunLength::Smoke {
            self.notes
                .extend(suspicious_settings::note_on_steps(until_s, dt));
        }
        let steps = steps as u64;
        if let Some(saved) = &options.saved_from {
            self.check_scene(saved)?;
        }
        if let Some(start) = start {
            self.begin_at(start, steps)?;
        }
        let first = self.assembly.state.step;
        let mut given = match &options.inputs {
            Some(given) => given.clone(),
            None => self.inputs.clone(),
        };
        let (name, Assembly { world, state, .. }) = (self.scene.name(), &self.assembly);
        if let Some(reason) = given.fault(name, world, state) {
            let scene = name.into();
            return Err(RunError::Start { scene, reason });
        }
        let settings = self.scene.settings();
        self.notes.extend(given.note_on_settings(&settings));
        given.settings = settings;
        if let Some(folder) = &options.recording_in {
            let kept = self.recording.keep_in(folder);
            kept.map_err(|source| recording_error(&self.scene, source))?;
            self.series = Series::new(self.recording.observables().len(), KeptRows::Last);
        }
        let mut simulation = Simulation::of(self, Some(options.particles))?;
        simulation.cancel_with(&options.cancellation);
        simulation.take_past_inputs(given.before(first))?;
        simulation.begin_hooks(hooks);
        for step in first + 1..=steps {
            simulation.take_inputs(&given, hooks)?;
            if let Err(source) = simulation.advance(|_| {}) {
                if matches!(*source, StepError::Cancelled { .. }) {
                    return simulation.finish_early(hooks);
                }
                let scene = simulation.scene().name().into();
                return Err(RunError::Step {
                    scene,
                    source,
                    until_then: Some(Box::new(simulation.finish_early(hooks)?)),
                });
            }
            if let Err(error) = simulation.record(hooks) {
                return Err(simulation.without_record(error));
            }
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
            let going = hooks.step(&progress, simulation.state(), simulation.inputs());
            if going.is_break() && step < steps {
                return simulation.finish_early(hooks);
            }
        }
        simulation.finish_before(hooks)
    }

    fn check_state(&self, state: &State) -> Result<(), StateMismatch> {
        let checked = self.assembly.world.check_state(state);
        checked.map_err(|source| StateMismatch {
            scene: self.scene.name().into(),
            source,
        })
    }

    /// Refuses to continue a run of a scene that was another one.
    fn check_scene(&self, saved: &SceneFingerprint) -> Result<(), RunError> {
        let now = SceneFingerprint::of(&self.scene, &self.assembly.world);
        let changes = saved.changes(&now);
        let Some(first) = changes.first() else {
            return Ok(());
        };
        let others = match changes.len() - 1 {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        Err(RunError::Start {
            scene: self.scene.name().into(),
            reason: format!(
                "the scene has changed since the state was saved: {first}{others}; a run continues with the scene that it began with, only lengths, observables, expectations and pictures may change"
            ),
        })
    }

    /// Begins at a saved state, before the last of so many steps.
    fn begin_at(&mut self, start: State, steps: u64) -> Result<(), RunError> {
        let refuse = |reason: String| {
            Err(RunError::Start {
                scene: self.scene.name().into(),
                reason,
            })
        };
        if let Err(mismatch) = self.check_state(&start) {
            return refuse(mismatch.reason());
        }
        if start.step >= steps {
            return refuse(format!(
                "the saved state is at {} s, the run ends there or before; give a later `--until`",
                start.time_s
            ));
        }
        // Time is a sum of steps: it is off by round-off, or by steps of another length.
        let dt = self.scene.simulation.time_step_s;
        let expected_s = start.step as f64 * dt;
        let off_s = (start.time_s - expected_s).abs();
        if off_s.is_nan() || off_s > 0.25 * dt + 1e-6 * expected_s {
            return refuse(format!(
                "the saved state is at {} s after {} steps, which the scene's steps of {dt} s do not give: it was saved with steps of about {:.6e} s; give `--time-step`, or begin anew",
                start.time_s,
                start.step,
                start.time_s / start.step.max(1) as f64
            ));
        }
        self.assembly.state = start;
        Ok(())
    }

    /// Checks the expectations of the run, which ended in `state`.
    fn finish(mut self, state: State, elapsed: Duration) -> RunOutcome {
        self.notes.extend(self.adaptive_steps.note());
        self.notes
            .extend(self.penetration.notes(&self.assembly.world));
        self.notes.extend(self.inputs.notes());
        let bodies = self.assembly.directory.named_bodies();
        let time_step_s = self.scene.simulation.time_step_s;
        for mark in self.inputs.marks(bodies, time_step_s) {
            self.recording.add_input(mark);
        }
        self.recording.fit_scales(self.assembly.picture.unscaled());
        let checked = self.statistics.iter().zip(&self.scene.expectations);
        let verdicts = checked.map(|(statistic, e)| statistic.verdict(e)).collect();
        let summary = self
            .tally
            .summary(self.scene.name(), state.time_s, elapsed, verdicts);
        RunOutcome {
            recording: self.recording,
            series: self.series,
            summary,
            state,
            inputs: self.inputs,
            end: RunEnd::Complete,
            notes: self.notes,
        }
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
        let row = self.series.last();
        for (statistic, expectation) in self.statistics.iter_mut().zip(&self.scene.expectations) {
            statistic.add(state.time_s, row[expectation.index]);
        }
    }

    fn record_row(&mut self, state: &State, hooks: &mut dyn RunHooks) -> Result<(), RunError> {
        hooks.row(state.time_s, self.series.last());
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
        hooks: &mut dyn RunHooks,
    ) -> Result<(), RunError> {
        let mut frame = self.assembly.picture.frame(
            &self.assembly.world,
            state,
            report,
            &mut self.patches,
            &self.assembly.directory,
            particles,
        );
        let mut surface = Surface::default();
        for push in pushes {
            let model = self.assembly.world.model(push.body);
            model.surface(&state.bodies[push.body.0], &mut surface);
            let places = push
                .points
                .iter()
                .filter_map(|point| place(&surface, point));
            let f_W = push.force_W / push.points.len() as f64;
            frame
                .contacts
                .extend(places.map(|p_WC| ContactArrow { p_WC, f_W }));
        }
        hooks.frame(&frame);
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
