//! Errors of recordings.

use std::path::{Path, PathBuf};

/// Why a recording rejected its input, or could not be written.
///
/// ```
/// use pliant::recording::{Frame, Observable, Recording, RecordingError};
///
/// let mut recording = Recording::new("a run", Vec::new(), Vec::new(), vec![Observable::new("ball.z", "m")])?;
/// assert!(matches!(recording.replay_html(), Err(RecordingError::NoFrames { .. })));
/// recording.push_frame(Frame::default())?;
/// recording.push_observables(0.0, &[1.0])?;
/// // A rejected row changes nothing.
/// let error = recording.push_observables(0.1, &[f64::INFINITY]).unwrap_err();
/// assert!(matches!(&error, RecordingError::NotFinite { time_s: 0.1, .. }));
/// assert!(error.to_string().contains("\"ball.z\""));
/// assert_eq!(recording.n_rows(), 1);
/// # Ok::<(), RecordingError>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// A recording without frames.
    #[error(
        "recording {title:?} has no frames, so there is nothing to replay: push at least one frame before writing it"
    )]
    NoFrames {
        /// The recording's title.
        title: String,
    },
    /// A camera that cannot be used.
    #[error("camera {name:?}: {reason}")]
    Camera {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A number that is not finite.
    #[error(
        "t = {time_s} s: {what} is not a finite number (or beyond 1e15); nothing was recorded for this time"
    )]
    NotFinite {
        /// The quantity and its owner.
        what: String,
        /// Time, s.
        time_s: f64,
    },
    /// A time that is not after the previous one.
    #[error(
        "{series}: t = {time_s} s does not come after t = {previous_s} s; record each time once, in order"
    )]
    TimeNotIncreasing {
        /// "frames" or "observables".
        series: &'static str,
        /// The rejected time, s.
        time_s: f64,
        /// The previous time, s.
        previous_s: f64,
    },
    /// A frame with the wrong number of elements.
    #[error("t = {time_s} s: the frame has {found} {what}, the recording declares {expected}")]
    Count {
        /// The kind of element.
        what: String,
        /// Time, s.
        time_s: f64,
        /// The number in the frame.
        found: usize,
        /// The required number.
        expected: usize,
    },
    /// A row with the wrong number of values.
    #[error("t = {time_s} s: {found} values for {expected} observables")]
    ObservableCount {
        /// Time, s.
        time_s: f64,
        /// The number of values.
        found: usize,
        /// The number of columns.
        expected: usize,
    },
    /// Two columns of one name.
    #[error("two observables are called {name:?}; each column of the table needs its own name")]
    DuplicateObservable {
        /// The name.
        name: String,
    },
    /// A visual of a body that does not exist.
    #[error(
        "visual {visual:?} belongs to body {body_idx}, but the recording has {n_bodies} bodies"
    )]
    UnknownBody {
        /// The visual.
        visual: String,
        /// The body it refers to.
        body_idx: usize,
        /// The number of bodies.
        n_bodies: usize,
    },
    /// An invalid shape.
    #[error("visual {visual:?}: {reason}")]
    Shape {
        /// The visual.
        visual: String,
        /// The fault, with value and remedy.
        reason: String,
    },
    /// An error of the file system.
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
