//! What a run is asked for, its progress, and what it ends with.

use std::path::PathBuf;
use std::time::Duration;

use pliant_contact_sap::{Cancellation, StopReason};
use pliant_coupling::State;

use super::{RunInputs, RunSummary, Series};
use crate::recording::Recording;
use crate::scene::SceneFingerprint;

/// Simulated length of a run.
///
/// ```
/// use pliant::runner::{RunLength, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a ball"
///     simulation = { smoke_s = 0.1, full_s = 0.3, time_step_s = 0.05 }
///     [[bodies]]
///     name = "ball"
///     shape = { sphere = { radius = 0.1 } }
/// "#;
/// let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// let steps = |length| run(&scene, &RunOptions { length, ..RunOptions::default() }, &mut |_| {}).map(|outcome| outcome.state.step);
/// assert_eq!((steps(RunLength::Smoke)?, steps(RunLength::Full)?), (2, 6));
/// // The last step ends at this time or after it.
/// assert_eq!(steps(RunLength::Until(0.12))?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use pliant::runner::{ParticleDetail, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a jelly in free fall"
/// #     simulation = { smoke_s = 0.01, time_step_s = 0.01 }
/// #     grid = { spacing = 0.02 }
/// #     [[material_points]]
/// #     name = "jelly"
/// #     shape = { box = { size = [0.06, 0.06, 0.06] } }
/// #     constitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.3 }
/// #     density = 500
/// # "#;
/// # let scene = Scene::parse("jelly.toml", text, &SceneOptions::default())?;
/// // A cube of 6 cm and 500 kg/m³.
/// let options = RunOptions { particles: ParticleDetail::States, ..RunOptions::default() };
/// let recording = run(&scene, &options, &mut |_| {})?.recording;
/// let frame = recording.frames().last().ok_or("no frame")?;
/// let states = frame.deformed[0].states.as_ref().ok_or("no states")?;
/// assert!((states.masses.iter().sum::<f64>() - 0.108).abs() < 1e-12);
/// // By default the frames have positions only.
/// let recording = run(&scene, &RunOptions::default(), &mut |_| {})?.recording;
/// assert!(recording.frames().last().is_some_and(|frame| frame.deformed[0].states.is_none()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
/// use pliant::runner::{RunLength, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
/// let folder = std::env::temp_dir().join("pliant_run_options_example");
/// let options = RunOptions { length: RunLength::Until(0.1), recording_in: Some(folder.clone()), ..RunOptions::default() };
/// let outcome = run(&scene, &options, &mut |_| {})?;
/// // Of 50 steps of 2 ms memory has the last row, and the file all that are recorded.
/// assert_eq!(outcome.series.times_s().len(), 1);
/// assert!(outcome.recording.n_rows() > 10);
/// # drop(outcome);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Simulated length.
    pub length: RunLength,
    /// Recorded data of particles.
    pub particles: ParticleDetail,
    /// Folder for temporary files with frames and rows, so that memory does not grow with the length of the run: the
    /// [series](RunOutcome::series) then has its last row only. `None`: all are kept in memory.
    pub recording_in: Option<PathBuf>,
    /// What shall come into the run; of a run that begins at a saved state, also what came before.
    pub inputs: Option<RunInputs>,
    /// The scene that the state at which the run begins was saved from; a scene that differs is refused. `None`: not checked.
    pub saved_from: Option<SceneFingerprint>,
    /// Ends the run once it is requested, also within a step: the run then ends with the state before that step.
    pub cancellation: Cancellation,
}

/// Progress of a run.
///
/// ```
/// use std::time::Duration;
/// use pliant::runner::Progress;
/// use pliant_contact_sap::StopReason;
///
/// // A quarter of the steps in 2 s of wall time.
/// let progress = Progress {
///     step: 250,
///     steps: 1000,
///     time_s: 0.5,
///     elapsed: Duration::from_secs(2),
///     contacts: 4,
///     iterations: 3,
///     stop: StopReason::Converged,
/// };
/// assert_eq!(progress.realtime_rate(), 0.25);
/// assert_eq!(progress.remaining(), Duration::from_secs(6));
/// ```
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
///
/// ```
/// use pliant::runner::{RunEnd, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a ball falls"
/// #     [simulation]
/// #     smoke_s = 0.1
/// #     time_step_s = 0.01
/// #     [[bodies]]
/// #     name = "ball"
/// #     shape = { sphere = { radius = 0.1 } }
/// #     pose = { position = [0, 0, 1] }
/// #     [[observables]]
/// #     name = "ball.z"
/// #     of = "ball"
/// #     quantity = "position"
/// #     component = "z"
/// # "#;
/// # let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// let outcome = run(&scene, &RunOptions::default(), &mut |_| {})?;
/// assert_eq!((outcome.end, outcome.summary.steps), (RunEnd::Complete, 10));
/// // The last row of the table and the final state agree.
/// assert_eq!(outcome.series.last()[0], outcome.state.bodies[0].q[2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RunOutcome {
    /// Frames and table of observables.
    pub recording: Recording,
    /// Observables of every step, or of the last one: see [`RunOptions::recording_in`].
    pub series: Series,
    /// Statistics of the run.
    pub summary: RunSummary,
    /// Final state.
    pub state: State,
    /// What came into the run from outside the scene.
    pub inputs: RunInputs,
    /// Whether it was ended before its time.
    pub end: RunEnd,
    /// Notes on files and warnings of steps, each once.
    pub notes: Vec<String>,
}

/// How a run ended.
///
/// ```
/// use std::ops::ControlFlow;
/// use pliant::runner::{RunEnd, RunOptions, run, run_watched};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
/// assert_eq!(run(&scene, &RunOptions::default(), &mut |_| {})?.end, RunEnd::Complete);
/// // Stops after the first step.
/// let outcome = run_watched(&scene, None, &RunOptions::default(), &mut |_, _| ControlFlow::Break(()))?;
/// assert_eq!((outcome.end, outcome.summary.steps), (RunEnd::Early, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunEnd {
    /// At its time.
    #[default]
    Complete,
    /// Before it, by who watched it or by an error.
    Early,
}
