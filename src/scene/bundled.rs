//! Scenes and robots that are part of the program, so that it runs anywhere.

/// Bundled scenes: name and text.
pub const SCENES: &[(&str, &str)] = &[
    (
        "arm-pushes-boxes",
        include_str!("../../scenes/arm-pushes-boxes.toml"),
    ),
    (
        "box-on-incline",
        include_str!("../../scenes/box-on-incline.toml"),
    ),
    ("box-stack", include_str!("../../scenes/box-stack.toml")),
    ("clutter", include_str!("../../scenes/clutter.toml")),
    ("conveyor", include_str!("../../scenes/conveyor.toml")),
    (
        "double-pendulum",
        include_str!("../../scenes/double-pendulum.toml"),
    ),
    (
        "gripper-holds-box",
        include_str!("../../scenes/gripper-holds-box.toml"),
    ),
    (
        "rolling-sphere",
        include_str!("../../scenes/rolling-sphere.toml"),
    ),
];

/// Bundled robot files: path as scenes write it, and text.
pub const ROBOTS: &[(&str, &str)] = &[
    ("robots/arm7.urdf", include_str!("../../robots/arm7.urdf")),
    (
        "robots/double_pendulum.urdf",
        include_str!("../../robots/double_pendulum.urdf"),
    ),
    (
        "robots/gripper2.urdf",
        include_str!("../../robots/gripper2.urdf"),
    ),
    (
        "robots/hand16.urdf",
        include_str!("../../robots/hand16.urdf"),
    ),
    (
        "robots/pusher.urdf",
        include_str!("../../robots/pusher.urdf"),
    ),
];

/// The text of a bundled scene.
pub fn scene(name: &str) -> Option<&'static str> {
    SCENES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// The text of a bundled robot file.
pub fn robot(path: &str) -> Option<&'static str> {
    ROBOTS
        .iter()
        .find(|(known, _)| *known == path)
        .map(|(_, text)| *text)
}
