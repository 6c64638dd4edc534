//! Screw and universal joints of SDFormat files in scenes: a jack holds its load, a Cardan shaft turns unevenly.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use super::scene_features::{check, expect};

/// An SDFormat file with this model, as an entry of `[[models]]` called `m`.
fn model(name: &str, inside: &str, keys: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("screw_and_universal");
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let file = folder.join(format!("{name}.sdf"));
    let text = format!("<sdf version=\"1.10\"><model name=\"m\">{inside}</model></sdf>");
    fs::write(&file, text).expect("can be written");
    format!(
        "[[models]]\nname = \"m\"\nfile = {:?}\n{keys}\n",
        file.display().to_string()
    )
}

fn link(name: &str, pose: &str) -> String {
    format!(
        "<link name=\"{name}\"><pose>{pose}</pose><inertial><mass>2</mass><inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.03</izz></inertia></inertial></link>"
    )
}

#[test]
fn a_jack_holds_its_load_by_a_torque() {
    // m g lead = 2π τ; the platform rises by the lead in a turn.
    let jack = [
        link("platform", "0 0 0 0 0 0"),
        "<joint name=\"thread\" type=\"screw\"><parent>world</parent><child>platform</child><axis><xyz>0 0 1</xyz></axis><screw_thread_pitch>0.02</screw_thread_pitch></joint>".to_owned(),
    ];
    let keys = "actuators = { thread = { proportional = 1000, derivative = 20 } }\n[[joint_targets]]\nmodel = \"m\"\njoints = [\"thread\"]\nknots = [{ at_s = 0, positions = [0] }, { at_s = 0.5, positions = [\"4*pi\"] }]";
    let torque = expect(
        "torque",
        "quantity = \"joint-effort\"\nof = \"m/thread\"",
        "at_s = 1",
        "\"2*9.81*0.02/(2*pi)\"",
        "1e-4",
    );
    let height = expect(
        "height",
        "quantity = \"position\"\nof = \"m/platform\"\ncomponent = \"z\"",
        "at_s = 1",
        "0.04",
        "1e-6",
    );
    check(&format!(
        "{}{torque}{height}",
        model("jack", &jack.concat(), keys)
    ));
}

#[test]
fn a_cardan_shaft_turns_unevenly() {
    // tan ψ = cos β tan φ, so that ψ̇ = φ̇ cos β/(cos² φ + cos² β sin² φ); a step of 1 ms is late by half of it.
    let beta = 0.6_f64;
    let bearing = |name: &str, child: &str| {
        format!(
            "<joint name=\"{name}\" type=\"revolute\"><parent>world</parent><child>{child}</child><axis><xyz>1 0 0</xyz></axis></joint>"
        )
    };
    let shafts = [
        link("input", "0 0 0 0 0 0"),
        link("output", &format!("1 0 0 0 0 {beta}")),
        bearing("left", "input"),
        bearing("right", "output"),
        format!(
            "<joint name=\"cross\" type=\"universal\"><parent>input</parent><child>output</child><axis><xyz expressed_in=\"__model__\">0 0 1</xyz></axis><axis2><xyz expressed_in=\"__model__\">{} {} 0</xyz></axis2></joint>",
            -beta.sin(),
            beta.cos()
        ),
    ];
    let keys = "gravity = \"absent\"\n[[joint_motions]]\nmodel = \"m\"\njoints = [\"left\"]\ninterpolation = \"linear\"\nknots = [{ at_s = 0, positions = [0] }, { at_s = 1, positions = [3] }]";
    let mut speeds = String::new();
    for (k, at_s) in [0.1_f64, 0.3, 0.5, 0.8, 1.0].into_iter().enumerate() {
        let (sin, cos) = (3.0 * at_s).sin_cos();
        let speed = 3.0 * beta.cos() / (cos * cos + (beta.cos() * sin).powi(2));
        let observable = "quantity = \"gyroscope\"\nof = \"m/output\"\ncomponent = \"x\"";
        let when = format!("at_s = {at_s}");
        let expectation = expect(
            &format!("speed {k}"),
            observable,
            &when,
            &speed.to_string(),
            "3e-3",
        );
        write!(speeds, "{expectation}").expect("a string");
    }
    check(&format!(
        "{}{speeds}",
        model("shafts", &shafts.concat(), keys)
    ));
}
