//! Friction and contact of pairs of geoms in MJCF files, in scenes.

use std::fs;
use std::path::Path;

use crate::scene_features::{check, expect};

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
