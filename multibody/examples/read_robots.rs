//! Reads robot files, and prints a line of JSON for each: the error, or masses, mass matrix, bias forces and poses of links at a position
//! and velocity of the joints of one degree of freedom, for comparison with other programs (`bench/robot_packages.py`).
//!
//! `cargo run -p pliant-multibody --example read_robots -- FILE...`

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

use std::io::Write;
use std::path::Path;

use nalgebra::{DMatrix, DVector, Vector3};
use pliant_multibody::{Model, RobotOptions, Workspace, bias_forces, mass_matrix, read_robot};
use serde_json::{Map, Value, json};

fn main() -> std::io::Result<()> {
    for file in std::env::args().skip(1) {
        let line = match read_robot(Path::new(&file), &RobotOptions::default()) {
            Ok(loaded) => numbers(&file, &loaded.model),
            Err(error) => json!({ "file": file, "error": error.to_string() }),
        };
        writeln!(std::io::stdout(), "{line}")?;
    }
    Ok(())
}

/// Joints of more degrees of freedom stay where the file shows them.
fn numbers(file: &str, model: &Model) -> Value {
    let n = model.n_v();
    let (mut q, mut v) = (model.initial_positions(), vec![0.0; n]);
    let (mut joints, mut dofs) = (Vec::new(), Vec::new());
    for joint in model.joints().iter().filter(|joint| joint.kind.n_v() == 1) {
        let k = joints.len() as f64;
        let (position, velocity) = (0.3 * (1.0 + k).sin(), 0.5 * (2.0 + k).cos());
        q[joint.positions().start] = position;
        v[joint.dofs().start] = velocity;
        dofs.push(joint.dofs().start);
        joints.push(json!([joint.name, position, velocity]));
    }
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let (mut w, mut mass, mut bias) = (Workspace::new(model), DMatrix::zeros(n, n), vec![0.0; n]);
    bias_forces(model, &q, &v, &gravity, &mut w, &mut bias);
    mass_matrix(model, &q, &mut w, &mut mass);
    let mut rotors = vec![0.0; n];
    model.add_reflected_inertia(&mut rotors);
    let velocity = DVector::from_column_slice(&v);
    let rotor_energy: f64 = dofs.iter().map(|i| 0.5 * rotors[*i] * v[*i] * v[*i]).sum();
    let rows = dofs
        .iter()
        .map(|i| dofs.iter().map(|j| mass[(*i, *j)]).collect());
    let rows: Vec<Vec<f64>> = rows.collect();
    let mut poses = Map::new();
    for link in model.links() {
        let index = model.link_named(&link.name).expect("a link of the model");
        let X_WL = (
            w.positions.link_position(model, index),
            w.positions.link_rotation(model, index),
        );
        poses.insert(
            link.name.clone(),
            json!([X_WL.0.as_slice(), X_WL.1.transpose().as_slice()]),
        );
    }
    json!({
        "file": file,
        "mass_kg": model.links().iter().map(|link| link.inertia.mass).sum::<f64>(),
        "joints": joints,
        "M": rows,
        "rotor_inertia": dofs.iter().map(|i| rotors[*i]).collect::<Vec<_>>(),
        "kinetic_energy_J": 0.5 * velocity.dot(&(&mass * &velocity)),
        "rotor_energy_J": rotor_energy,
        "bias": dofs.iter().map(|i| bias[*i]).collect::<Vec<_>>(),
        "poses": poses,
    })
}
