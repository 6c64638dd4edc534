//! Height fields of MJCF files as ground.

use std::fs;
use std::path::Path;

use crate::scene_features::{check, expect};

fn model(file: &str, inside: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    fs::write(&path, format!("<mujoco>{inside}</mujoco>")).expect("a file");
    format!("[[models]]\nname = \"m\"\nfile = {path:?}\n")
}

const BALL: &str =
    "[[bodies]]\nname = \"ball\"\nmass = 1\nshape = { sphere = { radius = 0.05 } }\n";

#[test]
fn a_ball_rests_in_a_valley_and_a_box_slides_down_a_ramp() {
    // Heights 0.4, 0, 0.4 m along x at −1, 0, 1 m: a valley along y, with slopes of 0.4.
    let valley = model(
        "valley.xml",
        r#"<asset><hfield name="v" nrow="2" ncol="3" elevation="2 0 2 2 0 2" size="1 1 0.4 0.1"/></asset>
           <worldbody><geom type="hfield" hfield="v"/></worldbody>"#,
    );
    let ball = format!("{BALL}pose = {{ position = [0, 0, 0.06] }}\n");
    // It touches both slopes: r/cos(atan 0.4) above the bottom.
    let height = (0.05 * (1.0 + 0.16_f64).sqrt()).to_string();
    let z = expect(
        "z",
        "quantity = \"position\"\nof = \"ball\"\ncomponent = \"z\"",
        "at_s = 1",
        &height,
        "5e-4",
    );
    check(&format!("time_step_s = 0.002\n{valley}{ball}{z}"));

    let ramp = model(
        "ramp.xml",
        r#"<asset><hfield name="r" nrow="2" ncol="2" elevation="0 1 0 1" size="3 1 1.5 0.1"/></asset>
           <worldbody><geom type="hfield" hfield="r" friction="0"/></worldbody>"#,
    );
    // A slope of 1.5/6: a = g sin, along −x; half a metre up its middle.
    let slope = 0.25_f64.atan();
    let (sin, cos) = slope.sin_cos();
    let cube = format!(
        "[[bodies]]\nname = \"cube\"\nmass = 1\nshape = {{ box = {{ size = [0.2, 0.2, 0.1] }} }}\npose = {{ position = [{}, 0, {}], rpy = [0, {}, 0] }}\n[[pairs]]\nbetween = [\"cube\", \"m\"]\nfriction = 0\n",
        -0.05 * sin,
        0.75 + 0.05 * cos,
        -slope
    );
    let speed = expect(
        "v",
        "quantity = \"velocity\"\nof = \"cube\"\ncomponent = \"x\"",
        "at_s = 0.5",
        &format!("\"-0.5*9.81*{}\"", sin * cos),
        "2e-2",
    );
    check(&format!("time_step_s = 0.002\n{ramp}{cube}{speed}"));
}
