//! A batch of worlds whose substeps a device takes together.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant::Registry;
use pliant::runner::SimulationBatch;
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Asynchronous, AsynchronousSettings, Batch, BodyIdx, Geometry, Mount, State, Stepper,
    StrongImplicit, World, WorldBuilder, WorldIdx,
};
use pliant_gpu::{Gpu, GpuBatch, GpuSubsteps, Refused};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{
    MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, SubstepBackend, fill,
};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

use crate::simulation_batch::{Owned, bits, simulation, step};

const STEP_S: f64 = 2e-3;
const BALL: BodyIdx = BodyIdx(0);

/// A ball of 0.1 kg that falls on a cube of dough on the floor.
fn ball_on_dough() -> World {
    let material = ContactMaterial::default();
    let mut builder = WorldBuilder::default();
    let floor = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), material));
    let mut tree = ModelBuilder::new("ball");
    tree.root(Root::Floating);
    tree.link(LinkSpec::new(
        "ball",
        SpatialInertia::solid_sphere(0.1, 0.02),
    ));
    let tree = RigidTree::new(Arc::new(tree.build().expect("a ball")));
    let tree = tree.starting_at(&[0.0, 0.0, 0.0605, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
    let body = builder.add_body("ball", Box::new(tree));
    assert_eq!(body, BALL);
    let X_FG = Isometry3::identity();
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG,
    };
    let ball = Shape::sphere(0.02).expect("a ball");
    builder.add_geometry(Geometry::new("ball", mount, ball, material));
    let cube = Shape::cuboid(Vector3::repeat(0.04)).expect("a cube");
    let pose = Isometry3::translation(0.0, 0.0, 0.0205);
    let points = fill("dough", &cube, &pose, 0.02, Sampling::default()).expect("particles");
    let dough = Preset::PizzaDough;
    let mut model = MpmBuilder::new(MpmSettings::new(0.02));
    model.object(ObjectSpec::new(
        "dough",
        dough.material(),
        dough.density(),
        points,
    ));
    let body = builder.add_body("dough", Box::new(model.build().expect("dough")));
    builder.add_geometry(Geometry::of_vertices("dough", body, material));
    builder.build().expect("a legal world")
}

fn stepper(
    backend: impl Fn(&MaterialPoints) -> Result<GpuSubsteps, pliant_gpu::GpuError> + Send + 'static,
) -> impl Stepper {
    let implicit = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let stepper = Asynchronous::new(implicit, AsynchronousSettings::default());
    stepper
        .expect("legal settings")
        .with_backend(move |model| -> Box<dyn SubstepBackend> {
            match backend(model) {
                Ok(backend) => Box::new(backend),
                Err(reason) => Box::new(Refused::new(reason)),
            }
        })
}

#[test]
fn worlds_of_a_batch_on_a_device_are_as_if_alone() {
    if !crate::gpu_scenes::has_adapter("worlds_of_a_batch_on_a_device_are_as_if_alone") {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    let world = ball_on_dough();
    let states: Vec<State> = (0..3)
        .map(|k| {
            let mut state = world.default_state();
            state.bodies[BALL.0].v[5] = -0.2 * f64::from(k + 1);
            state
        })
        .collect();
    let shared = GpuBatch::new(&gpu);
    let together = || {
        let shared = shared.clone();
        stepper(move |model| GpuSubsteps::in_batch(&shared, model))
    };
    let mut batch = Batch::copies_of(&world, states.clone(), together).expect("its states");
    let reports: Vec<_> = (0..4)
        .map(|_| {
            let report = batch.step(STEP_S);
            report.check().unwrap_or_else(|e| panic!("{e}"));
            report
        })
        .collect();
    for (k, mut state) in states.into_iter().enumerate() {
        let gpu = Arc::clone(&gpu);
        let mut alone = stepper(move |model| GpuSubsteps::new(&gpu, model));
        let mut next = State::default();
        for report in &reports {
            let expected = alone
                .step(&world, &state, STEP_S, &mut next)
                .expect("a step");
            std::mem::swap(&mut state, &mut next);
            let found = report.of(WorldIdx(k)).expect("a step");
            assert_eq!(
                format!("{:?}", found.contacts),
                format!("{:?}", expected.contacts)
            );
        }
        assert_eq!(bits(batch.state(WorldIdx(k))), bits(&state), "world {k}");
        let touched = reports
            .iter()
            .any(|r| !r.of(WorldIdx(k)).expect("a step").contacts.is_empty());
        assert!(touched, "world {k} is without contact");
    }
}

/// Two scenes on the device, with other particles, and one on the processor.
const DOUGHS: [[&str; 2]; 3] = [
    ["simulation.device=gpu", "ppc=8"],
    ["simulation.device=gpu", "ppc=4"],
    ["simulation.device=cpu", "ppc=8"],
];

#[test]
fn simulations_on_a_device_together_are_as_if_alone() {
    if !crate::gpu_scenes::has_adapter("simulations_on_a_device_together_are_as_if_alone") {
        return;
    }
    // Its scenes share one open device.
    let registry = Registry::default();
    let dough = |k: usize| {
        let settings = [&DOUGHS[k][..], &["h=0.04"]].concat();
        simulation(&registry, "async-dough-rolling", &settings)
    };
    let mut alone: Vec<Owned> = (0..3).map(dough).collect();
    for simulation in &mut alone {
        for k in 0..3 {
            if k == 2 {
                simulation.set_parameter("mu", 0.2).expect("it may change");
            }
            simulation.step(|_| {}).unwrap_or_else(|e| panic!("{e}"));
        }
    }
    // Two more of the first: one fails before the device is needed, one has other steps.
    let of = [0, 1, 2, 0, 0];
    let mut together: Vec<Owned> = of.into_iter().map(dough).collect();
    let start = together[3].state().clone();
    // So fast that a step needs more substeps than are taken.
    let mut flung = start.clone();
    flung.bodies.iter_mut().for_each(|body| body.v.fill(1e12));
    together[3].set_state(flung).expect("of its size");
    let batch = SimulationBatch::default();
    let outcomes = step(&batch, &mut together, &[1, 2, 1, 1, 0]);
    let stepped: Vec<bool> = outcomes.iter().map(Result::is_ok).collect();
    assert_eq!(stepped, [true, true, true, false, true]);
    together[3].set_state(start).expect("of its size");
    for counts in [[1, 0, 1, 2, 2], [1; 5]] {
        if counts == [1; 5] {
            for simulation in &mut together {
                simulation.set_parameter("mu", 0.2).expect("it may change");
            }
        }
        let outcomes = step(&batch, &mut together, &counts);
        assert!(outcomes.iter().all(Result::is_ok));
    }
    for (k, of) in of.into_iter().enumerate() {
        let expected = bits(alone[of].state());
        assert_eq!(bits(together[k].state()), expected, "simulation {k}");
    }
}
