//! The files of the player, `src/replay/`.

/// The page, with slots to fill.
pub(super) const PAGE: &str = include_str!("../../replay/page.html");
pub(super) const STYLE: &str = include_str!("../../replay/style.css");

/// The player's modules, in the order in which they build on each other; together one script with one scope.
pub(super) const SCRIPTS: &[&str] = &[
    include_str!("../../replay/vectors.js"),
    include_str!("../../replay/unpack.js"),
    include_str!("../../replay/shapes.js"),
    include_str!("../../replay/bounds.js"),
    include_str!("../../replay/camera.js"),
    include_str!("../../replay/graphics.js"),
    include_str!("../../replay/items.js"),
    include_str!("../../replay/continuum.js"),
    include_str!("../../replay/picture.js"),
    include_str!("../../replay/plots.js"),
    include_str!("../../replay/legends.js"),
    include_str!("../../replay/player.js"),
    include_str!("../../replay/figures.js"),
    include_str!("../../replay/selftest.js"),
];

/// The shaders, by the names that the player uses.
pub(super) const SHADERS: &[(&str, &str)] = &[
    ("light", include_str!("../../replay/shaders/light.glsl")),
    (
        "surface.vert",
        include_str!("../../replay/shaders/surface.vert.glsl"),
    ),
    (
        "surface.frag",
        include_str!("../../replay/shaders/surface.frag.glsl"),
    ),
    (
        "ground.vert",
        include_str!("../../replay/shaders/ground.vert.glsl"),
    ),
    (
        "ground.frag",
        include_str!("../../replay/shaders/ground.frag.glsl"),
    ),
    (
        "arrow.vert",
        include_str!("../../replay/shaders/arrow.vert.glsl"),
    ),
    (
        "patch.frag",
        include_str!("../../replay/shaders/patch.frag.glsl"),
    ),
    (
        "ball.vert",
        include_str!("../../replay/shaders/ball.vert.glsl"),
    ),
    (
        "ball.frag",
        include_str!("../../replay/shaders/ball.frag.glsl"),
    ),
    (
        "thread.vert",
        include_str!("../../replay/shaders/thread.vert.glsl"),
    ),
    (
        "smooth.frag",
        include_str!("../../replay/shaders/smooth.frag.glsl"),
    ),
    (
        "continuum.frag",
        include_str!("../../replay/shaders/continuum.frag.glsl"),
    ),
    (
        "depth.frag",
        include_str!("../../replay/shaders/depth.frag.glsl"),
    ),
    (
        "sky.vert",
        include_str!("../../replay/shaders/sky.vert.glsl"),
    ),
    (
        "sky.frag",
        include_str!("../../replay/shaders/sky.frag.glsl"),
    ),
];
