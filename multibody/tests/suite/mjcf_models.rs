//! Small MJCF models with analytic answers.

use std::f64::consts::{FRAC_PI_2, PI};
use std::path::Path;

use nalgebra::{DMatrix, Isometry3, UnitQuaternion, Vector3};
use pliant_hydroelastic::mesh::Severity;
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
fn geoms_have_the_mass_of_their_volume() {
    let model = load(
        r#"<worldbody><body name="b"><freejoint/>
             <geom type="sphere" size="0.1" density="500"/>
             <geom type="box" size="0.1 0.2 0.3" pos="1 0 0"/>
             <geom type="cylinder" size="0.1 0.2" pos="2 0 0"/>
             <geom type="capsule" fromto="3 0 -0.2 3 0 0.2" size="0.1"/>
             <geom type="ellipsoid" size="0.1 0.2 0.3" pos="4 0 0"/>
             <geom type="box" size="1 1 1" mass="0"/>
           </body></worldbody>"#,
    )
    .model;
    let ball = 4.0 / 3.0 * PI * 1e-3;
    let parts = [
        (500.0 * ball, 0.0),
        (1000.0 * 0.2 * 0.4 * 0.6, 1.0),
        (1000.0 * PI * 0.01 * 0.4, 2.0),
        (1000.0 * (PI * 0.01 * 0.4 + ball), 3.0),
        (1000.0 * 6.0 * ball, 4.0),
    ];
    let mass: f64 = parts.iter().map(|(m, _)| m).sum();
    let inertia = model.link(model.link_named("b").expect("a link")).inertia;
    assert!((inertia.mass - mass).abs() < 1e-12 * mass);
    let x: f64 = parts.iter().map(|(m, x)| m * x).sum::<f64>() / mass;
    assert!((inertia.com.x - x).abs() < 1e-13);
}

