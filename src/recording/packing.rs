//! Numbers of a recording in few bytes: rounded to a grid, predicted from what came before, the differences as
//! variable-length integers.
//!
//! `src/replay/unpack.js` reads what is written here. A stream is a row of signed integers, zigzag-coded (0, −1, 1, −2, …
//! become 0, 1, 2, 3, …) in base 128, low digits first, the high bit of a byte saying that more follow. Zeros come in
//! runs: a 0 byte, then the number of zeros less one.

mod patches;

use std::fmt;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use nalgebra::{Isometry3, Point3, Vector3};

use super::extent::{ArrowExtent, Bounds, PatchExtent, SCALE_SHARE};
use super::{ContactArrow, Deformed, ValueScale};
#[cfg(any(test, feature = "cli"))]
pub(super) use patches::PackedPatches;
pub(super) use patches::{PatchPacker, PatchScale};

/// A body's travel is rounded to this fraction of its extent.
const POSE_STEPS: f64 = (1 << 20) as f64;
/// Quaternion components are rounded to this fraction of 1.
const QUATERNION_STEPS: f64 = (1 << 16) as f64;
/// Contact points and forces are rounded to this fraction of their range over the whole recording.
const CONTACT_STEPS: f64 = (1 << 18) as f64;
/// Points of deforming shapes are rounded to this fraction of their box over the whole recording; the player keeps them
/// in 16 bits.
const DEFORMED_STEPS: f64 = u16::MAX as f64;
/// Values of deforming shapes are rounded to this fraction of their scale.
const VALUE_STEPS: f64 = u8::MAX as f64;
/// No grid is finer than this, m: a body at rest must not be stored to the last bit of its noise.
const FINEST_STEP: f64 = 1e-9;

/// Writes the integers of a stream.
#[derive(Default)]
pub(super) struct IntegerWriter {
    bytes: Vec<u8>,
    zeros: u64,
}

impl IntegerWriter {
    fn push(&mut self, value: i64) {
        if value == 0 {
            self.zeros += 1;
            return;
        }
        self.end_run();
        self.digits(((value << 1) ^ (value >> 63)) as u64);
    }

    fn digits(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn end_run(&mut self) {
        if self.zeros > 0 {
            self.bytes.push(0);
            self.digits(self.zeros - 1);
            self.zeros = 0;
        }
    }

    fn base64(mut self) -> String {
        self.end_run();
        BASE64_STANDARD.encode(self.bytes)
    }

    /// Hands over the digits so far, in pieces that can be joined.
    pub(super) fn pass_on(&mut self, out: &mut dyn fmt::Write) -> fmt::Result {
        let whole = self.bytes.len() / 3 * 3;
        out.write_str(&BASE64_STANDARD.encode(&self.bytes[..whole]))?;
        self.bytes.drain(..whole);
        Ok(())
    }

    /// Hands over the rest.
    pub(super) fn pass_on_rest(self, out: &mut dyn fmt::Write) -> fmt::Result {
        out.write_str(&self.base64())
    }
}

/// A grid over a box: position = origin + step × integers.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Grid {
    origin: [f64; 3],
    step: f64,
}

impl Grid {
    pub(super) fn over(bounds: &Bounds, steps: f64) -> Self {
        let Bounds { low, high } = bounds;
        if low.x > high.x {
            return Self {
                origin: [0.0; 3],
                step: 1.0,
            };
        }
        Self {
            origin: (*low).into(),
            step: ((high - low).max() / steps).max(FINEST_STEP),
        }
    }

    fn round(&self, point: &Vector3<f64>) -> [i64; 3] {
        [0, 1, 2].map(|axis| ((point[axis] - self.origin[axis]) / self.step).round() as i64)
    }
}

/// The poses of one body over all frames.
///
/// The stream holds seven channels one after the other (x, y, z, then the quaternion w, x, y, z), each over all frames,
/// each as the error of the prediction 2 q_{k−1} − q_{k−2} (before the first frame q = 0): free flight, uniform motion
/// and rest are nearly free.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PackedPoses {
    #[serde(flatten)]
    grid: Grid,
    quaternion_step: f64,
    stream: String,
}

/// Packs the poses of a body one by one.
pub(super) struct PosePacker {
    grid: Grid,
    channels: [Vec<i32>; 7],
    before: [f64; 4],
}

impl PosePacker {
    /// Bytes that it holds for each pose.
    pub(super) const BYTES_PER_POSE: usize = 7 * size_of::<i32>();

