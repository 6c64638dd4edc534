//! A box, centred at its frame's origin, edges along the axes.

use nalgebra::{Point3, Vector3};

use super::{MassProperties, gyration, positive};
use crate::GeometryError;

/// A rectangular box; built by [`Shape::cuboid`](super::Shape::cuboid).
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::Cuboid;
///
/// // Full edge lengths are given.
/// let plank = Cuboid::new(Vector3::new(2.0, 0.2, 0.02))?;
/// assert_eq!(plank.half_extents(), Vector3::new(1.0, 0.1, 0.01));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    half: Vector3<f64>,
}

impl Cuboid {
    /// A box with the given full edge lengths, m.
    ///
    /// # Errors
    /// [`GeometryError::Size`] unless each is finite and positive.
    pub fn new(lengths: Vector3<f64>) -> Result<Self, GeometryError> {
        positive("box", "length x", lengths.x)?;
        positive("box", "length y", lengths.y)?;
        positive("box", "length z", lengths.z)?;
        Ok(Self {
            half: lengths * 0.5,
        })
    }

    /// Half edge lengths, m.
    pub fn half_extents(&self) -> Vector3<f64> {
        self.half
    }

    pub(crate) fn mass_properties(&self, density: f64) -> MassProperties {
        let gyration = gyration::of_box(&(2.0 * self.half));
        MassProperties::diagonal(
            8.0 * self.half.product(),
            density,
            Point3::origin(),
            gyration,
        )
    }
}
