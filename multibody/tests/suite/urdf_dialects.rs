//! URDF elements of ROS and Drake.

use std::path::Path;

use pliant_hydroelastic::mesh::Severity;
use pliant_multibody::urdf::parse_urdf;
use pliant_multibody::{
    DriveGains, HydroelasticCompliance, JointKind, LinkIdx, MultibodyError, ProximityProperties,
    RigidTree,
};
use pliant_multibody::{LoadedModel, RobotOptions};

fn parse(inside: &str) -> Result<LoadedModel, MultibodyError> {
    let text = format!("<robot name=\"r\" xmlns:drake=\"d\">{inside}</robot>");
    parse_urdf(
        text.as_bytes(),
        Path::new("r.urdf"),
        &RobotOptions::default(),
    )
}

#[track_caller]
fn load(inside: &str) -> LoadedModel {
    parse(inside).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn check_error(inside: &str, parts: &[&str]) {
    let message = parse(inside).expect_err("check_error").to_string();
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
}

const MASS: &str =
    r#"<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>"#;

/// A base, an arm on a joint of `kind` with the elements `more`, and the elements `rest`.
fn one_joint(kind: &str, more: &str, rest: &str) -> String {
    format!(
        r#"<link name="base"/><link name="arm">{MASS}</link>
<joint name="j" type="{kind}"><parent link="base"/><child link="arm"/>{more}</joint>
{rest}"#
    )
}

const LIMIT: &str = r#"<limit lower="-1" upper="2" effort="30" velocity="4"/>"#;

fn box_with(properties: &str) -> String {
    format!(
        r#"<link name="base"><collision><geometry><box size="1 1 1"/></geometry>
<drake:proximity_properties>{properties}</drake:proximity_properties></collision></link>"#
    )
}

#[test]
fn joints_of_every_type_have_their_degrees_of_freedom() {
    for (kind, expected, n_q, n_v) in [
        ("fixed", JointKind::Fixed, 0, 0),
        ("revolute", JointKind::Revolute, 1, 1),
        ("continuous", JointKind::Continuous, 1, 1),
        ("prismatic", JointKind::Prismatic, 1, 1),
        ("planar", JointKind::Planar, 3, 3),
        ("ball", JointKind::Ball, 4, 3),
        ("floating", JointKind::Floating, 7, 6),
    ] {
        let limit = if matches!(kind, "revolute" | "prismatic") {
            LIMIT
        } else {
            ""
        };
        let loaded = load(&one_joint(kind, limit, ""));
        assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
        assert_eq!(loaded.model.joints()[0].kind, expected);
        assert_eq!((loaded.model.n_q(), loaded.model.n_v()), (n_q, n_v));
    }
}

#[test]
fn limits_dynamics_and_springs_are_read_as_written() {
    let more = r#"<axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="30" velocity="4" drake:acceleration="9"/>
<dynamics damping="0.5" friction="0.2" spring_stiffness="7" spring_reference="0.3"/>"#;
    let loaded = load(&one_joint("revolute", more, ""));
    assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
    let joint = &loaded.model.joints()[0];
    let limits = &joint.limits;
    assert_eq!((limits.lower, limits.upper), (-1.0, 2.0));
    assert_eq!(
        (limits.effort, limits.velocity, limits.acceleration),
        (30.0, 4.0, 9.0)
    );
    let passive = &joint.passive;
    assert_eq!((passive.damping, passive.dry_friction), (0.5, 0.2));
    assert_eq!((passive.spring_stiffness, passive.spring_rest), (7.0, 0.3));
}

#[test]
fn all_proximity_properties_are_kept() {
    let loaded = load(&box_with(
        r#"<drake:compliant_hydroelastic/>
<drake:hydroelastic_modulus value="1e7"/>
<drake:mesh_resolution_hint value="0.02"/>
<drake:hunt_crossley_dissipation value="1.5"/>
<drake:relaxation_time value="0.01"/>
<drake:hydroelastic_margin value="0.001"/>
<drake:slab_thickness value="0.3"/>
<drake:point_contact_stiffness value="1e5"/>
<drake:mu_static value="0.9"/>
<drake:mu_dynamic value="0.7"/>"#,
    ));
    assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
    let expected = ProximityProperties {
        mu_dynamic: Some(0.7),
        mu_static: Some(0.9),
        torsional_friction: None,
        rolling_friction: None,
        hunt_crossley_dissipation: Some(1.5),
        relaxation_time: Some(0.01),
        point_contact_stiffness: Some(1e5),
        hydroelastic_modulus: Some(1e7),
        hydroelastic_compliance: Some(HydroelasticCompliance::Compliant),
        mesh_resolution_hint: Some(0.02),
        slab_thickness: Some(0.3),
        hydroelastic_margin: Some(0.001),
    };
    assert_eq!(
        loaded.model.link(LinkIdx(0)).collisions[0].proximity,
        expected
    );
    let rigid = load(&box_with("<drake:rigid_hydroelastic/>"));
    let properties = rigid.model.link(LinkIdx(0)).collisions[0].proximity;
    assert_eq!(
        properties.hydroelastic_compliance,
        Some(HydroelasticCompliance::Rigid)
    );
}

#[test]
fn invalid_proximity_properties_are_rejected_and_unused_ones_suspicious() {
    let both = "<drake:rigid_hydroelastic/><drake:compliant_hydroelastic/>";
    check_error(&box_with(both), &["r.urdf:2", "link \"base\"", "keep one"]);
    let zero = r#"<drake:hydroelastic_modulus value="0"/>"#;
    check_error(
        &box_with(zero),
        &["hydroelastic_modulus> = 0 must be positive"],
    );
    let negative = r#"<drake:mu_dynamic value="-0.1"/>"#;
    check_error(
        &box_with(negative),
        &["mu_dynamic> = -0.1 must not be negative"],
    );
    let unused = r#"<drake:rigid_hydroelastic/><drake:hydroelastic_modulus value="1e6"/>"#;
    let loaded = load(&box_with(unused));
    assert_eq!(
        loaded.report.of(Severity::Suspicious).count(),
        1,
        "{}",
        loaded.report
    );
    let unknown = load(&box_with(r#"<drake:stickiness value="1"/>"#));
    assert_eq!(
        unknown.report.of(Severity::Ignored).count(),
        1,
        "{}",
        unknown.report
    );
}

#[test]
fn gears_rotors_and_gains_come_from_transmissions_of_either_ros() {
    let drake = r#"<transmission name="t"><type>SimpleTransmission</type><joint name="j"/><actuator name="m">
<drake:gear_ratio value="100"/><drake:rotor_inertia value="1e-4"/><drake:controller_gains p="80" d="3"/>
</actuator></transmission>"#;
    let loaded = load(&one_joint("revolute", LIMIT, drake));
    assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
    let drive = loaded.model.joints()[0].drive;
    assert!((drive.reflected_inertia() - 1.0).abs() < 1e-12);
    let gains = DriveGains {
        proportional: 80.0,
        derivative: 3.0,
    };
    assert_eq!(drive.gains, Some(gains));
    let tree = RigidTree::new(loaded.model.into());
    assert!(tree.with_actuators_from_drives().is_ok());

    for (ros, tag) in [(1, "mechanicalReduction"), (2, "mechanical_reduction")] {
        let rest = format!(
            r#"<transmission name="t"><type>transmission_interface/SimpleTransmission</type>
<joint name="j"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
<actuator name="m"><hardwareInterface>EffortJointInterface</hardwareInterface><{tag}>50</{tag}></actuator></transmission>"#
        );
        let loaded = load(&one_joint("revolute", LIMIT, &rest));
        assert_eq!(loaded.model.joints()[0].drive.gear_ratio, 50.0, "ROS {ros}");
        let [entry] = &loaded.report.entries[..] else {
            panic!("{}", loaded.report)
        };
        assert_eq!(entry.severity, Severity::Ignored);
        assert!(entry.text.contains("<hardwareInterface>"), "{}", entry.text);
    }
}

#[test]
fn invalid_drives_are_rejected() {
    let drive = |inside: &str| {
        let text = format!(
            r#"<transmission name="t"><joint name="j"/><actuator name="m">{inside}</actuator></transmission>"#
        );
        one_joint("revolute", LIMIT, &text)
    };
    check_error(
        &drive(r#"<drake:controller_gains p="0" d="1"/>"#),
        &["r.urdf:3", "p = 0"],
    );
    check_error(&drive(r#"<drake:controller_gains p="1"/>"#), &["d=\"...\""]);
    check_error(
        &drive("<mechanicalReduction>fast</mechanicalReduction>"),
        &["\"fast\" is not a number"],
    );
    check_error(
        &drive(r#"<drake:rotor_inertia value="-1"/>"#),
        &["rotor inertia = -1"],
    );
}

#[test]
fn groups_include_the_members_of_their_member_groups() {
    let links: String = ["a", "b", "c"]
        .map(|name| format!(r#"<link name="{name}">{MASS}</link>"#))
        .concat();
    let joint = |parent: &str, child: &str| {
        format!(
            r#"<joint name="{child}" type="continuous"><parent link="{parent}"/><child link="{child}"/></joint>"#
        )
    };
    let groups = r#"<drake:collision_filter_group name="all"><drake:member_group name="two"/><drake:member link="a"/>
<drake:ignored_collision_filter_group name="all"/></drake:collision_filter_group>
<drake:collision_filter_group name="two"><drake:member_group name="one"/><drake:member link="b"/></drake:collision_filter_group>
<drake:collision_filter_group name="one"><drake:member_group name="two"/><drake:member link="c"/></drake:collision_filter_group>"#;
    let inside = format!("{links}{}{}{groups}", joint("a", "b"), joint("b", "c"));
    let loaded = load(&inside);
    assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
    let pairs = [(0, 1), (0, 2), (1, 2)].map(|(a, b)| (LinkIdx(a), LinkIdx(b)));
    assert_eq!(loaded.model.filtered_links(), pairs);
    let missing = inside.replace("member_group name=\"one\"", "member_group name=\"none\"");
    let loaded = load(&missing);
    assert_eq!(
        loaded.report.of(Severity::Suspicious).count(),
        1,
        "{}",
        loaded.report
    );
}

/// A slider `name` that follows `source`.
fn follower(name: &str, source: &str, law: &str) -> String {
    format!(
        "<link name=\"l{name}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\
         <joint name=\"{name}\" type=\"prismatic\"><parent link=\"base\"/>\
         <child link=\"l{name}\"/><limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/>\
         <mimic joint=\"{source}\" {law}/></joint>"
    )
}

#[test]
fn a_mimic_of_a_mimic_is_resolved_whatever_the_order_of_the_file() {
    let c = follower("c", "b", "multiplier=\"0.5\" offset=\"-0.02\"");
    let b = follower("b", "a", "multiplier=\"-2\" offset=\"0.1\"");
    let a = follower("a", "", "").replace("<mimic joint=\"\" />", "");
    assert!(!a.contains("mimic"), "{a}");
    for order in [[&c, &b, &a], [&b, &c, &a], [&a, &c, &b]] {
        let [first, second, third] = order;
        let model = load(&format!("<link name=\"base\"/>{first}{second}{third}")).model;
        let index = |name: &str| {
            let joint = model.joint(model.joint_named(name).expect("a joint"));
            joint.positions().start
        };
        // b = 0.1 − 2 a, c = b/2 − 0.02.
        for (start, [b, c]) in [(0.0, [0.1, 0.03]), (0.2, [-0.3, -0.17])] {
            let mut q = model.initial_positions();
            q[index("a")] = start;
            model.make_admissible(&mut q);
            let found = [q[index("b")], q[index("c")]];
            assert!((found[0] - b).abs() < 1e-15, "{found:?}");
            assert!((found[1] - c).abs() < 1e-15, "{found:?}");
        }
    }
}

#[test]
fn mimics_in_a_circle_are_an_error() {
    let (a, b) = (follower("a", "b", ""), follower("b", "a", ""));
    check_error(
        &format!("<link name=\"base\"/>{a}{b}"),
        &["mimics", "in a circle"],
    );
}

#[test]
fn errors_of_unsupported_elements_state_the_remedy() {
    check_error(
        &one_joint("universal", "", ""),
        &["r.urdf:2", "two revolute joints"],
    );
    check_error(
        &one_joint("screw", "", ""),
        &["r.urdf:2", "mimics", "pitch"],
    );
    check_error(
        r#"<xacro:include filename="x"/><link name="base"/>"#,
        &["xacro first"],
    );
}

#[test]
fn visual_meshes_that_are_not_shown_are_one_entry() {
    let visual =
        |file: &str| format!(r#"<visual><geometry><mesh filename="{file}"/></geometry></visual>"#);
    let with = |visuals: &str| load(&format!(r#"<link name="a">{visuals}</link>"#)).report;
    let one = with(&visual("nowhere/a.dae")).to_string();
    assert!(
        one.contains("link \"a\"") && one.contains("not shown"),
        "{one}"
    );
    let three = with(
        &["a.dae", "b.obj", "c.dae"]
            .map(|file| visual(&format!("nowhere/{file}")))
            .concat(),
    );
    assert_eq!(three.entries.len(), 1, "{three}");
    let said = three.to_string();
    assert!(
        said.contains("3 visual meshes not shown, the first one: link \"a\""),
        "{said}"
    );
}

#[test]
fn a_sphere_without_radius_is_left_out_and_a_missing_visual_leaves_its_colour() {
    let loaded = load(
        r#"<link name="foot">
             <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
             <visual><geometry><mesh filename="missing.dae"/></geometry>
               <material name="m"><color rgba="0.1 0.2 0.3 1"/></material></visual>
             <collision><geometry><sphere radius="0.0"/></geometry></collision>
             <collision><geometry><sphere radius="0.1"/></geometry></collision>
           </link>"#,
    );
    let link = &loaded.model.links()[0];
    assert_eq!((link.collisions.len(), link.visuals.len()), (1, 0));
    assert_eq!(link.rgba, Some([0.1, 0.2, 0.3, 1.0]));
    let report = loaded.report.to_string();
    let text = "link \"foot\": sphere of radius 0, which has no surface; left out";
    assert!(report.contains(text), "{report}");
    assert!(report.contains("missing.dae"), "{report}");
}

#[test]
fn a_mimic_of_an_unknown_joint_names_the_nearest_one() {
    // As in the file of the hand of Alex: "index_q1" in place of "left_index_q1".
    let links = ["base", "a", "b"].map(|link| {
        format!("<link name=\"{link}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>")
    });
    let joint = |name: &str, link: &str, rest: &str| {
        format!(
            "<joint name=\"{name}\" type=\"continuous\"><parent link=\"base\"/><child link=\"{link}\"/>{rest}</joint>"
        )
    };
    let source = |joint: &str| format!("<mimic joint=\"{joint}\"/>");
    let text = |named: &str| {
        links.concat() + &joint("l_index_q1", "a", "") + &joint("l_index_q2", "b", &source(named))
    };
    check_error(
        &text("index_q1"),
        &["index_q1\", which is not in the model; did you mean \"l_index_q1\"?"],
    );
    check_error(
        &text("toe"),
        &["which is not in the model; name one of its joints, or remove"],
    );
}
