//! What can be wrong with something that is to be recorded.

use std::path::{Path, PathBuf};

/// Why a recording could not take what it was given, or could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// There is no picture to play.
    #[error(
        "recording {title:?} has no frames, so there is nothing to replay: push at least one frame before writing it"
    )]
    NoFrames {
        /// The recording's title.
        title: String,
    },
    /// A number that can't be drawn.
    #[error(
        "t = {time_s} s: {what} is not a finite number (or beyond 1e15); nothing was recorded for this time"
    )]
    NotFinite {
        /// The quantity and whose it is.
        what: String,
        /// When.
        time_s: f64,
    },
    /// Time stood still or went back.
    #[error(
        "{series}: t = {time_s} s does not come after t = {previous_s} s; record each time once, in order"
    )]
    TimeNotIncreasing {
        /// "frames" or "observables".
        series: &'static str,
        /// The time refused.
        time_s: f64,
        /// The last one accepted.
        previous_s: f64,
    },
    /// A frame has too few or too many of something.
    #[error("t = {time_s} s: the frame has {found} {what}, the recording declares {expected}")]
    Count {
        /// What was counted.
        what: String,
        /// When.
        time_s: f64,
        /// How many the frame brought.
        found: usize,
        /// How many it must bring.
        expected: usize,
    },
    /// A row has too few or too many values.
    #[error("t = {time_s} s: {found} values for {expected} observables")]
    ObservableCount {
        /// When.
        time_s: f64,
        /// How many values came.
        found: usize,
        /// How many columns there are.
        expected: usize,
    },
    /// Two columns of one name.
    #[error("two observables are called {name:?}; each column of the table needs its own name")]
    DuplicateObservable {
        /// The name.
        name: String,
    },
    /// A visual is attached to a body that isn't there.
    #[error(
        "visual {visual:?} belongs to body {body_idx}, but the recording has {n_bodies} bodies"
    )]
    UnknownBody {
        /// The visual.
        visual: String,
        /// The body it refers to.
        body_idx: usize,
        /// How many there are.
        n_bodies: usize,
    },
    /// A shape that can't be drawn.
    #[error("visual {visual:?}: {reason}")]
    Shape {
        /// The visual.
        visual: String,
        /// What is wrong, with the value and what would be right.
        reason: String,
    },
    /// The file system refused.
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}

impl RecordingError {
    pub(crate) fn write(path: &Path, source: std::io::Error) -> Self {
        Self::Write {
            path: path.to_owned(),
            source,
        }
    }
}
