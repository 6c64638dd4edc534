//! A device that takes the substeps of one part of a batch until the processor has worked for the other one.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{BodyError, BodyReport, BodyState, SolverKind, StopCriteria};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    CpuSubsteps, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, ParticleImpulse, Preset,
    RigidLinks, Sampling, SubstepBackend, SubstepInput, SubstepLimit, SubstepReport, fill,
};

use super::{Batch, WorldIdx};
use crate::asynchronous::{Asynchronous, AsynchronousSettings};
use crate::state::State;
use crate::stepper::Stepper;
use crate::strong_implicit::StrongImplicit;
use crate::world::{World, WorldBuilder};

const STEP_S: f64 = 1e-3;
const WORLDS: usize = 8;
/// Of a wait that should be short.
const PATIENCE: Duration = Duration::from_secs(60);

/// What happened to a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Prepared(usize),
    Started(usize),
    Ran(usize),
    Ended(usize),
}

/// Shared by the backends of all worlds.
#[derive(Default)]
struct Device {
    events: Mutex<Vec<Event>>,
    changed: Condvar,
}

impl Device {
    fn note(&self, event: Event) {
        self.events.lock().expect("no panic").push(event);
        self.changed.notify_all();
    }

    /// Returns once so many worlds have been prepared; false if that takes too long.
    fn waits_for_prepared(&self, worlds: usize) -> bool {
        let events = self.events.lock().expect("no panic");
        let prepared = |events: &Vec<Event>| {
            let of_all = events.iter();
            of_all.filter(|e| matches!(e, Event::Prepared(_))).count()
        };
        let waited =
            (self.changed).wait_timeout_while(events, PATIENCE, |events| prepared(events) < worlds);
        !waited.expect("no panic").1.timed_out()
    }
}

/// Takes the substeps on the processor, but not before `awaited` worlds have been prepared. An error of the device if it `fails`.
struct Waiting {
    inner: CpuSubsteps<f64>,
    world: usize,
    device: Arc<Device>,
    awaited: usize,
    fails: bool,
}

impl SubstepBackend for Waiting {
    fn begin(&mut self, state: &BodyState) -> Result<(), BodyError> {
        self.inner.begin(state)
    }

    fn limit(&self) -> Option<SubstepLimit> {
        self.inner.limit()
    }

    fn prepare(
        &mut self,
        _: &SubstepInput<'_>,
        _: &RigidLinks,
        _: &[ParticleImpulse],
    ) -> Result<(), BodyError> {
        self.device.note(Event::Prepared(self.world));
        Ok(())
    }

    fn start(&mut self) -> bool {
        self.device.note(Event::Started(self.world));
        true
    }

    fn run(
        &mut self,
        input: &SubstepInput<'_>,
        links: &mut RigidLinks,
        memory: &mut Vec<ParticleImpulse>,
        report: &mut SubstepReport,
    ) -> Result<(), BodyError> {
        if !self.device.waits_for_prepared(self.awaited) {
            return Err(BodyError::Model("the other part was not prepared".into()));
        }
        if self.fails {
            return Err(BodyError::Model("no room".into()));
        }
        self.device.note(Event::Ran(self.world));
        self.inner.run(input, links, memory, report)
    }

    fn end(&mut self, next: &mut BodyState) -> Result<BodyReport, BodyError> {
        let report = self.inner.end(next);
        self.device.note(Event::Ended(self.world));
        report
    }
}

/// A cube of foam that falls.
fn foam() -> World {
    let cube = Shape::cuboid(Vector3::repeat(0.02)).expect("positive lengths");
    let points = fill(
        "foam",
        &cube,
        &Isometry3::identity(),
        0.02,
        Sampling::default(),
    );
    let mut model = MpmBuilder::new(MpmSettings::new(0.02));
    let law = Preset::FoamCube.material();
    let points = points.expect("a closed shape");
    model.object(ObjectSpec::new("foam", law, 400.0, points));
    let mut builder = WorldBuilder::default();
    builder.add_body("foam", Box::new(model.build().expect("a legal model")));
    builder.build().expect("a legal world")
}

