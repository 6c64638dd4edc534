//! The committed results of full runs are results of the scenes as they are: same length, same expectations with the same bounds.

use std::fs;
use std::path::Path;

use pliant::scene::{Expectation, Scene, SceneOptions, bundled};
use serde_json::Value;

/// Bounds are computed from the parameters of the scene.
const ROUND_OFF: f64 = 1e-9;

fn is_same(number: &Value, bound: f64) -> bool {
    match number.as_f64() {
        Some(number) => (number - bound).abs() <= ROUND_OFF * bound.abs().max(ROUND_OFF),
        None => bound.is_infinite(),
    }
}

fn is_of(verdict: &Value, expectation: &Expectation) -> bool {
    verdict["observable"] == expectation.observable.name.as_str()
        && is_same(&verdict["at_least"], expectation.bounds.least)
        && is_same(&verdict["at_most"], expectation.bounds.most)
}

#[test]
fn results_are_of_the_scenes_as_they_are() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/results");
    let mut stale = Vec::new();
    for (name, _) in bundled::SCENES {
        let Ok(text) = fs::read_to_string(folder.join(format!("{name}.json"))) else {
            continue;
        };
        let result: Value = serde_json::from_str(&text).expect("a result is JSON");
        let scene = Scene::load(name, &SceneOptions::default()).expect("a bundled scene");
        let run = &result["run"];
        let verdicts = run["expectations"].as_array().expect("a list");
        let expectations = &scene.expectations;
        let same_length = run["simulated_s"].as_f64().is_some_and(|simulated_s| {
            (simulated_s - scene.simulation.full_s).abs() <= scene.simulation.time_step_s
        });
        let same_checks = verdicts.len() == expectations.len()
            && verdicts.iter().zip(expectations).all(|(v, e)| is_of(v, e));
        if !(same_length && same_checks) {
            stale.push(format!("--scene {name}"));
        }
    }
    assert!(
        stale.is_empty(),
        "renew them by `pliant results {}`",
        stale.join(" ")
    );
}
