//! Numbers of a recording in few bytes: rounded to a grid, predicted from what came before, the differences as
//! variable-length integers.
//!
//! `src/replay/unpack.js` reads what is written here. A stream is a row of signed integers, zigzag-coded (0, −1, 1, −2, …
//! become 0, 1, 2, 3, …) in base 128, low digits first, the high bit of a byte saying that more follow. Zeros come in
//! runs: a 0 byte, then the number of zeros less one.

mod patches;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use nalgebra::{Isometry3, Point3, Vector3};

use super::{ContactArrow, Deformed, ValueScale};
pub(super) use patches::PackedPatches;

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
struct IntegerWriter {
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
}

/// A grid over a box: position = origin + step × integers.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Grid {
    origin: [f64; 3],
    step: f64,
}

impl Grid {
    fn over<'a>(points: impl Iterator<Item = &'a Vector3<f64>>, steps: f64) -> Self {
        let (mut low, mut high) = (
            Vector3::repeat(f64::INFINITY),
            Vector3::repeat(f64::NEG_INFINITY),
        );
        for point in points {
            low = low.inf(point);
            high = high.sup(point);
        }
        if low.x > high.x {
            return Self {
                origin: [0.0; 3],
                step: 1.0,
            };
        }
        Self {
            origin: low.into(),
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

impl PackedPoses {
    pub(super) fn pack<'a>(poses: impl Iterator<Item = &'a Isometry3<f64>> + Clone) -> Self {
        let grid = Grid::over(
            poses.clone().map(|pose| &pose.translation.vector),
            POSE_STEPS,
        );
        let mut channels: [Vec<i64>; 7] = Default::default();
        let mut before = [1.0, 0.0, 0.0, 0.0];
        for pose in poses {
            let q = pose.rotation.quaternion();
            let mut quat_wxyz = [q.w, q.i, q.j, q.k];
            // q and −q are one rotation; the one nearer to the last frame's makes small differences.
            if (0..4).map(|i| quat_wxyz[i] * before[i]).sum::<f64>() < 0.0 {
                quat_wxyz = quat_wxyz.map(|component| -component);
            }
            before = quat_wxyz;
            let rounded = quat_wxyz.map(|component| (component * QUATERNION_STEPS).round() as i64);
            for (channel, value) in channels
                .iter_mut()
                .zip(grid.round(&pose.translation.vector).iter().chain(&rounded))
            {
                channel.push(*value);
            }
        }
        let mut stream = IntegerWriter::default();
        for channel in &channels {
            let (mut last, mut last_but_one) = (0, 0);
            for &value in channel {
                stream.push(value - (2 * last - last_but_one));
                (last_but_one, last) = (last, value);
            }
        }
        Self {
            grid,
            quaternion_step: 1.0 / QUATERNION_STEPS,
            stream: stream.base64(),
        }
    }
}

/// The contacts of all frames: for each frame their number, then for each contact point and force (six integers), less
/// those of the contact with the same number in the frame before (0 if there was none). Moments come as forces, in N·m.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PackedContacts {
    #[serde(flatten)]
    grid: Grid,
    force_step: f64,
    stream: String,
}

impl PackedContacts {
    pub(super) fn pack<'a>(frames: impl Iterator<Item = &'a [ContactArrow]> + Clone) -> Self {
        let grid = Grid::over(
            frames.clone().flatten().map(|contact| &contact.p_WC.coords),
            CONTACT_STEPS,
        );
        let force_max = frames
            .clone()
            .flatten()
            .map(|contact| contact.f_W.amax())
            .fold(0.0, f64::max);
        let force_step = if force_max > 0.0 {
            force_max / CONTACT_STEPS
        } else {
            1.0
        };
        let mut stream = IntegerWriter::default();
        let mut before: Vec<[i64; 6]> = Vec::new();
        for frame in frames {
            stream.push(frame.len() as i64);
            for (at, contact) in frame.iter().enumerate() {
                let point = grid.round(&contact.p_WC.coords);
                let force = [0, 1, 2].map(|axis| (contact.f_W[axis] / force_step).round() as i64);
                let now = [point[0], point[1], point[2], force[0], force[1], force[2]];
                let was = before.get(at).copied().unwrap_or_default();
                (0..6).for_each(|i| stream.push(now[i] - was[i]));
                match before.get_mut(at) {
                    Some(last) => *last = now,
                    None => before.push(now),
                }
            }
            before.truncate(frame.len());
        }
        Self {
            grid,
            force_step,
            stream: stream.base64(),
        }
    }
}

/// The points of one soft shape over all frames: for each frame their number and whether values follow (0 or 1), then
/// x, y, z of each point, then the values, all less those of the same number in the frame before (0 if there was none).
/// A value of 0 is the scale's `min`, one of 255 its `max`.
#[derive(Debug, serde::Serialize)]
pub(super) struct PackedPoints {
    #[serde(flatten)]
    grid: Grid,
    stream: String,
}

impl PackedPoints {
    pub(super) fn pack<'a>(
        frames: impl Iterator<Item = &'a Deformed> + Clone,
        scale: Option<&ValueScale>,
    ) -> Self {
        let grid = Grid::over(
            frames
                .clone()
                .flat_map(|d| d.points.iter().map(|p| &p.coords)),
            DEFORMED_STEPS,
        );
        let mut stream = IntegerWriter::default();
        let (mut points_before, mut values_before): (Vec<[i64; 3]>, Vec<i64>) = Default::default();
        for frame in frames {
            let points: Vec<[i64; 3]> =
                frame.points.iter().map(|p| grid.round(&p.coords)).collect();
            let values: Vec<i64> = match scale {
                Some(ValueScale { min, max, .. }) => {
                    let to_unit = |value: &f64| ((value - min) / (max - min)).clamp(0.0, 1.0);
                    frame
                        .values
                        .iter()
                        .map(|value| (to_unit(value) * VALUE_STEPS).round() as i64)
                        .collect()
                }
                None => Vec::new(),
            };
            stream.push(points.len() as i64);
            stream.push(i64::from(!values.is_empty()));
            for (at, point) in points.iter().enumerate() {
                let was = points_before.get(at).copied().unwrap_or_default();
                (0..3).for_each(|axis| stream.push(point[axis] - was[axis]));
            }
            for (at, value) in values.iter().enumerate() {
                stream.push(value - values_before.get(at).copied().unwrap_or_default());
            }
            (points_before, values_before) = (points, values);
        }
        Self {
            grid,
            stream: stream.base64(),
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
pub(super) fn base64_triangles(triangles: &[[u32; 3]]) -> String {
    BASE64_STANDARD.encode(
        triangles
            .iter()
            .flatten()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<u8>>(),
    )
}

#[cfg(test)]
mod tests;
