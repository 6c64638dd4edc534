//! Contact of material points with the surface of finite elements: a cube of each, in collision and at rest.

use pliant::runner::{Outcome, RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

const SCENE: &str = r#"
schema = 1
title = "A cube of material points hits one of finite elements"
description = "Neither passes through the other, and momentum is kept."

[simulation]
time_step_s = 0.002
smoke_s = 0.12
gravity = [0, 0, 0]

[materials.default]
friction = 0.5
stiffness = 1e4

[[fem]]
name = "elements"
mesh = { box = { size = [0.08, 0.1, 0.1], cells = [3, 4, 4] } }
constitutive_material = { youngs_modulus = 2e4, poissons_ratio = 0.3 }
density = 400
pose = { position = [-0.05, 0, 0] }
velocity = [0.4, 0, 0]

[grid]
spacing = 0.03

[[material_points]]
name = "points"
shape = { box = { size = [0.06, 0.06, 0.06] } }
pose = { position = [0.025, 0.005, 0.01] }
constitutive_material = { youngs_modulus = 2e4, poissons_ratio = 0.3 }
density = 500
velocity = [-0.6, 0, 0.1]

[[observables]]
name = "force"
quantity = "contact-force"
of = "points"
with = "elements"
component = "x"

[[observables]]
name = "p.x"
quantity = "momentum"
component = "x"

[[observables]]
name = "p.y"
quantity = "momentum"
component = "y"

[[observables]]
name = "p.z"
quantity = "momentum"
component = "z"

[[observables]]
name = "l"
quantity = "angular-momentum"
component = "y"

[[observables]]
name = "left"
quantity = "lowest"
of = "points"
component = "x"

[[observables]]
name = "right"
quantity = "highest"
of = "elements"
component = "x"
"#;

#[test]
fn material_points_bounce_off_finite_elements_with_conserved_momentum() {
    let scene = Scene::parse("cubes", SCENE, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let outcome =
        run(&scene, &RunOptions::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.summary.unconverged_steps, 0);
    let series = &outcome.series;
    let rows = series.times_s().len();
    let column = |name: &str| {
        let mut columns = outcome.recording.observables().iter();
        let column = columns.position(|o| o.name == name).expect("observed");
        (0..rows)
            .map(move |row| series.at(row, column))
            .collect::<Vec<f64>>()
    };
    let forces = column("force");
    let pushed = forces.iter().copied().filter(|f| f.is_finite());
    let largest = pushed.fold(0.0, f64::max);
    assert!(largest > 1.0, "they met with {largest} N");

    // Solver tolerance 1e-6 of the largest momentum, in each of 60 steps.
    for name in ["p.x", "p.y", "p.z"] {
        let p = column(name);
        let off = p.iter().map(|x| (x - p[0]).abs()).fold(0.0, f64::max);
        assert!(off < 60.0 * 1e-6 * 0.15, "{name} changes by {off} kg m/s");
    }

    // First order in the step: contact points are those at its start.
    let l = column("l");
    let off = l.iter().map(|x| (x - l[0]).abs()).fold(0.0, f64::max);
    assert!(
        off < 0.02 * l[0].abs(),
        "angular momentum {} changes by {off}",
        l[0]
    );

    // The particles' own radius is 7.5 mm; a millimetre is allowed for compliance.
    let (left, right) = (column("left"), column("right"));
    let deepest = left.iter().zip(&right).map(|(l, r)| r - l);
    let deepest = deepest.fold(f64::NEG_INFINITY, f64::max);
    assert!(deepest < 0.003, "particles are {deepest} m inside");
    let (last, before) = (rows - 1, rows - 6);
    let parting = (left[last] - right[last]) - (left[before] - right[before]);
    assert!(parting > 0.0, "they part at the end: {parting} m");
}

/// A cube of material points on a bed of finite elements, with gravity inclined by `theta`.
const SLOPE: &str = r#"
schema = 1
title = "A cube of material points on a slope of finite elements"

[parameters]
mu = 0.2
theta = 0.4
mass = "0.06*0.06*0.04*800"

[simulation]
smoke_s = 0.4
time_step_s = 0.005
gravity = ["9.81*sin(theta)", 0, "-9.81*cos(theta)"]

[materials.default]
friction = "mu"
stiffness = 1e4
dissipation = 20

[[fem]]
name = "bed"
mesh = { box = { size = [0.4, 0.12, 0.06], cells = [10, 3, 2] } }
constitutive_material = { youngs_modulus = 1e6, poissons_ratio = 0.3 }
density = 1000
pose = { position = [0.1, 0, -0.03] }
regions.foot = { half_space = { point = [0, 0, -0.02], normal = [0, 0, 1] } }
fixed = [{ region = "foot" }]

[grid]
spacing = 0.02

[[material_points]]
name = "cube"
shape = { box = { size = [0.06, 0.06, 0.04] } }
pose = { position = [0.003, 0.002, 0.02] }
constitutive_material = { youngs_modulus = 2e5, poissons_ratio = 0.3 }
density = 800

[[observables]]
name = "normal"
quantity = "contact-force"
of = "cube"
with = "bed"
component = "z"

[[observables]]
name = "friction"
quantity = "contact-force"
of = "cube"
with = "bed"
along = [-1, 0, 0]

[[observables]]
name = "speed"
quantity = "velocity"
of = "cube"
component = "x"

[[expect]]
observable = "normal"
from_s = 0.2
until_s = 0.4
take = "mean"
equals = "mass*9.81*cos(theta)"
within = "0.01*mass*9.81"
source = "the bed carries its weight"

[[expect]]
observable = "friction"
from_s = 0.2
until_s = 0.4
take = "mean"
equals = "mass*9.81*min(mu*cos(theta), sin(theta))"
within = "0.01*mass*9.81"
source = "Coulomb: what holds it, or as much as there is"

[[expect]]
observable = "speed"
at_s = 0.4
equals = "0.4*9.81*max(0, sin(theta) - mu*cos(theta))"
within = "0.03*0.4*9.81*max(0.01, sin(theta) - mu*cos(theta))"
source = "g (sin - mu cos), or at rest"
"#;

#[test]
fn material_points_rest_stick_and_slide_on_finite_elements_by_coulomb_s_law() {
    for setting in ["mu=0.2", "mu=0.6"] {
        let options = SceneOptions {
            parameters: vec![setting.parse().expect("name=value")],
            ..SceneOptions::default()
        };
        let scene =
            Scene::parse("slope", SLOPE, &options).unwrap_or_else(|error| panic!("{error}"));
        let outcome = run(&scene, &RunOptions::default(), &mut |_| {})
            .unwrap_or_else(|error| panic!("{error}"));
        let failed: Vec<_> = (outcome.summary.expectations.iter())
            .filter(|v| v.outcome != Outcome::Met)
            .collect();
        assert!(failed.is_empty(), "{setting}: {failed:#?}");
    }
}
