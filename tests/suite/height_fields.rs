//! Height fields as shapes: rest, slopes and seams against closed forms, files, and faulty grids.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use pliant::runner::check as check_assembly;
use pliant::scene::{Scene, SceneOptions};

use super::scene_faults::{HEAD, check_refused};
use super::scene_features::{check, expect};

const FRICTIONLESS: &str = "[materials.default]\nfriction = 0\n";

/// Ground of 4 m × 2 m with the given heights, m, at each corner of `cells`.
fn ground(cells: [usize; 2], height: impl Fn(f64, f64) -> f64) -> String {
    let mut rows = String::new();
    for j in 0..=cells[1] {
        let y = 2.0 * (j as f64 / cells[1] as f64 - 0.5);
        let x = |i: usize| 4.0 * (i as f64 / cells[0] as f64 - 0.5);
        let row: Vec<f64> = (0..=cells[0]).map(|i| height(x(i), y)).collect();
        write!(rows, "{row:?},").expect("a string");
    }
    format!(
        "[[fixed]]\nname = \"ground\"\nshape = {{ height_field = {{ size = [4, 2], heights = [{rows}] }} }}\n"
    )
}

fn body(shape: &str, position: [f64; 3], more: &str) -> String {
    format!(
        "[[bodies]]\nname = \"body\"\nmass = 1\nshape = {{ {shape} }}\npose = {{ position = {position:?} }}\n{more}\n"
    )
}

fn component(quantity: &str, component: &str, when: &str, equals: f64, within: f64) -> String {
    let observable =
        format!("quantity = \"{quantity}\"\nof = \"body\"\ncomponent = \"{component}\"");
    let name = format!("{quantity} {component}");
    expect(
        &name,
        &observable,
        when,
        &equals.to_string(),
        &within.to_string(),
    )
}

const BALL: &str = "sphere = { radius = 0.1 }";

#[test]
fn a_ball_rests_in_a_valley_where_it_touches_both_sides() {
    // A ball of radius R between planes of slope s has its centre R √(1 + s²) above their common line; it sinks by m g (1 + s²)/2k, with
    // k = 5e5 N/m, up to 20 µm.
    for slope in [0.25_f64, 1.0] {
        let height = 0.1 * (1.0 + slope * slope).sqrt();
        let valley = ground([2, 2], |x, _| slope * x.abs());
        let ball = body(BALL, [0.0, 0.3, height + 0.01], "");
        let rest = component("position", "z", "at_s = 1", height, 5e-5);
        let still = component("velocity", "z", "at_s = 1", 0.0, 1e-3);
        check(&format!("{FRICTIONLESS}{valley}{ball}{rest}{still}"));
    }
}

#[test]
fn a_box_rests_on_the_peaks() {
    // Peaks of 20 mm at every other corner of cells of 0.1 m.
    let rough = ground([40, 20], |x, y| {
        let number = (10.0 * x).round() + (10.0 * y).round();
        if number.rem_euclid(2.0) == 0.0 {
            0.02
        } else {
            0.0
        }
    });
    let brick = body("box = { size = [0.5, 0.5, 0.1] }", [0.02, 0.03, 0.08], "");
    let rest = component("position", "z", "at_s = 1", 0.07, 2e-5);
    let level = component("orientation", "tilt", "at_s = 1", 0.0, 1e-4);
    let observable =
        "quantity = \"contact-force\"\nof = \"body\"\nwith = \"ground\"\ncomponent = \"z\"";
    let load = expect("load", observable, "at_s = 1", "9.81", "0.01");
    check(&format!("{rough}{brick}{rest}{level}{load}"));
}

#[test]
fn shapes_without_friction_keep_their_speed_over_the_cells() {
    let level = ground([40, 20], |_, _| 0.0);
    for (shape, height) in [
        ("box = { size = [0.16, 0.16, 0.08] }", 0.04),
        (BALL, 0.1),
        ("cylinder = { radius = 0.08, length = 0.08 }", 0.04),
    ] {
        for time_step_s in [1e-3, 1e-2] {
            let start = "velocity = [1, 0.3, 0]";
            let slider = body(shape, [-1.013, -0.407, height], start);
            let along = component("velocity", "x", "at_s = 1", 1.0, 1e-3);
            let across = component("velocity", "y", "at_s = 1", 0.3, 1e-3);
            let settings = format!("time_step_s = {time_step_s}\n");
            check(&format!(
                "{settings}{FRICTIONLESS}{level}{slider}{along}{across}"
            ));
        }
    }
}

