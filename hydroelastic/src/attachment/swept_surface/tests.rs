use nalgebra::{Isometry3, Point3, Translation3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::mesh::generate;
use crate::test_support::{random_rotation, random_unit};

fn ball() -> (WalkSurface, Vec<Point3<f64>>) {
    let mesh = generate::sphere(1.0, 3).unwrap();
    let vertices: Vec<_> = mesh.vertices().iter().map(|v| Point3::from(*v)).collect();
    let triangles: Vec<_> = mesh.raw_triangles().collect();
    (WalkSurface::new(&vertices, &triangles).unwrap(), vertices)
}

#[test]
fn every_path_from_outside_to_the_inside_of_a_moving_ball_enters_it_once() {
    let (surface, rest) = ball();
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut swept = SweptSurface::default();
    for _ in 0..50 {
        let shift = Translation3::from(random_unit(&mut rng) * 0.5);
        let before = Isometry3::from_parts(shift, random_rotation(&mut rng));
        let start: Vec<_> = rest.iter().map(|p| before * p).collect();
        let end: Vec<_> = rest
            .iter()
            .map(|p| before * p + random_unit(&mut rng) * 0.1)
            .collect();
        swept.sweep(&surface, &start, &end);
        for _ in 0..100 {
            let from = before * Point3::from(random_unit(&mut rng) * rng.random_range(1.3..3.0));
            let to = before * Point3::from(random_unit(&mut rng) * rng.random_range(0.0..0.8));
            let hit = swept
                .first_entry(&surface, Crossable::FromFront, &[from, to], |_| false)
                .expect("no way in without a hit");
            assert_eq!(hit.facing, Facing::Front);
            let at = from + (to - from) * hit.time;
            let moved: Vec<_> = start
                .iter()
                .zip(&end)
                .map(|(p, q)| p + (q - p) * hit.time)
                .collect();
            assert!((surface.point(&moved, &hit.place) - at).norm() < 1e-6);
            // The way out is no entry, but it crosses a sheet from behind.
            let out = swept.first_entry(&surface, Crossable::FromFront, &[to, from], |_| false);
            assert!(out.is_none() || out.is_some_and(|hit| hit.time > 0.0));
        }
    }
}

#[test]
fn a_sheet_is_entered_from_either_side_and_its_own_vertices_are_left_out() {
    let (surface, rest) = ball();
    let mut swept = SweptSurface::default();
    swept.sweep(&surface, &rest, &rest);
    let outwards = [Point3::origin(), Point3::new(2.0, 0.1, 0.2)];
    let hit = swept.first_entry(&surface, Crossable::FromBoth, &outwards, |_| false);
    assert_eq!(hit.map(|hit| hit.facing), Some(Facing::Back));
    let none = swept.first_entry(&surface, Crossable::FromFront, &outwards, |_| false);
    assert_eq!(none, None);
    let none = swept.first_entry(&surface, Crossable::FromBoth, &outwards, |_| true);
    assert_eq!(none, None);
}

#[test]
fn the_nearest_place_of_a_ball_tells_inside_from_outside() {
    let (surface, rest) = ball();
    let mut swept = SweptSurface::default();
    swept.sweep(&surface, &rest, &rest);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..1000 {
        let radius = if rng.random_range(0.0..1.0) < 0.5 {
            rng.random_range(0.1..0.97)
        } else {
            rng.random_range(1.001..2.0)
        };
        let p = Point3::from(random_unit(&mut rng) * radius);
        let (distance, place) = swept.nearest_at_start(&surface, &p).unwrap();
        let nearest = surface.point(&rest, &place);
        assert!(((p - nearest).norm() - distance).abs() < 1e-12);
        assert!((distance - (radius - 1.0).abs()).abs() < 0.02);
        let above: Vector3<f64> = p - nearest;
        assert_eq!(
            above.dot(&surface.normal(&rest, &place)) > 0.0,
            radius > 1.0
        );
    }
}

#[test]
fn a_vertex_that_meets_an_edge_enters_the_face_that_it_approaches() {
    let mesh = generate::cuboid(Vector3::repeat(0.5)).unwrap();
    let vertices: Vec<_> = mesh.vertices().iter().map(|v| Point3::from(*v)).collect();
    let triangles: Vec<_> = mesh.raw_triangles().collect();
    let surface = WalkSurface::new(&vertices, &triangles).unwrap();
    let mut swept = SweptSurface::default();
    swept.sweep(&surface, &vertices, &vertices);
    // Onto the rim and the corners of the top, with the smallest of motions across.
    for rim in [[0.5, 0.1], [0.5, 0.5], [-0.2, 0.5], [-0.5, -0.5]] {
        for across in [0.0, 1e-17, -1e-17, 1e-12, -1e-12] {
            let above = Point3::new(rim[0] * (1.0 + across), rim[1], 0.51);
            let below = Point3::new(rim[0] * (1.0 - across), rim[1], 0.499);
            let hit = swept
                .first_entry(&surface, Crossable::FromFront, &[above, below], |_| false)
                .expect("a hit");
            let (normal, _) = surface.plane(&vertices, hit.place.triangle);
            assert!(normal.z > 0.99, "{rim:?}, {across}: {normal}");
        }
    }
}
