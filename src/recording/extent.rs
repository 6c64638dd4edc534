//! How far the numbers of a recording reach, kept up with its frames: grids of packed numbers are laid over these ranges at the end.

use nalgebra::Vector3;

use super::{Frame, PressurePolygons};

/// The box around points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) low: Vector3<f64>,
    pub(super) high: Vector3<f64>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            low: Vector3::repeat(f64::INFINITY),
            high: Vector3::repeat(f64::NEG_INFINITY),
        }
    }
}

impl Bounds {
    pub(super) fn add(&mut self, point: &Vector3<f64>) {
        self.low = self.low.inf(point);
        self.high = self.high.sup(point);
    }
}

/// Vectors at points: forces or moments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArrowExtent {
    pub(super) points: Bounds,
    /// Largest component.
    pub(super) largest: f64,
    /// Whether there is any.
    pub(super) any: bool,
}

impl ArrowExtent {
    pub(super) fn add(&mut self, point: &Vector3<f64>, arrow: &Vector3<f64>) {
        self.points.add(point);
        self.largest = self.largest.max(arrow.amax());
        self.any = true;
    }
}

/// Points of a deforming visual.
#[derive(Clone, Debug)]
pub(super) struct SoftExtent {
    /// Of the drawn points.
    pub(super) drawn: Bounds,
    /// Of the recorded values; −∞ without any.
    pub(super) value_max: f64,
}

impl Default for SoftExtent {
    fn default() -> Self {
        Self {
            drawn: Bounds::default(),
            value_max: f64::NEG_INFINITY,
        }
    }
}

/// Polygons of patches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PatchExtent {
    pub(super) corners: Bounds,
    pub(super) pressure_max: f64,
    /// Whether there is any polygon.
    pub(super) any: bool,
}

impl PatchExtent {
    pub(super) fn add(&mut self, polygons: &PressurePolygons) {
        self.any |= !polygons.counts().is_empty();
        for point in polygons.points() {
            self.corners.add(&point.coords);
        }
        let pressures = polygons.pressures().iter().copied();
        self.pressure_max = pressures.fold(self.pressure_max, f64::max);
    }
}

/// The ranges over all frames.
#[derive(Clone, Debug, Default)]
pub(super) struct Extent {
    /// Of each body's positions.
    pub(super) bodies: Vec<Bounds>,
    pub(super) contacts: ArrowExtent,
    pub(super) moments: ArrowExtent,
    pub(super) patches: PatchExtent,
    /// Of each deforming visual.
    pub(super) soft: Vec<SoftExtent>,
    /// Largest coordinate of a body or a point.
    pub(super) reach: f64,
}

impl Extent {
    pub(super) fn new(n_bodies: usize, n_soft: usize) -> Self {
        Self {
            bodies: vec![Bounds::default(); n_bodies],
            soft: vec![SoftExtent::default(); n_soft],
            ..Self::default()
        }
    }

    /// Adds a frame; `drawn` has the drawn vertices of each deforming visual, or `None` for all of its points.
    pub(super) fn add(&mut self, frame: &Frame, drawn: &[Option<Vec<u32>>]) {
        for (bounds, pose) in self.bodies.iter_mut().zip(&frame.X_WB) {
            bounds.add(&pose.translation.vector);
            self.reach = self.reach.max(pose.translation.vector.amax());
        }
        for contact in &frame.contacts {
            self.contacts.add(&contact.p_WC.coords, &contact.f_W);
        }
        for patch in &frame.patch_forces {
            self.moments.add(&patch.p_WC.coords, &patch.m_W);
        }
        self.patches.add(&frame.patches);
        for ((extent, deformed), drawn) in self.soft.iter_mut().zip(&frame.deformed).zip(drawn) {
            for point in &deformed.points {
                self.reach = self.reach.max(point.coords.amax());
            }
            match drawn {
                Some(used) => (used.iter())
                    .for_each(|v| extent.drawn.add(&deformed.points[*v as usize].coords)),
                None => (deformed.points.iter()).for_each(|p| extent.drawn.add(&p.coords)),
            }
            let values = deformed.values.iter().copied();
            extent.value_max = values.fold(extent.value_max, f64::max);
        }
    }
}
