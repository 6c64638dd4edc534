//! Scenes, robots and meshes that are part of the program, so that it runs anywhere.

/// Bundled scenes: name and text.
pub const SCENES: &[(&str, &str)] = &[
    (
        "arm-pushes-boxes",
        include_str!("../../scenes/arm-pushes-boxes.toml"),
    ),
    (
        "async-dough-rolling",
        include_str!("../../scenes/async-dough-rolling.toml"),
    ),
    (
        "async-panels",
        include_str!("../../scenes/async-panels.toml"),
    ),
    ("async-shake", include_str!("../../scenes/async-shake.toml")),
    (
        "ball-on-slope",
        include_str!("../../scenes/ball-on-slope.toml"),
    ),
    (
        "bowl-of-spheres",
        include_str!("../../scenes/bowl-of-spheres.toml"),
    ),
    ("box-bagging", include_str!("../../scenes/box-bagging.toml")),
    (
        "box-on-incline",
        include_str!("../../scenes/box-on-incline.toml"),
    ),
    ("box-stack", include_str!("../../scenes/box-stack.toml")),
    (
        "bubble-gripper-teddy",
        include_str!("../../scenes/bubble-gripper-teddy.toml"),
    ),
    ("cantilever", include_str!("../../scenes/cantilever.toml")),
    ("capstan", include_str!("../../scenes/capstan.toml")),
    ("cart-pole", include_str!("../../scenes/cart-pole.toml")),
    (
        "close-lift-shake",
        include_str!("../../scenes/close-lift-shake.toml"),
    ),
    ("cloth-drape", include_str!("../../scenes/cloth-drape.toml")),
    ("clutter", include_str!("../../scenes/clutter.toml")),
    (
        "compliant-grasp",
        include_str!("../../scenes/compliant-grasp.toml"),
    ),
    ("conveyor", include_str!("../../scenes/conveyor.toml")),
    (
        "cord-on-foam",
        include_str!("../../scenes/cord-on-foam.toml"),
    ),
    (
        "crowned-pulley",
        include_str!("../../scenes/crowned-pulley.toml"),
    ),
    (
        "crowned-pulley-fem",
        include_str!("../../scenes/crowned-pulley-fem.toml"),
    ),
    (
        "cube-tower-patches",
        include_str!("../../scenes/cube-tower-patches.toml"),
    ),
    (
        "cylinder-press",
        include_str!("../../scenes/cylinder-press.toml"),
    ),
    ("dam-break", include_str!("../../scenes/dam-break.toml")),
    (
        "double-pendulum",
        include_str!("../../scenes/double-pendulum.toml"),
    ),
    (
        "dough-and-sand-at-scale",
        include_str!("../../scenes/dough-and-sand-at-scale.toml"),
    ),
    (
        "dough-kneading",
        include_str!("../../scenes/dough-kneading.toml"),
    ),
    (
        "dough-rolling",
        include_str!("../../scenes/dough-rolling.toml"),
    ),
    (
        "dough-tearing",
        include_str!("../../scenes/dough-tearing.toml"),
    ),
    (
        "entangling-gripper",
        include_str!("../../scenes/entangling-gripper.toml"),
    ),
    ("foam-ring", include_str!("../../scenes/foam-ring.toml")),
    (
        "gripper-holds-box",
        include_str!("../../scenes/gripper-holds-box.toml"),
    ),
    (
        "hand-holds-ball",
        include_str!("../../scenes/hand-holds-ball.toml"),
    ),
    (
        "knot-at-speed",
        include_str!("../../scenes/knot-at-speed.toml"),
    ),
    (
        "knot-tightening",
        include_str!("../../scenes/knot-tightening.toml"),
    ),
    ("laundry", include_str!("../../scenes/laundry.toml")),
    (
        "liquid-pouring",
        include_str!("../../scenes/liquid-pouring.toml"),
    ),
    (
        "masonry-arch",
        include_str!("../../scenes/masonry-arch.toml"),
    ),
    ("panels", include_str!("../../scenes/panels.toml")),
    (
        "penalty-bowl",
        include_str!("../../scenes/penalty-bowl.toml"),
    ),
    (
        "penalty-cloth",
        include_str!("../../scenes/penalty-cloth.toml"),
    ),
    (
        "penalty-cube-on-sand",
        include_str!("../../scenes/penalty-cube-on-sand.toml"),
    ),
    (
        "penalty-goo-on-sphere",
        include_str!("../../scenes/penalty-goo-on-sphere.toml"),
    ),
    (
        "penalty-grasp",
        include_str!("../../scenes/penalty-grasp.toml"),
    ),
    (
        "penalty-incline",
        include_str!("../../scenes/penalty-incline.toml"),
    ),
    (
        "penalty-incline-points",
        include_str!("../../scenes/penalty-incline-points.toml"),
    ),
    (
        "penalty-incline-soft",
        include_str!("../../scenes/penalty-incline-soft.toml"),
    ),
    (
        "penalty-pyramid-deforming",
        include_str!("../../scenes/penalty-pyramid-deforming.toml"),
    ),
    (
        "penalty-pyramid-points",
        include_str!("../../scenes/penalty-pyramid-points.toml"),
    ),
    (
        "penalty-pyramid-soft",
        include_str!("../../scenes/penalty-pyramid-soft.toml"),
    ),
    (
        "penalty-rolling",
        include_str!("../../scenes/penalty-rolling.toml"),
    ),
    (
        "penalty-sand-on-sphere",
        include_str!("../../scenes/penalty-sand-on-sphere.toml"),
    ),
    (
        "penalty-sandbox",
        include_str!("../../scenes/penalty-sandbox.toml"),
    ),
    (
        "penalty-stack",
        include_str!("../../scenes/penalty-stack.toml"),
    ),
    (
        "penalty-tori",
        include_str!("../../scenes/penalty-tori.toml"),
    ),
    (
        "penalty-wedge",
        include_str!("../../scenes/penalty-wedge.toml"),
    ),
    (
        "penalty-wedge-points",
        include_str!("../../scenes/penalty-wedge-points.toml"),
    ),
    (
        "penalty-wedge-soft",
        include_str!("../../scenes/penalty-wedge-soft.toml"),
    ),
    ("ring-chain", include_str!("../../scenes/ring-chain.toml")),
    (
        "robotiq-grasp",
        include_str!("../../scenes/robotiq-grasp.toml"),
    ),
    (
        "rolling-sphere",
        include_str!("../../scenes/rolling-sphere.toml"),
    ),
    (
        "sand-column-collapse",
        include_str!("../../scenes/sand-column-collapse.toml"),
    ),
    ("sandbox", include_str!("../../scenes/sandbox.toml")),
    ("shoelace", include_str!("../../scenes/shoelace.toml")),
    (
        "shoelace-pull",
        include_str!("../../scenes/shoelace-pull.toml"),
    ),
    (
        "soft-landing",
        include_str!("../../scenes/soft-landing.toml"),
    ),
    ("t-shirt", include_str!("../../scenes/t-shirt.toml")),
    ("torus-chain", include_str!("../../scenes/torus-chain.toml")),
    (
        "torus-refinement",
        include_str!("../../scenes/torus-refinement.toml"),
    ),
];

