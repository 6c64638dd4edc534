//! Sources and sinks of particles.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_hydroelastic::Shape;

use super::ObjectIdx;
use crate::error::{MpmError, positive, within};

/// A source adds the same batch of particles at regular intervals.
///
/// For a jet of speed v, use one layer as a batch and its thickness divided by v as the interval.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::DeformableModel;
/// use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, ParticleSet, Preset, Source};
///
/// // A jet of water at 1 m/s, one layer of two particles every 10 ms: the first one at time zero.
/// let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// let empty = ParticleSet { points: Vec::new(), particle_volume: 1e-6 };
/// let object = builder.object(ObjectSpec::new("water", Preset::ShallowWater.material(), 1000.0, empty));
/// builder.source(Source {
///     object,
///     points: vec![Point3::origin(), Point3::new(0.01, 0.0, 0.0)],
///     velocity_W: Vector3::new(0.0, 0.0, -1.0),
///     start_s: 0.0,
///     interval_s: 0.01,
///     batches: 100,
/// });
/// let model = builder.build()?;
/// let state = model.default_state();
/// assert_eq!(model.particles(&state).filter(|p| p.v_WP.z == -1.0).count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_contact_sap::{BodyState, BodyStep, Control, DeformableModel, StepInput};
/// use pliant_hydroelastic::Shape;
/// use pliant_mpm::{MpmBuilder, MpmSettings, Sink};
/// # use pliant_mpm::{ObjectSpec, Preset, Sampling, fill};
///
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// // Half of a cube at rest is inside the sink: its 32 of 64 particles are gone after a step.
/// builder.sink(Sink { shape: Shape::half_space(), X_WS: Isometry3::identity() });
/// let model = builder.build()?;
/// let (mut step, control, mut v) = (model.new_step(), Control::default(), Vec::new());
/// step.begin(&model.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
/// step.linearise_start(&mut v)?;
/// let mut next = BodyState::default();
/// let _ = step.advance(&v, &mut next)?;
/// assert_eq!(model.particles(&next).count(), 32);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
