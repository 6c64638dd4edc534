//! The opponent of Zong, Jiang, Han (2024), section VII-E: explicit substeps of material points that exchange impulses with
//! rigid panels, where one convex problem a step holds still.

use pliant::runner::{RunLength, RunOptions, run};
use pliant::scene::{Scene, SceneOptions, bundled};

/// What the left panel feels of the cube in the last third of 0.24 s, N, along its normal and sideways, as largest distance from
/// 10 N and from 0; and how fast the cube falls at most, m/s.
struct Hold {
    normal_off: f64,
    sideways: f64,
    fall: f64,
}

fn panels(time_step_s: f64, stepper: &str) -> Hold {
    let text = bundled::scene("panels").expect("a bundled scene");
    let text = text.replace("smoke_s = 0.5\n", &format!("smoke_s = 0.5\n{stepper}"));
    let options = SceneOptions {
        time_step_s: Some(time_step_s),
        ..SceneOptions::default()
    };
    let scene = Scene::parse("panels", &text, &options).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions {
        length: RunLength::Until(0.24),
    };
    let outcome = run(&scene, &options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let column = |name: &str| {
        let mut columns = outcome.recording.observables().iter();
        columns.position(|o| o.name == name).expect("observed")
    };
    let (normal, sideways) = (column("left.normal"), column("left.sideways"));
    let fall = column("cube.fall");
    let series = &outcome.series;
    let late = series.times_s().iter().enumerate();
    let rows: Vec<usize> = late
        .filter(|(_, t)| **t > 0.16)
        .map(|(row, _)| row)
        .collect();
    let most = |of: &dyn Fn(usize) -> f64| rows.iter().map(|row| of(*row)).fold(0.0, f64::max);
    Hold {
        normal_off: most(&|row| (series.at(row, normal) - 10.0).abs()),
        sideways: most(&|row| series.at(row, sideways).abs()),
        fall: most(&|row| series.at(row, fall).abs()),
    }
}

const EXCHANGE: &str = "stepper = \"impulse-exchange\"\n";

#[test]
fn impulse_exchange_finds_the_load_with_short_steps() {
    let hold = panels(0.001, EXCHANGE);
    assert!(hold.normal_off < 0.2, "{} N", hold.normal_off);
    assert!(hold.sideways < 0.02 && hold.fall < 2e-3);
}

#[test]
fn impulse_exchange_swings_and_lets_go_with_steps_at_which_one_convex_problem_holds_still() {
    let exchange = panels(0.01, &format!("{EXCHANGE}substeps = 100\n"));
    // The panels part from the cube altogether, again and again.
    assert!(exchange.normal_off > 9.0, "{} N", exchange.normal_off);
    assert!(exchange.fall > 0.1, "{} m/s", exchange.fall);
    for time_step_s in [0.01, 0.002] {
        let convex = panels(time_step_s, "");
        assert!(convex.normal_off < 0.1, "{} N", convex.normal_off);
        assert!(convex.sideways < 0.01 * 1.962 && convex.fall < 2e-3);
    }
}

#[test]
fn impulse_exchange_is_refused_together_with_an_accuracy() {
    let text = bundled::scene("panels").expect("a bundled scene");
    let text = text.replace("smoke_s", &format!("accuracy = 1e-3\n{EXCHANGE}smoke_s"));
    let error = Scene::parse("panels", &text, &SceneOptions::default()).expect_err("refused");
    assert!(error.to_string().contains("impulse-exchange"), "{error}");
    let text = bundled::scene("panels").expect("a bundled scene");
    let text = text.replace("smoke_s", "substeps = 4\nsmoke_s");
    let error = Scene::parse("panels", &text, &SceneOptions::default()).expect_err("refused");
    assert!(error.to_string().contains("substeps"), "{error}");
}
