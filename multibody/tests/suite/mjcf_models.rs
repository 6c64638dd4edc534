//! Small MJCF models with analytic answers.

use std::f64::consts::{FRAC_PI_2, PI};
use std::path::Path;

use nalgebra::{DMatrix, Isometry3, UnitQuaternion, Vector3};
use pliant_multibody::{
    JointKind, LinkIdx, LoadedModel, Model, MultibodyError, PositionKinematics, RobotOptions, Root,
    Workspace, bias_forces, mass_matrix, parse_robot,
};

pub(crate) fn parse(inside: &str) -> Result<LoadedModel, MultibodyError> {
    let text = format!("<mujoco model=\"m\">\n{inside}\n</mujoco>");
    parse_robot(
        text.as_bytes(),
        Path::new("m.xml"),
        &RobotOptions::default(),
    )
}

pub(crate) fn load(inside: &str) -> LoadedModel {
    parse(inside).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn pose(model: &Model, q: &[f64], link: &str) -> Isometry3<f64> {
    let mut positions = PositionKinematics::new(model);
    positions.update(model, q);
    positions.link_pose(model, model.link_named(link).expect("a link"))
}

fn joint<'a>(model: &'a Model, name: &str) -> &'a pliant_multibody::Joint {
    model.joint(model.joint_named(name).expect("a joint"))
}

#[test]
fn a_pendulum_hangs_on_a_joint_that_is_not_at_its_origin() {
    // A point-like bob of 2 kg, 1.5 m below a hinge about y that is 0.5 m above the origin of the body.
    let model = load(
        r#"<worldbody>
             <body name="rod" pos="0 0 2">
               <joint name="hinge" axis="0 1 0" pos="0 0 0.5"/>
               <inertial mass="2" pos="0 0 -1" diaginertia="0.1 0.2 0.3"/>
             </body>
           </worldbody>"#,
    )
    .model;
    assert_eq!(joint(&model, "hinge").kind, JointKind::Continuous);
    let q = 0.7_f64;
    let mut w = Workspace::new(&model);
    let mut mass = DMatrix::zeros(1, 1);
    mass_matrix(&model, &[q], &mut w, &mut mass);
    assert!((mass[(0, 0)] - (0.2 + 2.0 * 1.5 * 1.5)).abs() < 1e-14);
    let mut tau = [0.0];
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    bias_forces(&model, &[q], &[0.0], &gravity, &mut w, &mut tau);
    assert!((tau[0] - 2.0 * 9.81 * 1.5 * q.sin()).abs() < 1e-13);
    // The frame of the body turns about the hinge: its origin is 0.5 m below it.
    let at = pose(&model, &[q], "rod").translation.vector;
    let expected = Vector3::new(-0.5 * q.sin(), 0.0, 2.5 - 0.5 * q.cos());
    assert!((at - expected).norm() < 1e-15);
}

#[test]
fn joints_of_one_body_act_in_the_order_of_the_file() {
    let model = load(
        r#"<compiler angle="radian"/>
           <worldbody>
             <body name="b" pos="0.1 0.2 0.3" euler="0.3 0 0">
               <joint name="slide" type="slide" axis="1 1 0"/>
               <joint name="yaw" axis="0 0 1" pos="0.4 0 0"/>
               <joint name="pitch" axis="0 2 0" pos="0 0 -0.2"/>
               <geom size="0.1"/>
             </body>
           </worldbody>"#,
    )
    .model;
    let (s, yaw, pitch) = (0.25, 0.6, -1.1);
    let about = |axis: Vector3<f64>, angle: f64, p: Vector3<f64>| {
        let at = Isometry3::from_parts(p.into(), UnitQuaternion::identity());
        let turn = UnitQuaternion::from_scaled_axis(axis * angle);
        at * Isometry3::from_parts(Vector3::zeros().into(), turn) * at.inverse()
    };
    let along = Vector3::new(1.0, 1.0, 0.0).normalize() * s;
    let expected = Isometry3::from_parts(
        Vector3::new(0.1, 0.2, 0.3).into(),
        UnitQuaternion::from_euler_angles(0.3, 0.0, 0.0),
    ) * Isometry3::from_parts(along.into(), UnitQuaternion::identity())
        * about(Vector3::z(), yaw, Vector3::new(0.4, 0.0, 0.0))
        * about(Vector3::y(), pitch, Vector3::new(0.0, 0.0, -0.2));
    let found = pose(&model, &[s, yaw, pitch], "b");
    assert!((found.to_homogeneous() - expected.to_homogeneous()).norm() < 1e-14);
    let names: Vec<&str> = model.links().iter().map(|link| &*link.name).collect();
    assert_eq!(
        names,
        ["world", "slide_link", "yaw_link", "pitch_link", "b"]
    );
}

