//! Links that are fixed to one another count as one body; joints that follow a fixed joint are fixed.

use std::path::Path;

use nalgebra::{Point3, Vector3};
use pliant_multibody::{
    JointKind, LoadedModel, MultibodyError, RobotOptions, Workspace, mass_matrix, parse_robot,
};

fn read(text: &str) -> Result<LoadedModel, MultibodyError> {
    parse_robot(
        text.as_bytes(),
        Path::new("r.urdf"),
        &RobotOptions::default(),
    )
}

fn link(name: &str, mass: f64, diagonal: [f64; 3]) -> String {
    let [xx, yy, zz] = diagonal;
    format!(
        "<link name=\"{name}\"><inertial><mass value=\"{mass}\"/><inertia ixx=\"{xx}\" iyy=\"{yy}\" izz=\"{zz}\"/></inertial></link>"
    )
}

fn joint(name: &str, kind: &str, [parent, child]: [&str; 2], rest: &str) -> String {
    format!(
        "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"{child}\"/><axis xyz=\"0 0 1\"/>{rest}</joint>"
    )
}

#[test]
fn a_negative_moment_matters_only_where_the_body_has_one() {
    let base = "<link name=\"base\"/>";
    let turns = joint("j", "continuous", ["base", "arm"], "");
    let antenna = link("antenna", 0.1, [0.001, 0.001, -0.001]);
    let welded = joint("w", "fixed", ["arm", "antenna"], "<origin xyz=\"1 0 0\"/>");
    let arm = link("arm", 1.0, [0.5, 0.5, 0.5]);
    let both = format!("<robot name=\"r\">{base}{arm}{antenna}{turns}{welded}</robot>");
    let loaded = read(&both).unwrap_or_else(|error| panic!("{error}"));
    assert!(
        loaded.report.to_string().contains("is negative"),
        "{}",
        loaded.report
    );
    // 0.5 + 0.1 · 1² − 0.001.
    let mut w = Workspace::new(&loaded.model);
    let mut mass = nalgebra::DMatrix::zeros(1, 1);
    mass_matrix(&loaded.model, &[0.0], &mut w, &mut mass);
    assert!((mass[(0, 0)] - 0.599).abs() < 1e-14, "{mass}");

    let moving = joint("w", "continuous", ["arm", "antenna"], "");
    let apart = format!("<robot name=\"r\">{base}{arm}{antenna}{turns}{moving}</robot>");
    let error = read(&apart).expect_err("the antenna is a body");
    for part in ["link \"antenna\"", "negative principal moment"] {
        assert!(
            error.to_string().contains(part),
            "{part:?} is not in {error}"
        );
    }
}

#[test]
fn a_point_mass_far_away_is_no_error() {
    let far = link("far", 3.0, [0.0; 3]).replace("<mass", "<origin xyz=\"7.3 -11.1 0.7\"/><mass");
    let turns = joint("j", "continuous", ["base", "far"], "");
    let text = format!("<robot name=\"r\"><link name=\"base\"/>{far}{turns}</robot>");
    read(&text).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn followers_of_a_fixed_joint_are_fixed_where_they_are_held() {
    let links: String = ["a", "b", "c", "d"]
        .map(|name| link(name, 1.0, [0.1; 3]))
        .concat();
    let base = "<link name=\"base\"/>";
    let mimic = |of: &str, offset: f64| {
        format!("<mimic joint=\"{of}\" multiplier=\"2\" offset=\"{offset}\"/>")
    };
    let joints = joint("ja", "fixed", ["base", "a"], "")
        + &joint(
            "jb",
            "continuous",
            ["base", "b"],
            &mimic("ja", std::f64::consts::FRAC_PI_2),
        )
        + &joint(
            "jc",
            "prismatic",
            ["b", "c"],
            &(mimic("ja", 0.25) + "<origin xyz=\"1 0 0\"/>"),
        )
        + &joint("jd", "continuous", ["c", "d"], &mimic("jb", 0.0));
    let loaded = read(&format!("<robot name=\"r\">{base}{links}{joints}</robot>"));
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    let model = &loaded.model;
    assert!(
        model
            .joints()
            .iter()
            .all(|joint| joint.kind == JointKind::Fixed)
    );
    assert!(model.couplers().is_empty());
    let text = loaded.report.to_string();
    for part in [
        "\"jb\": follows joint \"ja\"",
        "\"jd\": follows joint \"jb\"",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    // 1 m along x, turned by 90° about z, and 0.25 m up.
    let mut w = Workspace::new(model);
    w.positions.update(model, &[]);
    let c = w
        .positions
        .link_position(model, model.link_named("c").expect("a link"));
    assert!(
        (Point3::from(c) - Point3::from(Vector3::new(0.0, 1.0, 0.25))).norm() < 1e-15,
        "{c}"
    );
    // d turns by twice the 90° of b, on top of them.
    let d = w
        .positions
        .link_rotation(model, model.link_named("d").expect("a link"));
    let quarter = std::f64::consts::FRAC_PI_2;
    let turned = nalgebra::Rotation3::from_axis_angle(&Vector3::z_axis(), 3.0 * quarter);
    assert!((d - turned.matrix()).norm() < 1e-14, "{d}");
}
