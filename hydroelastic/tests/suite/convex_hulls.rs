//! Convex hulls of difficult points: all points are inside, the surface is closed, and the volume is the known one.

use std::collections::HashMap;

use nalgebra::{Point3, UnitQuaternion, Vector3};
use pliant_hydroelastic::ConvexHull;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Checks the surface and that it contains the points. Returns the volume.
fn checked(points: &[Point3<f64>], name: &str) -> f64 {
    let hull = ConvexHull::new(points).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut sides: HashMap<[u32; 2], u32> = HashMap::new();
    for [a, b, c] in hull.triangles() {
        for side in [[a, b], [b, c], [c, a]] {
            *sides.entry(side).or_default() += 1;
        }
    }
    for (&[a, b], n) in &sides {
        assert!(
            *n == 1 && sides.contains_key(&[b, a]),
            "{name}: side {a}-{b}"
        );
    }
    let euler = hull.vertices().len() + hull.faces().len() - hull.edges().len();
    assert_eq!(euler, 2, "{name}");
    let origin = points[0];
    let size = points
        .iter()
        .map(|p| (p - origin).norm())
        .fold(0.0, f64::max);
    let reach = points.iter().map(|p| p.coords.norm()).fold(0.0, f64::max);
    for face in hull.faces() {
        let above = points
            .iter()
            .map(|p| face.normal.dot(&p.coords) - face.offset);
        let most = above.fold(f64::NEG_INFINITY, f64::max);
        assert!(
            most <= 1e-7 * size + 1e-15 * reach,
            "{name}: {most:e} m outside"
        );
    }
    let volume = hull.triangles().map(|t| {
        let [a, b, c] = t.map(|v| hull.vertices()[v as usize] - origin);
        a.dot(&b.cross(&c)) / 6.0
    });
    volume.sum()
}

/// The corners of a box, with `n` more points in it, on its faces and on its edges, some of them twice.
fn box_points(size: Vector3<f64>, n: usize, rng: &mut ChaCha8Rng) -> Vec<Point3<f64>> {
    let corner = |k: u32| Vector3::from_fn(|i, _| f64::from(k >> i & 1));
    let mut points: Vec<Vector3<f64>> = (0..8).map(corner).collect();
    for k in 0..n {
        let mut p = Vector3::from_fn(|_, _| rng.random_range(0.0..1.0));
        for axis in 0..k % 3 {
            p[(axis + k) % 3] = f64::from(rng.random_range(0..2_u32));
        }
        points.push(p);
        if k % 5 == 0 {
            points.push(p);
        }
    }
    points
        .iter()
        .map(|p| Point3::from(p.component_mul(&size)))
        .collect()
}

#[test]
fn boxes_with_points_on_faces_and_edges_have_their_volume() {
    let mut rng = ChaCha8Rng::seed_from_u64(48);
    let sizes = [
        [1.0, 2.0, 3.0],
        [1e-3, 2e-3, 1e-3],
        [1.0, 1.0, 1e-6],
        [1.0, 1e-6, 1e-6],
        [1e3, 1.0, 1e-2],
    ];
    for size in sizes.map(Vector3::from) {
        for n in [0, 10, 300] {
            let points = box_points(size, n, &mut rng);
            let turn = UnitQuaternion::from_euler_angles(0.3, -1.1, 2.0);
            let turned: Vec<_> = points.iter().map(|p| turn * p).collect();
            for (points, how) in [(&points, "aligned"), (&turned, "turned")] {
                let volume = checked(points, &format!("{how} box {size:?}, {n} more points"));
                let ratio = volume / size.product();
                assert!((ratio - 1.0).abs() < 1e-5, "{how} {size:?}: {ratio}");
            }
        }
    }
}

#[test]
fn a_box_a_million_metres_away_has_its_volume() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let offset = Vector3::new(1e6, -1e6, 1e6);
    let points = box_points(Vector3::repeat(0.125), 200, &mut rng);
    let points: Vec<_> = points.iter().map(|p| p + offset).collect();
    let ratio = checked(&points, "far box") / 0.125_f64.powi(3);
    assert!((ratio - 1.0).abs() < 1e-7, "{ratio}");
}

#[test]
fn points_on_a_sphere_in_single_precision_are_contained() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for (n, radius) in [(20, 1.0), (500, 1e-3), (4000, 0.1)] {
        let on_sphere = (0..n).map(|_| {
            let p = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0_f64));
            Point3::from((p.normalize() * radius).map(|x| f64::from(x as f32)))
        });
        let points: Vec<_> = on_sphere.collect();
        let ratio =
            checked(&points, "sphere") / (4.0 / 3.0 * std::f64::consts::PI * radius.powi(3));
        assert!(ratio < 1.0 && (n < 4000 || ratio > 0.99), "{n}: {ratio}");
    }
}

#[test]
fn integer_clouds_with_many_coplanar_points_are_closed() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for n in 0..200 {
        let points: Vec<_> = (0..12 + n)
            .map(|_| {
                Point3::from(Vector3::from_fn(|_, _| {
                    f64::from(rng.random_range(-3..4_i32))
                }))
            })
            .collect();
        assert!(checked(&points, &format!("integers {n}")) > 0.0);
    }
}
