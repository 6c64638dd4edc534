//! Faults of scene files, each with its message; and what a correct file becomes.

mod repeats;
mod sections;

use super::*;

/// What every scene needs; the fragment under test follows.
const HEAD: &str = "schema = 1\ntitle = \"test\"\n[simulation]\nsmoke_s = 1\n";
const BALL: &str = "[[bodies]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\n";
const ROBOT: &str = "[[models]]\nname = \"arm\"\nfile = \"arm.urdf\"\n";

fn parse(text: &str) -> Result<Scene, SceneError> {
    Scene::parse("s.toml", text, &SceneOptions::default())
}

#[track_caller]
fn check_error(text: &str, expected: &[&str]) {
    let message = parse(text).expect_err("the scene is wrong").to_string();
    for part in expected {
        assert!(message.contains(part), "{part:?} is not in:\n{message}");
    }
}

/// As `check_error`, behind a head that is right.
#[track_caller]
fn check_fragment(fragment: &str, expected: &[&str]) {
    check_error(&format!("{HEAD}{fragment}"), expected);
}

fn scene(fragment: &str) -> Scene {
    parse(&format!("{HEAD}{fragment}")).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn text_that_is_no_toml_is_refused_at_its_place() {
    check_error("schema = 1\ntitle = \n", &["s.toml:2:", "2 | title ="]);
}

#[test]
fn unknown_versions_of_the_schema_are_refused() {
    check_error(
        "schema = 2\n",
        &["s.toml:1:10", "schema = 2", "reads schema = 1"],
    );
    check_error("title = \"x\"\n", &["scene lacks the key `schema`"]);
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    check_fragment(
        &format!("{BALL}densty = 3\n"),
        &[
            "s.toml:8:1",
            "[[bodies]] has no key `densty`; did you mean `density`?",
            "8 | densty = 3",
            "^^^^^^",
        ],
    );
    check_fragment(
        "[kontact]\n",
        &["scene has no key `kontact`; did you mean `contact`?"],
    );
    check_fragment(
        "[camera]\nzoom = 1\n",
        &["[camera] has no key `zoom`; known are `direction`, `eye`, `follow`, `fov`, `target`"],
    );
    check_fragment(
        "[[bodies]]\nname = \"a\"\nshape = { sphere = { radius = 1, size = 2 } }\n",
        &["shape.sphere has no key `size`"],
    );
}

#[test]
fn missing_keys_are_named_with_what_goes_in() {
    check_error(
        "schema = 1\ntitle = \"x\"\n",
        &["scene lacks the key `simulation`: table"],
    );
    check_error(
        "schema = 1\ntitle = \"x\"\n[simulation]\n",
        &["s.toml:3:", "lacks the key `smoke_s`: number > 0"],
    );
    check_fragment(
        "[[bodies]]\nname = \"a\"\n",
        &["[[bodies]] \"a\" lacks the key `shape`"],
    );
    check_fragment(
        "[[bodies]]\nname = \"a\"\nshape = { sphere = {} }\n",
        &["s.toml:7:", "shape.sphere lacks the key `radius`"],
    );
}

#[test]
fn values_of_the_wrong_kind_are_refused() {
    check_fragment(
        &format!("{BALL}density = true\n"),
        &["`density` must be a number, or an expression in quotes, not `true`"],
    );
    check_fragment(
        &format!("{BALL}velocity = 3\n"),
        &["`velocity` must be a list in brackets, not the number 3"],
    );
    check_fragment(
        &format!("{BALL}velocity = [1, 2]\n"),
        &["`velocity` must be a list of 3 numbers, not a list of 2"],
    );
    check_fragment(
        &format!("{BALL}velocity = [1, 2, []]\n"),
        &["`velocity[2]` must be a number", "a list of 0"],
    );
    check_fragment(
        &format!("{BALL}pose = \"here\"\n"),
        &["`pose` must be a table, not the text \"here\""],
    );
    check_fragment(
        "[[bodies]]\nname = 3\n",
        &["`name` must be a text in quotes, not the number 3"],
    );
    check_fragment("[[bodies]]\nname = 2001-01-01\n", &["not a date"]);
    check_fragment("bodies = 3\n", &["[simulation] has no key `bodies`"]);
}

#[test]
fn numbers_out_of_range_are_refused_with_the_range() {
    check_fragment(
        &format!("{BALL}density = -3\n"),
        &[
            "[[bodies]] \"ball\": density = -3 must be positive",
            "8 | density = -3",
        ],
    );
    check_fragment(
        &format!("{BALL}density = inf\n"),
        &["density = inf must be finite"],
    );
    check_fragment(
        &format!("{BALL}density = nan\n"),
        &["density = NaN must be a number"],
    );
    check_fragment(
        "[materials.a]\nfriction = -0.1\n",
        &["[materials.NAME] \"a\": friction = -0.1 must not be negative"],
    );
    check_fragment(
        "[materials.a]\nstiffness = 0\n",
        &["stiffness = 0 must be positive; `inf` is allowed"],
    );
    check_fragment(
        "[solver]\niterations_max = 2.5\n",
        &["iterations_max = 2.5 must be a whole number from 1"],
    );
    check_fragment(
        "[[bodies]]\nname = \"a\"\nshape = { box = { size = [1, 0, 1] } }\n",
        &["size[1] = 0 must be positive"],
    );
    check_fragment(
        &format!("{BALL}color = [1, 2, 0]\n"),
        &["color", "must lie in 0..1"],
    );
    check_fragment(
        &format!("{BALL}color = [1, 0]\n"),
        &["must be 3 or 4 numbers"],
    );
    check_fragment(
        "full_s = 0.5\n",
        &["full_s = 0.5 must not be less than smoke_s = 1"],
    );
}

#[test]
fn unknown_choices_list_the_known_ones() {
    check_fragment(
        "[contact]\nmodel = \"laged\"\n",
        &[
            "[contact]: model = \"laged\" is not one of `lagged`, `similar`, `sap`, `energy`; did you mean `lagged`?",
        ],
    );
    check_fragment(
        "[solver]\nname = \"magic\"\n",
        &["name = \"magic\" is not one of `newton`"],
    );
    check_fragment(
        "[[bodies]]\nname = \"a\"\nshape = { ball = { radius = 1 } }\n",
        &["`shape` has no key `ball`; known are", "`sphere`"],
    );
    check_fragment(
        "[[bodies]]\nname = \"a\"\nshape = {}\n",
        &["`shape` must be a table with one of `half_space`, `sphere`"],
    );
}

#[test]
fn names_are_unique_and_free_of_slashes() {
    check_fragment(
        &format!("{BALL}{BALL}"),
        &[
            "s.toml:9:8",
            "the name \"ball\" is taken by the body of line 6",
        ],
    );
    check_fragment(
        "[[bodies]]\nname = \"a/b\"\n",
        &["name = \"a/b\" must consist of letters"],
    );
    check_fragment("[[bodies]]\nname = \"world\"\n", &["`world` is taken"]);
    check_fragment("[[bodies]]\nname = \" \"\n", &["must not be empty"]);
}

#[test]
fn names_of_nothing_bring_the_nearest_known_one() {
    check_fragment(
        &format!("{BALL}[[filters]]\nbetween = [\"ball\", \"bal\"]\n"),
        &[
            "there is no fixed shape or body or model or repeat or soft body or set of copies \"bal\"; did you mean `ball`?",
        ],
    );
    check_fragment(
        &format!(
            "{BALL}[[joint_targets]]\nmodel = \"ball\"\njoints = [\"a\"]\nknots = [{{ at_s = 0, positions = [1] }}]\n"
        ),
        &["there is no model \"ball\"; \"ball\" is a body"],
    );
    check_fragment(
        &format!(
            "{BALL}[[loads]]\non = \"ball/link\"\nknots = [{{ at_s = 0, force = [1, 0, 0] }}]\n"
        ),
        &["\"ball\" is a body and has no parts"],
    );
    check_fragment(
        &format!("{BALL}material = \"ice\"\n"),
        &["there is no material \"ice\"; there are none"],
    );
    check_fragment(
        "[[expect]]\nobservable = \"x\"\nsource = \"y\"\nat_most = 1\n",
        &["there is no observable \"x\""],
    );
    check_fragment(
        "[[body_motions]]\nbody = \"b\"\nknots = [{ at_s = 0, pose = {} }]\n",
        &["there is no body \"b\""],
    );
    check_fragment(
        "[[frame_targets]]\nframe = \"b/c\"\nknots = [{ at_s = 0, pose = {} }]\n",
        &["there is no model \"b/c\""],
    );
    check_fragment(
        "[[constraints]]\nname = \"t\"\nbetween = [\"world\", \"b\"]\n",
        &["there is no world or fixed shape or body or model or soft body \"b\""],
    );
    check_fragment(
        "[[pairs]]\nbetween = [\"a\", \"b\"]\nfriction = 1\n",
        &["\"a\""],
    );
}

#[test]
fn expressions_use_parameters_in_any_order() {
    let scene = scene(&format!(
        "{BALL}density = \"rho\"\n[parameters]\nrho = \"2*water\"\nwater = 1000\n"
    ));
    assert_eq!(scene.bodies[0].body.shapes[0].density, 2000.0);
    assert_eq!(scene.parameters["rho"], 2000.0);
}

#[test]
fn expressions_that_have_no_value_are_refused_at_their_place() {
    check_fragment(
        &format!("{BALL}density = \"2*rho\"\n[parameters]\nrhu = 3\n"),
        &[
            "s.toml:8:11",
            "`density` = \"2*rho\"",
            "`rho` is not known here; did you mean `rhu`?",
        ],
    );
    check_fragment(
        "[parameters]\na = \"b\"\nb = \"a\"\n",
        &["is defined by itself"],
    );
    check_fragment("[parameters]\na = \"a+1\"\n", &["`a` is defined by itself"]);
    check_fragment("[parameters]\na = \"1/0\"\n", &["not a finite number"]);
    check_fragment(
        "[parameters]\ndt = 1\n",
        &["must be a word", "and not `pi`"],
    );
    check_fragment("[parameters]\n\"my mu\" = 1\n", &["must be a word"]);
}

#[test]
fn overrides_replace_parameters_and_what_follows_from_them() {
    let text = format!("{HEAD}[parameters]\nmu = 0.5\ntwo = \"2*mu\"\n");
    let with = |setting: &str| {
        let options = SceneOptions {
            parameters: vec![setting.parse()?],
            ..SceneOptions::default()
        };
        Scene::parse("s.toml", &text, &options)
    };
    assert_eq!(with("mu = 2^5 - 2").unwrap().parameters["two"], 60.0);
    let message = |setting: &str| with(setting).unwrap_err().to_string();
    assert!(
        message("m=1").contains("--set m=1: s.toml has no parameter \"m\"; did you mean `mu`?")
    );
    assert!(message("mu=two").contains("is defined by itself"));
    assert!(message("mu=x").contains("`x` is not known here"));
    assert!(message("mu").contains("must look like name=value"));
    assert!(message("mu=").contains("must look like name=value"));
}

#[test]
fn time_step_and_solver_can_be_replaced() {
    let options = SceneOptions {
        time_step_s: Some(0.01),
        solver: Some("gauss-seidel".into()),
        ..SceneOptions::default()
    };
    let text = format!("{HEAD}{BALL}density = \"dt*1000\"\n");
    let scene = Scene::parse("s.toml", &text, &options).unwrap();
    assert_eq!(scene.simulation.time_step_s, 0.01);
    assert_eq!(scene.solver.name(), "gauss-seidel");
    assert_eq!(scene.bodies[0].body.shapes[0].density, 10.0);
    let options = SceneOptions {
        time_step_s: Some(-1.0),
        ..SceneOptions::default()
    };
    let message = Scene::parse("s.toml", &text, &options)
        .unwrap_err()
        .to_string();
    assert!(message.contains("time step must be positive"), "{message}");
}

#[test]
fn bundled_scenes_are_right() {
    for (name, text) in bundled::SCENES {
        let scene = Scene::parse(name, text, &SceneOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(!scene.expectations.is_empty(), "{name} expects nothing");
        assert!(!scene.description.is_empty(), "{name} is not described");
        assert_eq!(scene.name(), *name);
    }
}

#[test]
fn scenes_that_do_not_exist_bring_the_nearest_bundled_one() {
    let error = Scene::load("box-on-inclne", &SceneOptions::default()).unwrap_err();
    assert!(
        error.to_string().contains("did you mean `box-on-incline`?"),
        "{error}"
    );
    assert!(Scene::load("box-on-incline", &SceneOptions::default()).is_ok());
}

#[test]
fn registered_parts_are_refused_under_names_that_are_taken() {
    let message = |registry: Registry| {
        let options = SceneOptions {
            registry,
            ..SceneOptions::default()
        };
        Scene::parse("s.toml", HEAD, &options)
            .unwrap_err()
            .to_string()
    };
    let mut registry = Registry::default();
    registry.quantity("speed", "m/s", &[], |_| {
        Ok(|_: &crate::registry::Snapshot<'_>| 0.0)
    });
    registry.quantity("speed", "m/s", &[], |_| {
        Ok(|_: &crate::registry::Snapshot<'_>| 1.0)
    });
    assert_eq!(
        message(registry),
        "the quantity `speed` is registered twice"
    );
}

#[test]
fn settings_of_a_registered_part_are_checked_by_its_keys() {
    const KEYS: &[Key] = &[Key {
        name: "gain",
        value: ValueKind::Between(0.0, 2.0),
        unit: "",
        default: "1",
        about: "a factor",
    }];
    let mut registry = Registry::default();
    registry.quantity("pressure", "Pa", KEYS, |table| {
        let gain = table.number("gain")?;
        Ok(move |_: &crate::registry::Snapshot<'_>| gain)
    });
    let options = SceneOptions {
        registry,
        ..SceneOptions::default()
    };
    let parse = |keys: &str| {
        let text = format!("{HEAD}[[observables]]\nname = \"p\"\nquantity = {keys}\n");
        Scene::parse("s.toml", &text, &options).map_err(|error| error.to_string())
    };
    assert!(parse("\"pressure\"\ngain = \"sqrt(2)\"").is_ok());
    for (keys, expected) in [
        ("\"pressure\"\ngain = 2", "must lie in (0, 2)"),
        ("\"pressure\"\ngian = 1", "did you mean `gain`?"),
        ("\"pressur\"", "did you mean `pressure`?"),
        ("\"energy\"\ngain = 1", "it belongs to `pressure`"),
    ] {
        let message = parse(keys).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}
