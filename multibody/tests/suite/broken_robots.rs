//! Every file of `../shared/data/broken/robot` has the outcome that its README specifies; one row for each.

use std::path::{Path, PathBuf};

use crate::shared_data::shared;
use pliant_hydroelastic::mesh::{FilePosition, Severity};
use pliant_multibody::urdf::{parse_urdf, read_urdf};
use pliant_multibody::{LoadedModel, RobotOptions};
use pliant_multibody::{MultibodyError, Workspace, forward_dynamics};

enum Expect {
    /// Loads; the model has this many degrees of freedom.
    Loads(usize),
    /// Loads with a warning that contains all of these.
    Warns(&'static [&'static str]),
    /// Rejected with a message that contains all of these and the name of the file.
    Rejected(&'static [&'static str]),
}

use Expect::{Loads, Rejected, Warns};

const TABLE: &[(&str, Expect)] = &[
    ("ok_arm", Loads(2)),
    ("ok_links_after_joints", Loads(2)),
    ("ok_continuous_no_limit", Loads(2)),
    ("ok_unknown_tags", Loads(2)),
    ("ok_axis_not_unit", Loads(2)),
    ("empty", Rejected(&["empty"])),
    ("not_xml", Rejected(&["line 1"])),
    ("unclosed_tag", Rejected(&["line", "column"])),
    ("no_links", Rejected(&["robot \"arm\"", "no links"])),
    ("unknown_child", Rejected(&["joint \"j2\"", "link \"l9\""])),
    ("cycle", Rejected(&["base - l1 - l2 - base"])),
    (
        "two_parents",
        Rejected(&["link \"l2\"", "\"j2\"", "\"j3\""]),
    ),
    ("two_roots", Rejected(&["\"base\"", "\"island\""])),
    ("self_joint", Rejected(&["joint \"j3\"", "\"l2\""])),
    ("duplicate_link", Rejected(&["link \"l1\""])),
    ("duplicate_joint", Rejected(&["joint \"j1\""])),
    (
        "unknown_joint_type",
        Rejected(&[
            "joint \"j1\"",
            "hinge",
            "revolute, continuous, prismatic, fixed",
        ]),
    ),
    ("zero_axis", Rejected(&["joint \"j1\"", "axis"])),
    ("nan_axis", Rejected(&["joint \"j1\"", "axis"])),
    ("axis_two_numbers", Rejected(&["joint \"j1\"", "2 numbers"])),
    ("limits_swapped", Rejected(&["joint \"j1\"", "swap"])),
    ("revolute_no_limit", Warns(&["joint \"j1\"", "<limit>"])),
    ("negative_mass", Rejected(&["link \"l1\"", "mass = -1"])),
    ("zero_mass_leaf", Rejected(&["link \"l2\"", "joint \"j2\""])),
    (
        "no_inertial_leaf",
        Rejected(&["link \"l2\"", "joint \"j2\""]),
    ),
    ("inertia_indefinite", Rejected(&["link \"l1\"", "negative"])),
    ("inertia_triangle", Warns(&["link \"l1\"", "triangle"])),
    (
        "inertia_huge_for_size",
        Warns(&["link \"l1\"", "radius of gyration"]),
    ),
    ("mimic_unknown", Rejected(&["joint \"j2\"", "\"j7\""])),
    (
        "missing_mesh",
        Rejected(&["link \"l1\"", "broken/robot/nowhere/link1.stl"]),
    ),
    ("missing_visual", Warns(&["link \"l1\"", "visual"])),
    (
        "unknown_package",
        Rejected(&["link \"l1\"", "no_such_package"]),
    ),
    ("path_escape", Rejected(&["link \"l1\""])),
    ("negative_sphere", Rejected(&["link \"l1\"", "-0.1"])),
    ("empty_geometry", Rejected(&["link \"l1\"", "geometry"])),
    ("entity_bomb", Rejected(&["DOCTYPE"])),
    ("external_entity", Rejected(&["DOCTYPE"])),
    ("deep_nesting", Rejected(&["<robot>"])),
    ("long_chain", Loads(1000)),
    ("utf16", Rejected(&["UTF-16"])),
    ("names_with_spaces", Loads(2)),
];

fn folder() -> Option<PathBuf> {
    shared("data/broken/robot")
}

fn load(folder: &Path, name: &str) -> Result<LoadedModel, MultibodyError> {
    read_urdf(
        folder.join(format!("{name}.urdf")),
        &RobotOptions::default(),
    )
}

