//! Friction and contact of pairs of geoms in MJCF files, in scenes.

use std::fs;
use std::path::Path;

use pliant::runner::Assembly;
use pliant::scene::{Scene, SceneOptions};

use crate::scene_features::{check, expect, run_scene};

fn model(file: &str, inside: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    fs::write(&path, format!("<mujoco>{inside}</mujoco>")).expect("a file");
    format!("[[models]]\nname = \"m\"\nfile = {path:?}\n")
}

/// A box of 0.2 m at height `z` with a free joint `name`.
fn cube(name: &str, x: f64, z: f64, attributes: &str) -> String {
    format!(
        "<body name=\"{name}\" pos=\"{x} 0 {z}\"><freejoint name=\"{name}\"/><geom name=\"{name}\" type=\"box\" size=\".1 .1 .1\" {attributes}/></body>"
    )
}

/// The velocity along x after a second on a slope of 3 m/s²; friction μ takes μ g of it.
fn speed(link: &str, friction: f64) -> String {
    let what = format!("quantity = \"velocity\"\nof = \"m/{link}\"\ncomponent = \"x\"");
    let expected = (3.0 - 9.81 * friction).to_string();
    expect(
        &format!("v of {link}"),
        &what,
        "at_s = 0.5",
        &format!("\"0.5*({expected})\""),
        "2e-3",
    )
}

const SLOPE: &str = "gravity = [3, 0, -9.81]\ntime_step_s = 0.002\n";

#[test]
fn each_pair_of_geoms_has_the_friction_of_mujoco() {
    let floor = r#"<geom name="floor" type="plane" size="9 9 1" friction="0.1" condim="1"/>"#;
    let cubes = cube("slides", 0.0, 0.1, "condim=\"1\" friction=\"0.8\"")
        + &cube("rubs", 1.0, 0.1, "friction=\"0.2\"")
        + &cube("least", 2.0, 0.1, "friction=\"0.05\"")
        + &cube("first", 3.0, 0.1, "friction=\"0.05\" priority=\"1\"");
    let text = model(
        "pairs.xml",
        &format!("<worldbody>{floor}{cubes}</worldbody>"),
    );
    check(&format!(
        "{SLOPE}{text}{}{}{}{}",
        speed("slides", 0.0),
        speed("rubs", 0.2),
        speed("least", 0.1),
        speed("first", 0.05)
    ));
}

#[test]
fn bodies_of_the_scene_count_as_condim_3() {
    let text = model(
        "outside.xml",
        &format!(
            "<worldbody>{}</worldbody>",
            cube("puck", 0.0, 0.1, "condim=\"1\" friction=\"0.2\"")
        ),
    );
    let floor = "[materials.default]\nfriction = 0.2\n[[fixed]]\nname = \"floor\"\nshape = { half_space = {} }\n";
    check(&format!("{SLOPE}{floor}{text}{}", speed("puck", 0.2)));
    let ice = "[[pairs]]\nbetween = [\"m\", \"floor\"]\nfriction = 0\n";
    check(&format!("{SLOPE}{floor}{text}{ice}{}", speed("puck", 0.0)));
}

#[test]
fn a_geom_of_pairs_touches_nothing_else() {
    // A box without masks rests on the floor of its pair, but falls through the table of the scene and past the other box.
    let inside = format!(
        "<worldbody><geom name=\"floor\" type=\"plane\" size=\"9 9 1\"/>{}{}</worldbody><contact><pair geom1=\"floor\" geom2=\"ghost\"/></contact>",
        cube("ghost", 0.0, 0.6, "contype=\"0\" conaffinity=\"0\""),
        cube("solid", 0.0, 0.35, "")
    );
    let table = "[[fixed]]\nname = \"table\"\nshape = { box = { size = [1, 1, 0.1] } }\npose = { position = [0, 0, 0.2] }\n";
    let height = |link: &str, z: &str| {
        let what = format!("quantity = \"position\"\nof = \"m/{link}\"\ncomponent = \"z\"");
        expect(&format!("z of {link}"), &what, "at_s = 1", z, "1e-3")
    };
    check(&format!(
        "time_step_s = 0.002\n{}{table}{}{}",
        model("ghost.xml", &inside),
        height("ghost", "0.1"),
        height("solid", "0.35")
    ));
}

/// A ball of 0.05 m and 0.4 kg, and a puck of the same radius, with these attributes.
fn ball_and_puck(of_ball: &str, of_puck: &str) -> String {
    format!(
        r#"<body name="ball" pos="0 0 .05"><freejoint name="ball"/><geom name="ball" size=".05" mass=".4" {of_ball}/></body>
           <body name="puck" pos="0 1 .01"><freejoint name="puck"/><geom name="puck" type="cylinder" size=".05 .01" mass=".4" {of_puck}/></body>"#
    )
}

fn observed(
    name: &str,
    quantity: &str,
    link: &str,
    component: &str,
    expected: f64,
    within: f64,
) -> String {
    let what = format!("quantity = \"{quantity}\"\nof = \"m/{link}\"\ncomponent = \"{component}\"");
    let (equals, within) = (expected.to_string(), within.to_string());
    expect(name, &what, "at_s = 0.9", &equals, &within)
}

/// Angular velocity, then velocity.
fn moving(ball: [f64; 6], puck: [f64; 6]) -> String {
    format!("velocities = {{ ball = {ball:?}, puck = {puck:?} }}\n")
}

const G: f64 = 9.81;

/// Where a ball that rolls at 0.5 m/s stops: (7/5) m R a = l m g about the contact.
fn distance(l: f64) -> f64 {
    0.7 * 0.5 * 0.5 * 0.05 / (l * G)
}

