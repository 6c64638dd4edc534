//! Rigid shapes, each in its own geometry frame G and checked on construction.
//!
//! | shape | position in G |
//! |---|---|
//! | half space | z ≤ 0 |
//! | sphere, box, ellipsoid | centred at the origin |
//! | cylinder, elliptic cylinder, capsule | centred, axis z |
//! | cone | base at z = −h/2, apex at z = +h/2 |
//! | convex hull, mesh | given by the vertices |

mod adjacency;
mod analytic;
mod convex_hull;
mod cuboid;
mod custom;
mod elliptic_cylinder;
pub mod gyration;
mod hull_faces;
mod mass_properties;
mod mesh;
mod polyhedral_distance;
mod quickhull;
mod round;
mod sampled;
mod signed_distance;

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector2, Vector3};

pub use analytic::AnalyticShape;
pub use convex_hull::{ConvexHull, HullEdge, HullFace};
pub use cuboid::Cuboid;
pub use custom::CustomShape;
pub use elliptic_cylinder::EllipticCylinder;
pub use mass_properties::MassProperties;
pub(crate) use mesh::{MeshFeature, TriangleFeature, closest_on_triangle};
pub use mesh::{MeshShape, PseudoNormals};
pub(crate) use polyhedral_distance::{hull_nearest, mesh_nearest};
pub use round::{Capsule, Cone, Cylinder, Ellipsoid, Sphere};
pub use sampled::SampledShape;

use crate::GeometryError;
use crate::aabb::Aabb;

/// A rigid shape. Cheap to clone: vertex lists are shared.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::Shape;
///
/// let capsule = Shape::capsule(0.1, 0.4)?; // from z = −0.3 m to 0.3 m
/// let top = capsule.signed_distance(&Point3::new(0.0, 0.0, 0.35));
/// assert!((top.value - 0.05).abs() < 1e-15 && (top.gradient.z - 1.0).abs() < 1e-15);
/// let inside = capsule.signed_distance(&Point3::new(0.02, 0.0, 0.1));
/// assert!((inside.value + 0.08).abs() < 1e-15);
/// assert!(Shape::sphere(0.0).is_err());
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Shape {
    /// The points z ≤ 0.
    HalfSpace,
    /// A ball.
    Sphere(Sphere),
    /// A rectangular box.
    Box(Cuboid),
    /// A solid cylinder.
    Cylinder(Cylinder),
    /// A solid cylinder with an elliptic section.
    EllipticCylinder(EllipticCylinder),
    /// A cylinder with hemispherical ends.
    Capsule(Capsule),
    /// An ellipsoid.
    Ellipsoid(Ellipsoid),
    /// A solid cone.
    Cone(Cone),
    /// The convex hull of points.
    ConvexHull(Arc<ConvexHull>),
    /// The solid enclosed by a closed triangle mesh.
    Mesh(Arc<MeshShape>),
    /// A user-defined shape.
    Custom(Arc<dyn CustomShape>),
}

pub(crate) fn positive(
    shape: &'static str,
    parameter: &'static str,
    value: f64,
) -> Result<(), GeometryError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(GeometryError::Size {
            shape,
            parameter,
            value,
        })
    }
}

impl Shape {
    /// The points z ≤ 0 of its frame: floors and walls.
    pub fn half_space() -> Self {
        Self::HalfSpace
    }

    /// A ball of the given radius, m, about the origin.
    ///
    /// # Errors
    /// [`GeometryError::Size`].
    pub fn sphere(radius: f64) -> Result<Self, GeometryError> {
        Ok(Self::Sphere(Sphere::new(radius)?))
    }

    /// A box with the given full edge lengths, m.
    ///
    /// # Errors
    /// [`GeometryError::Size`].
    pub fn cuboid(lengths: Vector3<f64>) -> Result<Self, GeometryError> {
        Ok(Self::Box(Cuboid::new(lengths)?))
    }

    /// A cylinder of `radius` and full `length` along z, m, centred at the origin.
    ///
    /// # Errors
    /// [`GeometryError::Size`].
    pub fn cylinder(radius: f64, length: f64) -> Result<Self, GeometryError> {
        Ok(Self::Cylinder(Cylinder::new(radius, length)?))
    }

    /// A cylinder along z with the given semi-axes along x and y, m.
    ///
    /// # Errors
    /// [`GeometryError::Size`].
    pub fn elliptic_cylinder(semi_axes: Vector2<f64>, length: f64) -> Result<Self, GeometryError> {
        Ok(Self::EllipticCylinder(EllipticCylinder::new(
            semi_axes, length,
        )?))
    }

