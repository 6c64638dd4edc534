//! A ball rests in a thin-walled cup that sets off at constant speed: it stays inside, or the step is reported.

use pliant::runner::{RunLength, RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

const SCENE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/suite/tunnelling/small.toml"
);
/// Inner radius of the cup, m.
const INSIDE: f64 = 0.03;

/// The largest distance of the ball from the middle of the cup, m, and whether a step was reported.
fn carried(speed: f64, time_step_s: f64) -> (f64, bool) {
    let options = SceneOptions {
        parameters: vec![format!("v={speed}").parse().expect("name=value")],
        time_step_s: Some(time_step_s),
        ..SceneOptions::default()
    };
    let scene = Scene::load(SCENE, &options).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions {
        length: RunLength::Until(0.1),
        ..RunOptions::default()
    };
    let outcome = run(&scene, &options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let series = &outcome.series;
    let rows = 0..series.times_s().len();
    let apart = rows.map(|row| (series.at(row, 0) - series.at(row, 1)).abs());
    let reported = outcome.summary.missed_contact_steps > 0;
    (apart.fold(0.0, f64::max), reported)
}

#[test]
fn a_ball_stays_in_a_cup_that_moves_or_the_step_is_reported() {
    for speed in [0.5, 1.0, 2.0, 5.0, 10.0] {
        for time_step_s in [0.002, 0.005, 0.01] {
            let (apart, reported) = carried(speed, time_step_s);
            assert!(
                apart < INSIDE || reported,
                "{apart} m from the middle at {speed} m/s in steps of {time_step_s} s"
            );
        }
    }
}

#[test]
fn a_ball_in_a_cup_at_two_metres_per_second_is_held_without_a_report() {
    let (apart, reported) = carried(2.0, 0.01);
    assert!(apart < INSIDE && !reported, "{apart} m, {reported}");
}
