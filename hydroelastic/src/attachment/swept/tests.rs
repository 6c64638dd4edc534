use nalgebra::{Isometry3, Point3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::test_support::{random_pose, random_unit};

/// Planted hits a test looks for; `PLANTED_HITS=1000000` for the long version.
fn planted() -> usize {
    let asked = std::env::var("PLANTED_HITS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(20_000)
}

fn point(rng: &mut ChaCha8Rng) -> Point3<f64> {
    Point3::from(Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0)))
}

/// A path that is at `p` at `time`.
fn path_through(p: Point3<f64>, time: f64, rng: &mut ChaCha8Rng) -> Path {
    let way = random_unit(rng) * rng.random_range(0.01..2.0);
    [p - way * time, p + way * (1.0 - time)]
}

/// Weights inside a triangle, on an edge or at a vertex.
fn weights(k: usize, rng: &mut ChaCha8Rng) -> [f64; 3] {
    let mut raw = [0, 1, 2].map(|_| rng.random_range(0.0..1.0));
    for zero in raw.iter_mut().take(k % 3) {
        *zero = 0.0;
    }
    raw.rotate_left(k / 3 % 3);
    into_simplex(raw)
}

fn fat(corners: &[Point3<f64>; 3]) -> bool {
    let [a, b, c] = corners;
    (b - a).cross(&(c - a)).norm() > 0.05
}

#[test]
fn no_planted_hit_of_a_vertex_is_missed_or_late() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut checked = 0;
    for k in 0.. {
        if checked >= planted() {
            break;
        }
        let corners = [point(&mut rng), point(&mut rng), point(&mut rng)];
        if !fat(&corners) {
            continue;
        }
        let w = weights(k, &mut rng);
        let time = rng.random_range(0.0..1.0);
        let target = Point3::from(
            corners[0].coords * w[0] + corners[1].coords * w[1] + corners[2].coords * w[2],
        );
        // Also triangles that only translate, for which the cubic is linear, and those that rest.
        let shared = path_through(Point3::origin(), time, &mut rng);
        let triangle = match k % 4 {
            0 => corners.map(|p| [p + shared[0].coords, p + shared[1].coords]),
            1 => corners.map(|p| [p, p]),
            _ => corners.map(|p| path_through(p, time, &mut rng)),
        };
        let vertex = path_through(target, time, &mut rng);
        let hit = vertex_meets_triangle(&vertex, &triangle);
        let hit = hit.unwrap_or_else(|| panic!("case {k} missed"));
        assert!(
            hit.time <= time + 1e-7,
            "case {k}: {} late",
            hit.time - time
        );
        let at = |path: &Path| path[0] + (path[1] - path[0]) * hit.time;
        let place = (triangle.iter().zip(hit.weights)).map(|(p, w)| at(p).coords * w);
        let apart = (at(&vertex).coords - place.sum::<Vector3<f64>>()).norm();
        assert!(apart < 1e-6, "case {k}: {apart:e}");
        checked += 1;
    }
}

#[test]
fn no_planted_hit_of_two_edges_is_missed_or_late() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for k in 0..planted() {
        let (e_1, e_2) = (random_unit(&mut rng), random_unit(&mut rng));
        if e_1.cross(&e_2).norm() < 0.05 {
            continue;
        }
        let end = |k: usize, rng: &mut ChaCha8Rng| match k % 4 {
            0 => 0.0,
            1 => 1.0,
            _ => rng.random_range(0.0..1.0),
        };
        let (s, t) = (end(k, &mut rng), end(k / 4, &mut rng));
        let time = rng.random_range(0.0..1.0);
        let meeting = point(&mut rng);
        let ends = |e: Vector3<f64>, s: f64| [meeting - e * s, meeting + e * (1.0 - s)];
        let first = ends(e_1, s).map(|p| path_through(p, time, &mut rng));
        let second = ends(e_2, t).map(|p| path_through(p, time, &mut rng));
        let hit = edge_meets_edge(&first, &second);
        let hit = hit.unwrap_or_else(|| panic!("case {k} missed"));
        assert!(
            hit.time <= time + 1e-7,
            "case {k}: {} late",
            hit.time - time
        );
        let at = |path: &Path| (path[0] + (path[1] - path[0]) * hit.time).coords;
        let place = |edge: &[Path; 2], s: f64| at(&edge[0]) * (1.0 - s) + at(&edge[1]) * s;
        let apart = (place(&first, hit.parameters[0]) - place(&second, hit.parameters[1])).norm();
        assert!(apart < 1e-6, "case {k}: {apart:e}");
    }
}

