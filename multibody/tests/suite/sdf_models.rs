//! Small SDFormat models with analytic answers.

use std::path::Path;

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_hydroelastic::mesh::Severity;
use pliant_multibody::{
    JointKind, LoadedModel, MultibodyError, PositionKinematics, RobotOptions, parse_robot,
};

fn parse(inside: &str) -> Result<LoadedModel, MultibodyError> {
    let text = format!("<sdf version=\"1.7\"><model name=\"m\">\n{inside}\n</model></sdf>");
    parse_robot(
        text.as_bytes(),
        Path::new("m.sdf"),
        &RobotOptions::default(),
    )
}

fn load(inside: &str) -> LoadedModel {
    parse(inside).unwrap_or_else(|error| panic!("{error}"))
}

const INERTIAL: &str =
    "<inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>";

#[test]
fn poses_and_axes_are_relative_to_the_frames_that_they_name() {
    let loaded = load(&format!(
        r#"<link name="a"><pose>1 0 0 0 0 1.5707963267948966</pose>{INERTIAL}</link>
           <frame name="f" attached_to="a"><pose>0 2 0 0 0 0</pose></frame>
           <link name="b"><pose relative_to="f">0 0 3 0 0 0</pose>{INERTIAL}</link>
           <joint name="j" type="prismatic"><pose>0 0 -1 0 0 0</pose><parent>a</parent><child>b</child>
             <axis><xyz expressed_in="__model__">1 0 0</xyz><limit><lower>-1</lower><upper>1e16</upper></limit></axis></joint>"#
    ));
    let model = &loaded.model;
    let joint = model.joint(model.joint_named("j").expect("j"));
    assert_eq!(joint.kind, JointKind::Prismatic);
    assert_eq!(
        (joint.limits.lower, joint.limits.upper),
        (-1.0, f64::INFINITY)
    );
    let mut positions = PositionKinematics::new(model);
    positions.update(model, &[0.5]);
    // In the axes of a: f at (0, 2, 0), b above it, moved along x of the model, which is −y of a.
    let b = positions.link_pose(model, model.link_named("b").expect("b"));
    let expected = Isometry3::translation(0.0, 2.0 - 0.5, 3.0);
    assert!(
        (b.to_homogeneous() - expected.to_homogeneous()).norm() < 1e-14,
        "{b}"
    );
    let frame = model.frame_named("f").expect("f");
    assert!((frame.X_LF.translation.vector - Vector3::new(0.0, 2.0, 0.0)).norm() < 1e-15);
}

#[test]
fn joints_to_the_world_make_it_the_root() {
    let loaded = load(&format!(
        r#"<link name="a"><pose>1 0 0 0 0 0</pose>{INERTIAL}</link>
           <joint name="j" type="revolute"><parent>world</parent><child>a</child>
             <axis><xyz>0 0 1</xyz></axis></joint>"#
    ));
    let model = &loaded.model;
    assert_eq!(model.links()[0].name, "world");
    assert_eq!(model.joints()[0].kind, JointKind::Continuous);
    assert_eq!(model.joints()[0].X_PJ.translation.vector, Vector3::x());
}

