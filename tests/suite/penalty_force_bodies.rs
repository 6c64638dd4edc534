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

/// Height of a soft bar above the edge of another, across it, that it has fallen on; no vertex of either comes near.
fn height_on_an_edge(edges: &str) -> f64 {
    let text = format!(
        r#"schema = 1
title = "Soft bars on edge"
[parameters]
half = 0.03
apex = "half*sqrt(2)"
[simulation]
time_step_s = 5e-3
smoke_s = 0.15
stepper = "penalty-force"
[materials.default]
friction = 0.5
stiffness = 2e3
[[pairs]]
between = ["low", "high"]
edges = "{edges}"
[[fem]]
name = "low"
mesh = {{ box = {{ size = [0.3, "2*half", "2*half"], cells = [3, 1, 1] }} }}
constitutive_material = {{ youngs_modulus = 1e6, poissons_ratio = 0.3 }}
density = 300
pose = {{ position = [0, 0, "-apex"], rpy = ["45*deg", 0, 0] }}
fixed = [{{ region = "lower" }}]
[fem.regions]
lower = {{ half_space = {{ point = [0, 0.01, 0], normal = [0, 1, 1] }} }}
[[fem]]
name = "high"
mesh = {{ box = {{ size = [0.3, "2*half", "2*half"], cells = [3, 1, 1] }} }}
constitutive_material = {{ youngs_modulus = 1e6, poissons_ratio = 0.3 }}
density = 300
pose = {{ position = [0, 0, "apex + 1e-3"], rpy = ["45*deg", 0, "90*deg"] }}
[[observables]]
name = "z"
quantity = "position"
of = "high"
component = "z"
[[expect]]
observable = "z"
at_s = 0.15
at_least = -1
source = "the value is looked at by the test"
"#
    );
    let scene = Scene::parse("bars", &text, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let outcome =
        run(&scene, &RunOptions::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.summary.unconverged_steps, 0, "edges = {edges}");
    let found = outcome.summary.expectations[0].found;
    found.expect("a height at the end") - 0.03 * 2.0_f64.sqrt()
}

#[test]
fn soft_bars_cross_on_their_edges_where_the_pair_has_them() {
    // 0.324 kg sag by m g/k = 3.2 mm, and by twice that from above; a free fall is 0.11 m.
    let held = height_on_an_edge("crossing");
    assert!((-0.01..0.0).contains(&held), "{held}");
    let passed = height_on_an_edge("none");
    assert!(passed < -0.1, "{passed}");
}

/// How far a rod across a slope of 20 degrees has come after 0.2 s from rest, m.
fn way_of_a_rod(rod_particles: u32) -> f64 {
    let angle = 20.0_f64.to_radians();
    let text = format!(
        r#"schema = 1
title = "A rod across a slope"
[simulation]
time_step_s = 5e-4
smoke_s = 0.2
stepper = "penalty-force"
rod_particles = {rod_particles}
gravity = [{}, 0, {}]
[materials.default]
friction = 0.5
stiffness = 200
[[fixed]]
name = "plane"
shape = {{ half_space = {{}} }}
[[rods]]
name = "rod"
centreline = {{ line = {{ from = [0, -0.1, 0], to = [0, 0.1, 0], edges = 4 }} }}
section = {{ circle = {{ radius = 0.01 }} }}
youngs_modulus = 1e6
density = 1000
pose = {{ position = [0, 0, 0.0095] }}
[[observables]]
name = "x"
quantity = "position"
of = "rod"
component = "x"
[[expect]]
observable = "x"
at_s = 0.2
at_least = -1
source = "the value is looked at by the test"
"#,
        9.81 * angle.sin(),
        -9.81 * angle.cos(),
    );
    let scene = Scene::parse("rod", &text, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let outcome =
        run(&scene, &RunOptions::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.summary.unconverged_steps, 0);
    outcome.summary.expectations[0].found.expect("a place")
}

#[test]
fn a_rod_with_rings_of_particles_rolls_and_its_nodes_alone_stick() {
    // A cylinder rolls with 2/3 g sin θ; the rings make it a prism, and move straight within a step.
    let rolled = 0.5 * 2.0 / 3.0 * 9.81 * 20.0_f64.to_radians().sin() * 0.04;
    let found = way_of_a_rod(40);
    assert!((found / rolled - 1.0).abs() < 0.05, "{found} {rolled}");
    let stuck = way_of_a_rod(0);
    assert!(stuck.abs() < 2e-3, "{stuck}");
}
