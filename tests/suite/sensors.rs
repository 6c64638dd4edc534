//! Sensors of links against closed forms: free fall, rest, circular motion, a pendulum, a carried load.

use crate::scene_features::{check, expect};
use pliant::scene::{Scene, SceneOptions};

const BALL: &str = "[[bodies]]\nname = \"ball\"\nmass = 2\nshape = { sphere = { radius = 0.1 } }\npose = { position = [0, 0, 1] }\n";

fn sensor(quantity: &str, of: &str, rest: &str) -> String {
    format!("quantity = \"{quantity}\"\nof = \"{of}\"\n{rest}")
}

#[test]
fn an_accelerometer_in_free_fall_reads_zero() {
    // Turning does not matter at the centre of mass.
    let spins = "angular_velocity = [3, -2, 1]\nvelocity = [1, 0, 2]\n";
    let reads = expect(
        "a",
        &sensor("accelerometer", "ball", ""),
        "take = \"max\"",
        "0",
        "1e-9",
    );
    check(&format!("{BALL}{spins}{reads}"));
}

#[test]
fn an_accelerometer_at_rest_reads_gravity_upward_in_its_own_axes() {
    // On a floor, rolled by a quarter turn about x: up is its y axis.
    let box_at_rest = "[[fixed]]\nname = \"floor\"\nshape = { half_space = {} }\n[[bodies]]\nname = \"box\"\nmass = 2\nshape = { box = { size = [0.2, 0.2, 0.2] } }\npose = { position = [0, 0, 0.1], rpy = [\"pi/2\", 0, 0] }\n";
    let along = |name: &str, component: &str, equals: &str| {
        let observable = sensor(
            "accelerometer",
            "box",
            &format!("component = \"{component}\""),
        );
        expect(
            name,
            &observable,
            "from_s = 0.8\ntake = \"mean\"",
            equals,
            "1e-3",
        )
    };
    let wall = expect(
        "w",
        &sensor("accelerometer", "floor", "component = \"z\""),
        "take = \"min\"",
        "9.81",
        "1e-9",
    );
    check(&format!(
        "{box_at_rest}{}{}{}{wall}",
        along("x", "x", "0"),
        along("y", "y", "9.81"),
        along("z", "z", "0")
    ));
}

const PENDULUM: &str = "[[models]]\nname = \"p\"\nfile = \"robots/double_pendulum.urdf\"\npose = { position = [0, 0, 2] }\nheld = [\"elbow\"]\n";

#[test]
fn a_turning_arm_has_centripetal_acceleration_and_its_rate() {
    // The shoulder turns at 2 rad/s: ω² r toward it at a point r from its axis, and g in the world.
    let turns = "[[joint_motions]]\nmodel = \"p\"\njoints = [\"shoulder\"]\ninterpolation = \"linear\"\nknots = [{ at_s = 0, positions = [0] }, { at_s = 1, positions = [2] }]\n";
    let rate = expect(
        "rate",
        &sensor("gyroscope", "p/upper", ""),
        "from_s = 0.5\ntake = \"mean\"",
        "2",
        "1e-9",
    );
    // With the axis of the shoulder as origin of the link; without gravity the norm is ω² r.
    let pull = expect(
        "pull",
        &sensor("accelerometer", "p/upper", "point = [0, 0, -0.3]"),
        "from_s = 0.5\ntake = \"mean\"",
        "\"4*0.3\"",
        "1e-5",
    );
    let sideways = expect(
        "side",
        &sensor(
            "accelerometer",
            "p/upper",
            "point = [0, 0, -0.3]\ncomponent = \"x\"",
        ),
        "from_s = 0.5\ntake = \"max\"",
        "0",
        "1e-6",
    );
    check(&format!(
        "gravity = [0, 0, 0]\n{PENDULUM}{turns}{rate}{pull}{sideways}"
    ));
}

