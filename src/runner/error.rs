//! Errors of a run.

use pliant_coupling::StepError;

use super::RunOutcome;
use crate::recording::RecordingError;
use crate::scene::{Scene, SceneError};

/// Why a run could not be finished.
///
/// ```
/// use pliant::runner::{RunError, RunLength, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
/// let options = RunOptions { length: RunLength::Until(1e12), ..RunOptions::default() };
/// let Err(mut error) = run(&scene, &options, &mut |_| {}) else { panic!("it would take years") };
/// assert!(matches!(&error, RunError::Start { scene, .. } if scene == "box-on-incline"));
/// assert!(error.to_string().contains("end earlier")); // the remedy
/// // No step was taken.
/// assert!(error.take_outcome().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        /// The run until then, with its last good state; `None` from [`check`](super::check), which keeps nothing.
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
        /// The run until then, without what could not be recorded; `None` where there was no run.
        until_then: Option<Box<RunOutcome>>,
    },
}

impl RunError {
    /// Takes out what the run had before the step or the record that failed, with its last good state; `None` for other errors, and the second
    /// time.
    pub fn take_outcome(&mut self) -> Option<RunOutcome> {
        match self {
            Self::Step { until_then, .. } | Self::Recording { until_then, .. } => {
                until_then.take().map(|outcome| *outcome)
            }
            _ => None,
        }
    }
}

pub(super) fn recording_error(scene: &Scene, source: RecordingError) -> RunError {
    RunError::Recording {
        scene: scene.name().into(),
        source: Box::new(source),
        until_then: None,
    }
}
