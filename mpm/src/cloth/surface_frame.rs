//! QR decomposition of F = [d₁ d₂ d₃] for a surface: the first two axes in the surface, the third its normal.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};
use pliant_constitutive::Real;

/// F = QR with a rotation Q = [q₁ q₂ q₃] and an upper triangular R with r₁₁, r₂₂ ≥ 0.
///
/// q₃ is the current normal d₁ × d₂/J, J = |d₁ × d₂| the ratio of current to rest area. r₃₃ = q₃·d₃ has either sign. Q depends
/// on d₁ and d₂ only, unless the triangle has collapsed to a line or a point. Then F has no unique Q: q₃ is the direction
/// nearest to d₃ across the line, so that Q still turns with the cloth, and J = r₂₂ = 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SurfaceFrame<T> {
    pub(crate) q: Matrix3<T>,
    /// R₂ = [r₁₁ r₁₂; 0 r₂₂].
    pub(crate) in_plane: Matrix2<T>,
    /// (r₁₃, r₂₃).
    pub(crate) shear: Vector2<T>,
    /// r₃₃.
    pub(crate) normal: T,
    /// J; zero where the triangle has no normal.
    pub(crate) area_ratio: T,
}

impl<T: Real> SurfaceFrame<T> {
    #[inline(always)]
    pub(crate) fn of(F: &Matrix3<T>) -> Self {
        let [d1, d2, d3] = [0, 1, 2].map(|k| F.column(k).into_owned());
        let cross = d1.cross(&d2);
        let (squares, square) = (d1.norm_squared() * d2.norm_squared(), cross.norm_squared());
        // The sine of the angle between d₁ and d₂, against the rounding of the cross product.
        let rounding = T::of(16.0) * T::default_epsilon();
        if !(square > rounding * rounding * squares) {
            return Self::collapsed(&d1, &d2, &d3);
        }
        let (r11, area_ratio) = (d1.norm(), square.sqrt());
        let (inverse, inverse_area) = (T::one() / r11, T::one() / area_ratio);
        let (q1, q3) = (d1 * inverse, cross * inverse_area);
        let q2 = q3.cross(&q1);
        Self {
            q: Matrix3::from_columns(&[q1, q2, q3]),
            in_plane: Matrix2::new(r11, q1.dot(&d2), T::zero(), area_ratio * inverse),
            shear: Vector2::new(q1.dot(&d3), q2.dot(&d3)),
            normal: q3.dot(&d3),
            area_ratio,
        }
    }

    /// d₃ = r₁₃ q₁ + r₂₃ q₂ + r₃₃ q₃.
    #[inline(always)]
    pub(crate) fn third_column(&self) -> Vector3<T> {
        self.q * Vector3::new(self.shear.x, self.shear.y, self.normal)
    }

    #[cold]
    fn collapsed(d1: &Vector3<T>, d2: &Vector3<T>, d3: &Vector3<T>) -> Self {
        let (l1, l2) = (d1.norm(), d2.norm());
        // d₁ = r₁₁ q₁ fixes q₁ if d₁ is not zero, otherwise d₂ = r₂₂ q₂ fixes q₂.
        let (q, in_plane) = if l1 > T::zero() {
            let q1 = d1 / l1;
            let q3 = across(&q1, d3);
            let q = [q1, q3.cross(&q1), q3];
            (q, Matrix2::new(l1, q1.dot(d2), T::zero(), T::zero()))
        } else {
            // l₁ is zero, or NaN and stays so.
            let q2 = across(&Vector3::zeros(), d2);
            let q3 = across(&q2, d3);
            let q = [q2.cross(&q3), q2, q3];
            (q, Matrix2::new(l1, T::zero(), T::zero(), l2))
        };
        Self {
            q: Matrix3::from_columns(&q),
            in_plane,
            shear: Vector2::new(q[0].dot(d3), q[1].dot(d3)),
            normal: q[2].dot(d3),
            area_ratio: T::zero(),
        }
    }
}

/// The unit vector across `axis` (a unit vector or zero) that is nearest to `d`; any one across if `d` does not tell.
fn across<T: Real>(axis: &Vector3<T>, d: &Vector3<T>) -> Vector3<T> {
    let part = |v: &Vector3<T>| v - axis * axis.dot(v);
    let tiny = T::of(16.0) * T::default_epsilon();
    let length = d.norm();
    if length > T::zero() {
        let direction = part(&(d / length));
        if direction.norm() > tiny {
            return direction.normalize();
        }
    }
    part(&Vector3::ith(axis.iamin(), T::one())).normalize()
}
