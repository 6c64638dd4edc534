//! Material points in contact with moving rigid bodies: thin, jointed, of several shapes.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    BodyIdx, Geometry, GeometryIdx, Mount, State, StepReport, Stepper, StrongImplicit, World,
    WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{
    LinearCorotated, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, Sampling, fill,
};
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia,
};

const H: f64 = 0.02;
const G: f64 = 9.81;

/// A cube of rubber, its centre at `p_WC`, moving at `velocity_W`.
fn rubber(name: &str, edge: f64, p_WC: [f64; 3], velocity_W: Vector3<f64>) -> ObjectSpec {
    let shape = Shape::cuboid(Vector3::repeat(edge)).unwrap();
    let [x, y, z] = p_WC;
    let set = fill(
        name,
        &shape,
        &Isometry3::translation(x, y, z),
        H,
        Sampling::default(),
    )
    .unwrap();
    let material = Arc::new(LinearCorotated::new(
        Lame::from_young_poisson(1e5, 0.3).unwrap(),
    ));
    let mut object = ObjectSpec::new(name, material, 500.0, set);
    object.velocity_W = velocity_W;
    object
}

fn contact(friction: f64) -> ContactMaterial {
    ContactMaterial {
        stiffness: 1e4,
        dissipation: 5.0,
        friction,
        ..ContactMaterial::default()
    }
}

fn points(objects: Vec<ObjectSpec>) -> MaterialPoints {
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    for object in objects {
        builder.object(object);
    }
    builder.build().unwrap()
}

fn step(
    stepper: &mut StrongImplicit<Box<dyn pliant_contact_sap::ConvexContactSolver>>,
    world: &World,
    state: &mut State,
    dt: f64,
) -> StepReport {
    let mut next = State::default();
    let report = stepper.step(world, state, dt, &mut next).unwrap();
    assert!(report.is_trusted(), "{:?}", report.convergence.solve);
    std::mem::swap(state, &mut next);
    report
}

fn stepper() -> StrongImplicit<Box<dyn pliant_contact_sap::ConvexContactSolver>> {
    StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()))
}

/// A free body of one box.
fn slab(lengths: Vector3<f64>, mass: f64, p_WB: [f64; 3], v: Vector3<f64>) -> RigidTree {
    let mut model = ModelBuilder::new("slab");
    model.root(Root::Floating);
    model.link(LinkSpec::new(
        "slab",
        SpatialInertia::solid_box(mass, lengths),
    ));
    let [x, y, z] = p_WB;
    RigidTree::new(Arc::new(model.build().unwrap())).starting_at(
        &[x, y, z, 1.0, 0.0, 0.0, 0.0],
        &[0.0, 0.0, 0.0, v.x, v.y, v.z],
    )
}

fn on_frame(body: BodyIdx, frame: u32) -> Mount {
    Mount::Frame {
        body,
        frame,
        X_FG: Isometry3::identity(),
    }
}

#[test]
fn a_thin_blade_does_not_pass_between_particles() {
    // A blade of 1 mm crosses two layers of particles, 10 mm apart, in every step of free flight.
    for dt in [0.01, 0.004, 0.0007] {
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::zeros());
        let lengths = Vector3::new(0.001, 0.3, 0.3);
        let start = [-0.0527, 0.0, 0.0];
        let v = Vector3::new(2.0, 0.0, 0.0);
        let blade = builder.add_body("blade", Box::new(slab(lengths, 2.0, start, v)));
        let shape = Shape::cuboid(lengths).unwrap();
        builder.add_geometry(Geometry::new(
            "blade",
            on_frame(blade, 0),
            shape,
            contact(0.3),
        ));
        let mut cube = rubber("cube", 0.08, [0.0; 3], Vector3::zeros());
        cube.contact_radius = Some(0.0);
        let cube = points(vec![cube]);
        let body = builder.add_body("points", Box::new(cube.clone()));
        builder.add_geometry(Geometry::of_vertices("points", body, contact(0.3)));
        let world = builder.build().unwrap();
        let mut state = world.default_state();
        let before = world.energy(&state).linear_momentum_W;
        let mut stepper = stepper();
        while state.time_s < 0.08 {
            let _ = step(&mut stepper, &world, &mut state, dt);
            let front = state.bodies[blade.0].q[0];
            let behind = cube
                .particles(&state.bodies[body.0])
                .filter(|p| p.p_WP.x < front - 0.002);
            assert_eq!(
                behind.count(),
                0,
                "at {} s of steps of {dt} s",
                state.time_s
            );
        }
        let after = world.energy(&state).linear_momentum_W;
        // Conserved up to the solver's tolerance, 1e-6 of the change of each step.
        let lost = (after - before).norm() / before.norm();
        assert!(lost < 1e-8, "{lost}");
        let pushed = cube.particles(&state.bodies[body.0]).map(|p| p.v_WP.x);
        assert!(pushed.sum::<f64>() / 512.0 > 1.5);
    }
}

