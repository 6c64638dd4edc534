//! Torsional and rolling friction of contact points, against the mechanics of a ball, a wheel and a puck.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{
    ContactModel, ContactSettings, Geometry, LaggedModel, Mount, RigidSurface, SapModel,
    SimilarModel, State, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::Shape;
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

use crate::rigid_contact::{material, solver};

const G: f64 = 9.81;
const RADIUS: f64 = 0.05;
const MASS: f64 = 0.4;
const DT: f64 = 1e-3;

/// A shape on a level floor.
fn on_floor(
    shape: Shape,
    inertia: SpatialInertia,
    height: f64,
    friction: f64,
    surface: RigidSurface,
    v: [f64; 6],
) -> WorldBuilder {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::new(0.0, 0.0, -G));
    let mut model = ModelBuilder::new("body");
    model.root(Root::Floating);
    model.link(LinkSpec::new("link", inertia));
    let q = [0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0];
    let tree = RigidTree::new(Arc::new(model.build().expect("a legal model"))).starting_at(&q, &v);
    let body = builder.add_body("body", Box::new(tree));
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    builder.add_geometry(Geometry {
        rigid_surface: surface,
        ..Geometry::new("body", mount, shape, material(friction))
    });
    let world = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new(
        "floor",
        world,
        Shape::half_space(),
        material(friction),
    ));
    builder
}

fn ball(friction: f64, surface: RigidSurface, v: [f64; 6]) -> WorldBuilder {
    let shape = Shape::sphere(RADIUS).expect("a radius");
    let inertia = SpatialInertia::solid_sphere(MASS, RADIUS);
    let depth = MASS * G / 5e5;
    on_floor(shape, inertia, RADIUS - depth, friction, surface, v)
}

fn run(world: &World, time: f64) -> State {
    let mut stepper = StrongImplicit::new(solver());
    let (mut state, mut next) = (world.default_state(), State::default());
    for _ in 0..(time / DT).round() as usize {
        let report = stepper
            .step(world, &state, DT, &mut next)
            .expect("a step that can be taken");
        assert!(report.is_trusted(), "{:?}", report.convergence);
        std::mem::swap(&mut state, &mut next);
    }
    state
}

fn rolling(length: f64) -> RigidSurface {
    RigidSurface {
        rolling_friction: length,
        ..RigidSurface::default()
    }
}

fn torsional(length: f64) -> RigidSurface {
    RigidSurface {
        torsional_friction: length,
        ..RigidSurface::default()
    }
}

#[test]
fn a_ball_rolls_as_far_as_rolling_friction_lets_it() {
    // Momentum about the contact: (7/5) m R a = l m g, whatever the direction.
    let (length, speed) = (1e-3, 0.5);
    for angle in [0.0, 0.7, 2.0] {
        let direction = Vector3::new(f64::cos(angle), f64::sin(angle), 0.0);
        let (v, omega) = (
            direction * speed,
            Vector3::z().cross(&direction) * (speed / RADIUS),
        );
        let start = [omega.x, omega.y, omega.z, v.x, v.y, 0.0];
        let world = ball(0.5, rolling(length), start)
            .build()
            .expect("a legal world");
        let expected = speed * speed * 1.4 * RADIUS / (2.0 * length * G);
        let end = run(&world, 4.0);
        let found = Vector3::new(end.bodies[0].q[0], end.bodies[0].q[1], 0.0);
        assert!(
            (found - direction * expected).norm() < 0.01 * expected,
            "{found} {expected}"
        );
        assert!(end.bodies[0].v.iter().all(|v| v.abs() < 1e-3));
    }
}

#[test]
fn every_contact_model_decelerates_a_rolling_ball_alike() {
    let (length, speed, time) = (2e-3, 1.0, 0.5);
    let models: [Arc<dyn ContactModel>; 3] = [
        Arc::new(LaggedModel::default()),
        Arc::new(SimilarModel),
        Arc::new(SapModel),
    ];
    for model in models {
        let start = [0.0, speed / RADIUS, 0.0, speed, 0.0, 0.0];
        let mut builder = ball(0.5, rolling(length), start);
        builder.contact(ContactSettings {
            model,
            ..ContactSettings::default()
        });
        let end = run(&builder.build().expect("a legal world"), time);
        let loss = length * G / (1.4 * RADIUS) * time;
        let found = speed - end.bodies[0].v[3];
        assert!((found / loss - 1.0).abs() < 0.01, "{found} {loss}");
    }
}

