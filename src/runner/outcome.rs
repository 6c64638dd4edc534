//! What a run is asked for, its progress, and what it ends with.

use std::path::PathBuf;
use std::time::Duration;

use pliant_contact_sap::StopReason;
use pliant_coupling::State;

use super::{RunInputs, RunSummary, Series};
use crate::recording::Recording;

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
    /// Folder for temporary files with frames and rows, so that memory does not grow with the length of the run: the
    /// [series](RunOutcome::series) then has its last row only. `None`: all are kept in memory.
    pub recording_in: Option<PathBuf>,
    /// What shall come into the run; of a run that begins at a saved state, also what came before.
    pub inputs: Option<RunInputs>,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunEnd {
    /// At its time.
    #[default]
    Complete,
    /// Before it, by who watched it or by an error.
    Early,
}
