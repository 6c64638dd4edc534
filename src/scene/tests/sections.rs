//! Faults within one section of a scene file.

use pliant_contact_sap::StopCriteria;

use super::*;

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
        &["is unbounded and has no mass"],
    );
    check_fragment(
        &format!("{BALL}pose = {{ rpy = [1, 0, 0], quat_wxyz = [1, 0, 0, 0] }}\n"),
        &["`rpy` and `quat_wxyz` are both given"],
    );
    check_fragment(
        &format!("{BALL}pose = {{ rpy = [0, 0, 90] }}\n"),
        &["more than a turn", "\"90*deg\""],
    );
    check_fragment(
        &format!("{BALL}pose = {{ quat_wxyz = [1, 1, 0, 0] }}\n"),
        &["must have length 1, it has 1.4142"],
    );
    check_fragment("[camera]\neye = [0, 0, 0]\n", &["are the same point"]);
    check_fragment(
        "[camera]\neye = [0, 1, 0]\ndirection = [0, 1, 0]\n",
        &["`eye` and `direction` are both given"],
    );
    check_fragment(
        "[camera]\ntarget = [0, 1, 0]\n",
        &["`target` belongs to a camera with an `eye`"],
    );
    check_fragment(
        "[camera]\ndirection = [0, 0, 0]\n",
        &["must have a direction"],
    );
    check_fragment("[camera]\nfov = 3\n", &["must lie in (0.01, 2.5)"]);
    check_fragment(
        "[camera]\nfollow = \"bal\"\n",
        &["body or model or soft body", "\"bal\""],
    );
    check_fragment(
        "[[cameras]]\nname = \"main\"\n",
        &["another camera has the name \"main\""],
    );
    check_fragment(
        "[contact]\nmodel = \"sap\"\nfriction_limit = \"lagged\"\n",
        &["has no key `friction_limit`; it belongs to `lagged`"],
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
    let constraint = |keys: &str| {
        format!("{BALL}[[constraints]]\nname = \"t\"\nbetween = [\"ball\", \"world\"]\n{keys}\n")
    };
    check_fragment(
        &constraint("length = 1"),
        &["[[constraints]] \"t\": `length` goes with `kind = \"distance\"` only"],
    );
    check_fragment(
        &constraint("points = [[0, 0, 0]]"),
        &["1 points must be 2 points"],
    );
    check_fragment(
        &constraint("release_at_s = -1"),
        &["release_at_s = -1 must not be negative"],
    );
    check_fragment(
        &constraint("kind = \"glue\""),
        &["`weld`, `ball`, `distance`"],
    );
}

#[test]
fn faults_of_actuators_are_refused() {
    check_fragment(
        &format!("{ROBOT}actuators = {{ j = {{ proportional = -1 }} }}\n"),
        &["proportional = -1 must not be negative"],
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
        &["an orientation has no component along a direction"],
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
        &["there is no repeat or set of copies \"ball\"; \"ball\" is a body"],
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
        &expect("at_most = 1\nfrom_s = 1\nuntil_s = 0.5"),
        &["until_s = 0.5 must not be before from_s = 1"],
    );
    check_fragment(
        "[[observables]]\nname = \"e\"\nquantity = \"energy\"\n[[expect]]\nobservable = \"e\"\nat_most = 1\n",
        &["lacks the key `source`"],
    );
}

#[test]
fn faults_of_the_solver_are_refused() {
    check_fragment(
        "[solver]\nline_search = \"armjo\"\n",
        &["is not one of `exact`, `armijo`; did you mean `armijo`?"],
    );
    check_fragment(
        "[solver]\nslope_tol = 1\n",
        &["has no key `slope_tol`; did you mean `slope_tolerance`?"],
    );
    check_fragment(
        "[solver]\nslope_tolerance = 1\n",
        &["slope_tolerance = 1 must lie in (0, 1)"],
    );
    check_fragment(
        "[solver]\nline_search = \"armijo\"\nslope_tolerance = 0.1\n",
        &["`slope_tolerance` goes with `line_search = \"exact\"` only"],
    );
    check_fragment(
        "[solver]\nname = \"quasi-newton\"\nfriction_tangent = \"plain\"\n",
        &[
            "[solver] name = \"quasi-newton\" has no key `friction_tangent`; it belongs to `newton`, `newton-cg`",
        ],
    );
    for (name, key) in [
        ("newton", "preconditioner = \"body\""),
        ("newton-cg", "acceleration = \"none\""),
        ("gauss-seidel", "line_search = \"exact\""),
        ("gauss-seidel", "slope_tolerance = 0.1"),
    ] {
        check_fragment(
            &format!("[solver]\nname = \"{name}\"\n{key}\n"),
            &["has no key `"],
        );
    }
}

#[test]
fn a_solver_from_outside_takes_the_settings_that_all_solvers_share() {
    let text = format!(
        "{HEAD}[solver]\nname = \"newton-cg\"\nrelative_tolerance = 1e-3\nabsolute_tolerance = 1e-9\niterations_max = 7\nline_search = \"armijo\"\nfriction_tangent = \"plain\"\npreconditioner = \"body\"\n"
    );
    for name in [None, Some("gauss-seidel")] {
        let options = SceneOptions {
            solver: name.map(str::to_owned),
            ..SceneOptions::default()
        };
        let solver = Scene::parse("s.toml", &text, &options).unwrap().solver;
        assert_eq!(solver.name(), name.unwrap_or("newton-cg"));
        let stop = StopCriteria {
            relative_tolerance: 1e-3,
            absolute_tolerance: 1e-9,
            iterations_max: 7,
        };
        assert_eq!(solver.stop(), stop);
    }
    let options = SceneOptions {
        solver: Some("newtn".into()),
        ..SceneOptions::default()
    };
    let error = Scene::parse("s.toml", &text, &options).unwrap_err();
    assert!(
        error.to_string().contains("did you mean `newton`?"),
        "{error}"
    );
}

#[test]
fn times_that_no_run_reaches_are_refused() {
    let expect = |keys: &str| {
        format!(
            "full_s = 3\n[[observables]]\nname = \"e\"\nquantity = \"energy\"\n[[expect]]\nobservable = \"e\"\nsource = \"x\"\nat_most = 1\n{keys}\n"
        )
    };
    for keys in ["at_s = 4", "from_s = 4", "until_s = 4"] {
        check_fragment(
            &expect(keys),
            &[
                "s.toml:13:",
                "= 4 comes after the end of a full run, full_s = 3",
            ],
        );
    }
    scene(&expect("at_s = 3"));
}

#[test]
fn lists_of_tables_have_two_brackets() {
    check_fragment(
        "[fixed]\nname = \"floor\"\n",
        &[
            "s.toml:5:1",
            "`fixed` must be a list of tables, `[[...]]` with two brackets",
        ],
    );
    check_fragment(
        &format!("{ROBOT}attached = {{}}\n"),
        &["`attached` must be a list of tables"],
    );
}
