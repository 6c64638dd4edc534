//! Patches in few bytes: corners that polygons share are stored once, and what stays from frame to frame is nearly free.

use std::collections::HashMap;

use super::{DEFORMED_STEPS, Grid, IntegerWriter, PatchExtent, SCALE_SHARE, VALUE_STEPS};
use crate::recording::PressurePolygons;

/// The patches of all frames. For each frame: the number of polygons, whether they join the same corners as in the frame before
/// (0 or 1); if not, for each polygon its number of corners and each corner's number, counted back from the first one not used
/// yet (so 0 is a new one). Then x, y, z of each corner, then the pressures, less those of the same corner in the frame before
/// where the same are joined, otherwise of the corner before (0 for the first). A pressure of 255 is `pressure_max`.
#[cfg(any(test, feature = "cli"))]
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::recording) struct PackedPatches {
    #[serde(flatten)]
    grid: Grid,
    /// Pa.
    pressure_max: f64,
    stream: String,
}

/// The rounded corners of a frame, each once, and which the polygons join.
#[derive(Default, PartialEq)]
struct Welded {
    counts: Vec<u32>,
    joined: Vec<u32>,
    /// x, y, z and pressure.
    corners: Vec<[i64; 4]>,
}

impl Welded {
    fn of(polygons: &PressurePolygons, grid: &Grid, pressure_max: f64) -> Self {
        let mut welded = Self {
            counts: polygons.counts().to_vec(),
            ..Self::default()
        };
        let mut known = HashMap::new();
        for (point, pressure) in polygons.points().iter().zip(polygons.pressures()) {
            let [x, y, z] = grid.round(&point.coords);
            let p = (pressure / pressure_max).clamp(0.0, 1.0) * VALUE_STEPS;
            let corner = [x, y, z, p.round() as i64];
            let number = *known.entry(corner).or_insert_with(|| {
                welded.corners.push(corner);
                welded.corners.len() as u32 - 1
            });
            welded.joined.push(number);
        }
        welded
    }

    fn write(&self, before: &Self, stream: &mut IntegerWriter) {
        let same = self.counts == before.counts && self.joined == before.joined;
        stream.push(self.counts.len() as i64);
        stream.push(i64::from(same));
        if !same {
            let mut joined = self.joined.iter();
            let mut unused = 0;
            for &count in &self.counts {
                stream.push(i64::from(count));
                for &number in joined.by_ref().take(count as usize) {
                    stream.push(i64::from(unused) - i64::from(number));
                    unused = unused.max(number + 1);
                }
            }
        }
        for parts in [0..3, 3..4] {
            for (at, corner) in self.corners.iter().enumerate() {
                let was = match (same, at) {
                    (true, _) => before.corners[at],
                    (false, 0) => [0; 4],
                    (false, _) => self.corners[at - 1],
                };
                for k in parts.clone() {
                    stream.push(corner[k] - was[k]);
                }
            }
        }
    }
}

/// Packs patches frame by frame.
pub(in crate::recording) struct PatchPacker {
    pub(in crate::recording) scale: PatchScale,
    before: Welded,
    pub(in crate::recording) stream: IntegerWriter,
}

/// What the integers of patches count.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::recording) struct PatchScale {
    #[serde(flatten)]
    grid: Grid,
    pressure_max: f64,
}

impl PatchPacker {
    /// `None` if no frame has any pressure.
    pub(in crate::recording) fn new(extent: &PatchExtent) -> Option<Self> {
        let pressure_max = extent.pressures.percentile(SCALE_SHARE)?;
        Some(Self {
            scale: PatchScale {
                grid: Grid::over(&extent.corners, DEFORMED_STEPS),
                pressure_max,
            },
            before: Welded::default(),
            stream: IntegerWriter::default(),
        })
    }

    pub(in crate::recording) fn push(&mut self, frame: &PressurePolygons) {
        let now = Welded::of(frame, &self.scale.grid, self.scale.pressure_max);
        now.write(&self.before, &mut self.stream);
        self.before = now;
    }
}

#[cfg(any(test, feature = "cli"))]
impl PackedPatches {
    /// `None` if no frame has any.
    pub(in crate::recording) fn pack<'a>(
        frames: impl Iterator<Item = &'a PressurePolygons> + Clone,
    ) -> Option<Self> {
        let mut extent = PatchExtent::default();
        frames.clone().for_each(|frame| extent.add(frame));
        let mut packer = PatchPacker::new(&extent)?;
        frames.for_each(|frame| packer.push(frame));
        Some(Self {
            grid: packer.scale.grid,
            pressure_max: packer.scale.pressure_max,
            stream: packer.stream.base64(),
        })
    }
}