#[test]
fn shapes_have_their_sizes_colours_and_friction() {
    let loaded = load(
        r#"<link name="a">
             <inertial><pose>0 0 1 0 0 1.5707963267948966</pose><mass>2</mass>
               <inertia><ixx>1</ixx><iyy>2</iyy><izz>2.5</izz></inertia></inertial>
             <visual name="v"><geometry><mesh><uri>missing.dae</uri></mesh></geometry>
               <material><diffuse>0.1 0.2 0.3 1</diffuse></material></visual>
             <collision name="c"><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>
               <surface><friction><ode><mu>0.7</mu><mu2>0.6</mu2></ode></friction></surface></collision>
             <sensor name="s"/>
           </link>"#,
    );
    let link = &loaded.model.links()[0];
    assert!((link.inertia.rotational.m11 - 2.0).abs() < 1e-14);
    assert_eq!(link.inertia.com, Vector3::z());
    assert_eq!(link.rgba, Some([0.1, 0.2, 0.3, 1.0]));
    assert_eq!(link.collisions[0].proximity.mu_static, Some(0.7));
    assert_eq!(link.collisions[0].X_LG.rotation, UnitQuaternion::identity());
    let text = loaded.report.to_string();
    for part in ["missing.dae", "ignored: <mu2>", "ignored: <sensor>"] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn a_quotation_mark_after_a_number_is_left_out_and_reported() {
    let joint = |velocity: &str| {
        format!(
            "<link name=\"a\">{INERTIAL}</link><link name=\"b\">{INERTIAL}</link>\n<joint name=\"j\" type=\"revolute\"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz><limit>\n<velocity>{velocity}</velocity></limit></axis></joint>"
        )
    };
    let report = load(&joint("2.5\"")).report;
    let [entry] = &report.entries[..] else {
        panic!("{report:?}");
    };
    assert_eq!(entry.severity, Severity::Repaired);
    assert!(entry.text.contains("<velocity> 2.5\""), "{}", entry.text);
    assert!(parse(&joint("2.5x\"")).is_err());
}

#[test]
fn faults_are_errors_with_their_line_and_remedy() {
    let link = format!("<link name=\"a\">{INERTIAL}</link>");
    let two = format!("{link}<link name=\"b\">{INERTIAL}</link>");
    let joint = |inside: &str| {
        format!("{two}\n<joint name=\"j\" {inside}<parent>a</parent><child>b</child></joint>")
    };
    let geometry = |inside: &str| {
        format!(
            "<link name=\"a\">{INERTIAL}\n<collision name=\"c\"><geometry>{inside}</geometry></collision></link>"
        )
    };
    let cases = [
        (
            joint("type=\"gearbox\">"),
            ":3: joint \"j\": type \"gearbox\" is not supported",
        ),
        (joint("><foo/>"), "needs the attribute type"),
        (
            joint("type=\"fixed\"><pose>1 2 3</pose>"),
            "has 3 numbers, but must have 6",
        ),
        (
            joint("type=\"fixed\"><pose relative_to=\"x\">0 0 0 0 0 0</pose>"),
            "frame \"x\" is not in the model",
        ),
        (
            joint("type=\"revolute\"><axis><xyz>0 0 0</xyz></axis>"),
            "must be finite and nonzero",
        ),
        (
            joint("type=\"revolute\"><axis><limit><lower>1</lower><upper>0</upper></limit></axis>"),
            "swap them",
        ),
        (two.clone(), "have no parent joint"),
        (
            format!("{link}<frame name=\"f\"><pose relative_to=\"f\"/></frame>"),
            "relative to itself",
        ),
        (
            format!("{link}<frame name=\"f\" attached_to=\"x\"/>"),
            "attached to no link",
        ),
        (format!("{link}<include/>"), "<include>: needs <uri>"),
        (
            format!("{link}<model name=\"n\"/>"),
            "model \"n\": has no links",
        ),
        (
            format!("{link}<model name=\"n\" placement_frame=\"f\">{link}</model>"),
            "outermost model only",
        ),
        (
            geometry("<box><size>1 2</size></box>"),
            ":3: link \"a\": <size> \"1 2\": has 2 numbers",
        ),
        (
            geometry("<sphere><radius>0</radius></sphere>"),
            "must be positive",
        ),
        (geometry("<heightmap/>"), "<heightmap> is not supported"),
        (
            geometry("<mesh><uri>x.obj</uri></mesh>"),
            "collision mesh \"x.obj\" was not found",
        ),
        (geometry(""), "has no shape"),
    ];
    for (inside, part) in cases {
        let error = parse(&inside).expect_err(&inside).to_string();
        assert!(error.starts_with("m.sdf:"), "{error}");
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    }
    for (include, part) in [
        ("<include/>", "m.sdf:1: <include>: needs <uri>"),
        (
            "<include><uri>model://a</uri></include>",
            "package \"a\" is not mapped",
        ),
        (
            "<include><uri>a.sdf</uri></include>",
            "\"a.sdf\" was not found",
        ),
        ("<include/><include/>", "m.sdf:1: <include>: needs <uri>"),
    ] {
        let text = format!("<sdf>{include}</sdf>");
        let error = parse_robot(
            text.as_bytes(),
            Path::new("m.sdf"),
            &RobotOptions::default(),
        );
        let text = error.expect_err(include).to_string();
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn a_model_is_included_from_a_file_or_a_folder() {
    let folder = std::env::temp_dir().join(format!("sdf-include-{}", std::process::id()));
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        path
    };
    let cube =
        "<collision name=\"c\"><geometry><mesh><uri>cube.stl</uri></mesh></geometry></collision>";
    write(
        "box/model.config",
        "<model><sdf version=\"1.4\">old.sdf</sdf><sdf version=\"1.9\">new.sdf</sdf></model>",
    );
    write(
        "box/new.sdf",
        &format!("<sdf><model name=\"box\"><link name=\"a\">{INERTIAL}{cube}</link></model></sdf>"),
    );
    write(
        "box/cube.stl",
        "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 0 0 1\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid s\n",
    );
    let mut options = RobotOptions::default();
    options.packages.add_package("box", folder.join("box"));
    for (number, uri) in ["model://box", "box/", "box/new.sdf"].iter().enumerate() {
        let include = format!(
            "<sdf><world name=\"w\"><include><uri>{uri}</uri><name>mine</name><pose>1 0 0 0 0 0</pose></include></world></sdf>"
        );
        let file = write(&format!("world{number}.sdf"), &include);
        let loaded =
            pliant_multibody::read_robot(&file, &options).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(loaded.model.name(), "mine");
        // The mesh is beside the included file.
        assert_eq!(loaded.model.links()[0].collisions.len(), 1);
        let report = loaded.report.to_string();
        assert!(report.contains("<pose> of <include>"), "{report}");
    }
    let round = write(
        "round.sdf",
        "<sdf><include><uri>round.sdf</uri></include></sdf>",
    );
    let error = pliant_multibody::read_robot(&round, &options)
        .expect_err("no end")
        .to_string();
    assert!(error.contains("without end"), "{error}");
    let _ = std::fs::remove_dir_all(&folder);
}
