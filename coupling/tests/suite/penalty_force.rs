//! Penalty forces with sliding attachments between rigid bodies: stacks, collisions, rolling, saved states, and what is refused.
//!
//! Numbers without another source are derived in `docs/theory/ding-2020.md`.

use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{
    Attachment, AttachmentPlace, Geometry, GeometryIdx, Mount, PenaltyForce, PenaltyForceSettings,
    State, StepReport, Stepper, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::SpatialInertia;

use crate::penalty_worlds::{
    FLOOR, G, add_body_with_origin, add_free_body, stepper, surface, with_tolerance,
};

#[test]
fn a_stack_of_equal_cubes_stands_and_keeps_every_bit() {
    let (k, side) = (1e3, 0.2);
    let mut builder = WorldBuilder::default();
    let material = surface(k, 0.2);
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
    let lengths = Vector3::repeat(side);
    for (i, name) in ["low", "middle", "high"].into_iter().enumerate() {
        add_free_body(
            &mut builder,
            name,
            Shape::cuboid(lengths).expect("positive lengths"),
            SpatialInertia::solid_box(1.0, lengths),
            material,
            Isometry3::translation(0.0, 0.0, (i as f64 + 0.5) * side),
            [0.0; 6],
        );
    }
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let mut stepper = PenaltyForce::new(PenaltyForceSettings::default()).expect("legal settings");
    let mut next = State::default();
    let mut run = |state: &mut State, steps: usize| {
        for _ in 0..steps {
            let report = stepper
                .step(&world, state, 1e-2, &mut next)
                .expect("a step");
            assert!(report.is_trusted(), "{:?}", report.penalty_force);
            std::mem::swap(state, &mut next);
        }
    };
    run(&mut state, 1500);
    // 16 particles on the floor, 4 within each face of a pair; those on its rim are on the sides of the other.
    let sag = G / k * (3.0 / 16.0 + 2.0 / 8.0 + 1.0 / 8.0);
    let height = state.bodies[2].q[2];
    assert!((height - (2.5 * side - sag)).abs() < 1e-6, "{height}");
    // Those on the rim touch the sides of the other cube by round-off, and come and go.
    let bearing = |state: &State| -> Vec<Attachment> {
        let within = |a: &&Attachment| {
            let AttachmentPlace::InFrame(p) = a.place else {
                return false;
            };
            a.object == FLOOR || p.x.abs().max(p.y.abs()) < 0.45 * side
        };
        let attachments = state.memory.attachments.iter();
        attachments.filter(within).copied().collect()
    };
    let before = bearing(&state);
    assert_eq!(before.len(), 16 + 2 * 8);
    run(&mut state, 1500);
    assert_eq!(bearing(&state), before);
    assert!((state.bodies[2].q[2] - height).abs() < 1e-10);
}

/// Two cubes that meet off centre, spinning, without gravity. The origins of their frames are at `p_BO`.
fn collision(friction: f64, p_BO: Vector3<f64>) -> World {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let lengths = Vector3::repeat(0.2);
    let turned = UnitQuaternion::from_euler_angles(0.5, 0.7, 0.2);
    let second = Isometry3::from_parts(Translation3::new(0.27, 0.04, 0.03), turned);
    for (name, mass, pose, v) in [
        (
            "left",
            1.0,
            Isometry3::identity(),
            [0.3, -0.2, 0.5, 1.0, 0.0, 0.1],
        ),
        ("right", 2.0, second, [0.0, 0.4, -0.3, -0.8, 0.1, 0.0]),
    ] {
        let parts = (
            Shape::cuboid(lengths).expect("positive lengths"),
            SpatialInertia::solid_box(mass, lengths),
            surface(2e3, friction),
        );
        add_body_with_origin(&mut builder, name, parts, pose, v, p_BO);
    }
    builder.build().expect("a legal world")
}

#[test]
fn the_origins_of_colliding_bodies_do_not_matter() {
    let end = |p_BO: Vector3<f64>, dt: f64| {
        let world = collision(0.4, p_BO);
        let mut state = world.default_state();
        let before = world.energy(&state).linear_momentum_W;
        let mut stepper = with_tolerance(1e-12);
        for _ in 0..(0.3 / dt).round() as usize {
            let mut next = State::default();
            let report = stepper.step(&world, &state, dt, &mut next).expect("a step");
            assert!(report.is_trusted(), "{:?}", report.penalty_force);
            state = next;
        }
        let off = world.energy(&state).linear_momentum_W - before;
        assert!(off.norm() < 1e-10, "{off}");
        let q = &state.bodies[1].q;
        let turn = Quaternion::new(q[3], q[4], q[5], q[6]);
        let turn = UnitQuaternion::from_quaternion(turn);
        Vector3::new(q[0], q[1], q[2]) - turn * p_BO
    };
    let elsewhere = Vector3::new(0.13, -0.05, 0.08);
    // Torques are about where the centre was, seen from the origin: a difference of the order of the time step.
    let off = |dt| (end(elsewhere, dt) - end(Vector3::zeros(), dt)).norm();
    let (coarse, fine) = (off(2e-3), off(5e-4));
    assert!(coarse < 5e-3 && fine < 0.4 * coarse, "{coarse:e} {fine:e}");
}

#[test]
fn a_collision_keeps_momentum_and_angular_momentum_up_to_the_defect_of_backward_euler() {
    let (world, dt) = (collision(0.4, Vector3::zeros()), 2e-3);
    let mut state = world.default_state();
    let before = world.energy(&state);
    let mut stepper = with_tolerance(1e-12);
    let (mut next, mut report) = (State::default(), StepReport::default());
    let mut expected = before.angular_momentum_W;
    let mut impulse = 0.0_f64;
    for _ in 0..150 {
        stepper
            .step_into(&world, &state, dt, &mut next, &mut report)
            .expect("a step that can be taken");
        assert!(report.is_trusted(), "{:?}", report.penalty_force);
        // c₁ × m v₁ − c₀ × m v₀ = c₀ × δt f, while torques about the centres have arms from c₁ = c₀ + δt v₁.
        let v = |b: usize| Vector3::from_column_slice(&next.bodies[b].v[3..]);
        let force = report
            .contact_wrench(&Point3::origin(), |g| g == GeometryIdx(0))
            .force;
        expected -= (v(0) - v(1)).cross(&force) * (dt * dt);
        impulse += force.norm() * dt;
        std::mem::swap(&mut state, &mut next);
    }
    let after = world.energy(&state);
    assert!(impulse > 0.5, "they have met: {impulse}");
    assert!((after.linear_momentum_W - before.linear_momentum_W).norm() < 1e-10);
    let off = (after.angular_momentum_W - expected).norm();
    assert!(off < 1e-9, "{off:e}");
    // Backward Euler takes energy out, never in.
    assert!(after.kinetic < before.kinetic);
}

#[test]
fn a_sphere_rolls_or_slips_down_a_plane() {
    // g sin θ 5/7, and g (sin θ − μ cos θ) with the spin 5 μ g cos θ/(2 r); particles on the sphere make it a polyhedron.
    let slope = 20.0_f64.to_radians().tan();
    for (friction, expected, spin) in [(0.3, 2.396_58, 2.396_58), (0.01, 3.263_00, 0.230_460)] {
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::new(slope, 0.0, -1.0).normalize() * G);
        let material = surface(2e3, friction);
        let mount = Mount::World(Isometry3::identity());
        builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
        let sphere = SpatialInertia::solid_sphere(1.0, 0.5);
        add_free_body(
            &mut builder,
            "sphere",
            Shape::sphere(0.5).expect("a positive radius"),
            sphere,
            material,
            Isometry3::translation(0.0, 0.0, 0.497),
            [0.0; 6],
        );
        let world = builder.build().expect("a legal world");
        let mut state = world.default_state();
        let mut stepper = PenaltyForce::new(PenaltyForceSettings {
            round_particles: 80,
            ..PenaltyForceSettings::default()
        })
        .expect("legal settings");
        let mut next = State::default();
        let (dt, until) = (5e-3, 1.0);
        for _ in 0..(until / dt) as usize {
            let report = stepper.step(&world, &state, dt, &mut next).expect("a step");
            assert!(report.is_trusted(), "{:?}", report.penalty_force);
            std::mem::swap(&mut state, &mut next);
        }
        let v = &state.bodies[0].v;
        assert!(
            (v[3] / (expected * until) - 1.0).abs() < 0.05,
            "μ {friction}: {}",
            v[3]
        );
        assert!(
            (v[1] * 0.5 - spin * until).abs() < 0.05 * expected,
            "μ {friction}: {}",
            v[1]
        );
    }
}

