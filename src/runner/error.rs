//! Errors of a run.

use pliant_coupling::StepError;

use super::RunOutcome;
use crate::recording::RecordingError;
use crate::scene::{Scene, SceneError};

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

pub(super) fn recording_error(scene: &Scene, source: RecordingError) -> RunError {
    RunError::Recording {
        scene: scene.name().into(),
        source: Box::new(source),
    }
}
