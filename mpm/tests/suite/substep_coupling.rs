//! The coupling within the substeps where a rigid body rotates, is jointed, touches in many particles, or meets a plastic material, and swept
//! contact with thin tools.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_constitutive::Lame;
use pliant_coupling::{
    AsynchronousSettings, Geometry, GeometryIdx, Mount, State, SubstepSolver, Substeps, World,
    WorldBuilder,
};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    HenckyVonMises, Liquid, Material, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec,
    Sampling, fill,
};
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia,
};

use crate::asynchronous::{H, contact, double, rubber, slab, step, stepper};

/// `body` with a box of `lengths` on its frame `frame`, and material points.
fn world_of(
    body: RigidTree,
    frame: u32,
    lengths: Vector3<f64>,
    points: MaterialPoints,
    gravity: f64,
) -> World {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::new(0.0, 0.0, -gravity));
    let body = builder.add_body("body", Box::new(body));
    let mount = Mount::Frame {
        body,
        frame,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(lengths).unwrap();
    builder.add_geometry(Geometry::new("box", mount, shape, contact(0.5)));
    let points = builder.add_body("points", Box::new(points));
    builder.add_geometry(Geometry::of_vertices("points", points, contact(0.5)));
    builder.build().unwrap()
}

fn flying_cube() -> MaterialPoints {
    rubber(0.08, &Isometry3::identity(), -Vector3::x())
}

/// Where and how fast things are after `time_s` in steps of `dt`: the state, and the most kinetic energy relative to that at the start.
fn run(world: &World, dt: f64, time_s: f64) -> (State, f64) {
    let mut state = world.default_state();
    let before = world.energy(&state).kinetic;
    let mut stepper = stepper(double());
    let mut most: f64 = 0.0;
    while state.time_s < time_s - 0.5 * dt {
        let _ = step(&mut stepper, world, &mut state, dt);
        most = most.max(world.energy(&state).kinetic / before);
    }
    (state, most)
}

#[test]
fn a_light_bar_that_is_hit_at_its_end_turns() {
    // A cube of 0.256 kg hits a bar of 10 g 12 cm from its centre.
    let lengths = Vector3::new(0.02, 0.3, 0.04);
    let bar = || slab(lengths, 0.01, [-0.0555, 0.12, 0.0], Vector3::zeros());
    let world = world_of(bar(), 0, lengths, flying_cube(), 0.0);
    let start = world.energy(&world.default_state());
    let (coarse, most) = run(&world, 5e-3, 0.02);
    let end = world.energy(&coarse);
    assert!(most <= 1.001, "kinetic energy grows to {most}");
    let lost = (end.linear_momentum_W - start.linear_momentum_W).norm();
    assert!(lost < 1e-9 * start.linear_momentum_W.norm(), "{lost:e}");
    // The cube flies along -x at -12 cm: the bar turns about -z. Alone it has I ω of this size.
    let spin = -coarse.bodies[0].v[2];
    let inertia = 0.01 * (0.3_f64.powi(2) + 0.02_f64.powi(2)) / 12.0;
    let turned = (end.angular_momentum_W - start.angular_momentum_W).norm();
    assert!(turned < 0.05 * inertia * spin.abs(), "{turned:e}, {spin}");
    // A perfectly elastic blow on a bar of negligible mass ends with the speed of its end twice that of the cube.
    assert!(spin > 5.0 && spin < 20.0, "{spin}");
    let (fine, _) = run(&world, 5e-4, 0.02);
    let reference = -fine.bodies[0].v[2];
    assert!(
        (spin / reference - 1.0).abs() < 0.1,
        "{spin} for {reference}"
    );
}

