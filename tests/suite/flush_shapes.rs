//! Shapes that lie flush are no walls to what slides over them, and steps and walls beside a floor are.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use pliant::runner::{RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

const SPEED: f64 = 1.0;

/// A scene without friction, with the given shapes and observables of the body `slider`.
fn scene(time_step_s: f64, until_s: f64, shapes: &str) -> String {
    let mut text = format!(
        "schema = 1
title = \"test\"
[simulation]
time_step_s = {time_step_s}
smoke_s = {until_s}
[materials.default]
friction = 0
{shapes}"
    );
    for (quantity, component) in [
        ("velocity", "x"),
        ("velocity", "y"),
        ("position", "x"),
        ("position", "z"),
    ] {
        write!(
            text,
            "[[observables]]
name = \"{quantity} {component}\"
quantity = \"{quantity}\"
of = \"slider\"
component = \"{component}\"
"
        )
        .expect("a string");
    }
    text
}

/// The values of an observable over time.
fn series(text: &str, name: &str) -> Vec<f64> {
    let scene = Scene::parse("test.toml", text, &SceneOptions::default()).expect("a sound scene");
    let outcome = run(&scene, &RunOptions::default(), &mut |_| {}).expect("a run");
    let recording = &outcome.recording;
    let column = recording.observables().iter().position(|o| o.name == name);
    recording
        .column(column.expect("a known name"))
        .expect("numbers")
}

fn last(text: &str, name: &str) -> f64 {
    *series(text, name).last().expect("a row")
}

fn fixed(name: &str, shape: &str, position: [f64; 3]) -> String {
    format!(
        "[[fixed]]\nname = \"{name}\"\nshape = {{ {shape} }}\npose = {{ position = {position:?} }}\n"
    )
}

fn tiles(shape: &str) -> String {
    let mut text = String::new();
    for (i, j) in (-2..12).flat_map(|i| (-2..=2).map(move |j| (i, j))) {
        let position = [0.1 * f64::from(i), 0.1 * f64::from(j), -0.05];
        text += &fixed(&format!("tile_{i}_{j}"), shape, position);
    }
    text
}

const CUBE: &str = "box = { size = [0.1, 0.1, 0.1] }";
const CUBE_AS_HULL: &str = "convex_hull = { points = [[-0.05, -0.05, -0.05], [0.05, -0.05, -0.05], [-0.05, 0.05, -0.05], \
    [0.05, 0.05, -0.05], [-0.05, -0.05, 0.05], [0.05, -0.05, 0.05], [-0.05, 0.05, 0.05], [0.05, 0.05, 0.05]] }";
const SLIDER: &str = "box = { size = [0.16, 0.16, 0.08] }";
const WEDGE: &str = "convex_hull = { points = [[-0.08, -0.06, -0.04], [0.08, -0.06, -0.04], [0.08, 0.06, -0.04], \
    [-0.08, 0.06, -0.04], [0, 0, 0.04]] }";

/// A body of 1 kg that slides along x at [`SPEED`], `aside` (m/s) along y.
fn slider(shape: &str, rpy: [f64; 3], aside: f64) -> String {
    format!(
        "[[bodies]]
name = \"slider\"
mass = 1
shape = {{ {shape} }}
pose = {{ position = [0.013, 0.007, 0.04], rpy = {rpy:?} }}
velocity = [{SPEED}, {aside}, 0]
"
    )
}

/// No horizontal force acts: the speed stays.
#[track_caller]
fn check_speed(time_step_s: f64, shapes: &str, (vx, vy): (f64, f64)) {
    let text = scene(time_step_s, 1.0, shapes);
    let found = [last(&text, "velocity x"), last(&text, "velocity y")];
    assert!((found[0] - vx).abs() <= 1e-3 * SPEED, "{found:?}");
    assert!((found[1] - vy).abs() <= 1e-3 * SPEED, "{found:?}");
}

#[test]
fn every_shape_keeps_its_speed_over_tiles() {
    let lying = [0.0, std::f64::consts::FRAC_PI_2, 0.3];
    for (shape, rpy) in [
        (SLIDER, [0.0, 0.0, 0.3]),
        ("sphere = { radius = 0.04 }", [0.0; 3]),
        ("capsule = { radius = 0.04, length = 0.1 }", lying),
        ("cylinder = { radius = 0.04, length = 0.12 }", lying),
        ("cylinder = { radius = 0.08, length = 0.08 }", [0.0; 3]),
        (WEDGE, [0.0, 0.0, 0.1]),
    ] {
        check_speed(
            1e-3,
            &(tiles(CUBE) + &slider(shape, rpy, 0.1)),
            (SPEED, 0.1),
        );
    }
}

