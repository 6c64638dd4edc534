//! Segment contact of rods: with shapes, with each other and with themselves.

use crate::support::close::close;
use crate::support::worlds::{
    DAMPED, add_rod, coil, fixed, floor, nearest_strands, rope, rubber, run, throw,
};
use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::DeformableModel;
use pliant_coupling::{BodyIdx, Geometry, GeometryIdx, Mount, WorldBuilder, WorldError};
use pliant_der::{Centreline, End, EndCondition, Rod, RodBuilder, Section};
use pliant_hydroelastic::{ContactMaterial, Shape};

const RADIUS: f64 = 0.001;

fn damped(line: Centreline) -> RodBuilder {
    rope(line, RADIUS).damping(DAMPED)
}

fn surface(friction: f64) -> ContactMaterial {
    ContactMaterial {
        // At 1e4 N/m, a segment of 0.1 g at 50 m/s would penetrate by more than its width.
        stiffness: 1e6,
        friction,
        ..ContactMaterial::default()
    }
}

fn add_segments(builder: &mut WorldBuilder, name: &str, rod: &Rod) -> (BodyIdx, GeometryIdx) {
    add_rod(builder, name, rod, |body| {
        Geometry::of_segments(name, body, surface(0.3))
    })
}

#[test]
fn a_thin_fast_rope_does_not_tunnel_through_a_plate_or_another_rope() {
    // The rope moves 5 of its diameters in a step of 1 ms.
    for speed in [2.0, 10.0] {
        let flying = damped(Centreline::straight(
            Point3::new(-0.1, 0.0137, 0.077),
            Point3::new(0.1, 0.0137, 0.077),
            12,
        ))
        .build()
        .unwrap();

        let mut builder = WorldBuilder::default();
        let (body, _) = add_segments(&mut builder, "flying", &flying);
        let plate = Shape::cuboid(Vector3::new(0.5, 0.5, 1e-3)).unwrap();
        builder.add_geometry(fixed("plate", plate, Vector3::zeros(), surface(0.3)));
        let world = builder.build().unwrap();
        let mut state = world.default_state();
        throw(&mut state, body, &flying, Vector3::new(0.0, 0.0, -speed));
        run(
            &world,
            &mut state,
            1e-3,
            0.077 / speed + 0.01,
            |_, state| {
                for node in 0..flying.n_nodes() {
                    let z = flying.position(&state.bodies[body.0], node).z;
                    assert!(
                        z > 0.0,
                        "node {node} went through the plate at {speed} m/s: {z}"
                    );
                }
            },
        );

        let mut builder = WorldBuilder::default();
        let (body, _) = add_segments(&mut builder, "flying", &flying);
        let strung = damped(Centreline::straight(
            Point3::new(0.0031, -0.1, 0.0),
            Point3::new(0.0031, 0.1, 0.0),
            11,
        ))
        .end(End::Start, EndCondition::Pinned)
        .end(End::Finish, EndCondition::Pinned)
        .build()
        .unwrap();
        let (wire, _) = add_segments(&mut builder, "strung", &strung);
        let world = builder.build().unwrap();
        let mut state = world.default_state();
        throw(&mut state, body, &flying, Vector3::new(0.0, 0.0, -speed));
        let mut met = false;
        run(
            &world,
            &mut state,
            1e-3,
            0.077 / speed + 3e-3,
            |report, state| {
                met |= report.contacts.iter().any(|c| c.force_W.norm() > 0.0);
                // At the crossing, the moving rope stays above.
                let height = |rod: &Rod, body: BodyIdx, across: usize, at: f64| {
                    let x = |i: usize| rod.position(&state.bodies[body.0], i);
                    let i = (0..rod.n_edges())
                        .find(|&i| x(i)[across] <= at && at <= x(i + 1)[across])
                        .expect("it reaches there");
                    let s = (at - x(i)[across]) / (x(i + 1)[across] - x(i)[across]);
                    x(i).z + s * (x(i + 1).z - x(i).z)
                };
                let gap = height(&flying, body, 0, 0.0031) - height(&strung, wire, 1, 0.0137);
                assert!(gap > 0.0, "through the wire at {speed} m/s: {gap}");
            },
        );
        assert!(met);
    }
}

#[test]
fn a_segment_between_two_nodes_rests_on_a_bar_that_no_node_touches() {
    let rod = damped(Centreline::straight(
        Point3::new(-0.15, 0.0, 0.012),
        Point3::new(0.15, 0.0, 0.012),
        3,
    ))
    .build()
    .unwrap();
    let mut builder = WorldBuilder::default();
    let (body, _) = add_segments(&mut builder, "rod", &rod);
    let bar = Shape::cuboid(Vector3::new(0.02, 0.1, 0.02)).unwrap();
    builder.add_geometry(fixed("bar", bar, Vector3::zeros(), surface(0.3)));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    run(&world, &mut state, 1e-3, 0.15, |_, _| {});
    let z = [1, 2].map(|i| rod.position(&state.bodies[body.0], i).z);
    let middle = 0.5 * (z[0] + z[1]);
    close("height of the middle", middle, 0.011, 2e-4);
}