#[test]
fn inertias_are_bounded_balanced_and_scaled_on_request() {
    let body = r#"<worldbody><body name="b"><freejoint/>
        <inertial mass="2" pos="0 0 0" diaginertia="1 1 4"/></body>
        <body name="c"><freejoint/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/></body></worldbody>"#;
    let inertia = |compiler: &str| {
        let model = load(&format!("{compiler}{body}")).model;
        model.link(model.link_named("b").expect("b")).inertia
    };
    let plain = inertia("");
    assert_eq!(plain.rotational.diagonal().as_slice(), [1.0, 1.0, 4.0]);
    let balanced = inertia(r#"<compiler balanceinertia="true"/>"#).rotational;
    assert!((balanced - nalgebra::Matrix3::identity() * 2.0).norm() < 1e-14);
    let bounded = inertia(r#"<compiler boundmass="5" boundinertia="3"/>"#);
    assert_eq!(bounded.mass, 5.0);
    let least = bounded.principal_moments()[0];
    assert!((least - 3.0).abs() < 1e-14);
    let scaled = inertia(r#"<compiler settotalmass="6"/>"#);
    assert!((scaled.mass - 4.0).abs() < 1e-15);
    assert!((scaled.rotational.m33 - 8.0).abs() < 1e-14);
    // The triangle inequality is violated as written, and reported with its line.
    let loaded = load(body);
    let text = loaded.report.to_string();
    assert!(
        text.contains("m.xml:2") && text.contains("triangle inequality"),
        "{text}"
    );
}

#[test]
fn full_inertias_are_about_the_centre_of_mass_in_its_own_axes() {
    let model = load(
        r#"<worldbody><body name="b"><freejoint/>
             <inertial mass="2" pos="1 0 0" euler="0 0 90" fullinertia="1 2 2.5 0.1 0.2 0.3"/></body></worldbody>"#,
    )
    .model;
    let found = model.link(model.link_named("b").expect("b")).inertia;
    // x of the principal frame is y of the body, and its y is −x.
    let expected = nalgebra::Matrix3::new(2.0, -0.1, -0.3, -0.1, 1.0, 0.2, -0.3, 0.2, 2.5);
    assert!(
        (found.rotational - expected).norm() < 1e-14,
        "{}",
        found.rotational
    );
    assert_eq!(found.com, Vector3::x());
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
fn a_linear_equality_couples_two_joints_and_a_loop_is_reported() {
    let loaded = load(
        r#"<compiler angle="radian"/>
           <worldbody>
             <body name="a"><joint name="ja" ref="0.1"/><geom size="0.1"/></body>
             <body name="b"><joint name="jb" ref="0.2"/><geom size="0.1"/></body>
           </worldbody>
           <equality>
             <joint name="e" joint1="ja" joint2="jb" polycoef="0.5 3"/>
             <weld name="w" body1="a" body2="b"/>
           </equality>"#,
    );
    let coupler = loaded.model.couplers()[0];
    assert_eq!(coupler.multiplier, 3.0);
    // ja − 0.1 = 0.5 + 3 (jb − 0.2).
    assert!((coupler.offset - 0.0).abs() < 1e-15, "{}", coupler.offset);
    let text = loaded.report.to_string();
    assert!(
        text.contains("m.xml:9") && text.contains("<weld>"),
        "{text}"
    );
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
fn what_is_left_out_is_counted() {
    let loaded = load(
        r#"<option gravity="0 0 -1.6" timestep="0.001"/>
           <worldbody><light/>
             <body name="a" gravcomp="1"><joint solreflimit="0.1 1"/><geom size="0.1" solref="0.1 1"/><camera/>
               <body name="b" mocap="true"><geom size="0.1" solref="0.1 1" condim="1"/><camera/></body></body>
           </worldbody>
           <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
           <keyframe><key name="k" ctrl="1"/></keyframe>"#,
    );
    let text = loaded.report.to_string();
    for part in [
        "m.xml:2: suspicious: gravity=\"0 0 -1.6\" has no effect",
        "m.xml:3: ignored: <light>",
        "m.xml:4: suspicious: body \"a\": gravcomp=\"1\"",
        "m.xml:4: ignored: attribute \"solref\" of <geom>, 2 times",
        "m.xml:4: ignored: <camera>, 2 times",
        "m.xml:5: suspicious: body \"b\": mocap",
        "m.xml:5: ignored: attribute \"condim\" of <geom>",
        "m.xml:7: suspicious: tendon \"t\"",
        "m.xml:8: ignored: <key> without qpos",
        "m.xml:8: ignored: attribute \"ctrl\" of <key>",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let ignored = loaded.report.of(Severity::Ignored).count();
    assert!(ignored < 12, "{text}");
}

#[test]
fn faults_are_errors_with_their_line_and_remedy() {
    let body =
        |inside: &str| format!("<worldbody>\n<body name=\"b\">\n{inside}\n</body>\n</worldbody>");
    let hinge = "<joint name=\"j\"/><geom size=\"0.1\"/>";
    let cases = [
        (
            "<worldbody/><compiler angle=\"grad\"/>".into(),
            ":2: <compiler>: angle=\"grad\"",
        ),
        ("<compiler eulerseq=\"xyw\"/>".into(), "eulerseq"),
        ("<compiler boundmass=\"-1\"/>".into(), "boundmass = -1"),
        (
            "<default><default/></default>".into(),
            "needs the attribute class",
        ),
        (
            body("<geom/>"),
            ":4: geom of body \"b\": number 1 of size is 0",
        ),
        (
            body("<geom type=\"box\" size=\"1 1\"/>"),
            "number 3 of size is 0",
        ),
        (
            body("<geom type=\"hfield\" size=\"1 1\"/>"),
            "\"hfield\" is not supported",
        ),
        (body("<geom size=\"0,1\"/>"), "write 0.5, not 0,5"),
        (
            body("<geom size=\"1\" class=\"x\"/>"),
            "class \"x\" is not defined; known are main",
        ),
        (
            body("<geom size=\"1\" mass=\"-1\"/>"),
            "must not be negative",
        ),
        (
            body("<geom size=\"1\" material=\"x\"/>"),
            "material \"x\" is not defined",
        ),
        (body("<geom mesh=\"x\"/>"), "mesh \"x\" is not defined"),
        (body("<geom type=\"box\" mesh=\"x\"/>"), "fitted to a mesh"),
        (
            body("<geom size=\"1\" quat=\"0 0 0 0\"/>"),
            "must not be zero",
        ),
        (
            body("<geom type=\"sphere\" fromto=\"0 0 0 1 0 0\" size=\"1\"/>"),
            "fromto is not for",
        ),
        (
            body("<joint/><geom type=\"plane\" size=\"1 1 1\"/>"),
            ":3: body \"b\": has a plane, but moves",
        ),
        (body("<joint type=\"screw\"/>"), "\"screw\" is unknown"),
        (body("<joint axis=\"0 0 0\"/>"), "axis must not be zero"),
        (body("<joint range=\"1 -1\"/>"), "must ascend"),
        (body("<joint limited=\"true\"/>"), "needs range"),
        (
            body("<joint damping=\"-1\"/>"),
            "damping = -1 must not be negative",
        ),
        (
            body("<joint springdamper=\"1 1\"/>"),
            "springdamper is not supported",
        ),
        (
            body("<joint type=\"ball\" stiffness=\"1\"/>"),
            "hinge and slide joints only",
        ),
        (
            body("<joint/><freejoint/><geom size=\"1\"/>"),
            "free joint must be the only joint",
        ),
        (body("<joint name=\"j\"/>"), "joint \"j\" moves link \"b\""),
        (
            body("<replicate count=\"0\"/>"),
            ":4: <replicate>: count=\"0\" must be a positive whole number",
        ),
        (
            body(
                "<replicate count=\"2000\"><replicate count=\"2000\"><site name=\"s\"/></replicate></replicate>",
            ),
            "makes more than 100000 elements",
        ),
        (
            body("<composite type=\"cable\"/>"),
            ":4: body \"b\": <composite> is not supported",
        ),
        (body("<inertial mass=\"1\"/>"), "needs diaginertia"),
        (
            body("<inertial mass=\"-1\" diaginertia=\"1 1 1\"/>"),
            "mass = -1",
        ),
        (
            body("<inertial mass=\"1\" diaginertia=\"1 -1 1\"/>"),
            "negative principal moment",
        ),
        (body("<body name=\"b\"/>"), "defined twice"),
        (
            body(hinge) + "<actuator><motor joint=\"x\"/></actuator>",
            "joint \"x\" is not in the model",
        ),
        (
            body(hinge) + "<actuator><position joint=\"j\" dampratio=\"1\"/></actuator>",
            "write kv",
        ),
        (
            body(hinge) + "<contact><exclude body1=\"b\" body2=\"x\"/></contact>",
            "body2=\"x\"",
        ),
        (
            body(hinge) + "<equality><joint joint1=\"j\" joint2=\"x\"/></equality>",
            "joint \"x\"",
        ),
        (
            body(hinge)
                + "<equality><joint joint1=\"j\" joint2=\"j\" polycoef=\"0 1 1\"/></equality>",
            "higher than first degree",
        ),
        (
            "<include file=\"other.xml\"/>".into(),
            ":2: <include>: \"other.xml\" was not found",
        ),
        (
            "<include file=\"passwords.txt\"/>".into(),
            "must be an .xml or .mjcf file",
        ),
        (String::new(), "has no <worldbody>"),
    ];
    for (inside, part) in cases {
        let error = parse(&inside).expect_err(&inside).to_string();
        assert!(error.starts_with("m.xml:"), "{error}");
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    }
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