#[test]
fn a_swinging_paddle_drives_a_cube_and_loses_what_the_cube_gains() {
    // A door on a hinge along z, without gravity: angular momentum about the hinge is conserved.
    let lengths = Vector3::new(0.3, 0.01, 0.2);
    let mut model = ModelBuilder::new("door");
    model.link(LinkSpec::new(
        "frame",
        SpatialInertia::solid_box(1.0, Vector3::repeat(0.01)),
    ));
    let door = SpatialInertia::solid_box(1.5, lengths);
    model.link(LinkSpec::new("door", door));
    model
        .joint(JointSpec::new("hinge", JointKind::Continuous, "frame", "door").about(Vector3::z()));
    let tree = RigidTree::new(Arc::new(model.build().unwrap())).starting_at(&[0.0], &[6.0]);

    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let hinge = builder.add_body("door", Box::new(tree));
    let mount = Mount::Frame {
        body: hinge,
        frame: 1,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(lengths).unwrap();
    builder.add_geometry(Geometry::new("door", mount, shape, contact(0.0)));
    let cube = points(vec![rubber(
        "cube",
        0.06,
        [0.1, 0.05, 0.0],
        Vector3::zeros(),
    )]);
    let body = builder.add_body("points", Box::new(cube.clone()));
    builder.add_geometry(Geometry::of_vertices("points", body, contact(0.0)));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let turn = |state: &State| world.energy(state).angular_momentum_W.z;
    let before = turn(&state);
    let mut stepper = stepper();
    for _ in 0..60 {
        let _ = step(&mut stepper, &world, &mut state, 0.002);
    }
    let given = world
        .model(body)
        .energy(&state.bodies[body.0], &Vector3::zeros());
    assert!(given.angular_momentum_W.z > 0.1 * before);
    // First order in the step: contact positions are those of its start.
    let lost = turn(&state) / before - 1.0;
    assert!(lost.abs() < 0.01, "{lost}");
    let angle = state.bodies[hinge.0].q[0];
    let X_WD = Isometry3::rotation(Vector3::new(0.0, 0.0, angle));
    let through = cube
        .particles(&state.bodies[body.0])
        .filter(|p| X_WD.inverse_transform_point(&p.p_WP).y < 0.0)
        .count();
    assert_eq!(through, 0);
}

/// A tilted floor of boxes with objects on it.
fn slope(angle: f64, floors: &[Isometry3<f64>], objects: Vec<(ObjectSpec, f64)>) -> World {
    let mut builder = WorldBuilder::default();
    builder.gravity(G * Vector3::new(angle.sin(), 0.0, -angle.cos()));
    for (k, pose) in floors.iter().enumerate() {
        let shape = Shape::cuboid(Vector3::new(2.0, 2.0, 0.2)).unwrap();
        let pose = pose * Isometry3::translation(0.0, 0.0, -0.1);
        let name = format!("floor {k}");
        builder.add_geometry(Geometry::new(name, Mount::World(pose), shape, contact(1.0)));
    }
    let (objects, frictions): (Vec<_>, Vec<_>) = objects.into_iter().unzip();
    let body = builder.add_body("points", Box::new(points(objects)));
    for (part, friction) in frictions.into_iter().enumerate() {
        let geometry = Geometry::of_vertices(format!("object {part}"), body, contact(friction));
        builder.add_geometry(geometry.of_part(part as u32));
    }
    builder.build().unwrap()
}

/// Mean velocity of each of two objects.
fn velocities(world: &World, state: &State) -> [Vector3<f64>; 2] {
    let mut surface = pliant_contact_sap::Surface::default();
    let model = world.model(BodyIdx(0));
    model.surface(&state.bodies[0], &mut surface);
    [0, 1].map(|part| {
        let (mut sum, mut count) = (Vector3::zeros(), 0.0);
        let each = state.bodies[0].v.chunks_exact(3).zip(&surface.parts);
        for (v, _) in each.filter(|(_, own)| **own == part) {
            sum += Vector3::from_column_slice(v);
            count += 1.0;
        }
        sum / f64::max(count, 1.0)
    })
}

#[test]
fn objects_of_one_grid_have_different_friction() {
    // Combined with the floor's 1: 2μ/(1 + μ).
    let still = Vector3::zeros();
    let rough = (rubber("rough", 0.06, [0.0, -0.1, 0.03], still), 1.0);
    let slick = (rubber("slick", 0.06, [0.0, 0.1, 0.03], still), 0.1);
    let angle = 0.4_f64;
    let world = slope(angle, &[Isometry3::identity()], vec![rough, slick]);
    let mut state = world.default_state();
    let mut stepper = stepper();
    let mut last = StepReport::default();
    for _ in 0..50 {
        last = step(&mut stepper, &world, &mut state, 0.004);
    }
    let [rough, slick] = velocities(&world, &state);
    let friction = 0.2 / 1.1;
    let expected = 0.2 * G * (angle.sin() - friction * angle.cos());
    assert!(rough.norm() < 0.02, "{rough}");
    assert!(
        (slick.x / expected - 1.0).abs() < 0.05,
        "{slick} for {expected}"
    );
    // Their contact is resolved by the grid, not by the contact search.
    let (first, second) = (GeometryIdx(1), GeometryIdx(2));
    assert!(last.pair(first, second).is_none());
    let weight = 500.0 * 0.06_f64.powi(3) * G * angle.cos();
    for object in [first, second] {
        let force = last
            .contact_wrench(&Point3::origin(), |g| g == object)
            .force;
        assert!(
            (force.z / weight - 1.0).abs() < 0.02,
            "{force} for {weight}"
        );
    }
}

#[test]
fn overlapping_shapes_of_one_body_count_once_and_corners_keep_both_sides() {
    let start = Vector3::new(0.5, 0.0, 0.0);
    let moved = |floors: &[Isometry3<f64>]| {
        let cube = (rubber("cube", 0.06, [0.0, 0.0, 0.03], start), 0.1);
        let world = slope(0.0, floors, vec![cube]);
        let mut state = world.default_state();
        let mut stepper = stepper();
        let counts = (0..25).map(|_| step(&mut stepper, &world, &mut state, 0.004).contacts.len());
        let most = counts.max();
        (velocities(&world, &state)[0], most)
    };
    let one = Isometry3::identity();
    let (alone, n) = moved(&[one]);
    let lower = Isometry3::translation(0.3, 0.1, -1e-6);
    let (twice, m) = moved(&[one, lower]);
    assert_eq!((alone, n), (twice, m));

    // A wall in front adds contacts.
    let upright = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -std::f64::consts::FRAC_PI_2);
    let wall = Isometry3::from_parts(Vector3::new(0.035, 0.0, 0.0).into(), upright);
    let (stopped, m) = moved(&[one, wall]);
    assert!(stopped.x < 0.1, "{stopped}");
    assert!(m > n, "{m:?} contacts in the corner, {n:?} on the floor");
}