#[test]
fn a_ball_slides_or_rolls_down_the_cells_of_a_slope() {
    // The plane z = x/10 + y/20 accelerates by g sin θ cos θ along its fall line seen from above, times 5/7 if the ball rolls.
    let (along, across) = (0.1_f64, 0.05_f64);
    let square = 1.0 + along * along + across * across;
    let slope = ground([40, 20], |x, y| along * x + across * y);
    let start = [1.1, 0.4, 1.1 * along + 0.4 * across + 0.1 * square.sqrt()];
    for (settings, share) in [(FRICTIONLESS, 1.0), ("", 5.0 / 7.0)] {
        let speed = |slope: f64| -share * 9.81 * slope / square;
        let x = component("velocity", "x", "at_s = 1", speed(along), 2e-3);
        let y = component("velocity", "y", "at_s = 1", speed(across), 2e-3);
        check(&format!("{settings}{slope}{}{x}{y}", body(BALL, start, "")));
    }
}

#[test]
fn scale_and_thickness_and_files_of_heights() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("height_fields");
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let read = |name: &str, heights: &str| {
        fs::write(folder.join(format!("{name}.csv")), heights).expect("can be written");
        let shape = format!(
            "height_field = {{ size = [2, 3], file = \"{name}.csv\", scale = 0.5, thickness = 0.25 }}"
        );
        let text = format!(
            "{HEAD}{}",
            body(&shape, [0.0; 3], "").replace("mass = 1", "density = 10")
        );
        let file = folder.join(format!("{name}.toml"));
        fs::write(&file, text).expect("can be written");
        let scene = Scene::load(file.to_str().expect("UTF-8"), &SceneOptions::default());
        let assembly = check_assembly(&scene.map_err(|error| error.to_string())?);
        assembly
            .map(|assembly| assembly.notes)
            .map_err(|error| error.to_string())
    };
    let notes = read("ramp", "# metres\n0, 1, 2\n0 1 2\n").expect("a ramp");
    // From 0 to 1 m over 2 m, 3 m wide, on 0.25 m: 4.5 m³.
    assert!(notes.is_empty(), "{notes:?}");
    for (name, heights, expected) in [
        (
            "word",
            "0 1\n0 high\n",
            "word.csv: line 2: entry 2 is not a finite number",
        ),
        (
            "nan",
            "0 1\nnan 1\n",
            "nan.csv: line 2: entry 1 is not a finite number",
        ),
        (
            "ragged",
            "0 1\n0 1 2\n",
            "line 2: a row of 3 numbers must be 2 like the first row",
        ),
        ("single", "0 1\n", "rows of heights = 1"),
        ("empty", "", "rows of heights = 0"),
    ] {
        let error = read(name, heights).expect_err(name);
        assert!(
            error.contains(expected) && error.contains("toml:"),
            "{error}"
        );
    }
}

#[test]
fn heights_that_are_no_grid_are_refused() {
    let rows = "heights = [[0, 1], [0, 1]]";
    for (keys, expected) in [
        (
            "size = [1, 1], heights = [[0, 1], [0]]".to_owned(),
            &["heights[1] = 1 numbers must be 2 like the first row"][..],
        ),
        (
            "size = [1, 1], heights = [[0, 1]]".to_owned(),
            &[
                "heights = 1 rows of 2 numbers",
                "at least 2 rows of at least 2",
            ],
        ),
        (
            "size = [1, 1], heights = []".to_owned(),
            &["heights = 0 rows of 0 numbers"],
        ),
        (
            "size = [1, 1], heights = [[0], [0]]".to_owned(),
            &["heights = 2 rows of 1 numbers"],
        ),
        (
            "size = [1, 1], heights = [[0, nan], [0, 1]]".to_owned(),
            &["heights[0][1] = NaN must be a number"],
        ),
        (
            "size = [1, 1], heights = [[0, inf], [0, 1]]".to_owned(),
            &["heights[0][1] = inf must be finite"],
        ),
        (
            format!("size = [1, 0], {rows}"),
            &["size = 0 must be positive"],
        ),
        (format!("size = [1], {rows}"), &["a list of 2 numbers"]),
        (
            "size = [1, 1]".to_owned(),
            &["give either `heights` or `file`"],
        ),
        (
            format!("size = [1, 1], file = \"a.csv\", {rows}"),
            &["give either `heights` or `file`"],
        ),
        (
            "size = [1, 1], file = \"nowhere.csv\"".to_owned(),
            &["nowhere.csv"],
        ),
        (
            format!("size = [1, 1], {rows}, scale = 0"),
            &["scale = 0 must be positive"],
        ),
        (
            format!("size = [1, 1], {rows}, scale = -1"),
            &["scale = -1 must be positive"],
        ),
        (
            format!("size = [1, 1], {rows}, thickness = 0"),
            &["thickness = 0 must be positive"],
        ),
    ] {
        let text = format!("[[fixed]]\nname = \"g\"\nshape = {{ height_field = {{ {keys} }} }}\n");
        check_refused(&text, &[&["s.toml:7"], expected].concat());
    }
}
