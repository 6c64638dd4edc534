//! Faults of scene files, each with its message; and what a correct file becomes.

use super::*;

/// What every scene needs; the fragment under test follows.
const HEAD: &str = "schema = 1\ntitle = \"test\"\n[simulation]\nsmoke_s = 1\n";
const BALL: &str = "[[bodies]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\n";
const ROBOT: &str = "[[models]]\nname = \"arm\"\nurdf = \"arm.urdf\"\n";

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
        &["[camera] has no key `zoom`; known are `eye`, `target`"],
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
            "[contact]: model = \"laged\" is not one of `lagged`, `similar`, `sap`; did you mean `lagged`?",
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
        &["there is no fixed shape or body or model or repeat \"bal\"; did you mean `ball`?"],
    );
    check_fragment(
        &format!(
            "{BALL}[[joint_targets]]\nmodel = \"ball\"\njoints = [\"a\"]\nknots = [{{ at_s = 0, positions = [1] }}]\n"
        ),
        &["there is no model \"ball\"; \"ball\" is a body"],
    );
    check_fragment(
        &format!("{BALL}[[loads]]\non = \"ball/link\"\nknots = [{{ at_s = 0 }}]\n"),
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
        "[[ties]]\nname = \"t\"\nbetween = [\"world\", \"b\"]\n",
        &["there is no world or fixed shape or body or model \"b\""],
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
        solver: Some(SolverKind::Newton),
        ..SceneOptions::default()
    };
    let text = format!("{HEAD}{BALL}density = \"dt*1000\"\n");
    let scene = Scene::parse("s.toml", &text, &options).unwrap();
    assert_eq!(scene.simulation.time_step_s, 0.01);
    assert_eq!(scene.solver.kind, SolverKind::Newton);
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
fn keys_that_exclude_each_other_are_refused() {
    check_fragment(
        &format!("{BALL}density = 1\nmass = 1\n"),
        &["`mass` and `density` are both given"],
    );
    check_fragment(
        &format!("{BALL}shapes = []\n"),
        &["`shape` and `shapes` are both given"],
    );
    check_fragment(
        "[[bodies]]\nname = \"a\"\nshapes = []\n",
        &["must hold at least one shape"],
    );
    check_fragment(
        "[[bodies]]\nname = \"a\"\nmass = 1\nshapes = [{ shape = { sphere = { radius = 1 } }, density = 2 }]\n",
        &["the body's `mass` is given already"],
    );
    check_fragment(
        "[[bodies]]\nname = \"a\"\nsurface_velocity = [1, 0, 0]\nshapes = [{ shape = { sphere = { radius = 1 } } }]\n",
        &["`surface_velocity` belongs to one shape"],
    );
    check_fragment(
        "[[bodies]]\nname = \"a\"\nshape = { half_space = {} }\n",
        &["has no end and so no mass"],
    );
    check_fragment(
        &format!("{BALL}pose = {{ rpy = [1, 0, 0], quat_wxyz = [1, 0, 0, 0] }}\n"),
        &["`rpy` and `quat_wxyz` are both given"],
    );
    check_fragment(
        &format!("{BALL}pose = {{ quat_wxyz = [1, 1, 0, 0] }}\n"),
        &["must have length 1, it has 1.4142"],
    );
    check_fragment("[camera]\neye = [0, 0, 0]\n", &["are the same point"]);
    check_fragment(
        "[contact]\nmodel = \"sap\"\nfriction_limit = \"lagged\"\n",
        &["`friction_limit` goes with"],
    );
    check_fragment("[[filters]]\n", &["give either `between` or `within`"]);
    check_fragment(
        &format!("{BALL}[[filters]]\nbetween = [\"ball\"]\n"),
        &["must be a list of two names"],
    );
    check_fragment(
        &format!(
            "{BALL}[[fixed]]\nname = \"floor\"\nshape = {{ half_space = {{}} }}\n[[pairs]]\nbetween = [\"ball\", \"floor\"]\n"
        ),
        &["changes nothing"],
    );
    check_fragment(
        &format!("{ROBOT}velocity = [1, 0, 0]\n"),
        &["a fixed root has no velocity"],
    );
    check_fragment(
        "[[bodies]]\nname = \"a\"\nshape = { convex_hull = { points = [[0, 0, 0]] } }\n",
        &["1 points must be at least 4"],
    );
}

#[test]
fn faults_of_ties_are_refused() {
    let tie = |keys: &str| {
        format!("{BALL}[[ties]]\nname = \"t\"\nbetween = [\"ball\", \"world\"]\n{keys}\n")
    };
    check_fragment(
        &tie("length = 1"),
        &["[[ties]] \"t\": `length` goes with `kind = \"distance\"` only"],
    );
    check_fragment(&tie("points = [[0, 0, 0]]"), &["1 points must be 2 points"]);
    check_fragment(
        &tie("release_at_s = -1"),
        &["release_at_s = -1 must not be negative"],
    );
    check_fragment(&tie("kind = \"glue\""), &["`weld`, `ball`, `distance`"]);
}

