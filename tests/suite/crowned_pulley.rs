//! Stiffness, tension and contact that a belt needs to centre itself on a crowned pulley (Li and Chou 2025, V-C).

use pliant::runner::{RunLength, RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

/// Rate at which the belt centres itself, 1/s, and speed of the driven pulley over that of the driving one.
fn belt(settings: &[&str]) -> [f64; 2] {
    let options = SceneOptions {
        parameters: settings.iter().map(|s| s.parse().unwrap()).collect(),
        ..SceneOptions::default()
    };
    let scene = Scene::load("crowned-pulley", &options).unwrap();
    let outcome = run(&scene, &RunOptions::default(), &mut |_| {}).unwrap();
    let found = |observable: &str| {
        let mut verdicts = outcome.summary.expectations.iter();
        let verdict = verdicts.find(|v| v.observable == observable);
        verdict.unwrap().found.unwrap()
    };
    let mut names = scene.observables.iter().map(|o| &o.name.name);
    let rate = names.position(|name| name == "rate").unwrap();
    let driving = scene.parameters["turns_per_s"] * std::f64::consts::TAU;
    [outcome.series.last()[rate], found("right.spin") / driving]
}

#[test]
fn a_belt_stiff_in_twist_centres_itself_at_half_the_rate() {
    let [whole, half] = [belt(&[]), belt(&["twist=1e4"])];
    assert!(half[0] < 0.6 * whole[0], "{half:?} {whole:?}");
}

#[test]
fn a_belt_without_stretching_stiffness_neither_drives_nor_centres_itself() {
    let [rate, speed] = belt(&["stretch=1e-3"]);
    assert!(rate < 0.0, "{rate}");
    assert!(speed < 0.5, "{speed}");
}

#[test]
fn a_belt_without_initial_strain_centres_itself_more_slowly() {
    let [whole, slack] = [belt(&[]), belt(&["stretch=100", "tension=0"])];
    assert!(slack[0] < 0.5 * whole[0], "{slack:?} {whole:?}");
}

#[test]
fn a_belt_with_point_contact_slips() {
    let [patches, points] = [belt(&[]), belt(&["contact.kind=point"])];
    assert!(patches[1] > 0.98, "{patches:?}");
    assert!(points[1] < 0.95, "{points:?}");
}

#[test]
fn a_belt_of_finite_elements_without_tension_does_not_centre_itself() {
    let options = SceneOptions {
        parameters: vec!["stretch=0".parse().unwrap()],
        ..SceneOptions::default()
    };
    let scene = Scene::load("crowned-pulley-fem", &options).unwrap();
    let length = RunOptions {
        length: RunLength::Until(0.8),
        ..RunOptions::default()
    };
    let outcome = run(&scene, &length, &mut |_| {}).unwrap();
    let mut verdicts = outcome.summary.expectations.iter();
    let off = verdicts.find(|v| v.observable == "belt.y").unwrap();
    // From 4 mm; a tight belt moves below 3.6 mm in this time.
    assert!(off.found.unwrap() > 0.0039, "{off:?}");
}
