//! Where a recording keeps its frames and rows: in memory, or in files that go with it.

use std::path::Path;

use super::frame_bytes::{self, FramePart};
use super::spool::Spool;
use super::{Frame, RecordingError};

/// Frames in the order of their times.
#[derive(Debug, Default)]
pub(super) struct FrameStore {
    times_s: Vec<f64>,
    kept: KeptFrames,
}

#[derive(Debug)]
enum KeptFrames {
    InMemory(Vec<Frame>),
    InFile {
        spool: Spool,
        last: Option<Box<Frame>>,
    },
}

impl Default for KeptFrames {
    fn default() -> Self {
        Self::InMemory(Vec::new())
    }
}

impl FrameStore {
    /// An empty store in a file that is made at `path`.
    pub(super) fn in_file(path: &Path) -> Result<Self, RecordingError> {
        let kept = KeptFrames::InFile {
            spool: Spool::create(path)?,
            last: None,
        };
        Ok(Self {
            times_s: Vec::new(),
            kept,
        })
    }

    pub(super) fn push(&mut self, frame: Frame) -> Result<(), RecordingError> {
        let time_s = frame.time_s;
        match &mut self.kept {
            KeptFrames::InMemory(frames) => frames.push(frame),
            KeptFrames::InFile { spool, last } => {
                spool.append(|bytes| frame_bytes::append(&frame, bytes))?;
                *last = Some(Box::new(frame));
            }
        }
        self.times_s.push(time_s);
        Ok(())
    }

    pub(super) fn times_s(&self) -> &[f64] {
        &self.times_s
    }

    pub(super) fn last(&self) -> Option<&Frame> {
        match &self.kept {
            KeptFrames::InMemory(frames) => frames.last(),
            KeptFrames::InFile { last, .. } => last.as_deref(),
        }
    }

    /// Visits all frames, of which `part` is there at least.
    pub(super) fn each<E: From<RecordingError>>(
        &self,
        part: FramePart,
        mut visit: impl FnMut(&Frame) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.kept {
            KeptFrames::InMemory(frames) => frames.iter().try_for_each(visit),
            KeptFrames::InFile { spool, .. } => {
                let mut reader = spool.reader();
                let mut frame = Frame::default();
                for _ in &self.times_s {
                    frame_bytes::read(&mut reader, part, &mut frame)?;
                    visit(&frame)?;
                }
                Ok(())
            }
        }
    }
}

/// The frames of a recording, in memory or in a file.
///
/// ```
/// use nalgebra::Isometry3;
/// use pliant::recording::{Frame, Recording};
///
/// let mut recording = Recording::new("a ball rises", vec!["ball".into()], Vec::new(), Vec::new())?;
/// for k in 0..3 {
///     let z = f64::from(k);
///     recording.push_frame(Frame { time_s: 0.5 * z, X_WB: vec![Isometry3::translation(0.0, 0.0, z)], ..Frame::default() })?;
/// }
/// let frames = recording.frames();
/// assert_eq!(frames.times_s(), [0.0, 0.5, 1.0]);
/// let mut highest = 0.0_f64;
/// frames.each(|frame| {
///     highest = highest.max(frame.X_WB[0].translation.z);
///     Ok(())
/// })?;
/// assert_eq!(highest, 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Frames<'a>(pub(super) &'a FrameStore);

impl<'a> Frames<'a> {
    /// Their number.
    pub fn len(&self) -> usize {
        self.0.times_s().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their times, s.
    pub fn times_s(&self) -> &'a [f64] {
        self.0.times_s()
    }

    /// The last one.
    pub fn last(&self) -> Option<&'a Frame> {
        self.0.last()
    }

    /// Visits them in the order of their times.
    ///
    /// # Errors
    /// Those of `visit`, and of the file in which they are kept.
    pub fn each(
        &self,
        visit: impl FnMut(&Frame) -> Result<(), RecordingError>,
    ) -> Result<(), RecordingError> {
        self.0.each(FramePart::All, visit)
    }
}

/// Rows of a table: a time and `n_columns` numbers each.
#[derive(Debug)]
pub(super) struct RowStore {
    n_columns: usize,
    n_rows: usize,
    last_s: Option<f64>,
    kept: KeptRows,
}

#[derive(Debug)]
enum KeptRows {
    InMemory(Vec<f64>),
    InFile(Spool),
}

impl RowStore {
    pub(super) fn new(n_columns: usize) -> Self {
        Self::of(n_columns, KeptRows::InMemory(Vec::new()))
    }

    /// An empty store in a file that is made at `path`.
    pub(super) fn in_file(n_columns: usize, path: &Path) -> Result<Self, RecordingError> {
        Ok(Self::of(n_columns, KeptRows::InFile(Spool::create(path)?)))
    }

    fn of(n_columns: usize, kept: KeptRows) -> Self {
        Self {
            n_columns,
            n_rows: 0,
            last_s: None,
            kept,
        }
    }

    pub(super) fn push(&mut self, time_s: f64, values: &[f64]) -> Result<(), RecordingError> {
        match &mut self.kept {
            KeptRows::InMemory(numbers) => {
                numbers.push(time_s);
                numbers.extend_from_slice(values);
            }
            KeptRows::InFile(spool) => spool.append(|bytes| {
                let row = [time_s].into_iter().chain(values.iter().copied());
                bytes.extend(row.flat_map(f64::to_le_bytes));
            })?,
        }
        self.n_rows += 1;
        self.last_s = Some(time_s);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.n_rows
    }

    pub(super) fn last_s(&self) -> Option<f64> {
        self.last_s
    }

    /// Visits all rows: the time, then the values.
    pub(super) fn each<E: From<RecordingError>>(
        &self,
        mut visit: impl FnMut(&[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let width = 1 + self.n_columns;
        match &self.kept {
            KeptRows::InMemory(numbers) => numbers.chunks_exact(width).try_for_each(visit),
            KeptRows::InFile(spool) => {
                let mut reader = spool.reader();
                let (mut bytes, mut row) = (vec![0; 8 * width], vec![0.0; width]);
                for _ in 0..self.n_rows {
                    reader.read(&mut bytes)?;
                    let (numbers, _) = bytes.as_chunks();
                    for (number, bytes) in row.iter_mut().zip(numbers) {
                        *number = f64::from_le_bytes(*bytes);
                    }
                    visit(&row)?;
                }
                Ok(())
            }
        }
    }

    /// Number `index` of each row: 0 is the time.
    pub(super) fn numbers(&self, index: usize) -> Result<Vec<f64>, RecordingError> {
        let mut numbers = Vec::with_capacity(self.n_rows);
        self.each(|row| {
            numbers.push(row[index]);
            Ok::<(), RecordingError>(())
        })?;
        Ok(numbers)
    }
}
