//! Robots with mimics of mimics in scenes: where they start, and how they fall.

use std::fs;
use std::path::Path;

use pliant::runner;
use pliant::scene::{Scene, SceneOptions};

use crate::scene_features::{check, expect};

/// Three sliders in the file `name`: b = 0.1 − 2 a and c = b/2 − 0.02 = 0.03 − a, with c first in the file.
fn chain(name: &str, settings: &str) -> String {
    let joint = |name: &str, mass: f64, mimic: &str| {
        format!(
            r#"<link name="l{name}"><inertial><mass value="{mass}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{name}" type="prismatic"><parent link="base"/><child link="l{name}"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="100" velocity="10"/>{mimic}</joint>"#
        )
    };
    let c = joint(
        "c",
        2.0,
        r#"<mimic joint="b" multiplier="0.5" offset="-0.02"/>"#,
    );
    let b = joint(
        "b",
        3.0,
        r#"<mimic joint="a" multiplier="-2" offset="0.1"/>"#,
    );
    let a = joint("a", 1.0, "");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("{name}.urdf"));
    let text = format!("<robot name=\"chain\"><link name=\"base\"/>{c}{b}{a}</robot>");
    fs::write(&file, text).expect("a file");
    format!("[[models]]\nname = \"r\"\nfile = {file:?}\n{settings}\n")
}

fn expect_chain(quantity: &str, values: [(&str, &str); 3]) -> String {
    let one = |(joint, value): (&str, &str)| {
        let name = format!("{joint}-{quantity}");
        let what = format!("quantity = \"joint-{quantity}\"\nof = \"r/{joint}\"");
        expect(&name, &what, "at_s = 0", value, "1e-12")
    };
    values.map(one).concat()
}

#[test]
fn a_chain_of_mimics_starts_and_falls_as_one() {
    let start = expect_chain("position", [("a", "0"), ("b", "0.1"), ("c", "0.03")]);
    // Masses 1, 3, 2 at speeds 1, −2, −1: 15 kg driven by 7 kg; steps of symplectic Euler give a t (t + dt)/2.
    let fall = expect(
        "fall",
        "quantity = \"joint-position\"\nof = \"r/a\"",
        "at_s = 0.2",
        "\"7*9.81/15*0.2*(0.2 + dt)/2\"",
        "1e-6",
    );
    check(&format!("{}{start}{fall}", chain("chain-fall", "")));
}

#[test]
fn a_follower_alone_moves_the_joints_that_it_follows() {
    let settings = "positions = { c = -0.17 }\nvelocities = { c = -0.5 }";
    let q = expect_chain("position", [("a", "0.2"), ("b", "-0.3"), ("c", "-0.17")]);
    let v = expect_chain("velocity", [("a", "0.5"), ("b", "-1"), ("c", "-0.5")]);
    check(&format!("{}{q}{v}", chain("chain-alone", settings)));
    let both = "positions = { a = 0.2, c = -0.17 }";
    check(&format!("{}{q}", chain("chain-both", both)));
}

#[test]
fn positions_that_contradict_a_mimic_are_an_error() {
    for (settings, key) in [
        ("positions = { a = 0.2, c = 0.03 }", "positions.c"),
        ("velocities = { a = 0.5, b = 1 }", "velocities.b"),
    ] {
        let header = "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 1\n";
        let text = format!("{header}{}", chain("chain-error", settings));
        let scene = Scene::parse("t.toml", &text, &SceneOptions::default());
        let scene = scene.unwrap_or_else(|error| panic!("{error}"));
        let Err(error) = runner::check(&scene) else {
            panic!("{settings} must be an error");
        };
        let text = error.to_string();
        assert!(text.contains(key), "{text}");
        assert!(text.contains("give one of the two only"), "{text}");
    }
}