#[test]
fn a_saved_state_goes_on_with_the_same_bits() {
    let world = collision(0.4, Vector3::zeros());
    let mut state = world.default_state();
    let mut next = State::default();
    let mut stepper = with_tolerance(1e-8);
    for _ in 0..40 {
        let _ = stepper
            .step(&world, &state, 2e-3, &mut next)
            .expect("a step");
        std::mem::swap(&mut state, &mut next);
        if !state.memory.attachments.is_empty() {
            break;
        }
    }
    assert!(!state.memory.attachments.is_empty());
    let saved = serde_json::to_string(&state).expect("plain data");
    let restored: State = serde_json::from_str(&saved).expect("what was written");
    let _ = stepper
        .step(&world, &state, 2e-3, &mut next)
        .expect("a step");
    let mut other = State::default();
    let _ = with_tolerance(1e-8)
        .step(&world, &restored, 2e-3, &mut other)
        .expect("a step");
    assert_eq!(next, other);
}

#[test]
fn settings_out_of_range_and_rigid_pairs_are_refused() {
    let bad = [
        PenaltyForceSettings {
            tolerance: 0.0,
            ..Default::default()
        },
        PenaltyForceSettings {
            tolerance: f64::NAN,
            ..Default::default()
        },
        PenaltyForceSettings {
            iterations_max: 0,
            ..Default::default()
        },
        PenaltyForceSettings {
            krylov_max: 0,
            ..Default::default()
        },
        PenaltyForceSettings {
            round_particles: 2,
            ..Default::default()
        },
        PenaltyForceSettings {
            box_particles: 1,
            ..Default::default()
        },
    ];
    for settings in bad {
        assert!(PenaltyForce::new(settings).is_err(), "{settings:?}");
    }
    let mut builder = WorldBuilder::default();
    let rigid = ContactMaterial {
        stiffness: f64::INFINITY,
        ..ContactMaterial::default()
    };
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), rigid));
    let lengths = Vector3::repeat(0.1);
    let cube = Shape::cuboid(lengths).expect("positive lengths");
    let inertia = SpatialInertia::solid_box(1.0, lengths);
    add_free_body(
        &mut builder,
        "cube",
        cube,
        inertia,
        rigid,
        Isometry3::identity(),
        [0.0; 6],
    );
    let world = builder.build().expect("a legal world");
    let error = stepper()
        .step(&world, &world.default_state(), 1e-2, &mut State::default())
        .expect_err("no finite stiffness");
    assert!(error.to_string().contains("must be finite"), "{error}");
}
