//! Sources and sinks of particles.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_hydroelastic::Shape;

use super::ObjectIdx;
use crate::error::{MpmError, positive, within};

/// A source adds the same batch of particles at regular intervals.
///
/// For a jet of speed v, use one layer as a batch and its thickness divided by v as the interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The object of new particles, which have its particle volume.
    pub object: ObjectIdx,
    /// Positions of one batch, world frame, m.
    pub points: Vec<Point3<f64>>,
    /// Velocity of new particles, m/s.
    pub velocity_W: Vector3<f64>,
    /// Time of the first batch, s.
    pub start_s: f64,
    /// Time between batches, s.
    pub interval_s: f64,
    /// Number of batches.
    pub batches: u32,
}

impl Source {
    pub(crate) fn check(&self, objects: usize) -> Result<(), MpmError> {
        positive("source", "interval_s", self.interval_s)?;
        within(
            "source",
            "start_s",
            self.start_s,
            self.start_s >= 0.0,
            "must not be negative",
        )?;
        let object = self.object.0;
        within(
            "source",
            "object",
            object as f64,
            object < objects,
            "is not an object of the model",
        )?;
        let positions = self
            .points
            .iter()
            .flat_map(|p| p.coords.iter().copied().collect::<Vec<_>>());
        let invalid = positions
            .chain(self.velocity_W.iter().copied())
            .find(|x| !x.is_finite());
        within(
            "source",
            "coordinate",
            invalid.unwrap_or(0.0),
            invalid.is_none(),
            "must be finite",
        )?;
        Ok(())
    }

    /// Batches due by `time`, s.
    pub(crate) fn due(&self, time: f64) -> u32 {
        if time < self.start_s {
            return 0;
        }
        // A batch due at the end of a step belongs to it in spite of round-off.
        let passed = ((time - self.start_s) / self.interval_s + 1e-9).floor();
        (passed.min(f64::from(u32::MAX - 1)) as u32 + 1).min(self.batches)
    }
}

/// A sink removes particles that are inside a shape at the end of a step.
#[derive(Clone, Debug)]
pub struct Sink {
    /// The shape.
    pub shape: Shape,
    /// Its pose.
    pub X_WS: Isometry3<f64>,
}

impl Sink {
    pub(crate) fn takes(&self, p: &Point3<f64>) -> bool {
        self.shape
            .signed_distance(&self.X_WS.inverse_transform_point(p))
            .value
            < 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_come_at_their_times() {
        let source = Source {
            object: ObjectIdx(0),
            points: Vec::new(),
            velocity_W: Vector3::zeros(),
            start_s: 0.1,
            interval_s: 0.05,
            batches: 4,
        };
        let due = [0.0, 0.0999, 0.1, 0.149, 0.15, 0.2, 0.25, 9.0].map(|t| source.due(t));
        assert_eq!(due, [0, 0, 1, 1, 2, 3, 4, 4]);
    }
}
