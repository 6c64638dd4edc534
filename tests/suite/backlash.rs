//! Backlash of robots in scene files: of coupled joints and of actuators.

use std::fs;
use std::path::PathBuf;

use super::scene_faults::{ARM, check_refused};
use super::scene_features::{check, expect};

/// A wheel that mimics a pinion at −1/2, with dry friction: as an entry of `[[models]]`.
fn gears(name: &str, keys: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("backlash");
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let link = |name: &str| {
        format!(
            "<link name=\"{name}\"><inertial><mass value=\"0.1\"/><inertia ixx=\"1e-4\" iyy=\"1e-4\" izz=\"1e-4\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>"
        )
    };
    let joint = |name: &str, inside: &str| {
        format!(
            "<joint name=\"{name}\" type=\"continuous\"><parent link=\"box\"/><child link=\"{name}\"/><axis xyz=\"0 0 1\"/>{inside}</joint>"
        )
    };
    let parts = [
        "<robot name=\"gears\"><link name=\"box\"/>".to_owned(),
        link("pinion"),
        link("wheel"),
        joint("pinion", ""),
        joint(
            "wheel",
            "<mimic joint=\"pinion\" multiplier=\"-0.5\"/><dynamics friction=\"0.5\"/>",
        ),
        "</robot>".to_owned(),
    ];
    let file = folder.join(format!("{name}.urdf"));
    fs::write(&file, parts.concat()).expect("can be written");
    format!(
        "[[models]]\nname = \"gears\"\nfile = {:?}\n{keys}\n",
        file.display().to_string()
    )
}

#[test]
fn a_wheel_lags_its_pinion_by_half_of_the_play() {
    // The pinion turns by 0.4 rad and back to 0.1 rad: the wheel is 0.01 rad short of −1/2 of it, either way.
    let motion = "[[joint_motions]]\nmodel = \"gears\"\njoints = [\"pinion\"]\ninterpolation = \"linear\"\nknots = [{ at_s = 0, positions = [0] }, { at_s = 0.5, positions = [0.4] }, { at_s = 0.9, positions = [0.1] }]\n";
    let wheel = |name: &str, at_s: &str, equals: &str| {
        let observable = "quantity = \"joint-position\"\nof = \"gears/wheel\"";
        expect(name, observable, &format!("at_s = {at_s}"), equals, "1e-5")
    };
    let there = wheel("there", "0.5", "-0.19");
    let back = wheel("back", "1", "-0.06");
    let robot = gears("lag", "backlash = { wheel = 0.02 }");
    check(&format!("{robot}{motion}{there}{back}"));
}

#[test]
fn a_wheel_starts_anywhere_within_its_play() {
    let stays = expect(
        "wheel",
        "quantity = \"joint-position\"\nof = \"gears/wheel\"",
        "at_s = 1",
        "0.008",
        "1e-12",
    );
    let keys = |wheel: &str| {
        format!("backlash = {{ wheel = 0.02 }}\npositions = {{ pinion = 0, wheel = {wheel} }}")
    };
    check(&format!("{}{stays}", gears("start", &keys("0.008"))));
    let refused = gears("far", &keys("0.03"));
    check_refused(&refused, &["positions.wheel = 0.03 must be 0.01"]);
}

#[test]
fn a_loaded_joint_rests_on_one_side_of_the_play_of_its_motor() {
    // The weight pulls the pendulum back from its target at 1 rad: error = half of the play + effort/Kp.
    let pendulum = "[[models]]\nname = \"p\"\nfile = \"robots/double_pendulum.urdf\"\npositions = { shoulder = 1.0 }\nheld = [\"elbow\"]\nactuators = { shoulder = { proportional = 2000, derivative = 100 } }\nbacklash = { shoulder = 0.05 }\n";
    let observable = |name: &str, quantity: &str| {
        format!(
            "[[observables]]\nname = \"{name}\"\nquantity = \"{quantity}\"\nof = \"p/shoulder\"\n"
        )
    };
    let (error, effort) = (
        observable("error", "joint-error"),
        observable("effort", "joint-effort"),
    );
    let play = expect(
        "play",
        "quantity = \"expression\"\nexpression = \"error - effort/2000\"",
        "at_s = 1",
        "0.025",
        "1e-5",
    );
    check(&format!("{pendulum}{error}{effort}{play}"));
}

#[test]
fn backlash_that_cannot_be_is_refused() {
    for (keys, expected) in [
        (
            "backlash = { joint_2 = 0.01 }",
            &[
                "s.toml:8:",
                "joint_2",
                "mimics no other and has no actuator",
            ][..],
        ),
        (
            "backlash = { joint_9 = 0.01 }",
            &["s.toml:8:", "joint \"joint_9\""],
        ),
        (
            "backlash = { joint_2 = -0.01 }\nactuators = { \"*\" = { proportional = 1, derivative = 1 } }",
            &["s.toml:8:", "backlash.joint_2 = -0.01 must not be negative"],
        ),
        (
            "backlash = { joint_2 = nan }",
            &["s.toml:8:", "must be a number"],
        ),
        (
            "backlash = { joint_2 = 0.01 }\nactuators = { joint_2 = { proportional = 0, derivative = 1 } }",
            &["s.toml:8:", "needs a proportional gain"],
        ),
    ] {
        check_refused(&format!("{ARM}{keys}\n"), expected);
    }
}
