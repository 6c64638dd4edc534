//! Shapes given by a few sizes, as plain data.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::Shape;
use crate::GeometryError;

/// A shape given by a few sizes, as plain data: scene files, robot models, recordings and benchmarks all describe shapes with
/// it. Lengths are in m; the frames are those of [`Shape`]. Sizes are checked by `Shape::try_from`.
///
/// ```
/// use pliant_hydroelastic::{AnalyticShape, Shape};
///
/// let spec: AnalyticShape = serde_json::from_str(r#"{ "cylinder": { "radius": 0.1, "length": 0.5 } }"#)?;
/// let shape = Shape::try_from(&spec)?;
/// assert_eq!(shape.analytic(), Some(spec));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AnalyticShape {
    /// The points z ≤ 0.
    HalfSpace {},
    /// Centred at the origin.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// Centred at the origin, edges along the axes.
    Box {
        /// Full edge lengths along x, y, z.
        size: Vector3<f64>,
    },
    /// Centred at the origin, axis z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Length along z.
        length: f64,
    },
    /// A cylinder with hemispherical ends, centred at the origin, axis z.
    Capsule {
        /// Radius.
        radius: f64,
        /// Length of the cylindrical part along z.
        length: f64,
    },
    /// Centred at the origin.
    Ellipsoid {
        /// Semi-axes along x, y, z.
        semi_axes: Vector3<f64>,
    },
    /// Base at z = −height/2, apex at z = +height/2.
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Distance of the apex from the base.
        height: f64,
    },
}

impl TryFrom<&AnalyticShape> for Shape {
    type Error = GeometryError;

    /// # Errors
    /// [`GeometryError::Size`] unless every size is finite and positive.
    fn try_from(spec: &AnalyticShape) -> Result<Self, GeometryError> {
        match *spec {
            AnalyticShape::HalfSpace {} => Ok(Self::half_space()),
            AnalyticShape::Sphere { radius } => Self::sphere(radius),
            AnalyticShape::Box { size } => Self::cuboid(size),
            AnalyticShape::Cylinder { radius, length } => Self::cylinder(radius, length),
            AnalyticShape::Capsule { radius, length } => Self::capsule(radius, length),
            AnalyticShape::Ellipsoid { semi_axes } => Self::ellipsoid(semi_axes),
            AnalyticShape::Cone { radius, height } => Self::cone(radius, height),
        }
    }
}

impl Shape {
    /// The sizes of the shape; `None` for elliptic cylinders, hulls, meshes and user-defined shapes.
    pub fn analytic(&self) -> Option<AnalyticShape> {
        Some(match self {
            Self::HalfSpace => AnalyticShape::HalfSpace {},
            Self::Sphere(s) => AnalyticShape::Sphere { radius: s.radius() },
            Self::Box(s) => AnalyticShape::Box {
                size: 2.0 * s.half_extents(),
            },
            Self::Cylinder(s) => AnalyticShape::Cylinder {
                radius: s.radius(),
                length: 2.0 * s.half_length(),
            },
            Self::Capsule(s) => AnalyticShape::Capsule {
                radius: s.radius(),
                length: 2.0 * s.half_length(),
            },
            Self::Ellipsoid(s) => AnalyticShape::Ellipsoid {
                semi_axes: s.semi_axes(),
            },
            Self::Cone(s) => AnalyticShape::Cone {
                radius: s.radius(),
                height: 2.0 * s.half_height(),
            },
            Self::EllipticCylinder(_) | Self::ConvexHull(_) | Self::Mesh(_) | Self::Custom(_) => {
                return None;
            }
        })
    }
}

impl AnalyticShape {
    /// The same shape with all lengths multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let mut scaled = *self;
        match &mut scaled {
            Self::HalfSpace {} => {}
            Self::Sphere { radius } => *radius *= factor,
            Self::Box { size: lengths } | Self::Ellipsoid { semi_axes: lengths } => {
                *lengths *= factor
            }
            Self::Cylinder { radius, length }
            | Self::Capsule { radius, length }
            | Self::Cone {
                radius,
                height: length,
            } => {
                *radius *= factor;
                *length *= factor;
            }
        }
        scaled
    }

    /// [`Shape::radius_about_origin`], m; 0 for sizes that [`Shape`] rejects, such as the radius of a point.
    #[must_use]
    pub fn radius_about_origin(&self) -> f64 {
        Shape::try_from(self).map_or(0.0, |shape| shape.radius_about_origin())
    }
}
