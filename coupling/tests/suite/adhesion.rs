//! Pairs that attract each other while they touch, against the balance of forces.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{
    BodyIdx, Geometry, GeometryIdx, Mount, PairRule, PenaltyForce, PenaltyForceSettings, State,
    Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::Shape;
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

use crate::rigid_contact::{material, solver};

const G: f64 = 9.81;
const SIDE: f64 = 0.1;
const MASS: f64 = 0.5;
const DT: f64 = 2e-3;

/// A box below a ceiling that attracts it with `force`, under `gravity`.
fn below_ceiling(force: f64, friction: f64, gap: f64, gravity: Vector3<f64>) -> WorldBuilder {
    let mut builder = WorldBuilder::default();
    builder.gravity(gravity);
    let inertia = SpatialInertia::solid_box(MASS, Vector3::repeat(SIDE));
    let mut model = ModelBuilder::new("box");
    model.root(Root::Floating);
    model.link(LinkSpec::new("link", inertia));
    let q = [0.0, 0.0, -0.5 * SIDE - gap, 1.0, 0.0, 0.0, 0.0];
    let model = Arc::new(model.build().expect("a legal model"));
    let body = builder.add_body(
        "box",
        Box::new(RigidTree::new(model).starting_at(&q, &[0.0; 6])),
    );
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let cube = Shape::cuboid(Vector3::repeat(SIDE)).expect("a box");
    let a = builder.add_geometry(Geometry::new("box", mount, cube, material(friction)));
    let down = Isometry3::rotation(Vector3::x() * std::f64::consts::PI);
    let ceiling = Mount::World(down);
    let b = builder.add_geometry(Geometry::new(
        "ceiling",
        ceiling,
        Shape::half_space(),
        material(friction),
    ));
    let rule = PairRule {
        adhesion: Some(force),
        ..PairRule::default()
    };
    builder.pair_rule(a, b, rule);
    builder
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

#[test]
fn a_box_hangs_until_its_weight_exceeds_the_force() {
    for (share, falls) in [(0.98, true), (1.02, false), (3.0, false)] {
        let gravity = Vector3::new(0.0, 0.0, -G);
        let world = below_ceiling(share * MASS * G, 0.5, 0.0, gravity)
            .build()
            .expect("a legal world");
        let end = run(&world, 1.0);
        let z = end.bodies[0].q[2] + 0.5 * SIDE;
        match falls {
            true => assert!(z < -1e-2, "{share}: {z}"),
            false => assert!(
                z.abs() < 1e-4 && end.bodies[0].v[5].abs() < 1e-6,
                "{share}: {z}"
            ),
        }
    }
}

#[test]
fn the_pair_reports_the_force_that_it_transmits() {
    let gravity = Vector3::new(0.0, 0.0, -G);
    let world = below_ceiling(20.0, 0.5, 0.0, gravity)
        .build()
        .expect("a legal world");
    let state = run(&world, 0.5);
    let mut stepper = StrongImplicit::new(solver());
    let report = stepper
        .step(&world, &state, DT, &mut State::default())
        .expect("a step");
    let pair = report
        .pair(GeometryIdx(0), GeometryIdx(1))
        .expect("they touch");
    assert!(
        (pair.force_on_a().z - MASS * G).abs() < 1e-3,
        "{}",
        pair.force_on_a()
    );
}

#[test]
fn friction_has_the_load_of_the_force() {
    // A wall: gravity along x; μ F holds m g, or not.
    let (mu, gravity) = (0.4, Vector3::new(G, 0.0, 0.0));
    for (share, slides) in [(0.9, true), (1.1, false)] {
        let force = share * MASS * G / mu;
        let world = below_ceiling(force, mu, 0.0, gravity)
            .build()
            .expect("a legal world");
        let end = run(&world, 0.5);
        let speed = end.bodies[0].v[3];
        match slides {
            true => assert!((speed - 0.1 * G * 0.5).abs() < 0.05 * G * 0.05, "{speed}"),
            false => assert!(speed < 1e-3, "{speed}"),
        }
    }
}

#[test]
fn nothing_is_attracted_from_afar() {
    let world = below_ceiling(100.0, 0.5, 2e-3, Vector3::zeros())
        .build()
        .expect("a legal world");
    let end = run(&world, 0.1);
    assert!(end.bodies[0].v.iter().all(|v| *v == 0.0));
}

#[test]
fn forces_out_of_range_and_other_steppers_are_refused() {
    for force in [-1.0, f64::NAN] {
        let error = below_ceiling(force, 0.5, 0.0, Vector3::zeros())
            .build()
            .err()
            .expect("no such force");
        assert!(error.to_string().contains("adhesion (N)"), "{error}");
    }
    let world = below_ceiling(1.0, 0.5, 0.0, Vector3::zeros())
        .build()
        .expect("a legal world");
    let mut stepper = PenaltyForce::new(PenaltyForceSettings::default()).expect("legal settings");
    let error = stepper.step(&world, &world.default_state(), DT, &mut State::default());
    let text = error.expect_err("penalty forces have none").to_string();
    assert!(
        text.contains("adhesion (N) = 1 does not act with penalty forces"),
        "{text}"
    );
    assert_eq!(world.find_body("box"), Some(BodyIdx(0)));
}
