//! `pliant check` and `pliant scenes`: what they list, as text of 70 columns and as JSON.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{folder, path, pliant};

/// A base, two fingers of which one follows the other, a flap on a joint without limits, and a frame.
const GRIPPER: &str = r#"<robot name="claw">
<link name="palm"><collision><origin xyz="0 0 0.05"/><geometry><box size="0.2 0.1 0.1"/></geometry></collision></link>
<link name="left"><inertial><mass value="0.25"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"/></inertial>
  <visual><geometry><mesh filename="nowhere/a.dae"/></geometry></visual>
  <collision><geometry><sphere radius="0.02"/></geometry></collision></link>
<link name="right"><inertial><mass value="0.25"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"/></inertial>
  <visual><geometry><mesh filename="nowhere/b.dae"/></geometry></visual></link>
<link name="flap"><inertial><mass value="1"/><inertia ixx="1e-2" iyy="1e-2" izz="1e-2"/></inertial>
  <visual><geometry><mesh filename="nowhere/c.dae"/></geometry></visual></link>
<joint name="slide" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="0 1 0"/>
  <limit lower="0" upper="0.04" effort="70" velocity="0.2"/></joint>
<joint name="mirror" type="prismatic"><parent link="palm"/><child link="right"/><axis xyz="0 1 0"/>
  <limit lower="-0.04" upper="0" effort="70" velocity="0.2"/><mimic joint="slide" multiplier="-1"/></joint>
<joint name="hinge" type="continuous"><parent link="palm"/><child link="flap"/></joint>
<frame name="tip" link="left" xyz="0 0 0.1" rpy="0 0 0"/>
</robot>"#;

fn stdout(arguments: &[&str]) -> String {
    let output = pliant(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

fn json_of(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).expect("stdout is JSON and nothing else")
}

/// The words of the line that begins with `first`.
#[track_caller]
fn line<'a>(text: &'a str, first: &str) -> Vec<&'a str> {
    let words = |line: &'a str| line.split_whitespace().collect::<Vec<_>>();
    let mut lines = text.lines().map(words);
    let found = lines.find(|words| words.first() == Some(&first));
    found.unwrap_or_else(|| panic!("no line begins with {first:?} in:\n{text}"))
}

#[test]
fn a_robot_is_listed_with_limits_mimics_bounds_and_frames() {
    let folder = folder("check_robot");
    let file = folder.join("claw.urdf");
    fs::write(&file, GRIPPER).expect("can be written");
    let text = stdout(&["check", path(&file)]);
    assert_eq!(
        line(&text, "slide"),
        ["slide", "prismatic", "0", "0.04", "70", "0.2"]
    );
    assert_eq!(
        line(&text, "mirror"),
        [
            "mirror",
            "prismatic",
            "-0.04",
            "0",
            "70",
            "0.2",
            "=",
            "-1",
            "slide"
        ]
    );
    assert_eq!(
        line(&text, "hinge"),
        ["hinge", "continuous", "-", "-", "-", "-"]
    );
    assert_eq!(
        line(&text, "palm"),
        ["palm", "0", "1", "-0.1", "-0.05", "0", "0.1", "0.05", "0.1"]
    );
    assert_eq!(line(&text, "tip"), ["tip", "left", "0", "0", "0.1"]);
    // One note for three meshes, and the path once above it and once in the summary.
    assert!(text.contains("3 visual meshes not shown"), "{text}");
    assert_eq!(text.matches("claw.urdf:").count(), 2, "{text}");
    let json = json_of(&["check", path(&file), "--json"]);
    assert_eq!(json["kind"], "robot");
    assert_eq!(json["degrees_of_freedom"], 3);
    assert_eq!(json["joints"][1]["follows"]["multiplier"], -1.0);
    assert_eq!(json["joints"][2]["upper"], Value::Null);
    assert_eq!(json["links"][1]["max_m"], json!([0.02, 0.02, 0.02]));
    assert_eq!(json["frames"][0]["position_m"], json!([0.0, 0.0, 0.1]));
    assert_eq!(
        json["warnings"].as_array().map(Vec::len),
        Some(1),
        "{json:#}"
    );
}