    /// For positions within `bounds`.
    pub(super) fn new(bounds: &Bounds) -> Self {
        Self {
            grid: Grid::over(bounds, POSE_STEPS),
            channels: Default::default(),
            before: [1.0, 0.0, 0.0, 0.0],
        }
    }

    pub(super) fn push(&mut self, pose: &Isometry3<f64>) {
        let q = pose.rotation.quaternion();
        let mut quat_wxyz = [q.w, q.i, q.j, q.k];
        // q and −q are one rotation; the one nearer to the last frame's makes small differences.
        if (0..4).map(|i| quat_wxyz[i] * self.before[i]).sum::<f64>() < 0.0 {
            quat_wxyz = quat_wxyz.map(|component| -component);
        }
        self.before = quat_wxyz;
        let rounded = quat_wxyz.map(|component| (component * QUATERNION_STEPS).round() as i64);
        let position = self.grid.round(&pose.translation.vector);
        for (channel, value) in (self.channels.iter_mut()).zip(position.iter().chain(&rounded)) {
            // Grids and quaternions have at most 2²⁰ steps.
            channel.push(*value as i32);
        }
    }

    pub(super) fn finish(self) -> PackedPoses {
        let mut stream = IntegerWriter::default();
        for channel in &self.channels {
            let (mut last, mut last_but_one) = (0, 0);
            for value in channel.iter().map(|value| i64::from(*value)) {
                stream.push(value - (2 * last - last_but_one));
                (last_but_one, last) = (last, value);
            }
        }
        PackedPoses {
            grid: self.grid,
            quaternion_step: 1.0 / QUATERNION_STEPS,
            stream: stream.base64(),
        }
    }
}

#[cfg(any(test, feature = "cli"))]
impl PackedPoses {
    pub(super) fn pack<'a>(poses: impl Iterator<Item = &'a Isometry3<f64>> + Clone) -> Self {
        let mut bounds = Bounds::default();
        poses
            .clone()
            .for_each(|pose| bounds.add(&pose.translation.vector));
        let mut packer = PosePacker::new(&bounds);
        poses.for_each(|pose| packer.push(pose));
        packer.finish()
    }
}

/// The contacts of all frames: for each frame their number, then for each contact point and force (six integers), less
/// those of the contact with the same number in the frame before (0 if there was none). Moments come as forces, in N·m.
#[cfg(any(test, feature = "cli"))]
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PackedContacts {
    #[serde(flatten)]
    grid: Grid,
    force_step: f64,
    stream: String,
}

/// Packs contacts frame by frame.
pub(super) struct ContactPacker {
    pub(super) scale: ContactScale,
    before: Vec<[i64; 6]>,
    pub(super) stream: IntegerWriter,
}

/// What the integers of contacts count.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ContactScale {
    #[serde(flatten)]
    grid: Grid,
    force_step: f64,
}

impl ContactPacker {
    pub(super) fn new(extent: &ArrowExtent) -> Self {
        let force_step = match extent.largest > 0.0 {
            true => extent.largest / CONTACT_STEPS,
            false => 1.0,
        };
        Self {
            scale: ContactScale {
                grid: Grid::over(&extent.points, CONTACT_STEPS),
                force_step,
            },
            before: Vec::new(),
            stream: IntegerWriter::default(),
        }
    }

    pub(super) fn push(&mut self, frame: &[ContactArrow]) {
        let ContactScale { grid, force_step } = self.scale;
        self.stream.push(frame.len() as i64);
        for (at, contact) in frame.iter().enumerate() {
            let point = grid.round(&contact.p_WC.coords);
            let force = [0, 1, 2].map(|axis| (contact.f_W[axis] / force_step).round() as i64);
            let now = [point[0], point[1], point[2], force[0], force[1], force[2]];
            let was = self.before.get(at).copied().unwrap_or_default();
            (0..6).for_each(|i| self.stream.push(now[i] - was[i]));
            match self.before.get_mut(at) {
                Some(last) => *last = now,
                None => self.before.push(now),
            }
        }
        self.before.truncate(frame.len());
    }
}

#[cfg(any(test, feature = "cli"))]
impl PackedContacts {
    pub(super) fn pack<'a>(frames: impl Iterator<Item = &'a [ContactArrow]> + Clone) -> Self {
        let mut extent = ArrowExtent::default();
        let contacts = frames.clone().flatten();
        contacts.for_each(|contact| extent.add(&contact.p_WC.coords, &contact.f_W));
        let mut packer = ContactPacker::new(&extent);
        frames.for_each(|frame| packer.push(frame));
        Self {
            grid: packer.scale.grid,
            force_step: packer.scale.force_step,
            stream: packer.stream.base64(),
        }
    }
}

