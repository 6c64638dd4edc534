use super::*;
use crate::narrow_phase::{Workspace, half_space_points, pair_points};
use crate::test_support::{box_mesh, l_shape, random_pose, random_unit};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn contact(a: &Shape, b: &Shape, X_BA: &Isometry3<f64>, reach: f64) -> Vec<PairPoint> {
    let mut w = Workspace::default();
    pair_points(a, b, X_BA, reach, &mut w);
    w.points
}

fn mesh_box(lengths: [f64; 3]) -> Shape {
    let (vertices, triangles) = box_mesh(Vector3::from(lengths) * 0.5);
    Shape::mesh(&vertices, &triangles).unwrap()
}

fn cuboid(lengths: [f64; 3]) -> Shape {
    Shape::cuboid(lengths.into()).unwrap()
}

fn l_mesh() -> Shape {
    let (vertices, triangles) = l_shape();
    Shape::mesh(&vertices, &triangles).unwrap()
}

/// Force along the normal of a set of springs of 1 N/m, and its centre.
fn load(points: &[PairPoint]) -> (f64, Vector3<f64>) {
    let force: f64 = points.iter().map(|p| p.share * (-p.phi).max(0.0)).sum();
    let center = points
        .iter()
        .map(|p| p.p_B * (p.share * (-p.phi).max(0.0)))
        .sum::<Vector3<f64>>();
    (force, center / force)
}

#[test]
fn box_meshes_and_boxes_give_the_same_contact() {
    let at = Isometry3::translation(0.05, -0.1, 0.2 - 1e-5);
    let (upper, lower) = ([0.2, 0.3, 0.2], [0.6, 0.8, 0.2]);
    let (force, center) = load(&contact(&cuboid(upper), &cuboid(lower), &at, 1e-3));
    for (a, b) in [
        (cuboid(upper), mesh_box(lower)),
        (mesh_box(upper), cuboid(lower)),
        (mesh_box(upper), mesh_box(lower)),
    ] {
        let points = contact(&a, &b, &at, 1e-3);
        for p in points.iter().filter(|p| p.phi < 1e-3) {
            assert!(
                (p.normal - Vector3::z()).norm() < 1e-9 && (p.phi + 1e-5).abs() < 1e-9,
                "{a:?} {b:?} {p:?}"
            );
        }
        let (f, c) = load(&points);
        // Edges of a mesh may add points between the corners, with a fraction of a share.
        assert!(
            f >= 0.99 * force && f <= 2.0 * force,
            "{a:?} {b:?}: {f} {force}"
        );
        assert!((c - center).norm() < 0.02, "{a:?} {b:?}: {c} {center}");
    }
}

#[test]
fn a_mesh_that_is_larger_or_smaller_or_equal_to_the_box_is_held_by_its_corners() {
    for size in [0.1, 0.2, 0.3] {
        for (aside, mesh_first) in [(0.0, false), (1e-8, false), (0.0, true), (1e-8, true)] {
            let X_BA = Isometry3::translation(aside, -aside, 0.2 - 1e-6);
            let mesh = mesh_box([size, size, 0.2]);
            let points = if mesh_first {
                contact(&mesh, &mesh_box([0.2, 0.2, 0.2]), &X_BA, 1e-3)
            } else {
                contact(&cuboid([0.2, 0.2, 0.2]), &mesh, &X_BA, 1e-3)
            };
            let (force, center) = load(&points);
            assert!(force >= 3.9e-6, "{size}: {force}");
            // Supported on all sides; with edge on edge the corners share unevenly.
            assert!(center.xy().norm() < 0.03, "{size}: {center}");
            let reach = points
                .iter()
                .map(|p| p.p_B.x.abs().min(p.p_B.y.abs()))
                .fold(0.0, f64::max);
            assert!(
                (reach - 0.5 * size.min(0.2)).abs() < 1e-7,
                "{size}: {reach} {points:?}"
            );
        }
    }
}

