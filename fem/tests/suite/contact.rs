//! Finite-element bodies in contact with fixed shapes, with robots' links and with each other, by the vertices or by the triangles and
//! tetrahedra of their surfaces.

use std::sync::Arc;

use crate::support::touching::{
    TOUCHES, Touch, add_floor, add_soft, center, center_velocity, cube, run, soft_cube, surface,
    wrench_from_outside,
};
use crate::support::{UNDAMPED, built, corotated};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_contact_sap::{FrictionLimit, SolverKind, StopCriteria, SupportReaction};
use pliant_coupling::{
    BodyIdx, ContactModel, ContactSettings, Exclusion, Geometry, GeometryIdx, LaggedModel, Mount,
    SapModel, SimilarModel, State, StepReport, Stepper, StrongImplicit, WorldBuilder,
};
use pliant_fem::{Axis, FemBuilder, Region};
use pliant_hydroelastic::Shape;
use pliant_hydroelastic::mesh::generate::{tet_cuboid, tet_torus};
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia,
};

fn models() -> [Arc<dyn ContactModel>; 4] {
    [
        Arc::new(LaggedModel::default()),
        Arc::new(LaggedModel {
            friction_limit: FrictionLimit::Lagged,
        }),
        Arc::new(SimilarModel),
        Arc::new(SapModel),
    ]
}

fn every_contact() -> impl Iterator<Item = (Arc<dyn ContactModel>, Touch)> {
    models()
        .into_iter()
        .flat_map(|model| TOUCHES.map(|touch| (model.clone(), touch)))
}

/// A soft block on a plane tilted by tan θ = 0.364 (that is, under tilted gravity): its acceleration along the plane over
/// the last of two seconds, m/s², and its speed at the end.
fn on_incline(model: Arc<dyn ContactModel>, touch: Touch, friction: f64) -> (f64, f64) {
    let angle = 0.364_f64.atan();
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::new(angle.sin(), 0.0, -angle.cos()) * 9.81);
    builder.contact(ContactSettings {
        model,
        stiction_speed: 1e-7,
        ..ContactSettings::default()
    });
    add_floor(&mut builder, surface(friction));
    // Stiff rubber: the creep of a contact is proportional to the compliance at its vertex.
    let body = cube(1e7, Isometry3::translation(0.0, 0.0, 0.05));
    let (block, _) = add_soft(&mut builder, "block", body, surface(friction), touch);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    run(&world, &mut state, 0.01, 1.0, |_, _| {});
    let before = center_velocity(&state, block).x;
    run(&world, &mut state, 0.01, 1.0, |_, _| {});
    let after = center_velocity(&state, block).x;
    (after - before, after)
}

#[test]
fn a_block_on_an_incline_sticks_above_its_critical_friction_and_slides_below() {
    let angle = 0.364_f64.atan();
    for (model, touch) in every_contact() {
        let (_, speed) = on_incline(model.clone(), touch, 0.4);
        eprintln!("{model:?}, {touch:?}: creeps at {speed:.2e} m/s");
        // Surfaces stick, vertices creep.
        let most = if touch == Touch::Surface { 1e-12 } else { 1e-6 };
        assert!(
            speed.abs() < most,
            "{model:?}, {touch:?}: {speed:e} m/s at μ 0.4"
        );
        let (acceleration, _) = on_incline(model.clone(), touch, 0.3);
        let exact = 9.81 * (angle.sin() - 0.3 * angle.cos());
        eprintln!("{model:?}, {touch:?}: slides with {acceleration:.5} of {exact:.5} m/s²");
        assert!(
            (acceleration / exact - 1.0).abs() < 0.01,
            "{model:?}, {touch:?}: {acceleration}"
        );
    }
}

