//! Impacts, torsional and rolling friction, forces in body axes and carried weight in scene files, against closed forms.

use super::scene_faults::{ARM, check_refused};
use super::scene_features::{check, expect};

const FLOOR: &str = "[[fixed]]\nname = \"floor\"\nshape = { half_space = {} }\n";

/// A ball of 2 kg and 0.1 m.
fn ball(height: f64, more: &str) -> String {
    format!(
        "[[bodies]]\nname = \"ball\"\nmass = 2\nshape = {{ sphere = {{ radius = 0.1 }} }}\npose = {{ position = [0, 0, {height}] }}\n{more}\n"
    )
}

#[test]
fn a_ball_bounces_to_e_squared_of_its_height_in_long_and_short_steps() {
    for dt in ["1e-3", "0.01"] {
        let step = format!("time_step_s = {dt}\n");
        let material =
            "[materials.default]\nrestitution = 0.5\n[materials.rubber]\nrestitution = 0.8\n";
        let height = expect(
            "z",
            "quantity = \"position\"\nof = \"ball\"\ncomponent = \"z\"",
            "take = \"max\"\nfrom_s = 0.5",
            "0.676", // 0.1 + 0.64 · 0.9
            "0.006",
        );
        let body = ball(1.0, "material = \"rubber\"");
        check(&format!("{step}{material}{FLOOR}{body}{height}"));
    }
}

#[test]
fn the_restitution_of_a_pair_replaces_its_materials() {
    let material = "[materials.default]\nrestitution = 0.9\n";
    let pair = "[[pairs]]\nbetween = [\"ball\", \"floor\"]\nrestitution = 0.5\n";
    let height = expect(
        "z",
        "quantity = \"position\"\nof = \"ball\"\ncomponent = \"z\"",
        "take = \"max\"\nfrom_s = 0.5",
        "0.325", // 0.1 + 0.25 · 0.9
        "0.003",
    );
    let body = ball(1.0, "");
    check(&format!("{material}{FLOOR}{body}{pair}{height}"));
}

#[test]
fn rolling_friction_slows_a_rolling_ball() {
    // (7/5) m R a = l m g; a ball at 1 m/s loses 0.7007 m/s in a second.
    let material = "[materials.default]\nrolling_friction = 0.01\n";
    let start = "velocity = [1, 0, 0]\nangular_velocity = [0, 10, 0]";
    let speed = expect(
        "v",
        "quantity = \"velocity\"\nof = \"ball\"\ncomponent = \"x\"",
        "at_s = 1",
        "\"1 - 0.01*9.81/(1.4*0.1)\"",
        "0.007",
    );
    let body = ball(0.1, start);
    check(&format!("{material}{FLOOR}{body}{speed}"));
}

#[test]
fn torsional_friction_slows_a_spinning_ball() {
    // (2/5) m R² dω/dt = −l m g.
    let pair = "[[pairs]]\nbetween = [\"ball\", \"floor\"]\ntorsional_friction = 1e-3\n";
    let spin = expect(
        "spin",
        "quantity = \"angular-velocity\"\nof = \"ball\"\ncomponent = \"z\"",
        "at_s = 1",
        "\"10 - 2.5*1e-3*9.81/0.01\"",
        "0.03",
    );
    let body = ball(0.1, "angular_velocity = [0, 0, 10]");
    check(&format!("{FLOOR}{body}{pair}{spin}"));
}

#[test]
fn a_force_in_body_axes_turns_with_the_body() {
    // v = F/(m ω) (sin ωt, 1 − cos ωt).
    let load =
        "[[loads]]\non = \"ball\"\naxes = \"body\"\nknots = [{ at_s = 0, force = [1, 0, 0] }]\n";
    let body = ball(1.0, "gravity = \"absent\"\nangular_velocity = [0, 0, 2]");
    let velocity = |component: &str, equals: &str| {
        let observable =
            format!("quantity = \"velocity\"\nof = \"ball\"\ncomponent = \"{component}\"");
        expect(
            &format!("v{component}"),
            &observable,
            "at_s = 1",
            equals,
            "1e-5",
        )
    };
    let (vx, vy) = (
        velocity("x", "\"sin(2)/4\""),
        velocity("y", "\"(1 - cos(2))/4\""),
    );
    check(&format!("{body}{load}{vx}{vy}"));
}

#[test]
fn an_arm_whose_weight_is_carried_stays() {
    let speed = |link: &str| {
        let observable = format!("quantity = \"velocity\"\nof = \"arm/{link}\"");
        expect("speed", &observable, "take = \"max\"", "0", "1e-9")
    };
    let of_all = format!("{ARM}gravity_compensation = 1\n");
    check(&format!("{of_all}{}", speed("link_7")));
}

#[test]
fn values_out_of_range_are_refused_with_their_place() {
    for (material, expected) in [
        (
            "restitution = 1.5",
            ["s.toml:6", "restitution = 1.5", "must be from 0 to 1"],
        ),
        (
            "restitution = -0.1",
            ["s.toml:6", "restitution = -0.1", "must be from 0 to 1"],
        ),
        (
            "rolling_friction = -1",
            ["s.toml:6", "rolling_friction = -1", "must not be negative"],
        ),
        (
            "torsional_friction = -1",
            [
                "s.toml:6",
                "torsional_friction = -1",
                "must not be negative",
            ],
        ),
    ] {
        check_refused(&format!("[materials.default]\n{material}\n"), &expected);
    }
    let unknown = "gravity_compensation = { nose = 1 }\n";
    check_refused(&format!("{ARM}{unknown}"), &["link", "nose"]);
    let absent = "gravity = \"absent\"\ngravity_compensation = 1\n";
    check_refused(
        &format!("{ARM}{absent}"),
        &["`gravity_compensation` does nothing"],
    );
}

#[test]
fn impacts_of_patches_and_axes_of_soft_bodies_are_refused() {
    let soft = "[materials.default]\nhydroelastic = \"compliant\"\nslab_thickness = 0.1\nrestitution = 0.5\n";
    let body = ball(0.1, "");
    let expected = ["restitution = 0.5 acts at contact points", "`point`"];
    check_refused(&format!("{soft}{FLOOR}{body}"), &expected);
    check_refused(
        "[[fem]]\nname = \"cube\"\nmesh = { box = { size = [0.1, 0.1, 0.1], cells = [1, 1, 1] } }\nconstitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.4 }\ndensity = 1000\n[[loads]]\non = \"cube\"\naxes = \"body\"\nknots = [{ at_s = 0, force = [1, 0, 0] }]\n",
        &["a soft body has no axes"],
    );
}
