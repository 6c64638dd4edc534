//! Steps that would take for ever: they are refused, or end when they are asked to, with the state before them.

use std::thread;

use pliant::runner::{RunEnd, RunError, RunOptions, Simulation, check, run};
use pliant::scene::{Scene, SceneOptions};
use pliant_contact_sap::Cancellation;
use pliant_coupling::StepError;

/// Dough on a floor; `more` are keys of the stepper, `dough` of the material points.
fn dough(more: &str, dough: &str) -> Scene {
    let text = format!(
        r#"
        schema = 1
        title = "dough"
        simulation = {{ smoke_s = 0.02, time_step_s = 0.002, {more} }}
        grid = {{ spacing = 0.05 }}
        [[fixed]]
        name = "floor"
        shape = {{ half_space = {{}} }}
        [[material_points]]
        name = "dough"
        constitutive_material = {{ youngs_modulus = 1e5, poissons_ratio = 0.3 }}
        density = 500
        shape = {{ box = {{ size = [0.1, 0.1, 0.05] }} }}
        pose = {{ position = [0, 0, 0.024] }}
        {dough}
        "#
    );
    Scene::parse("dough.toml", &text, &SceneOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// 0.5 h / v = 2.5e-11 s is the longest substep: 8e7 of them.
#[test]
fn a_step_of_too_many_substeps_names_the_body_and_its_speed() {
    let scene = dough("stepper = \"asynchronous\"", "velocity = [1e9, 0, 0]");
    let Err(error) = check(&scene) else {
        panic!("it would take an hour");
    };
    let RunError::Step { source, .. } = &error else {
        panic!("{error}");
    };
    let StepError::TooManySubsteps {
        body, needed, most, ..
    } = &**source
    else {
        panic!("{source}");
    };
    assert_eq!((&**body, *most), ("dough", 100_000));
    assert!((needed / 8e7 - 1.0).abs() < 1e-6, "{needed}");
    let message = error.to_string();
    assert!(message.contains("a particle of 99999999"), "{message}");
}

/// Steppers of long steps, each of seconds at least.
const LONG: [&str; 2] = [
    r#"stepper = "asynchronous", substeps = 100000"#,
    r#"stepper = "impulse-exchange", substeps = 100000"#,
];

#[test]
fn a_cancelled_step_leaves_the_state_before_it() {
    for stepper in LONG {
        let scene = dough(stepper, "");
        let mut simulation = Simulation::new(&scene).unwrap_or_else(|e| panic!("{e}"));
        let cancellation = Cancellation::default();
        simulation.cancel_with(&cancellation);
        let before = simulation.state().clone();
        let asked = cancellation.clone();
        let asking = thread::spawn(move || asked.request());
        let Err(error) = simulation.step(|_| {}) else {
            panic!("{stepper}: it was not cancelled");
        };
        asking.join().expect("it asks");
        let RunError::Step { source, .. } = &error else {
            panic!("{error}");
        };
        assert!(
            matches!(**source, StepError::Cancelled { step: 0, .. }),
            "{source}"
        );
        assert_eq!(simulation.state().bodies, before.bodies, "{stepper}");
        assert_eq!(simulation.state().step, 0);
    }
}

/// Every stepper ends before its first iteration where the request came before.
#[test]
fn every_stepper_asks() {
    for stepper in [
        "stepper = \"strong-implicit\"",
        "stepper = \"strong-implicit\", accuracy = 1e-3",
        "stepper = \"penalty-force\"",
        "stepper = \"asynchronous\"",
        "stepper = \"impulse-exchange\"",
    ] {
        let scene = dough(stepper, "");
        let mut simulation = Simulation::new(&scene).unwrap_or_else(|e| panic!("{e}"));
        let cancellation = Cancellation::default();
        simulation.cancel_with(&cancellation);
        cancellation.request();
        let error = simulation.step(|_| {}).expect_err(stepper).to_string();
        assert!(error.contains("was cancelled"), "{stepper}: {error}");
        cancellation.withdraw();
        simulation
            .step(|_| {})
            .unwrap_or_else(|e| panic!("{stepper}: {e}"));
    }
}

#[test]
fn a_cancelled_run_has_what_came_before() {
    let scene = dough("stepper = \"strong-implicit\"", "");
    let options = RunOptions::default();
    let cancellation = options.cancellation.clone();
    let outcome = run(&scene, &options, &mut |progress| {
        if progress.step == 3 {
            cancellation.request();
        }
    });
    let outcome = outcome.unwrap_or_else(|e| panic!("{e}"));

    assert_eq!((outcome.end, outcome.state.step), (RunEnd::Early, 3));
    let straight = run(
        &scene,
        &RunOptions {
            length: pliant::runner::RunLength::Until(0.006),
            ..RunOptions::default()
        },
        &mut |_| {},
    );
    let straight = straight.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(outcome.state.bodies, straight.state.bodies);
}
