//! Contact of a rod with material points.

use pliant::runner::{Outcome, RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

const SCENE: &str = r#"
schema = 1
title = "A bar falls on a block of material points"
description = "It comes to rest on it, and the block carries its weight."

[simulation]
time_step_s = 0.005
smoke_s = 1

[materials.default]
friction = 0.5
stiffness = 1e4
dissipation = 5

[[fixed]]
name = "floor"
shape = { half_space = {} }

[grid]
spacing = 0.02

[[material_points]]
name = "block"
shape = { box = { size = [0.12, 0.08, 0.04] } }
pose = { position = [0, 0, 0.02] }
constitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.3 }
density = 500

[[rods]]
name = "bar"
centreline = { line = { from = [-0.05, 0, 0.065], to = [0.05, 0, 0.065], edges = 10 } }
section = { circle = { radius = 0.01 } }
youngs_modulus = 1e7
density = 1000
mass_damping = 5
stiffness_damping = 1e-3

[[observables]]
name = "borne"
quantity = "contact-force"
of = "bar"
with = "block"
component = "z"

[[observables]]
name = "weight"
quantity = "expression"
expression = "9.81*1000*pi*0.01^2*0.1"
unit = "N"

[[observables]]
name = "part"
quantity = "expression"
expression = "borne/weight"
unit = ""

[[observables]]
name = "lowest"
quantity = "lowest"
of = "bar"
component = "z"

[[expect]]
observable = "part"
from_s = 0.7
take = "mean"
equals = 1
within = 0.02
source = "at rest the block carries the bar"

[[expect]]
observable = "lowest"
at_s = 1
equals = 0.05
within = 0.003
source = "the block is 40 mm high, the bar 10 mm in radius; both give way a little"
"#;

#[test]
fn a_bar_comes_to_rest_on_material_points_that_carry_its_weight() {
    let scene = Scene::parse("bar on block", SCENE, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let outcome =
        run(&scene, &RunOptions::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.summary.unconverged_steps, 0);
    let verdicts = &outcome.summary.expectations;
    assert_eq!(verdicts.len(), 2);
    assert!(
        verdicts.iter().all(|v| v.outcome == Outcome::Met),
        "{verdicts:#?}"
    );
}
