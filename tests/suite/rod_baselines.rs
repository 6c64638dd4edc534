//! Baselines for rods: contact as an energy of the distance, and chains of rigid capsules.

use pliant::runner::{RunLength, RunOptions, RunOutcome, run};
use pliant::scene::{Scene, SceneError, SceneOptions};

fn options(settings: &[&str]) -> SceneOptions {
    SceneOptions {
        parameters: settings.iter().map(|s| s.parse().unwrap()).collect(),
        ..SceneOptions::default()
    }
}

fn knot(settings: &[&str]) -> RunOutcome {
    let scene = Scene::load("knot-tightening", &options(settings)).unwrap();
    run(&scene, &RunOptions::default(), &mut |_| {}).unwrap()
}

fn found(outcome: &RunOutcome, observable: &str) -> f64 {
    let verdicts = &outcome.summary.expectations;
    let verdict = verdicts
        .iter()
        .find(|v| v.observable == observable)
        .unwrap();
    verdict.found.unwrap()
}

#[test]
fn strands_cross_with_contact_as_an_energy_and_not_with_swept_contact_of_the_same_stiffness() {
    let soft = "materials.default.stiffness=1e3";
    let held = knot(&[soft]);
    assert!(found(&held, "contacts") >= 3.0);
    let lost = knot(&[soft, "contact.model=energy"]);
    assert_eq!(found(&lost, "contacts"), 0.0);
    assert!(found(&lost, "span") > 1.1 * found(&held, "span"));
    // A hundred times the stiffness prevents it: an energy needs a stiffness chosen for the load.
    assert!(knot(&["contact.model=energy"]).summary.is_as_expected());
}

#[test]
fn a_knot_in_a_chain_of_capsules_jitters_at_the_time_step_of_the_rod() {
    let energy = |model: &str| {
        let double = [
            "unknotting=2",
            "edges=100",
            &format!("rods.cord.model={model}"),
        ];
        let scene = Scene::load("knot-at-speed", &options(&double)).unwrap();
        let length = RunOptions {
            length: RunLength::Until(0.03),
            ..RunOptions::default()
        };
        let series = run(&scene, &length, &mut |_| {}).unwrap().series;
        let column = scene
            .observables
            .iter()
            .position(|o| o.name.name == "energy");
        let late = (0..series.times_s().len()).filter(|row| series.times_s()[*row] >= 0.02);
        let energies: Vec<f64> = late.map(|row| series.at(row, column.unwrap())).collect();
        energies.iter().sum::<f64>() / energies.len() as f64
    };
    let [rod, chain] = ["elastic-rod", "capsule-chain"].map(energy);
    assert!(chain > 1.5 * rod, "{chain} {rod}");
}

const ROPE: &str = r#"
schema = 1
title = "A rope held at both ends"

[simulation]
time_step_s = 0.005
smoke_s = 1.5

[materials.default]
friction = 0.5

[[rods]]
name = "rope"
section = { circle = { radius = 0.005 } }
youngs_modulus = 2e5
poissons_ratio = 0.3
density = 1200
stiffness_damping = 0.02
centreline = { curve = { point = ["0.4*s - 0.2", 0, "0.096 - 0.08*(2*s - 1)^2"], edges = 24, spacing = "even" } }
regions.left = { vertices = { numbers = [0] } }
regions.right = { vertices = { numbers = [24] } }
regions.middle = { vertices = { numbers = [12] } }

[[constraints]]
name = "left"
between = ["rope/left", "world"]

[[constraints]]
name = "right"
between = ["rope/right", "world"]

[[fixed]]
name = "edge"
shape = { cylinder = { radius = 0.02, length = 0.2 } }
pose = { position = [0, 0, 0.07], rpy = ["pi/2", 0, 0] }

[[observables]]
name = "middle.z"
quantity = "position"
of = "rope/middle"
component = "z"

[[observables]]
name = "load"
quantity = "contact-force"
of = "edge"
with = "rope"
component = "z"

[[expect]]
observable = "middle.z"
at_s = 1.5
at_least = -1
source = "to be read"

[[expect]]
observable = "load"
at_s = 1.5
at_most = 1
source = "to be read"
"#;

fn rope(settings: &[&str]) -> Result<RunOutcome, SceneError> {
    let scene = Scene::parse("rope.toml", ROPE, &options(settings))?;
    Ok(run(&scene, &RunOptions::default(), &mut |_| {}).unwrap())
}

#[test]
fn a_chain_of_capsules_lies_over_an_edge_like_a_rod() {
    let rod = rope(&[]).unwrap();
    let chain = rope(&["rods.rope.model=capsule-chain"]).unwrap();
    for outcome in [&rod, &chain] {
        // The edge carries it at 0.09 m plus its radius; segments are tangents of the round edge, and the node between them lies further off.
        let z = found(outcome, "middle.z");
        assert!(z > 0.095 && z < 0.0965, "{z}");
    }
    let (a, b) = (found(&rod, "load"), found(&chain, "load"));
    // The rod stretches under its weight, the chain does not.
    assert!((a / b - 1.0).abs() < 0.1, "{a} {b}");
}

#[test]
fn keys_of_elastic_rods_are_refused_for_a_chain_of_capsules() {
    let said = |setting: &str| {
        rope(&["rods.rope.model=capsule-chain", setting])
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(
        said("rods.rope.natural_twist=1").contains("a chain of capsules has no `natural_twist`")
    );
    assert!(said("rods.rope.start=pinned").contains("has no `start`"));
    assert!(
        said("rods.rope.section={ rectangle = { size = [0.01, 0.02] } }")
            .contains("capsules have a")
    );
    assert!(said("contact.energy_range=1e-4").contains("it belongs to `energy`"));
}