#[test]
fn the_seam_of_two_coplanar_triangles_gives_no_bump() {
    // The diagonal of the top face passes under the ball and the box wherever they slide.
    let floor = mesh_box([2.0, 2.0, 0.2]);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for shape in [
        Shape::sphere(0.1).unwrap(),
        cuboid([0.2, 0.2, 0.2]),
        Shape::cylinder(0.1, 0.2).unwrap(),
        Shape::capsule(0.1, 0.001).unwrap(),
    ] {
        for i in 0..200 {
            let s = f64::from(i - 100) * 5e-3;
            let height = if let Shape::Capsule(_) = shape {
                0.1005
            } else {
                0.1
            };
            let (x, y) = (s, s + rng.random_range(-1e-3..1e-3) * f64::from(i % 2));
            let X_BA = Isometry3::translation(x, y, 0.1 + height - 1e-5);
            let points = contact(&shape, &floor, &X_BA, 1e-3);
            assert!(!points.is_empty(), "{shape:?} at {x} {y}");
            for p in points.iter().filter(|p| p.phi < 1e-3) {
                assert!(
                    (p.normal - Vector3::z()).norm() < 1e-9,
                    "{shape:?} at {x} {y}: {p:?}"
                );
            }
            let lowest = points.iter().map(|p| p.phi).fold(f64::INFINITY, f64::min);
            assert!((lowest + 1e-5).abs() < 1e-9);
        }
    }
}

#[test]
fn ball_in_a_hollow_corner_touches_both_faces() {
    // The concave edge of the L is at x = 0.2, z = 0.2.
    let ball = Shape::sphere(0.05).unwrap();
    for depth in [-1e-4, 0.0, 1e-4] {
        let X_BA = Isometry3::translation(0.25 + depth, 0.15, 0.25 + depth);
        let points = contact(&ball, &l_mesh(), &X_BA, 1e-3);
        assert_eq!(points.len(), 2, "{depth} {points:?}");
        for n in [Vector3::x(), Vector3::z()] {
            let p = points
                .iter()
                .find(|p| p.normal.dot(&n) > 0.999)
                .expect("a contact with each face");
            assert!((p.phi - depth).abs() < 1e-12);
        }
    }
}

#[test]
fn corner_of_a_box_pressed_into_the_hollow_is_held_by_both_faces() {
    let cube = cuboid([0.1, 0.1, 0.1]);
    let X_BA = Isometry3::translation(0.25 - 1e-5, 0.15, 0.25 - 2e-5);
    let points = contact(&cube, &l_mesh(), &X_BA, 1e-3);
    let depth = |n: Vector3<f64>| {
        points
            .iter()
            .filter(|p| p.normal.dot(&n) > 0.999)
            .map(|p| p.phi)
            .fold(f64::INFINITY, f64::min)
    };
    assert!((depth(Vector3::x()) + 1e-5).abs() < 1e-9, "{points:?}");
    assert!((depth(Vector3::z()) + 2e-5).abs() < 1e-9);
}

#[test]
fn shallow_contact_of_a_convex_mesh_is_as_deep_as_that_of_its_hull() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (vertices, triangles) = box_mesh(Vector3::new(0.2, 0.25, 0.3));
    let (mesh, hull) = (
        Shape::mesh(&vertices, &triangles).unwrap(),
        Shape::convex_hull(&vertices).unwrap(),
    );
    let partners = crate::narrow_phase::tests::convex_shapes();
    let (mut compared, mut missed) = (0, 0);
    for a in &partners {
        for _ in 0..60 {
            let mut X_BA = random_pose(&mut rng, 0.1);
            X_BA.translation.vector += random_unit(&mut rng);
            let s = crate::narrow_phase::convex_separation(a, &hull, &X_BA, f64::INFINITY).unwrap();
            X_BA.translation.vector -= s.normal * (s.distance + 1e-4);
            let exact =
                crate::narrow_phase::convex_separation(a, &hull, &X_BA, f64::INFINITY).unwrap();
            for (x, y, X) in [(a, &mesh, X_BA), (&mesh, a, X_BA.inverse())] {
                let points = contact(x, y, &X, 1e-3);
                let lowest = points.iter().map(|p| p.phi).fold(f64::INFINITY, f64::min);
                compared += 1;
                // Never deeper than twice, never lost.
                assert!(lowest < 0.0, "{x:?} {y:?}: {exact:?} {points:?}");
                if (lowest - exact.distance).abs() > 1e-6 + 0.2 * exact.distance.abs() {
                    missed += 1;
                }
            }
        }
    }
    assert!(missed * 10 <= compared, "{missed} of {compared}");
}

