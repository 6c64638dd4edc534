//! A quantity of one's own in `[[observables]]`: the part of the mechanical energy that contact has dissipated.

use std::error::Error;

use pliant::Registry;
use pliant::registry::Snapshot;
use pliant::runner::{RunOptions, run};
use pliant::scene::{Key, REQUIRED, Scene, SceneOptions, ValueKind};

const SCENE: &str = r#"
schema = 1
title = "a box slides to a stop"
[simulation]
time_step_s = 0.002
smoke_s = 1.0
[[fixed]]
name = "floor"
shape = { half_space = {} }
[[bodies]]
name = "box"
shape = { box = { size = [0.2, 0.2, 0.1] } }
mass = 1.0
pose = { position = [0, 0, 0.05] }
velocity = [1, 0, 0]
[[observables]]
name = "lost"
quantity = "dissipated"
initial_energy = 0.9905
[[expect]]
observable = "lost"
source = "the box has stopped: all of m v^2/2 = 0.5 J is lost, of m (v^2/2 + g h) = 0.9905 J"
at_least = 0.504
at_most = 0.506
"#;

const KEYS: &[Key] = &[Key {
    name: "initial_energy",
    value: ValueKind::Positive,
    unit: "J",
    default: REQUIRED,
    about: "kinetic and potential energy at the start",
}];

fn main() -> Result<(), Box<dyn Error>> {
    let mut registry = Registry::default();
    registry.quantity("dissipated", "", KEYS, |table| {
        let initial = table.number("initial_energy")?;
        Ok(move |snapshot: &Snapshot<'_>| {
            let energy = snapshot.world.energy(snapshot.state);
            1.0 - (energy.kinetic + energy.potential) / initial
        })
    });
    let options = SceneOptions {
        registry,
        ..SceneOptions::default()
    };
    let scene = Scene::parse("sliding-box", SCENE, &options)?;
    let outcome = run(&scene, &RunOptions::default(), &mut |_| {})?;
    assert!(
        outcome.summary.is_as_expected(),
        "{:?}",
        outcome.summary.expectations
    );
    Ok(())
}