#[test]
fn a_joint_at_rest_carries_the_weight_below_it() {
    // Both joints held: each carries the weight of what hangs from it, 1 kg for each rod, upward on the link.
    let held = PENDULUM.replace("[\"elbow\"]", "[\"elbow\", \"shoulder\"]");
    let reads = |name: &str, of: &str, mass: f64| {
        let observable = sensor("reaction-force", of, "component = \"z\"");
        expect(
            name,
            &observable,
            "take = \"min\"",
            &format!("{}", 9.81 * mass),
            "1e-6",
        )
    };
    let hangs = reads("shoulder", "p/shoulder", 2.0) + &reads("elbow", "p/lower", 1.0);
    check(&format!("{held}{hangs}"));
}

#[test]
fn a_load_on_the_tip_is_felt_with_its_moment() {
    // 5 N along y at the tip, a lever below the elbow along z: the elbow answers with -5 N and the moment of the lever.
    let held = PENDULUM.replace("[\"elbow\"]", "[\"elbow\", \"shoulder\"]");
    let load = "[[loads]]\non = \"p/tip\"\nknots = [{ at_s = 0, force = [0, 5, 0] }]\n";
    let force = expect(
        "force",
        &sensor("reaction-force", "p/elbow", "component = \"y\""),
        "take = \"min\"",
        "-5",
        "1e-9",
    );
    // About the tip itself the force has no moment.
    let about_tip = expect(
        "moment",
        &sensor("reaction-torque", "p/tip", "component = \"x\""),
        "take = \"max\"",
        "0",
        "1e-9",
    );
    let lever = expect(
        "lever",
        &sensor("reaction-torque", "p/elbow", ""),
        "from_s = 0.5\ntake = \"mean\"",
        "\"5*0.5\"",
        "1e-6",
    );
    check(&format!(
        "gravity = [0, 0, 0]\n{held}{load}{force}{about_tip}{lever}"
    ));
}

#[test]
fn the_force_in_a_pendulum_is_that_of_its_circle() {
    // Two rods of 1 kg and 0.5 m in line are one of m = 2 kg and 1 m, with I = m/3 about its end and the centre of mass at c = 0.5 m.
    // Released from rest at the angle a, it passes the lowest point with ω² I = 2 m g c (1 − cos a), and the joint holds m (g + ω² c).
    let (m, c) = (2.0, 0.5);
    let inertia = m / 3.0;
    let a: f64 = 0.5;
    let rate_squared = 2.0 * m * 9.81 * c * (1.0 - a.cos()) / inertia;
    let tension = m * (9.81 + rate_squared * c);
    let released = format!("{PENDULUM}positions = {{ shoulder = {a} }}\n");
    let most = expect(
        "tension",
        &sensor("reaction-force", "p/shoulder", ""),
        "take = \"max\"",
        &format!("{tension}"),
        &format!("{}", 3e-3 * tension),
    );
    check(&format!("{released}{most}"));
}

#[test]
fn sensors_say_where_they_cannot_be() {
    let refused = |fragment: &str| {
        let text =
            format!("schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 1\n{BALL}{fragment}");
        let scene = Scene::parse("t.toml", &text, &SceneOptions::default());
        let error = scene.map_err(|error| error.to_string()).and_then(|scene| {
            let ran = pliant::runner::check(&scene).map(|_| ());
            ran.map_err(|error| error.to_string())
        });
        error.expect_err(fragment)
    };
    let observable = |rest: &str| format!("[[observables]]\nname = \"o\"\n{rest}\n");
    let no_joint = refused(&observable(&sensor("reaction-force", "ball", "")));
    assert!(
        no_joint.contains("a joint connects to its parent"),
        "{no_joint}"
    );
    let nothing = refused(&observable("quantity = \"gyroscope\""));
    assert!(nothing.contains("needs `of`"), "{nothing}");
    let near = refused(&observable("quantity = \"accelerometr\"\nof = \"ball\""));
    assert!(near.contains("did you mean `accelerometer`?"), "{near}");
    let unknown = refused(&observable(&sensor("accelerometer", "bal", "")));
    assert!(unknown.contains("did you mean `ball`?"), "{unknown}");
}