#[test]
fn the_list_of_a_bundled_robot_fits_seventy_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for robot in ["arm7", "gripper2", "hand16"] {
        let file = format!("robots/{robot}.urdf");
        let text = stdout(&["check", path(&root.join(&file))]);
        // The path of the file is as long as it is.
        for line in text.lines().filter(|line| !line.contains(&file)) {
            assert!(line.chars().count() <= 70, "{robot}: {line}");
        }
    }
}

#[test]
fn a_mesh_is_listed_with_its_bounds() {
    let folder = folder("check_mesh");
    let file = folder.join("tetrahedron.obj");
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    fs::write(&file, obj).expect("can be written");
    let text = stdout(&["check", path(&file), "--scale", "3"]);
    assert!(text.contains("closed surface of 4 triangles"), "{text}");
    assert!(text.contains("volume 9 m3"), "{text}");
    assert_eq!(line(&text, "z"), ["z", "from", "0", "to", "6", "m"]);
    let json = json_of(&["check", path(&file), "--json"]);
    assert_eq!(
        (&json["kind"], &json["max_m"], &json["notes"]),
        (&json!("mesh"), &json!([1.0, 1.0, 2.0]), &json!([]))
    );
}

#[test]
fn a_scene_is_listed_by_names_with_its_warnings() {
    let json = json_of(&["check", "box-stack", "--json"]);
    assert_eq!(json["kind"], "scene");
    assert_eq!(json["bodies"].as_array().map(Vec::len), Some(10));
    let folder = folder("check_scene");
    let file = folder.join("heavy.toml");
    let scene = "schema = 1\ntitle = \"x\"\n[simulation]\nsmoke_s = 1\n[[bodies]]\nname = \"ball\"\nmass = 1e6\nshape = { sphere = { radius = 0.1 } }\n";
    fs::write(&file, scene).expect("can be written");
    let json = json_of(&["check", path(&file), "--json"]);
    let warnings = json["warnings"].to_string();
    assert!(
        warnings.contains("ball") && warnings.contains("kg/m³"),
        "{warnings}"
    );
    let text = stdout(&["check", path(&file)]);
    assert!(text.contains("1 body: ball"), "{text}");
}

#[test]
fn the_scenes_are_a_list_for_programs_too() {
    let scenes = json_of(&["scenes", "--json"]);
    let scenes = scenes.as_array().expect("a list");
    assert_eq!(scenes.len(), pliant::scene::bundled::SCENES.len());
    let incline = scenes.iter().find(|s| s["name"] == "box-on-incline");
    let incline = incline.expect("bundled");
    assert!(incline["parameters"]["mu"].is_number());
    assert!(incline["full_s"].as_f64() >= incline["smoke_s"].as_f64());
}

#[test]
fn dynamics_of_a_robot_are_those_of_its_masses() {
    let folder = folder("check_dynamics");
    let file = folder.join("claw.urdf");
    fs::write(&file, GRIPPER).expect("can be written");
    let content = json_of(&["check", "--json", "--dynamics", path(&file)]);
    let dynamics = &content["dynamics"];
    // Two slides of 0.25 kg and a flap of 1e-2 kg m² about the axis through its centre of mass.
    let expected = [0.25, 0.25, 1e-2];
    let mut energy = 0.0;
    for (k, mass) in expected.into_iter().enumerate() {
        let row: Vec<f64> =
            serde_json::from_value(dynamics["mass_matrix"][k].clone()).expect("a row");
        for (j, found) in row.into_iter().enumerate() {
            let wanted = if j == k { mass } else { 0.0 };
            assert!((found - wanted).abs() < 1e-12, "M[{k}][{j}] = {found}");
        }
        let v = dynamics["joints"][k]["velocity"]
            .as_f64()
            .expect("a number");
        assert!(v != 0.0);
        energy += 0.5 * mass * v * v;
    }
    let found = dynamics["kinetic_energy_j"].as_f64().expect("a number");
    assert!((found - energy).abs() < 1e-12, "{found} against {energy}");
    let slide = &dynamics["joints"][0];
    assert_eq!(slide["name"], "slide");
    let link = |name: &str| {
        let links = dynamics["links"].as_array().expect("a list");
        links
            .iter()
            .find(|link| link["name"] == name)
            .expect("a link")
    };
    assert_eq!(link("left")["position_m"][1], slide["position"]);
    assert!(
        json_of(&["check", "--json", path(&file)])
            .get("dynamics")
            .is_none()
    );
    let refused = pliant(&["check", "--dynamics", path(&file)]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--json"));
}