#[test]
fn a_light_link_on_a_hinge_takes_the_angular_momentum_of_what_hits_it() {
    let lengths = Vector3::new(0.02, 0.3, 0.1);
    let mut model = ModelBuilder::new("seesaw");
    let hinge = Point3::new(-0.0555, -0.1, 0.0);
    model.root(Root::Fixed(Isometry3::from(hinge.coords)));
    model.link(LinkSpec::new("base", SpatialInertia::zero()));
    model.link(LinkSpec::new(
        "board",
        SpatialInertia::solid_box(0.02, lengths),
    ));
    let mut joint = JointSpec::new("hinge", JointKind::Continuous, "base", "board");
    joint.axis = Vector3::z();
    model.joint(joint);
    let seesaw = RigidTree::new(Arc::new(model.build().unwrap()));
    let world = world_of(seesaw, 1, lengths, flying_cube(), 0.0);
    // About the hinge's axis, which transmits no moment.
    let about_hinge = |state: &State| {
        let energy = world.energy(state);
        (energy.angular_momentum_W - hinge.coords.cross(&energy.linear_momentum_W)).z
    };
    let before = about_hinge(&world.default_state());
    let (end, most) = run(&world, 5e-3, 0.02);
    assert!(most <= 1.001, "kinetic energy grows to {most}");
    let spin = end.bodies[0].v[0];
    assert!(spin > 2.0, "{spin}");
    let lost = about_hinge(&end) - before;
    assert!(lost.abs() < 0.01 * before.abs(), "{lost:e} of {before}");
}

/// Static friction of the floor holds the box at the velocities about which the rigid problem is linearised; the impulse of the blow is
/// hundreds of times what friction bears. Taken on credit it would throw the box away.
#[test]
fn a_light_box_on_a_rough_floor_is_pushed_along() {
    // A cube of 0.256 kg hits a box of 1 g at 1 m/s, which with steps of 0.2 ms moves at 0.906 m/s afterwards.
    let lengths = Vector3::repeat(0.08);
    let speed = |dt: f64, moved: f64| {
        let mut builder = WorldBuilder::default();
        let at = [-0.0865 + moved, 0.0, -0.01];
        let resting = slab(lengths, 1e-3, at, Vector3::zeros());
        let body = builder.add_body("body", Box::new(resting));
        let mount = Mount::Frame {
            body,
            frame: 0,
            X_FG: Isometry3::identity(),
        };
        let shape = Shape::cuboid(lengths).unwrap();
        builder.add_geometry(Geometry::new("box", mount, shape, contact(0.8)));
        let floor = Mount::World(Isometry3::translation(0.0, 0.0, -0.05));
        builder.add_geometry(Geometry::new(
            "floor",
            floor,
            Shape::half_space(),
            contact(0.8),
        ));
        let points = builder.add_body("points", Box::new(flying_cube()));
        builder.add_geometry(Geometry::of_vertices("points", points, contact(0.5)));
        let world = builder.build().unwrap();
        let (end, most) = run(&world, dt, 0.03);
        // The cube falls meanwhile: v² grows by (g t)².
        let falling = 1.0 + (9.81_f64 * 0.03).powi(2);
        assert!(most <= falling, "{dt}: kinetic energy grows to {most}");
        -end.bodies[0].v[3]
    };
    for dt in [1e-3, 1.5e-3, 2.5e-3, 5e-3, 7e-3, 1e-2] {
        let first = speed(dt, 0.0);
        assert!((0.88..1.05).contains(&first), "{dt}: {first} m/s");
        // Round-off is not amplified.
        let other = speed(dt, 1e-9);
        assert!((first - other).abs() < 1e-3, "{dt}: {first}, {other} m/s");
    }
}

/// A slab of particles of `lengths` about `p_WC`.
fn block(
    material: Arc<dyn Material>,
    density: f64,
    lengths: Vector3<f64>,
    p_WC: [f64; 3],
) -> ObjectSpec {
    let shape = Shape::cuboid(lengths).unwrap();
    let pose = Isometry3::translation(p_WC[0], p_WC[1], p_WC[2]);
    let set = fill("block", &shape, &pose, H, Sampling::default()).unwrap();
    ObjectSpec::new("block", material, density, set)
}

