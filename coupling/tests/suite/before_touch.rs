//! No contact model acts before surfaces touch, and sliding bodies rest at the static depth.

use std::sync::Arc;

use crate::rigid_contact::{material, solver};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_coupling::{
    ContactModel, ContactSettings, DissipationRule, Geometry, LaggedModel, Mount, SapModel,
    SimilarModel, State, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::Shape;
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

const G: f64 = 9.81;
const DT: f64 = 2e-3;

/// Each model with either dissipation.
fn settings() -> Vec<ContactSettings> {
    let models: [Arc<dyn ContactModel>; 3] = [
        Arc::new(LaggedModel::default()),
        Arc::new(SimilarModel),
        Arc::new(SapModel),
    ];
    let rules = [
        DissipationRule::HuntCrossley,
        DissipationRule::RelaxationTime,
    ];
    let with = |(model, dissipation): (&Arc<dyn ContactModel>, _)| ContactSettings {
        model: Arc::clone(model),
        dissipation,
        ..ContactSettings::default()
    };
    models
        .iter()
        .flat_map(|model| rules.map(|rule| with((model, rule))))
        .collect()
}

/// A body over a floor, a half space or a box with the same top.
fn over_floor(
    settings: ContactSettings,
    floor: Shape,
    (shape, inertia): (Shape, SpatialInertia),
    X_WB: Isometry3<f64>,
    v: [f64; 6],
) -> World {
    let mut builder = WorldBuilder::default();
    builder
        .gravity(Vector3::new(0.0, 0.0, -G))
        .contact(settings);
    let depth = match floor {
        Shape::HalfSpace => 0.0,
        _ => 0.5,
    };
    let mount = Mount::World(Isometry3::translation(0.0, 0.0, -depth));
    builder.add_geometry(Geometry::new("floor", mount, floor, material(0.8)));
    let mut model = ModelBuilder::new("body");
    model.root(Root::Floating);
    model.link(LinkSpec::new("body", inertia));
    let (p, r) = (X_WB.translation.vector, X_WB.rotation);
    let q = [p.x, p.y, p.z, r.w, r.i, r.j, r.k];
    let model = Arc::new(model.build().expect("a legal model"));
    let body = builder.add_body("body", Box::new(RigidTree::new(model).starting_at(&q, &v)));
    let X_FG = Isometry3::identity();
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG,
    };
    builder.add_geometry(Geometry::new("body", mount, shape, material(0.8)));
    builder.build().expect("a legal world")
}

fn floors() -> [Shape; 2] {
    let slab = Shape::cuboid(Vector3::new(40.0, 40.0, 1.0)).expect("positive lengths");
    [Shape::half_space(), slab]
}

/// Takes steps while `go_on` of the state and the number of steps done.
fn run(world: &World, mut go_on: impl FnMut(&State, usize) -> bool) -> State {
    let mut stepper = StrongImplicit::new(solver());
    let (mut state, mut next) = (world.default_state(), State::default());
    let mut steps = 0;
    while go_on(&state, steps) {
        let report = stepper.step(world, &state, DT, &mut next);
        assert!(report.expect("a step that can be taken").is_trusted());
        std::mem::swap(&mut state, &mut next);
        steps += 1;
    }
    state
}

/// Falls until the next step closes the gap of the lowest point, which lies `below` the centre: v = v0 − g t and
/// z = z0 − g δt² n(n + 1)/2 of backward Euler.
fn check_free_fall(world: &World, below: f64) {
    let start = world.default_state();
    let (z0, v0) = (start.bodies[0].q[2], start.bodies[0].v.clone());
    let mut fallen = 0;
    let _ = run(world, |state, steps| {
        let n = steps as f64;
        let (z, v) = (state.bodies[0].q[2], &state.bodies[0].v);
        let expected = z0 - G * DT * DT * n * (n + 1.0) / 2.0;
        assert!((z - expected).abs() < 1e-12, "{n}: {z} {expected}");
        assert!((v[5] + G * DT * n).abs() < 1e-12 * (1.0 + n));
        assert!((v[3] - v0[3]).abs() < 1e-12);
        // Every step rounds 80 rad/s a few times.
        assert!((v[2] - v0[2]).abs() < 1e-12 * (1.0 + n));
        fallen = steps;
        expected - G * DT * DT * (n + 1.0) > below
    });
    assert!(fallen > 50, "{fallen}");
}

