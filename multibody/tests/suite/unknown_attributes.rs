//! Attributes without effect are reported in all formats, with their line.

use std::path::Path;

use pliant_multibody::{RobotOptions, parse_robot};

fn report(text: &str, file: &str) -> String {
    let loaded = parse_robot(text.as_bytes(), Path::new(file), &RobotOptions::default());
    loaded
        .unwrap_or_else(|error| panic!("{error}"))
        .report
        .to_string()
}

#[track_caller]
fn check(text: &str, file: &str, expected: &[(u32, &str)]) {
    let report = report(text, file);
    for (line, tag) in expected {
        let part = format!("{file}:{line}: ignored: attribute \"odd\" of <{tag}>");
        assert!(report.contains(&part), "{part:?} is not in\n{report}");
    }
}

#[test]
fn of_urdf() {
    let text = "<robot name='r' odd='1'>
<link name='a' odd='1'/>
<link name='b'><inertial odd='1'>
<origin odd='1'/>
<mass value='1' odd='1'/>
<inertia ixx='1' iyy='1' izz='1' odd='1'/></inertial>
<visual odd='1'>
<geometry odd='1'>
<sphere radius='1' odd='1'/></geometry>
<material name='m' odd='1'>
<color rgba='1 1 1 1' odd='1'/></material></visual></link>
<joint name='j' type='continuous' odd='1'>
<parent link='a' odd='1'/>
<child link='b' odd='1'/>
<axis xyz='1 0 0' odd='1'/>
<dynamics damping='1' odd='1'/></joint>
</robot>";
    let tags = [
        (1, "robot"),
        (2, "link"),
        (3, "inertial"),
        (4, "origin"),
        (5, "mass"),
        (6, "inertia"),
        (7, "visual"),
        (8, "geometry"),
        (9, "sphere"),
        (10, "material"),
        (11, "color"),
        (12, "joint"),
        (13, "parent"),
        (14, "child"),
        (15, "axis"),
        (16, "dynamics"),
    ];
    check(text, "r.urdf", &tags);
}

#[test]
fn of_sdf() {
    let text = "<sdf version='1.9'><model name='m' odd='1'>
<link name='a'><pose odd='1'>0 0 0 0 0 0</pose>
<inertial odd='1'>
<mass odd='1'>1</mass></inertial>
<collision name='c' odd='1'>
<geometry odd='1'><sphere>
<radius odd='1'>1</radius></sphere></geometry></collision></link>
<link name='b' odd='1'/>
<joint name='j' type='revolute' odd='1'>
<parent odd='1'>a</parent><child>b</child>
<axis odd='1'>
<xyz odd='1'>0 0 1</xyz>
<limit odd='1'>
<lower odd='1'>0</lower></limit></axis></joint>
<frame name='f' odd='1'/>
</model></sdf>";
    let tags = [
        (1, "model"),
        (2, "pose"),
        (3, "inertial"),
        (4, "mass"),
        (5, "collision"),
        (6, "geometry"),
        (7, "radius"),
        (8, "link"),
        (9, "joint"),
        (10, "parent"),
        (11, "axis"),
        (12, "xyz"),
        (13, "limit"),
        (14, "lower"),
        (15, "frame"),
    ];
    check(text, "m.sdf", &tags);
}

#[test]
fn of_mjcf() {
    let text = "<mujoco odd='1'>
<compiler odd='1'/>
<default odd='1'><geom odd='1'/></default>
<worldbody odd='1'>
<body name='b' odd='1'>
<joint name='j' odd='1'/>
<inertial pos='0 0 0' mass='1' diaginertia='1 1 1' odd='1'/>
<site name='s' odd='1'/></body></worldbody>
<contact><exclude body1='b' body2='b' odd='1'/></contact>
<equality><joint joint1='j' odd='1'/></equality>
<tendon><fixed name='t' odd='1'><joint joint='j' coef='1'/></fixed></tendon>
<actuator><motor joint='j' odd='1'/></actuator>
<keyframe><key name='k' qpos='0' odd='1'/></keyframe>
</mujoco>";
    let tags = [
        (1, "mujoco"),
        (2, "compiler"),
        (3, "default"),
        (3, "geom"),
        (4, "worldbody"),
        (5, "body"),
        (6, "joint"),
        (7, "inertial"),
        (8, "site"),
        (9, "exclude"),
        (11, "fixed"),
        (12, "motor"),
        (13, "key"),
    ];
    check(text, "m.xml", &tags);
}
