//! Scenes that name no observables are measured all the same: energy, contact of each pair, errors of actuators.

use pliant::runner::{RunLength, RunOptions, RunOutcome, run};
use pliant::scene::{Scene, SceneOptions};

const BALL: &str = "[[bodies]]\nname = \"ball\"\nmass = 2\nshape = { sphere = { radius = 0.1 } }\npose = { position = [0, 0, 0.1] }\n";
const FLOOR: &str = "[[fixed]]\nname = \"floor\"\nshape = { half_space = {} }\n";

fn outcome(fragment: &str) -> RunOutcome {
    let text = format!("schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.5\n{fragment}");
    let scene = Scene::parse("t.toml", &text, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let length = RunOptions {
        length: RunLength::Smoke,
        ..RunOptions::default()
    };
    run(&scene, &length, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// The last value of a column, and its unit.
#[track_caller]
fn last(outcome: &RunOutcome, name: &str) -> (f64, String) {
    let columns = outcome.recording.observables();
    let column = columns.iter().position(|column| column.name == name);
    let column = column.unwrap_or_else(|| {
        let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        panic!("no column {name:?} among {names:?}")
    });
    (outcome.series.last()[column], columns[column].unit.clone())
}

#[test]
fn a_ball_at_rest_has_its_energy_and_its_contact_force() {
    let outcome = outcome(&format!("{BALL}{FLOOR}"));
    let (force, unit) = last(&outcome, "ball-floor.force");
    assert!(
        (force - 2.0 * 9.81).abs() < 1e-3 && unit == "N",
        "{force} {unit}"
    );
    let (energy, unit) = last(&outcome, "energy.total");
    // Its centre is 0.1 m above the origin.
    assert!(
        (energy - 2.0 * 9.81 * 0.1).abs() < 1e-2 && unit == "J",
        "{energy}"
    );
    assert_eq!(last(&outcome, "contacts.count").0, 1.0);
}

#[test]
fn an_arm_has_the_errors_of_its_actuators() {
    // A constant torque against the gain: the error is torque over gain.
    let arm = "[[models]]\nname = \"p\"\nfile = \"robots/double_pendulum.urdf\"\nheld = [\"elbow\"]\nactuators = { shoulder = { proportional = 100, derivative = 50 } }\n[[joint_efforts]]\nmodel = \"p\"\njoints = [\"shoulder\"]\nknots = [{ at_s = 0, efforts = [-2] }]\n";
    let outcome = outcome(&format!("gravity = [0, 0, 0]\n{arm}"));
    let (error, unit) = last(&outcome, "p.shoulder.error");
    assert!(
        (error - 0.02 * (1.0 - f64::exp(-1.0))).abs() < 2e-3,
        "{error}"
    );
    assert_eq!(unit, "rad");
    let columns = outcome.recording.observables();
    assert!(!columns.iter().any(|column| column.name.contains("elbow")));
}

#[test]
fn many_bodies_have_one_sum_and_named_observables_replace_all() {
    let many = "[[repeat]]\nname = \"grain\"\ncount = 20\nregion = { low = [-1, -1, 1], high = [1, 1, 3] }\n[[repeat.templates]]\nshape = { sphere = { radius = 0.05 } }\n";
    let outcome_of_many = outcome(&format!("{FLOOR}{many}"));
    let names: Vec<&String> = (outcome_of_many.recording.observables().iter())
        .map(|column| &column.name)
        .collect();
    let expected = [
        "energy.total",
        "energy.kinetic",
        "contacts.count",
        "contacts.penetration",
    ];
    assert_eq!(names, expected);
    let own = "[[observables]]\nname = \"z\"\nquantity = \"position\"\nof = \"ball\"\n";
    let outcome_of_own = outcome(&format!("{BALL}{FLOOR}{own}"));
    assert_eq!(outcome_of_own.recording.observables().len(), 1);
}
