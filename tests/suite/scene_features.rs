//! Features of scene files: small scenes with expectations from closed forms.

use std::fs;
use std::path::Path;

use pliant::runner::{Outcome, RunOptions, RunOutcome, run};
use pliant::scene::{Scene, SceneOptions};

pub(crate) fn run_scene(scene: &Scene) -> RunOutcome {
    run(scene, &RunOptions::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a scene for a second with Δt = 1 ms; all expectations must be met.
#[track_caller]
pub(crate) fn check(fragment: &str) {
    let text = format!("schema = 1\ntitle = \"test\"\n[simulation]\nsmoke_s = 1\n{fragment}");
    let scene = Scene::parse("test.toml", &text, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    check_met(&run_scene(&scene));
}

#[track_caller]
fn check_met(outcome: &RunOutcome) {
    let verdicts = &outcome.summary.expectations;
    assert!(!verdicts.is_empty());
    assert!(
        verdicts.iter().all(|v| v.outcome == Outcome::Met),
        "{verdicts:#?}"
    );
}

/// A ball of 2 kg and 0.1 m at (0, 0, 1).
const BALL: &str = "[[bodies]]\nname = \"ball\"\nmass = 2\nshape = { sphere = { radius = 0.1 } }\npose = { position = [0, 0, 1] }\n";
const FLOOR: &str = "[[fixed]]\nname = \"floor\"\nshape = { half_space = {} }\n";

/// An observable and its expected value, at a time or reduced over a window.
pub(crate) fn expect(
    name: &str,
    observable: &str,
    when: &str,
    equals: &str,
    within: &str,
) -> String {
    format!(
        "[[observables]]\nname = \"{name}\"\n{observable}\n[[expect]]\nobservable = \"{name}\"\n{when}\nequals = {equals}\nwithin = {within}\nsource = \"closed form\"\n"
    )
}

#[test]
fn force_and_torque_ramps_accelerate_a_free_body() {
    // F = t along x, T = t about z, g = 0: v = t(t + dt)/2/m, omega = t(t + dt)/2/I with I = 2/5 m r².
    let load = "gravity = \"absent\"\n[[loads]]\non = \"ball\"\nknots = [{ at_s = 0 }, { at_s = 2, force = [2, 0, 0], torque = [0, 0, 2] }]\n";
    let v = expect(
        "v",
        "quantity = \"velocity\"\nof = \"ball\"\ncomponent = \"x\"",
        "at_s = 1",
        "\"(1 + dt)/2/2\"",
        "1e-12",
    );
    let omega = expect(
        "omega",
        "quantity = \"angular-velocity\"\nof = \"ball\"\ncomponent = \"z\"",
        "at_s = 1",
        "\"(1 + dt)/2/(0.4*2*0.01)\"",
        "1e-9",
    );
    check(&format!("{BALL}{load}{v}{omega}"));
}

#[test]
fn an_off_centre_force_rotates_the_body() {
    // 1 N along x at r = 0.1 m above the centre: angular momentum F r t about y, taken about the centre at rest in z.
    let load = "gravity = \"absent\"\n[[loads]]\non = \"ball\"\npoint = [0, 0, 0.1]\nknots = [{ at_s = 0, force = [1, 0, 0] }]\n";
    let spin = expect(
        "spin",
        "quantity = \"angular-velocity\"\nof = \"ball\"\ncomponent = \"y\"",
        "at_s = 0.01",
        "\"1*0.1*0.01/(0.4*2*0.01)\"",
        "1e-4",
    );
    check(&format!("{BALL}{load}{spin}"));
}

#[test]
fn a_prescribed_body_motion_is_exact_and_pushes_other_bodies() {
    let paddle = "[[bodies]]\nname = \"paddle\"\nshape = { box = { size = [0.02, 0.4, 0.4] } }\n[[body_motions]]\nbody = \"paddle\"\ninterpolation = \"linear\"\nknots = [{ at_s = 0, pose = { position = [-0.3, 0, 1] } }, { at_s = 1, pose = { position = [0.7, 0, 1], rpy = [0, 0, 0.1] } }]\n";
    let ball = "gravity = \"absent\"\n";
    let at = expect(
        "at",
        "quantity = \"position\"\nof = \"paddle\"\ncomponent = \"x\"",
        "at_s = 0.5",
        "0.2",
        "1e-12",
    );
    let yaw = expect(
        "yaw",
        "quantity = \"orientation\"\nof = \"paddle\"\ncomponent = \"yaw\"",
        "at_s = 0.5",
        "0.05",
        "1e-12",
    );
    // The ball does not bounce faster than 1/d = 2 cm/s off a paddle of 1 m/s.
    let v = expect(
        "v",
        "quantity = \"velocity\"\nof = \"ball\"\ncomponent = \"x\"",
        "at_s = 0.9",
        "1.01",
        "0.03",
    );
    check(&format!("{BALL}{ball}{paddle}{at}{yaw}{v}"));
}

const PENDULUM: &str = "[[models]]\nname = \"p\"\nfile = \"robots/double_pendulum.urdf\"\npose = { position = [0, 0, 2] }\n";

#[test]
fn joint_motion_is_followed_exactly_and_held_joints_stay() {
    let motion = "held = [\"elbow\"]\npositions = { elbow = 0.3 }\n[[joint_motions]]\nmodel = \"p\"\njoints = [\"shoulder\"]\ninterpolation = \"linear\"\nknots = [{ at_s = 0, positions = [0.2] }, { at_s = 1, positions = [1.2] }]\n";
    let start = expect(
        "q0",
        "quantity = \"joint-position\"\nof = \"p/shoulder\"",
        "at_s = 0",
        "0.2",
        "0",
    );
    let q = expect(
        "q",
        "quantity = \"joint-position\"\nof = \"p/shoulder\"",
        "at_s = 0.4",
        "0.6",
        "1e-12",
    );
    let v = expect(
        "qd",
        "quantity = \"joint-velocity\"\nof = \"p/shoulder\"",
        "at_s = 0.4",
        "1",
        "1e-9",
    );
    let elbow = expect(
        "e",
        "quantity = \"joint-position\"\nof = \"p/elbow\"",
        "take = \"max\"",
        "0.3",
        "1e-15",
    );
    // The tip of both rods, rotated by 0.6 and another 0.3.
    let tip = expect(
        "tip",
        "quantity = \"position\"\nof = \"p/tip\"\ncomponent = \"z\"",
        "at_s = 0.4",
        "\"2 - 0.5*cos(0.6) - 0.5*cos(0.9)\"",
        "1e-12",
    );
    check(&format!("{PENDULUM}{motion}{start}{q}{v}{elbow}{tip}"));
}

#[test]
fn a_mimic_joint_starts_at_the_position_of_its_joint() {
    let gripper = "[[models]]\nname = \"g\"\nfile = \"robots/gripper2.urdf\"\npositions = { left_slide = 0.02 }\n";
    let follower = expect(
        "q",
        "quantity = \"joint-position\"\nof = \"g/right_slide\"",
        "at_s = 0",
        "0.02",
        "0",
    );
    check(&format!("{gripper}{follower}"));
}

#[test]
fn saturated_actuator_gives_its_limit_and_no_more() {
    let actuator = "held = [\"elbow\"]\nactuators = { shoulder = { proportional = 1e5, derivative = 100, effort_limit = 3 } }\n[[joint_targets]]\nmodel = \"p\"\njoints = [\"shoulder\"]\nknots = [{ at_s = 0, positions = [3] }]\n";
    // Straight rods of 2 kg hang with their centre 0.5 m below: 3 N m holds them at asin(3/(2·9.81·0.5)) on average.
    let effort = expect(
        "tau",
        "quantity = \"joint-effort\"\nof = \"p/shoulder\"",
        "take = \"mean\"",
        "3",
        "1e-9",
    );
    check(&format!("{PENDULUM}{actuator}{effort}"));
}

#[test]
fn efforts_act_on_joints_without_actuators() {
    // No gravity, elbow held straight: one rod of 1 m and 2 kg about its end, I = m l²/3.
    let effort = "gravity = \"absent\"\nheld = [\"elbow\"]\n[[joint_efforts]]\nmodel = \"p\"\njoints = [\"shoulder\"]\nknots = [{ at_s = 0, efforts = [0.5] }]\n";
    let v = expect(
        "qd",
        "quantity = \"joint-velocity\"\nof = \"p/shoulder\"",
        "at_s = 1",
        "\"0.5/(2/3)\"",
        "1e-6",
    );
    let tau = expect(
        "tau",
        "quantity = \"joint-effort\"\nof = \"p/shoulder\"",
        "at_s = 1",
        "0.5",
        "0",
    );
    check(&format!("{PENDULUM}{effort}{v}{tau}"));
}

#[test]
fn frame_follows_its_poses_by_inverse_kinematics() {
    let arm = "[[models]]\nname = \"arm\"\nfile = \"robots/arm7.urdf\"\ngravity = \"absent\"\npositions = { joint_2 = 0.5, joint_4 = -1.6, joint_6 = 1.0 }\nactuators = { \"*\" = { proportional = 1e5, derivative = 1e3 } }\n\
        [[filters]]\nwithin = [\"arm\"]\n\
        [[frame_targets]]\nframe = \"arm/flange\"\nknots = [{ at_s = 0, pose = { position = [0.5, 0, 0.4], rpy = [\"pi\", 0, 0] } }, { at_s = 1, pose = { position = [0.5, 0.2, 0.5], rpy = [\"pi\", 0, 0.5] } }]\n";
    let on = "quantity = \"position\"\nof = \"arm/flange\"\ncomponent";
    let start = expect("y0", &format!("{on} = \"y\""), "at_s = 0", "0", "1e-8");
    // Half the time of an eased track is half its path. The lag is that of the actuators: inertia times acceleration over Kp.
    let middle = expect("y", &format!("{on} = \"y\""), "at_s = 0.5", "0.1", "1e-3");
    let height = expect("z", &format!("{on} = \"z\""), "at_s = 1", "0.5", "1e-3");
    let tilt = expect(
        "tilt",
        "quantity = \"orientation\"\nof = \"arm/flange\"",
        "take = \"min\"",
        "\"pi\"",
        "5e-3",
    );
    check(&format!("{arm}{start}{middle}{height}{tilt}"));
}

#[test]
fn a_constraint_carries_the_weight_until_its_release() {
    let constraint = "[[constraints]]\nname = \"rope\"\nkind = \"distance\"\nbetween = [\"world\", \"ball\"]\npoints = [[0, 0, 2], [0, 0, 0]]\nrelease_at_s = 0.5\n";
    let force = expect(
        "f",
        "quantity = \"constraint-force\"\nof = \"rope\"\ncomponent = \"z\"",
        "at_s = 0.4",
        "\"2*9.81\"",
        "1e-3",
    );
    let v = expect(
        "v",
        "quantity = \"velocity\"\nof = \"ball\"\ncomponent = \"z\"",
        "at_s = 1",
        "\"-9.81*0.5\"",
        "1e-3",
    );
    check(&format!("{BALL}{constraint}{force}{v}"));
}

#[test]
fn weld_keeps_the_pose_of_the_start_and_ball_keeps_two_points_together() {
    let second = "[[bodies]]\nname = \"box\"\nmass = 1\nshape = { box = { size = [0.1, 0.1, 0.1] } }\npose = { position = [0.3, 0, 1], rpy = [0.4, 0, 0] }\n";
    let constraints = "[[constraints]]\nname = \"hold\"\nbetween = [\"world\", \"ball\"]\n[[constraints]]\nname = \"hinge\"\nkind = \"ball\"\nbetween = [\"ball\", \"box\"]\npoints = [[0.3, 0, 0], [0, 0, 0]]\n";
    let ball = expect(
        "z",
        "quantity = \"position\"\nof = \"ball\"\ncomponent = \"z\"",
        "take = \"min\"",
        "1",
        "1e-5",
    );
    let corner = expect(
        "x",
        "quantity = \"position\"\nof = \"box\"\ncomponent = \"x\"",
        "take = \"min\"",
        "0.3",
        "1e-5",
    );
    // The constraint carries both weights, also as a weld, whose torque balances the lever arm.
    let force = expect(
        "f",
        "quantity = \"constraint-force\"\nof = \"hold\"\ncomponent = \"z\"",
        "at_s = 0.9",
        "\"3*9.81\"",
        "1e-2",
    );
    check(&format!("{BALL}{second}{constraints}{ball}{corner}{force}"));
}

#[test]
fn filtered_pairs_pass_through_each_other() {
    let falls = expect(
        "z",
        "quantity = \"position\"\nof = \"ball\"\ncomponent = \"z\"",
        "at_s = 1",
        "\"1 - 9.81/2*(1 + dt)\"",
        "1e-9",
    );
    check(&format!(
        "{BALL}{FLOOR}[[filters]]\nbetween = [\"ball\", \"floor\"]\n{falls}"
    ));
    check(&format!(
        "{BALL}{FLOOR}[[filters]]\nwithin = [\"floor\", \"ball\"]\n{falls}"
    ));
}

#[test]
fn pair_friction_replaces_that_of_the_surfaces() {
    let sliding = "[[bodies]]\nname = \"box\"\nmass = 1\nshape = { box = { size = [0.2, 0.2, 0.1] } }\npose = { position = [0, 0, \"0.05 - 9.81/4/5e5\"] }\nvelocity = [1, 0, 0]\nmaterial = { friction = 0.9 }\n";
    let v = expect(
        "v",
        "quantity = \"velocity\"\nof = \"box\"\ncomponent = \"x\"",
        "at_s = 0.3",
        "\"1 - 0.2*9.81*0.3\"",
        "2e-3",
    );
    // Friction acts against the motion.
    let f = expect(
        "f",
        "quantity = \"contact-force\"\nof = \"box\"\nwith = \"floor\"\ncomponent = \"x\"",
        "at_s = 0.3",
        "\"-0.2*9.81\"",
        "2e-3",
    );
    let n = expect(
        "n",
        "quantity = \"contact-count\"\nof = \"floor\"",
        "at_s = 0.3",
        "4",
        "0",
    );
    let deep = expect(
        "d",
        "quantity = \"penetration\"\nof = \"box\"",
        "at_s = 0.3",
        "\"9.81/4/5e5\"",
        "2e-6",
    );
    check(&format!(
        "{sliding}{FLOOR}[[pairs]]\nbetween = [\"floor\", \"box\"]\nfriction = 0.2\n{v}{f}{n}{deep}"
    ));
}

#[test]
fn compound_body_has_the_mass_of_its_shapes() {
    let body = "[[bodies]]\nname = \"hammer\"\ngravity = \"absent\"\nangular_velocity = [0, 0, 3]\nshapes = [\n\
        { shape = { box = { size = [0.1, 0.1, 0.1] } }, density = 3000 },\n\
        { shape = { box = { size = [0.1, 0.1, 0.1] } }, pose = { position = [0.3, 0, 0] }, density = 1000 }]\n";
    let mass = expect(
        "m",
        "quantity = \"mass\"\nof = \"hammer\"",
        "at_s = 0",
        "4",
        "1e-12",
    );
    // Centre at 0.075 m; the origin moves with 0 at first, so the centre with omega x 0.075: p = m v.
    let p = expect(
        "p",
        "quantity = \"momentum\"\ncomponent = \"y\"",
        "at_s = 0",
        "\"4*3*0.075\"",
        "1e-12",
    );
    // Two cubes of side 0.1 at 0.075 and 0.225 m from the common centre: I = sum m a²/6 + m d².
    let energy = expect(
        "e",
        "quantity = \"kinetic-energy\"",
        "take = \"max\"",
        "\"0.5*4*(3*0.075)^2 + 0.5*9*(4*0.01/6 + 3*0.075^2 + 1*0.225^2)\"",
        "1e-9",
    );
    check(&format!("{body}{mass}{p}{energy}"));
}

#[test]
fn given_mass_scales_all_shapes_alike() {
    let body = "[[bodies]]\nname = \"b\"\nmass = 5\nshapes = [{ shape = { sphere = { radius = 0.1 } } }, { shape = { cone = { radius = 0.1, height = 0.2 } }, pose = { position = [0, 0, 0.2] } }]\n";
    let mass = expect("m", "quantity = \"mass\"", "at_s = 0", "5", "1e-12");
    let v = expect(
        "v",
        "quantity = \"velocity\"\nof = \"b\"\ncomponent = \"z\"",
        "at_s = 1",
        "-9.81",
        "1e-9",
    );
    check(&format!("{body}{mass}{v}"));
}

#[test]
fn floating_robot_falls_with_what_is_attached_to_it() {
    let robot = "[[models]]\nname = \"r\"\nfile = \"robots/gripper2.urdf\"\nroot = \"floating\"\npose = { position = [0, 0, 9] }\nvelocity = [1, 0, 0]\nheld = [\"left_slide\", \"right_slide\", \"blade/left_slide\", \"blade/right_slide\"]\nattached = [{ name = \"blade\", file = \"robots/gripper2.urdf\", on = \"grasp\", pose = { position = [0, 0, 0.1] } }]\n";
    let z = expect(
        "z",
        "quantity = \"position\"\nof = \"r/blade/palm\"\ncomponent = \"z\"",
        "at_s = 0",
        "\"9 + 0.1345 + 0.1\"",
        "1e-9",
    );
    let p = expect(
        "p",
        "quantity = \"momentum\"\nof = \"r\"\ncomponent = \"x\"",
        "at_s = 1",
        "\"2*1.088882\"",
        "1e-9",
    );
    let fall = expect(
        "vz",
        "quantity = \"momentum\"\nof = \"r\"\ncomponent = \"z\"",
        "at_s = 1",
        "\"-2*1.088882*9.81\"",
        "1e-9",
    );
    check(&format!("{robot}{z}{p}{fall}"));
}

#[test]
fn repeats_are_observed_together_and_sums_of_observables_have_values() {
    let repeat = "[[repeat]]\nname = \"r\"\ncount = 3\ngrid = { origin = [0, 0, 5], spacing = [1, 0, 1], counts = [3, 1, 1] }\n[[repeat.templates]]\nmass = 2\nshape = { capsule = { radius = 0.1, length = 0.2 } }\n";
    let of = |among: &str| {
        format!("quantity = \"position\"\nof = \"r\"\ncomponent = \"x\"\namong = \"{among}\"")
    };
    let max = expect("max", &of("max"), "at_s = 0.2", "2", "1e-12");
    let mean = expect("mean", &of("mean"), "at_s = 0.2", "1", "1e-12");
    let sum = expect("sum", &of("sum"), "at_s = 0.2", "3", "1e-12");
    let p = expect(
        "p",
        "quantity = \"momentum\"\nof = \"r\"\ncomponent = \"z\"",
        "at_s = 0.2",
        "\"-3*2*9.81*0.2\"",
        "1e-9",
    );
    let derived = expect(
        "d",
        "quantity = \"expression\"\nexpression = \"p/t + sum*dt\"",
        "at_s = 0.2",
        "\"-6*9.81 + 3*dt\"",
        "1e-9",
    );
    check(&format!("{repeat}{max}{mean}{sum}{p}{derived}"));
}

#[test]
fn energy_of_a_falling_ball_is_kept_to_first_order() {
    // Symplectic Euler: E gains m g² t dt/2 on the way down.
    let energy = expect(
        "e",
        "quantity = \"energy\"\nof = \"ball\"",
        "at_s = 1",
        "\"2*9.81*1 - 2*9.81^2*dt/2\"",
        "1e-6",
    );
    check(&format!("{BALL}{energy}"));
}

#[test]
fn mesh_files_beside_the_scene_become_bodies() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mesh_scene");
    fs::create_dir_all(&folder).expect("the target folder can be written");
    // A cube of 2 units, scaled to 0.2 m.
    let obj = "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n\
        f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    fs::write(folder.join("cube.obj"), obj).expect("can be written");
    for part in ["surface", "convex-hull"] {
        let force = expect(
            "f",
            "quantity = \"contact-force\"\nof = \"cube\"\nwith = \"floor\"\ncomponent = \"z\"",
            "at_s = 1",
            "\"8*9.81\"",
            "1e-2",
        );
        let text = format!(
            "schema = 1\ntitle = \"mesh\"\n[simulation]\nsmoke_s = 1\n{FLOOR}[[bodies]]\nname = \"cube\"\ndensity = 1000\nshape = {{ mesh = {{ file = \"cube.obj\", scale = 0.1, use = \"{part}\" }} }}\npose = {{ position = [0, 0, 0.1] }}\n{force}"
        );
        let path = folder.join("scene.toml");
        fs::write(&path, text).expect("can be written");
        let path = path.to_str().expect("UTF-8");
        let scene =
            Scene::load(path, &SceneOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        check_met(&run_scene(&scene));
    }
}

#[test]
fn a_hull_is_taken_from_a_surface_with_a_duplicate_triangle() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hull_scene");
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 2 3 4\nf 1 4 2 3\n";
    fs::write(folder.join("corner.obj"), obj).expect("can be written");
    // Drawn surfaces are not examined.
    let sheet = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 3\nf 2 1 3\n";
    fs::write(folder.join("sheet.obj"), sheet).expect("can be written");
    for seen in ["surface", "convex-hull"] {
        let text = format!(
            "schema = 1\ntitle = \"mesh\"\n[simulation]\nsmoke_s = 0.01\n[[bodies]]\nname = \"corner\"\ndensity = 6\n\
             shape = {{ mesh = {{ file = \"corner.obj\", use = \"convex-hull\" }} }}\n\
             visual = {{ mesh = {{ file = \"sheet.obj\", use = \"{seen}\" }} }}\n\
             [[observables]]\nname = \"v\"\nquantity = \"velocity\"\nof = \"corner\"\ncomponent = \"norm\"\n\
             [[expect]]\nobservable = \"v\"\nat_s = 0.01\nequals = \"0.01*9.81\"\nwithin = 1e-9\nsource = \"free fall\"\n"
        );
        let path = folder.join("scene.toml");
        fs::write(&path, text).expect("can be written");
        let path = path.to_str().expect("UTF-8");
        let scene =
            Scene::load(path, &SceneOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        check_met(&run_scene(&scene));
    }
}

#[test]
fn recording_has_the_given_rates() {
    let text = format!(
        "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 1\n[recording]\nframes_per_s = 20\nrows_per_s = 50\n{BALL}"
    );
    let scene = Scene::parse("t", &text, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let outcome = run_scene(&scene);
    assert_eq!(outcome.recording.frames().len(), 21);
    assert_eq!(outcome.recording.n_rows(), 51);
    assert_eq!(outcome.series.times_s().len(), 1001);
    assert!((outcome.state.time_s - 1.0).abs() < 1e-9);
}
