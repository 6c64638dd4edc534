//! A contact has the larger `condim` of its two geoms: only two geoms with `condim` 1 slide without friction.

use pliant_multibody::{LoadedModel, RobotOptions, read_robot};

use crate::mjcf_models::{load, parse};
use crate::shared_data::shared;

/// The static and dynamic friction of each collision shape, in the order of the links.
fn frictions(loaded: &LoadedModel) -> Vec<(String, Option<f64>, Option<f64>)> {
    let collisions = loaded
        .model
        .links()
        .iter()
        .flat_map(|link| &link.collisions);
    let entry = |c: &pliant_multibody::Collision| {
        (
            c.name.clone(),
            c.proximity.mu_static,
            c.proximity.mu_dynamic,
        )
    };
    collisions.map(entry).collect()
}

fn expect(loaded: &LoadedModel, expected: &[(&str, Option<f64>)]) {
    let found = frictions(loaded);
    let expected: Vec<_> = expected
        .iter()
        .map(|&(name, mu)| (name.to_owned(), mu, mu))
        .collect();
    assert_eq!(found, expected, "{}", loaded.report);
}

const FLOOR: &str = "<geom name=\"floor\" type=\"plane\" size=\"5 5 1\" ";

fn free(name: &str, x: f64, attributes: &str) -> String {
    format!(
        "<body name=\"{name}\" pos=\"{x} 0 0.1\"><freejoint/><geom name=\"{name}\" type=\"box\" size=\".1 .1 .1\" {attributes}/></body>"
    )
}

#[test]
fn two_geoms_with_condim_1_have_no_friction() {
    let Some(path) = shared("data/cases/mjcf-condim/condim.xml") else {
        return;
    };
    let loaded = read_robot(path, &RobotOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let found = frictions(&loaded);
    assert_eq!(found.len(), 2);
    for (name, mu_static, mu_dynamic) in found {
        assert_eq!((mu_static, mu_dynamic), (Some(0.0), Some(0.0)), "{name}");
    }
}

#[test]
fn condim_1_keeps_its_friction_on_a_geom_with_condim_3() {
    let slider = free("slider", 0.0, "condim=\"1\" friction=\"0.7\"");
    let loaded = load(&format!(
        "<worldbody>{FLOOR} friction=\"0.4\"/>{slider}</worldbody>"
    ));
    expect(&loaded, &[("floor", Some(0.4)), ("slider", Some(0.7))]);
    assert!(!loaded.report.to_string().contains("in MuJoCo, between"));
}

#[test]
fn pairs_whose_friction_cannot_be_removed_are_named() {
    let bodies = free("a", 0.0, "condim=\"1\"") + &free("b", 1.0, "condim=\"1\"");
    let mixed = load(&format!("<worldbody>{FLOOR}/>{bodies}</worldbody>"));
    expect(&mixed, &[("floor", None), ("a", None), ("b", None)]);
    let text = mixed.report.to_string();
    assert!(text.contains("between a and b"), "{text}");

    // The floor does not touch b: b slides on a, which keeps its friction on the floor.
    let apart = "<contact><exclude body1=\"world\" body2=\"b\"/></contact>";
    let apart = load(&format!("<worldbody>{FLOOR}/>{bodies}</worldbody>{apart}"));
    expect(&apart, &[("floor", None), ("a", None), ("b", Some(0.0))]);
    let text = apart.report.to_string();
    assert!(!text.contains("between a and b"), "{text}");
}

#[test]
fn condim_is_inherited_and_has_four_values() {
    let class = "<default><geom condim=\"1\"/></default>";
    let slider = free("slider", 0.0, "friction=\"0.7\"");
    let loaded = load(&format!("{class}<worldbody>{FLOOR}/>{slider}</worldbody>"));
    expect(&loaded, &[("floor", Some(0.0)), ("slider", Some(0.0))]);

    let text = format!("<worldbody>{FLOOR} condim=\"2\"/></worldbody>");
    let error = parse(&text).expect_err("condim 2").to_string();
    assert!(error.contains("condim = 2 must be 1, 3, 4 or 6"), "{error}");
}