#[test]
fn long_steps_other_models_and_hulls_make_no_difference() {
    let box_over = |shape: &str| tiles(shape) + &slider(SLIDER, [0.0, 0.0, 0.3], 0.1);
    for time_step_s in [0.5e-3, 1e-2] {
        check_speed(time_step_s, &box_over(CUBE_AS_HULL), (SPEED, 0.1));
    }
    for model in ["similar", "sap"] {
        let model = format!("[contact]\nmodel = \"{model}\"\n");
        check_speed(1e-3, &(model + &box_over(CUBE)), (SPEED, 0.1));
    }
}

/// A box with full edge lengths `size` as a mesh, in a file of the given name.
fn box_mesh(file: &str, size: [f64; 3]) -> String {
    let mut text = String::new();
    for corner in 0..8 {
        let [x, y, z] = [4, 2, 1].map(|bit| if corner & bit > 0 { 0.5 } else { -0.5 });
        let [x, y, z] = [x * size[0], y * size[1], z * size[2]];
        writeln!(text, "v {x} {y} {z}").expect("a string");
    }
    for [a, b, c, d] in [
        [1, 2, 4, 3],
        [5, 7, 8, 6],
        [1, 5, 6, 2],
        [3, 4, 8, 7],
        [1, 3, 7, 5],
        [2, 6, 8, 4],
    ] {
        writeln!(text, "f {a} {b} {c}\nf {a} {c} {d}").expect("a string");
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    fs::write(&path, text).expect("a file");
    format!("mesh = {{ file = {path:?} }}")
}

/// The rear of a box that has passed a seam is less deep inside the next tile sideways than its corners may be behind a second face.
#[test]
fn meshes_keep_their_speed_over_tiles_and_boxes_over_tiles_of_meshes() {
    let tile = box_mesh("flush-tile.obj", [0.1; 3]);
    let slider_mesh = box_mesh("flush-slider.obj", [0.16, 0.16, 0.08]);
    for (tile, shape) in [
        (CUBE, slider_mesh.as_str()),
        (&tile, SLIDER),
        (&tile, &slider_mesh),
    ] {
        for yaw in [0.0, 0.3] {
            let body = slider(shape, [0.0, 0.0, yaw], 0.1);
            check_speed(1e-3, &(tiles(tile) + &body), (SPEED, 0.1));
        }
    }
}

#[test]
fn round_shapes_keep_their_speed_over_tiles_of_meshes() {
    let tile = box_mesh("flush-tile-round.obj", [0.1; 3]);
    let lying = [0.0, std::f64::consts::FRAC_PI_2, 0.3];
    for (shape, rpy) in [
        ("sphere = { radius = 0.04 }", [0.0; 3]),
        ("capsule = { radius = 0.04, length = 0.1 }", lying),
    ] {
        let body = slider(shape, rpy, 0.1);
        check_speed(1e-3, &(tiles(&tile) + &body), (SPEED, 0.1));
    }
}

#[test]
fn points_and_cloth_keep_their_speed_over_tiles_in_substeps() {
    let dough = "[[material_points]]
name = \"slider\"
shape = { box = { size = [0.12, 0.08, 0.06] } }
constitutive_material = { law = \"linear-corotated\", youngs_modulus = 1e5, poissons_ratio = 0.3 }
pose = { position = [0.063, 0.007, 0.03] }
velocity = [1, 0.1, 0]
";
    let towel = "[[cloth]]
name = \"slider\"
mesh = { sheet = { size = [0.12, 0.12], cells = [12, 12] } }
thickness = 1e-3
youngs_modulus = 1e5
pose = { position = [0.063, 0.007, 0.002] }
velocity = [1, 0.1, 0]
";
    for soft in [dough, towel] {
        let text = scene(2e-3, 0.4, &(tiles(CUBE) + soft));
        let text = text.replace(
            "[simulation]",
            "[grid]\nspacing = 0.02\n[simulation]\nstepper = \"asynchronous\"",
        );
        let found = [last(&text, "velocity x"), last(&text, "velocity y")];
        assert!((found[0] - SPEED).abs() <= 1e-3 * SPEED, "{found:?}");
        assert!((found[1] - 0.1).abs() <= 1e-3 * SPEED, "{found:?}");
    }
}

#[test]
fn a_patch_keeps_its_speed_over_tiles() {
    let shapes = tiles(CUBE).replace("pose =", "material = { hydroelastic = \"rigid\" }\npose =");
    let soft = "material = { hydroelastic = \"compliant\", hydroelastic_modulus = 1e7 }\n";
    check_speed(
        1e-3,
        &(shapes + &slider(SLIDER, [0.0, 0.0, 0.3], 0.1) + soft),
        (SPEED, 0.1),
    );
}

#[test]
fn a_soft_cube_keeps_its_speed_over_tiles() {
    let cube = "[[fem]]
name = \"slider\"
mesh = { box = { size = [0.1, 0.1, 0.1], cells = [2, 2, 2] } }
constitutive_material = { youngs_modulus = 1e6, poissons_ratio = 0.3 }
pose = { position = [0.063, 0.007, 0.05] }
velocity = [1, 0.1, 0]
";
    for time_step_s in [2e-3, 1e-2] {
        check_speed(time_step_s, &(tiles(CUBE) + cube), (SPEED, 0.1));
    }
}

/// With friction a pusher at constant speed feels μmg. While the corners of the box pass a seam, its support shifts between the tables.
#[test]
fn a_pusher_feels_no_seam_but_friction() {
    for speed in [0.1, 1.0] {
        let until_s = 0.6 / speed;
        let text = format!(
            "schema = 1
title = \"test\"
[simulation]
time_step_s = 0.001
smoke_s = {until_s}
[materials.default]
friction = 0.3
{}{}[[bodies]]
name = \"box\"
shape = {{ box = {{ size = [0.1, 0.1, 0.1] }} }}
mass = 1
pose = {{ position = [0.25, 0, 0.05] }}
[[bodies]]
name = \"pusher\"
shape = {{ box = {{ size = [0.02, 0.1, 0.06] }} }}
mass = 1
pose = {{ position = [0.18, 0, 0.05] }}
[[body_motions]]
body = \"pusher\"
interpolation = \"linear\"
knots = [{{ at_s = 0, pose = {{ position = [0.18, 0, 0.05] }} }}, {{ at_s = {until_s}, pose = {{ position = [0.78, 0, 0.05] }} }}]
[[observables]]
name = \"push\"
quantity = \"contact-force\"
of = \"box\"
with = \"pusher\"
component = \"x\"
[recording]
rows_per_s = 1000
",
            fixed("table_a", "box = { size = [1, 0.6, 0.05] }", [0.0, 0.0, -0.025]),
            fixed("table_b", "box = { size = [1, 0.6, 0.05] }", [1.0, 0.0, -0.025]),
        );
        // From 0.2 m on the pusher has met the box; the seam is at 0.5 m.
        let push = series(&text, "push");
        let pushing = &push[push.len() / 3..];
        let mean = pushing.iter().sum::<f64>() / pushing.len() as f64;
        assert!(
            (mean / (0.3 * 9.81) - 1.0).abs() < 0.01,
            "{speed} m/s: {mean} N"
        );
        let most = pushing.iter().fold(0.0_f64, |most, f| most.max(*f));
        assert!(most < 1.2 * 0.3 * 9.81, "{speed} m/s: {most} N");
    }
}

#[test]
fn walls_and_steps_stop_what_slides_against_them() {
    let floor = fixed("floor", "box = { size = [1, 1, 0.1] }", [0.0, 0.0, -0.05]);
    let wall = fixed("wall", "box = { size = [0.1, 1, 0.5] }", [0.45, 0.0, 0.25]);
    let deep_wall = fixed("wall", "box = { size = [0.1, 1, 0.5] }", [0.45, 0.0, 0.15]);
    let step = fixed("step", "box = { size = [1, 1, 0.1] }", [0.9, 0.0, -0.049]);
    for time_step_s in [1e-3, 1e-2] {
        for obstacle in [&wall, &deep_wall, &step] {
            for shape in [SLIDER, WEDGE] {
                let shapes = format!("{floor}{obstacle}{}", slider(shape, [0.0; 3], 0.0));
                let text = scene(time_step_s, 1.0, &shapes);
                let (far, low) = (series(&text, "position x"), series(&text, "position z"));
                // The obstacle begins at 0.4 m, and the slider is 0.16 m long.
                let most = far.iter().fold(0.0_f64, |most, x| most.max(*x));
                assert!(
                    (0.25..0.325).contains(&most),
                    "{time_step_s} s: {most} m\n{obstacle}"
                );
                let lowest = low.iter().fold(1.0_f64, |least, z| least.min(*z));
                assert!(lowest > 0.0398, "{time_step_s} s: {lowest} m\n{obstacle}");
            }
        }
    }
}

/// A body dropped on a seam is carried by both tables.
#[test]
fn a_body_dropped_on_a_seam_is_supported() {
    let tables =
        fixed("left", CUBE, [-0.037, 0.007, -0.05]) + &fixed("right", CUBE, [0.063, 0.007, -0.05]);
    for shape in [SLIDER, "sphere = { radius = 0.04 }", WEDGE] {
        let body = slider(shape, [0.0; 3], 0.0);
        let dropped = body
            .replace(", 0.04]", ", 0.2]")
            .replace("velocity = [1,", "velocity = [0,");
        let text = scene(1e-3, 0.6, &(tables.clone() + &dropped));
        let (z, x) = (last(&text, "position z"), last(&text, "position x"));
        assert!(
            (z - 0.04).abs() < 1e-4 && (x - 0.013).abs() < 1e-4,
            "{shape}: {x} {z}"
        );
    }
}
