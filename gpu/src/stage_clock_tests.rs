//! Times of the stages on the device: by phase in the report of a step, and one by one.

use std::sync::Arc;
use std::time::Instant;

use pliant_contact_sap::DeformableModel;
use pliant_mpm::{StageTimes, SubstepBackend, SubstepReport};

use crate::adapter::Gpu;
use crate::backend::GpuSubsteps;
use crate::batch::GpuBatch;
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

#[test]
fn dispatches_are_counted_and_their_times_are_those_of_the_phases() {
    if device("dispatches_are_counted_and_their_times_are_those_of_the_phases").is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    let scene = FoamOnFloor::new();
    let batch = GpuBatch::timed_by_stage(&gpu);
    let mut backend = GpuSubsteps::in_batch(&batch, &scene.model).expect("foam");
    let (mut memory, mut report) = (Vec::new(), SubstepReport::default());
    let start = scene.model.default_state();
    backend.begin(&start).expect("its own state");
    let iterations = 3;
    backend.set_iterations(iterations);
    (backend.run(&scene.input(4), &mut no_links(), &mut memory, &mut report)).expect("a step");
    let times = batch.dispatch_times();
    if !gpu.device.features().contains(FEATURES) {
        assert!(times.is_empty());
        return;
    }
    let dispatches = |stage: &str| {
        let found = times.iter().find(|time| time.stage == stage);
        found.map(|time| time.dispatches)
    };
    let iterated = u64::from(4 * 2 * iterations);
    for (stage, expected) in [
        ("scatter", Some(4)),
        ("stress", Some(1)),
        ("solve_nodes, solve_contacts", Some(iterated)),
        // There is no cloth.
        ("cloth_elements", None),
    ] {
        assert_eq!(dispatches(stage), expected, "{stage}");
    }
    let sum: f64 = times.iter().map(|time| time.seconds).sum();
    let StageTimes {
        sort_s,
        scatter_s,
        detect_s,
        solve_s,
        gather_s,
    } = report.times;
    let phases = sort_s + scatter_s + detect_s + solve_s + gather_s;
    // Between two timestamps of stages that are not dispatched little time passes.
    let share = sum / phases;
    assert!((0.9..1.0 + 1e-9).contains(&share), "{sum} of {phases}");
}
