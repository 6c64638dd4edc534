//! A cylinder with an elliptic section, along z, centred at its frame's origin.

use std::f64::consts::PI;

use nalgebra::{Point3, Vector2, Vector3};

use super::{MassProperties, positive};
use crate::GeometryError;

/// An ellipse with semi-axes along x and y, swept along z; built by
/// [`Shape::elliptic_cylinder`](super::Shape::elliptic_cylinder).
///
/// ```
/// use std::f64::consts::PI;
/// use nalgebra::Vector2;
/// use pliant_hydroelastic::Shape;
///
/// let oval = Shape::elliptic_cylinder(Vector2::new(0.2, 0.1), 0.5)?;
/// let volume = oval.mass_properties(1000.0)?.volume;
/// assert!((volume - PI * 0.2 * 0.1 * 0.5).abs() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EllipticCylinder {
    semi_axes: Vector2<f64>,
    half_length: f64,
}

impl EllipticCylinder {
    /// An elliptic cylinder with `semi_axes` along x and y, and `length` along z, m.
    ///
    /// # Errors
    /// [`GeometryError::Size`] unless both semi-axes and `length` (m) are finite and positive.
    pub fn new(semi_axes: Vector2<f64>, length: f64) -> Result<Self, GeometryError> {
        positive("elliptic cylinder", "semi-axis x", semi_axes.x)?;
        positive("elliptic cylinder", "semi-axis y", semi_axes.y)?;
        positive("elliptic cylinder", "length", length)?;
        Ok(Self {
            semi_axes,
            half_length: 0.5 * length,
        })
    }

    /// Semi-axes along x and y, m.
    pub fn semi_axes(&self) -> Vector2<f64> {
        self.semi_axes
    }

    /// Half of the length along z, m.
    pub fn half_length(&self) -> f64 {
        self.half_length
    }

    pub(crate) fn mass_properties(&self, density: f64) -> MassProperties {
        let s = self.semi_axes.component_mul(&self.semi_axes) / 4.0;
        let along = self.half_length * self.half_length / 3.0;
        MassProperties::diagonal(
            2.0 * PI * self.semi_axes.product() * self.half_length,
            density,
            Point3::origin(),
            Vector3::new(s.y + along, s.x + along, s.x + s.y),
        )
    }
}
