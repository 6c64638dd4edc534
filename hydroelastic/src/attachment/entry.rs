//! Where an attachment begins.
//!
//! On the way in from Z⁰ outside to Z inside, φ vanishes near Z⁰ + (Z − Z⁰) φ⁰/(φ⁰ − φ); the nearest point of the surface there is the attachment.
//! It barely depends on how deep Z is, so the iterate that first finds a contact does not matter.

use nalgebra::{Point3, RealField};

use crate::signed_distance::SignedDistance;

/// The point of the surface nearest to `p`, by one projection.
pub fn closest_attachment<T: RealField + Copy>(
    distance: impl Fn(&Point3<T>) -> SignedDistance<T>,
    p: &Point3<T>,
) -> Point3<T> {
    let at = distance(p);
    p - at.gradient * at.value
}

/// The first attachment of a particle that moves from `start` to `end`, in the frame of the level set: where it enters, or the point of the
/// surface nearest to `start` if it is inside from the beginning.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Shape, entry_point};
///
/// let floor = Shape::half_space();
/// let (from, to) = (Point3::new(0.0, 0.0, 0.03), Point3::new(0.4, 0.0, -0.01));
/// let entry = entry_point(|p| floor.signed_distance(p), &from, &to);
/// assert!((entry - Point3::new(0.3, 0.0, 0.0)).norm() < 1e-15);
/// ```
pub fn entry_point<T: RealField + Copy>(
    distance: impl Fn(&Point3<T>) -> SignedDistance<T>,
    start: &Point3<T>,
    end: &Point3<T>,
) -> Point3<T> {
    let (before, after) = (distance(start).value, distance(end).value);
    if before <= T::zero() || after >= before {
        return closest_attachment(distance, start);
    }
    let crossing = start + (end - start) * (before / (before - after)).min(T::one());
    closest_attachment(distance, &crossing)
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector3;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::Shape;
    use crate::test_support::random_unit;

    #[test]
    fn the_entry_does_not_depend_on_the_depth_that_is_reached() {
        let ball = Shape::sphere(0.4).unwrap();
        let distance = |p: &Point3<f64>| ball.signed_distance(p);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..1000 {
            let start = Point3::from(random_unit(&mut rng) * 0.401);
            let along = random_unit(&mut rng);
            let inwards = -along.dot(&start.coords) / 0.401;
            if inwards < 0.3 {
                continue;
            }
            let depth = rng.random_range(0.002..0.02);
            let reached = |depth: f64| start + along * (depth / inwards);
            let near = entry_point(distance, &start, &reached(0.0015));
            let far = entry_point(distance, &start, &reached(depth));
            assert!(distance(&far).value.abs() < 1e-5);
            // To a quarter of the way to the crossing, 3 mm, for the longest chords.
            assert!((near - far).norm() < 1e-3, "{near} {far}");
        }
    }

    #[test]
    fn a_particle_that_starts_inside_is_attached_above_its_start() {
        let ball = Shape::sphere(0.4).unwrap();
        let (start, end) = (Point3::new(0.0, 0.0, 0.39), Point3::new(0.05, 0.0, 0.38));
        let entry = entry_point(|p| ball.signed_distance(p), &start, &end);
        assert!((entry.coords - Vector3::new(0.0, 0.0, 0.4)).norm() < 1e-15);
    }
}
