//! Explicit substeps beside rigid bodies that move, under the asynchronous stepper.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::{ContactLaw, ConvexContactSolver, Lagged, SolverKind, StopCriteria};
use pliant_coupling::{
    Asynchronous, AsynchronousSettings, ContactInputs, ContactModel, ContactSettings,
    FrictionBound, Geometry, GeometryIdx, LaggedModel, Mount, Precision, RigidCoupling, SapModel,
    SimilarModel, State, StepReport, Stepper, StrongImplicit, SubstepSolver, Substeps, World,
    WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{
    LinearCorotated, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, Sampling, fill,
};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

pub(crate) const H: f64 = 0.02;
const G: f64 = 9.81;

type AnySolver = Box<dyn ConvexContactSolver>;

pub(crate) fn stepper(settings: AsynchronousSettings) -> Asynchronous<AnySolver> {
    let rigid = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    Asynchronous::new(rigid, settings).unwrap()
}

pub(crate) fn double() -> AsynchronousSettings {
    AsynchronousSettings {
        precision: Precision::Double,
        ..AsynchronousSettings::default()
    }
}

/// A cube of 500 kg/m³ of rubber, its centre at `p_WC`.
pub(crate) fn rubber(edge: f64, pose: &Isometry3<f64>, velocity_W: Vector3<f64>) -> MaterialPoints {
    let shape = Shape::cuboid(Vector3::repeat(edge)).unwrap();
    let set = fill("cube", &shape, pose, H, Sampling::default()).unwrap();
    let material = Arc::new(LinearCorotated::new(
        Lame::from_young_poisson(1e5, 0.3).unwrap(),
    ));
    let mut object = ObjectSpec::new("cube", material, 500.0, set);
    object.velocity_W = velocity_W;
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    builder.object(object);
    builder.build().unwrap()
}

pub(crate) fn contact(friction: f64) -> ContactMaterial {
    ContactMaterial {
        stiffness: 1e4,
        dissipation: 5.0,
        friction,
        ..ContactMaterial::default()
    }
}

pub(crate) fn slab(lengths: Vector3<f64>, mass: f64, p_WB: [f64; 3], v: Vector3<f64>) -> RigidTree {
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

/// A slab of `mass` that flies at 1 m/s into a cube of 0.256 kg, without gravity.
fn collision(mass: f64) -> World {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let lengths = Vector3::new(0.02, 0.1, 0.1);
    let v = Vector3::new(1.0, 0.1, 0.0);
    let body = slab(lengths, mass, [-0.0555, 0.0, 0.01], v);
    let body = builder.add_body("slab", Box::new(body));
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(lengths).unwrap();
    builder.add_geometry(Geometry::new("slab", mount, shape, contact(0.5)));
    let cube = rubber(0.08, &Isometry3::identity(), Vector3::zeros());
    let points = builder.add_body("points", Box::new(cube));
    builder.add_geometry(Geometry::of_vertices("points", points, contact(0.5)));
    builder.build().unwrap()
}

pub(crate) fn step(
    stepper: &mut impl Stepper,
    world: &World,
    state: &mut State,
    dt: f64,
) -> StepReport {
    let mut next = State::default();
    let report = stepper.step(world, state, dt, &mut next).unwrap();
    assert!(report.is_trusted(), "{:?}", report.untrusted());
    std::mem::swap(state, &mut next);
    report
}

#[test]
fn linear_momentum_is_exact_to_round_off_in_both_couplings() {
    for coupling in [RigidCoupling::InSubstep, RigidCoupling::Weak] {
        for solver in [SubstepSolver::GaussSeidel, SubstepSolver::NewtonCg] {
            let world = collision(1.0);
            let mut state = world.default_state();
            let before = world.energy(&state).linear_momentum_W;
            let mut stepper = stepper(AsynchronousSettings {
                coupling,
                solver,
                ..double()
            });
            for _ in 0..20 {
                let _ = step(&mut stepper, &world, &mut state, 0.002);
            }
            let after = world.energy(&state).linear_momentum_W;
            let lost = (after - before).norm() / before.norm();
            assert!(lost < 1e-9, "{coupling:?}, {solver:?}: {lost:e}");
            // They have collided.
            assert!(state.bodies[0].v[3] < 0.9, "{:?}", state.bodies[0].v);
        }
    }
}

#[test]
fn a_light_body_needs_its_velocity_in_the_substeps() {
    // 3 g against an impedance of the cube of some 40 kg/s: frozen over 5 ms the slab would be thrown back with many times its speed.
    let energy = |coupling| {
        let world = collision(0.003);
        let mut state = world.default_state();
        let before = world.energy(&state).kinetic;
        let mut stepper = stepper(AsynchronousSettings {
            coupling,
            ..double()
        });
        let mut most = before;
        for _ in 0..10 {
            let _ = step(&mut stepper, &world, &mut state, 0.005);
            most = world.energy(&state).kinetic.max(most);
        }
        most / before
    };
    let coupled = energy(RigidCoupling::InSubstep);
    let weak = energy(RigidCoupling::Weak);
    assert!(coupled <= 1.001, "{coupled}");
    assert!(weak > 2.0, "{weak}");
}

#[test]
fn f32_follows_f64() {
    let end = |precision| {
        let world = collision(1.0);
        let mut state = world.default_state();
        let mut stepper = stepper(AsynchronousSettings {
            precision,
            tolerance: 1e-4,
            ..AsynchronousSettings::default()
        });
        for _ in 0..10 {
            let _ = step(&mut stepper, &world, &mut state, 0.002);
        }
        state
    };
    let (single, double) = (end(Precision::Single), end(Precision::Double));
    let x = single.bodies[1].q.iter().zip(&double.bodies[1].q);
    let apart = x.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-3 * H, "{apart:e} m");
}

#[test]
fn a_saved_state_goes_on_with_the_same_bits_on_any_number_of_threads() {
    let world = collision(1.0);
    let mut start = world.default_state();
    let mut first = stepper(AsynchronousSettings::default());
    for _ in 0..4 {
        let _ = step(&mut first, &world, &mut start, 0.002);
    }
    assert!(!start.memory.particle_forces.is_empty());
    let text = serde_json::to_string(&start).unwrap();
    let mut ends = Vec::new();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut state: State = serde_json::from_str(&text).unwrap();
        pool.install(|| {
            let mut again = stepper(AsynchronousSettings::default());
            for _ in 0..4 {
                let _ = step(&mut again, &world, &mut state, 0.002);
            }
        });
        ends.push(state);
    }
    for _ in 0..4 {
        let _ = step(&mut first, &world, &mut start, 0.002);
    }
    assert_eq!(start, ends[0]);
    assert_eq!(ends[0], ends[1]);
}