#[test]
fn a_light_plate_comes_to_rest_on_dough_and_dents_it() {
    // 50 g fall at 3 m/s on dough that yields at 200 Pa on a floor.
    let dough = HenckyVonMises::new(Lame::from_young_poisson(5e4, 0.3).unwrap(), 200.0).unwrap();
    let size = Vector3::new(0.12, 0.12, 0.04);
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    builder.object(block(Arc::new(dough), 1000.0, size, [0.0, 0.0, 0.0205]));
    let points = builder.build().unwrap();
    let lengths = Vector3::new(0.08, 0.08, 0.01);
    let plate = slab(
        lengths,
        0.05,
        [0.0, 0.0, 0.0515],
        Vector3::new(0.0, 0.0, -3.0),
    );
    let mut builder = WorldBuilder::default();
    let body = builder.add_body("plate", Box::new(plate));
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let plate = Shape::cuboid(lengths).unwrap();
    builder.add_geometry(Geometry::new("plate", mount, plate, contact(0.5)));
    let floor = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new(
        "floor",
        floor,
        Shape::half_space(),
        contact(0.5),
    ));
    let points = builder.add_body("points", Box::new(points));
    builder.add_geometry(Geometry::of_vertices("points", points, contact(0.5)));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let mut stepper = stepper(AsynchronousSettings::default());
    let (mut carried, mut steps) = (0.0, 0.0);
    while state.time_s < 0.4 {
        let report = step(&mut stepper, &world, &mut state, 0.01);
        if state.time_s > 0.2 {
            let on_plate = report.contact_wrench(&Point3::origin(), |g| g == GeometryIdx(0));
            carried += on_plate.force.z;
            steps += 1.0;
        }
    }
    let speed = state.bodies[0].v[5].abs();
    assert!(speed < 0.05, "{speed}");
    let weight = 0.05 * 9.81;
    let mean = carried / steps;
    assert!((mean / weight - 1.0).abs() < 0.1, "{mean} of {weight}");
    let height = state.bodies[0].q[2] - 0.005;
    assert!(
        height < 0.0395 && height > 0.02,
        "top of the dough at {height}"
    );
}

#[test]
fn a_light_plate_rests_on_hundreds_of_particles() {
    // A foil of 5 g on 576 particles of a mat of 0.5 kg.
    let lengths = Vector3::new(0.24, 0.24, 0.002);
    let size = Vector3::new(0.24, 0.24, 0.02);
    let rubber = pliant_mpm::LinearCorotated::new(Lame::from_young_poisson(1e5, 0.3).unwrap());
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    builder.object(block(Arc::new(rubber), 500.0, size, [0.0; 3]));
    let points = builder.build().unwrap();
    let foil = slab(
        lengths,
        0.005,
        [0.0, 0.0, 0.0115],
        Vector3::new(0.0, 0.0, -0.5),
    );
    let world = world_of(foil, 0, lengths, points, 0.0);
    for solver in [
        SubstepSolver::GaussSeidel,
        SubstepSolver::NewtonCg,
        SubstepSolver::Majoriser,
    ] {
        let mut state = world.default_state();
        let before = world.energy(&state);
        let mut stepper = stepper(AsynchronousSettings { solver, ..double() });
        let mut contacts = 0;
        for _ in 0..4 {
            // `step` asserts that every substep is solved.
            let report = step(&mut stepper, &world, &mut state, 2.5e-3);
            let substeps = report.asynchronous.unwrap().substeps;
            contacts = contacts.max(substeps.contacts_max);
        }
        assert!(contacts > 500, "{contacts}");
        let after = world.energy(&state);
        let lost = (after.linear_momentum_W - before.linear_momentum_W).norm();
        assert!(
            lost < 1e-9 * before.linear_momentum_W.norm(),
            "{solver:?}: {lost:e}"
        );
        let gain = after.kinetic / before.kinetic;
        assert!(gain <= 1.0, "{solver:?}: kinetic energy times {gain}");
        // Dissipation has stopped it on the mat.
        let rest = state.bodies[0].v[5].abs();
        assert!(rest < 0.02 * 0.5, "{solver:?}: {rest} m/s");
    }
}

