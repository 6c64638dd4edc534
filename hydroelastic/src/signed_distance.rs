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
//! [`Shape::signed_distance`](crate::Shape::signed_distance) selects among them.

mod axisymmetric;
mod ellipsoid;
mod elliptic_cylinder;
mod primitives;

use nalgebra::{Matrix3, RealField, Vector3};

pub use axisymmetric::{cone, cylinder};
pub use ellipsoid::ellipsoid;
pub use elliptic_cylinder::elliptic_cylinder;
pub use primitives::{capsule, cuboid, half_space, sphere};

/// φ at a point, with its first and second derivative in the frame of the query.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_hydroelastic::Shape;
///
/// // 0.2 m from the centre of a ball of 0.1 m: the level set there is a sphere of curvature 1/0.2 m.
/// let phi = Shape::sphere(0.1)?.signed_distance(&Point3::new(0.0, 0.0, 0.2));
/// assert!((phi.value - 0.1).abs() < 1e-15);
/// assert_eq!(phi.gradient, Vector3::z());
/// assert!((phi.hessian - nalgebra::Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 0.0))).norm() < 1e-12);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
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
