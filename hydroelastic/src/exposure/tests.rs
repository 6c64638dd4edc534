use nalgebra::{Isometry3, Point3, Rotation3, Vector3};

use super::*;
use crate::Shape;

fn cube() -> Shape {
    Shape::cuboid(Vector3::repeat(0.1)).expect("a size")
}

fn at(shape: &Shape, x: f64, z: f64) -> RigidShape<'_> {
    RigidShape::at_rest(shape, Isometry3::translation(x, 0.0, z))
}

/// A unit vector between −x and +z, `angle` (rad) from +z.
fn leaning(angle: f64) -> Vector3<f64> {
    Vector3::new(-angle.sin(), 0.0, angle.cos())
}

/// The left side of a cube whose top is at z = `step`, beside a cube on its left whose top is at z = 0.
fn side_is_exposed(step: f64, depth: f64, angle: f64) -> bool {
    let cube = cube();
    let (left, right) = (at(&cube, -0.05, -0.05), at(&cube, 0.05, step - 0.05));
    let p = Point3::new(0.0, 0.001, -depth);
    is_exposed(&right, &p, &leaning(angle), [left].into_iter(), 0.1)
}

#[test]
fn a_side_behind_a_flush_neighbour_is_covered_at_any_depth() {
    for depth in [0.0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2] {
        assert!(
            !side_is_exposed(0.0, depth, 0.5 * std::f64::consts::PI),
            "{depth}"
        );
    }
}

#[test]
fn a_point_off_the_surface_stands_for_one_on_it() {
    let cube = cube();
    let (left, right) = (at(&cube, -0.05, -0.05), at(&cube, 0.05, -0.05));
    for off in [-1e-7, 1e-6, 1e-4, 1e-3, 1e-2] {
        let p = Point3::new(-off, 0.0, -1e-6);
        assert!(
            !is_exposed(&right, &p, &-Vector3::x(), [left].into_iter(), 0.1),
            "{off}"
        );
    }
}

#[test]
fn the_edge_of_a_flush_neighbour_has_no_normal_but_the_common_one() {
    for angle in [1e-3, 1e-2, 0.1, 0.5, 1.0, 1.5] {
        assert!(!side_is_exposed(0.0, 0.0, angle), "{angle}");
    }
    assert!(side_is_exposed(0.0, 0.0, 0.0));
    // Away from the neighbour the edge is not exposed either, but its own shape never reports that normal.
    assert!(side_is_exposed(0.0, 0.0, -0.1));
}

#[test]
fn a_curb_is_a_wall_down_to_the_floor_beside_it() {
    for step in [1e-4, 1e-3, 1e-2] {
        for depth in [-0.5 * step, 0.0, 1e-6, 1e-3] {
            assert!(
                side_is_exposed(step, depth, 0.5 * std::f64::consts::PI),
                "{step} {depth}"
            );
        }
    }
}

#[test]
fn a_ramp_is_exposed_from_its_foot_on() {
    // A cube turned about y: its upper side leaves the floor at the origin with the given slope.
    let (floor, cube) = (Shape::half_space(), cube());
    let floor = at(&floor, 0.0, 0.0);
    for slope in [0.05_f64, 0.3, 1.0] {
        let turn = Rotation3::from_axis_angle(&Vector3::y_axis(), -slope);
        let normal = turn * Vector3::z();
        let centre = turn * Vector3::new(0.03, 0.0, -0.05);
        let X_WG = Isometry3::from_parts(centre.into(), turn.into());
        let ramp = RigidShape::at_rest(&cube, X_WG);
        for depth in [0.0, 1e-6, 1e-4] {
            let p = Point3::from(turn * Vector3::new(-depth, 0.0, 0.0));
            assert!(
                is_exposed(&ramp, &p, &normal, [floor].into_iter(), 0.1),
                "{slope} {depth}"
            );
        }
    }
}

#[test]
fn a_pipe_half_in_the_floor_is_exposed_below_the_floor() {
    let (pipe, floor) = (Shape::sphere(0.02).expect("a radius"), Shape::half_space());
    for depth in [0.0, 1e-6, 1e-4, 1e-3] {
        let across = (0.02_f64 * 0.02 - depth * depth).sqrt();
        let p = Point3::new(-across, 0.0, -depth);
        let normal = p.coords / 0.02;
        let neighbours = [at(&floor, 0.0, 0.0)].into_iter();
        assert!(
            is_exposed(&at(&pipe, 0.0, 0.0), &p, &normal, neighbours, 0.1),
            "{depth}"
        );
    }
}

