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
    let observable = "quantity = \"velocity\"\nof = \"arm/link_7\"";
    let speed = expect("speed", observable, "take = \"max\"", "0", "1e-9");
    let bent = "gravity_compensation = 1\npositions = { joint_2 = 0.8, joint_4 = -0.5 }\n";
    check(&format!("{ARM}{bent}{speed}"));
}

#[test]
fn motors_of_a_carried_arm_hold_its_load_alone() {
    // The flange is 1.266 m − 0.34 m from the shoulder, and level with it.
    let arm = "gravity_compensation = 1\npositions = { joint_2 = \"pi/2\" }\nactuators = { \"*\" = { proportional = 1e5, derivative = 3000 } }\n";
    let weight = "[[bodies]]\nname = \"weight\"\nmass = 2\nshape = { sphere = { radius = 0.05 } }\npose = { position = [0.926, 0, 0.34] }\n";
    let weld = "[[constraints]]\nname = \"hook\"\nbetween = [\"weight\", \"arm/link_7\"]\n[[filters]]\nbetween = [\"weight\", \"arm\"]\n";
    let effort = |joint: &str, equals: &str| {
        let observable = format!("quantity = \"joint-effort\"\nof = \"arm/{joint}\"");
        expect(joint, &observable, "at_s = 1", equals, "0.01")
    };
    let (shoulder, twist) = (
        effort("joint_2", "\"-2*9.81*0.926\""),
        effort("joint_1", "0"),
    );
    check(&format!("{ARM}{arm}{weight}{weld}{shoulder}{twist}"));
}

#[test]
fn a_suction_cup_holds_up_to_its_force() {
    // The pull grows by 30 N/s; the ceiling transmits it and the weight, 4.905 N, up to 20 N.
    let ceiling = FLOOR.replace("floor", "ceiling").replace(
        "half_space = {} }\n",
        "half_space = {} }\npose = { rpy = [\"pi\", 0, 0] }\n",
    );
    let cube = "[[bodies]]\nname = \"cube\"\nmass = 0.5\nshape = { box = { size = [0.1, 0.1, 0.1] } }\npose = { position = [0, 0, -0.05] }\n";
    let cup = "[[pairs]]\nbetween = [\"cube\", \"ceiling\"]\nadhesion = 20\n";
    let pull =
        "[[loads]]\non = \"cube\"\nknots = [{ at_s = 0 }, { at_s = 1, force = [0, 0, -30] }]\n";
    let force =
        "quantity = \"contact-force\"\nof = \"cube\"\nwith = \"ceiling\"\ncomponent = \"z\"";
    let most = expect("force", force, "take = \"max\"", "20", "0.05");
    let height = "quantity = \"position\"\nof = \"cube\"\ncomponent = \"z\"";
    // It breaks off at (20 − 4.905)/30 = 0.503 s. From then on its weight and the pull accelerate it, 20 N + 30 N/s t; it adheres for
    // up to 0.1 mm more, for 10 ms.
    let hangs = expect("hangs", height, "at_s = 0.49", "-0.05", "1e-4");
    let falls = expect(
        "falls",
        height,
        "at_s = 1",
        "\"-0.05 - 20*(1 - 15.095/30)^2/(2*0.5) - 30*(1 - 15.095/30)^3/(6*0.5)\"",
        "0.3",
    );
    check(&format!("{ceiling}{cube}{cup}{pull}{most}{hangs}{falls}"));
}

#[test]
fn soft_bodies_have_no_restitution() {
    let cube = "[[fem]]\nname = \"cube\"\nmesh = { box = { size = [0.1, 0.1, 0.1], cells = [1, 1, 1] } }\nconstitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.4 }\ndensity = 1000\n";
    for (name, value) in [
        ("restitution", "0.5"),
        ("torsional_friction", "0.01"),
        ("rolling_friction", "0.01"),
    ] {
        let expected = format!("`{name} = {value}`");
        let remedy = ["acts between rigid shapes", "drop it"];
        let inline = format!("{cube}material = {{ {name} = {value} }}\n");
        check_refused(
            &inline,
            &[&["s.toml:10:", &*expected], &remedy[..]].concat(),
        );
        let named = format!("{cube}material = \"rubber\"\n[materials.rubber]\n{name} = {value}\n");
        check_refused(&named, &[&["s.toml:10:", &*expected], &remedy[..]].concat());
        let pair =
            format!("{FLOOR}{cube}[[pairs]]\nbetween = [\"cube\", \"floor\"]\n{name} = {value}\n");
        check_refused(
            &pair,
            &[&["s.toml:14:", &*expected, "\"cube\" is soft"], &remedy[..]].concat(),
        );
    }
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
