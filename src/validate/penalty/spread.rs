//! Points of a sequence that covers a cube evenly, in place of random numbers.

use nalgebra::{UnitQuaternion, Vector3};

/// Numbers in [0, 1) without order: fractions of multiples of powers of the plastic number's relatives.
pub(super) struct Spread {
    /// Of the point.
    pub(super) k: u32,
}

impl Spread {
    const STEPS: [f64; 8] = [
        0.819_172_513_396,
        0.671_043_606_704,
        0.549_700_477_901,
        0.450_301_519_100,
        0.368_875_012_345,
        0.302_171_876_543,
        0.247_530_112_358,
        0.202_769_813_213,
    ];

    /// Number `axis` of the present point.
    pub(super) fn at(&self, axis: usize) -> f64 {
        let n = f64::from(self.k + 1);
        // Later axes are those of another sequence.
        (0.5 + n * (Self::STEPS[axis % 8] + 0.137 * (axis / 8) as f64)).fract()
    }

    pub(super) fn between(&self, axis: usize, least: f64, most: f64) -> f64 {
        least + (most - least) * self.at(axis)
    }

    pub(super) fn direction(&self, axis: usize) -> Vector3<f64> {
        let z = self.between(axis, -1.0, 1.0);
        let (sin, cos) = self.between(axis + 1, 0.0, std::f64::consts::TAU).sin_cos();
        let r = (1.0 - z * z).sqrt();
        Vector3::new(r * cos, r * sin, z)
    }

    pub(super) fn rotation(&self, axis: usize) -> UnitQuaternion<f64> {
        UnitQuaternion::from_scaled_axis(self.direction(axis) * self.between(axis + 2, 0.0, 3.1))
    }
}
