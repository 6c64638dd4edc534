//! Published robots against values computed by other engines: `../shared/data/robots/*/expected*.json`.
//!
//! Those use pinocchio's conventions: joints in another order, a floating root's velocity as [v; ω] in link axes and its
//! quaternion as x, y, z, w. With v_ours = T v_theirs and v̇_ours = T v̇_theirs + b (b: the rotating axes),
//! M_theirs = Tᵀ M T and h_theirs = Tᵀ (h + M b).

use std::path::{Path, PathBuf};

use crate::shared_data::shared;
use nalgebra::{DMatrix, DVector, Isometry3, Matrix3, Quaternion, UnitQuaternion, Vector3};
use pliant_multibody::urdf::read_urdf;
use pliant_multibody::{
    ForwardDynamicsInput, HeldDofs, Model, Root, Workspace, bias_forces, centre_of_mass,
    constrained_forward_dynamics, forward_dynamics, inverse_dynamics, kinetic_energy, mass_matrix,
    momentum, point_jacobian, potential_energy,
};
use pliant_multibody::{LoadedModel, RobotOptions};
use serde_json::Value;

/// The folder of robot descriptions, if there.
pub(crate) fn robots() -> Option<PathBuf> {
    shared("data/robots")
}

pub(crate) fn load(folder: &Path, file: &str, root: Root) -> LoadedModel {
    let mut options = RobotOptions {
        root,
        ..RobotOptions::default()
    };
    let own = folder.join(file.split('/').next().expect("a path has a first part"));
    options
        .packages
        .add_package("drake_models", &own)
        .add_package("example-robot-data/robots", &own)
        .add_package("example-robot-data/robots", own.join("example_robot_data"))
        .add_package("meshes", own.join("pybullet/meshes"))
        .add_folder(folder.join("iiwa7"));
    read_urdf(folder.join(file), &options).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    let flat = |v: &Value| match v {
        Value::Array(_) => numbers(v),
        other => vec![other.as_f64().expect("a number")],
    };
    value
        .as_array()
        .expect("an array")
        .iter()
        .flat_map(flat)
        .collect()
}

/// Every entry agrees to 1e-9 of the largest; the files carry twelve digits.
#[track_caller]
pub(crate) fn check(what: &str, expected: &Value, found: &[f64]) {
    let expected = match expected {
        Value::Array(_) => numbers(expected),
        other => vec![other.as_f64().expect("a number")],
    };
    assert_eq!(expected.len(), found.len(), "{what}: number of entries");
    // Exact zeros are round-off of cancelling terms of order 1 in other engines.
    let scale = expected.iter().fold(1e-5, |m: f64, x| m.max(x.abs()));
    for (k, (e, f)) in expected.iter().zip(found).enumerate() {
        assert!(
            (e - f).abs() <= 1e-9 * scale,
            "{what}[{k}]: expected {e}, found {f} (scale {scale})"
        );
    }
}

pub(crate) fn row_major(m: &DMatrix<f64>) -> Vec<f64> {
    m.transpose().as_slice().to_vec()
}

/// The map from their coordinates to ours, for one model and state.
struct Translation {
    q: Vec<f64>,
    v: Vec<f64>,
    /// v_ours = T v_theirs; orthogonal.
    turn: DMatrix<f64>,
    /// v̇_ours − T v̇_theirs.
    drift: DVector<f64>,
}

fn translate(model: &Model, joint_order: &[&str], case: &Value) -> Translation {
    let (q, v) = (numbers(&case["q"]), numbers(&case["v"]));
    let n = model.n_v();
    let mut ours = Translation {
        q: model.neutral_positions(),
        v: Vec::new(),
        turn: DMatrix::zeros(n, n),
        drift: DVector::zeros(n),
    };
    let (mut iq, mut iv) = (0, 0);
    for name in joint_order {
        if *name == "root_joint" {
            ours.q[..3].copy_from_slice(&q[..3]);
            ours.q[3..7].copy_from_slice(&[q[6], q[3], q[4], q[5]]);
            let turn = UnitQuaternion::new_normalize(Quaternion::new(q[6], q[3], q[4], q[5]));
            let r = turn.to_rotation_matrix();
            ours.turn.view_mut((0, 3), (3, 3)).copy_from(r.matrix());
            ours.turn.view_mut((3, 0), (3, 3)).copy_from(r.matrix());
            let (linear, angular) = (
                Vector3::from_column_slice(&v[..3]),
                Vector3::from_column_slice(&v[3..6]),
            );
            ours.drift
                .rows_mut(3, 3)
                .copy_from(&(r * angular.cross(&linear)));
            (iq, iv) = (7, 6);
        } else {
            let joint = model.joint(model.joint_named(name).expect("a known joint"));
            ours.q[joint.positions().start] = q[iq];
            ours.turn[(joint.dofs().start, iv)] = 1.0;
            (iq, iv) = (iq + 1, iv + 1);
        }
    }
    ours.v = (&ours.turn * DVector::from_vec(v)).as_slice().to_vec();
    ours
}