#[test]
fn a_ball_falls_freely_until_it_touches() {
    for settings in settings() {
        for floor in floors() {
            let ball = (
                Shape::sphere(0.05).expect("positive radius"),
                SpatialInertia::solid_sphere(1.0, 0.05),
            );
            let X_WB = Isometry3::translation(0.0, 0.0, 0.4);
            let v = [0.0, 30.0, 0.0, 3.0, 0.0, 0.0];
            let world = over_floor(settings.clone(), floor, ball, X_WB, v);
            check_free_fall(&world, 0.05);
        }
    }
}

#[test]
fn a_spinning_disk_falls_freely_until_it_touches() {
    for settings in settings() {
        for floor in floors() {
            let disk = (
                Shape::cylinder(0.1, 0.02).expect("positive lengths"),
                SpatialInertia::solid_cylinder(1.0, 0.1, 0.02),
            );
            let X_WB = Isometry3::translation(0.0, 0.0, 0.3);
            let v = [0.0, 0.0, 80.0, 4.0, 0.0, 0.0];
            let world = over_floor(settings.clone(), floor, disk, X_WB, v);
            check_free_fall(&world, 0.01);
        }
    }
}

#[test]
fn a_wheel_rolls_at_constant_speed() {
    for settings in settings() {
        for speed in [0.5, 2.0, 10.0] {
            let wheel = (
                Shape::cylinder(0.1, 0.05).expect("positive lengths"),
                SpatialInertia::solid_cylinder(10.0, 0.1, 0.05),
            );
            let lying = UnitQuaternion::from_euler_angles(std::f64::consts::FRAC_PI_2, 0.0, 0.0);
            let X_WB = Isometry3::from_parts(Vector3::new(0.0, 0.0, 0.1).into(), lying);
            let v = [0.0, speed / 0.1, 0.0, speed, 0.0, 0.0];
            let world = over_floor(settings.clone(), Shape::half_space(), wheel, X_WB, v);
            let end = run(&world, |state, steps| {
                let z = state.bodies[0].q[2];
                // 98.1 N on two points of 500 kN/m.
                assert!(
                    (0.0998..0.1 + 1e-9).contains(&z),
                    "{settings:?}, {speed}: {z}"
                );
                steps < 500
            });
            let left = end.bodies[0].v[3];
            assert!(
                (left / speed - 1.0).abs() < 2e-3,
                "{settings:?}, {speed}: {left}"
            );
        }
    }
}

#[test]
fn what_slides_stays_at_its_static_depth_and_stops_after_coulombs_distance() {
    // 9.81 N on four points of 500 kN/m.
    let depth = G / 2e6;
    for settings in settings() {
        let puck = (
            Shape::cuboid(Vector3::new(0.4, 0.4, 0.1)).expect("positive lengths"),
            SpatialInertia::solid_box(1.0, Vector3::new(0.4, 0.4, 0.1)),
        );
        let X_WB = Isometry3::translation(0.0, 0.0, 0.05 - depth);
        let v = [0.0, 0.0, 0.0, 3.0, 0.0, 0.0];
        let world = over_floor(settings.clone(), Shape::half_space(), puck, X_WB, v);
        // A slip that falls by μ g δt in each step counts as an approach at μ times that for τ + δt.
        let deeper = 0.8 * 0.8 * G * DT * (DT + 0.2);
        let end = run(&world, |state, steps| {
            let z = state.bodies[0].q[2];
            let allowed = 0.05 - 4.0 * depth - deeper..0.05 + 1e-9;
            assert!(allowed.contains(&z), "{settings:?} {steps}: {z}");
            steps < 500
        });
        let distance = end.bodies[0].q[0];
        let expected = 9.0 / (2.0 * 0.8 * G) - 0.5 * 3.0 * DT;
        assert!(
            (distance / expected - 1.0).abs() < 5e-3,
            "{settings:?}: {distance} {expected}"
        );
    }
}