#[test]
fn faults_of_actuators_are_refused() {
    check_fragment(
        &format!("{ROBOT}actuators = {{ j = {{ proportional = 1 }} }}\n"),
        &["[models.actuators.JOINT] \"j\" lacks the key `derivative`"],
    );
    check_fragment(
        &format!(
            "{ROBOT}actuators = {{ j = {{ proportional = 1, derivative = 1, effort_limit = -1 }} }}\n"
        ),
        &["effort_limit = -1 must not be negative"],
    );
    check_fragment(
        &format!("{ROBOT}positions = [1]\n"),
        &["`positions` must be a table of names and values"],
    );
}

#[test]
fn faults_of_drives_are_refused() {
    let target = |knots: &str| {
        format!(
            "{ROBOT}[[joint_targets]]\nmodel = \"arm\"\njoints = [\"a\", \"b\"]\nknots = [{knots}]\n"
        )
    };
    check_fragment(&target(""), &["must hold at least one knot"]);
    check_fragment(
        &target("{ at_s = 0, positions = [1] }"),
        &["1 numbers must be one for each of the 2 joints"],
    );
    check_fragment(
        &target("{ at_s = 0, positions = [1, 2] }, { at_s = 0, positions = [1, 2] }"),
        &["at_s = 0 must be later than the knot before, 0 s"],
    );
    check_fragment(&target("{ positions = [1, 2] }"), &["lacks the key `at_s`"]);
    check_fragment(
        &format!("{ROBOT}[[joint_efforts]]\nmodel = \"arm\"\njoints = []\n"),
        &["must name at least one joint"],
    );
}

#[test]
fn faults_of_repeats_are_refused() {
    let repeat = |keys: &str| {
        format!(
            "[[repeat]]\nname = \"r\"\ncount = 5\n{keys}\n[[repeat.templates]]\nshape = {{ sphere = {{ radius = 0.1 }} }}\n"
        )
    };
    check_fragment(&repeat(""), &["give either `grid` or `region`"]);
    check_fragment(
        &repeat("grid = { spacing = [1, 1, 1], counts = [2, 2, 1] }"),
        &["gives 4 places for 5 bodies"],
    );
    check_fragment(
        &repeat("region = { low = [0, 0, 0], high = [0.1, 0.1, 0.1] }"),
        &["repeat \"r\": body 1 of 5 finds no room after 10000 tries"],
    );
    check_fragment(
        &repeat("region = { low = [1, 0, 0], high = [0, 1, 1] }"),
        &["`high` must not be below `low`"],
    );
    check_fragment(
        &format!(
            "{}scale = [2, 1]\n",
            repeat("grid = { spacing = [1, 1, 1], counts = [5, 1, 1] }")
        ),
        &["scale = [2, 1] must be positive and ascending"],
    );
    check_fragment(
        &format!(
            "{}scale = [1, 2]\nmass = 1\n",
            repeat("grid = { spacing = [1, 1, 1], counts = [5, 1, 1] }")
        ),
        &["`mass` does not go with `scale`"],
    );
}

#[test]
fn repeated_bodies_depend_on_the_seed_alone() {
    let text = |seed: u32| {
        format!(
            "[[repeat]]\nname = \"r\"\ncount = 30\nseed = {seed}\norientation = \"random\"\n\
             region = {{ low = [-1, -1, 0], high = [1, 1, 2] }}\n\
             [[repeat.templates]]\nscale = [0.5, 1.5]\nshape = {{ sphere = {{ radius = 0.1 }} }}\n\
             [[repeat.templates]]\nweight = 2\nshape = {{ box = {{ size = [0.1, 0.2, 0.1] }} }}\n"
        )
    };
    let (first, again, other) = (scene(&text(1)), scene(&text(1)), scene(&text(2)));
    let poses = |scene: &Scene| scene.bodies.iter().map(|b| b.pose).collect::<Vec<_>>();
    assert_eq!(poses(&first), poses(&again));
    assert_ne!(poses(&first), poses(&other));
    assert_eq!(first.repeats[0].1, 0..30);
    assert_eq!(first.bodies[29].name.name, "r_29");
    for (i, a) in first.bodies.iter().enumerate() {
        for b in &first.bodies[..i] {
            let radius = |b: &BodyEntry| b.body.shapes[0].shape.radius_about_origin().unwrap();
            let apart = (a.pose.translation.vector - b.pose.translation.vector).norm();
            assert!(
                apart > radius(a) + radius(b),
                "{} touches {}",
                a.name.name,
                b.name.name
            );
        }
    }
}

