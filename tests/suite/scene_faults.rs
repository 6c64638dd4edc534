//! Scenes with entries that are valid one by one but contradict each other or have no effect: each is refused with position and
//! remedy.

use pliant::runner::check;
use pliant::scene::{Scene, SceneOptions};

const HEAD: &str = "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 1\n";
const BALL: &str = "[[bodies]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\n";
const FLOOR: &str = "[[fixed]]\nname = \"floor\"\nshape = { half_space = {} }\n";
const WALL: &str = "[[fixed]]\nname = \"wall\"\nshape = { half_space = {} }\n";
const ARM: &str = "[[models]]\nname = \"arm\"\nfile = \"robots/arm7.urdf\"\n";
const ACTUATED: &str = "actuators = { \"*\" = { proportional = 10, derivative = 1 } }\n";

/// A target of `joint_1`.
fn target(position: &str) -> String {
    drive("joint_targets", &format!("positions = [{position}]"))
}
fn motion(position: &str) -> String {
    drive("joint_motions", &format!("positions = [{position}]"))
}
fn effort() -> String {
    drive("joint_efforts", "efforts = [1]")
}
fn drive(table: &str, value: &str) -> String {
    format!(
        "[[{table}]]\nmodel = \"arm\"\njoints = [\"joint_1\"]\nknots = [{{ at_s = 0, {value} }}]\n"
    )
}

fn frame_target(from_s: f64) -> String {
    format!(
        "[[frame_targets]]\nframe = \"arm/flange\"\nfollow = \"position\"\nknots = [{{ at_s = {from_s}, pose = {{ position = [0.4, 0, 0.5] }} }}]\n"
    )
}

fn notes(fragment: &str) -> Result<Vec<String>, String> {
    let text = format!("{HEAD}{fragment}");
    let scene = Scene::parse("s.toml", &text, &SceneOptions::default())
        .map_err(|error| error.to_string())?;
    let assembly = check(&scene).map_err(|error| error.to_string())?;
    Ok(assembly.notes)
}

#[track_caller]
fn check_refused(fragment: &str, expected: &[&str]) {
    let message = notes(fragment).expect_err("the scene contradicts itself");
    for part in expected {
        assert!(message.contains(part), "{part:?} is not in:\n{message}");
    }
}

