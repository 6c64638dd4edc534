//! Settings of scene files: each is changed in a small scene with a known result.

use pliant::runner::{RunLength, RunOptions, RunOutcome, RunSummary, run};
use pliant::scene::{Scene, SceneOptions, bundled};

const FLOOR: &str = "[[fixed]]\nname = \"floor\"\nshape = { half_space = {} }\n";
/// A box of 1 kg at rest on the floor at its static depth: mg/4k with k = 5e5 N/m, half of 1e6.
const BOX: &str = "[[bodies]]\nname = \"box\"\nmass = 1\nshape = { box = { size = [0.2, 0.2, 0.1] } }\npose = { position = [0, 0, \"0.05 - 9.81/4/5e5\"] }\n";
const PENDULUM: &str = "[[models]]\nname = \"p\"\nfile = \"robots/double_pendulum.urdf\"\npose = { position = [0, 0, 2] }\n";

/// Runs for `length_s` at Δt = 1 ms; `simulation` are further keys of `[simulation]`.
#[track_caller]
fn outcome(length_s: f64, simulation: &str, fragment: &str) -> RunOutcome {
    let text = format!(
        "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = {length_s}\n{simulation}\n{fragment}"
    );
    let scene = Scene::parse("s.toml", &text, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    run(&scene, &RunOptions::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

fn observable(keys: &str) -> String {
    format!("[[observables]]\nname = \"o\"\n{keys}\n")
}

/// The last value of an observable.
#[track_caller]
fn last(length_s: f64, fragment: &str, keys: &str) -> f64 {
    outcome(length_s, "", &format!("{fragment}{}", observable(keys)))
        .series
        .last()[0]
}

#[track_caller]
fn check_near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "found {found}, expected {expected} within {tolerance}"
    );
}

#[test]
fn gravity_has_the_given_direction() {
    let fall = outcome(
        0.1,
        "gravity = [1, -2, 0]",
        &format!(
            "{BOX}{}",
            observable("quantity = \"velocity\"\nof = \"box\"\ncomponent = \"y\"")
        ),
    );
    check_near(fall.series.last()[0], -0.2, 1e-12);
    // A model without gravity stays at rest; the other one falls.
    let angle = |keys: &str| {
        last(
            0.2,
            &format!("{PENDULUM}positions = {{ shoulder = 1 }}\n{keys}\n"),
            "quantity = \"joint-position\"\nof = \"p/shoulder\"",
        )
    };
    assert_eq!(angle("gravity = \"absent\""), 1.0);
    assert!(angle("") < 0.95);
}

#[test]
fn models_start_at_their_positions_with_their_velocities() {
    let free = format!(
        "{PENDULUM}gravity = \"absent\"\nheld = [\"elbow\"]\npositions = {{ shoulder = 0.3 }}\nvelocities = {{ shoulder = 2 }}\n"
    );
    let of = |quantity: &str| {
        last(
            0.1,
            &free,
            &format!("quantity = \"{quantity}\"\nof = \"p/shoulder\""),
        )
    };
    check_near(of("joint-velocity"), 2.0, 1e-9);
    check_near(of("joint-position"), 0.5, 1e-9);
}

/// A disc on a planar joint, a bob on a ball joint: `fragment` goes into its `[[models]]`.
fn joints_of_several_coordinates(fragment: &str) -> String {
    let link = |name: &str| {
        format!(
            "<link name=\"{name}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>"
        )
    };
    let joint = |tag: &str, kind: &str, child: &str| {
        format!(
            "<{tag} name=\"{kind}\" type=\"{kind}\"><parent link=\"base\"/><child link=\"{child}\"/><axis xyz=\"0 0 1\"/></{tag}>"
        )
    };
    let urdf = format!(
        "<robot name=\"r\">{}{}{}{}{}</robot>",
        link("base"),
        link("disc"),
        link("bob"),
        joint("joint", "planar", "disc"),
        joint("drake:joint", "ball", "bob"),
    );
    let file = std::env::temp_dir().join(format!("pliant-joints-{}.urdf", std::process::id()));
    std::fs::write(&file, urdf).expect("a temporary file");
    format!("[[models]]\nname = \"r\"\nfile = {file:?}\ngravity = \"absent\"\n{fragment}\n")
}

#[test]
fn joints_of_several_coordinates_start_at_the_given_lists() {
    let model = joints_of_several_coordinates(
        "positions = { planar = [0.1, 0.2, 0.3], ball = [0.7071, 0.7071, 0, 0] }\nvelocities = { planar = [1, 2, 3], ball = [4, 0, 0] }",
    );
    let of = |link: &str, quantity: &str, component: &str| {
        last(
            0.01,
            &model,
            &format!("quantity = \"{quantity}\"\nof = \"r/{link}\"\ncomponent = \"{component}\""),
        )
    };
    check_near(of("disc", "position", "x"), 0.1 + 0.01, 1e-9);
    check_near(of("disc", "position", "y"), 0.2 + 0.02, 1e-9);
    check_near(of("disc", "orientation", "yaw"), 0.3 + 0.03, 1e-9);
    let quarter = std::f64::consts::FRAC_PI_2;
    check_near(of("bob", "orientation", "roll"), quarter + 0.04, 1e-9);
}

#[test]
fn lists_that_do_not_fit_their_joint_are_refused() {
    let refusal = |fragment: &str| {
        let model = joints_of_several_coordinates(fragment);
        let text = format!("schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 1\n{model}");
        let scene = Scene::parse("s.toml", &text, &SceneOptions::default()).expect("well formed");
        match run(&scene, &RunOptions::default(), &mut |_| {}) {
            Ok(_) => panic!("{fragment} was accepted"),
            Err(error) => error.to_string(),
        }
    };
    let text = refusal("positions = { planar = 0.1 }");
    assert!(
        text.contains("must be 3 numbers for a Planar joint"),
        "{text}"
    );
    let text = refusal("velocities = { ball = [1, 2, 3, 4] }");
    assert!(
        text.contains("must be 3 numbers for a Ball joint"),
        "{text}"
    );
    let text = refusal("positions = { ball = [1, 1, 0, 0] }");
    assert!(
        text.contains("must have a quaternion of length 1"),
        "{text}"
    );
}

#[test]
fn softer_surfaces_have_larger_static_depth() {
    // Two equal surfaces in series have half the stiffness.
    let depth = |stiffness: f64| {
        let soft = format!("[materials.default]\nstiffness = {stiffness}\n");
        last(
            3.0,
            &format!("{soft}{FLOOR}{BOX}"),
            "quantity = \"penetration\"\nof = \"box\"",
        )
    };
    for stiffness in [2e4, 2e5] {
        let expected = 9.81 / 4.0 / (0.5 * stiffness);
        check_near(depth(stiffness), expected, 1e-3 * expected);
    }
}

#[test]
fn stiction_speed_scales_the_creep_of_a_loaded_box() {
    // Under half of the friction bound: v/√(v² + v_s²) = 1/2, so v = v_s/√3.
    let creep = |speed: f64| {
        let contact = format!("[contact]\nstiction_speed = {speed}\n");
        let load = "[[loads]]\non = \"box\"\npoint = [0, 0, -0.05]\nknots = [{ at_s = 0, force = [\"0.25*9.81\", 0, 0] }]\n";
        last(
            0.5,
            &format!("{contact}{FLOOR}{BOX}{load}"),
            "quantity = \"velocity\"\nof = \"box\"\ncomponent = \"x\"",
        )
    };
    for speed in [1e-4f64, 1e-3] {
        let expected = speed / 3f64.sqrt();
        check_near(creep(speed), expected, 0.03 * expected);
    }
}

/// A velocity component of a ball after it has hit the floor at 2 m/s downwards and 1 m/s sideways.
fn bounced(contact: &str, material: &str, component: &str) -> f64 {
    let ball = format!(
        "[[bodies]]\nname = \"ball\"\nmass = 1\nshape = {{ sphere = {{ radius = 0.1 }} }}\npose = {{ position = [0, 0, 0.102] }}\nvelocity = [1, 0, -2]\ngravity = \"absent\"\n[contact]\n{contact}\n[materials.default]\n{material}\n"
    );
    last(
        0.1,
        &format!("{FLOOR}{ball}"),
        &format!("quantity = \"velocity\"\nof = \"ball\"\ncomponent = \"{component}\""),
    )
}

#[test]
fn published_friction_limit_sticks_in_the_step_of_an_impact() {
    // Friction takes μ (1 + e) 2 m/s, the rebound e less than 1/(50 s/m)/(2 m/s) = 1%; a ball that sticks rolls with 5/7 of its speed.
    let stiff = "friction = 0.1\nstiffness = 1e9";
    let slides = bounced("", stiff, "x");
    assert!(
        slides > 1.0 - 0.1 * 1.01 * 2.0 && slides < 1.0 - 0.099 * 2.0,
        "{slides}"
    );
    check_near(
        bounced("friction_limit = \"lagged\"", stiff, "x"),
        5.0 / 7.0,
        1e-3,
    );
}

#[test]
fn either_rule_of_dissipation_takes_its_own_parameter() {
    // Without dissipation a soft ball rebounds with nearly its initial speed.
    let up = |contact: &str, material: &str| {
        bounced(
            contact,
            &format!("stiffness = 1e4\nfriction = 0\n{material}"),
            "z",
        )
    };
    let elastic = up("", "dissipation = 0");
    assert!(elastic > 1.7, "{elastic}");
    // Hunt and Crossley: not faster than 1/d.
    let damped = up("", "dissipation = 5");
    assert!(damped < 0.2 && damped > 0.0, "{damped}");
    // The relaxation time has an effect under its rule only.
    assert_eq!(up("", "dissipation = 0\nrelaxation_time_s = 1"), elastic);
    let rule = "dissipation = \"relaxation-time\"";
    let linear = up(rule, "dissipation = 0\nrelaxation_time_s = 0.05");
    assert!(linear < 0.5 * elastic, "{linear}");
    assert_eq!(
        up(rule, "dissipation = 7\nrelaxation_time_s = 0.05"),
        linear
    );
}

/// The speed along x of a box after it has slid for 0.2 s from 1 m/s, under penalty forces and with keys of its pair with the floor.
fn slid(axis: &str, pair: &str) -> f64 {
    let simulation = "stepper = \"penalty-force\"\npenalty_damping = \"hunt-crossley\"";
    let direction = if axis == "x" {
        "[1, 0, 0]"
    } else {
        "[0, 1, 0]"
    };
    let scene = format!(
        "{FLOOR}[[bodies]]\nname = \"sled\"\nshape = {{ box = {{ size = [0.3, 0.3, 0.05] }} }}\npose = {{ position = [0, 0, 0.025] }}\nvelocity = {direction}\n[[pairs]]\nbetween = [\"floor\", \"sled\"]\nfriction = 0.2\n{pair}\n{}",
        observable(&format!(
            "quantity = \"velocity\"\nof = \"sled\"\ncomponent = \"{axis}\""
        ))
    );
    outcome(0.2, simulation, &scene).series.last()[0]
}

#[test]
fn penalty_forces_take_the_friction_of_an_axis_and_a_stiffness_per_area() {
    let keys = "friction_axis = [0, 2, 0]\nfriction_along = 0.05\nstiffness_per_area = 1e7";
    check_near(slid("x", keys), 1.0 - 0.2 * 9.81 * 0.2, 0.01);
    check_near(slid("y", keys), 1.0 - 0.05 * 9.81 * 0.2, 0.01);
    check_near(slid("y", ""), 1.0 - 0.2 * 9.81 * 0.2, 0.01);
}

#[test]
fn speculative_contact_prevents_tunnelling() {
    let side = |speculation: &str| {
        let scene = format!(
            "[contact]\nspeculation = \"{speculation}\"\n[[fixed]]\nname = \"plate\"\nshape = {{ box = {{ size = [1, 1, 0.005] }} }}\n[[bodies]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.01 }} }}\npose = {{ position = [0, 0, 0.5] }}\nvelocity = [0, 0, -60]\n"
        );
        last(
            0.05,
            &scene,
            "quantity = \"position\"\nof = \"ball\"\ncomponent = \"z\"",
        )
    };
    assert!(side("swept") > 0.0);
    assert!(side("resting-margin") < -1.0);
}

/// A box slides to rest on ten others.
fn solved(solver: &str) -> RunOutcome {
    let pile = "[[repeat]]\nname = \"r\"\ncount = 8\ngrid = { origin = [0, 0, 0.05], spacing = [0.21, 0, 0.1], counts = [4, 1, 2] }\n[[repeat.templates]]\nshape = { box = { size = [0.2, 0.2, 0.1] } }\nvelocity = [0.5, 0.1, 0]\n";
    outcome(0.2, "", &format!("{solver}{FLOOR}{pile}"))
}

/// Iterations per step while forty bodies fall on each other.
fn clutter(solver: &str) -> RunSummary {
    let text = format!("{}\n{solver}", bundled::scene("clutter").expect("bundled"));
    let scene = Scene::parse("clutter", &text, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let length = RunLength::Until(0.7);
    let outcome = run(
        &scene,
        &RunOptions {
            length,
            ..RunOptions::default()
        },
        &mut |_| {},
    );
    outcome.unwrap_or_else(|error| panic!("{error}")).summary
}

#[test]
fn settings_of_the_solver_reach_it() {
    let iterations = |solver: &str| solved(solver).summary.iterations_mean;
    let usual = iterations("");
    assert!(iterations("[solver]\nrelative_tolerance = 1e-2\n") < usual);
    let usual = clutter("");
    let plain = clutter("[solver]\nfriction_tangent = \"plain\"\n");
    let (few, many) = (usual.iterations_mean, plain.iterations_mean);
    assert!(many > 1.2 * few, "{many} and {few}");
    let armijo = clutter("[solver]\nline_search = \"armijo\"\n");
    assert_ne!(armijo.linear_systems, usual.linear_systems);
    let conjugate = iterations("[solver]\nname = \"quasi-newton\"\niterations_max = 2000\n");
    let plain = iterations(
        "[solver]\nname = \"quasi-newton\"\niterations_max = 2000\nacceleration = \"none\"\n",
    );
    assert!(plain > 1.2 * conjugate, "{plain} and {conjugate}");
    let given_up = solved("[solver]\niterations_max = 1\n").summary;
    assert!(given_up.unconverged_steps > 0);
    // A step has one solve and up to twelve friction bound iterations.
    assert!(given_up.iterations_max <= 13, "{}", given_up.iterations_max);
}

#[test]
fn values_between_knots_follow_the_interpolation() {
    let motion = |interpolation: &str| {
        let keys = format!(
            "{PENDULUM}[[joint_motions]]\nmodel = \"p\"\njoints = [\"shoulder\"]\n{interpolation}\nknots = [{{ at_s = 0, positions = [0] }}, {{ at_s = 0.4, positions = [1] }}]\n"
        );
        last(
            0.1,
            &keys,
            "quantity = \"joint-position\"\nof = \"p/shoulder\"",
        )
    };
    check_near(motion("interpolation = \"linear\""), 0.25, 1e-12);
    // Hermite's cubic from rest to rest: 3u² − 2u³ at u = 1/4.
    check_near(motion(""), 3.0 / 16.0 - 2.0 / 64.0, 1e-12);
    check_near(motion("interpolation = \"cubic\""), 0.15625, 1e-12);
    check_near(motion("interpolation = \"hold\""), 0.0, 1e-12);
}

#[test]
fn actuators_follow_their_targets_and_huge_gains_stay_stable() {
    // Implicit in stiffness and damping: gains far beyond 1/δt² only track better.
    let tracked = |gain: f64| {
        let scene = format!(
            "{PENDULUM}actuators = {{ \"*\" = {{ proportional = {gain:e}, derivative = {:e}, effort_limit = inf }} }}\n[[joint_targets]]\nmodel = \"p\"\njoints = [\"shoulder\", \"elbow\"]\nknots = [{{ at_s = 0, positions = [0, 0] }}, {{ at_s = 0.5, positions = [1, -0.5] }}]\n",
            0.01 * gain
        );
        let run = outcome(
            0.7,
            "",
            &format!(
                "{scene}{}",
                observable("quantity = \"joint-position\"\nof = \"p/shoulder\"")
            ),
        );
        assert_eq!(run.summary.unconverged_steps, 0, "gain {gain}");
        run.series.last()[0]
    };
    check_near(tracked(1e5), 1.0, 1e-3);
    check_near(tracked(1e9), 1.0, 1e-6);
    check_near(tracked(1e12), 1.0, 1e-6);
}

#[test]
fn actuators_without_a_limit_in_the_scene_have_that_of_the_file() {
    // joint_1 of the arm has 176 N m in its file; a target 2 rad away requires far more.
    let effort = |limit: &str| {
        let scene = format!(
            "[[models]]\nname = \"arm\"\nfile = \"robots/arm7.urdf\"\ngravity = \"absent\"\nactuators = {{ joint_1 = {{ proportional = 1e6, derivative = 0{limit} }} }}\n[[joint_targets]]\nmodel = \"arm\"\njoints = [\"joint_1\"]\nknots = [{{ at_s = 0, positions = [2] }}]\n"
        );
        last(
            0.001,
            &scene,
            "quantity = \"joint-effort\"\nof = \"arm/joint_1\"",
        )
    };
    check_near(effort(""), 176.0, 1e-9);
    check_near(effort(", effort_limit = 5"), 5.0, 1e-9);
    // A scene cannot raise the limit of the file.
    check_near(effort(", effort_limit = inf"), 176.0, 1e-9);
}

#[test]
fn moving_surfaces_of_bodies_drive_them() {
    // A tracked vehicle: its belt runs backwards at 0.3 m/s, friction carries it forwards.
    let scene = format!("{FLOOR}{BOX}surface_velocity = [-0.3, 0, 0]\n");
    let speed = last(
        1.0,
        &scene,
        "quantity = \"velocity\"\nof = \"box\"\ncomponent = \"x\"",
    );
    check_near(speed, 0.3, 1e-3);
}

#[test]
fn filters_act_on_groups_of_repeats_and_links() {
    let repeat = "[[repeat]]\nname = \"r\"\ncount = 2\ngrid = { origin = [0, 0, 0.1], spacing = [0, 0, 0.3], counts = [1, 1, 2] }\n[[repeat.templates]]\nshape = { sphere = { radius = 0.1 } }\n";
    let top = |filter: &str| {
        last(
            1.0,
            &format!("{FLOOR}{repeat}{filter}"),
            "quantity = \"position\"\nof = \"r_1\"\ncomponent = \"z\"",
        )
    };
    check_near(top(""), 0.3, 1e-3);
    check_near(top("[[filters]]\nwithin = [\"r\"]\n"), 0.1, 1e-3);
}

#[test]
fn orientation_momentum_and_potential_energy_are_those_of_the_body() {
    let spinning = "[[bodies]]\nname = \"b\"\nmass = 2\ngravity = \"absent\"\nshape = { sphere = { radius = 0.1 } }\npose = { position = [1, 0, 3], rpy = [0.3, 0, 0] }\nvelocity = [0, 4, 0]\nangular_velocity = [0, 0, 5]\n";
    let of = |quantity: &str, component: &str| {
        last(
            0.001,
            spinning,
            &format!("quantity = \"{quantity}\"\nof = \"b\"\n{component}"),
        )
    };
    check_near(of("orientation", ""), 0.3, 1e-9);
    check_near(of("orientation", "component = \"yaw\""), 0.005, 1e-9);
    // r × p + I ω = 1·8 + 0.4·2·0.01·5 about z, the first up to the displacement of one step.
    check_near(of("angular-momentum", "component = \"z\""), 8.04, 1e-9);
    check_near(
        of("momentum", "along = [0, 1, 1]"),
        8.0 / 2f64.sqrt(),
        1e-12,
    );
    let falling = last(0.5, BOX, "quantity = \"potential-energy\"\nof = \"box\"");
    let height = 0.05 - 9.81 / 4.0 / 5e5 - 9.81 / 2.0 * 0.5 * (0.5 + 1e-3);
    check_near(falling, 9.81 * height, 1e-9);
}

#[test]
fn colour_and_camera_reach_the_recording() {
    let run = outcome(
        0.01,
        "",
        &format!("{BOX}color = [0.1, 0.2, 0.3, 0.4]\n[camera]\neye = [1, 2, 3]\n"),
    );
    let page = run.recording.replay_html().expect("a page");
    assert!(
        page.contains("[1,2,3]") || page.contains("[1.0,2.0,3.0]"),
        "the eye"
    );
    assert!(page.contains("[0.1,0.2,0.3,0.4]"), "the colour");
}