#[test]
fn a_rod_between_two_belts_in_opposite_motion_rolls_in_place() {
    let rod = damped(Centreline::straight(
        Point3::new(-0.05, 0.0, RADIUS),
        Point3::new(0.05, 0.0, RADIUS),
        10,
    ))
    .build()
    .unwrap();
    let speed = 0.05;
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let (body, _) = add_segments(&mut builder, "rod", &rod);
    let mut belt = |name: &str, shape: Shape, z: f64, v: f64| {
        let mount = Mount::World(Isometry3::translation(0.0, 0.0, z));
        let mut belt = Geometry::new(name, mount, shape, surface(0.3));
        belt.surface_velocity = Vector3::new(0.0, v, 0.0);
        builder.add_geometry(belt);
    };
    belt("floor", Shape::half_space(), 0.0, -speed);
    let lid = Shape::cuboid(Vector3::new(0.3, 0.3, 0.1)).unwrap();
    belt("lid", lid, 2.0 * RADIUS + 0.05 - 2e-6, speed);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    run(&world, &mut state, 1e-3, 0.2, |_, _| {});
    for edge in 0..rod.n_edges() {
        let spin = state.bodies[body.0].v[rod.angle_dof(edge).unwrap()];
        close("spin", spin * RADIUS, -speed, 0.01 * speed);
    }
    for node in 0..rod.n_nodes() {
        let y = rod.position(&state.bodies[body.0], node).y;
        close("place", y, 0.0, 0.02 * RADIUS);
    }
    let twist = rod.total_twist(&state.bodies[body.0]).unwrap();
    // Relative to the 1.6 turns that it has rolled.
    close("net twist (turns)", twist, 0.0, 5e-3);
}

#[test]
fn a_coil_dropped_on_the_floor_lies_on_itself() {
    let rod = coil(RADIUS).build().unwrap();
    let mut builder = WorldBuilder::default();
    let (body, geometry) = add_segments(&mut builder, "coil", &rod);
    builder.add_geometry(floor(surface(0.3)));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let mut met_itself = 0;
    run(&world, &mut state, 1e-3, 0.3, |report, _| {
        let own = report
            .contacts
            .iter()
            .filter(|c| (c.a, c.b) == (geometry, geometry));
        met_itself += own.filter(|c| c.force_W.norm() > 0.0).count();
    });
    assert!(met_itself > 100, "{met_itself}");
    let (least, i, j) = nearest_strands(&rod, &state.bodies[body.0]);
    assert!(least > 1.9 * RADIUS, "edges {i} and {j}: {least}");
}

#[test]
fn a_strip_rests_on_its_edge_at_half_its_width() {
    let strip = RodBuilder::new(Centreline::straight(
        Point3::new(-0.05, 0.0, 0.012),
        Point3::new(0.05, 0.0, 0.012),
        8,
    ))
    .section(
        Section::Rectangle {
            extent_1: 0.02,
            extent_2: 0.001,
        },
        rubber(),
    )
    .director(Vector3::z())
    .build()
    .unwrap();
    let mut builder = WorldBuilder::default();
    let (body, _) = add_segments(&mut builder, "strip", &strip);
    builder.add_geometry(floor(surface(0.3)));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    run(&world, &mut state, 1e-3, 0.05, |_, _| {});
    for node in 0..9 {
        let z = strip.position(&state.bodies[body.0], node).z;
        // On its edge, 10 mm above the floor, where its inner circle would let it fall to 0.5 mm.
        close("height", z, 0.01, 2e-4);
    }
}

#[test]
fn two_ropes_in_contact_conserve_momentum() {
    let across = |y: bool, z: f64| {
        let end = |s: f64| {
            if y {
                Point3::new(0.003, s, z)
            } else {
                Point3::new(s, 0.002, z)
            }
        };
        rope(Centreline::straight(end(-0.05), end(0.05), 10), RADIUS)
            .build()
            .unwrap()
    };
    let (low, high) = (across(false, 0.0), across(true, 0.00205));
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let (a, _) = add_segments(&mut builder, "low", &low);
    let (b, _) = add_segments(&mut builder, "high", &high);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    throw(&mut state, b, &high, Vector3::new(0.2, 0.3, -0.4));
    let before = world.energy(&state);
    let mut most = 0.0_f64;
    run(&world, &mut state, 1e-4, 0.01, |report, _| {
        let forces = report.contacts.iter().map(|c| c.force_W.norm());
        most = forces.fold(most, f64::max);
    });
    assert!(most > 0.0, "they touch");
    let after = world.energy(&state);
    let p = before.linear_momentum_W.norm();
    let lost = (after.linear_momentum_W - before.linear_momentum_W).norm();
    close("linear momentum", lost / p, 0.0, 1e-6);
    // About the origin, relative to the width of the scene; the error is of first order in the step.
    let turned = (after.angular_momentum_W - before.angular_momentum_W).norm();
    close("angular momentum", turned / (p * 0.05), 0.0, 5e-3);
    let moved = state.bodies[a.0]
        .v
        .iter()
        .fold(0.0_f64, |m, v| m.max(v.abs()));
    assert!(moved > 0.01, "the lower one was pushed");
}

#[test]
fn segment_contact_of_a_body_without_segments_is_rejected() {
    let blob = pliant_contact_sap::conformance::ParticleBlob::new(Default::default()).unwrap();
    assert!({
        let mut surface = pliant_contact_sap::Surface::default();
        blob.surface(&blob.default_state(), &mut surface);
        surface.edges.is_empty()
    });
    let mut builder = WorldBuilder::default();
    let body = builder.add_body("blob", Box::new(blob));
    builder.add_geometry(Geometry::of_segments("wires", body, surface(0.3)));
    let refused = builder.build().err().unwrap();
    assert!(matches!(refused, WorldError::NoSegments { .. }));
    assert!(refused.to_string().contains("\"wires\""), "{refused}");
}