/// Of cubes with different velocities.
fn states(world: &World) -> Vec<State> {
    let state = |k: usize| {
        let mut state = world.default_state();
        state.bodies[0]
            .v
            .iter_mut()
            .for_each(|v| *v = 0.1 * k as f64);
        state
    };
    (0..WORLDS).map(state).collect()
}

fn stepper(
    make: impl Fn(&MaterialPoints) -> Box<dyn SubstepBackend> + Send + 'static,
) -> impl Stepper {
    let rigid = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let stepper = Asynchronous::new(rigid, AsynchronousSettings::default());
    stepper.expect("legal settings").with_backend(make)
}

/// Where the world alone is after a step, all bits.
fn alone(world: &World, state: &State) -> String {
    let mut next = State::default();
    let mut stepper = stepper(|model| Box::new(CpuSubsteps::<f64>::new(model)));
    let _ = (stepper.step(world, state, STEP_S, &mut next)).expect("a legal step");
    format!("{next:?}")
}

/// A batch on a device that waits for `awaited` worlds; that of the world `failing` is an error.
fn batch(
    device: &Arc<Device>,
    (awaited, failing): (usize, Option<usize>),
) -> Batch<impl Stepper + use<>> {
    let world = foam();
    let mut number = 0..;
    let make = || {
        let (device, world) = (Arc::clone(device), number.next().expect("a number"));
        stepper(move |model| {
            Box::new(Waiting {
                inner: CpuSubsteps::new(model),
                world,
                device: Arc::clone(&device),
                awaited,
                fails: failing == Some(world),
            })
        })
    };
    let mut batch = Batch::copies_of(&world, states(&world), make).expect("its own states");
    batch.pipeline.take_two_parts();
    batch
}

fn on_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("a pool").install(run)
}

#[test]
fn the_second_part_is_prepared_while_the_device_takes_the_first() {
    let world = foam();
    let expected: Vec<String> = states(&world).iter().map(|s| alone(&world, s)).collect();
    for (threads, first) in [(1, 4), (3, 3), (4, 4)] {
        let device = Arc::new(Device::default());
        let mut batch = batch(&device, (WORLDS, None));
        on_threads(threads, || batch.step(STEP_S).check()).expect("no part waits for ever");
        for (state, expected) in batch.states().zip(&expected) {
            assert_eq!(&format!("{state:?}"), expected);
        }
        let events = device.events.lock().expect("no panic");
        let place = |event: Event| events.iter().position(|e| *e == event).expect("an event");
        let (one, two) = (0..first, first..WORLDS);
        for (a, b) in one.flat_map(|a| two.clone().map(move |b| (a, b))) {
            let order = [
                Event::Prepared(a),
                Event::Started(a),
                Event::Prepared(b),
                Event::Started(b),
                Event::Ran(a),
                Event::Ended(a),
                Event::Ran(b),
            ];
            let places = order.map(place);
            assert!(places.is_sorted(), "{order:?} are at {places:?}");
        }
    }
}

#[test]
fn a_world_that_fails_in_one_part_leaves_the_others_of_both() {
    let world = foam();
    let (broken, failing) = (1, 6);
    let device = Arc::new(Device::default());
    // The first one is not prepared.
    let mut batch = batch(&device, (WORLDS - 1, Some(failing)));
    batch.state_mut(WorldIdx(broken)).bodies[0].v[0] = f64::NAN;
    let report = on_threads(2, || batch.step(STEP_S));
    let failed: Vec<usize> = report.failed().map(|(world, _)| world.0).collect();
    assert_eq!(failed, [broken, failing]);
    let error = report.of(WorldIdx(failing)).unwrap_err().to_string();
    assert!(error.contains("no room"), "{error}");
    for (k, initial) in states(&world).iter().enumerate() {
        if !failed.contains(&k) {
            let found = format!("{:?}", batch.state(WorldIdx(k)));
            assert_eq!(found, alone(&world, initial), "world {k}");
        }
    }
}

#[test]
fn worlds_without_a_device_are_in_one_part() {
    let world = foam();
    let make = || stepper(|model| Box::new(CpuSubsteps::<f64>::new(model)));
    let mut batch = Batch::copies_of(&world, states(&world), make).expect("its own states");
    batch.pipeline.take_two_parts();
    batch.step(STEP_S).check().expect("a legal step");
    assert!(batch.pipeline.takes_one_part());
}