#[test]
fn the_table_has_every_broken_robot() {
    let Some(folder) = folder() else { return };
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("a folder")
        .map(|e| {
            e.expect("an entry")
                .path()
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    let mut known: Vec<&str> = TABLE.iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    assert_eq!(names, known);
}

#[test]
fn every_broken_robot_has_the_specified_outcome() {
    let Some(folder) = folder() else { return };
    for (name, expect) in TABLE {
        let outcome = load(&folder, name);
        match (expect, outcome) {
            (Loads(n_v), Ok(loaded)) => assert_eq!(loaded.model.n_v(), *n_v, "{name}"),
            (Warns(words), Ok(loaded)) => {
                let tells = |text: &str| words.iter().all(|word| text.contains(word));
                assert!(
                    loaded
                        .report
                        .entries
                        .iter()
                        .any(|e| tells(&e.text) && matches!(e.at.position, FilePosition::Line(1..))),
                    "{name}:\n{}",
                    loaded.report
                );
                assert!(
                    loaded.report.to_string().contains(&format!("{name}.urdf:")),
                    "{name}"
                );
            }
            (Rejected(words), Err(error)) => {
                let text = error.to_string();
                assert!(text.contains(&format!("{name}.urdf:")), "{name}: {text}");
                assert!(
                    words.iter().all(|word| text.contains(word)),
                    "{name}: {text}"
                );
                // Messages do not quote long input.
                assert!(text.len() < 600, "{name}: {text}");
            }
            (_, Ok(loaded)) => panic!("{name} loaded:\n{}", loaded.report),
            (_, Err(error)) => panic!("{name} was rejected: {error}"),
        }
    }
}

#[test]
fn errors_name_the_line() {
    let Some(folder) = folder() else { return };
    // Of ok_arm, line 3 is the base, 4 and 5 the links, 6 and 7 the joints.
    for (name, line) in [
        ("negative_mass", 4),
        ("zero_axis", 6),
        ("mimic_unknown", 7),
        ("zero_mass_leaf", 7),
    ] {
        let error = load(&folder, name).expect_err(name);
        assert!(
            error.to_string().contains(&format!("{name}.urdf:{line}:")),
            "{error}"
        );
    }
}

#[test]
fn an_axis_of_length_two_and_other_orders_give_the_same_motion() {
    let Some(folder) = folder() else { return };
    let accelerations = |name: &str| {
        let model = load(&folder, name).unwrap_or_else(|e| panic!("{e}")).model;
        let mut vdot = [0.0; 2];
        let gravity = nalgebra::Vector3::new(0.0, 0.0, -9.81);
        let mut workspace = Workspace::new(&model);
        forward_dynamics(
            &model,
            &[0.3, -0.4],
            &[1.0, -2.0],
            &[0.1, 0.2],
            &gravity,
            &mut workspace,
            &mut vdot,
        );
        vdot
    };
    let control = accelerations("ok_arm");
    for name in [
        "ok_links_after_joints",
        "ok_axis_not_unit",
        "ok_unknown_tags",
    ] {
        assert_eq!(accelerations(name), control, "{name}");
    }
}

#[test]
fn messages_contain_no_content_of_other_files() {
    let Some(folder) = folder() else { return };
    let secret = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let secret = secret.trim();
    let error = load(&folder, "path_escape")
        .expect_err("refused")
        .to_string();
    assert!(secret.len() < 3 || !error.contains(secret), "{error}");
}

#[test]
fn escaped_names_are_unescaped() {
    let Some(folder) = folder() else { return };
    let model = load(&folder, "names_with_spaces")
        .unwrap_or_else(|e| panic!("{e}"))
        .model;
    assert!(model.link_named("link één & <1>").is_ok());
}

#[test]
fn an_unknown_name_is_answered_with_the_most_similar() {
    let Some(folder) = folder() else { return };
    let model = load(&folder, "ok_arm")
        .unwrap_or_else(|e| panic!("{e}"))
        .model;
    let error = model
        .link_named("bas")
        .expect_err("no such link")
        .to_string();
    assert!(error.contains("did you mean \"base\""), "{error}");
}

#[test]
fn an_undeclared_prefix_is_repaired_and_reported() {
    let text = br#"<robot name="r">
        <link name="base"/>
        <drake:collision_filter_group name="g"><drake:member link="base"/></drake:collision_filter_group>
    </robot>"#;
    let loaded = parse_urdf(text, Path::new("r.urdf"), &RobotOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(loaded.model.collision_filter_groups().len(), 1);
    assert!(matches!(&loaded.report.entries[..],
            [e] if e.severity == Severity::Repaired && e.text.contains("drake")));
}

#[test]
fn every_unused_element_and_attribute_is_reported_with_its_line() {
    let text = br#"<robot name="r">
  <link name="base" colour="red">
    <sensor/>
  </link>
  <gazebo><plugin/></gazebo>
  <gazebo reference="base"><mu1>0.2</mu1></gazebo>
</robot>"#;
    let loaded = parse_urdf(text, Path::new("r.urdf"), &RobotOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let ignored = loaded.report.of(Severity::Ignored);
    let spots: Vec<FilePosition> = ignored.map(|e| e.at.position).collect();
    assert_eq!(
        spots,
        [2, 3, 5, 6].map(FilePosition::Line),
        "{}",
        loaded.report
    );
}

#[test]
fn an_invalid_collision_mesh_is_rejected_without_quoting_it() {
    let folder = std::env::temp_dir().join(format!("pliant-no-mesh-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    std::fs::write(
        folder.join("part.obj"),
        "root:x:secret-word:0\nv secret-word 1 2\n",
    )
    .expect("a file");
    let text = br#"<robot name="r"><link name="base">
        <collision><geometry><mesh filename="part.obj"/></geometry></collision>
    </link></robot>"#;
    let outcome = parse_urdf(text, &folder.join("r.urdf"), &RobotOptions::default());
    std::fs::remove_dir_all(&folder).expect("the test's own folder");
    let message = outcome.expect_err("refused").to_string();
    assert!(
        message.contains("link \"base\"") && message.contains("part.obj"),
        "{message}"
    );
    assert!(!message.contains("secret-word"), "{message}");
}
