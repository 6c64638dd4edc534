//! Asynchronous scenes with their substeps on a GPU, or on a software device that plays one.

use std::io::Write as _;
use std::ops::ControlFlow;

use pliant::runner::{Outcome, Progress, RunLength, RunOptions, RunOutcome, run, run_watched};
use pliant::scene::{Scene, SceneOptions, bundled};
use pliant_coupling::State;

pub(crate) fn has_adapter(test: &str) -> bool {
    let found = !pliant_gpu::adapters().is_empty();
    if !found {
        writeln!(std::io::stderr(), "SKIPPED {test}: no Vulkan adapter").expect("stderr");
    }
    found
}

fn loaded(name: &str, settings: &[&str]) -> Result<Scene, String> {
    let options = SceneOptions {
        parameters: (settings.iter())
            .map(|s| s.parse().expect("name=value"))
            .collect(),
        ..SceneOptions::default()
    };
    let text = bundled::scene(name).expect("a bundled scene");
    Scene::parse(name, text, &options).map_err(|e| e.to_string())
}

fn played(scene: &Scene, length: RunLength) -> RunOutcome {
    let options = RunOptions {
        length,
        ..RunOptions::default()
    };
    run(scene, &options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn asynchronous_scenes_meet_their_expectations_on_a_device() {
    if !has_adapter("asynchronous_scenes_meet_their_expectations_on_a_device") {
        return;
    }
    for (name, settings) in [
        ("async-panels", [].as_slice()),
        ("async-shake", &["simulation.smoke_s=0.03"]),
        ("async-dough-rolling", &["simulation.smoke_s=0.12"]),
        ("dough-kneading", &["simulation.smoke_s=0.05"]),
        (
            "dough-and-sand-at-scale",
            &["h=0.04", "simulation.smoke_s=0.05"],
        ),
    ] {
        let settings: Vec<&str> = (settings.iter().copied())
            .chain(["simulation.device=gpu"])
            .collect();
        let scene = loaded(name, &settings).unwrap_or_else(|e| panic!("{e}"));
        let clock = std::time::Instant::now();
        let summary = played(&scene, RunLength::Smoke).summary;
        eprintln!("{name}: {:.1} s", clock.elapsed().as_secs_f64());
        assert_eq!(summary.unconverged_steps, 0, "{name}");
        let failed: Vec<_> = (summary.expectations.iter())
            .filter(|v| v.outcome == Outcome::Failed)
            .collect();
        assert!(failed.is_empty(), "{name}: {failed:#?}");
        let met = (summary.expectations.iter()).filter(|v| v.outcome == Outcome::Met);
        assert!(
            met.count() > 0,
            "{name}: the run ends before all expectations"
        );
    }
}

#[test]
fn observables_of_a_device_are_those_of_the_processor() {
    if !has_adapter("observables_of_a_device_are_those_of_the_processor") {
        return;
    }
    let of = |device: &str| {
        let device = format!("simulation.device={device}");
        let settings = [device.as_str(), "simulation.substep_tolerance=1e-5"];
        let scene = loaded("async-panels", &settings).expect("a legal scene");
        played(&scene, RunLength::Until(0.05))
    };
    let (gpu, cpu) = (of("gpu"), of("cpu"));
    let names = cpu.recording.observables();
    for (column, observable) in names.iter().enumerate() {
        let rows = 0..cpu.series.times_s().len();
        let size = (rows.clone())
            .map(|row| cpu.series.at(row, column).abs())
            .fold(0.0, f64::max);
        if observable.name.ends_with("sideways") {
            continue; // zero but for round-off
        }
        for row in rows {
            let (g, c) = (gpu.series.at(row, column), cpu.series.at(row, column));
            if c.is_nan() {
                assert!(g.is_nan()); // forces before the first step
                continue;
            }
            let off = (g - c).abs();
            assert!(
                off <= 1e-3 * size,
                "{} at {} s: {g} for {c}",
                observable.name,
                cpu.series.times_s()[row]
            );
        }
    }
}

/// Cloth, held sets and boxes of the bundled scenes, from their start.
#[test]
fn cloths_of_a_device_are_those_of_the_processor() {
    if !has_adapter("cloths_of_a_device_are_those_of_the_processor") {
        return;
    }
    let drape = (
        "cloth-drape",
        0.06,
        Some("cloth.cloth.bending_model=hinges"),
    );
    for (name, until_s, setting) in [drape, ("box-bagging", 0.01, None)] {
        let of = |device: &str| {
            let device = format!("simulation.device={device}");
            let mut settings = vec![
                device.as_str(),
                "simulation.stepper=asynchronous",
                "simulation.substep_tolerance=1e-5",
            ];
            settings.extend(setting);
            let scene = loaded(name, &settings).unwrap_or_else(|e| panic!("{e}"));
            played(&scene, RunLength::Until(until_s))
        };
        let (gpu, cpu) = (of("gpu"), of("cpu"));
        assert_eq!(gpu.summary.unconverged_steps, 0, "{name}");
        for (a, b) in gpu.state.bodies.iter().zip(&cpu.state.bodies) {
            let apart = a.q.iter().zip(&b.q).map(|(a, b)| (a - b).abs());
            let worst = apart.fold(0.0, f64::max);
            assert!(worst <= 1e-6, "{name}: {worst:e}");
        }
    }
}

/// At the tolerance that scenes have by default a device is not much further from the solution than the processor. Substeps that end far from theirs let a cloth slip
/// in a gripper, each in the same direction: where the device took a residual of the tolerance for a solution, it was five times as far. Triangles have edges of one
/// grid spacing, since with shorter ones the first substep takes more iterations than llvmpipe has loops for.
#[test]
fn a_gripper_holds_a_cloth_on_a_device_as_on_the_processor() {
    if !has_adapter("a_gripper_holds_a_cloth_on_a_device_as_on_the_processor") {
        return;
    }
    let of = |setting: &str| {
        let scene = loaded("laundry", &["h=1/64", "edge=h", setting]).expect("a legal scene");
        played(&scene, RunLength::Until(0.05))
    };
    let [gpu, cpu] = ["gpu", "cpu"].map(|device| of(&format!("simulation.device={device}")));
    let exact = of("simulation.substep_tolerance=1e-5");
    for name in ["thrown.z", "gripper.load"] {
        let names = exact.recording.observables();
        let column = names.iter().position(|o| o.name == name);
        let column = column.expect("an observable of the scene");
        let rows = 0..exact.series.times_s().len();
        let deviation = |run: &RunOutcome| {
            let of_row = |row| (run.series.at(row, column) - exact.series.at(row, column)).abs();
            rows.clone().map(of_row).fold(0.0, f64::max)
        };
        let (on_device, on_processor) = (deviation(&gpu), deviation(&cpu));
        assert!(
            on_device <= 1.5 * on_processor,
            "{name}: {on_device:e}, on the processor {on_processor:e}"
        );
    }
}

#[test]
fn a_run_goes_on_from_a_state_of_the_other_device() {
    if !has_adapter("a_run_goes_on_from_a_state_of_the_other_device") {
        return;
    }
    let scene = |device: &str| {
        let device = format!("simulation.device={device}");
        let settings = [device.as_str(), "simulation.substep_tolerance=1e-5"];
        loaded("async-panels", &settings).expect("a legal scene")
    };
    let half = played(&scene("gpu"), RunLength::Until(0.05)).state;
    let options = RunOptions {
        length: RunLength::Until(0.1),
        ..RunOptions::default()
    };
    let go_on = |_: &Progress, _: &State| ControlFlow::Continue(());
    let changed = run_watched(&scene("cpu"), Some(half), &options, &mut { go_on });
    let (changed, cpu) = (
        changed.expect("a state of the same world"),
        played(&scene("cpu"), RunLength::Until(0.1)),
    );
    assert_eq!(changed.state.step, cpu.state.step);
    let size = |q: &[f64]| q.iter().map(|x| x * x).sum::<f64>().sqrt();
    for (a, b) in changed.state.bodies.iter().zip(&cpu.state.bodies) {
        let off: Vec<f64> = a.q.iter().zip(&b.q).map(|(a, b)| a - b).collect();
        assert!(
            size(&off) <= 1e-4 * size(&b.q),
            "{}",
            size(&off) / size(&b.q)
        );
    }
}

/// llvmpipe cuts the loops of an invocation short after 65,535 turns, so thousands of contacts are too many for it. It must say so: without the
/// check in the shaders, impulses and velocities differed from run to run.
#[test]
fn thousands_of_contacts_have_the_same_bits_or_are_an_error() {
    if !has_adapter("thousands_of_contacts_have_the_same_bits_or_are_an_error") {
        return;
    }
    let scene = loaded("sandbox", &["ppc=4", "simulation.device=gpu"]).expect("a legal scene");
    let options = RunOptions {
        length: RunLength::Until(0.004),
        ..RunOptions::default()
    };
    let once = || run(&scene, &options, &mut |_| {});
    match once() {
        Ok(first) => {
            let second = once().expect("the same device as before");
            assert_eq!(first.summary.unconverged_steps, 0);
            assert_eq!(first.state, second.state);
        }
        Err(error) => {
            let text = error.to_string();
            assert!(
                text.contains("cut loops short") && text.contains("processor"),
                "{text}"
            );
        }
    }
}

#[test]
fn what_a_device_does_not_have_is_named() {
    if !has_adapter("what_a_device_does_not_have_is_named") {
        return;
    }
    let similar = ["contact.model=similar", "simulation.device=gpu"];
    let scene = loaded("async-panels", &similar).expect("a legal scene");
    let refused = run(&scene, &RunOptions::default(), &mut |_| {})
        .expect_err("no shader for other laws of contact")
        .to_string();
    assert!(
        refused.contains("contact model") && refused.contains("processor"),
        "{refused}"
    );
    let double = ["simulation.device=gpu", "simulation.precision=double"];
    let refused = loaded("async-panels", &double).expect_err("f32 alone");
    assert!(refused.contains("double precision"), "{refused}");
}
