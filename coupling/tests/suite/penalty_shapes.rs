//! Rigid shapes on penalty forces where sampled points would bump, brake or miss: balls that roll and spin, bricks over an edge.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{
    Geometry, Mount, PenaltyForce, PenaltyForceSettings, State, Stepper, World, WorldBuilder,
};
use pliant_hydroelastic::Shape;
use pliant_multibody::SpatialInertia;

use crate::penalty_worlds::{G, add_free_body, surface};

const K: f64 = 1e6;

fn on_floor(
    shape: Shape,
    inertia: SpatialInertia,
    friction: f64,
    (X_WB, v): (Isometry3<f64>, [f64; 6]),
    gravity: Vector3<f64>,
) -> World {
    let mut builder = WorldBuilder::default();
    let material = surface(K, friction);
    let floor = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), material));
    add_free_body(&mut builder, "body", shape, inertia, material, X_WB, v);
    builder.gravity(gravity);
    builder.build().expect("a legal world")
}

/// Takes trusted steps until a time; `each` sees the state after every step.
fn run(world: &World, dt: f64, until: f64, mut each: impl FnMut(&State)) -> State {
    let mut stepper = PenaltyForce::new(PenaltyForceSettings::default()).expect("settings");
    let (mut state, mut next) = (world.default_state(), State::default());
    for _ in 0..(until / dt).round() as usize {
        let report = stepper.step(world, &state, dt, &mut next).expect("a step");
        assert!(report.is_trusted(), "{:?}", report.warnings);
        std::mem::swap(&mut state, &mut next);
        each(&state);
    }
    state
}

#[test]
fn a_ball_rolls_at_its_speed_without_bumps() {
    let (radius, mass, speed) = (0.1, 0.7, 1.3);
    let z = radius - mass * G / K;
    for dt in [1e-3, 1e-2] {
        let world = on_floor(
            Shape::sphere(radius).expect("a radius"),
            SpatialInertia::solid_sphere(mass, radius),
            0.5,
            (
                Isometry3::translation(0.0, 0.0, z),
                [0.0, speed / radius, 0.0, speed, 0.0, 0.0],
            ),
            Vector3::z() * -G,
        );
        let mut bump = 0.0_f64;
        let end = run(&world, dt, 2.0, |state| {
            bump = bump.max((state.bodies[0].q[2] - z).abs());
        });
        let (q, v) = (&end.bodies[0].q, &end.bodies[0].v);
        assert!(bump < 1e-11, "{dt}: {bump:e}");
        assert!((v[3] - speed).abs() < 1e-8, "{dt}: {}", v[3]);
        assert!((v[1] - speed / radius).abs() < 1e-7, "{dt}: {}", v[1]);
        assert!((q[0] - 2.0 * speed).abs() < 1e-7, "{dt}: {}", q[0]);
    }
}

#[test]
fn balls_and_capsules_roll_down_a_slope_as_they_should() {
    let (sin, cos) = 20_f64.to_radians().sin_cos();
    let gravity = Vector3::new(G * sin, 0.0, -G * cos);
    let radius = 0.05;
    // 5/7 of a solid sphere; a capsule with the moment of a solid cylinder has 2/3.
    let cylinder = SpatialInertia::solid_cylinder(0.4, radius, 0.3);
    let lying = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    for (shape, inertia, rotation, part) in [
        (
            Shape::sphere(radius),
            SpatialInertia::solid_sphere(0.4, radius),
            UnitQuaternion::identity(),
            5.0 / 7.0,
        ),
        (Shape::capsule(radius, 0.3), cylinder, lying, 2.0 / 3.0),
    ] {
        let at = Isometry3::from_parts(Translation3::new(0.0, 0.0, radius), rotation);
        let world = on_floor(
            shape.expect("legal sizes"),
            inertia,
            0.6,
            (at, [0.0; 6]),
            gravity,
        );
        let until = 1.0;
        let end = run(&world, 1e-3, until, |_| {});
        let acceleration = end.bodies[0].v[3] / until;
        let expected = part * G * sin;
        // The attachment begins a stretch behind: 1e-3.
        assert!(
            (acceleration / expected - 1.0).abs() < 2e-3,
            "{acceleration} {expected}"
        );
        let slip = end.bodies[0].v[3] - radius * end.bodies[0].v[1];
        assert!(slip.abs() < 1e-3, "{slip}");
    }
}

