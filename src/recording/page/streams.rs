//! The packed streams of a page, made while they are written: memory holds a piece of each at a time.

use std::cell::RefCell;
use std::fmt;

use serde::ser::{Error as _, Serialize, SerializeSeq, Serializer};

use super::super::frame_bytes::FramePart;
use super::super::packing::{
    ContactPacker, ContactScale, Grid, IntegerWriter, PackedPoses, PatchPacker, PatchScale,
    PointPacker, PosePacker,
};
use super::super::{ContactArrow, Deformed, Recording, RecordingError, ValueScale};
use super::moment;

/// Bytes of poses that are packed at a time.
const POSE_BYTES: usize = 16 << 20;

/// A recording, and the first error in reading it: formatting cannot carry one.
pub(super) struct Source<'a> {
    pub(super) recording: &'a Recording,
    pub(super) fault: RefCell<Option<RecordingError>>,
}

/// Why a stream ends early.
enum Broken {
    Format,
    Recording(RecordingError),
}

impl From<fmt::Error> for Broken {
    fn from(_: fmt::Error) -> Self {
        Self::Format
    }
}

impl From<RecordingError> for Broken {
    fn from(error: RecordingError) -> Self {
        Self::Recording(error)
    }
}

type Write<'a> = dyn Fn(&mut dyn fmt::Write) -> Result<(), Broken> + 'a;

/// A stream and the scale of its integers.
#[derive(serde::Serialize)]
pub(super) struct Streamed<'a, S> {
    #[serde(flatten)]
    scale: S,
    stream: Text<'a>,
}

struct Text<'a> {
    write: Box<Write<'a>>,
    fault: &'a RefCell<Option<RecordingError>>,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.write)(f) {
            Ok(()) => Ok(()),
            Err(Broken::Format) => Err(fmt::Error),
            // The writer of the page looks for it.
            Err(Broken::Recording(error)) => {
                self.fault.borrow_mut().get_or_insert(error);
                Ok(())
            }
        }
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'a> Source<'a> {
    pub(super) fn of(recording: &'a Recording) -> Self {
        Self {
            recording,
            fault: RefCell::default(),
        }
    }

    fn streamed<S>(
        &'a self,
        scale: S,
        write: impl Fn(&mut dyn fmt::Write) -> Result<(), Broken> + 'a,
    ) -> Streamed<'a, S> {
        Streamed {
            scale,
            stream: Text {
                write: Box::new(write),
                fault: &self.fault,
            },
        }
    }

    pub(super) fn contacts(&'a self) -> Streamed<'a, ContactScale> {
        let Recording { frames, extent, .. } = self.recording;
        let scale = ContactPacker::new(&extent.contacts).scale;
        self.streamed(scale, move |out| {
            let mut packer = ContactPacker::new(&extent.contacts);
            frames.each(FramePart::Contacts, |frame| {
                packer.push(&frame.contacts);
                pass_on(&mut packer.stream, out)
            })?;
            Ok(packer.stream.pass_on_rest(out)?)
        })
    }

    pub(super) fn moments(&'a self) -> Streamed<'a, ContactScale> {
        let Recording { frames, extent, .. } = self.recording;
        let scale = ContactPacker::new(&extent.moments).scale;
        self.streamed(scale, move |out| {
            let mut packer = ContactPacker::new(&extent.moments);
            frames.each(FramePart::PatchForces, |frame| {
                let moments: Vec<ContactArrow> = frame.patch_forces.iter().map(moment).collect();
                packer.push(&moments);
                pass_on(&mut packer.stream, out)
            })?;
            Ok(packer.stream.pass_on_rest(out)?)
        })
    }

    pub(super) fn patches(&'a self) -> Option<Streamed<'a, PatchScale>> {
        let Recording { frames, extent, .. } = self.recording;
        let scale = PatchPacker::new(&extent.patches)?.scale;
        Some(self.streamed(scale, move |out| {
            let Some(mut packer) = PatchPacker::new(&extent.patches) else {
                return Ok(());
            };
            frames.each(FramePart::Patches, |frame| {
                packer.push(&frame.patches);
                pass_on(&mut packer.stream, out)
            })?;
            Ok(packer.stream.pass_on_rest(out)?)
        }))
    }

    /// The drawn points of a deforming visual.
    pub(super) fn points(
        &'a self,
        soft_idx: usize,
        scale: Option<&'a ValueScale>,
    ) -> Streamed<'a, Grid> {
        let Recording { frames, extent, .. } = self.recording;
        let drawn = &extent.soft[soft_idx].drawn;
        let used = self.recording.drawn[soft_idx].as_deref();
        let grid = PointPacker::new(drawn, scale).grid;
        self.streamed(grid, move |out| {
            let mut packer = PointPacker::new(drawn, scale);
            frames.each(FramePart::Deformed(soft_idx), |frame| {
                let all: &Deformed = &frame.deformed[soft_idx];
                match used {
                    Some(used) => packer.push(&all.of_points(used)),
                    None => packer.push(all),
                }
                pass_on(&mut packer.stream, out)
            })?;
            Ok(packer.stream.pass_on_rest(out)?)
        })
    }
}

fn pass_on(stream: &mut IntegerWriter, out: &mut dyn fmt::Write) -> Result<(), Broken> {
    Ok(stream.pass_on(out)?)
}

/// The bodies, some at a time: the channels of a pose are one after the other over all frames.
pub(super) struct Bodies<'a>(pub(super) &'a Source<'a>);

#[derive(serde::Serialize)]
struct Body<'a> {
    name: &'a str,
    poses: PackedPoses,
}

impl Serialize for Bodies<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Recording {
            frames,
            extent,
            bodies,
            ..
        } = self.0.recording;
        let mut sequence = serializer.serialize_seq(Some(bodies.len()))?;
        let n_frames = frames.times_s().len();
        let at_a_time = (POSE_BYTES / (n_frames * PosePacker::BYTES_PER_POSE).max(1)).max(1);
        for first in (0..bodies.len()).step_by(at_a_time) {
            let bounds = extent.bodies[first..].iter().take(at_a_time);
            let mut packers: Vec<PosePacker> = bounds.map(PosePacker::new).collect();
            let read = frames.each(FramePart::Poses, |frame| {
                for (packer, pose) in packers.iter_mut().zip(&frame.X_WB[first..]) {
                    packer.push(pose);
                }
                Ok::<(), RecordingError>(())
            });
            if let Err(error) = read {
                let text = error.to_string();
                self.0.fault.borrow_mut().get_or_insert(error);
                return Err(S::Error::custom(text));
            }
            for (name, packer) in bodies[first..].iter().zip(packers) {
                let poses = packer.finish();
                sequence.serialize_element(&Body { name, poses })?;
            }
        }
        sequence.end()
    }
}
