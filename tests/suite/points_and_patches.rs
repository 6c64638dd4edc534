//! Material points beside bodies in patch contact: they touch in points, and patch contact is refused for them.

use pliant::runner::{Outcome, RunOptions, RunOutcome, run};
use pliant::scene::{Scene, SceneOptions};

/// A tower of two compliant cubes of 1 kg on a rigid floor; beside it a slab of dough with a hydroelastic plate of 0.2 kg on top, and
/// a pad of finite elements on the dough.
fn scene(contact: &str, more: &str) -> String {
    format!(
        r#"schema = 1
title = "tower and dough"
[simulation]
smoke_s = 0.6
time_step_s = 0.002
{contact}
[materials.default]
hydroelastic = "compliant"
hydroelastic_modulus = 1e7
dissipation = 50
[materials.dough]
stiffness = 1e4
dissipation = 10
[[fixed]]
name = "floor"
shape = {{ half_space = {{}} }}
material = {{ hydroelastic = "rigid" }}
[[bodies]]
name = "low"
shape = {{ box = {{ size = [0.1, 0.1, 0.1] }} }}
mass = 1
pose = {{ position = [0, 0, 0.05] }}
[[bodies]]
name = "high"
shape = {{ box = {{ size = [0.1, 0.1, 0.1] }} }}
mass = 1
pose = {{ position = [0.01, 0, 0.15] }}
[[bodies]]
name = "plate"
shape = {{ box = {{ size = [0.06, 0.1, 0.02] }} }}
mass = 0.2
pose = {{ position = [0.17, 0, 0.071] }}
[[fem]]
name = "pad"
mesh = {{ box = {{ size = [0.06, 0.06, 0.03], cells = [2, 2, 1] }} }}
constitutive_material = {{ youngs_modulus = 1e5, poissons_ratio = 0.3 }}
density = 500
pose = {{ position = [0.26, 0, 0.076] }}
[grid]
spacing = 0.03
[[material_points]]
name = "dough"
shape = {{ box = {{ size = [0.18, 0.12, 0.06] }} }}
constitutive_material = {{ youngs_modulus = 2e5, poissons_ratio = 0.3, yield_stress = 2e4 }}
density = 500
pose = {{ position = [0.22, 0, 0.03] }}
material = "dough"
[[observables]]
name = "tower.area"
quantity = "patch-area"
of = "low"
with = "floor"
[[observables]]
name = "tower.force"
quantity = "contact-force"
of = "low"
with = "floor"
component = "z"
[[observables]]
name = "dough.area"
quantity = "patch-area"
of = "dough"
[[observables]]
name = "dough.count"
quantity = "contact-count"
of = "dough"
[[observables]]
name = "dough.force"
quantity = "contact-force"
of = "dough"
with = "floor"
component = "z"
[[observables]]
name = "plate.force"
quantity = "contact-force"
of = "plate"
with = "dough"
component = "z"
[[observables]]
name = "pad.force"
quantity = "contact-force"
of = "pad"
with = "dough"
component = "z"
{more}"#
    )
}

fn outcome(text: &str) -> Result<RunOutcome, String> {
    let scene = Scene::parse("test.toml", text, &SceneOptions::default());
    let scene = scene.map_err(|error| error.to_string())?;
    run(&scene, &RunOptions::default(), &mut |_| {}).map_err(|error| error.to_string())
}

fn expect(observable: &str, equals: f64, within: f64) -> String {
    format!(
        "[[expect]]\nobservable = \"{observable}\"\nfrom_s = 0.4\ntake = \"mean\"\nequals = {equals}\nwithin = {within}\nsource = \"statics\"\n"
    )
}

/// All bodies come to rest: the tower on a patch, the dough and the bodies on it in point contact.
#[track_caller]
fn check_rests(contact: &str, pairs: &str) {
    let g = 9.81;
    let (pad, dough) = (500.0 * 0.06 * 0.06 * 0.03, 500.0 * 0.18 * 0.12 * 0.06);
    let more = [
        expect("tower.area", 0.01, 1e-7),
        expect("tower.force", 2.0 * g, 0.01 * g),
        expect("dough.area", 0.0, 0.0),
        expect("dough.force", (dough + pad + 0.2) * g, 0.02 * g),
        expect("plate.force", 0.2 * g, 0.004 * g),
        expect("pad.force", pad * g, 0.004 * g),
    ];
    let text = scene(contact, &format!("{pairs}{}", more.concat()));
    let outcome = outcome(&text).unwrap_or_else(|error| panic!("{error}"));
    let verdicts = &outcome.summary.expectations;
    assert_eq!(verdicts.len(), 6);
    assert!(
        verdicts.iter().all(|v| v.outcome == Outcome::Met),
        "{verdicts:#?}"
    );
}

#[test]
fn dough_touches_in_points_beside_a_tower_that_stands_on_a_patch() {
    check_rests("", "");
    check_rests("[contact]\nkind = \"patch-else-point\"\n", "");
}

#[test]
fn patch_contact_of_dough_is_refused_by_name_unless_its_pairs_are_points() {
    let patch = "[contact]\nkind = \"patch\"\n";
    let refused = outcome(&scene(patch, "")).expect_err("no patch");
    for word in [
        "\"dough\"",
        "touched at its points",
        "no area",
        "choose point contact",
    ] {
        assert!(refused.contains(word), "{word:?} is not in: {refused}");
    }
    // Also with the surface of a soft body.
    let with =
        |other: &str| format!("[[pairs]]\nbetween = [\"dough\", \"{other}\"]\nkind = \"point\"\n");
    let all_but_pad = ["floor", "low", "high", "plate"].map(with).concat();
    let refused = outcome(&scene(patch, &all_but_pad)).expect_err("no patch");
    for word in ["\"dough\"", "\"pad\"", "touched at its points"] {
        assert!(refused.contains(word), "{word:?} is not in: {refused}");
    }
    let one = "[[pairs]]\nbetween = [\"dough\", \"plate\"]\nkind = \"patch\"\n";
    let refused = outcome(&scene("", one)).expect_err("no patch");
    assert!(refused.contains("\"plate\""), "{refused}");
    check_rests(patch, &(all_but_pad + &with("pad")));
}
