//! Distance to an ellipsoid: one scalar equation, solved to round-off by a monotone Newton iteration.

use nalgebra::{Matrix3, Point3, RealField, SVector, Vector3};

use super::SignedDistance;

/// The point of an ellipsoid (N = 3) or ellipse (N = 2) with semi-axes a that is nearest to p.
///
/// The nearest point q has p − q along the normal q/a², so q_i = a_i² p_i/(t + a_i²) with the largest root t of
///
/// ```text
/// F(t) = Σ (a_i p_i/(t + a_i²))² − 1 = 0,      t > −a_min²
/// ```
///
/// F is decreasing and convex there, so Newton's method started where F ≥ 0 increases monotonically to the root.
///
/// If p is so near the plane of the longer axes that no such root exists, the nearest point is not unique; the one with
/// q_min > 0 is returned (medial axis).
///
/// # Source
/// Eberly, "Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid" (2013), with Newton for bisection.
pub(super) fn nearest<T: RealField + Copy, const N: usize>(
    p: &SVector<T, N>,
    semi_axes: &SVector<T, N>,
) -> SVector<T, N> {
    let a2 = semi_axes.component_mul(semi_axes);
    let shortest = semi_axes.imin();
    // s = t + a_min² > 0 stays accurate where t itself would cancel against −a_min².
    let gap = a2.map(|x| x - a2[shortest]);
    let weighted = semi_axes.component_mul(p).abs();
    // Each single term reaches one at s = a_i|p_i| − gap_i: the root is not below the largest of these.
    let mut s = T::zero();
    for i in 0..N {
        s = s.max(weighted[i] - gap[i]);
    }
    let residual = |s: T| {
        let (mut f, mut slope) = (-T::one(), T::zero());
        for i in 0..N {
            if weighted[i] > T::zero() {
                let x = weighted[i] / (s + gap[i]);
                f += x * x;
                slope -= (x * x) / (s + gap[i]);
            }
        }
        (f, slope + slope)
    };
    // Away from the pole Newton converges quadratically; near it 1/s² gains half of s per round: 200 rounds cover every
    // scale.
    for _ in 0..200 {
        let (f, slope) = residual(s);
        if !(f > T::zero() && slope < T::zero()) {
            break;
        }
        let next = s - f / slope;
        if next <= s {
            break;
        }
        s = next;
    }
    let mut q = SVector::zeros();
    let mut rest = T::one();
    for i in 0..N {
        let denominator = s + gap[i];
        if denominator > T::zero() {
            q[i] = a2[i] * (p[i] / denominator);
            let x = q[i] / semi_axes[i];
            if i != shortest {
                rest -= x * x;
            }
        }
    }
    if s <= T::zero() {
        // Medial: on the plane of the longer axes, near the centre. Both mirrored points are nearest; the upper one is
        // used.
        q[shortest] = semi_axes[shortest] * rest.max(T::zero()).sqrt();
    }
    q
}

/// φ of an ellipsoid about the origin with semi-axes a (m) along x, y, z: the distance to its nearest point, negative inside. The Hessian
/// is S(1 + φS)⁻¹ with S the shape operator of the surface there.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_hydroelastic::signed_distance::ellipsoid;
///
/// // From the centre, the ends of the shortest axis are nearest.
/// let semi_axes = Vector3::new(3.0_f64, 2.0, 1.0);
/// assert!((ellipsoid(&Point3::origin(), &semi_axes).value + 1.0).abs() < 1e-12);
/// assert!((ellipsoid(&Point3::new(5.0, 0.0, 0.0), &semi_axes).value - 2.0).abs() < 1e-12);
/// ```
pub fn ellipsoid<T: RealField + Copy>(p: &Point3<T>, semi_axes: &Vector3<T>) -> SignedDistance<T> {
    let a2 = semi_axes.component_mul(semi_axes);
    let q = nearest(&p.coords, semi_axes);
    let scaled_normal = q.component_div(&a2);
    let norm = scaled_normal.norm();
    let gradient = scaled_normal / norm;
    let inside = p.coords.component_div(semi_axes).norm_squared() < T::one();
    let distance = (p.coords - q).norm();
    let value = if inside { -distance } else { distance };
    SignedDistance {
        value,
        gradient,
        hessian: hessian(&a2, &gradient, norm, value),
    }
}

/// S(1 + φS)⁻¹ on the tangent plane, S = P diag(1/a²) P/|q/a²|.
fn hessian<T: RealField + Copy>(
    a2: &Vector3<T>,
    normal: &Vector3<T>,
    norm: T,
    value: T,
) -> Matrix3<T> {
    let projector = Matrix3::identity() - normal * normal.transpose();
    let curvature = Matrix3::from_diagonal(&a2.map(|x| T::one() / (x * norm)));
    let shape = projector * curvature * projector;
    match (Matrix3::identity() + shape * value).try_inverse() {
        Some(inverse) => {
            let h = shape * inverse;
            let half = T::one() / (T::one() + T::one());
            (h + h.transpose()) * half
        }
        None => Matrix3::zeros(),
    }
}