#[track_caller]
fn check_accepted(fragment: &str) -> Vec<String> {
    notes(fragment).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_joint_has_one_kind_of_drive() {
    let once = [
        format!("{ARM}{ACTUATED}{}{}", target("0.1"), target("0.2")),
        format!("{ARM}{}{}", motion("0.1"), motion("0.2")),
        format!("{ARM}{}{}", effort(), effort()),
        format!("{ARM}{}{}", motion("0.1"), effort()),
        format!("{ARM}{ACTUATED}{}{}", motion("0.1"), target("0.1")),
        format!("{ARM}held = [\"joint_1\"]\n{}", motion("0.1")),
        format!("{ARM}held = [\"joint_1\"]\n{}", effort()),
        format!("{ARM}held = [\"joint_1\", \"joint_1\"]\n"),
    ];
    for text in &once {
        check_refused(
            text,
            &["s.toml:", "joint \"joint_1\"", "drop one of the two"],
        );
    }
    check_refused(
        &format!("{ARM}{ACTUATED}{}{}", target("0.1"), target("0.2")),
        &["s.toml:15:11", "has a joint target in line 11"],
    );
    // An effort adds to that of an actuator.
    check_accepted(&format!("{ARM}{ACTUATED}{}{}", target("0.1"), effort()));
}

#[test]
fn a_frame_target_excludes_other_drives_of_its_joints_at_the_same_time() {
    check_refused(
        &format!("{ARM}{ACTUATED}{}{}", target("0.1"), frame_target(0.0)),
        &[
            "joint \"joint_1\", which moves \"arm/flange\"",
            "has a joint target in line 11",
        ],
    );
    check_refused(
        &format!("{ARM}{ACTUATED}{}{}", frame_target(0.0), frame_target(0.0)),
        &["follows a frame target in line 10"],
    );
    check_accepted(&format!(
        "{ARM}{ACTUATED}{}{}",
        target("0.1"),
        frame_target(0.5)
    ));
    // A joint with a prescribed motion is no unknown of inverse kinematics.
    check_accepted(&format!(
        "{ARM}{ACTUATED}{}{}",
        motion("0.1"),
        frame_target(0.5)
    ));
}

#[test]
fn targets_need_an_actuator() {
    check_refused(
        &format!("{ARM}{}", target("0.1")),
        &[
            "s.toml:10:11",
            "joint \"joint_1\" has no actuator",
            "actuators = { joint_1 = {",
        ],
    );
    check_accepted(&format!("{ARM}{}", effort()));
}

#[test]
fn motions_stay_within_limits_and_targets_beyond_them_are_noted() {
    check_refused(
        &format!("{ARM}{}", motion("9")),
        &[
            "shall be at 9, outside its limits [-2.96706, 2.96706]",
            "\"9*deg\"",
        ],
    );
    for (position, expected) in [
        ("4", "its actuator will press against them"),
        ("9", "write \"9*deg\" if 9 degrees are meant"),
    ] {
        let notes = check_accepted(&format!("{ARM}{ACTUATED}{}", target(position)));
        assert!(
            (notes.iter()).any(|note| note.contains("s.toml:11") && note.contains(expected)),
            "{notes:?}"
        );
    }
}

#[test]
fn effort_limits_above_those_of_the_file_are_noted() {
    let notes = check_accepted(&format!(
        "{ARM}actuators = {{ joint_1 = {{ proportional = 1, derivative = 1, effort_limit = 500 }} }}\n"
    ));
    assert!(
        notes
            .iter()
            .any(|note| note.contains("effort_limit = 500 is more than the 176 of its file")),
        "{notes:?}"
    );
}

#[test]
fn a_moved_body_has_one_motion_and_takes_no_load() {
    let motion = "[[body_motions]]\nbody = \"ball\"\nknots = [{ at_s = 0, pose = {} }]\n";
    let load = "[[loads]]\non = \"ball\"\nknots = [{ at_s = 0, force = [1, 0, 0] }]\n";
    for text in [
        format!("{BALL}{motion}{motion}"),
        format!("{BALL}{motion}{load}"),
    ] {
        check_refused(
            &text,
            &[
                "body \"ball\" has a prescribed motion in line 9",
                "drop one of the two",
            ],
        );
    }
    check_refused(
        &format!("{BALL}[[loads]]\non = \"ball\"\nknots = [{{ at_s = 0 }}]\n"),
        &["s.toml:8:1", "does nothing", "`force` or `torque`"],
    );
}

#[test]
fn filters_and_pairs_name_bodies_with_contact_geometry() {
    let idle = [
        "[[filters]]\nbetween = [\"ball\", \"ball\"]\n",
        "[[filters]]\nwithin = [\"ball\"]\n",
        "[[filters]]\nbetween = [\"floor\", \"wall\"]\n",
        "[[pairs]]\nbetween = [\"ball\", \"ball\"]\nfriction = 1\n",
        "[[pairs]]\nbetween = [\"floor\", \"wall\"]\nfriction = 1\n",
    ];
    for text in idle {
        check_refused(
            &format!("{BALL}{FLOOR}{WALL}{text}"),
            &["s.toml:15:", "ever touches", "drop the "],
        );
    }
    check_refused(
        &format!("{BALL}[[filters]]\nwithin = []\n"),
        &["within = [] must name something"],
    );
    let pair =
        |a: &str, b: &str| format!("[[pairs]]\nbetween = [\"{a}\", \"{b}\"]\nfriction = 1\n");
    check_refused(
        &format!(
            "{BALL}{FLOOR}{}{}",
            pair("ball", "floor"),
            pair("floor", "ball")
        ),
        &["is described in line 12 already"],
    );
    // A robot as a whole, then one of its links: the last one applies.
    check_accepted(&format!(
        "{ARM}{FLOOR}{}{}",
        pair("arm", "floor"),
        pair("arm/link_7", "floor")
    ));
}

#[test]
fn constraints_have_two_sides() {
    let constraint =
        |a: &str, b: &str| format!("[[constraints]]\nname = \"t\"\nbetween = [\"{a}\", \"{b}\"]\n");
    check_refused(
        &format!("{BALL}{FLOOR}{}", constraint("world", "floor")),
        &[
            "s.toml:13:",
            "[[constraints]] \"t\": both ends stand in the world",
        ],
    );
    check_refused(
        &format!("{BALL}{}", constraint("ball", "ball")),
        &["[[constraints]] \"t\": both ends are on the same body"],
    );
}

#[test]
fn errors_in_a_robot_file_give_the_lines_in_scene_and_file() {
    let urdf = "<robot name=\"r\"><link name=\"l\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>\
        <collision><geometry><sphere radius=\"0.1\"/></geometry>\
        <drake:proximity_properties><drake:mu_dynamic value=\"-1\"/></drake:proximity_properties></collision></link></robot>";
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("refused_world");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let path = folder.join("slippery.urdf");
    std::fs::write(&path, urdf).expect("can be written");
    let message = notes(&format!(
        "{BALL}[[models]]\nname = \"r\"\nroot = \"floating\"\nfile = {path:?}\n"
    ))
    .expect_err("friction is negative");
    for part in ["s.toml:11:8", "slippery.urdf:1", "<drake:mu_dynamic> = -1"] {
        assert!(message.contains(part), "{part:?} is not in:\n{message}");
    }
}

#[test]
fn names_of_parts_are_checked_before_the_first_step() {
    let observable = |of: &str, quantity: &str| {
        format!("{ARM}[[observables]]\nname = \"o\"\nquantity = \"{quantity}\"\nof = \"{of}\"\n")
    };
    check_refused(
        &observable("arm/link_9", "position"),
        &[
            "s.toml:11:",
            "no link or frame \"link_9\"",
            "did you mean `link_1`?",
        ],
    );
    check_refused(
        &observable("arm", "joint-position"),
        &[
            "no joint, written as \"arm/JOINT\", \"arm\"",
            "known are `joint_1`",
        ],
    );
    check_refused(
        &format!("{ARM}held = [\"joint_11\"]\n"),
        &["s.toml:8:9", "no joint \"joint_11\" in robot \"arm7\""],
    );
}

const CUBE: &str = "[[fem]]\nname = \"cube\"\nmesh = { box = { size = [0.1, 0.1, 0.1], cells = [1, 1, 1] } }\nconstitutive_material = \"sponge\"\nregions.foot = { half_space = { point = [0, 0, -0.05], normal = [0, 0, 1] } }\n";

#[test]
fn errors_in_soft_bodies_give_line_and_reason() {
    let soft = |replaced: &str, by: &str| {
        assert!(CUBE.contains(replaced));
        CUBE.replace(replaced, by)
    };
    let constitutive_material = |stuff: &str| soft("\"sponge\"", stuff);
    check_accepted(CUBE);
    for (fragment, expected) in [
        (
            constitutive_material("\"jelly\""),
            "there is no material preset \"jelly\"",
        ),
        (
            constitutive_material("{ youngs_modulus = 1e5, poissons_ratio = 0.5 }"),
            "poissons_ratio = 0.5 must lie in (-1, 0.5)",
        ),
        (
            constitutive_material("{ youngs_modulus = 0, poissons_ratio = 0.3 }"),
            "youngs_modulus = 0 must be positive",
        ),
        (
            constitutive_material("{ youngs_modulus = 1e5 }"),
            "lacks the key `poissons_ratio`",
        ),
        (
            constitutive_material("{ preset = \"rubber\", c1 = 1 }"),
            "has no key `c1`; it belongs to `mooney-rivlin`",
        ),
        (
            constitutive_material("{ law = \"mooney-rivlin\", preset = \"rubber\" }"),
            "has no key `preset`; it belongs to `linear-corotated`",
        ),
        (
            format!("{CUBE}density = 0\n"),
            "density = 0 must be positive",
        ),
        (
            soft("-0.05]", "-0.06]"),
            "region \"foot\" contains no point: in its own frame the body lies between (-0.0500",
        ),
        (
            format!("{CUBE}fixed = [{{ region = \"foo\" }}]\n"),
            "did you mean `foot`?",
        ),
        (
            format!("{CUBE}fixed = [{{ region = \"foot\", axes = \"xw\" }}]\n"),
            "must consist of the letters x, y and z",
        ),
        (
            format!("{CUBE}touches_by = \"vertices\"\nself_contact = \"present\"\n"),
            "`self_contact` by vertices needs a `contact_radius`",
        ),
        (
            format!("{CUBE}color_max = 1\n"),
            "`color_max` goes with a `color_by`",
        ),
        (
            format!(
                "{CUBE}fixed = [{{ region = \"foot\" }}]\n[[constraints]]\nname = \"t\"\nbetween = [\"world\", \"cube/foot\"]\n"
            ),
            "is fixed already; remove it from one of the regions",
        ),
        (
            format!(
                "{CUBE}{}[[constraints]]\nname = \"t\"\nbetween = [\"cube2\", \"cube\"]\n",
                CUBE.replace("\"cube\"", "\"cube2\"")
            ),
            "both ends are soft",
        ),
        (
            format!(
                "{CUBE}[[constraints]]\nname = \"t\"\nkind = \"ball\"\nbetween = [\"world\", \"cube\"]\n"
            ),
            "a region is held as it is",
        ),
        (
            format!(
                "{CUBE}[[loads]]\non = \"cube/foot\"\nknots = [{{ at_s = 0, torque = [1, 0, 0] }}]\n"
            ),
            "points take no torque",
        ),
        (
            format!(
                "{CUBE}[[observables]]\nname = \"o\"\nquantity = \"orientation\"\nof = \"cube\"\n"
            ),
            "`orientation` is of rigid bodies",
        ),
        (
            format!(
                "{CUBE}[[observables]]\nname = \"o\"\nquantity = \"volume\"\nof = \"cube/foot\"\n"
            ),
            "`volume` is of a whole body",
        ),
        (
            format!(
                "{CUBE}[[observables]]\nname = \"o\"\nquantity = \"displacement\"\nof = \"cube/top\"\n"
            ),
            "there is no region of \"cube\" \"top\"",
        ),
        (
            format!(
                "{CUBE}[[observables]]\nname = \"o\"\nquantity = \"contact-force\"\nof = \"cube/foot\"\n"
            ),
            "a region does not on its own",
        ),
        (
            soft(
                "mesh = { box = { size = [0.1, 0.1, 0.1], cells = [1, 1, 1] } }",
                "mesh = { filled = { shape = { half_space = {} }, edge_length = 0.1 } }",
            ),
            "is unbounded and cannot be filled",
        ),
        (
            soft(
                "mesh = { box = { size = [0.1, 0.1, 0.1], cells = [1, 1, 1] } }",
                "mesh = { tetrahedra = { file = \"meshes/bowl.obj\" } }",
            ),
            "a closed surface is filled by",
        ),
    ] {
        check_refused(&fragment, &[expected, "s.toml:"]);
    }
}

#[test]
fn initial_overlap_of_bodies_is_noted() {
    let ball = |height: f64| {
        let pose = format!("pose = {{ position = [0, 0, {height}] }}\n");
        check_accepted(&format!("{FLOOR}{BALL}{pose}"))
    };
    let deep = ball(0.05);
    let said = "\"ball\" starts 5.00e-2 m deep in \"floor\"";
    let remarked = deep.iter().any(|note| {
        note.replace("\"floor\" starts 5.00e-2 m deep in \"ball\"", said)
            .contains(said)
    });
    assert!(remarked, "{deep:?}");
    assert!(ball(0.099).is_empty(), "a millimetre is no mistake");
    for (name, _) in pliant::scene::bundled::SCENES {
        let scene = Scene::load(name, &SceneOptions::default()).expect("a bundled scene");
        let notes = check(&scene).expect("a scene that begins").notes;
        let suspicious = notes.iter().find(|note| note.starts_with("suspicious"));
        assert_eq!(suspicious, None, "{name}");
    }
}

#[test]
fn implausible_densities_are_noted() {
    let notes = check_accepted(&format!("{BALL}mass = 1e-4\n"));
    let said = "body \"ball\" of 0.0001 kg";
    assert!(notes.iter().any(|note| note.contains(said)), "{notes:?}");
    assert!(check_accepted(&format!("{BALL}mass = 4\n")).is_empty());
}

#[test]
fn degrees_where_radians_are_meant_are_recognised() {
    let notes = check_accepted(&format!("{ARM}{ACTUATED}{}", target("90")));
    let expected = ["\"joint_1\"", "\"90*deg\"", "(1.5708 rad)"];
    let hits = |note: &String| expected.iter().all(|part| note.contains(part));
    assert!(notes.iter().any(hits), "{notes:?}");
    // Beyond the limits in either unit.
    let notes = check_accepted(&format!("{ARM}{ACTUATED}{}", target("900")));
    assert!(!notes.iter().any(|note| note.contains("deg")), "{notes:?}");
    check_refused(
        &format!("{ARM}positions = {{ joint_1 = 45 }}\n"),
        &["outside the joint's limits", "\"45*deg\""],
    );
}

#[test]
fn a_frame_target_out_of_reach_is_noted() {
    let to = |x: f64| {
        let knots = format!(
            "knots = [{{ at_s = 0, pose = {{ position = [0.4, 0, 0.5] }} }}, {{ at_s = 0.8, pose = {{ position = [{x}, 0, 0.5] }} }}]"
        );
        let target =
            format!("[[frame_targets]]\nframe = \"arm/flange\"\nfollow = \"position\"\n{knots}\n");
        check_accepted(&format!(
            "{ARM}{ACTUATED}positions = {{ joint_2 = 0.5, joint_4 = -1.87, joint_6 = -0.8 }}\n{target}"
        ))
    };
    let notes = to(4.0);
    // The flange is at most 1.3 m from the base.
    let hits = |note: &String| {
        note.contains("\"arm/flange\" does not reach its pose at 0.8 s")
            && (note.contains("it stays 2.") || note.contains("it stays 3."))
            && !note.contains("rad")
    };
    assert!(notes.iter().any(hits), "{notes:?}");
    assert!(!to(0.5).iter().any(|note| note.contains("reach")));
}

#[test]
fn a_run_of_more_steps_than_can_be_taken_is_refused() {
    let scene = Scene::parse("s.toml", &format!("{HEAD}{BALL}"), &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let options = pliant::runner::RunOptions {
        length: pliant::runner::RunLength::Until(1e300),
        ..Default::default()
    };
    let refused = pliant::runner::run(&scene, &options, &mut |_| {});
    let message = refused.expect_err("1e303 steps").to_string();
    assert!(message.contains("1e303 steps of 0.001 s"), "{message}");
}

#[test]
fn targets_from_a_file_are_those_of_equal_knots() {
    let folder = std::env::temp_dir().join(format!("pliant-trajectory-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(
        folder.join("way.csv"),
        "joint_2,time_s,joint_1\n0.3,0,0\n0.6,0.5,0.4\n",
    )
    .expect("written");
    let targets = |text: &str| {
        let text = format!("{HEAD}{ARM}{ACTUATED}[[joint_targets]]\nmodel = \"arm\"\n{text}");
        let path = folder.join("scene.toml");
        std::fs::write(&path, text).expect("written");
        Scene::load(path.to_str().expect("UTF-8"), &SceneOptions::default())
            .map(|scene| {
                let end = check(&scene).map_err(|error| error.to_string());
                assert_eq!(end.err(), None);
                scene.drives.joint_targets[0].track.clone()
            })
            .map_err(|error| error.to_string())
    };
    let by_knots = targets(
        "joints = [\"joint_2\", \"joint_1\"]\nknots = [{ at_s = 0, positions = [0.3, 0] }, { at_s = 0.5, positions = [0.6, 0.4] }]\n",
    );
    assert!(by_knots.is_ok());
    assert_eq!(targets("file = \"way.csv\"\n"), by_knots);
    let one = targets("file = \"way.csv\"\njoints = [\"joint_1\"]\n").expect("a column");
    assert_eq!(one.knots_of(0).collect::<Vec<_>>(), [0.0, 0.4]);
    let refused = [
        (
            "file = \"way.csv\"\njoints = [\"joint_3\"]\n",
            "no column \"joint_3\"; did you mean",
        ),
        (
            "file = \"way.csv\"\nknots = []\n",
            "`file` and `knots` exclude each other",
        ),
        ("file = \"none.csv\"\n", "no file \"none.csv\""),
        ("file = \"wya.csv\"\n", "did you mean `way.csv`?"),
        ("joints = [\"joint_1\"]\n", "lacks the key `knots`"),
    ];
    for (text, part) in refused {
        let message = targets(text).expect_err(text);
        assert!(message.contains(part), "{part:?} is not in:\n{message}");
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}
