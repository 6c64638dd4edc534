//! Closed forms for half space, sphere, box and capsule.

use nalgebra::{Matrix3, Point3, RealField, Vector3};

use super::SignedDistance;

/// φ of the half space z ≤ 0: φ = z, ∇φ = +z, ∇²φ = 0. Coordinates in m.
pub fn half_space<T: RealField + Copy>(p: &Point3<T>) -> SignedDistance<T> {
    SignedDistance::flat(p.z, Vector3::z())
}

/// φ of a sphere of `radius` (m) about the origin: φ = |p| − r, ∇φ = n = p/|p|, ∇²φ = (I − nnᵀ)/|p|. At the centre the
/// gradient is +z and the Hessian zero.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::signed_distance::sphere;
///
/// assert_eq!(sphere(&Point3::new(3.0, 0.0, 4.0), 2.0).value, 3.0);
/// assert_eq!(sphere(&Point3::new(0.0_f32, 0.0, 0.0), 2.0).value, -2.0); // in either precision
/// ```
pub fn sphere<T: RealField + Copy>(p: &Point3<T>, radius: T) -> SignedDistance<T> {
    from_point(&p.coords).inflated(radius)
}

/// Distance to the origin from `d`.
fn from_point<T: RealField + Copy>(d: &Vector3<T>) -> SignedDistance<T> {
    let distance = d.norm();
    if distance <= T::zero() {
        return SignedDistance::flat(distance, Vector3::z());
    }
    let g = d / distance;
    SignedDistance {
        value: distance,
        gradient: g,
        hessian: (Matrix3::identity() - g * g.transpose()) / distance,
    }
}

/// φ of a capsule along z: distance to the segment |z| ≤ `half_length` (m), minus `radius` (m). ∇φ points away from the nearest point of
/// the segment, ∇²φ is that of a cylinder beside it and of a sphere beyond its ends. On the segment the gradient is +x.
pub fn capsule<T: RealField + Copy>(p: &Point3<T>, radius: T, half_length: T) -> SignedDistance<T> {
    if p.z.abs() > half_length {
        let end = if p.z > T::zero() {
            half_length
        } else {
            -half_length
        };
        return from_point(&Vector3::new(p.x, p.y, p.z - end)).inflated(radius);
    }
    let d = Vector3::new(p.x, p.y, T::zero());
    let distance = d.norm();
    if distance <= T::zero() {
        return SignedDistance::flat(-radius, Vector3::x());
    }
    let g = d / distance;
    let across = Vector3::new(-g.y, g.x, T::zero());
    SignedDistance {
        value: distance - radius,
        gradient: g,
        hessian: across * across.transpose() / distance,
    }
}

/// φ of a box about the origin with the given half edge lengths (m). Outside: distance to the nearest face, edge or corner. Inside: minus
/// the distance to the nearest face (the lowest axis of equally near ones, the positive side on a mid-plane).
pub fn cuboid<T: RealField + Copy>(p: &Point3<T>, half: &Vector3<T>) -> SignedDistance<T> {
    let sign = p
        .coords
        .map(|x| if x < T::zero() { -T::one() } else { T::one() });
    let beyond = p.coords.abs() - half;
    let outside = beyond.map(|x| x.max(T::zero()));
    let n_outside = outside.iter().filter(|x| **x > T::zero()).count();
    if n_outside <= 1 {
        let mut axis = 0;
        for i in 1..3 {
            if beyond[i] > beyond[axis] {
                axis = i;
            }
        }
        let mut gradient = Vector3::zeros();
        gradient[axis] = sign[axis];
        return SignedDistance::flat(beyond[axis], gradient);
    }
    let distance = outside.norm();
    let gradient = outside.component_mul(&sign) / distance;
    let curved =
        Matrix3::from_diagonal(&outside.map(|x| if x > T::zero() { T::one() } else { T::zero() }));
    SignedDistance {
        value: distance,
        gradient,
        hessian: (curved - gradient * gradient.transpose()) / distance,
    }
}
