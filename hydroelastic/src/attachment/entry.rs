//! Where an attachment begins.
//!
//! The attachment of a particle that comes from outside is where φ first vanishes on its way. That does not depend on how deep the particle is, so the
//! iterate that finds a contact does not matter, and a particle that has passed through a thin shape within one step is found.
//!
//! The first zero is approached from the start, without passing it: by Newton's method where the shape and with it φ is convex, otherwise by steps of
//! the length φ.

use nalgebra::{Point3, RealField};

use crate::signed_distance::SignedDistance;

/// The point p − φ∇φ of the surface nearest to `p`, by one projection: exact for a signed distance, otherwise an approximation. Coordinates
/// in m, in the frame of the level set.
pub fn closest_attachment<T: RealField + Copy>(
    distance: impl Fn(&Point3<T>) -> SignedDistance<T>,
    p: &Point3<T>,
) -> Point3<T> {
    let at = distance(p);
    p - at.gradient * at.value
}

/// What is known of a level set on the way through it. It decides the steps of [`entry_point`].
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_hydroelastic::{Convexity, Shape, entry_point};
///
/// // Two balls of 0.1 m at x = ±0.3 m. The way begins above the first, leaves it and enters the second.
/// let ball = Shape::sphere(0.1)?;
/// let two_balls = |p: &Point3<f64>| {
///     let [left, right] = [0.3, -0.3].map(|x| ball.signed_distance(&(p + Vector3::new(x, 0.0, 0.0))));
///     if left.value < right.value { left } else { right }
/// };
/// let (from, to) = (Point3::new(-0.3, 0.0, 0.12), Point3::new(0.3, 0.0, 0.05));
/// let entry = entry_point(two_balls, Convexity::Unknown, &from, &to).expect("it ends in the second ball");
/// assert!(two_balls(&entry).value.abs() < 1e-8 && (0.2..0.3).contains(&entry.x));
/// // A convex φ that begins to grow never falls to zero, so this setting gives the search up behind the first ball.
/// let given_up = entry_point(two_balls, Convexity::Convex, &from, &to).expect("the end is inside");
/// assert!(given_up.x < -0.29, "the surface point nearest to the start");
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convexity {
    /// φ is convex: that of a convex shape.
    Convex,
    /// φ changes by at most the length of the way.
    Unknown,
}

/// Relative to the way, the distance at which it has met the surface.
const MET: f64 = 1e-9;
/// A way along a surface that needs more steps does not meet it.
const STEPS_MAX: usize = 1000;

/// The first attachment of a particle that moves from `start` to `end`, in the frame of the level set: where it enters, or the point of the
/// surface nearest to `start` if it is inside from the beginning; `None` if it stays outside.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Convexity, Shape, entry_point};
///
/// let floor = Shape::half_space();
/// let (from, to) = (Point3::new(0.0, 0.0, 0.03), Point3::new(0.4, 0.0, -0.01));
/// let entry = entry_point(|p| floor.signed_distance(p), Convexity::Convex, &from, &to).unwrap();
/// assert!((entry - Point3::new(0.3, 0.0, 0.0)).norm() < 1e-9);
/// ```
pub fn entry_point(
    distance: impl Fn(&Point3<f64>) -> SignedDistance<f64>,
    convexity: Convexity,
    start: &Point3<f64>,
    end: &Point3<f64>,
) -> Option<Point3<f64>> {
    match first_crossing(&distance, convexity, start, end) {
        Some(part) => Some(closest_attachment(
            distance,
            &(start + (end - start) * part),
        )),
        None if distance(end).value < 0.0 => Some(closest_attachment(distance, start)),
        None => None,
    }
}

/// The part of the way from `start`, outside, to `end` at which it meets the surface; `None` if it does not.
fn first_crossing(
    distance: impl Fn(&Point3<f64>) -> SignedDistance<f64>,
    convexity: Convexity,
    start: &Point3<f64>,
    end: &Point3<f64>,
) -> Option<f64> {
    let way = end - start;
    let length = way.norm();
    let (before, after) = (distance(start).value, distance(end).value);
    if before <= 0.0 || (after > 0.0 && before + after > length) {
        return None;
    }
    first_zero(distance, convexity, [start, end], MET * length)
}

/// The part of the way from `start` to `end` at which φ has fallen to `met`, m: 0 for a start that is as deep; `None` if it stays above.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Convexity, Shape, first_zero};
///
/// let ball = Shape::sphere(0.1)?;
/// let way = [Point3::new(-0.3, 0.0, 0.0), Point3::new(0.1, 0.0, 0.0)];
/// let part = first_zero(|p| ball.signed_distance(p), Convexity::Convex, [&way[0], &way[1]], 1e-12);
/// assert!((part.expect("it enters") - 0.5).abs() < 1e-11);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
pub fn first_zero(
    distance: impl Fn(&Point3<f64>) -> SignedDistance<f64>,
    convexity: Convexity,
    [start, end]: [&Point3<f64>; 2],
    met: f64,
) -> Option<f64> {
    let way = end - start;
    let mut part = 0.0;
    for _ in 0..STEPS_MAX {
        let at = distance(&(start + way * part));
        if at.value <= met {
            return Some(part);
        }
        let closing = match convexity {
            Convexity::Convex => -at.gradient.dot(&way),
            Convexity::Unknown => way.norm(),
        };
        part += at.value / closing;
        if closing <= 0.0 || part > 1.0 {
            return None;
        }
    }
    None
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
            let enter = |depth| entry_point(distance, Convexity::Convex, &start, &reached(depth));
            let near = enter(0.0015).expect("a way in");
            let far = enter(depth).expect("a way in");
            assert!(distance(&far).value.abs() < 1e-5);
            assert!((near - far).norm() < 1e-9, "{near} {far}");
        }
    }

    #[test]
    fn a_particle_that_starts_inside_is_attached_above_its_start() {
        let ball = Shape::sphere(0.4).unwrap();
        let (start, end) = (Point3::new(0.0, 0.0, 0.39), Point3::new(0.05, 0.0, 0.38));
        let distance = |p: &Point3<f64>| ball.signed_distance(p);
        let entry = entry_point(distance, Convexity::Convex, &start, &end).expect("inside");
        assert!((entry.coords - Vector3::new(0.0, 0.0, 0.4)).norm() < 1e-15);
    }

    #[test]
    fn a_way_through_a_thin_shape_is_found_and_one_beside_it_is_not() {
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let plate = Shape::cuboid(Vector3::new(1.0, 1.0, 1e-3)).unwrap();
        let distance = |p: &Point3<f64>| plate.signed_distance(p);
        for _ in 0..2000 {
            let mut across = |size: f64| rng.random_range(-size..size);
            let start = Point3::new(across(0.8), across(0.8), 0.11 + across(0.1));
            let end = Point3::new(across(0.8), across(0.8), -0.1 + across(0.09));
            let part = (start.z - 5e-4) / (start.z - end.z);
            let at = start + (end - start) * part;
            let through = at.x.abs().max(at.y.abs()) < 0.5;
            let beside = {
                let part = (start.z + 5e-4) / (start.z - end.z);
                let at = start + (end - start) * part;
                at.x.abs().max(at.y.abs()) > 0.501
            };
            for convexity in [Convexity::Convex, Convexity::Unknown] {
                let found = first_crossing(distance, convexity, &start, &end);
                if through {
                    let off = found.expect("a crossing") - part;
                    assert!(off.abs() < 1e-6, "{off:e}");
                } else if beside {
                    assert_eq!(found, None);
                }
            }
        }
    }
}