#[test]
fn a_reference_position_is_the_one_that_the_file_shows() {
    let model = load(
        r#"<worldbody>
             <body name="door" pos="1 0 0">
               <joint name="hinge" axis="0 0 1" ref="90" range="0 180" springref="45" stiffness="2"/>
               <geom type="box" size="0.1 0.2 0.3" mass="3"/>
               <body name="drawer"><joint name="rail" type="slide" axis="1 0 0" ref="0.5" range="0 1"/>
                 <geom size="0.1"/></body>
             </body>
             <body name="free" pos="0 2 0" quat="0 0 0 1"><freejoint name="f"/><geom size="0.1"/></body>
           </worldbody>"#,
    )
    .model;
    let start = model.initial_positions();
    assert_eq!(start[..2], [FRAC_PI_2, 0.5]);
    assert_eq!(start[2..], [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let found = pose(&model, &start, "door");
    assert!((found.translation.vector - Vector3::x()).norm() < 1e-15);
    assert!(found.rotation.angle() < 1e-15);
    assert!((pose(&model, &start, "drawer").translation.vector - Vector3::x()).norm() < 1e-15);
    // Away from it, by the difference.
    let turned = pose(
        &model,
        &[PI, 0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        "door",
    );
    assert!((turned.rotation.angle() - FRAC_PI_2).abs() < 1e-14);
    let hinge = joint(&model, "hinge");
    assert!((hinge.limits.upper - PI).abs() < 1e-15 && hinge.limits.lower == 0.0);
    assert!((hinge.passive.spring_rest - PI / 4.0).abs() < 1e-15);
    assert_eq!(joint(&model, "f").kind, JointKind::Floating);
}

#[test]
fn orientations_can_be_written_in_six_ways() {
    // The rotation by 90° about z, then by 90° about the new x.
    let ways = [
        (r#"quat="0.5 0.5 0.5 0.5""#, "xyz"),
        (r#"euler="90 0 90""#, "ZYX"),
        (r#"euler="90 90 0""#, "zxy"),
        (r#"axisangle="1 1 1 120""#, "xyz"),
        (r#"xyaxes="0 2 0 0 1 3""#, "xyz"),
        (r#"euler="90 90 0""#, "xyz"),
    ];
    for (way, sequence) in ways {
        let model = load(&format!(
            r#"<compiler eulerseq="{sequence}"/>
               <worldbody><body name="b" {way}><joint axis="1 0 0"/><geom size="0.1"/></body></worldbody>"#
        ))
        .model;
        let r = pose(&model, &[0.0], "b").rotation;
        let third_turn = UnitQuaternion::new(Vector3::repeat(2.0 * PI / 3.0 / 3f64.sqrt()));
        let expected = match (way, sequence) {
            // About the fixed axes z, y, x: 90° about z, then 90° about the fixed x.
            (_, "ZYX") => {
                UnitQuaternion::from_euler_angles(FRAC_PI_2, 0.0, 0.0)
                    * UnitQuaternion::from_euler_angles(0.0, 0.0, FRAC_PI_2)
            }
            ("euler=\"90 90 0\"", "xyz") => {
                UnitQuaternion::from_euler_angles(FRAC_PI_2, 0.0, 0.0)
                    * UnitQuaternion::from_euler_angles(0.0, FRAC_PI_2, 0.0)
            }
            _ => third_turn,
        };
        assert!(r.angle_to(&expected) < 1e-7, "{way} {sequence}: {r}");
    }
}

#[test]
fn classes_inherit_and_an_element_may_give_the_first_numbers_only() {
    let loaded = load(
        r#"<default>
             <geom type="box" size="0.1 0.2 0.3" rgba="1 0 0 1"/>
             <joint damping="1" axis="1 0 0"/>
             <default class="thin"><geom size="0.01"/><joint damping="2"/></default>
           </default>
           <worldbody>
             <body name="a"><joint name="ja"/><geom/>
               <body name="b" childclass="thin"><joint name="jb"/><geom/>
                 <body name="c"><joint name="jc" class="main"/><geom class="main" size="0.5"/></body>
               </body>
             </body>
           </worldbody>"#,
    );
    let model = &loaded.model;
    let damping = |name: &str| joint(model, name).passive.damping;
    assert_eq!(
        (damping("ja"), damping("jb"), damping("jc")),
        (1.0, 2.0, 1.0)
    );
    assert_eq!(joint(model, "jb").axis, Vector3::x());
    let mass = |name: &str| {
        model
            .link(model.link_named(name).expect("a link"))
            .inertia
            .mass
    };
    let box_mass = |a: f64, b: f64, c: f64| 8000.0 * a * b * c;
    assert!((mass("a") - box_mass(0.1, 0.2, 0.3)).abs() < 1e-12);
    assert!((mass("b") - box_mass(0.01, 0.2, 0.3)).abs() < 1e-12);
    assert!((mass("c") - box_mass(0.5, 0.2, 0.3)).abs() < 1e-12);
    let visual = &model.link(model.link_named("a").expect("a")).visuals[0];
    assert_eq!(visual.rgba, Some([1.0, 0.0, 0.0, 1.0]));
    assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
}

#[test]
fn actuators_give_efforts_and_gains_through_their_gears() {
    let loaded = load(
        r#"<default><motor ctrlrange="-1 1"/></default>
           <worldbody><body name="b"><joint name="m" axis="1 0 0"/><joint name="p" axis="0 1 0"/>
             <joint name="v"/><joint name="g" type="slide"/><geom size="0.1"/></body></worldbody>
           <actuator>
             <motor joint="m" gear="40"/>
             <position joint="p" kp="3" kv="0.5" gear="2" forcerange="-5 4"/>
             <velocity joint="v" kv="7"/>
             <general joint="g" gaintype="fixed" biastype="affine" gainprm="2000" biasprm="0 -2000 -200"/>
             <muscle name="flexor" joint="g"/>
           </actuator>"#,
    );
    let effort = |name: &str| joint(&loaded.model, name).limits.effort;
    let gains = |name: &str| {
        let gains = joint(&loaded.model, name).drive.gains;
        gains.map(|g| (g.proportional, g.derivative))
    };
    assert_eq!((effort("m"), gains("m")), (40.0, None));
    assert_eq!((effort("p"), gains("p")), (10.0, Some((12.0, 2.0))));
    assert_eq!((effort("v"), gains("v")), (f64::INFINITY, Some((0.0, 7.0))));
    assert_eq!(gains("g"), Some((2000.0, 200.0)));
    let text = loaded.report.to_string();
    assert!(
        text.contains("m.xml:10") && text.contains("flexor"),
        "{text}"
    );
}

#[test]
fn a_linear_equality_couples_two_joints_from_where_the_file_shows_them() {
    let loaded = load(
        r#"<compiler angle="radian"/>
           <worldbody>
             <body name="a"><joint name="ja" ref="0.1"/><geom size="0.1"/></body>
             <body name="b"><joint name="jb" ref="0.2"/><geom size="0.1"/></body>
           </worldbody>
           <equality>
             <joint name="e" joint1="ja" joint2="jb" polycoef="0.5 3"/>
           </equality>"#,
    );
    let coupler = loaded.model.couplers()[0];
    // ja − 0.1 = 0.5 + 3 (jb − 0.2).
    for jb in [0.0, 0.2, 0.7] {
        let ja = 0.1 + 0.5 + 3.0 * (jb - 0.2);
        assert!((coupler.law.value(jb) - ja).abs() < 1e-15);
    }
}

#[test]
fn parents_masks_and_excluded_pairs_do_not_touch() {
    let loaded = load(
        r#"<worldbody>
             <geom name="floor" type="plane" size="1 1 1"/>
             <body name="a"><joint/><joint axis="1 0 0"/><geom size="0.1"/>
               <body name="b"><joint/><joint axis="1 0 0"/><geom size="0.1"/>
                 <body name="c"><joint/><geom size="0.1"/>
                   <body name="d"><joint/><geom size="0.1" contype="2" conaffinity="2"/></body></body>
               </body>
             </body>
             <body name="ghost"><freejoint/><geom size="0.1" contype="0" conaffinity="0"/></body>
           </worldbody>
           <contact><exclude body1="a" body2="c"/><exclude body1="world" body2="c"/></contact>"#,
    );
    let model = &loaded.model;
    let index = |name: &str| model.link_named(name).expect("a link");
    let mut without: Vec<(LinkIdx, LinkIdx)> = model.adjacent_links();
    without.extend(model.filtered_links());
    let touch = |x: &str, y: &str| {
        let (x, y) = (index(x), index(y));
        !without.contains(&(x.min(y), x.max(y)))
    };
    // Links that move on the world touch its shapes, through whatever joints.
    assert!(touch("worldbody", "a") && touch("worldbody", "b"));
    assert!(!touch("a", "b"), "child of a, through massless links");
    assert!(!touch("a", "c") && !touch("worldbody", "c"), "excluded");
    assert!(!touch("b", "d") && !touch("a", "d"), "by masks");
    let ghost = model.link(index("ghost"));
    assert_eq!((ghost.collisions.len(), ghost.visuals.len()), (0, 1));
    assert!(
        loaded
            .report
            .to_string()
            .contains("bodies outside of it touch d")
    );
}

#[test]
fn the_world_of_a_file_floats_with_what_is_fixed_in_it_but_not_below_a_free_joint() {
    let floating = RobotOptions {
        root: Root::Floating,
        ..RobotOptions::default()
    };
    let parse = |joint: &str| {
        let text = format!(
            "<mujoco><worldbody>\n<body name=\"b\" pos=\"0 0 1\">{joint}<geom size=\"0.1\"/></body></worldbody></mujoco>"
        );
        parse_robot(text.as_bytes(), Path::new("m.xml"), &floating)
    };
    let model = parse("").expect("a welded body").model;
    assert_eq!((model.n_v(), model.links()[0].name.as_str()), (6, "world"));
    let text = parse("<freejoint name=\"f\"/>")
        .expect_err("floats twice")
        .to_string();
    assert!(
        text.starts_with("m.xml:2: joint \"f\": moves freely"),
        "{text}"
    );
}
