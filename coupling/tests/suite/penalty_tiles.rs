//! Tiles that lie flush are no walls to what slides over them on penalty forces.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_constitutive::Lame;
use pliant_coupling::{
    BodyIdx, Geometry, Mount, PenaltyForce, PenaltyForceSettings, State, Stepper, World,
    WorldBuilder,
};
use pliant_fem::{FemBuilder, LinearCorotated};
use pliant_hydroelastic::Shape;
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_multibody::SpatialInertia;

use crate::penalty_worlds::{add_free_body, surface};

const K: f64 = 1e5;

/// What a tile of 0.1 × 0.3 × 0.1 m is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tile {
    Box,
    Hull,
    Mesh,
}

const LENGTHS: [f64; 3] = [0.1, 0.05, 0.1];

fn tile(kind: Tile) -> Shape {
    let half = Vector3::from(LENGTHS) * 0.5;
    let corners: Vec<Point3<f64>> = (0..8)
        .map(|k| {
            let side = |bit: usize| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
            Point3::from(half.component_mul(&Vector3::from([0, 1, 2].map(side))))
        })
        .collect();
    let hull = Shape::convex_hull(&corners).expect("eight corners");
    match kind {
        Tile::Box => Shape::cuboid(Vector3::from(LENGTHS)).expect("lengths"),
        Tile::Hull => hull,
        Tile::Mesh => {
            let Shape::ConvexHull(hull) = &hull else {
                unreachable!("built as one")
            };
            let triangles: Vec<[u32; 3]> = hull.triangles().collect();
            Shape::mesh(hull.vertices(), &triangles).expect("a closed mesh")
        }
    }
}

/// Five rows of tiles from x = −0.25 m on, their upper faces at z = 0, and at `step` from x = 0.15 m on.
fn tiles(builder: &mut WorldBuilder, kind: Tile, step: f64) {
    for k in 0..60 {
        let (i, j) = (k / 5, k % 5);
        let (x, y) = (-0.2 + 0.1 * f64::from(i), -0.1 + 0.05 * f64::from(j));
        let z = if i >= 4 { step } else { 0.0 } - 0.05;
        let mount = Mount::World(Isometry3::translation(x, y, z));
        let name = format!("tile {k}");
        builder.add_geometry(Geometry::new(&name, mount, tile(kind), surface(K, 0.0)));
    }
}

struct Slid {
    /// Of the centre of mass, m/s.
    speed: f64,
    /// The largest x of the centre of mass.
    farthest: f64,
    untrusted: usize,
}

fn slide((world, mut state, body): (World, State, BodyIdx), (dt, until): (f64, f64)) -> Slid {
    let mut stepper = PenaltyForce::new(PenaltyForceSettings::default()).expect("settings");
    let mut next = State::default();
    let mean = |x: &[f64]| {
        let points = x.chunks_exact(3).map(Vector3::from_column_slice);
        points.sum::<Vector3<f64>>() * (3.0 / x.len() as f64)
    };
    let mut end = Slid {
        speed: 0.0,
        farthest: 0.0,
        untrusted: 0,
    };
    for _ in 0..(until / dt).round() as usize {
        let report = stepper.step(&world, &state, dt, &mut next).expect("a step");
        end.untrusted += usize::from(!report.is_trusted());
        std::mem::swap(&mut state, &mut next);
        let at = &state.bodies[body.0];
        let (v, p) = match at.v.len() {
            6 => (at.v[3], Vector3::from_column_slice(&at.q[..3])),
            _ => (mean(&at.v).x, mean(&at.q)),
        };
        end.speed = v;
        end.farthest = end.farthest.max(p.x);
    }
    end
}

const SPEED: f64 = 1.0;

fn rigid(name: &str, kind: Tile, step: f64) -> (World, State, BodyIdx) {
    let standing = UnitQuaternion::identity();
    let (mass, radius) = (0.5, 0.04);
    let (shape, inertia, height, turn) = match name {
        "ball" => {
            let inertia = SpatialInertia::solid_sphere(mass, radius);
            (Shape::sphere(radius), inertia, radius, standing)
        }
        "puck" => {
            let inertia = SpatialInertia::solid_cylinder(mass, radius, 0.06);
            (Shape::cylinder(radius, 0.06), inertia, 0.03, standing)
        }
        _ => {
            let lengths = Vector3::new(0.12, 0.1, 0.06);
            let yaw = UnitQuaternion::from_euler_angles(0.0, 0.0, 0.3);
            let inertia = SpatialInertia::solid_box(mass, lengths);
            (Shape::cuboid(lengths), inertia, 0.03, yaw)
        }
    };
    let mut builder = WorldBuilder::default();
    tiles(&mut builder, kind, step);
    let at = Isometry3::from_parts(Translation3::new(0.013, 0.004, height), turn);
    let v = [0.0, 0.0, 0.0, SPEED, 0.0, 0.0];
    let shape = shape.expect("legal sizes");
    let body = add_free_body(&mut builder, name, shape, inertia, surface(K, 0.0), at, v);
    let world = builder.build().expect("a legal world");
    let state = world.default_state();
    (world, state, body)
}

fn soft(kind: Tile, step: f64) -> (World, State, BodyIdx) {
    let mut builder = WorldBuilder::default();
    tiles(&mut builder, kind, step);
    let mesh = tet_cuboid(Vector3::repeat(0.04), [2, 2, 2]).expect("legal sizes");
    let lame = Lame::from_young_poisson(1e6, 0.3).expect("legal constants");
    let law = Arc::new(LinearCorotated::new(lame));
    let (body, _) = FemBuilder::new(mesh, law, 1000.0)
        .build()
        .expect("a legal body");
    let at = Isometry3::translation(0.013, 0.004, 0.04);
    let start = body.rigid_state(&at, &Vector3::zeros(), &(Vector3::x() * SPEED));
    let body = builder.add_body("cube", Box::new(body));
    builder.add_geometry(Geometry::of_vertices("cube", body, surface(K, 0.0)));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    state.bodies[body.0] = start;
    (world, state, body)
}

/// At a speed of 1 m/s: what a slider loses of it over 5 seams, and where its centre is then.
fn over(name: &str, kind: Tile) -> Slid {
    let slider = match name {
        "soft cube" => soft(kind, 0.0),
        _ => rigid(name, kind, 0.0),
    };
    slide(slider, (1e-3, 0.5))
}

#[test]
fn flush_tiles_are_no_walls() {
    for name in ["box", "puck", "ball", "soft cube"] {
        for kind in [Tile::Box, Tile::Hull, Tile::Mesh] {
            let end = over(name, kind);
            let lost = 1.0 - end.speed / SPEED;
            assert!(lost.abs() < 1e-3, "{name} over {kind:?}: {lost}");
            assert_eq!(end.untrusted, 0, "{name} over {kind:?}");
        }
    }
}

/// The tiles from x = 0.15 m on are 20 mm higher.
#[test]
fn a_step_between_tiles_is_a_wall() {
    for kind in [Tile::Box, Tile::Hull, Tile::Mesh] {
        for slider in [rigid("box", kind, 0.02), soft(kind, 0.02)] {
            let end = slide(slider, (1e-3, 0.3));
            assert!(end.speed < 0.3, "{kind:?}: {}", end.speed);
            assert!(end.farthest < 0.155, "{kind:?}: at {}", end.farthest);
        }
    }
}
