//! Conservative advancement: steps in time as long as the distance allows.

use nalgebra::Point3;

use super::GAP;
use crate::shape::closest_on_triangle;

/// A motion that needs more steps than this creeps along within the gap's reach, and is reported as a hit.
const STEPS_MAX: usize = 100_000;

/// Distance of two features, their size, and where they are nearest.
pub(in crate::attachment) type Apart<H> = (f64, f64, H);

/// The first time in [0, 1] at which features are within the gap, when their distance shrinks by at most `rate` in unit time.
pub(super) fn advance<H>(rate: f64, apart: impl Fn(f64) -> Apart<H>) -> Option<(f64, H)> {
    let mut time = 0.0;
    for _ in 0..STEPS_MAX {
        let (distance, size, place) = apart(time);
        let gap = GAP * size;
        if distance <= gap {
            return Some((time, place));
        }
        if time >= 1.0 {
            return None;
        }
        time = (time + (distance - 0.5 * gap) / rate).min(1.0);
    }
    Some((time, apart(time).2))
}

/// Of a vertex and a triangle, with the barycentric weights.
pub(in crate::attachment) fn vertex_apart(
    (vertex, triangle): &(Point3<f64>, [Point3<f64>; 3]),
) -> Apart<[f64; 3]> {
    let [a, b, c] = triangle;
    let (nearest, _) = closest_on_triangle(vertex, triangle);
    let weights = super::barycentric(&(b - a), &(c - a), &(nearest - a));
    let size = (b - a).norm().max((c - a).norm());
    let weights = super::into_simplex(weights.unwrap_or([1.0, 0.0, 0.0]));
    ((vertex - nearest).norm(), size, weights)
}

/// Of two edges, with the place on each.
pub(super) fn edges_apart(
    (first, second): &([Point3<f64>; 2], [Point3<f64>; 2]),
) -> Apart<[f64; 2]> {
    let (e_1, e_2) = (first[1] - first[0], second[1] - second[0]);
    let size = e_1.norm().max(e_2.norm());
    let place = |s: f64, t: f64| ((first[0] + e_1 * s) - (second[0] + e_2 * t)).norm();
    let onto = |p: &Point3<f64>, edge: &[Point3<f64>; 2]| {
        let e = edge[1] - edge[0];
        let square = e.norm_squared();
        if square > 0.0 {
            ((p - edge[0]).dot(&e) / square).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    let mut candidates = vec![
        (0.0, onto(&first[0], second)),
        (1.0, onto(&first[1], second)),
        (onto(&second[0], first), 0.0),
        (onto(&second[1], first), 1.0),
    ];
    if let Some([s, t]) = super::crossing(&e_1, &e_2, &(second[0] - first[0])) {
        let within = |x: f64| (0.0..=1.0).contains(&x);
        if within(s) && within(t) {
            candidates.push((s, t));
        }
    }
    let distances = candidates
        .into_iter()
        .map(|(s, t)| (place(s, t), size, [s, t]));
    distances.fold((f64::INFINITY, size, [0.0; 2]), |a, b| {
        if b.0 < a.0 { b } else { a }
    })
}
