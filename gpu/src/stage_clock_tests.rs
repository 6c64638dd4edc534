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

const SUBSTEPS: u32 = 4;

/// A time step, after so many iterations of its contact solve by many workgroups. Returns what it reports, and how long it took, s.
fn step(batch: &GpuBatch, iterations: u32) -> (SubstepReport, f64) {
    let scene = FoamOnFloor::new();
    let mut backend = GpuSubsteps::in_batch(batch, &scene.model).expect("foam");
    let (mut memory, mut report) = (Vec::new(), SubstepReport::default());
    backend
        .begin(&scene.model.default_state())
        .expect("its own state");
    backend.set_iterations(iterations);
    let input = scene.input(SUBSTEPS);
    let start = Instant::now();
    (backend.run(&input, &mut no_links(), &mut memory, &mut report)).expect("a step");
    (report, start.elapsed().as_secs_f64())
}

fn phases(times: &StageTimes) -> [f64; 5] {
    let StageTimes {
        sort_s,
        scatter_s,
        detect_s,
        solve_s,
        gather_s,
    } = *times;
    [sort_s, scatter_s, detect_s, solve_s, gather_s]
}

#[test]
fn stages_take_time_and_no_more_than_the_step() {
    if device("stages_take_time_and_no_more_than_the_step").is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    let (report, passed_s) = step(&GpuBatch::new(&gpu), 0);
    let stages = phases(&report.times);
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
    let batch = GpuBatch::timed_by_stage(&gpu);
    let iterations = 3;
    let (report, _) = step(&batch, iterations);
    let times = batch.dispatch_times();
    if !gpu.device.features().contains(FEATURES) {
        assert!(times.is_empty());
        return;
    }
    let dispatches = |stage: &str| {
        let found = times.iter().find(|time| time.stage == stage);
        found.map(|time| time.dispatches)
    };
    for (stage, expected) in [
        ("scatter", Some(SUBSTEPS)),
        ("stress", Some(1)),
        (
            "solve_nodes, solve_contacts",
            Some(SUBSTEPS * 2 * iterations),
        ),
        // There is no cloth.
        ("cloth_elements", None),
    ] {
        assert_eq!(dispatches(stage), expected.map(u64::from), "{stage}");
    }
    let sum: f64 = times.iter().map(|time| time.seconds).sum();
    let of_phases: f64 = phases(&report.times).iter().sum();
    // Time between two timestamps around stages that are not dispatched is in none of them: little, but for other programs on the machine.
    let share = sum / of_phases;
    assert!((0.5..1.0 + 1e-9).contains(&share), "{sum} of {of_phases}");
}
