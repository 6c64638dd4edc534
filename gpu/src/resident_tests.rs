//! Particles and contact forces that stay on the device: they give the bits of those that are sent in every time step, and the same limit of the substeps.

use std::sync::Arc;

use pliant_contact_sap::{BodyState, DeformableModel};
use pliant_mpm::{LimitReason, ParticleImpulse, SubstepBackend, SubstepReport};

use crate::adapter::Gpu;
use crate::backend::GpuSubsteps;
use crate::function_tests::device;
use crate::test_scene::{FoamOnFloor, no_links};

type Step = (BodyState, Vec<ParticleImpulse>);

fn step(backend: &mut GpuSubsteps, scene: &FoamOnFloor, (state, memory): &Step) -> Step {
    let (mut next, mut memory, mut report) = (
        BodyState::default(),
        memory.clone(),
        SubstepReport::default(),
    );
    backend.begin(state).expect("a state of the model");
    let input = scene.input(3);
    (backend.run(&input, &mut no_links(), &mut memory, &mut report)).expect("a step");
    let _ = backend.end(&mut next).expect("an end");
    (next, memory)
}

fn bits((state, memory): &Step) -> (Vec<u64>, &[ParticleImpulse]) {
    let numbers = state.q.iter().chain(&state.v).chain(&state.history);
    (numbers.map(|x| x.to_bits()).collect(), memory)
}

#[test]
fn particles_that_stay_on_the_device_give_the_same_bits() {
    if device("particles_that_stay_on_the_device_give_the_same_bits").is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    let scene = FoamOnFloor::new();
    let new = || GpuSubsteps::new(&gpu, &scene.model).expect("foam");
    let mut backend = new();
    let mut last: Step = (scene.model.default_state(), Vec::new());
    for number in 0..4 {
        backend.begin(&last.0).expect("its own state");
        assert_eq!(backend.has_particles(), number > 0);
        let next = step(&mut backend, &scene, &last);
        assert_eq!(bits(&next), bits(&step(&mut new(), &scene, &last)));
        last = next;
    }
    assert!(!last.1.is_empty(), "the floor is touched");
    // A state that somebody changed by one bit is sent.
    let mut changed = last.clone();
    changed.0.v[7] = f64::from_bits(changed.0.v[7].to_bits() ^ (1 << 40));
    backend.begin(&changed.0).expect("a state of the model");
    assert!(!backend.has_particles());
    let next = step(&mut backend, &scene, &changed);
    assert_eq!(bits(&next), bits(&step(&mut new(), &scene, &changed)));
    // And so is the last one, from which the device has gone on.
    let again = step(&mut backend, &scene, &last);
    assert_eq!(bits(&again), bits(&step(&mut new(), &scene, &last)));
    assert_ne!(bits(&again).0, bits(&next).0);
}

#[test]
fn stresses_of_the_device_give_the_limit_of_the_processor() {
    if device("stresses_of_the_device_give_the_limit_of_the_processor").is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    let scene = FoamOnFloor::with_edge(0.08);
    let new = || GpuSubsteps::new(&gpu, &scene.model).expect("foam");
    let mut state = scene.model.default_state();
    // One half is compressed by a third in the time step, the other stays at rest.
    for (x, v) in state.q.chunks(3).zip(state.v.chunks_mut(3)) {
        v[0] = -300.0 * f64::max(x[0], 0.0);
    }
    let mut backend = new();
    let (next, _) = step(&mut backend, &scene, &(state, Vec::new()));
    backend.begin(&next).expect("its own state");
    assert!(backend.has_particles());
    let limit = backend.limit().expect("there are particles");
    let mut without_stresses = new();
    without_stresses.begin(&next).expect("its own state");
    assert_eq!(Some(&limit), without_stresses.limit().as_ref());
    let rest = scene.model.substep_limit().expect("an object");
    assert!(limit.stable_s < 0.97 * rest.stable_s, "{limit}, {rest}");
    assert!(matches!(limit.reason, LimitReason::Waves(_)), "{limit}");
}

#[test]
fn forces_of_contacts_that_ended_are_cleared() {
    if device("forces_of_contacts_that_ended_are_cleared").is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    let scene = FoamOnFloor::new();
    let new = || GpuSubsteps::new(&gpu, &scene.model).expect("foam");
    let mut backend = new();
    let start: Step = (scene.model.default_state(), Vec::new());
    let last = step(&mut backend, &scene, &start);
    assert!(!last.1.is_empty());
    // The floor is gone: for the device that has the forces, and for one that they are sent to.
    let scene = FoamOnFloor::new().above_floor(1.0);
    for mut backend in [backend, new()] {
        assert_eq!(step(&mut backend, &scene, &last).1, []);
    }
}
