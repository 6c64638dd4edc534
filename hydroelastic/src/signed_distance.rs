//! Signed distance φ from a point to a shape, negative inside, with its gradient and Hessian.
//!
//! ```text
//! φ(p) = ± min |p − q| over the surface      ∇φ: outward unit vector      ∇²φ: curvature, 1/m
//! ```
//!
//! On the medial axis (the centre of a sphere, the mid-plane of a plate) the nearest point is not unique and φ has a
//! kink. There the gradient is one of the valid outward directions, chosen deterministically (the lowest axis for
//! boxes, +z for a sphere's centre, the x direction on a cylinder's axis), and the infinite terms of the Hessian are
//! dropped. Outside a convex shape φ is smooth apart from the Hessian's jumps at edges and corners.
//!
//! The formulas of the primitives are generic over the scalar type, so that the same source serves `f64` and `f32`.
//! Hulls and meshes are `f64` only.

mod axisymmetric;
mod ellipsoid;
mod elliptic_cylinder;
mod polyhedral;
mod primitives;

use nalgebra::{Isometry3, Matrix3, Point3, RealField, Vector3};

pub use axisymmetric::{cone, cylinder};
pub use ellipsoid::ellipsoid;
pub use elliptic_cylinder::elliptic_cylinder;
pub(crate) use polyhedral::{hull_nearest, mesh_nearest};
pub use primitives::{capsule, cuboid, half_space, sphere};

use crate::Shape;

/// φ at a point, with its first and second derivative in the frame of the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedDistance<T: RealField + Copy> {
    /// φ, m; negative inside.
    pub value: T,
    /// ∇φ, a unit vector that points outwards.
    pub gradient: Vector3<T>,
    /// ∇²φ, 1/m; symmetric, and the gradient is in its kernel.
    pub hessian: Matrix3<T>,
}

impl<T: RealField + Copy> SignedDistance<T> {
    /// Distance to a flat piece of surface.
    pub(crate) fn flat(value: T, gradient: Vector3<T>) -> Self {
        Self {
            value,
            gradient,
            hessian: Matrix3::zeros(),
        }
    }

    /// Distance to a shape inflated by `radius`.
    pub(crate) fn inflated(mut self, radius: T) -> Self {
        self.value -= radius;
        self
    }
}

impl SignedDistance<f64> {
    /// Distance to a point (`along` zero) or to a line of direction `along`, from offset `d`; `sign` is −1 for a query
    /// inside, where φ is minus the distance. `fallback` is the gradient at zero offset.
    pub(crate) fn curved(
        d: Vector3<f64>,
        along: Option<Vector3<f64>>,
        sign: f64,
        fallback: Vector3<f64>,
    ) -> Self {
        let distance = d.norm();
        if distance <= f64::MIN_POSITIVE {
            return Self::flat(0.0, fallback);
        }
        let g = d / distance;
        let mut hessian = Matrix3::identity() - g * g.transpose();
        if let Some(t) = along {
            hessian -= t * t.transpose();
        }
        Self {
            value: sign * distance,
            gradient: g * sign,
            hessian: hessian * (sign / distance),
        }
    }
}

impl Shape {
    /// φ, ∇φ and ∇²φ at `p_GQ`, a point in the shape's own frame (m).
    ///
    /// Closed form for half space, sphere, box, capsule, cylinder and cone; safeguarded Newton iteration to round-off
    /// for the ellipsoid and the elliptic cylinder; nearest feature for hulls (linear in the number of faces) and
    /// meshes (logarithmic in the number of triangles).
    ///
    /// ```
    /// # use pliant_hydroelastic::Shape;
    /// let ball = Shape::sphere(0.5)?;
    /// let phi = ball.signed_distance(&[0.0, 2.0, 0.0].into());
    /// assert_eq!(phi.value, 1.5);
    /// assert_eq!(phi.gradient.y, 1.0);
    /// # Ok::<(), pliant_hydroelastic::GeometryError>(())
    /// ```
    pub fn signed_distance(&self, p_GQ: &Point3<f64>) -> SignedDistance<f64> {
        match self {
            Self::HalfSpace => half_space(p_GQ),
            Self::Sphere(s) => sphere(p_GQ, s.radius()),
            Self::Box(s) => cuboid(p_GQ, &s.half_extents()),
            Self::Cylinder(s) => cylinder(p_GQ, s.radius(), s.half_length()),
            Self::EllipticCylinder(s) => elliptic_cylinder(p_GQ, &s.semi_axes(), s.half_length()),
            Self::Capsule(s) => capsule(p_GQ, s.radius(), s.half_length()),
            Self::Ellipsoid(s) => ellipsoid(p_GQ, &s.semi_axes()),
            Self::Cone(s) => cone(p_GQ, s.radius(), s.half_height()),
            Self::ConvexHull(s) => hull_nearest(s, p_GQ).0,
            Self::Mesh(s) => mesh_nearest(s, p_GQ).0,
            Self::Custom(s) => s.signed_distance(p_GQ),
        }
    }

    /// φ, ∇φ and ∇²φ at a point `p_WQ` of the world (m), for the shape at pose `X_WG`; derivatives in world axes.
    pub fn signed_distance_in_world(
        &self,
        X_WG: &Isometry3<f64>,
        p_WQ: &Point3<f64>,
    ) -> SignedDistance<f64> {
        let local = self.signed_distance(&X_WG.inverse_transform_point(p_WQ));
        let rotation = X_WG.rotation.to_rotation_matrix();
        SignedDistance {
            value: local.value,
            gradient: rotation * local.gradient,
            hessian: rotation.matrix() * local.hessian * rotation.matrix().transpose(),
        }
    }
}

#[cfg(test)]
mod tests;
