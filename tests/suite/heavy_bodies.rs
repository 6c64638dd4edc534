//! Heavy and light bodies rest at about the same depth by default, and what sinks for want of stiffness is noted.

use pliant::runner::{RunOptions, RunOutcome, run};
use pliant::scene::{Scene, SceneOptions};

const G: f64 = 9.81;
/// What a body may sink into the floor on one contact point, m.
const ALLOWANCE: f64 = 2e-4;

#[track_caller]
fn outcome(model: &str, length_s: f64, rest: &str) -> RunOutcome {
    let text = format!(
        "schema = 1\ntitle = \"t\"\n[simulation]\ntime_step_s = 0.001\nsmoke_s = {length_s}\n[contact]\nmodel = \"{model}\"\n\
         [[fixed]]\nname = \"floor\"\nshape = {{ half_space = {{}} }}\n{rest}"
    );
    let scene = Scene::parse("s.toml", &text, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    run(&scene, &RunOptions::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

fn cube(name: &str, mass: f64, edge: f64, z: f64) -> String {
    format!(
        "[[bodies]]\nname = \"{name}\"\nmass = {mass}\nshape = {{ box = {{ size = [{edge}, {edge}, {edge}] }} }}\npose = {{ position = [0, 0, {z}] }}\n"
    )
}

fn height(of: &str) -> String {
    format!(
        "[[observables]]\nname = \"{of}.z\"\nquantity = \"position\"\nof = \"{of}\"\ncomponent = \"z\"\n"
    )
}

fn load(of: &str) -> String {
    format!(
        "[[observables]]\nname = \"{of}.f\"\nquantity = \"contact-force\"\nof = \"{of}\"\nwith = \"floor\"\ncomponent = \"normal\"\n"
    )
}

#[test]
fn a_gram_and_a_hundred_tonnes_stay_within_the_allowance() {
    for model in ["lagged", "similar", "sap"] {
        for mass in [1e-3_f64, 1.0, 1500.0, 43_200.0, 1e5] {
            let edge = (mass / 2400.0).cbrt();
            let z = 0.5 * edge;
            let rest = cube("block", mass, edge, z) + &height("block") + &load("block");
            let outcome = outcome(model, 1.0, &rest);
            let last = outcome.series.last();
            let depth = z - last[0];
            assert!(
                (0.0..=ALLOWANCE).contains(&depth),
                "{model}, {mass} kg: {depth}"
            );
            assert!((last[1] / (mass * G) - 1.0).abs() < 1e-3, "{}", last[1]);
            assert!(
                outcome.notes.iter().all(|n| !n.contains("deep")),
                "{:?}",
                outcome.notes
            );
        }
    }
}

#[test]
fn a_plate_of_a_kilogram_carries_a_block_of_concrete() {
    let plate = "[[bodies]]\nname = \"plate\"\nmass = 1\nshape = { box = { size = [4, 4, 0.02] } }\npose = { position = [0, 0, 0.01] }\n";
    let block = cube("block", 43_200.0, 2.6, 1.32) + &height("block");
    let outcome = outcome("lagged", 1.0, &format!("{plate}{block}"));
    let depth = 1.32 - outcome.series.last()[0];
    assert!((0.0..=2.0 * ALLOWANCE).contains(&depth), "{depth}");
}

/// By its vertices and by its surface.
#[test]
fn a_soft_block_of_tonnes_rests_within_the_allowance() {
    for touches_by in ["vertices", "surface"] {
        let pad = format!(
            "[[fem]]\nname = \"pad\"\nmesh = {{ box = {{ size = [1, 1, 1], cells = [2, 2, 2] }} }}\ndensity = 8000\n\
             constitutive_material = {{ youngs_modulus = 1e10, poissons_ratio = 0.3 }}\npose = {{ position = [0, 0, 0.5] }}\n\
             touches_by = \"{touches_by}\"\nregions.sole = {{ half_space = {{ point = [0, 0, -0.5], normal = [0, 0, 1] }} }}\n"
        );
        let outcome = outcome("lagged", 1.0, &(pad + &height("pad/sole")));
        let depth = -outcome.series.last()[0];
        assert!((0.0..=ALLOWANCE).contains(&depth), "{touches_by}: {depth}");
    }
}

#[test]
fn what_sinks_through_the_run_is_noted() {
    let soft_floor = "[materials.default]\nstiffness = 1e6\n";
    let rest = format!(
        "{soft_floor}{}{}",
        cube("block", 43_200.0, 2.6, 1.3),
        height("block")
    );
    let outcome = outcome("lagged", 2.0, &rest);
    assert!(1.3 - outcome.series.last()[0] > 0.05);
    let notes: Vec<_> = outcome
        .notes
        .iter()
        .filter(|n| n.contains("deep"))
        .collect();
    assert_eq!(notes.len(), 1, "{:?}", outcome.notes);
    assert!(
        notes[0].contains("\"block\"") && notes[0].contains("stiffness"),
        "{notes:?}"
    );
}

/// Below the mass that the cap of stiffness allows, the block passes through the plate.
#[test]
fn what_sinks_through_a_thin_plate_is_noted() {
    let plate = "[[bodies]]\nname = \"plate\"\nmass = 0.001\nshape = { box = { size = [4, 4, 0.02] } }\npose = { position = [0, 0, 0.01] }\n";
    let rest = format!("{plate}{}", cube("block", 43_200.0, 2.6, 1.32));
    let outcome = outcome("lagged", 1.0, &rest);
    let named = |n: &&String| {
        n.contains("\"block\" and \"plate\"") || n.contains("\"plate\" and \"block\"")
    };
    assert_eq!(
        outcome.notes.iter().filter(named).count(),
        1,
        "{:?}",
        outcome.notes
    );
}

/// A ball that bounces is deep for a few milliseconds only.
#[test]
fn an_impact_is_not_noted() {
    let ball = "[[bodies]]\nname = \"ball\"\nmass = 5\nshape = { sphere = { radius = 0.05 } }\npose = { position = [0, 0, 0.1] }\nvelocity = [0, 0, -8]\n";
    let outcome = outcome("lagged", 0.5, &format!("{ball}{}", height("ball")));
    assert!(
        outcome.notes.iter().all(|n| !n.contains("deep")),
        "{:?}",
        outcome.notes
    );
}
