//! Particles on edges that lie across the boundary of a shape, as those of a brick over the edge of a table.
//!
//! Corners and sampled points of neither body may be inside the other where their faces overlap in a part. The edges of each, as far as they are inside the other,
//! bound the overlap: two particles on every such part, at the points of Gauss's rule with two points, carry what a linear pressure along it would. An edge
//! that is inside as a whole needs none, for its ends are particles; nor does one that only dips through a face with its end, as those above the corner of a box.

use nalgebra::Point3;
use pliant_hydroelastic::{Convexity, SignedDistance, first_zero};

/// Of the part inside.
const PLACES: [f64; 2] = [0.211_324_865_405_187_1, 0.788_675_134_594_812_9];
/// Less deep than this part of an edge, its particles may be on a face that is flush.
const FLUSH: f64 = 1e-10;
/// Cosine of the angle between normals of one face.
const SAME_FACE: f64 = 0.5;
/// Of its length, the distance at which an edge has met the boundary: well below [`FLUSH`].
const MET: f64 = 1e-13;

/// Where the particles of an edge are on it, for a convex φ; `None` if it is outside, inside as a whole, flush, or dips in at an end.
pub(super) fn particles_of(
    distance: impl Fn(&Point3<f64>) -> SignedDistance<f64>,
    [a, b]: &[Point3<f64>; 2],
) -> Option<[f64; 2]> {
    let length = (b - a).norm();
    let at = |part: f64| a + (b - a) * part;
    let entry = |way| first_zero(&distance, Convexity::Convex, way, MET * length);
    let first = entry([a, b])?;
    let last = 1.0 - entry([b, a])?;
    let exit = match (first == 0.0, last == 1.0) {
        (true, true) => return None,
        (true, false) => Some(last),
        (false, true) => Some(first),
        (false, false) => None,
    };
    let normal = |part: f64| distance(&at(part)).gradient;
    let dips = |exit: f64| normal(exit).dot(&normal(0.5 * (first + last))) > SAME_FACE;
    if exit.is_some_and(dips) {
        return None;
    }
    let parts = PLACES.map(|place| first + (last - first) * place);
    let is_inside = |part: &f64| distance(&at(*part)).value < -FLUSH * length;
    (first < last && parts.iter().all(is_inside)).then_some(parts)
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector3;
    use pliant_hydroelastic::Shape;

    use super::*;

    #[test]
    fn an_edge_across_a_boundary_has_two_particles_inside_and_others_have_none() {
        let table = Shape::cuboid(Vector3::new(1.0, 1.0, 0.1)).expect("lengths");
        let of = |from: [f64; 3], to: [f64; 3]| {
            particles_of(
                |p| table.signed_distance(p),
                &[Point3::from(from), Point3::from(to)],
            )
        };
        // 1 µm below the top, from 0.02 inside to 0.08 outside.
        let z = 0.05 - 1e-6;
        let parts = of([0.48, 0.1, z], [0.58, 0.1, z]).expect("across");
        for (part, place) in parts.iter().zip(PLACES) {
            assert!((part - 0.2 * place).abs() < 1e-9, "{part}");
        }
        // From both sides across, and the other way round.
        let parts = of([0.9, 0.0, z], [-0.6, 0.0, z]).expect("across");
        assert!((parts[0] + parts[1] - (0.4 + 1.4) / 1.5).abs() < 1e-9);
        assert_eq!(of([0.3, 0.1, z], [0.4, 0.1, z]), None, "inside");
        assert_eq!(of([0.6, 0.1, z], [0.6, 0.3, z]), None, "outside");
        assert_eq!(of([0.5, -0.6, z], [0.5, 0.6, z]), None, "flush with a side");
        assert_eq!(of([0.4, 0.0, 0.05], [0.6, 0.0, 0.05]), None, "not entered");
        assert_eq!(of([0.3, 0.1, z], [0.3, 0.1, 0.2]), None, "dips in");
        assert_eq!(of([0.3, 0.1, 0.2], [0.32, 0.1, z]), None, "dips in");
    }
}
