//! Bodies of every kind slide and stop by Coulomb's law on penalty forces.
//!
//! On a slope of tan θ a body that slides has a = g (sin θ − μ cos θ) whatever it is made of: with μ = 0.1 it goes v₀t + at²/2 in a time t, with
//! μ = 0.125 it stops after v₀²/2|a| = 41.03 mm and does not creep. First order in dt, and attachments begin without friction.

use pliant::runner::{Outcome, RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

/// Runs a body on the slope; the places at the end of the run are within `within` of the law, and of each other, within `creep`, once it has stopped.
#[track_caller]
fn check(k: f64, dt: f64, within: f64, creep: f64, body: &str) {
    let slope = 0.1125_f64;
    let cosine = 1.0 / 1.0_f64.hypot(slope);
    let along = |mu: f64| 9.81 * (slope - mu) * cosine;
    let (until, v0) = (2.0, 0.1);
    let free = v0 * until + along(0.1) * until * until / 2.0;
    let stopped = v0 * v0 / (2.0 * -along(0.125));
    for (mu, expected, bound) in [(0.1, free, 1.0), (0.125, stopped, creep)] {
        let text = format!(
            r#"schema = 1
title = "A body on a slope"
[simulation]
time_step_s = {dt}
smoke_s = {until}
stepper = "penalty-force"
gravity = [{}, 0, {}]
[materials.default]
friction = {mu}
stiffness = {}
[[fixed]]
name = "plane"
shape = {{ half_space = {{}} }}
{body}
name = "body"
velocity = [{v0}, 0, 0]
[[observables]]
name = "x"
quantity = "position"
of = "body"
component = "x"
[[expect]]
observable = "x"
at_s = {until}
equals = {expected}
within = {}
source = "Coulomb"
[[expect]]
observable = "x"
from_s = 1.9
take = "spread"
at_most = {bound}
source = "static friction does not creep"
"#,
            9.81 * slope * cosine,
            -9.81 * cosine,
            2.0 * k,
            within * expected,
        );
        let scene = Scene::parse("slope", &text, &SceneOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let outcome = run(&scene, &RunOptions::default(), &mut |_| {})
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(outcome.summary.unconverged_steps, 0, "mu {mu}");
        for expectation in &outcome.summary.expectations {
            assert_eq!(
                expectation.outcome,
                Outcome::Met,
                "mu {mu}: {expectation:?}"
            );
        }
    }
}

#[test]
fn finite_elements_slide_and_stop() {
    check(
        1e3,
        0.004,
        0.01,
        1e-9,
        r#"[[fem]]
mesh = { box = { size = [0.2, 0.2, 0.1], cells = [2, 2, 1] } }
constitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.3 }
density = 250
pose = { position = [0, 0, 0.05] }"#,
    );
}

#[test]
fn a_rod_slides_and_stops() {
    check(
        50.0,
        0.005,
        0.01,
        1e-9,
        r#"[[rods]]
centreline = { line = { from = [-0.1, 0, 0], to = [0.1, 0, 0], edges = 10 } }
section = { circle = { radius = 0.01 } }
youngs_modulus = 1e6
pose = { position = [0, 0, 0.01] }"#,
    );
}

#[test]
fn material_points_slide_and_stop() {
    // Its particles go on settling through the grid for some seconds, at about 0.2 mm/s: 2e-5 m in the last 0.1 s.
    check(
        400.0,
        0.01,
        0.03,
        4e-5,
        r#"[grid]
spacing = 0.1
[[material_points]]
shape = { box = { size = [0.2, 0.2, 0.1] } }
constitutive_material = { law = "fixed-corotated", youngs_modulus = 1e4, poissons_ratio = 0.3 }
density = 250
pose = { position = [0, 0, 0.05] }"#,
    );
}