/// A link that slides along x, pushed by a motor.
fn add_plate(
    builder: &mut WorldBuilder,
    name: &str,
    x: f64,
    friction: f64,
) -> (BodyIdx, GeometryIdx) {
    let size = Vector3::new(0.02, 0.3, 0.3);
    let mut model = ModelBuilder::new(name);
    model.root(Root::Fixed(Isometry3::translation(x, 0.0, 0.0)));
    model.link(LinkSpec::new("rail", SpatialInertia::zero()));
    model.link(LinkSpec::new("plate", SpatialInertia::solid_box(1.0, size)));
    model.joint(JointSpec::new("slide", JointKind::Prismatic, "rail", "plate").about(Vector3::x()));
    let body = builder.add_body(
        name,
        Box::new(RigidTree::new(Arc::new(model.build().unwrap()))),
    );
    let mount = Mount::Frame {
        body,
        frame: 1,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(size).unwrap();
    let geometry = builder.add_geometry(Geometry::new(name, mount, shape, surface(friction)));
    (body, geometry)
}

/// A block of 1 kg clamped between two plates with 10 N for two seconds: the final force of the left plate, N, the final speed of the
/// block, m/s, and its mean acceleration from 0.15 to 0.3 s, m/s².
fn between_plates(model: Arc<dyn ContactModel>, touch: Touch, friction: f64) -> (f64, f64, f64) {
    let mut builder = WorldBuilder::default();
    builder.contact(ContactSettings {
        model,
        ..ContactSettings::default()
    });
    let (left, left_surface) = add_plate(&mut builder, "left", -0.06, friction);
    let (right, _) = add_plate(&mut builder, "right", 0.06, friction);
    builder.exclude(Exclusion::Bodies(left, right));
    let (block, block_surface) = add_soft(
        &mut builder,
        "block",
        cube(1e5, Isometry3::identity()),
        surface(friction),
        touch,
    );
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    state.controls[left.0].effort = vec![10.0];
    state.controls[right.0].effort = vec![-10.0];
    let (mut push, mut speeds) = (0.0, Vec::new());
    run(&world, &mut state, 0.01, 2.0, |report, state| {
        let pair = report.pair(left_surface, block_surface);
        push = pair.map_or(0.0, |pair| pair.force_on_a().x.abs());
        speeds.push(center_velocity(state, block).z);
    });
    (push, speeds[199], (speeds[29] - speeds[14]) / 0.15)
}

#[test]
fn a_block_between_plates_is_held_above_its_critical_friction_and_falls_below() {
    // 2 · 10 N · μ = 9.81 N at μ = 0.4905.
    for (model, touch) in every_contact() {
        let (push, speed, _) = between_plates(model.clone(), touch, 0.6);
        eprintln!("{model:?}, {touch:?}: pressed by {push:.9} N, creeps at {speed:.2e} m/s");
        assert!(
            (push - 10.0).abs() < 1e-6 * 10.0,
            "{model:?}, {touch:?}: {push} N"
        );
        let most = if touch == Touch::Surface { 1e-9 } else { 1e-3 };
        assert!(speed.abs() < most, "{model:?}, {touch:?}: {speed} m/s");
        let (_, _, acceleration) = between_plates(model.clone(), touch, 0.4);
        let exact = -9.81 * (1.0 - 0.4 / 0.4905);
        eprintln!("{model:?}, {touch:?}: falls with {acceleration:.5} of {exact:.5} m/s²");
        assert!(
            (acceleration / exact - 1.0).abs() < 0.005,
            "{model:?}, {touch:?}: {acceleration} m/s² at μ 0.4"
        );
    }
}

/// Largest errors over the steps of a collision of two free cubes, from their balances of momentum.
#[derive(Debug, Default)]
struct Collision {
    /// Largest force, N.
    force: f64,
    /// Norm of the sum of the forces on both, N, and, in steps without loaded speculative contacts, of the torques, N·m.
    forces: f64,
    torques: f64,
    /// Difference of the reported forces (N) and torques (N·m) on either body from those.
    report_force: f64,
    report_torque: f64,
    /// Change of the linear momentum, kg m/s, and of the angular momentum relative to its exchange between the bodies.
    linear: f64,
    angular: f64,
}

fn collide(touch: Touch, friction: f64, dt: f64) -> Collision {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let soft = |X_WM: Isometry3<f64>| {
        let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
        // Damping also resists the rotation of strained elements, a torque that is not from contact.
        let builder = FemBuilder::new(mesh, corotated(1e5, 0.3), 1000.0).damping(UNDAMPED);
        match touch {
            Touch::Vertices => built(builder.pose(X_WM).contact_radius(0.02)),
            Touch::Surface => built(builder.pose(X_WM)),
        }
    };
    let tilt = UnitQuaternion::from_scaled_axis(Vector3::new(0.4, 0.3, 0.2));
    let left = soft(Isometry3::identity());
    let right = soft(Isometry3::from_parts(
        Vector3::new(0.2, 0.02, 0.01).into(),
        tilt,
    ));
    let (a, surface_a) = add_soft(&mut builder, "left", left, surface(friction), touch);
    let (b, surface_b) = add_soft(&mut builder, "right", right, surface(friction), touch);
    builder.exclude(Exclusion::Bodies(a, a));
    builder.exclude(Exclusion::Bodies(b, b));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    state.bodies[a.0]
        .v
        .chunks_exact_mut(3)
        .for_each(|v| v[0] = 1.0);
    let before = world.energy(&state);
    let mut last = state.clone();
    let (mut worst, mut exchanged) = (Collision::default(), Vector3::zeros());
    let origin = Point3::origin();
    run(&world, &mut state, dt, 0.4, |report, state| {
        let on = [a, b].map(|body| wrench_from_outside(&world, body, (&last, state), dt));
        for (on, surface) in on.iter().zip([surface_a, surface_b]) {
            let reported = report.contact_wrench(&origin, |g| g == surface);
            worst.report_force = worst.report_force.max((reported.force - on.force).norm());
            worst.report_torque = worst
                .report_torque
                .max((reported.torque - on.torque).norm());
        }
        worst.force = worst.force.max(on[0].force.norm());
        worst.forces = worst.forces.max((on[0].force + on[1].force).norm());
        let mut loaded = report.contacts.iter().filter(|c| c.force_W.norm() > 0.0);
        if loaded.all(|c| c.signed_distance <= 0.0) {
            worst.torques = worst.torques.max((on[0].torque + on[1].torque).norm());
        }
        exchanged += on[1].torque * dt;
        last.clone_from(state);
    });
    let after = world.energy(&state);
    worst.linear = (after.linear_momentum_W - before.linear_momentum_W).norm();
    let angular_change = (after.angular_momentum_W - before.angular_momentum_W).norm();
    worst.angular = angular_change / exchanged.norm();
    assert!(after.kinetic + after.potential < before.kinetic);
    assert!(center_velocity(&state, b).x > 0.1);
    eprintln!("{touch:?}, μ {friction}, Δt {dt}: {worst:?}");
    worst
}

#[test]
fn colliding_soft_bodies_exert_opposite_forces_and_conserve_momenta() {
    for touch in TOUCHES {
        for friction in [0.0, 0.5] {
            let worst = collide(touch, friction, 2e-3);
            assert!(worst.force > 1.0, "they are in contact");
            assert!(worst.forces < 1e-12 * worst.force && worst.linear < 1e-9);
            assert!(worst.report_force < 1e-7 * worst.force);
            // Vertices have no rotational degree of freedom: the moment of friction about them is not applied.
            if touch == Touch::Vertices && friction > 0.0 {
                continue;
            }
            assert!(worst.report_torque < 1e-8 * worst.force);
            assert!(worst.torques < 1e-8 * worst.force);
            assert!(worst.angular < 0.02, "{touch:?}, {friction}");
            // Speculative contacts act across a gap, and elements rotate within a step: errors of first order in the step.
            let shorter = collide(touch, friction, 5e-4);
            assert!(shorter.angular < 0.015, "{touch:?}, {friction}");
        }
    }
}

#[test]
fn inverted_bodies_make_no_contact() {
    // A cube that overlaps a floor, another cube, and itself: its lower half lies inside its upper half.
    let mut builder = WorldBuilder::default();
    let floor = add_floor(&mut builder, surface(0.5));
    let at = |z: f64| cube(1e5, Isometry3::translation(0.0, 0.0, z));
    let touch = Touch::Surface;
    let (lower, lower_surface) = add_soft(&mut builder, "lower", at(0.049), surface(0.5), touch);
    let (_, upper_surface) = add_soft(&mut builder, "upper", at(0.147), surface(0.5), touch);
    let world = builder.build().unwrap();
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let mut forces = |state: &State| {
        let report = stepper.step(&world, state, 1e-3, &mut State::default());
        let report = report.unwrap();
        let pair = |other| {
            let pair = report.pair(lower_surface, other);
            let contacts = pair.map_or(&[][..], |pair| pair.contacts);
            contacts.iter().filter(|c| c.force_W.norm() > 0.0).count()
        };
        let warned = report.warnings.join("\n").contains("are inverted");
        ([floor, upper_surface, lower_surface].map(pair), warned)
    };
    let mut state = world.default_state();
    let (upright, warned) = forces(&state);
    assert!(
        upright[0] > 0 && upright[1] > 0 && upright[2] == 0 && !warned,
        "{upright:?}"
    );
    for q in state.bodies[lower.0].q.chunks_exact_mut(3) {
        q[2] = 0.098 - q[2];
    }
    let (mirrored, warned) = forces(&state);
    assert!(mirrored == [0; 3] && warned, "{mirrored:?}");
}

/// A link of a chain hung over a hook: steps of 20 ms, as the paper's chain.
#[test]
fn a_hanging_link_loads_its_hook_with_its_weight_and_stays_on_it() {
    // Upright, around y; the hook is a bar along y through its hole.
    let mesh = tet_torus(0.05, 0.014, 24, 4, 1).unwrap();
    let pose = Isometry3::rotation(Vector3::x() * std::f64::consts::FRAC_PI_2);
    for touch in TOUCHES {
        let material = corotated(1e6, 0.4);
        let link = built(FemBuilder::new(mesh.clone(), material, 1000.0).pose(pose));
        let weight = 9.81 * link.mass();
        let mut builder = WorldBuilder::default();
        let bar = Shape::capsule(0.012, 0.1).unwrap();
        // A gap of a millimetre below the top of the hole.
        let lying = Isometry3::from_parts(
            Vector3::new(0.0, 0.0, 0.036 - 0.012 - 0.001).into(),
            UnitQuaternion::from_scaled_axis(Vector3::x() * std::f64::consts::FRAC_PI_2),
        );
        let mount = Mount::World(lying);
        let hook = builder.add_geometry(Geometry::new("hook", mount, bar, surface(0.5)));
        let (body, _) = add_soft(&mut builder, "link", link, surface(0.5), touch);
        let world = builder.build().unwrap();
        let mut state = world.default_state();
        let mut lowest = f64::INFINITY;
        run(&world, &mut state, 0.02, 4.0, |_, state| {
            lowest = lowest.min(center(state, body).z);
        });
        let (mut pull, mut steps) = (0.0, 0);
        run(&world, &mut state, 0.02, 1.0, |report, state| {
            pull -= report
                .contact_wrench(&Point3::origin(), |g| g == hook)
                .force
                .z;
            steps += 1;
            lowest = lowest.min(center(state, body).z);
        });
        let pull = pull / f64::from(steps);
        eprintln!("{touch:?}: hook carries {pull:.6} of {weight:.6} N, lowest at {lowest:.4} m");
        assert!((pull / weight - 1.0).abs() < 0.01, "{touch:?}: {pull} N");
        // Off its hook it would fall 20 cm in the first fifth of a second.
        assert!(lowest > -0.02, "{touch:?}: {lowest} m");
    }
}

#[test]
fn supports_carry_the_load_that_contacts_do_not() {
    // One edge of a standing cube is held; ground carries the rest of it and of the cube on top.
    let foot = Region::Box {
        min: Vector3::repeat(-0.05),
        max: Vector3::new(-0.05, 0.05, -0.05),
    };
    let mut builder = WorldBuilder::default();
    let floor = add_floor(&mut builder, surface(0.5));
    let standing = soft_cube().pose(Isometry3::translation(0.0, 0.0, 0.0499));
    let standing = built(standing.fix(foot, &Axis::ALL));
    let lying = built(soft_cube().pose(Isometry3::translation(0.013, 0.007, 0.152)));
    let touch = Touch::Surface;
    let (lower, _) = add_soft(&mut builder, "lower", standing, surface(0.5), touch);
    let (upper, _) = add_soft(&mut builder, "upper", lying, surface(0.5), touch);
    let world = builder.build().unwrap();
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    assert!(stepper.reactions(lower).supports.is_empty());
    let (mut state, mut next) = (world.default_state(), State::default());
    let mut report = StepReport::default();
    for _ in 0..300 {
        report = stepper.step(&world, &state, 0.01, &mut next).unwrap();
        std::mem::swap(&mut state, &mut next);
    }
    let supports = stepper.reactions(lower).supports;
    let at_foot = |s: &SupportReaction| (s.p_WV.coords + Vector3::x() * 0.05).xz().norm() < 2e-4;
    assert!(supports.len() == 3 && supports.iter().all(at_foot));
    assert!(stepper.reactions(upper).supports.is_empty());
    let held: Vector3<f64> = supports.iter().map(|s| s.force_W).sum();
    let ground = -report
        .contact_wrench(&Point3::origin(), |g| g == floor)
        .force;
    eprintln!("supports {:.4} N, ground {:.4} N", held.z, ground.z);
    assert!(ground.z > 5.0 && held.norm() > 0.1, "{ground} {held}");
    let error = held + ground - Vector3::z() * (2.0 * 9.81);
    assert!(error.norm() < 1e-3, "{error}");
}
