//! Entries of moving vertices into triangles, and of edges into edges.
//!
//! Planted hits are motions through a place of a triangle, a quarter of them through its edges and vertices, or through the places of two edges.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_hydroelastic::{Path, edge_meets_edge, vertex_meets_triangle};

use super::spread::Spread;
use crate::validate::Finding;

pub(super) fn findings(count: u32) -> Vec<Finding> {
    let (mut vertices_missed, mut edges_missed) = (0_u32, 0_u32);
    for k in 0..count {
        let spread = Spread { k };
        let time = spread.at(0);
        let through = |p: Point3<f64>, axis: usize| -> Path {
            let way = spread.direction(axis) * spread.between(axis + 2, 0.01, 2.0);
            [p - way * time, p + way * (1.0 - time)]
        };
        let frame = Isometry3::from_parts(spread.direction(3).into(), spread.rotation(5));
        let corners = [
            frame * Point3::origin(),
            frame * Point3::new(spread.between(8, 0.5, 1.5), 0.0, 0.0),
            frame * Point3::new(spread.at(9), spread.between(10, 0.5, 1.5), 0.0),
        ];
        let (a, b) = (spread.at(11), spread.at(12));
        let (a, b) = if a + b > 1.0 {
            (1.0 - a, 1.0 - b)
        } else {
            (a, b)
        };
        let weights = match k % 8 {
            0 => [1.0, 0.0, 0.0],
            1 => [a, 1.0 - a, 0.0],
            _ => [a, b, 1.0 - a - b],
        };
        let terms = corners.iter().zip(weights);
        let meeting = Point3::from(terms.map(|(p, w)| p.coords * w).sum::<Vector3<f64>>());
        let vertex = through(meeting, 13);
        // A rigid translation in one of three.
        let shared = through(Point3::origin(), 16);
        let triangle: [Path; 3] = std::array::from_fn(|i| match k % 3 {
            0 => shared.map(|p| corners[i] + p.coords),
            _ => through(corners[i], 16 + 3 * i),
        });
        vertices_missed += u32::from(vertex_meets_triangle(&vertex, &triangle).is_none());
        let (first, second) = (corners[1] - corners[0], corners[2] - corners[0]);
        let edge = |along: Vector3<f64>, at: f64, axis: usize| -> [Path; 2] {
            let ends = [meeting - along * at, meeting + along * (1.0 - at)];
            [through(ends[0], axis), through(ends[1], axis + 3)]
        };
        let met = edge_meets_edge(&edge(first, a, 13), &edge(second, b, 19));
        edges_missed += u32::from(met.is_none());
    }
    let missed = |what: &str, missed: u32| {
        Finding::at_most(
            format!("penalty-relaxation: missed of {count} planted hits of {what}"),
            f64::from(missed),
            0.0,
            "motions through one place",
        )
    };
    vec![
        missed("a vertex and a triangle", vertices_missed),
        missed("two edges", edges_missed),
    ]
}
