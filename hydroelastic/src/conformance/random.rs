//! Random poses.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// SplitMix64 (Steele, Lea and Flood 2014): enough randomness for poses, and no dependency.
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    /// Uniform in [−1, 1).
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(super) fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next())
    }

    /// A unit vector within 55 degrees of z, so that a half space is left by going along it.
    pub(super) fn upper_unit(&mut self) -> Vector3<f64> {
        let v = self.vector();
        Vector3::new(v.x, v.y, v.z.abs() + 1.0).normalize()
    }

    pub(super) fn rotation(&mut self) -> UnitQuaternion<f64> {
        UnitQuaternion::from_scaled_axis(self.vector() * std::f64::consts::PI)
    }

    /// A turn that maps the axes onto each other.
    pub(super) fn quarter_turns(&mut self) -> UnitQuaternion<f64> {
        [Vector3::x(), Vector3::y(), Vector3::z()].into_iter().fold(
            UnitQuaternion::identity(),
            |q, axis| {
                let quarters = (2.0 * (self.next() + 1.0)).floor();
                UnitQuaternion::from_scaled_axis(axis * (quarters * std::f64::consts::FRAC_PI_2))
                    * q
            },
        )
    }

    pub(super) fn pose(&mut self, reach: f64) -> Isometry3<f64> {
        let shift = self.vector() * reach;
        Isometry3::from_parts(Translation3::from(shift), self.rotation())
    }
}
