//! A pinched lace slips with point contact and not with patches (Li and Chou 2025, V-E, figure 8d).

use pliant::runner::{RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

/// Stiff contact with the paper's solver, SAP: relaxation within a step.
const HARD: [&str; 5] = [
    "contact.model=sap",
    "materials.default.stiffness=1e6",
    "materials.default.relaxation_time_s=0",
    "materials.lace.stiffness=1e6",
    "materials.lace.relaxation_time_s=0",
];

/// Results of `shoelace-pull`: mean and spread of the pinching force over the force of the fingers, and pull carried by friction over
/// the friction bound.
fn pinch(settings: &[&str]) -> [f64; 3] {
    let all = HARD.iter().chain(settings);
    let options = SceneOptions {
        parameters: all.map(|s| s.parse().unwrap()).collect(),
        ..SceneOptions::default()
    };
    let scene = Scene::load("shoelace-pull", &options).unwrap();
    let force = scene.parameters["force"];
    let pull = 2.0 * scene.parameters["share"] * scene.parameters["mu"] * force;
    let outcome = run(&scene, &RunOptions::default(), &mut |_| {}).unwrap();
    let found = |observable: &str, nth: usize| {
        let verdicts = outcome.summary.expectations.iter();
        let mut named = verdicts.filter(|v| v.observable == observable);
        named.nth(nth).unwrap().found.unwrap()
    };
    [
        found("pinch", 0) / force,
        found("pinch", 1) / force,
        -found("drag", 0) / pull,
    ]
}

#[test]
fn stiff_points_lose_a_lace_without_speculative_contact_and_patches_hold_it_always() {
    let unforeseen = "contact.speculation=overlapping";
    let points = "contact.kind=point";
    for holding in [&[points][..], &[unforeseen]] {
        let [mean, spread, drag] = pinch(holding);
        assert!((mean - 1.0).abs() < 0.02, "{holding:?}: {mean}");
        assert!(spread < 0.05, "{holding:?}: {spread}");
        assert!((drag - 1.0).abs() < 0.01, "{holding:?}: {drag}");
    }
    // Points that separated in one step are no contacts of the next. Others carry their load and separate in turn, until impacts of a few
    // carry it or none is left.
    let [mean, spread, drag] = pinch(&[points, unforeseen]);
    assert!((mean - 1.0).abs() > 0.2 && spread > 1.0, "{mean} {spread}");
    assert_eq!(drag, 0.0, "the lace is gone");
}