/// A cube of 0.08 m that stands on a floor tilted by `slope` with friction μ.
fn on_floor(friction: f64, slope: f64) -> World {
    on_floor_with(Arc::new(LaggedModel::default()), friction, slope)
}

fn on_floor_with(model: Arc<dyn ContactModel>, friction: f64, slope: f64) -> World {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), slope);
    let X_WF = Isometry3::from_parts(nalgebra::Translation3::identity(), turn);
    let pose = X_WF * Isometry3::translation(0.0, 0.0, 0.0405);
    let mut builder = WorldBuilder::default();
    builder.contact(ContactSettings {
        model,
        ..ContactSettings::default()
    });
    let (mount, shape) = (Mount::World(X_WF), Shape::half_space());
    builder.add_geometry(Geometry::new("floor", mount, shape, contact(friction)));
    let cube = rubber(0.08, &pose, Vector3::zeros());
    let body = builder.add_body("points", Box::new(cube));
    builder.add_geometry(Geometry::of_vertices("points", body, contact(friction)));
    builder.build().unwrap()
}

fn mean_velocity(world: &World, state: &State) -> Vector3<f64> {
    let energy = world.energy(state);
    energy.linear_momentum_W / (500.0 * 0.08_f64.powi(3))
}

#[test]
fn a_cube_sticks_or_slides_by_coulombs_law_and_weighs_what_it_weighs() {
    let slope = 0.4_f64; // tan = 0.42
    let along = Vector3::new(slope.cos(), 0.0, -slope.sin());
    for (friction, expected) in [(0.2, G * (slope.sin() - 0.2 * slope.cos())), (0.6, 0.0)] {
        let world = on_floor(friction, slope);
        let mut state = world.default_state();
        let mut stepper = stepper(AsynchronousSettings::default());
        let mut run = |state: &mut State, steps: usize| {
            let mut sum = Vector3::zeros();
            for _ in 0..steps {
                let report = step(&mut stepper, &world, state, 0.005);
                let wrench = report.contact_wrench(&Point3::origin(), |g| g == GeometryIdx(1));
                sum += wrench.force;
            }
            sum / steps as f64
        };
        let _ = run(&mut state, 60);
        let before = mean_velocity(&world, &state).dot(&along);
        let force = run(&mut state, 60);
        let gained = (mean_velocity(&world, &state).dot(&along) - before) / 0.3;
        assert!(
            (gained - expected).abs() < 0.01 * G,
            "{gained} for {expected} at {friction}"
        );
        let normal = Vector3::new(slope.sin(), 0.0, slope.cos());
        let weight = 500.0 * 0.08_f64.powi(3) * G * slope.cos();
        let carried = force.dot(&normal);
        assert!(
            (carried / weight - 1.0).abs() < 0.01,
            "{carried} of {weight}"
        );
    }
}

