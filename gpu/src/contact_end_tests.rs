//! The force of a contact that ends within a time step does not outlast it.

use std::sync::Arc;

use pliant_contact_sap::{BodyState, DeformableModel};
use pliant_mpm::{SubstepBackend, SubstepReport};

use crate::adapter::Gpu;
use crate::backend::GpuSubsteps;
use crate::function_tests::device;
use crate::test_scene::{FoamOnFloor, no_links};

#[test]
fn the_force_of_a_contact_that_ends_is_gone() {
    if device("the_force_of_a_contact_that_ends_is_gone").is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    let scene = FoamOnFloor::new();
    // The lowest particles are 0.1 mm deep in the floor, and leave it at 0.95 m/s.
    let mut state = scene.model.default_state();
    let lowest = state.q.iter().skip(2).step_by(3).copied();
    let lowest = lowest.fold(f64::INFINITY, f64::min);
    let radius = 0.005;
    for k in (2..state.q.len()).step_by(3) {
        state.q[k] -= lowest - radius + 1e-4;
        state.v[k] = 0.95;
    }
    let step = |substeps, shorter: f64| {
        let mut backend = GpuSubsteps::new(&gpu, &scene.model).expect("foam");
        let (mut forces, mut report) = (Vec::new(), SubstepReport::default());
        let mut input = scene.input(substeps);
        input.time_step_s *= shorter;
        backend.begin(&state).expect("its own state");
        (backend.run(&input, &mut no_links(), &mut forces, &mut report)).expect("a step");
        let _ = backend.end(&mut BodyState::default()).expect("an end");
        (forces, report)
    };
    let (forces, _) = step(1, 0.05);
    assert!(!forces.is_empty(), "the floor pushes in the first substep");
    let (forces, report) = step(20, 1.0);
    assert!(
        report.contacts > 0 && report.contacts < 20 * 16,
        "{report:?}"
    );
    assert!(forces.is_empty(), "{forces:?}");
}
