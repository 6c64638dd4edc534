//! Joints of SDFormat files that close kinematic loops.

use std::path::Path;

use pliant_multibody::{LoadedModel, LoopKind, RobotOptions, parse_robot};

fn load(inside: &str) -> LoadedModel {
    let text = format!("<sdf version=\"1.9\"><model name=\"m\">\n{inside}\n</model></sdf>");
    parse_robot(
        text.as_bytes(),
        Path::new("m.sdf"),
        &RobotOptions::default(),
    )
    .unwrap_or_else(|error| panic!("{error}"))
}

fn link(name: &str, pose: &str) -> String {
    format!(
        "<link name=\"{name}\"><pose>{pose}</pose><inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>"
    )
}

fn joint(name: &str, kind: &str, [parent, child]: [&str; 2], inside: &str) -> String {
    format!(
        "<joint name=\"{name}\" type=\"{kind}\"><parent>{parent}</parent><child>{child}</child>{inside}</joint>"
    )
}

const ABOUT_Y: &str = "<axis><xyz>0 1 0</xyz></axis>";

/// A parallelogram of two hanging rods of 1 m, 2 m apart, and a bar between their ends; `right` is at the end of the right rod.
fn four_bar(right: &str) -> String {
    [
        link("left", "0 0 0 0 0 0"),
        link("right", "2 0 0 0 0 0"),
        link("bar", "0 0 -1 0 0 0"),
        joint("a", "revolute", ["world", "left"], ABOUT_Y),
        joint("b", "revolute", ["world", "right"], ABOUT_Y),
        right.to_owned(),
        joint("c", "revolute", ["left", "bar"], ABOUT_Y),
    ]
    .concat()
}

fn pin(inside: &str) -> String {
    let inside = format!("<pose>2 0 0 0 0 0</pose>{inside}");
    joint("d", "revolute", ["right", "bar"], &inside)
}

#[test]
fn the_joint_that_makes_a_second_parent_becomes_a_constraint() {
    let loaded = load(&four_bar(&pin(ABOUT_Y)));
    let model = loaded.model;
    assert_eq!((model.n_v(), model.loops().len()), (3, 1));
    assert_eq!(model.loops()[0].kind, LoopKind::Revolute);
    assert!(model.loop_openings(&[0.0; 3])[0].distance_m < 1e-12);
    // In a parallelogram all angles are equal.
    let dof = |name: &str| {
        let joint = model.joint_named(name).expect("a joint");
        model.joint(joint).positions().start
    };
    let mut q = [0.0; 3];
    let mut held = [false; 3];
    q[dof("a")] = 0.35;
    held[dof("a")] = true;
    model
        .close_loops(&mut q, &held)
        .unwrap_or_else(|error| panic!("{error}"));
    // One of `c` and `d` is in the tree; both turn back.
    assert!((q[dof("b")] - 0.35).abs() < 1e-9, "{q:?}");
    assert!(loaded.report.to_string().contains("closes a loop"));
    // The links that it joins overlap there.
    let links = ["right", "bar"].map(|name| model.link_named(name).expect("a link"));
    let pair = (links[0].min(links[1]), links[0].max(links[1]));
    let excluded = model.filtered_links().contains(&pair) || model.adjacent_links().contains(&pair);
    assert!(excluded);
}

#[test]
fn a_joint_with_limits_stays_in_the_tree() {
    let limited = "<axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis>";
    let loaded = load(&four_bar(&pin(limited)));
    let names = |name: &str| loaded.model.joint_named(name).is_ok();
    assert!(names("d") && !names("c"));
    assert_eq!(loaded.model.loops()[0].name, "c");
}

#[test]
fn each_kind_of_joint_closes_a_loop() {
    for (kind, expected) in [
        ("fixed", LoopKind::Weld),
        ("ball", LoopKind::Ball),
        ("prismatic", LoopKind::Prismatic),
        ("revolute", LoopKind::Revolute),
    ] {
        let text = [
            link("a", "0 0 0 0 0 0"),
            link("b", "0.3 0.1 0 0.2 0 0"),
            joint("ja", "ball", ["world", "a"], ""),
            joint("jb", "ball", ["world", "b"], ""),
            joint("z", kind, ["a", "b"], "<axis><xyz>1 2 0</xyz></axis>"),
        ]
        .concat();
        let loaded = load(&text);
        let [constraint] = loaded.model.loops() else {
            panic!("one loop");
        };
        assert_eq!(constraint.kind, expected);
        let opening = loaded
            .model
            .loop_openings(&loaded.model.neutral_positions())[0];
        assert!(opening.distance_m < 1e-12 && opening.angle < 1e-12);
    }
}

#[test]
fn joints_in_a_circle_are_cut_once() {
    let text = [
        link("a", "0 0 0 0 0 0"),
        link("b", "1 0 0 0 0 0"),
        link("c", "1 0 1 0 0 0"),
        joint("ab", "revolute", ["a", "b"], ABOUT_Y),
        joint("bc", "revolute", ["b", "c"], ABOUT_Y),
        joint("ca", "revolute", ["c", "a"], ABOUT_Y),
    ]
    .concat();
    let model = load(&text).model;
    assert_eq!((model.n_v(), &*model.loops()[0].name), (2, "ca"));
}
