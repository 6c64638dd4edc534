//! In which frame an axis is, by the version of the format, and joints of named frames.

use std::path::Path;

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_multibody::{
    LoadedModel, MultibodyError, PositionKinematics, RobotOptions, parse_robot, read_robot,
};

use crate::shared_data::shared;

const INERTIAL: &str =
    "<inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>";

fn parse(version: &str, inside: &str) -> Result<LoadedModel, MultibodyError> {
    let text = format!(
        "<sdf version=\"{version}\"><model name=\"m\"><link name=\"base\">{INERTIAL}</link>{inside}</model></sdf>"
    );
    parse_robot(
        text.as_bytes(),
        Path::new("m.sdf"),
        &RobotOptions::default(),
    )
}

/// The pose of link `a` in the base at position `q` of the only joint.
fn pose_of_a(loaded: &LoadedModel, q: f64) -> Isometry3<f64> {
    let model = &loaded.model;
    let mut positions = PositionKinematics::new(model);
    positions.update(model, &[q]);
    positions.link_pose(model, model.link_named("a").expect("a"))
}

/// How far and where a slider of a link that is turned about y by a quarter moves per metre.
fn direction(version: &str, axis: &str) -> Vector3<f64> {
    let inside = format!(
        r#"<link name="a"><pose>0 0 0 0 1.5707963267948966 0</pose>{INERTIAL}</link>
           <joint name="j" type="prismatic"><parent>base</parent><child>a</child><axis>{axis}</axis></joint>"#
    );
    let loaded = parse(version, &inside).unwrap_or_else(|error| panic!("{error}"));
    pose_of_a(&loaded, 1.0).translation.vector
}

#[test]
fn axes_are_in_the_model_before_version_1_5() {
    let plain = "<xyz>0 0 1</xyz>";
    let in_model = "<xyz>0 0 1</xyz><use_parent_model_frame>1</use_parent_model_frame>";
    let in_joint = "<xyz>0 0 1</xyz><use_parent_model_frame>0</use_parent_model_frame>";
    let in_base = "<xyz expressed_in=\"base\">0 0 1</xyz>";
    // The z axis of the link is the x axis of the model.
    let (z, x) = (Vector3::z(), Vector3::x());
    for (version, axis, expected) in [
        ("1.3", plain, z),
        ("1.4", plain, z),
        ("1.5", plain, x),
        ("1.6", plain, x),
        ("1.11", plain, x),
        ("1.5", in_model, z),
        ("1.6", in_model, z),
        ("1.6", in_joint, x),
        ("1.7", in_base, z),
    ] {
        let found = direction(version, axis);
        assert!(
            (found - expected).norm() < 1e-12,
            "{version} {axis}: {found}"
        );
    }
    let error = parse("new", "").expect_err("no version").to_string();
    assert!(
        error.contains("version=\"new\" must be two numbers"),
        "{error}"
    );
}

#[test]
fn a_revolute_axis_of_version_1_3_is_in_the_model() {
    let Some(path) = shared("data/cases/sdf/05-axis-13.sdf") else {
        return;
    };
    let loaded = read_robot(path, &RobotOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let turn = pose_of_a(&loaded, 0.3).rotation * pose_of_a(&loaded, 0.0).rotation.inverse();
    let expected = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 0.3);
    assert!(turn.angle_to(&expected) < 1e-12, "{turn}");
}

#[test]
fn a_frame_as_child_carries_the_link_that_it_is_attached_to() {
    let Some(path) = shared("data/cases/sdf/26-childparent-frame.sdf") else {
        return;
    };
    let loaded = read_robot(path, &RobotOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(pose_of_a(&loaded, 0.0).translation.vector.norm() < 1e-15);
    // The frame, 0.3 m above the link, is where the joint turns.
    let found = pose_of_a(&loaded, 0.5).translation.vector;
    let expected = Vector3::new(-0.3 * 0.5f64.sin(), 0.0, 0.3 * (1.0 - 0.5f64.cos()));
    assert!((found - expected).norm() < 1e-14, "{found}");
}

#[test]
fn a_frame_as_parent_stands_for_its_link() {
    let inside = format!(
        r#"<link name="a"><pose>0 0 1 0 0 0</pose>{INERTIAL}</link><frame name="f" attached_to="base"><pose>0 5 0 1 0 0</pose></frame>
           <joint name="j" type="prismatic"><parent>f</parent><child>a</child><axis><xyz expressed_in="f">1 0 0</xyz></axis></joint>"#
    );
    let loaded = parse("1.9", &inside).unwrap_or_else(|error| panic!("{error}"));
    let found = pose_of_a(&loaded, 0.25).translation.vector;
    assert!(
        (found - Vector3::new(0.25, 0.0, 1.0)).norm() < 1e-14,
        "{found}"
    );

    let missing = inside.replace("<parent>f<", "<parent>nowhere<");
    let error = parse("1.9", &missing).expect_err("no parent").to_string();
    assert!(error.contains("\"nowhere\""), "{error}");
}