#[test]
fn a_ball_on_a_slope_rolls_where_the_slope_exceeds_length_over_radius() {
    let length = 2e-3; // tan θ = 0.04
    for (slope, rolls) in [(0.035, false), (0.045, true)] {
        let mut builder = ball(0.5, rolling(length), [0.0; 6]);
        builder.gravity(Vector3::new(slope, 0.0, -1.0) * G);
        let end = run(&builder.build().expect("a legal world"), 1.0);
        let expected = 5.0 / 7.0 * G * (slope - length / RADIUS);
        let found = end.bodies[0].v[3];
        match rolls {
            true => assert!(
                (found - expected).abs() < 0.03 * expected,
                "{found} {expected}"
            ),
            // It creeps, as a point in stiction does.
            false => assert!(found.abs() < 1e-3, "{found}"),
        }
    }
}

#[test]
fn a_ball_spins_down_linearly() {
    // (2/5) m R² dω/dt = −l m g.
    let (length, spin, time) = (1e-3, 40.0, 2.0);
    let world = ball(0.5, torsional(length), [0.0, 0.0, spin, 0.0, 0.0, 0.0]);
    let end = run(&world.build().expect("a legal world"), time);
    let expected = spin - 2.5 * length * G / (RADIUS * RADIUS) * time;
    let found = end.bodies[0].v[2];
    assert!(
        (found - expected).abs() < 0.01 * (spin - expected),
        "{found} {expected}"
    );
    let still = run(
        &ball(0.5, torsional(length), [0.0, 0.0, 10.0, 0.0, 0.0, 0.0])
            .build()
            .expect("a legal world"),
        2.0,
    );
    assert!(
        still.bodies[0].v[2].abs() < 1e-2,
        "{}",
        still.bodies[0].v[2]
    );
    // Rolling friction does not act on it.
    let world = ball(0.5, rolling(length), [0.0, 0.0, spin, 0.0, 0.0, 0.0]);
    let free = run(&world.build().expect("a legal world"), 1.0);
    assert!((free.bodies[0].v[2] - spin).abs() < 1e-6);
}

#[test]
fn a_puck_without_sliding_friction_spins_down_by_torsion() {
    // All its points together carry m g: ½ m R² dω/dt = −l m g.
    let (length, spin, time, half) = (4e-4, 8.0, 2.0, 0.01);
    let shape = Shape::cylinder(RADIUS, 2.0 * half).expect("positive sizes");
    let inertia = SpatialInertia::solid_cylinder(MASS, RADIUS, 2.0 * half);
    let v = [0.0, 0.0, spin, 0.0, 0.0, 0.0];
    let builder = on_floor(shape, inertia, half, 0.0, torsional(length), v);
    let end = run(&builder.build().expect("a legal world"), time);
    let expected = spin - 2.0 * length * G / (RADIUS * RADIUS) * time;
    let found = end.bodies[0].v[2];
    assert!(
        (found - expected).abs() < 0.01 * (spin - expected),
        "{found} {expected}"
    );
}

#[test]
fn reports_have_the_torque_of_a_contact() {
    let (length, speed) = (1e-3, 0.5);
    let start = [0.0, speed / RADIUS, 0.0, speed, 0.0, 0.0];
    let world = ball(0.5, rolling(length), start)
        .build()
        .expect("a legal world");
    let mut stepper = StrongImplicit::new(solver());
    let mut next = State::default();
    let report = stepper
        .step(&world, &world.default_state(), DT, &mut next)
        .expect("a step");
    let contact = &report.contacts[0];
    let on_ball = contact.torque_W.y;
    assert!(
        (on_ball + length * MASS * G).abs() < 0.01 * length * MASS * G,
        "{on_ball}"
    );
    assert!(contact.torque_W.x.abs() < 1e-9 && contact.torque_W.z.abs() < 1e-9);
}

#[test]
fn lengths_out_of_range_are_refused() {
    for length in [-1e-3, f64::NAN, f64::INFINITY] {
        for (surface, name) in [
            (rolling(length), "rolling friction"),
            (torsional(length), "torsional friction"),
        ] {
            let error = ball(0.5, surface, [0.0; 6])
                .build()
                .err()
                .expect("no such length");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