#[test]
fn grid_runs_along_x_first() {
    let scene = scene(
        "[[repeat]]\nname = \"r\"\ncount = 5\n\
         grid = { origin = [1, 0, 0], spacing = [0.5, 1, 2], counts = [2, 2, 2] }\n\
         [[repeat.templates]]\nshape = { sphere = { radius = 0.1 } }\n",
    );
    let places: Vec<[f64; 3]> = scene
        .bodies
        .iter()
        .map(|b| b.pose.translation.vector.into())
        .collect();
    let expected = [
        [1.0, 0.0, 0.0],
        [1.5, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [1.5, 1.0, 0.0],
        [1.0, 0.0, 2.0],
    ];
    assert_eq!(places, expected);
}

#[test]
fn faults_of_observables_are_refused() {
    let observable = |keys: &str| format!("{BALL}[[observables]]\nname = \"o\"\n{keys}\n");
    check_fragment(
        &observable("quantity = \"speed\""),
        &["quantity = \"speed\" is not one of `position`"],
    );
    check_fragment(
        &observable("quantity = \"position\""),
        &["the quantity `position` needs `of`"],
    );
    check_fragment(
        &observable("quantity = \"iterations\"\nof = \"ball\""),
        &["takes no `of`"],
    );
    check_fragment(
        &observable("quantity = \"position\"\nof = \"ball\"\ncomponent = \"tilt\""),
        &["component = \"tilt\" is not one of `norm`, `x`, `y`, `z`"],
    );
    check_fragment(
        &observable("quantity = \"energy\"\ncomponent = \"x\""),
        &["the quantity `energy` is a plain number"],
    );
    check_fragment(
        &observable("quantity = \"position\"\nof = \"ball\"\ncomponent = \"x\"\nalong = [1, 0, 0]"),
        &["`component` and `along` are both given"],
    );
    check_fragment(
        &observable("quantity = \"position\"\nof = \"ball\"\nalong = [0, 0, 0]"),
        &["must have a direction"],
    );
    check_fragment(
        &observable("quantity = \"orientation\"\nof = \"ball\"\nalong = [1, 0, 0]"),
        &["an orientation has no part along a direction"],
    );
    check_fragment(
        &observable("quantity = \"energy\"\nwith = \"ball\""),
        &["`with` goes with quantities of contacts"],
    );
    check_fragment(
        &observable("quantity = \"energy\"\npoint = [1, 0, 0]"),
        &["`point` goes with"],
    );
    check_fragment(
        &observable("quantity = \"energy\"\namong = \"max\""),
        &["`among` does not go with"],
    );
    check_fragment(
        &observable("quantity = \"energy\"\nunit = \"kJ\""),
        &["`unit` goes with"],
    );
    check_fragment(
        &observable("quantity = \"energy\"\nexpression = \"1\""),
        &["`expression` goes with"],
    );
    check_fragment(
        &observable("quantity = \"expression\""),
        &["lacks the key `expression`"],
    );
    check_fragment(
        &observable("quantity = \"expression\"\nexpression = \"2*oo\""),
        &["there is no parameter or earlier observable \"oo\""],
    );
    check_fragment(
        &format!(
            "{}[[observables]]\nname = \"o\"\nquantity = \"energy\"\n",
            observable("quantity = \"energy\"")
        ),
        &["the name \"o\" is taken by the observable of line 9"],
    );
    check_fragment(
        &observable("quantity = \"position\"\nof = \"ball\"\namong = \"max\""),
        &["there is no repeat \"ball\"; \"ball\" is a body"],
    );
}

#[test]
fn faults_of_expectations_are_refused() {
    let expect = |keys: &str| {
        format!(
            "[[observables]]\nname = \"e\"\nquantity = \"energy\"\n[[expect]]\nobservable = \"e\"\nsource = \"x\"\n{keys}\n"
        )
    };
    check_fragment(&expect(""), &["needs bounds"]);
    check_fragment(&expect("equals = 1"), &["`equals` needs `within`"]);
    check_fragment(&expect("within = 1"), &["`within` needs `equals`"]);
    check_fragment(
        &expect("equals = 1\nwithin = 1\nat_most = 3"),
        &["`equals` does not go with"],
    );
    check_fragment(
        &expect("at_least = 2\nat_most = 1"),
        &["at_least = 2 is above at_most = 1"],
    );
    check_fragment(
        &expect("at_most = 1\nat_s = 1\nfrom_s = 0"),
        &["`at_s` does not go with"],
    );
    check_fragment(
        &expect("at_most = 1\nat_s = 1\ntake = \"max\""),
        &["`take` needs a window"],
    );
    check_fragment(
        &expect("at_most = 1\nfrom_s = 2\nuntil_s = 1"),
        &["until_s = 1 must not be before from_s = 2"],
    );
    check_fragment(
        "[[observables]]\nname = \"e\"\nquantity = \"energy\"\n[[expect]]\nobservable = \"e\"\nat_most = 1\n",
        &["lacks the key `source`"],
    );
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
