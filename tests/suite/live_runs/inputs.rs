//! What a page does to a run is recorded: a run that is given it again has the same bits.

use std::fs;
use std::path::Path;
use std::process::Command;

use nalgebra::Vector3;
use pliant::runner::{Checkpoint, RunInputs};
use serde_json::json;

use super::window::Live;
use crate::program::folder;

/// A soft cube in empty space, whose momentum is that of its pulls, and a ball on a floor.
const SCENE: &str = r#"
schema = 1
title = "pulled"
[parameters]
g = 0.0
E = 1e5
size = 0.1
[simulation]
time_step_s = 0.002
smoke_s = 0.4
gravity = [0, 0, "-g"]
[recording]
frames_per_s = 50
rows_per_s = 500
[[fem]]
name = "cube"
mesh = { box = { size = ["size", "size", "size"], cells = [2, 2, 2] } }
constitutive_material = { youngs_modulus = "E", poissons_ratio = 0.3 }
density = 1000
[[bodies]]
name = "ball"
shape = { sphere = { radius = "size" } }
mass = 1
pose = { position = [1, 0, 0] }
[[observables]]
name = "cube.px"
quantity = "momentum"
of = "cube"
component = "x"
[[observables]]
name = "cube.pz"
quantity = "momentum"
of = "cube"
component = "z"
[[observables]]
name = "cube.weight"
quantity = "expression"
expression = "1000*size^3*g"
unit = "N"
"#;

/// The last row of a table.
fn last_row(out: &Path) -> Vec<f64> {
    let table = fs::read_to_string(out.join("observables.csv")).expect("a table");
    let row = table.lines().next_back().expect("rows");
    row.split(',')
        .map(|x| x.parse().expect("a number"))
        .collect()
}

fn run(scene: &str, out: &Path, more: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(["run", scene, "--out"])
        .arg(out)
        .args(more)
        .output()
        .expect("the program starts");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[cfg(unix)]
#[test]
fn pulls_and_parameters_are_recorded_and_a_run_given_them_has_the_same_bits() {
    let [live_out, again, half, rest] = [
        "live_inputs",
        "live_inputs_again",
        "live_inputs_half",
        "live_inputs_rest",
    ]
    .map(folder);
    let scene = live_out.join("pulled.toml");
    fs::write(&scene, SCENE).expect("written");
    let scene = scene.to_str().expect("a path");
    let mut live = Live::run(
        scene,
        &live_out,
        &["--live-paused", "--until", "1e3", "--live-pace", "max"],
    );
    let mut events = live.listen();
    let status = events.status();
    assert_eq!(
        status["parameters"],
        json!({"E": 1e5, "g": 0.0}),
        "not the size"
    );
    let step = |events: &mut super::Events| {
        live.command(&json!({"do": "step"}));
        events.frame();
    };
    // The cube's upper corner is pulled to the right, then the ball up, while gravity and the modulus change.
    live.command(&json!({"do": "drag", "grasp": 0, "soft": 0, "point": [0.05, 0, 0.05], "target": [0.3, 0, 0.1]}));
    for _ in 0..3 {
        step(&mut events);
    }
    live.command(
        &json!({"do": "drag", "grasp": 1, "body": 0, "point": [0, 0, 0.1], "target": [1, 0, 1]}),
    );
    live.command(&json!({"do": "parameter", "name": "g", "value": 2.5}));
    step(&mut events);
    live.command(&json!({"do": "parameter", "name": "E", "value": 4e4}));
    live.command(&json!({"do": "release"}));
    step(&mut events);
    assert_eq!(live.interrupt(), Some(130));

    // Momentum is the integral of force, and gravity pulled from the change on.
    let inputs = RunInputs::load(&live_out.join("inputs.json")).expect("inputs");
    assert_eq!(inputs.pulls.len(), 2);
    let names: Vec<&str> = inputs.parameters.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["g", "E"]);
    let cube = inputs
        .pulls
        .iter()
        .find(|pull| pull.points.len() > 1)
        .expect("of the cube");
    let impulse = cube.forces.iter().sum::<Vector3<f64>>() * 0.002;
    assert!(impulse.x > 0.01, "{impulse}");
    let row = last_row(&live_out);
    let [time_s, px, pz, weight] = row[..] else {
        panic!("{row:?}");
    };
    assert!((px - impulse.x).abs() < 1e-9, "{px} {}", impulse.x);
    let fallen = 2.5 * (time_s - inputs.parameters[0].time_s);
    assert!(
        (pz - impulse.z + fallen).abs() < 1e-9,
        "{pz} {} {fallen}",
        impulse.z
    );
    assert!((weight - 2.5).abs() < 1e-12, "expressions follow: {weight}");

    // The same again, at once and with a break between the two pulls.
    let inputs_file = live_out.join("inputs.json");
    let inputs_file = inputs_file.to_str().expect("a path");
    let until = time_s.to_string();
    let notes = run(scene, &again, &["--inputs", inputs_file, "--until", &until]);
    assert!(
        notes.contains("the parameter `g` was changed at"),
        "{notes}"
    );
    for file in ["replay.html", "observables.csv", "inputs.json"] {
        let [one, two] = [&live_out, &again].map(|out| fs::read(out.join(file)).expect(file));
        assert!(one == two, "{file} differs");
    }
    let middle = (0.002 * inputs.parameters[1].step as f64 + 0.002).to_string();
    run(
        scene,
        &half,
        &[
            "--inputs",
            inputs_file,
            "--until",
            &middle,
            "--checkpoint-every",
            &middle,
        ],
    );
    let checkpoint = half.join("checkpoint.json");
    let saved = Checkpoint::load(&checkpoint).expect("a checkpoint");
    assert_eq!(saved.inputs.parameters.len(), 2);
    // The checkpoint has the values of the parameters.
    run(
        scene,
        &rest,
        &[
            "--resume",
            checkpoint.to_str().expect("a path"),
            "--until",
            &until,
        ],
    );
    assert_eq!(last_row(&rest), row);
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let out = folder("live_inputs_refused");
    let file = out.join("inputs.json");
    let point = json!({"primitive": {"Vertex": 7}, "weights": [1, 0, 0, 0], "offset": [0, 0, 0]});
    let pull = json!({"body": 1, "points": [point], "first_step": 0, "forces": [[0, 0, 1]]});
    let mu = |name: &str, value: f64| json!({"step": 0, "time_s": 0, "name": name, "value": value});
    let inputs = |scene: &str, parameters: &[serde_json::Value], pulls: &[serde_json::Value]| {
        json!({"scene": scene, "settings": [], "parameters": parameters, "pulls": pulls})
            .to_string()
    };
    for (content, expected) in [
        ("{}".to_owned(), "is no list of inputs"),
        (
            inputs("box-stack", &[], &[]),
            "those of the scene \"box-stack\"",
        ),
        (inputs("box-on-incline", &[], &[pull]), "pull body 1 of 1"),
        (
            inputs("box-on-incline", &[mu("nu", 0.1)], &[]),
            "no parameter \"nu\"",
        ),
        (
            inputs("box-on-incline", &[mu("mu", -1.0)], &[]),
            "must not be negative",
        ),
        (
            inputs("box-on-incline", &[mu("angle", 0.1)], &[]),
            "`angle` cannot change during a run, as it enters `",
        ),
    ] {
        fs::write(&file, &content).expect("written");
        let path = file.to_str().expect("a path");
        let message = run(
            "box-on-incline",
            &out,
            &["--inputs", path, "--until", "0.01"],
        );
        assert!(message.contains(expected), "{expected}: {message}");
    }
}
