//! What MJCF files are refused for, with line and remedy, and what of them is ignored.

use pliant_hydroelastic::mesh::Severity;

use crate::mjcf_models::{load, parse};

#[test]
fn what_is_left_out_is_counted() {
    let loaded = load(
        r#"<option gravity="0 0 -1.6" timestep="0.001"/>
           <worldbody><light/>
             <body name="a" gravcomp="1"><joint solreflimit="0.1 1"/><geom size="0.1" solref="0.1 1"/><camera/>
               <body name="b" mocap="true"><geom size="0.1" solref="0.1 1" condim="1"/><camera/></body></body>
           </worldbody>
           <tendon><spatial name="t"><site site="s"/></spatial></tendon>
           <keyframe><key name="k" ctrl="1"/></keyframe>"#,
    );
    let text = loaded.report.to_string();
    for part in [
        "m.xml:2: suspicious: gravity=\"0 0 -1.6\" has no effect",
        "m.xml:3: ignored: <light>",
        "m.xml:4: ignored: attribute \"solref\" of <geom>, 2 times",
        "m.xml:4: ignored: <camera>, 2 times",
        "m.xml:5: suspicious: body \"b\": mocap",
        "m.xml:1: suspicious: condim = 1 takes no friction away without a second geom with condim = 1 that touches; bodies of the scene count as condim = 3: b_collision_0",
        "m.xml:7: suspicious: tendon \"t\": <spatial> tendons are not supported",
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
            "needs hfield=",
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
            ":3: body \"b\": has a plane or a height field, but moves",
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
            body("<joint type=\"ball\" springdamper=\"1 1\"/>"),
            "hinge and slide joints only",
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
            body(hinge) + "<actuator><position joint=\"j\" dampratio=\"1\" kv=\"1\"/></actuator>",
            "keep one of the two",
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
            "mimics joint \"j\", which is itself",
        ),
        (
            "<include file=\"other.xml\"/>".into(),
            ":2: <include>: \"other.xml\" was not found",
        ),
        (
            "<include file=\"passwords.txt\"/>".into(),
            "must be an .xml or .mjcf file",
        ),
    ];
    for (inside, part) in cases {
        let error = parse(&inside).expect_err(&inside).to_string();
        assert!(error.starts_with("m.xml:"), "{error}");
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    }
}

#[test]
fn free_joints_have_no_limits_as_in_mujoco() {
    // brax/test_data/colour_objects.xml: the class limits all joints, and MuJoCo ignores that of free ones.
    let loaded = load(
        r#"<default><joint limited="true"/></default>
           <worldbody><body><joint type="free"/><geom size="0.1"/></body></worldbody>"#,
    );
    assert_eq!(loaded.model.n_v(), 6);
}
