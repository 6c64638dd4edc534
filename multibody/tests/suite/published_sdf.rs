//! Published SDFormat models against values computed by Drake: `../shared/data/robots/*/expected*.json`.

use std::path::{Path, PathBuf};

use nalgebra::{DMatrix, Vector3};
use pliant_multibody::{
    LoadedModel, Model, RobotOptions, Workspace, bias_forces, forward_dynamics, mass_matrix,
    point_jacobian, read_robot,
};
use serde_json::Value;

use crate::robots::{check, numbers, robots, row_major};

fn load(folder: &Path, file: &str) -> LoadedModel {
    let mut options = RobotOptions::default();
    let own = folder.join(file.split('/').next().expect("a path has a first part"));
    options
        .packages
        .add_package("drake_models", &own)
        .add_package("drake_models", own.join("wsg_50_description"));
    read_robot(folder.join(file), &options).unwrap_or_else(|error| panic!("{error}"))
}

fn check_model(expected_file: &str) {
    let Some(folder) = robots() else { return };
    let text = std::fs::read_to_string(folder.join(expected_file)).expect("expected values");
    let expected: Value = serde_json::from_str(&text).expect("JSON");
    let model = load(&folder, expected["model"].as_str().expect("model")).model;
    assert_eq!(model.n_q() as u64, expected["nq"].as_u64().expect("nq"));
    let mass: f64 = model.links().iter().map(|link| link.inertia.mass).sum();
    check("total mass", &expected["total_mass_with_base"], &[mass]);
    let names = expected["joint_order"].as_array().expect("joints");
    let order: Vec<usize> = names
        .iter()
        .map(|name| {
            let name = name.as_str().expect("a name");
            let joint = model.joint_named(name).expect("a known joint");
            model.joint(joint).positions().start
        })
        .collect();
    for case in expected["cases"].as_array().expect("cases") {
        check_case(&model, &order, case);
    }
}

fn check_case(model: &Model, order: &[usize], case: &Value) {
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let n = model.n_v();
    let ours = |key: &str| {
        let mut values = vec![0.0; n];
        for (at, value) in order.iter().zip(numbers(&case[key])) {
            values[*at] = value;
        }
        values
    };
    let theirs = |values: &[f64]| -> Vec<f64> { order.iter().map(|at| values[*at]).collect() };
    let columns = |m: &DMatrix<f64>| DMatrix::from_fn(m.nrows(), n, |i, j| m[(i, order[j])]);
    let (q, v, tau) = (ours("q"), ours("v"), ours("tau"));
    let mut w = Workspace::new(model);
    let mut mass = DMatrix::zeros(n, n);
    mass_matrix(model, &q, &mut w, &mut mass);
    let sorted = DMatrix::from_fn(n, n, |i, j| mass[(order[i], order[j])]);
    check("M", &case["M"], &row_major(&sorted));
    let mut values = vec![0.0; n];
    bias_forces(model, &q, &vec![0.0; n], &gravity, &mut w, &mut values);
    check("g", &case["g"], &theirs(&values));
    bias_forces(model, &q, &v, &gravity, &mut w, &mut values);
    check("h", &case["h"], &theirs(&values));
    forward_dynamics(model, &q, &v, &tau, &gravity, &mut w, &mut values);
    check("qdd", &case["qdd"], &theirs(&values));
    for (name, frame) in case["frames"].as_object().expect("frames") {
        let link = model.link_named(name).expect("a known link");
        let at = w.positions.link_position(model, link);
        check(
            &format!("{name} position"),
            &frame["position"],
            at.as_slice(),
        );
        let rotation = w.positions.link_rotation(model, link);
        let rows = rotation.transpose();
        check(
            &format!("{name} rotation"),
            &frame["rotation"],
            rows.as_slice(),
        );
        let mut jacobian = DMatrix::zeros(6, n);
        point_jacobian(model, &w.positions, link, &at, &mut jacobian);
        let mut linear_first = jacobian.clone();
        linear_first.rows_mut(0, 3).copy_from(&jacobian.rows(3, 3));
        linear_first.rows_mut(3, 3).copy_from(&jacobian.rows(0, 3));
        let found = row_major(&columns(&linear_first));
        check(&format!("{name} Jacobian"), &frame["jacobian"], &found);
    }
}

#[test]
fn the_arm_with_axes_in_the_frame_of_the_model_agrees_with_drake() {
    check_model("iiwa7/expected_iiwa7_with_box_collision_sdf.json");
}

#[test]
fn the_gripper_agrees_with_drake() {
    check_model("wsg50/expected.json");
}

#[test]
fn the_gripper_with_a_turned_finger_agrees_with_drake() {
    check_model("wsg50/expected_with_tip.json");
}

fn sdf_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sdf_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "sdf") {
            found.push(path);
        }
    }
}

#[test]
fn every_published_sdf_loads_or_is_refused_with_its_line() {
    let Some(folder) = robots() else { return };
    let mut files = Vec::new();
    sdf_files(&folder, &mut files);
    assert!(files.len() >= 8, "found {}", files.len());
    let mut loaded = 0;
    for file in &files {
        let own = file.strip_prefix(&folder).expect("below the folder");
        let own = folder.join(own.iter().next().expect("a part"));
        let mut options = RobotOptions::default();
        options.packages.add_package("drake_models", &own);
        match read_robot(file, &options) {
            Ok(_) => loaded += 1,
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains(".sdf:"), "{text}");
            }
        }
    }
    assert!(loaded >= 8, "{loaded} of {}", files.len());
}
