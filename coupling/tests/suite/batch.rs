//! A batch steps every world as if it were alone: the same bits on any number of threads, whatever happens in the other worlds.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{BodyError, ConvexContactSolver, SolverKind, StopCriteria};
use pliant_coupling::{
    Asynchronous, AsynchronousSettings, Batch, BodyIdx, Geometry, Mount, State, StepError, Stepper,
    StrongImplicit, World, WorldBuilder, WorldIdx,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

use crate::penalty_worlds;

type AnySolver = Box<dyn ConvexContactSolver>;

const BOX: BodyIdx = BodyIdx(0);
const STEP_S: f64 = 2e-3;
const STEPS: usize = 10;

fn strong_implicit() -> StrongImplicit<AnySolver> {
    StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()))
}

fn asynchronous() -> Asynchronous<AnySolver> {
    Asynchronous::new(strong_implicit(), AsynchronousSettings::default()).expect("legal settings")
}

/// A box of 0.2 kg that lands obliquely on a cube of dough and on the floor beside it.
fn box_on_dough(friction: f64) -> World {
    let material = ContactMaterial {
        stiffness: 1e4,
        friction,
        ..ContactMaterial::default()
    };
    let mut builder = WorldBuilder::default();
    let floor = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), material));

    let lengths = Vector3::new(0.1, 0.04, 0.03);
    let mut tree = ModelBuilder::new("box");
    tree.root(Root::Floating);
    let inertia = SpatialInertia::solid_box(0.2, lengths);
    tree.link(LinkSpec::new("box", inertia));
    let tree = RigidTree::new(Arc::new(tree.build().expect("a legal model"))).starting_at(
        &[0.03, 0.0, 0.058, 1.0, 0.0, 0.0, 0.0],
        &[0.0, 3.0, 0.0, 0.3, 0.1, -1.0],
    );
    let body = builder.add_body("box", Box::new(tree));
    assert_eq!(body, BOX);
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(lengths).expect("positive lengths");
    builder.add_geometry(Geometry::new("box", mount, shape, material));

    let cube = Shape::cuboid(Vector3::repeat(0.04)).expect("positive lengths");
    let pose = Isometry3::translation(0.0, 0.0, 0.0205);
    let points = fill("dough", &cube, &pose, 0.02, Sampling::default()).expect("a closed shape");
    let dough = Preset::PizzaDough;
    let mut model = MpmBuilder::new(MpmSettings::new(0.02));
    let object = ObjectSpec::new("dough", dough.material(), dough.density(), points);
    model.object(object);
    let body = builder.add_body("dough", Box::new(model.build().expect("a legal model")));
    builder.add_geometry(Geometry::of_vertices("dough", body, material));
    builder.build().expect("a legal world")
}

/// Worlds with different friction, and boxes of different velocity.
fn worlds() -> Vec<(World, State)> {
    let world = |i: u32| {
        let world = box_on_dough(0.2 + 0.2 * f64::from(i));
        let mut state = world.default_state();
        state.bodies[BOX.0].v[3] -= 0.2 * f64::from(i);
        (world, state)
    };
    (0..5).map(world).collect()
}

/// All bits of a state; a zero has its sign.
fn bits(state: &State) -> String {
    format!("{state:?}")
}

/// A world stepped alone: its states after each step, and their forces.
fn alone<S: Stepper>(world: &World, initial: &State, mut stepper: S) -> Vec<[String; 2]> {
    let (mut state, mut next) = (initial.clone(), State::default());
    let mut states = Vec::new();
    for _ in 0..STEPS {
        let report = stepper.step(world, &state, STEP_S, &mut next).unwrap();
        std::mem::swap(&mut state, &mut next);
        states.push([bits(&state), format!("{:?}", report.contacts)]);
    }
    states
}

fn on_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("a pool").install(run)
}

/// What a batch owes, for steppers that `make` makes.
fn each_world_is_as_if_alone<S: Stepper>(make: impl Fn() -> S + Sync) {
    let worlds = worlds();
    let expected: Vec<_> = (worlds.iter())
        .map(|(world, initial)| alone(world, initial, make()))
        .collect();
    for (i, steps) in expected.iter().enumerate() {
        let touched = steps.iter().any(|[_, contacts]| contacts != "[]");
        assert!(touched, "world {i} is without contact");
        assert!(i == 0 || steps.last() != expected[i - 1].last());
    }
    for threads in [3, 8] {
        let batch = || Batch::of_worlds(worlds.clone(), &make).expect("states of their worlds");
        on_threads(threads, || {
            steps_have_the_bits(batch(), &expected);
            resets_restore_the_bits(batch(), &expected);
            a_failure_stays_in_its_world(batch(), &expected);
        });
    }
}

fn steps_have_the_bits<S: Stepper>(mut batch: Batch<S>, expected: &[Vec<[String; 2]>]) {
    for k in 0..STEPS {
        let report = batch.step(STEP_S);
        report.check().unwrap();
        for ((state, report), expected) in batch.states().zip(report.iter()).zip(expected) {
            let contacts = format!("{:?}", report.unwrap().contacts);
            assert_eq!([bits(state), contacts], expected[k]);
        }
    }
}

