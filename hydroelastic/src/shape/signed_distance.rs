//! Signed distance of each shape: see [`signed_distance`](crate::signed_distance).

use nalgebra::{Isometry3, Point3};

use super::Shape;
use super::polyhedral_distance::{hull_nearest, mesh_nearest};
use crate::signed_distance::{
    SignedDistance, capsule, cone, cuboid, cylinder, ellipsoid, elliptic_cylinder, half_space,
    sphere,
};

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