#[track_caller]
fn check_robot(expected_file: &str) {
    let Some(folder) = robots() else { return };
    let text = std::fs::read_to_string(folder.join(expected_file)).expect("expected values");
    let expected: Value = serde_json::from_str(&text).expect("JSON");
    let floating = expected["floating_base"].as_bool().expect("floating_base");
    let root = if floating {
        Root::Floating
    } else {
        Root::Fixed(Isometry3::identity())
    };
    let model = load(&folder, expected["model"].as_str().expect("model"), root).model;
    assert_eq!(model.n_q() as u64, expected["nq"].as_u64().expect("nq"));
    assert_eq!(model.n_v() as u64, expected["nv"].as_u64().expect("nv"));
    check(
        "total mass",
        &expected["total_mass"],
        &[model.moving_mass()],
    );
    let order: Vec<&str> = expected["joint_order"]
        .as_array()
        .expect("joints")
        .iter()
        .map(|j| j.as_str().expect("name"))
        .collect();
    for case in expected["cases"].as_array().expect("cases") {
        check_case(&model, &order, case);
    }
}

#[track_caller]
fn check_case(model: &Model, order: &[&str], case: &Value) {
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let ours = translate(model, order, case);
    let (q, v, n) = (&ours.q, &ours.v, model.n_v());
    let theirs = |x: &[f64]| {
        (ours.turn.transpose() * DVector::from_column_slice(x))
            .as_slice()
            .to_vec()
    };
    let mut w = Workspace::new(model);

    let mut mass = DMatrix::zeros(n, n);
    mass_matrix(model, q, &mut w, &mut mass);
    check(
        "M",
        &case["M"],
        &row_major(&(ours.turn.transpose() * &mass * &ours.turn)),
    );

    let (mut bias, mut weight) = (vec![0.0; n], vec![0.0; n]);
    bias_forces(model, q, &vec![0.0; n], &gravity, &mut w, &mut weight);
    check("g", &case["g"], &theirs(&weight));
    bias_forces(model, q, v, &gravity, &mut w, &mut bias);
    let with_drift: DVector<f64> = DVector::from_column_slice(&bias) + &mass * &ours.drift;
    check("h", &case["h"], &theirs(with_drift.as_slice()));

    let tau = &ours.turn * DVector::from_vec(numbers(&case["tau"]));
    let mut vdot = vec![0.0; n];
    forward_dynamics(model, q, v, tau.as_slice(), &gravity, &mut w, &mut vdot);
    let their_vdot = theirs((DVector::from_column_slice(&vdot) - &ours.drift).as_slice());
    check("qdd", &case["qdd"], &their_vdot);

    // Accelerations of frames, without the root acceleration that represents gravity.
    w.accelerations
        .update(model, &w.positions, &w.velocities, &vdot, &Vector3::zeros());
    for (name, frame) in case["frames"].as_object().expect("frames") {
        let link = model.link_named(name).expect("a known link");
        let at = w.positions.link_position(model, link);
        check(
            &format!("{name} position"),
            &frame["position"],
            at.as_slice(),
        );
        let rotation: Matrix3<f64> = w.positions.link_rotation(model, link);
        check(
            &format!("{name} rotation"),
            &frame["rotation"],
            rotation.transpose().as_slice(),
        );
        let quat = w.positions.link_pose(model, link).rotation;
        let sign = if quat.w < 0.0 { -1.0 } else { 1.0 };
        let wxyz = [quat.w, quat.i, quat.j, quat.k].map(|x| x * sign);
        check(
            &format!("{name} quaternion"),
            &frame["quaternion_wxyz"],
            &wxyz,
        );

        let mut jacobian = DMatrix::zeros(6, n);
        point_jacobian(model, &w.positions, link, &at, &mut jacobian);
        let their_columns = jacobian * &ours.turn;
        let mut linear_first = DMatrix::zeros(6, n);
        linear_first
            .rows_mut(0, 3)
            .copy_from(&their_columns.rows(3, 3));
        linear_first
            .rows_mut(3, 3)
            .copy_from(&their_columns.rows(0, 3));
        check(
            &format!("{name} Jacobian"),
            &frame["jacobian"],
            &row_major(&linear_first),
        );

        let twist = w.velocities.link_twist(model, &w.positions, link);
        let stacked = [twist.linear.as_slice(), twist.angular.as_slice()].concat();
        check(&format!("{name} velocity"), &frame["velocity"], &stacked);
        let acceleration =
            w.accelerations
                .acceleration_at(model, &w.positions, &w.velocities, link, &at);
        let stacked = [
            acceleration.linear.as_slice(),
            acceleration.angular.as_slice(),
        ]
        .concat();
        check(
            &format!("{name} acceleration"),
            &frame["acceleration"],
            &stacked,
        );
    }

    check(
        "kinetic energy",
        &case["kinetic_energy"],
        &[kinetic_energy(model, &w.velocities, &w.inertias)],
    );
    let potential = potential_energy(model, &w.positions, &w.inertias, &gravity);
    check("potential energy", &case["potential_energy"], &[potential]);
    let centre = centre_of_mass(model, &w.positions, &w.inertias);
    check("com", &case["com"], centre.position.as_slice());
    let total = momentum(model, &w.positions, &w.velocities, &w.inertias);
    check(
        "com velocity",
        &case["com_velocity"],
        (total.linear / centre.mass).as_slice(),
    );
    check(
        "linear momentum",
        &case["linear_momentum"],
        total.linear.as_slice(),
    );
    let about_com = total.angular_about_origin - centre.position.cross(&total.linear);
    check(
        "angular momentum",
        &case["angular_momentum_com"],
        about_com.as_slice(),
    );

    // Both algorithms agree at full precision, and so do the constrained and the unconstrained function.
    let mut back = vec![0.0; n];
    inverse_dynamics(model, q, v, &vdot, &gravity, &mut w, &mut back);
    let scale = tau.amax() + bias.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    for (there, back) in tau.iter().zip(&back) {
        assert!(
            (there - back).abs() < 1e-9 * scale,
            "inverse dynamics {back} of forward dynamics of {there}"
        );
    }
    let held = HeldDofs::none(model);
    let mut again = vec![0.0; n];
    let input = ForwardDynamicsInput {
        tau: tau.as_slice(),
        external: &[],
        diagonal: &[],
        held: &held,
        held_acceleration: &[],
        gravity,
    };
    constrained_forward_dynamics(model, &input, &mut w, &mut again);
    let largest = vdot.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (a, b) in vdot.iter().zip(&again) {
        assert!((a - b).abs() <= 1e-12 * largest);
    }
}

#[test]
fn iiwa7_agrees_with_other_engines() {
    check_robot("iiwa7/expected.json");
}

#[test]
fn iiwa14_agrees_with_other_engines() {
    check_robot("iiwa14/expected.json");
}

#[test]
fn two_iiwa14_on_one_base_agree_with_other_engines() {
    check_robot("iiwa14/expected_dual_iiwa14.json");
}

#[test]
fn iiwa7_with_allegro_hand_agrees_with_other_engines() {
    check_robot("iiwa7_allegro/expected.json");
}

#[test]
fn allegro_hands_agree_with_other_engines() {
    check_robot("allegro/expected_allegro_left.json");
    check_robot("allegro/expected_allegro_right.json");
}

#[test]
fn panda_agrees_with_other_engines() {
    check_robot("panda/expected.json");
    check_robot("panda/expected_panda_pybullet.json");
}

#[test]
fn anymal_with_floating_base_agrees_with_other_engines() {
    check_robot("anymal_c/expected.json");
}

#[test]
fn atlas_with_floating_base_agrees_with_other_engines() {
    check_robot("atlas/expected.json");
}

#[test]
fn simple_humanoid_with_floating_base_agrees_with_other_engines() {
    check_robot("simple_humanoid/expected.json");
}