#[test]
fn where_four_tiles_meet_their_sides_are_covered() {
    let cube = cube();
    let tile = |x: f64, y: f64| RigidShape::at_rest(&cube, Isometry3::translation(x, y, -0.05));
    let others = [tile(-0.05, 0.05), tile(-0.05, -0.05), tile(0.05, -0.05)];
    for y in [0.0, 1e-8, 1e-6, 1e-5, 1e-3] {
        for depth in [0.0, 1e-6, 1e-4, 1e-3] {
            let p = Point3::new(0.0, y, -depth);
            let covered = !is_exposed(
                &tile(0.05, 0.05),
                &p,
                &-Vector3::x(),
                others.into_iter(),
                0.1,
            );
            assert!(covered, "{y} {depth}");
        }
    }
}

#[test]
fn the_foot_of_a_wall_that_stands_on_the_floor_is_exposed_whatever_leans_against_it() {
    let (cube, floor) = (cube(), Shape::half_space());
    let wall = at(&cube, 0.05, 0.05);
    for angle in [-0.7_f64, -0.1, 0.0, 0.3] {
        let normal = Vector3::new(-angle.cos(), 0.0, angle.sin());
        let neighbours = [at(&floor, 0.0, 0.0)].into_iter();
        assert!(
            is_exposed(&wall, &Point3::origin(), &normal, neighbours, 0.1),
            "{angle}"
        );
    }
}

#[test]
fn a_gap_between_two_tables_uncovers_their_sides() {
    let cube = cube();
    let p = Point3::new(0.0, 0.0, -1e-4);
    let beside = |gap: f64| [at(&cube, -0.05 - gap, -0.05)].into_iter();
    let touched = at(&cube, 0.05, -0.05);
    assert!(is_exposed(&touched, &p, &-Vector3::x(), beside(1e-2), 0.1));
    assert!(is_exposed(&touched, &p, &-Vector3::x(), beside(1e-4), 0.1));
    assert!(!is_exposed(&touched, &p, &-Vector3::x(), beside(1e-9), 0.1));
}

#[test]
fn between_coplanar_triangles_of_a_mesh_only_their_normal_is_exposed() {
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let level = |z: f64| corners.map(|[x, y]| Point3::new(x, y, z));
    let vertices = [level(-0.1), level(0.0)].concat();
    let mut triangles = vec![[0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7]];
    for (i, j) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
        triangles.extend([[i, j, j + 4], [i, j + 4, i + 4]]);
    }
    let plate = Shape::mesh(&vertices, &triangles).expect("closed");
    let plate = at(&plate, 0.0, 0.0);
    let p = Point3::new(0.5, 0.5, 0.0);
    let exposed = |normal: &Vector3<f64>| is_exposed(&plate, &p, normal, [plate].into_iter(), 0.1);
    assert!(exposed(&Vector3::z()));
    assert!(!exposed(&-Vector3::x()));
    assert!(!exposed(&leaning(0.05)));
}

#[test]
fn the_edge_of_a_flush_mesh_has_no_normal_but_the_common_one() {
    let half = 0.05;
    let corner = |c: usize| {
        Point3::new(
            if c & 1 > 0 { half } else { -half },
            if c & 2 > 0 { half } else { -half },
            if c & 4 > 0 { half } else { -half },
        )
    };
    let corners: Vec<Point3<f64>> = (0..8).map(corner).collect();
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles: Vec<[u32; 3]> = (quads.iter())
        .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]])
        .collect();
    let mesh = Shape::mesh(&corners, &triangles).expect("a solid");
    let (left, right) = (at(&mesh, -0.05, -0.05), at(&mesh, 0.05, -0.05));
    let p = Point3::new(0.0, 0.001, 0.0);
    for angle in [1e-3, 0.025, 0.1, 0.5, 1.0, 1.5] {
        assert!(
            !is_exposed(&right, &p, &leaning(angle), [left].into_iter(), 0.08),
            "{angle}"
        );
    }
    assert!(is_exposed(
        &right,
        &p,
        &leaning(0.0),
        [left].into_iter(),
        0.08
    ));
}