#[test]
fn too_few_substeps_are_an_error_that_names_material_and_limit_unless_unchecked() {
    let lengths = Vector3::new(0.02, 0.1, 0.1);
    let body = slab(lengths, 1.0, [1.0, 0.0, 0.0], Vector3::zeros());
    let world = world_of(body, 0, lengths, flying_cube(), 0.0);
    let start = world.default_state();
    let mut next = State::default();
    let mut fixed = |substeps| {
        let mut stepper = stepper(AsynchronousSettings {
            substeps,
            ..AsynchronousSettings::default()
        });
        use pliant_coupling::Stepper;
        stepper.step(&world, &start, 0.01, &mut next)
    };
    // c = √(134.6 kPa/500 kg/m³) = 16.4 m/s; 0.6 h/c = 0.73 ms.
    let error = fixed(Substeps::Fixed(13)).unwrap_err().to_string();
    for part in ["\"cube\"", "linear_corotated", "7.31e-4", "14"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(fixed(Substeps::Fixed(14)).is_ok());
    assert!(fixed(Substeps::Unchecked(13)).is_ok());
    let report = fixed(Substeps::Automatic).unwrap().asynchronous.unwrap();
    assert_eq!(report.substeps.substeps, 21);
}

/// A thin plate or rod of 2 mm at 10 m/s through a cloud of liquid, along its normal, at a random angle, and turning.
#[test]
fn nothing_passes_a_thin_tool_at_10_m_per_s() {
    use rand::{RngExt, SeedableRng};
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    for number in 0..12 {
        let liquid = Liquid::new(2e3, 7.0).unwrap();
        let size = Vector3::new(0.02, 0.06, 0.06);
        let mut builder = MpmBuilder::new(MpmSettings::new(H));
        builder.object(block(Arc::new(liquid), 1000.0, size, [0.0; 3]));
        let points = builder.build().unwrap();
        let lengths = Vector3::new(0.002, 0.2, 0.2);
        let spin = if number % 2 == 0 { 0.0 } else { 40.0 };
        let mut model = ModelBuilder::new("tool");
        model.root(Root::Floating);
        model.link(LinkSpec::new(
            "tool",
            SpatialInertia::solid_box(100.0, lengths),
        ));
        // A quarter of a radian about y or z, as far back as it takes to start clear of the liquid.
        let tilt = random.random_range(-0.25..0.25_f64);
        let (s, c) = (0.5 * tilt).sin_cos();
        let back = -0.012 - 0.05 * tilt.abs() - random.random_range(0.0..0.002);
        let tool = RigidTree::new(Arc::new(model.build().unwrap())).starting_at(
            &[back, 0.0, 0.0, c, 0.0, s, 0.0],
            &[0.0, spin, 0.0, 10.0, 0.0, 0.0],
        );
        let mut soft = contact(0.2);
        soft.stiffness = 1e4;
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::zeros());
        let body = builder.add_body("tool", Box::new(tool));
        let mount = Mount::Frame {
            body,
            frame: 0,
            X_FG: Isometry3::identity(),
        };
        let shape = Shape::cuboid(lengths).unwrap();
        builder.add_geometry(Geometry::new("tool", mount, shape, soft));
        let points = builder.add_body("points", Box::new(points));
        builder.add_geometry(Geometry::of_vertices("points", points, soft));
        let world = builder.build().unwrap();
        let mut state = world.default_state();
        let mut stepper = stepper(AsynchronousSettings::default());
        let model_points = |state: &State| -> Vec<Vector3<f64>> {
            let q = &state.bodies[1].q;
            q.chunks_exact(3).map(Vector3::from_column_slice).collect()
        };
        // Distance ahead of the tool's middle plane.
        let ahead = |state: &State, x: &Vector3<f64>| {
            let q = &state.bodies[0].q;
            let turn = nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(
                q[3], q[4], q[5], q[6],
            ));
            let p = turn.inverse() * (x - Vector3::new(q[0], q[1], q[2]));
            (p.y.abs() < 0.1 && p.z.abs() < 0.1).then_some(p.x)
        };
        while state.time_s < 0.006 {
            let _ = step(&mut stepper, &world, &mut state, 5e-4);
            for x in model_points(&state) {
                if let Some(distance) = ahead(&state, &x) {
                    assert!(
                        distance > -0.001,
                        "number {number}, {} s: {distance}",
                        state.time_s
                    );
                }
            }
        }
    }
}
