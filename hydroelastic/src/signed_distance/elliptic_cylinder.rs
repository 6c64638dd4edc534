//! Elliptic cylinder: φ of the ellipse in its plane, extruded along the axis.

use nalgebra::{Matrix3, Point3, RealField, Vector2, Vector3};

use super::SignedDistance;
use super::ellipsoid::nearest;

/// φ of a cylinder about the origin along z with half length h (m) and an elliptic section with semi-axes a (m) along x and y.
///
/// With φₑ the distance to the ellipse, n its normal and t its tangent at the nearest point, κ its curvature there:
///
/// ```text
/// beside      φ = φₑ                        ∇φ = n                    ∇²φ = κ/(1 + κφₑ) ttᵀ
/// beyond      φ = |z| − h                   ∇φ = ±z                   ∇²φ = 0
/// both        φ = √(φₑ² + (|z| − h)²)       ∇φ = (φₑ n ± (|z| − h) z)/φ
///             ∇²φ = (nnᵀ + zzᵀ − ∇φ∇φᵀ + φₑ κ/(1 + κφₑ) ttᵀ)/φ
/// ```
///
/// Where side and end are equally near inside, the side is used.
pub fn elliptic_cylinder<T: RealField + Copy>(
    p: &Point3<T>,
    semi_axes: &Vector2<T>,
    half_length: T,
) -> SignedDistance<T> {
    let sign = if p.z < T::zero() { -T::one() } else { T::one() };
    let up = p.z.abs() - half_length;
    let axial = Vector3::new(T::zero(), T::zero(), sign);
    let Ellipse {
        value: out,
        normal,
        bend,
    } = Ellipse::at(&p.coords.xy(), semi_axes);
    let across = Vector3::new(-normal.y, normal.x, T::zero());
    let around: Matrix3<T> = across * across.transpose();
    if out > T::zero() && up > T::zero() {
        let value = out.hypot(up);
        let gradient = (normal * out + axial * up) / value;
        let plane = normal * normal.transpose() + axial * axial.transpose();
        return SignedDistance {
            value,
            gradient,
            hessian: (plane - gradient * gradient.transpose() + around * (out * bend)) / value,
        };
    }
    if out < up {
        return SignedDistance::flat(up, axial);
    }
    SignedDistance {
        value: out,
        gradient: normal,
        hessian: around * bend,
    }
}

/// Distance to an ellipse in the plane.
struct Ellipse<T: RealField + Copy> {
    /// Negative inside.
    value: T,
    /// Its normal at the nearest point, in the plane z = 0.
    normal: Vector3<T>,
    /// κ/(1 + κφ): the second derivative of φ along the tangent; infinite terms are dropped.
    bend: T,
}

impl<T: RealField + Copy> Ellipse<T> {
    fn at(p: &Vector2<T>, semi_axes: &Vector2<T>) -> Self {
        let q = nearest(p, semi_axes);
        let scaled = q.component_div(&semi_axes.component_mul(semi_axes));
        let norm = scaled.norm();
        let inside = p.component_div(semi_axes).norm_squared() < T::one();
        let distance = (p - q).norm();
        let value = if inside { -distance } else { distance };
        // κ = 1/(a²b² |q/a²|³).
        let area = semi_axes.x * semi_axes.y * norm;
        let curvature = T::one() / (area * area * norm);
        let from_center = T::one() + curvature * value;
        let bend = if from_center > T::default_epsilon() {
            curvature / from_center
        } else {
            T::zero()
        };
        Self {
            value,
            normal: Vector3::new(scaled.x / norm, scaled.y / norm, T::zero()),
            bend,
        }
    }
}
