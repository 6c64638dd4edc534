//! Simulations that are stepped together.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use pliant::Registry;
use pliant::runner::{ParticleDetail, RunError, Simulation, SimulationBatch, SimulationSteps};
use pliant::scene::{Scene, SceneOptions};
use pliant_coupling::State;

/// All bits of a state; a zero has its sign.
pub(crate) fn bits(state: &State) -> String {
    format!("{state:?}")
}

pub(crate) type Owned = Simulation<Box<Scene>>;

pub(crate) fn simulation(registry: &Registry, name: &str, settings: &[&str]) -> Owned {
    let parameters = settings.iter().map(|s| s.parse().expect("name=value"));
    let options = SceneOptions {
        parameters: parameters.collect(),
        registry: registry.clone(),
        ..SceneOptions::default()
    };
    let scene = Scene::load(name, &options).unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(Box::new(scene)).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn on(_: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Takes `counts` steps of the simulations.
pub(crate) fn step(
    batch: &SimulationBatch,
    simulations: &mut [Owned],
    counts: &[u64],
) -> Vec<Result<(), RunError>> {
    let steps = simulations.iter_mut().zip(counts);
    let steps = steps.map(|(simulation, count)| SimulationSteps::new(simulation, *count));
    batch.step(steps.collect(), &on)
}

fn some() -> Vec<Owned> {
    let of = |name, settings: &[&str]| simulation(&Registry::default(), name, settings);
    vec![
        of("box-on-incline", &["mu=0.1"]),
        of("box-on-incline", &["mu=0.4"]),
        of("cart-pole", &[]),
        of("box-stack", &[]),
    ]
}

#[test]
fn simulations_together_are_as_if_alone_for_any_number_of_threads() {
    let counts = [20, 0, 30, 10];
    let mut alone = some();
    for (simulation, count) in alone.iter_mut().zip(counts) {
        for _ in 0..count {
            simulation.step(|_| {}).unwrap_or_else(|e| panic!("{e}"));
        }
    }
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let mut together = some();
        let outcomes = pool
            .expect("threads")
            .install(|| step(&SimulationBatch::default(), &mut together, &counts));
        assert!(outcomes.iter().all(Result::is_ok));
        for (one, other) in alone.iter().zip(&together) {
            assert_eq!(bits(one.state()), bits(other.state()));
            assert_eq!(
                format!("{:?}", one.report().map(|r| &r.contacts)),
                format!("{:?}", other.report().map(|r| &r.contacts))
            );
        }
    }
}

#[test]
fn a_simulation_that_fails_leaves_the_others_alone() {
    let mut simulations = some();
    let mut broken = simulations[1].state().clone();
    broken.bodies[0].v[3] = 1e308;
    (simulations[1].set_state(broken)).unwrap_or_else(|e| panic!("{e}"));
    let outcomes = step(&SimulationBatch::default(), &mut simulations, &[3; 4]);
    let failed: Vec<bool> = outcomes.iter().map(Result::is_err).collect();
    assert_eq!(failed, [false, true, false, false]);
    assert!(matches!(&outcomes[1], Err(RunError::Step { scene, .. }) if scene == "box-on-incline"));
    let steps: Vec<u64> = simulations.iter().map(|s| s.state().step).collect();
    assert_eq!(steps, [3, 0, 3, 3]);
    let mut alone = some();
    for _ in 0..3 {
        alone[3].step(|_| {}).unwrap_or_else(|e| panic!("{e}"));
    }
    assert_eq!(bits(simulations[3].state()), bits(alone[3].state()));
}

#[test]
fn steps_end_where_the_caller_says() {
    let mut simulations = some();
    let asked = AtomicU64::new(0);
    let watch = |index| match index == 2 && asked.fetch_add(1, Ordering::Relaxed) == 4 {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let steps = simulations.iter_mut().map(|s| SimulationSteps::new(s, 7));
    let outcomes = SimulationBatch::default().step(steps.collect(), &watch);
    assert!(outcomes.iter().all(Result::is_ok));
    let steps: Vec<u64> = simulations.iter().map(|s| s.state().step).collect();
    assert_eq!(steps, [7, 7, 4, 7]);
}

#[test]
fn recordings_of_simulations_together_are_those_of_single_ones() {
    let scene = Scene::load("box-on-incline", &SceneOptions::default()).expect("a bundled scene");
    let recorded =
        || Simulation::recorded(&scene, ParticleDetail::Shown).unwrap_or_else(|e| panic!("{e}"));
    let (mut alone, mut together) = (recorded(), [recorded(), recorded()]);
    let force = |controls: &mut [pliant_contact_sap::Control]| controls[0].effort.fill(0.5);
    for _ in 0..40 {
        alone.step(force).unwrap_or_else(|e| panic!("{e}"));
    }
    let steps = together.iter_mut();
    let steps = steps.map(|simulation| SimulationSteps::new(simulation, 40).with_control(force));
    let outcomes = SimulationBatch::default().step(steps.collect(), &on);
    assert!(outcomes.iter().all(Result::is_ok));
    let expected = alone.finish().unwrap_or_else(|e| panic!("{e}"));
    for simulation in together {
        let found = simulation.finish().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(
            format!("{:?}", found.series),
            format!("{:?}", expected.series)
        );
        assert_eq!(
            found.recording.frames().times_s(),
            expected.recording.frames().times_s()
        );
    }
}