/// The points of one soft shape over all frames: for each frame their number and whether values follow (0 or 1), then
/// x, y, z of each point, then the values, all less those of the same number in the frame before (0 if there was none).
/// A value of 0 is the scale's `min`, one of 255 its `max`.
#[cfg(any(test, feature = "cli"))]
#[derive(Debug, serde::Serialize)]
pub(super) struct PackedPoints {
    #[serde(flatten)]
    grid: Grid,
    stream: String,
}

/// Packs the points of a soft shape frame by frame.
pub(super) struct PointPacker<'a> {
    pub(super) grid: Grid,
    scale: Option<&'a ValueScale>,
    points_before: Vec<[i64; 3]>,
    values_before: Vec<i64>,
    pub(super) stream: IntegerWriter,
}

impl<'a> PointPacker<'a> {
    /// For points within `bounds`.
    pub(super) fn new(bounds: &Bounds, scale: Option<&'a ValueScale>) -> Self {
        Self {
            grid: Grid::over(bounds, DEFORMED_STEPS),
            scale,
            points_before: Vec::new(),
            values_before: Vec::new(),
            stream: IntegerWriter::default(),
        }
    }

    pub(super) fn push(&mut self, frame: &Deformed) {
        let points = frame.points.iter();
        let points: Vec<[i64; 3]> = points.map(|p| self.grid.round(&p.coords)).collect();
        let values: Vec<i64> = match self.scale {
            Some(ValueScale { min, max, .. }) => {
                let to_unit = |value: &f64| ((value - min) / (max - min)).clamp(0.0, 1.0);
                let to_steps = |value: &f64| (to_unit(value) * VALUE_STEPS).round() as i64;
                frame.values.iter().map(to_steps).collect()
            }
            None => Vec::new(),
        };
        let stream = &mut self.stream;
        stream.push(points.len() as i64);
        stream.push(i64::from(!values.is_empty()));
        for (at, point) in points.iter().enumerate() {
            let was = self.points_before.get(at).copied().unwrap_or_default();
            (0..3).for_each(|axis| stream.push(point[axis] - was[axis]));
        }
        for (at, value) in values.iter().enumerate() {
            stream.push(value - self.values_before.get(at).copied().unwrap_or_default());
        }
        (self.points_before, self.values_before) = (points, values);
    }
}

#[cfg(any(test, feature = "cli"))]
impl PackedPoints {
    pub(super) fn pack<'a>(
        frames: impl Iterator<Item = &'a Deformed> + Clone,
        scale: Option<&ValueScale>,
    ) -> Self {
        let mut bounds = Bounds::default();
        let points = frames.clone().flat_map(|d| &d.points);
        points.for_each(|p| bounds.add(&p.coords));
        let mut packer = PointPacker::new(&bounds, scale);
        frames.for_each(|frame| packer.push(frame));
        Self {
            grid: packer.grid,
            stream: packer.stream.base64(),
        }
    }
}

/// Little-endian f64, as `Float64Array` takes them.
pub(super) fn base64_f64(values: impl Iterator<Item = f64>) -> String {
    BASE64_STANDARD.encode(values.flat_map(f64::to_le_bytes).collect::<Vec<u8>>())
}

/// Little-endian f32, as `Float32Array` takes them.
pub(super) fn base64_f32(values: impl Iterator<Item = f64>) -> String {
    BASE64_STANDARD.encode(
        values
            .flat_map(|value| (value as f32).to_le_bytes())
            .collect::<Vec<u8>>(),
    )
}

/// Coordinates as f32, point by point.
pub(super) fn base64_points(points: &[Point3<f64>]) -> String {
    base64_f32(points.iter().flat_map(|p| [p.x, p.y, p.z]))
}

/// Little-endian u32, as `Uint32Array` takes them.
pub(super) fn base64_u32(values: &[u32]) -> String {
    let bytes = values.iter().flat_map(|v| v.to_le_bytes());
    BASE64_STANDARD.encode(bytes.collect::<Vec<u8>>())
}

/// Corners, triangle by triangle.
pub(super) fn base64_triangles(triangles: &[[u32; 3]]) -> String {
    base64_u32(triangles.as_flattened())
}

#[cfg(test)]
mod tests;