/// A law that is registered from outside.
#[derive(Debug)]
struct OwnModel;

impl ContactModel for OwnModel {
    fn law(&self, contact: &ContactInputs) -> ContactLaw {
        let law = Lagged::new(
            &contact.parameters,
            contact.normal_W,
            contact.normal_impulse,
        );
        ContactLaw::Custom(Arc::new(law))
    }

    fn friction_bound(&self) -> FrictionBound {
        FrictionBound::Iterated
    }
}

#[test]
fn every_contact_model_carries_and_slides_by_coulombs_law() {
    let slope = 0.4_f64;
    let along = Vector3::new(slope.cos(), 0.0, -slope.sin());
    let models: [Arc<dyn ContactModel>; 3] = [
        Arc::new(SapModel),
        Arc::new(SimilarModel),
        Arc::new(OwnModel),
    ];
    for (model, solver) in models.into_iter().zip([
        SubstepSolver::GaussSeidel,
        SubstepSolver::NewtonCg,
        SubstepSolver::Majoriser,
    ]) {
        let world = on_floor_with(Arc::clone(&model), 0.2, slope);
        let mut state = world.default_state();
        let mut stepper = stepper(AsynchronousSettings {
            solver,
            ..AsynchronousSettings::default()
        });
        let mut run = |state: &mut State, steps: usize| {
            let mut sum = Vector3::zeros();
            for _ in 0..steps {
                let report = step(&mut stepper, &world, state, 0.005);
                let wrench = report.contact_wrench(&Point3::origin(), |g| g == GeometryIdx(1));
                sum += wrench.force;
            }
            sum / steps as f64
        };
        let _ = run(&mut state, 40);
        let before = mean_velocity(&world, &state).dot(&along);
        let force = run(&mut state, 40);
        let gained = (mean_velocity(&world, &state).dot(&along) - before) / 0.2;
        let expected = G * (slope.sin() - 0.2 * slope.cos());
        assert!(
            (gained - expected).abs() < 0.01 * G,
            "{model:?}: {gained} for {expected}"
        );
        let normal = Vector3::new(slope.sin(), 0.0, slope.cos());
        let weight = 500.0 * 0.08_f64.powi(3) * G * slope.cos();
        let carried = force.dot(&normal);
        assert!(
            (carried / weight - 1.0).abs() < 0.01,
            "{model:?}: {carried} of {weight}"
        );
    }
}

#[test]
fn free_fall_is_that_of_the_substeps() {
    let world = on_floor(0.5, 0.0);
    let mut state = world.default_state();
    for z in state.bodies[0].q.iter_mut().skip(2).step_by(3) {
        *z += 1.0;
    }
    let start = state.bodies[0].q.clone();
    let mut stepper = stepper(AsynchronousSettings {
        substeps: Substeps::Fixed(20),
        ..double()
    });
    let (dt, steps) = (0.01, 20);
    for _ in 0..steps {
        let _ = step(&mut stepper, &world, &mut state, dt);
    }
    let (t, h) = (dt * f64::from(steps), dt / 20.0);
    // Symplectic Euler: x = ½ g t (t + h).
    let fallen = 0.5 * G * t * (t + h);
    for (now, then) in state.bodies[0].q.chunks_exact(3).zip(start.chunks_exact(3)) {
        assert!((then[2] - now[2] - fallen).abs() < 1e-12);
    }
    assert!((mean_velocity(&world, &state).z + G * t).abs() < 1e-12);
}

#[test]
fn a_thin_blade_does_not_pass_between_particles() {
    // A blade of 2 mm at 10 m/s: five times its thickness in a step of 1 ms.
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let lengths = Vector3::new(0.002, 0.3, 0.3);
    let v = Vector3::new(10.0, 0.0, 0.0);
    let body = slab(lengths, 20.0, [-0.06, 0.0, 0.0], v);
    let blade = builder.add_body("blade", Box::new(body));
    let mount = Mount::Frame {
        body: blade,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let stiff = ContactMaterial {
        stiffness: 1e5,
        ..contact(0.3)
    };
    builder.add_geometry(Geometry::new(
        "blade",
        mount,
        Shape::cuboid(lengths).unwrap(),
        stiff,
    ));
    let cube = rubber(0.08, &Isometry3::identity(), Vector3::zeros());
    let points = builder.add_body("points", Box::new(cube.clone()));
    builder.add_geometry(Geometry::of_vertices("points", points, stiff));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let mut stepper = stepper(AsynchronousSettings::default());
    while state.time_s < 0.02 {
        let _ = step(&mut stepper, &world, &mut state, 0.001);
        let front = state.bodies[blade.0].q[0];
        let behind = cube
            .particles(&state.bodies[points.0])
            .filter(|p| p.p_WP.x < front);
        assert_eq!(behind.count(), 0, "at {} s", state.time_s);
    }
}