    /// A capsule along z; `length` (m) is that of its segment, without the hemispherical ends.
    ///
    /// # Errors
    /// [`GeometryError::Size`].
    pub fn capsule(radius: f64, length: f64) -> Result<Self, GeometryError> {
        Ok(Self::Capsule(Capsule::new(radius, length)?))
    }

    /// An ellipsoid with the given semi-axes, m.
    ///
    /// # Errors
    /// [`GeometryError::Size`].
    pub fn ellipsoid(semi_axes: Vector3<f64>) -> Result<Self, GeometryError> {
        Ok(Self::Ellipsoid(Ellipsoid::new(semi_axes)?))
    }

    /// A cone along z, m: its base of `radius` at z = −`height`/2, its apex at z = +`height`/2.
    ///
    /// # Errors
    /// [`GeometryError::Size`].
    pub fn cone(radius: f64, height: f64) -> Result<Self, GeometryError> {
        Ok(Self::Cone(Cone::new(radius, height)?))
    }

    /// The convex hull of at least four points that are not coplanar, m.
    ///
    /// # Errors
    /// [`GeometryError::Vertex`] or [`GeometryError::FlatHull`].
    pub fn convex_hull(points: &[Point3<f64>]) -> Result<Self, GeometryError> {
        Ok(Self::ConvexHull(Arc::new(ConvexHull::new(points)?)))
    }

    /// The solid enclosed by a closed surface, with triangles counter-clockwise seen from outside. `vertices` in m.
    ///
    /// # Errors
    /// [`GeometryError::Vertex`], [`GeometryError::VertexIndex`], [`GeometryError::OpenMesh`] or [`GeometryError::Volume`].
    pub fn mesh(vertices: &[Point3<f64>], triangles: &[[u32; 3]]) -> Result<Self, GeometryError> {
        Ok(Self::Mesh(Arc::new(MeshShape::new(vertices, triangles)?)))
    }

    /// A user-defined shape; [`CustomShape`] says what it needs.
    pub fn custom(shape: impl CustomShape) -> Self {
        Self::Custom(Arc::new(shape))
    }