/// Spin that a puck without sliding friction has left of 20 rad/s at 0.9 s: ½ m R² dω/dt = −l m g.
fn spin_of_puck(l: f64) -> f64 {
    20.0 - 2.0 * l * G / (0.05 * 0.05) * 0.9
}

const ROLLING: [f64; 6] = [0.0, 10.0, 0.0, 0.5, 0.0, 0.0];
const SPINNING: [f64; 6] = [0.0, 0.0, 20.0, 0.0, 0.0, 0.0];

#[test]
fn balls_stop_rolling_and_pucks_stop_spinning_by_the_friction_of_their_geoms() {
    let floor = r#"<geom name="floor" type="plane" size="9 9 1" friction="0 0 0" condim="1"/>"#;
    let bodies = ball_and_puck(
        "condim=\"6\" friction=\"0.6 0.001 0.004\"",
        "condim=\"4\" friction=\"0 0.002 0.01\"",
    );
    let expected = observed(
        "x",
        "position",
        "ball",
        "x",
        distance(0.004),
        0.01 * distance(0.004),
    ) + &observed(
        "w",
        "angular-velocity",
        "puck",
        "z",
        spin_of_puck(0.002),
        0.15,
    );
    let text = model(
        "turning.xml",
        &format!("<worldbody>{floor}{bodies}</worldbody>"),
    );
    let moving = moving(ROLLING, SPINNING);
    check(&format!("time_step_s = 0.001\n{text}{moving}{expected}"));
    // An entry of [[pairs]] about something else leaves the friction of the file.
    let pair = "[[pairs]]\nbetween = [\"m\", \"m/worldbody\"]\ndissipation = 1\n";
    check(&format!(
        "time_step_s = 0.001\n{text}{moving}{pair}{expected}"
    ));

    // On a floor of the scene.
    let text = model(
        "turning_alone.xml",
        &format!("<worldbody>{bodies}</worldbody>"),
    );
    let floor = "[materials.ice]\nfriction = 0\n[[fixed]]\nname = \"floor\"\nshape = { half_space = {} }\nmaterial = \"ice\"\n[[pairs]]\nbetween = [\"m/ball\", \"floor\"]\nfriction = 0.6\ndissipation = 1\n[[pairs]]\nbetween = [\"m/puck\", \"floor\"]\nfriction = 0\n";
    check(&format!(
        "time_step_s = 0.001\n{floor}{text}{moving}{expected}"
    ));
}

#[test]
fn written_pairs_have_their_own_resistance_to_turning() {
    let floor =
        r#"<geom name="floor" type="plane" size="9 9 1" condim="6" friction="1 0.05 0.05"/>"#;
    let bodies = ball_and_puck("condim=\"6\"", "");
    let contact = r#"<contact><pair geom1="floor" geom2="ball" condim="6" friction="0.6 0.6 0 0.005 0.005"/>
        <pair geom1="puck" geom2="floor" condim="4" friction="0 0 0.001 1 1"/></contact>"#;
    let text = model(
        "pairs_turn.xml",
        &format!("<worldbody>{floor}{bodies}</worldbody>{contact}"),
    );
    let expected = observed(
        "x",
        "position",
        "ball",
        "x",
        distance(0.005),
        0.01 * distance(0.005),
    ) + &observed(
        "w",
        "angular-velocity",
        "puck",
        "z",
        spin_of_puck(0.001),
        0.1,
    );
    let moving = moving(ROLLING, SPINNING);
    check(&format!("time_step_s = 0.001\n{text}{moving}{expected}"));
}

#[test]
fn condim_3_rolls_and_spins_on() {
    let floor = r#"<geom name="floor" type="plane" size="9 9 1" friction="0 0 0"/>"#;
    let bodies = ball_and_puck("friction=\"0.6 0.1 0.1\"", "friction=\"0 0.1 0.1\"");
    let text = model(
        "no_turning.xml",
        &format!("<worldbody>{floor}{bodies}</worldbody>"),
    );
    let expected = observed("x", "position", "ball", "x", 0.45, 1e-3)
        + &observed("w", "angular-velocity", "puck", "z", 20.0, 1e-3);
    let moving = moving(ROLLING, SPINNING);
    check(&format!("time_step_s = 0.001\n{text}{moving}{expected}"));
}

#[test]
fn where_resistance_to_turning_does_not_act_a_note_says_so() {
    let floor = r#"<geom name="floor" type="plane" size="9 9 1"/>"#;
    let bodies = ball_and_puck("condim=\"6\"", "condim=\"4\"");
    let text = model(
        "idle_turning.xml",
        &format!("<worldbody>{floor}{bodies}</worldbody>"),
    );
    let notes = |settings: &str, material: &str| {
        let text = format!(
            "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.01\n{settings}\n{text}{material}"
        );
        let scene = Scene::parse("t.toml", &text, &SceneOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));
        // It runs: the stepper does not refuse what only the file says.
        run_scene(&scene);
        let assembly = Assembly::new(&scene).unwrap_or_else(|error| panic!("{error}"));
        assembly.notes.join("\n")
    };
    let found = notes("stepper = \"penalty-force\"", "");
    assert!(
        found.contains(
            "m: torsional and rolling friction of the file do nothing with penalty forces"
        ),
        "{found}"
    );
    let found = notes(
        "",
        "material = { hydroelastic = \"compliant\", hydroelastic_modulus = 1e6, slab_thickness = 0.1 }\n",
    );
    assert!(
        found.contains("m/ball#0: torsional and rolling friction of the file do nothing, for the shape has a contact patch"),
        "{found}"
    );
    assert_eq!(notes("", ""), "");
}