#[test]
fn crossing_edges_of_two_meshes_touch_in_one_point() {
    let bar = mesh_box([1.0, 0.2, 0.2]);
    let quarter = Vector3::x() * std::f64::consts::FRAC_PI_4;
    let half = 0.1 * std::f64::consts::SQRT_2;
    let lower = Isometry3::new(Vector3::zeros(), quarter);
    let upper = Isometry3::new(
        Vector3::new(0.01, 0.02, 2.0 * half - 1e-4),
        Vector3::z() * std::f64::consts::FRAC_PI_2,
    ) * Isometry3::new(Vector3::zeros(), quarter);
    let points = contact(&bar, &bar, &lower.inv_mul(&upper), 1e-3);
    let deep: Vec<_> = points.iter().filter(|p| p.phi < 0.0).collect();
    assert_eq!(deep.len(), 1, "{points:?}");
    assert!((deep[0].phi + 1e-4).abs() < 1e-9);
    assert!((lower * deep[0].normal - Vector3::z()).norm() < 1e-9);
}

#[test]
fn mesh_on_a_half_space_stands_on_its_lowest_vertices() {
    let mut points = Vec::new();
    half_space_points(
        &l_mesh(),
        &Isometry3::translation(0.0, 0.0, -1e-5),
        1e-3,
        &mut points,
    );
    assert_eq!(points.len(), 4);
    assert!(
        points
            .iter()
            .all(|p| (p.phi + 1e-5).abs() < 1e-15 && (p.share - 1.0).abs() < 1e-12)
    );
}

#[test]
fn deep_overlap_pushes_out_by_the_nearer_side() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let plate = mesh_box([1.0, 1.0, 0.1]);
    let ball = Shape::sphere(0.02).unwrap();
    for _ in 0..100 {
        let z = rng.random_range(-0.049..0.049);
        let X_BA =
            Isometry3::translation(rng.random_range(-0.4..0.4), rng.random_range(-0.4..0.4), z);
        for p in contact(&ball, &plate, &X_BA, 1e-3) {
            assert!(
                (p.normal.z - 1.0_f64.copysign(z)).abs() < 1e-9 || z.abs() < 1e-3,
                "{z}: {p:?}"
            );
        }
    }
}

#[test]
fn random_overlaps_of_meshes_give_finite_points() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let shapes = [l_mesh(), mesh_box([0.3, 0.2, 0.4])];
    for a in &shapes {
        for b in &shapes {
            for i in 0..60 {
                let X_BA = if i == 0 {
                    Isometry3::identity()
                } else {
                    random_pose(&mut rng, 0.4)
                };
                for p in contact(a, b, &X_BA, 1e-3) {
                    let sum = p.p_A.sum() + p.p_B.sum() + p.phi + p.share;
                    assert!(
                        sum.is_finite() && (p.normal.norm() - 1.0).abs() < 1e-9,
                        "{p:?}"
                    );
                    assert!((p.normal.dot(&(p.p_A - p.p_B)) - p.phi).abs() < 1e-9);
                }
            }
        }
    }
}

/// A box that has slid from one tile onto the next has its rear corners just inside the next one: less deep behind its side than a corner may be
/// behind a second face, but they face away from that side. Nor does the front of the box hold back the corners of the tile that it has passed.
#[test]
fn corners_meet_no_face_that_they_face_away_from() {
    let (slider, tile) = ([0.16, 0.16, 0.08], [0.1, 0.1, 0.1]);
    for (x, y) in [(0.0, 0.0299), (0.0299, 0.0299), (-0.0296, -0.01)] {
        let at = Isometry3::translation(x, y, 0.09 - 1e-6);
        for (a, b) in [
            (cuboid(slider), mesh_box(tile)),
            (mesh_box(slider), cuboid(tile)),
            (mesh_box(slider), mesh_box(tile)),
        ] {
            let points = contact(&a, &b, &at, 1e-4);
            assert!(!points.is_empty(), "{a:?} {b:?}");
            for p in &points {
                assert!(p.normal.z > 1.0 - 1e-9, "{a:?} {b:?} at ({x}, {y}): {p:?}");
            }
        }
    }
}
