//! Spatial velocity.

use nalgebra::Vector3;

/// Spatial velocity of a frame, in world axes.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::Twist;
///
/// // A wheel that rolls along x at 2 m/s and turns at 4 rad/s about y: its lowest point, 0.5 m below the hub, is at rest.
/// let wheel = Twist { angular: Vector3::new(0.0, 4.0, 0.0), linear: Vector3::new(2.0, 0.0, 0.0) };
/// assert_eq!(wheel.at(&Vector3::new(0.0, 0.0, -0.5)), Vector3::zeros());
/// ```
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