fn resets_restore_the_bits<S: Stepper>(mut batch: Batch<S>, expected: &[Vec<[String; 2]>]) {
    let (first, second) = (WorldIdx(1), WorldIdx(3));
    let mut saved = State::default();
    for k in 0..STEPS {
        if k == STEPS / 2 {
            saved.clone_from(batch.state(second));
        }
        batch.step(STEP_S).check().unwrap();
    }
    batch.reset(first);
    batch.reset_to(second, &saved).unwrap();
    for k in 0..STEPS / 2 {
        batch.step(STEP_S).check().unwrap();
        assert_eq!(bits(batch.state(first)), expected[first.0][k][0]);
        let resumed = &expected[second.0][STEPS / 2 + k][0];
        assert_eq!(&bits(batch.state(second)), resumed);
    }
    batch.reset(second);
    batch.step(STEP_S).check().unwrap();
    assert_eq!(bits(batch.state(second)), expected[second.0][0][0]);
}

fn a_failure_stays_in_its_world<S: Stepper>(mut batch: Batch<S>, expected: &[Vec<[String; 2]>]) {
    let (broken, emptied) = (WorldIdx(1), WorldIdx(2));
    batch.step(STEP_S).check().unwrap();
    batch.state_mut(broken).bodies[BOX.0].v[3] = f64::NAN;
    batch.state_mut(emptied).bodies.clear();
    let left = [broken, emptied].map(|world| bits(batch.state(world)));
    for k in 1..STEPS / 2 {
        let report = batch.step(STEP_S);
        assert!(!report.is_trusted());
        let failed: Vec<_> = report.failed().map(|(world, _)| world).collect();
        assert_eq!(failed, [broken, emptied]);
        assert!(matches!(report.of(broken), Err(StepError::Body { body, .. }) if body == "box"));
        assert_eq!(report.check().unwrap_err().world, broken);
        for (i, (state, expected)) in batch.states().zip(expected).enumerate() {
            match failed.iter().position(|world| world.0 == i) {
                Some(position) => assert_eq!(bits(state), left[position]),
                None => assert_eq!(bits(state), expected[k][0]),
            }
        }
    }
    batch.reset(broken);
    batch.reset(emptied);
    batch.step(STEP_S).check().unwrap();
    for world in [broken, emptied] {
        assert_eq!(bits(batch.state(world)), expected[world.0][0][0]);
    }
}

#[test]
fn worlds_of_a_strong_implicit_batch_are_as_if_alone() {
    each_world_is_as_if_alone(strong_implicit);
}

#[test]
fn worlds_of_an_asynchronous_batch_are_as_if_alone() {
    each_world_is_as_if_alone(asynchronous);
}

#[test]
fn worlds_of_a_penalty_force_batch_are_as_if_alone() {
    each_world_is_as_if_alone(penalty_worlds::stepper);
}

#[test]
fn a_replaced_world_starts_at_its_state_with_its_parameters() {
    let worlds = worlds();
    let (world, initial) = worlds[4].clone();
    let mut batch = Batch::of_worlds(worlds, strong_implicit).unwrap();
    batch.step(STEP_S).check().unwrap();
    batch.replace(WorldIdx(0), world, initial).unwrap();
    batch.reset(WorldIdx(4));
    for _ in 0..STEPS {
        batch.step(STEP_S).check().unwrap();
    }
    let [first, last] = [0, 4].map(|i| batch.state(WorldIdx(i)));
    assert_eq!(bits(first), bits(last));
}

#[test]
fn a_state_of_another_world_is_refused_with_the_number_of_the_world() {
    let (world, initial) = worlds().swap_remove(0);
    let mut short = initial.clone();
    short.bodies[BOX.0].v.pop();
    let states = [initial.clone(), initial.clone(), short.clone()];
    let error = Batch::copies_of(&world, states, strong_implicit).err();
    let error = error.expect("a state that is too short");
    let said = "world 2: step 0 (t = 0 s), body \"box\": v has 5 entries, the model requires 6";
    assert_eq!(error.to_string(), said);

    let states = vec![initial.clone(); 2];
    let mut batch = Batch::copies_of(&world, states, strong_implicit).unwrap();
    let second = WorldIdx(1);
    for refused in [
        batch.reset_to(second, &short),
        batch.replace(second, world.clone(), short),
    ] {
        let source = refused.unwrap_err().source;
        let StepError::Body { source, .. } = source else {
            panic!("{source}");
        };
        assert!(matches!(source, BodyError::StateLength { what: "v", .. }));
    }
    let error = batch.reset_to(second, &State::default()).unwrap_err();
    let said = "world 1: the state has 0 bodies, the world needs 2";
    assert_eq!(error.to_string(), said);
    assert_eq!(batch.state(second), &initial); // as before all that
}

#[test]
fn an_illegal_time_step_is_an_error_of_every_world() {
    let mut batch = Batch::of_worlds(worlds(), strong_implicit).unwrap();
    let report = batch.step(0.0);
    assert_eq!(report.failed().count(), batch.len());
    assert!(report.iter().all(|r| r == Err(&StepError::TimeStep(0.0))));
}

#[test]
fn an_empty_batch_steps_to_nothing() {
    let mut batch = Batch::<StrongImplicit<AnySolver>>::new();
    assert!(batch.is_empty() && batch.step(STEP_S).iter().len() == 0);
}

#[test]
fn a_step_that_was_prepared_for_another_world_is_begun_anew() {
    let mut worlds = worlds();
    let ((prepared, _), (world, state)) = (worlds.remove(0), worlds.remove(3));
    let expected = alone(&world, &state, asynchronous());
    let mut stepper = asynchronous();
    (stepper.prepare(&prepared, &prepared.default_state(), STEP_S)).expect("a legal step");
    assert_eq!(alone(&world, &state, stepper), expected);
    // A step that was prepared for this one has the bits of one that was not.
    let mut stepper = asynchronous();
    (stepper.prepare(&world, &state, STEP_S)).expect("a legal step");
    assert_eq!(alone(&world, &state, stepper), expected);
}
