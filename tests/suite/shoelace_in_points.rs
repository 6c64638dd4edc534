//! Without speculative contacts, a pinched lace slips with stiff point contact and holds with patches (Li and Chou 2025, V-E,
//! figure 8d).

use pliant::runner::{RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

/// Stiff contact with the paper's contact model, SAP, without relaxation time.
const STIFF: [&str; 5] = [
    "contact.model=sap",
    "materials.default.stiffness=1e6",
    "materials.default.relaxation_time_s=0",
    "materials.lace.stiffness=1e6",
    "materials.lace.relaxation_time_s=0",
];

/// Results of `shoelace-pull`: mean and spread of the pinching force over the force of the fingers, and pull carried by friction over
/// the friction bound.
fn pinch(settings: &[&str]) -> [f64; 3] {
    let all = STIFF.iter().chain(settings);
    let options = SceneOptions {
        parameters: all.map(|s| s.parse().unwrap()).collect(),
        ..SceneOptions::default()
    };
    let scene = Scene::load("shoelace-pull", &options).unwrap();
    let force = scene.parameters["force"];
    let pull = 2.0 * scene.parameters["share"] * scene.parameters["mu"] * force;
    let outcome = run(&scene, &RunOptions::default(), &mut |_| {}).unwrap();
    let value = |observable: &str, nth: usize| {
        let verdicts = outcome.summary.expectations.iter();
        let mut named = verdicts.filter(|v| v.observable == observable);
        named.nth(nth).unwrap().found.unwrap()
    };
    [
        value("pinch", 0) / force,
        value("pinch", 1) / force,
        -value("drag", 0) / pull,
    ]
}

#[test]
fn stiff_points_lose_a_lace_only_without_speculative_contacts_and_patches_hold_it() {
    let overlapping = "contact.speculation=overlapping";
    let points = "contact.kind=point";
    for holding in [&[points][..], &[overlapping]] {
        let [mean, spread, drag] = pinch(holding);
        assert!((mean - 1.0).abs() < 0.02, "{holding:?}: {mean}");
        assert!(spread < 0.05, "{holding:?}: {spread}");
        assert!((drag - 1.0).abs() < 0.01, "{holding:?}: {drag}");
    }
    // A contact that has separated in one step is missed in the next. Other contacts carry its load and separate, too, until a few
    // impacts carry it, or none is left.
    let [mean, spread, drag] = pinch(&[points, overlapping]);
    assert!((mean - 1.0).abs() > 0.2 && spread > 1.0, "{mean} {spread}");
    assert_eq!(drag, 0.0, "the lace is gone");
}
