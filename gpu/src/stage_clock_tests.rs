//! The report of a step has the time of each stage on the device.

use std::sync::Arc;
use std::time::Instant;

use pliant_contact_sap::DeformableModel;
use pliant_mpm::{StageTimes, SubstepBackend, SubstepReport};

use crate::adapter::Gpu;
use crate::backend::GpuSubsteps;
use crate::function_tests::device;
use crate::stage_clock::FEATURES;
use crate::test_scene::{FoamOnFloor, no_links};

#[test]
fn stages_take_time_and_no_more_than_the_step() {
    if device("stages_take_time_and_no_more_than_the_step").is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    let scene = FoamOnFloor::new();
    let mut backend = GpuSubsteps::new(&gpu, &scene.model).expect("foam");
    let (mut memory, mut report) = (Vec::new(), SubstepReport::default());
    backend
        .begin(&scene.model.default_state())
        .expect("its own state");
    let start = Instant::now();
    (backend.run(&scene.input(4), &mut no_links(), &mut memory, &mut report)).expect("a step");
    let passed_s = start.elapsed().as_secs_f64();
    let StageTimes {
        sort_s,
        scatter_s,
        detect_s,
        solve_s,
        gather_s,
    } = report.times;
    let stages = [sort_s, scatter_s, detect_s, solve_s, gather_s];
    if gpu.device.features().contains(FEATURES) {
        assert!(stages.iter().all(|s| *s > 0.0), "{stages:?}");
        assert!(
            stages.iter().sum::<f64>() <= passed_s,
            "{stages:?} of {passed_s}"
        );
    } else {
        assert_eq!(stages, [0.0; 5]);
    }
}
