//! Shapes that touch a floor along a line: wheels that turn as they roll, bars that spin.

use std::fs;
use std::path::Path;

use crate::scene_features::{check, expect};

/// Floors that say the same in different shapes.
const FLOORS: [&str; 2] = [
    "shape = { half_space = {} }",
    "shape = { box = { size = [20, 20, 1] } }\npose = { position = [0, 0, -0.5] }",
];

/// A cart on two cylinder wheels 0.5 m apart and a ball without friction, as URDF.
fn cart() -> String {
    let inertia = |i: [f64; 3]| {
        let [x, y, z] = i;
        format!(r#"<inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/>"#)
    };
    let wheel = |name: &str, y: f64| {
        format!(
            r#"<link name="{name}"><inertial><mass value="1"/>{}</inertial>
<collision><origin rpy="{} 0 0"/><geometry><cylinder radius="0.1" length="0.05"/></geometry></collision></link>
<joint name="j{name}" type="continuous"><parent link="base"/><child link="{name}"/><origin xyz="0 {y} 0"/><axis xyz="0 1 0"/></joint>"#,
            inertia([0.0027, 0.005, 0.0027]),
            std::f64::consts::FRAC_PI_2
        )
    };
    format!(
        r#"<robot name="cart"><link name="base"><inertial><origin xyz="0.05 0 0"/><mass value="20"/>{}</inertial>
<collision><origin xyz="0.2 0 -0.05"/><geometry><sphere radius="0.05"/></geometry>
<drake:proximity_properties xmlns:drake="d"><drake:mu_dynamic value="0"/></drake:proximity_properties></collision></link>{}{}</robot>"#,
        inertia([0.3, 0.45, 0.7]),
        wheel("l", 0.25),
        wheel("r", -0.25)
    )
}

/// A point of each wheel sticks, and the line scrubs about it: with friction the yaw rate is r (ω_r − ω_l)/(b + w²/(4 b)) or more, with the radius r, the track b
/// and the width w of the wheels.
#[test]
fn a_cart_turns_at_the_rate_of_its_wheels() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cart.urdf");
    fs::write(&file, cart()).expect("a file");
    for floor in FLOORS {
        let yaw = expect(
            "yaw",
            "quantity = \"angular-velocity\"\nof = \"r/base\"\ncomponent = \"z\"",
            "at_s = 0.9",
            "0.3995",
            "1e-3",
        );
        check(&format!(
            "[[fixed]]\nname = \"floor\"\n{floor}\n[[models]]\nname = \"r\"\nfile = {file:?}\nroot = \"floating\"\npose = {{ position = [0, 0, 0.1] }}
[[joint_motions]]\nmodel = \"r\"\njoints = [\"jl\", \"jr\"]\ninterpolation = \"linear\"
knots = [{{ at_s = 0, positions = [0, 0] }}, {{ at_s = 10, positions = [40, 60] }}]\n{yaw}"
        ));
    }
}

/// Friction of a uniform line of length L opposes spin about the vertical with μ m g L/4.
#[test]
fn lying_bars_spin_down_as_a_uniform_line_does() {
    let eighth = std::f64::consts::FRAC_1_SQRT_2 * 0.1;
    for (i, floor) in FLOORS.into_iter().enumerate() {
        // Shape, height of its centre, rpy, length of the line, and moment of inertia about the vertical of 1 kg.
        for (shape, height, turn, length, inertia) in [
            (
                "cylinder = { radius = 0.05, length = 0.4 }",
                0.05,
                "[0, \"pi/2\", 0]",
                0.4,
                (3.0 * 0.0025 + 0.16) / 12.0,
            ),
            (
                "capsule = { radius = 0.05, length = 0.3 }",
                0.05,
                "[0, \"pi/2\", 0]",
                0.3,
                // The cylinder has 9 of 11 parts, at each end is half a ball.
                9.0 / 11.0 * (3.0 * 0.0025 + 0.09) / 12.0
                    + 2.0 / 11.0 * (0.4 * 0.0025 + 0.0225 + 0.375 * 0.3 * 0.05),
            ),
            (
                "box = { size = [0.4, 0.1, 0.1] }",
                eighth,
                "[\"pi/4\", 0, 0]",
                0.4,
                (0.16 + 0.01) / 12.0,
            ),
        ] {
            // A box on its edge has a point in the middle on half spaces only.
            if i == 1 && shape.starts_with("box") {
                continue;
            }
            let spin = expect(
                "spin",
                "quantity = \"angular-velocity\"\nof = \"bar\"\ncomponent = \"z\"",
                "at_s = 0.2",
                &format!("\"10 - 0.3*9.81*{length}/4/{inertia}*0.2\""),
                "0.02",
            );
            check(&format!(
                "[materials.default]\nfriction = 0.3\n[[fixed]]\nname = \"floor\"\n{floor}
[[bodies]]\nname = \"bar\"\nmass = 1\nshape = {{ {shape} }}
pose = {{ position = [0, 0, {height}], rpy = {turn} }}\nangular_velocity = [0, 0, 10]\n{spin}"
            ));
        }
    }
}