#[test]
fn a_ball_spins_on_one_point_and_a_sliding_one_comes_to_roll() {
    let (radius, mass) = (0.1, 0.7);
    let z = radius - mass * G / K;
    let ball = |v: [f64; 6]| {
        on_floor(
            Shape::sphere(radius).expect("a radius"),
            SpatialInertia::solid_sphere(mass, radius),
            0.3,
            (Isometry3::translation(0.0, 0.0, z), v),
            Vector3::z() * -G,
        )
    };
    let end = run(&ball([0.0, 0.0, 20.0, 0.0, 0.0, 0.0]), 2e-3, 2.0, |_| {});
    let v = &end.bodies[0].v;
    assert!((v[2] - 20.0).abs() < 1e-9, "spin {}", v[2]);
    assert!(v[3].abs() + v[4].abs() < 1e-9, "{v:?}");
    // A ball that slides with v rolls with 5/7 v, after 2 v/(7 μ g).
    let end = run(&ball([0.0, 0.0, 0.0, 1.4, 0.0, 0.0]), 1e-3, 1.0, |_| {});
    let v = &end.bodies[0].v;
    assert!((v[3] - 1.0).abs() < 2e-3, "{}", v[3]);
    assert!((v[3] - radius * v[1]).abs() < 1e-4, "{v:?}");
}

#[test]
fn a_ball_rests_on_balls_and_boxes_with_one_contact_each() {
    for support in [
        Shape::sphere(0.3).expect("a radius"),
        Shape::cuboid(Vector3::new(1.0, 1.0, 0.6)).expect("lengths"),
        Shape::capsule(0.3, 0.5).expect("sizes"),
    ] {
        // The capsule's end is a ball, too.
        let top = if support.name() == "capsule" {
            0.55
        } else {
            0.3
        };
        let (radius, mass) = (0.05, 0.2);
        let mut builder = WorldBuilder::default();
        let material = surface(K, 0.5);
        let name = support.name();
        let fixed = Mount::World(Isometry3::identity());
        builder.add_geometry(Geometry::new("support", fixed, support, material));
        let z = top + radius - mass * G / K;
        add_free_body(
            &mut builder,
            "ball",
            Shape::sphere(radius).expect("a radius"),
            SpatialInertia::solid_sphere(mass, radius),
            material,
            Isometry3::translation(0.0, 0.0, z),
            [0.0; 6],
        );
        let world = builder.build().expect("a legal world");
        let end = run(&world, 2e-3, 0.2, |_| {});
        assert_eq!(end.memory.attachments.len(), 1, "{name}");
        assert!((end.bodies[0].q[2] - z).abs() < 1e-10, "{name}");
    }
}

/// A brick of 0.2 × 0.1 × 0.05 m over the edge x = 0 of a table, its centre at x.
fn brick_at(x: f64, yaw: f64) -> World {
    let mut builder = WorldBuilder::default();
    let material = surface(K, 0.6);
    let table = Mount::World(Isometry3::translation(-0.5, 0.0, -0.05));
    let top = Shape::cuboid(Vector3::new(1.0, 1.0, 0.1)).expect("lengths");
    builder.add_geometry(Geometry::new("table", table, top, material));
    let lengths = Vector3::new(0.2, 0.1, 0.05);
    add_free_body(
        &mut builder,
        "brick",
        Shape::cuboid(lengths).expect("lengths"),
        SpatialInertia::solid_box(2.0, lengths),
        material,
        Isometry3::from_parts(
            Translation3::new(x, 0.0, 0.025),
            UnitQuaternion::from_euler_angles(0.0, 0.0, yaw),
        ),
        [0.0; 6],
    );
    builder.build().expect("a legal world")
}

#[test]
fn a_brick_over_an_edge_stands_or_tips_where_statics_says() {
    for yaw in [0.0, 0.6] {
        for (x, stands) in [(-0.02, true), (-0.002, true), (0.002, false), (0.02, false)] {
            let world = brick_at(x, yaw);
            let end = run(&world, 2e-3, 0.6, |_| {});
            let z = end.bodies[0].q[2];
            let sunk = 0.025 - z;
            assert_eq!(sunk < 1e-3, stands, "{x}, {yaw}: sunk by {sunk}");
        }
    }
}

/// The same table and brick the other way round: the overlap is a corner of 20 mm.
#[test]
fn a_brick_holds_with_a_corner_on_a_table() {
    let mut builder = WorldBuilder::default();
    let material = surface(K, 0.6);
    // Two tables, each below a corner of 20 mm.
    for side in [-1.0, 1.0] {
        let at = Isometry3::translation(side * 0.58, side * 0.53, -0.05);
        let top = Shape::cuboid(Vector3::new(1.0, 1.0, 0.1)).expect("lengths");
        let name = if side < 0.0 { "left" } else { "right" };
        builder.add_geometry(Geometry::new(name, Mount::World(at), top, material));
    }
    let lengths = Vector3::new(0.2, 0.1, 0.05);
    add_free_body(
        &mut builder,
        "brick",
        Shape::cuboid(lengths).expect("lengths"),
        SpatialInertia::solid_box(2.0, lengths),
        material,
        Isometry3::translation(0.0, 0.0, 0.025),
        [0.0; 6],
    );
    let world = builder.build().expect("a legal world");
    let end = run(&world, 2e-3, 0.3, |_| {});
    assert!(end.bodies[0].q[2] > 0.0245, "{}", end.bodies[0].q[2]);
}
