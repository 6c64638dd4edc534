//! Spatial velocity.

use nalgebra::Vector3;

/// Spatial velocity of a frame, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// ω, rad/s.
    pub angular: Vector3<f64>,
    /// Velocity of the frame's origin, m/s.
    pub linear: Vector3<f64>,
}

impl Twist {
    /// At rest.
    pub fn zero() -> Self {
        Self::default()
    }

    /// Velocity of the point at `r` from the frame's origin (world axes), m/s.
    pub fn at(&self, r: &Vector3<f64>) -> Vector3<f64> {
        self.linear + self.angular.cross(r)
    }
}
