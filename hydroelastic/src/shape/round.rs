//! Shapes with curved sides: sphere, cylinder, capsule, ellipsoid and cone.

use std::f64::consts::PI;

use nalgebra::{Point3, Vector3};

use super::{MassProperties, gyration, positive};
use crate::GeometryError;

/// A ball around its frame's origin.
///
/// ```
/// use std::f64::consts::PI;
/// use pliant_hydroelastic::Shape;
///
/// let ball = Shape::sphere(0.1)?;
/// assert!((ball.mass_properties(1.0)?.volume - 4.0 / 3.0 * PI * 1e-3).abs() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    radius: f64,
}

impl Sphere {
    /// A sphere of the given radius, m.
    ///
    /// # Errors
    /// [`GeometryError::Size`] unless `radius` (m) is finite and positive.
    pub fn new(radius: f64) -> Result<Self, GeometryError> {
        positive("sphere", "radius", radius)?;
        Ok(Self { radius })
    }

    /// Radius, m.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    pub(crate) fn mass_properties(&self, density: f64) -> MassProperties {
        let r2 = self.radius * self.radius;
        let volume = 4.0 / 3.0 * PI * r2 * self.radius;
        MassProperties::diagonal(volume, density, Point3::origin(), Vector3::repeat(0.4 * r2))
    }
}

/// A cylinder along z, centred at its frame's origin.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::Shape;
///
/// // It stands about the origin: the top of a cylinder of 0.4 m is at z = 0.2 m.
/// let can = Shape::cylinder(0.1, 0.4)?;
/// assert!(can.signed_distance(&Point3::new(0.0, 0.0, 0.2)).value.abs() < 1e-15);
/// // Beyond its rim the nearest point is on the edge.
/// assert!((can.signed_distance(&Point3::new(0.13, 0.0, 0.24)).value - 0.05).abs() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    radius: f64,
    half_length: f64,
}

impl Cylinder {
    /// A cylinder of the given radius and full length, m.
    ///
    /// # Errors
    /// [`GeometryError::Size`] unless `radius` and `length` (m) are finite and positive.
    pub fn new(radius: f64, length: f64) -> Result<Self, GeometryError> {
        positive("cylinder", "radius", radius)?;
        positive("cylinder", "length", length)?;
        Ok(Self {
            radius,
            half_length: 0.5 * length,
        })
    }

    /// Radius, m.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Half of the length along z, m.
    pub fn half_length(&self) -> f64 {
        self.half_length
    }

    pub(crate) fn mass_properties(&self, density: f64) -> MassProperties {
        let length = 2.0 * self.half_length;
        MassProperties::diagonal(
            PI * self.radius * self.radius * length,
            density,
            Point3::origin(),
            gyration::of_cylinder(self.radius, length),
        )
    }
}

/// All points within a radius of a segment along z, centred at its frame's origin.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::Shape;
///
/// // The length is that of the cylindrical part: the end is at 0.2 m + 0.1 m.
/// let pill = Shape::capsule(0.1, 0.4)?;
/// assert!(pill.signed_distance(&Point3::new(0.0, 0.0, 0.3)).value.abs() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    radius: f64,
    half_length: f64,
}

impl Capsule {
    /// A capsule; `length` (m) is that of the segment, without the two hemispheres.
    ///
    /// # Errors
    /// [`GeometryError::Size`] unless `radius` and `length` (m) are finite and positive.
    pub fn new(radius: f64, length: f64) -> Result<Self, GeometryError> {
        positive("capsule", "radius", radius)?;
        positive("capsule", "length", length)?;
        Ok(Self {
            radius,
            half_length: 0.5 * length,
        })
    }

    /// Radius, m.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Half of the segment's length along z, m.
    pub fn half_length(&self) -> f64 {
        self.half_length
    }

    pub(crate) fn mass_properties(&self, density: f64) -> MassProperties {
        let (r, length) = (self.radius, 2.0 * self.half_length);
        MassProperties::diagonal(
            PI * r * r * (length + 4.0 / 3.0 * r),
            density,
            Point3::origin(),
            gyration::of_capsule(r, length),
        )
    }
}

/// An ellipsoid with semi-axes along x, y, z.
///
/// ```
/// use std::f64::consts::PI;
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::Shape;
///
/// let egg = Shape::ellipsoid(Vector3::new(0.3, 0.2, 0.1))?.mass_properties(1.0)?;
/// assert!((egg.volume - 4.0 / 3.0 * PI * 6e-3).abs() < 1e-15);
/// // I_xx = m (b² + c²)/5.
/// assert!((egg.inertia[(0, 0)] - egg.mass * 0.05 / 5.0).abs() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid {
    semi_axes: Vector3<f64>,
}

impl Ellipsoid {
    /// An ellipsoid with the given semi-axes, m.
    ///
    /// # Errors
    /// [`GeometryError::Size`] unless each semi-axis (m) is finite and positive.
    pub fn new(semi_axes: Vector3<f64>) -> Result<Self, GeometryError> {
        positive("ellipsoid", "semi-axis x", semi_axes.x)?;
        positive("ellipsoid", "semi-axis y", semi_axes.y)?;
        positive("ellipsoid", "semi-axis z", semi_axes.z)?;
        Ok(Self { semi_axes })
    }

    /// Semi-axes, m.
    pub fn semi_axes(&self) -> Vector3<f64> {
        self.semi_axes
    }

    pub(crate) fn mass_properties(&self, density: f64) -> MassProperties {
        MassProperties::diagonal(
            4.0 / 3.0 * PI * self.semi_axes.product(),
            density,
            Point3::origin(),
            gyration::of_ellipsoid(&self.semi_axes),
        )
    }
}

/// A cone along z: base disc at z = −h/2, apex at z = +h/2.
///
/// ```
/// use pliant_hydroelastic::Shape;
///
/// // The centroid is a quarter of the height above the base, which is at z = −0.2 m.
/// let cone = Shape::cone(0.1, 0.4)?.mass_properties(1.0)?;
/// assert!((cone.center.z + 0.1).abs() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    radius: f64,
    half_height: f64,
}

impl Cone {
    /// A cone with the given base radius and height, m.
    ///
    /// # Errors
    /// [`GeometryError::Size`] unless `radius` (of the base) and `height` (m) are finite and positive.
    pub fn new(radius: f64, height: f64) -> Result<Self, GeometryError> {
        positive("cone", "radius", radius)?;
        positive("cone", "height", height)?;
        Ok(Self {
            radius,
            half_height: 0.5 * height,
        })
    }

    /// Radius of the base, m.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Half of the height, m.
    pub fn half_height(&self) -> f64 {
        self.half_height
    }

    pub(crate) fn mass_properties(&self, density: f64) -> MassProperties {
        let (r2, height) = (self.radius * self.radius, 2.0 * self.half_height);
        let across = 3.0 / 80.0 * (4.0 * r2 + height * height);
        MassProperties::diagonal(
            PI * r2 * height / 3.0,
            density,
            Point3::new(0.0, 0.0, -0.25 * height),
            Vector3::new(across, across, 0.3 * r2),
        )
    }
}
