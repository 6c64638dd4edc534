//! How the points of a soft body share a load: in proportion to the part of the body's surface, volume or length around each of them.

use nalgebra::{Point3, Vector3};

use crate::runner::assembly::SoftBody;
use crate::runner::soft::Simplices;
use pliant_contact_sap::BodyState;

/// Points with their shares, which sum to 1; points without a share are left out.
pub(super) fn shares(
    soft: &SoftBody,
    state: &BodyState,
    region: Option<&[u32]>,
) -> Vec<(u32, f64)> {
    let weights = match region {
        None => soft.model.masses(state),
        Some(points) => weights_in_region(&soft.model.simplices(state), &soft.start, points),
    };
    let total: f64 = weights.iter().sum();
    let shared = (0..).zip(weights).filter(|(_, weight)| *weight > 0.0);
    shared
        .map(|(point, weight)| (point, weight / total))
        .collect()
}

/// The weight of each point of the body: of the faces of its surface between the points of the region; where there is none, of its
/// cells, then of its edges; and where there are only single points, 1 for each.
fn weights_in_region(simplices: &Simplices, start: &[Point3<f64>], region: &[u32]) -> Vec<f64> {
    let mut chosen = vec![false; start.len()];
    region
        .iter()
        .for_each(|point| chosen[*point as usize] = true);
    let by_area = weights_of(&simplices.triangles, &chosen, |[a, b, c]| {
        0.5 * side(start, a, b).cross(&side(start, a, c)).norm()
    });
    let by_volume = || {
        weights_of(&simplices.tetrahedra, &chosen, |[a, b, c, d]| {
            let normal = side(start, a, b).cross(&side(start, a, c));
            normal.dot(&side(start, a, d)).abs() / 6.0
        })
    };
    let by_length = || weights_of(&simplices.edges, &chosen, |[a, b]| side(start, a, b).norm());
    let equal = || {
        chosen
            .iter()
            .map(|of_region| f64::from(*of_region))
            .collect()
    };
    by_area
        .or_else(by_volume)
        .or_else(by_length)
        .unwrap_or_else(equal)
}

fn side(start: &[Point3<f64>], from: u32, to: u32) -> Vector3<f64> {
    start[to as usize] - start[from as usize]
}

/// Every simplex of chosen points gives its size to its corners in equal parts; `None` if there is no such simplex.
fn weights_of<const N: usize>(
    simplices: &[[u32; N]],
    chosen: &[bool],
    size: impl Fn([u32; N]) -> f64,
) -> Option<Vec<f64>> {
    let mut weights = vec![0.0; chosen.len()];
    let mut total = 0.0;
    for simplex in simplices {
        if simplex.iter().all(|point| chosen[*point as usize]) {
            let size = size(*simplex);
            total += size;
            simplex
                .iter()
                .for_each(|point| weights[*point as usize] += size);
        }
    }
    (total > 0.0).then_some(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit square of two triangles with a tail of two edges, of 1 m and 3 m, and a point far from both.
    fn points() -> Vec<Point3<f64>> {
        let at = |x: f64, y: f64| Point3::new(x, y, 0.0);
        vec![
            at(0.0, 0.0),
            at(1.0, 0.0),
            at(1.0, 1.0),
            at(0.0, 1.0),
            at(2.0, 0.0),
            at(5.0, 0.0),
            at(9.0, 9.0),
        ]
    }

    fn simplices() -> Simplices {
        Simplices {
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            edges: vec![[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 4], [4, 5]],
            tetrahedra: Vec::new(),
        }
    }

    #[track_caller]
    fn check(region: &[u32], expected: [f64; 7]) {
        let weights = weights_in_region(&simplices(), &points(), region);
        let total: f64 = weights.iter().sum();
        for (weight, expected) in weights.iter().zip(expected) {
            assert!((weight / total - expected).abs() < 1e-15, "{weights:?}");
        }
    }

    #[test]
    fn faces_share_by_area() {
        let (one, two) = (1.0 / 6.0, 1.0 / 3.0);
        check(&[0, 1, 2, 3], [two, one, two, one, 0.0, 0.0, 0.0]);
        check(&[0, 1, 2, 6], [two, two, two, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn edges_share_by_length_and_single_points_equally() {
        check(&[1, 4, 5], [0.0, 0.125, 0.0, 0.0, 0.5, 0.375, 0.0]);
        check(
            &[3, 4, 6],
            [0.0, 0.0, 0.0, 1.0 / 3.0, 1.0 / 3.0, 0.0, 1.0 / 3.0],
        );
    }

    #[test]
    fn cells_share_by_volume() {
        let mut start = points();
        start.push(Point3::new(0.0, 0.0, 1.0));
        let cells = Simplices {
            tetrahedra: vec![[0, 1, 2, 7], [0, 2, 3, 7]],
            ..Simplices::default()
        };
        let weights = weights_in_region(&cells, &start, &[0, 1, 2, 3, 7]);
        let sixth = 1.0 / 6.0;
        assert_eq!(
            weights,
            [
                2.0 * sixth,
                sixth,
                2.0 * sixth,
                sixth,
                0.0,
                0.0,
                0.0,
                2.0 * sixth
            ]
        );
    }
}
