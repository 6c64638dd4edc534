//! How far the numbers of a recording reach, kept up with its frames: grids of packed numbers are laid over these ranges at the end.

use std::collections::BTreeMap;

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

/// How often positive numbers occur, in classes of a 64th of an octave, for percentiles over a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Distribution {
    counts: BTreeMap<u64, u64>,
    largest: f64,
}

impl Distribution {
    /// Bits of a number below those of its class.
    const BELOW: u32 = 46;

    pub(super) fn add(&mut self, number: f64) {
        if number > 0.0 {
            *self
                .counts
                .entry(number.to_bits() >> Self::BELOW)
                .or_default() += 1;
            self.largest = self.largest.max(number);
        }
    }

    /// The number that `share` of all do not exceed, at most 1.6 % too large; `None` without any.
    pub(super) fn percentile(&self, share: f64) -> Option<f64> {
        let total: u64 = self.counts.values().sum();
        let mut below = 0;
        let class = self.counts.iter().find(|(_, count)| {
            below += **count;
            below as f64 >= share * total as f64
        });
        class.map(|(class, _)| f64::from_bits((class + 1) << Self::BELOW).min(self.largest))
    }
}

/// The share of all values over a run that a colour scale reaches: a few peaks do not take its colours from all others.
pub(super) const SCALE_SHARE: f64 = 0.99;

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
#[derive(Clone, Debug, Default)]
pub(super) struct SoftExtent {
    /// Of the drawn points.
    pub(super) drawn: Bounds,
    /// Of the recorded values.
    pub(super) values: Distribution,
}

/// Polygons of patches.
#[derive(Clone, Debug, Default)]
pub(super) struct PatchExtent {
    pub(super) corners: Bounds,
    pub(super) pressures: Distribution,
    /// Whether there is any polygon.
    pub(super) any: bool,
}

impl PatchExtent {
    pub(super) fn add(&mut self, polygons: &PressurePolygons) {
        self.any |= !polygons.counts().is_empty();
        for point in polygons.points() {
            self.corners.add(&point.coords);
        }
        for pressure in polygons.pressures() {
            self.pressures.add(*pressure);
        }
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
            for value in &deformed.values {
                extent.values.add(*value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_exceeded_by_the_rest_and_ignores_peaks() {
        let mut numbers = Distribution::default();
        (1..=1000).for_each(|k| numbers.add(f64::from(k)));
        for share in [0.5, 0.9, 0.99] {
            let found = numbers.percentile(share).expect("a number");
            assert!(
                (1.0..1.02).contains(&(found / (1000.0 * share))),
                "{share}: {found}"
            );
        }
        assert_eq!(numbers.percentile(1.0), Some(1000.0));
        (0..5).for_each(|_| numbers.add(1e9));
        assert!(numbers.percentile(SCALE_SHARE).expect("a number") < 1010.0);
        assert_eq!(Distribution::default().percentile(0.5), None);
    }

    #[test]
    fn what_is_not_positive_has_no_part_in_a_percentile() {
        let mut numbers = Distribution::default();
        for number in [-3.0, 0.0, f64::NAN, 7.0] {
            numbers.add(number);
        }
        assert_eq!(numbers.percentile(SCALE_SHARE), Some(7.0));
    }
}