    /// Name of the shape in messages and files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::HalfSpace => "half space",
            Self::Sphere(_) => "sphere",
            Self::Box(_) => "box",
            Self::Cylinder(_) => "cylinder",
            Self::EllipticCylinder(_) => "elliptic cylinder",
            Self::Capsule(_) => "capsule",
            Self::Ellipsoid(_) => "ellipsoid",
            Self::Cone(_) => "cone",
            Self::ConvexHull(_) => "convex hull",
            Self::Mesh(_) => "mesh",
            Self::Custom(s) => s.name(),
        }
    }

    /// Whether the shape is known to be convex: all but meshes and user-defined shapes, whose convexity is not tested.
    pub fn is_convex(&self) -> bool {
        !matches!(self, Self::Mesh(_) | Self::Custom(_))
    }

    /// Mass, centroid and inertia at a constant density (kg/m³).
    ///
    /// # Errors
    /// [`GeometryError::Density`], or [`GeometryError::Unbounded`] for a half space.
    ///
    /// ```
    /// # use pliant_hydroelastic::Shape;
    /// let cube = Shape::cuboid([0.1, 0.1, 0.1].into())?.mass_properties(1000.0)?;
    /// assert!((cube.mass - 1.0).abs() < 1e-12);
    /// # Ok::<(), pliant_hydroelastic::GeometryError>(())
    /// ```
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, GeometryError> {
        if !density.is_finite() || density <= 0.0 {
            return Err(GeometryError::Density { value: density });
        }
        Ok(match self {
            Self::HalfSpace => return Err(GeometryError::Unbounded { shape: self.name() }),
            Self::Sphere(s) => s.mass_properties(density),
            Self::Box(s) => s.mass_properties(density),
            Self::Cylinder(s) => s.mass_properties(density),
            Self::EllipticCylinder(s) => s.mass_properties(density),
            Self::Capsule(s) => s.mass_properties(density),
            Self::Ellipsoid(s) => s.mass_properties(density),
            Self::Cone(s) => s.mass_properties(density),
            Self::ConvexHull(s) => s.mass_properties(density),
            Self::Mesh(s) => s.mass_properties(density),
            Self::Custom(s) => return s.mass_properties(density),
        })
    }

    /// The smallest axis-aligned box in the shape's own frame; [`Aabb::ALL`] for a half space.
    pub fn local_aabb(&self) -> Aabb {
        let centred = |x, y, z| Aabb::from_half_extents(Point3::origin(), Vector3::new(x, y, z));
        match self {
            Self::HalfSpace => Aabb::ALL,
            Self::Sphere(s) => centred(s.radius(), s.radius(), s.radius()),
            Self::Box(s) => Aabb::from_half_extents(Point3::origin(), s.half_extents()),
            Self::Cylinder(s) => centred(s.radius(), s.radius(), s.half_length()),
            Self::EllipticCylinder(s) => centred(s.semi_axes().x, s.semi_axes().y, s.half_length()),
            Self::Capsule(s) => centred(s.radius(), s.radius(), s.half_length() + s.radius()),
            Self::Ellipsoid(s) => Aabb::from_half_extents(Point3::origin(), s.semi_axes()),
            Self::Cone(s) => centred(s.radius(), s.radius(), s.half_height()),
            Self::ConvexHull(s) => s.local_aabb(),
            Self::Mesh(s) => s.local_aabb(),
            Self::Custom(s) => s.local_aabb(),
        }
    }

    /// A bounding box of the posed shape: tight for sphere, capsule, box, both cylinders and ellipsoid, otherwise the
    /// box around the rotated local box. `X_WG`: pose of the geometry frame.
    pub fn aabb(&self, X_WG: &Isometry3<f64>) -> Aabb {
        let center = Point3::from(X_WG.translation.vector);
        let rotation = X_WG.rotation.to_rotation_matrix();
        match self {
            Self::Sphere(s) => Aabb::from_half_extents(center, Vector3::repeat(s.radius())),
            Self::Capsule(s) => {
                let axis = rotation.matrix().column(2).abs() * s.half_length();
                Aabb::from_half_extents(center, axis.add_scalar(s.radius()))
            }
            Self::Cylinder(s) => {
                let axis: Vector3<f64> = rotation.matrix().column(2).into();
                let disc = axis.map(|c| (1.0 - c * c).max(0.0).sqrt() * s.radius());
                Aabb::from_half_extents(center, axis.abs() * s.half_length() + disc)
            }
            Self::EllipticCylinder(s) => {
                let semi_axes = Vector3::new(s.semi_axes().x, s.semi_axes().y, 0.0);
                let disc = rotation.matrix() * nalgebra::Matrix3::from_diagonal(&semi_axes);
                let axis = rotation.matrix().column(2).abs() * s.half_length();
                let half = Vector3::from_fn(|i, _| axis[i] + disc.row(i).norm());
                Aabb::from_half_extents(center, half)
            }
            Self::Ellipsoid(s) => {
                let scaled = rotation.matrix() * nalgebra::Matrix3::from_diagonal(&s.semi_axes());
                let half = Vector3::from_fn(|i, _| scaled.row(i).norm());
                Aabb::from_half_extents(center, half)
            }
            _ => self.local_aabb().transformed(X_WG),
        }
    }

    /// Radius of a sphere about the frame's origin that contains the shape, m; infinite for a half space. Bounds the
    /// speed of the shape's points due to rotation.
    pub fn radius_about_origin(&self) -> f64 {
        match self {
            Self::HalfSpace => f64::INFINITY,
            Self::Sphere(s) => s.radius(),
            Self::Box(s) => s.half_extents().norm(),
            Self::Cylinder(s) => s.radius().hypot(s.half_length()),
            Self::EllipticCylinder(s) => s.semi_axes().max().hypot(s.half_length()),
            Self::Capsule(s) => s.radius() + s.half_length(),
            Self::Ellipsoid(s) => s.semi_axes().max(),
            Self::Cone(s) => s.radius().hypot(s.half_height()),
            Self::ConvexHull(s) => s.radius_about_origin(),
            Self::Mesh(s) => s.radius_about_origin(),
            Self::Custom(s) => s
                .local_aabb()
                .min
                .coords
                .abs()
                .sup(&s.local_aabb().max.coords.abs())
                .norm(),
        }
    }

    /// Characteristic size: half the diagonal of its box, m; zero for a half space and other unbounded shapes, so that
    /// the partner's size is used.
    pub fn size(&self) -> f64 {
        match self {
            Self::HalfSpace => 0.0,
            Self::Custom(s) if !s.local_aabb().is_bounded() => 0.0,
            Self::Sphere(s) => s.radius(),
            _ => self.local_aabb().half_extents().norm(),
        }
    }
}

#[cfg(test)]
mod tests;
