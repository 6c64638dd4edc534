//! Scenes with entries that are valid one by one but contradict each other or have no effect: each is refused with position and
//! remedy.

use pliant::runner::check;
use pliant::scene::{Scene, SceneOptions};

pub(crate) const HEAD: &str = "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 1\n";
const BALL: &str = "[[bodies]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\n";
const FLOOR: &str = "[[fixed]]\nname = \"floor\"\nshape = { half_space = {} }\n";
const WALL: &str = "[[fixed]]\nname = \"wall\"\nshape = { half_space = {} }\n";
pub(crate) const ARM: &str = "[[models]]\nname = \"arm\"\nfile = \"robots/arm7.urdf\"\n";

fn notes(fragment: &str) -> Result<Vec<String>, String> {
    let text = format!("{HEAD}{fragment}");
    let scene = Scene::parse("s.toml", &text, &SceneOptions::default())
        .map_err(|error| error.to_string())?;
    let assembly = check(&scene).map_err(|error| error.to_string())?;
    Ok(assembly.notes)
}

#[track_caller]
pub(crate) fn check_refused(fragment: &str, expected: &[&str]) {
    let message = notes(fragment).expect_err("the scene contradicts itself");
    for part in expected {
        assert!(message.contains(part), "{part:?} is not in:\n{message}");
    }
}

#[track_caller]
pub(crate) fn check_accepted(fragment: &str) -> Vec<String> {
    notes(fragment).unwrap_or_else(|error| panic!("{error}"))
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
