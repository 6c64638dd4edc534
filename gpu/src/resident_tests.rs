//! Particles that stay on the device give the bits of particles that are sent in every time step.

use std::sync::Arc;

use pliant_contact_sap::{BodyState, DeformableModel};
use pliant_mpm::{ParticleImpulse, SubstepBackend, SubstepReport};

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
