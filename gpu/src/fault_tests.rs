//! A device that is lost in mid run.

use std::sync::Arc;

use pliant_contact_sap::{BodyState, DeformableModel};
use pliant_mpm::{CpuSubsteps, SubstepBackend, SubstepReport};

use crate::adapter::Gpu;
use crate::backend::GpuSubsteps;
use crate::function_tests::device;
use crate::test_scene::{FoamOnFloor, no_links};

#[test]
fn a_lost_device_is_an_error_and_what_was_there_before_stays() {
    let name = "a_lost_device_is_an_error_and_what_was_there_before_stays";
    if device(name).is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    let scene = FoamOnFloor::new();
    let (model, input) = (&scene.model, scene.input(2));
    let mut links = no_links();
    let (mut memory, mut report) = (Vec::new(), SubstepReport::default());
    let mut kept = BodyState::default();
    let mut backend = GpuSubsteps::new(&gpu, model).expect("foam");
    backend
        .begin(&model.default_state())
        .expect("its own state");
    (backend.run(&input, &mut links, &mut memory, &mut report)).expect("a step");
    let _ = backend.end(&mut kept).expect("an end");
    assert!(!memory.is_empty());

    gpu.device.destroy();
    let before = memory.clone();
    backend.begin(&kept).expect("reading needs no device");
    let failed = backend.run(&input, &mut links, &mut memory, &mut report);
    let error = failed.expect_err("the device is gone").to_string();
    assert!(
        error.contains("the device failed") && error.contains("processor"),
        "{error}"
    );
    assert_eq!(memory, before);
    // The processor goes on from the last state.
    let mut processor = CpuSubsteps::<f32>::new(model);
    let mut next = BodyState::default();
    processor.begin(&kept).expect("a state of the model");
    (processor.run(&input, &mut links, &mut memory, &mut report)).expect("a step");
    let _ = processor.end(&mut next).expect("an end");
    assert_eq!(next.q.len(), kept.q.len());
}