/// Bundled robot files: path as scenes write it, and text.
pub const ROBOTS: &[(&str, &str)] = &[
    ("robots/arm7.urdf", include_str!("../../robots/arm7.urdf")),
    (
        "robots/cart_pole.xml",
        include_str!("../../robots/cart_pole.xml"),
    ),
    (
        "robots/crowned_pulleys.urdf",
        include_str!("../../robots/crowned_pulleys.urdf"),
    ),
    (
        "robots/tightened_pulleys.urdf",
        include_str!("../../robots/tightened_pulleys.urdf"),
    ),
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
        "robots/kneader.urdf",
        include_str!("../../robots/kneader.urdf"),
    ),
    ("robots/hoist.urdf", include_str!("../../robots/hoist.urdf")),
    ("robots/jaws.urdf", include_str!("../../robots/jaws.urdf")),
    (
        "robots/panels.urdf",
        include_str!("../../robots/panels.urdf"),
    ),
    ("robots/press.urdf", include_str!("../../robots/press.urdf")),
    (
        "robots/pusher.urdf",
        include_str!("../../robots/pusher.urdf"),
    ),
    (
        "robots/robotiq_2f85.xml",
        include_str!("../../robots/robotiq_2f85.xml"),
    ),
    (
        "robots/rolling_pin.urdf",
        include_str!("../../robots/rolling_pin.urdf"),
    ),
    ("robots/scoop.urdf", include_str!("../../robots/scoop.urdf")),
    (
        "robots/tying_arm.urdf",
        include_str!("../../robots/tying_arm.urdf"),
    ),
];

/// Bundled meshes: path as scenes write it, and text.
pub const MESHES: &[(&str, &str)] = &[
    ("meshes/bowl.obj", include_str!("../../meshes/bowl.obj")),
    ("meshes/bubble.obj", include_str!("../../meshes/bubble.obj")),
    ("meshes/pepper.obj", include_str!("../../meshes/pepper.obj")),
    ("meshes/torus.obj", include_str!("../../meshes/torus.obj")),
];

/// The text of a bundled scene; `None` for a name that is none of [`SCENES`].
///
/// ```
/// use pliant::scene::bundled;
///
/// assert!(bundled::scene("box-stack").is_some_and(|text| text.contains("schema = 1")));
/// assert_eq!(bundled::scene("box-stack.toml"), None);
/// ```
pub fn scene(name: &str) -> Option<&'static str> {
    SCENES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// The bundled files that scenes name.
pub fn files() -> impl Iterator<Item = &'static (&'static str, &'static str)> + Clone {
    ROBOTS.iter().chain(MESHES)
}

/// The text of a bundled robot or mesh file, by the path that scenes write.
///
/// ```
/// use pliant::scene::bundled;
///
/// assert!(bundled::file("robots/cart_pole.xml").is_some_and(|text| text.contains("<mujoco")));
/// assert_eq!(bundled::file("cart_pole.xml"), None);
/// ```
pub fn file(path: &str) -> Option<&'static str> {
    files()
        .find(|(known, _)| *known == path)
        .map(|(_, text)| *text)
}
