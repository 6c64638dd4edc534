//! A hand that is steered while it runs keeps its ball (Han, Masterjohn and Castro 2023, VII-D, with changes of parameters for a gamepad).

use std::f64::consts::TAU;

use pliant::runner::{ParameterChange, RunInputs, RunLength, RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

/// From where the scene's own path ends, s.
const FROM_S: f64 = 3.6;

/// A recorded drive: the wrist goes twice round a loop, 50 changes a second.
fn drive(scene: &Scene) -> RunInputs {
    let mut inputs = RunInputs::new(scene.name());
    for step in (360..600).step_by(2) {
        let time_s = 0.01 * step as f64;
        let (angle, share) = (TAU * (time_s - FROM_S) / 1.2, (time_s - FROM_S) / 0.4);
        for (name, shift) in [
            ("reach", 0.03 * angle.sin()),
            ("side", 0.03 * (1.0 - angle.cos())),
            ("lift", 0.05 * (0.5 * angle).sin().powi(2)),
        ] {
            inputs.parameters.push(ParameterChange {
                step,
                time_s,
                name: name.into(),
                value: share.min(1.0) * shift,
            });
        }
    }
    inputs
}

#[test]
fn a_hand_steered_by_parameters_keeps_its_ball() {
    let scene = Scene::load("hand-holds-ball", &SceneOptions::default()).expect("a bundled scene");
    let options = RunOptions {
        length: RunLength::Full,
        inputs: Some(drive(&scene)),
        ..RunOptions::default()
    };
    let outcome = run(&scene, &options, &mut |_| {}).expect("a run");
    assert!(outcome.summary.is_as_expected());
    let series = &outcome.series;
    let width = |observable: &str| {
        let mut names = scene.observables.iter().map(|o| &o.name.name);
        let column = names
            .position(|name| name == observable)
            .expect("its place");
        let rows = (0..series.times_s().len()).filter(|row| series.times_s()[*row] > FROM_S);
        let values: Vec<f64> = rows.map(|row| series.at(row, column)).collect();
        let max = values.iter().copied().fold(f64::MIN, f64::max);
        max - values.iter().copied().fold(f64::MAX, f64::min)
    };
    // The wrist follows its targets within a few millimetres.
    for (observable, asked) in [("hand.x", 0.06), ("hand.y", 0.06), ("hand.z", 0.05)] {
        let found = width(observable);
        assert!((found - asked).abs() < 0.006, "{observable}: {found}");
    }
}
