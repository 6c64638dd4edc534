//! Polygons of a soft body's triangles in a rigid shape, kept for visualisation.

use nalgebra::{Isometry3, Vector3};

use crate::field::Affine;
use crate::patch::{ContactPatch, Moments, Order, PatchSums, Polygon};

/// Whether polygons are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Recording {
    #[default]
    Off,
    On,
}

/// Polygons in contact, in the frame of the shape.
#[derive(Default)]
pub(super) struct PolygonRecorder {
    recording: Recording,
    corners: Vec<Vector3<f64>>,
    polygons: Vec<RecordedPolygon>,
}

struct RecordedPolygon {
    count: usize,
    moments: Moments,
    weight: f64,
    pressure: Affine,
    /// From the shape into the soft body.
    normal: Vector3<f64>,
}

impl PolygonRecorder {
    /// Stops recording polygons.
    pub(super) fn stop(&mut self) {
        self.recording = Recording::Off;
    }

    /// Starts recording polygons.
    pub(super) fn keep(&mut self) {
        self.recording = Recording::On;
        self.corners.clear();
        self.polygons.clear();
    }

    /// Adds a part of a triangle, with its corners counter-clockwise seen from the shape and its area multiplied by
    /// `weight`. `pressure` is evaluated only if polygons are kept.
    pub(super) fn add(
        &mut self,
        part: &Polygon,
        moments: &Moments,
        weight: f64,
        normal: &Vector3<f64>,
        pressure: impl FnOnce() -> Affine,
    ) {
        if self.recording == Recording::Off {
            return;
        }
        self.corners.extend(part.corners().iter().rev());
        self.polygons.push(RecordedPolygon {
            count: part.corners().len(),
            moments: *moments,
            weight,
            pressure: pressure(),
            normal: *normal,
        });
    }

    /// Fills a patch with the polygons; the soft body is the first in `order`.
    pub(super) fn fill(&self, X_WG: &Isometry3<f64>, order: Order, out: &mut ContactPatch) {
        let mut sums = PatchSums::new(out, *X_WG, order);
        let mut corners = &self.corners[..];
        for polygon in &self.polygons {
            let (own, others) = corners.split_at(polygon.count);
            let (m, weight) = (&polygon.moments, polygon.weight);
            sums.add(own, m, weight, &polygon.pressure, &polygon.normal);
            corners = others;
        }
        sums.finish();
    }
}