#[test]
fn no_planted_hit_under_rigid_motion_is_missed_or_late() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for k in 0..planted() / 100 {
        let corners = [point(&mut rng), point(&mut rng), point(&mut rng)];
        if !fat(&corners) {
            continue;
        }
        let time = rng.random_range(0.0..1.0);
        let mut path = || {
            let shift = random_unit(&mut rng) * 0.5;
            let turn = random_unit(&mut rng) * 2.0;
            RigidPath::new(random_pose(&mut rng, 1.0), shift, turn)
        };
        let (of_triangle, of_vertex) = (path(), path());
        let w = weights(k, &mut rng);
        let on_triangle = Point3::from(
            corners[0].coords * w[0] + corners[1].coords * w[1] + corners[2].coords * w[2],
        );
        let vertex = of_vertex.at(time).inverse() * (of_triangle.at(time) * on_triangle);
        let hit = vertex_meets_triangle_rigidly((&vertex, &of_vertex), (&corners, &of_triangle));
        let hit = hit.unwrap_or_else(|| panic!("case {k} missed"));
        assert!(
            hit.time <= time + 1e-9,
            "case {k}: {} late",
            hit.time - time
        );

        let edge = [vertex - Vector3::x() * 0.3, vertex + Vector3::x() * 0.4];
        let side = [
            on_triangle - Vector3::y() * 0.2,
            on_triangle + Vector3::y() * 0.5,
        ];
        let hit = edge_meets_edge_rigidly((&edge, &of_vertex), (&side, &of_triangle));
        let hit = hit.unwrap_or_else(|| panic!("case {k}: edges missed"));
        assert!(
            hit.time <= time + 1e-9,
            "case {k}: {} late",
            hit.time - time
        );
    }
}

#[test]
fn what_stays_apart_has_no_hit() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for _ in 0..2000 {
        let below = |rng: &mut ChaCha8Rng| {
            let p = point(rng);
            Point3::new(p.x, p.y, -p.z.abs() - 1e-6)
        };
        let above = |rng: &mut ChaCha8Rng| {
            let p = point(rng);
            Point3::new(p.x, p.y, p.z.abs())
        };
        let triangle = [0, 1, 2].map(|_| [below(&mut rng), below(&mut rng)]);
        let vertex = [above(&mut rng), above(&mut rng)];
        assert_eq!(vertex_meets_triangle(&vertex, &triangle), None);
        let edge = [0, 1].map(|_| [above(&mut rng), above(&mut rng)]);
        assert_eq!(edge_meets_edge(&edge, &[triangle[0], triangle[1]]), None);
    }
    // Frames that turn past each other.
    let still = RigidPath::new(Isometry3::identity(), Vector3::zeros(), Vector3::zeros());
    let turning = RigidPath::new(Isometry3::identity(), Vector3::zeros(), Vector3::z() * 3.0);
    let triangle = [
        Point3::new(1.0, 0.0, 0.0),
        Point3::new(0.0, 1.0, 0.0),
        Point3::new(0.0, 0.0, 1.0),
    ];
    let vertex = Point3::new(1.2, 0.0, 0.0);
    assert_eq!(
        vertex_meets_triangle_rigidly((&vertex, &turning), (&triangle, &still)),
        None
    );
}

#[test]
fn a_vertex_within_the_plane_meets_the_side_of_a_triangle() {
    let triangle = [
        Point3::new(0.0, 0.0, 0.0),
        Point3::new(1.0, 0.0, 0.0),
        Point3::new(0.0, 1.0, 0.0),
    ]
    .map(|p| [p, p]);
    let vertex = [Point3::new(-1.0, 0.25, 0.0), Point3::new(1.0, 0.25, 0.0)];
    let hit = vertex_meets_triangle(&vertex, &triangle).unwrap();
    assert!((hit.time - 0.5).abs() < 1e-8);
    assert!((hit.weights[2] - 0.25).abs() < 1e-8);
}
