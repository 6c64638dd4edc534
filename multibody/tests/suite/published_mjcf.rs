//! Published MJCF models against values computed by MuJoCo: `../shared/data/robots/*/expected*.json`.
//!
//! MuJoCo's velocities of a free joint are the linear one in world axes, then the angular one in body axes; ours are the
//! angular one, then the linear one, both in world axes. With v_ours = T v_theirs and v̇_ours = T v̇_theirs + b,
//! M_theirs = Tᵀ M T and h_theirs = Tᵀ (h + M b). Here b = 0: the rate of the rotation cancels in ω̇_W = R ω̇_B + ω × ω.

use nalgebra::{DMatrix, DVector, Matrix3, Quaternion, UnitQuaternion, Vector3};
use pliant_multibody::{
    JointKind, LoadedModel, Model, RobotOptions, Workspace, bias_forces, mass_matrix, read_robot,
};
use serde_json::Value;

use crate::robots::{check, numbers, robots, row_major};

fn load(file: &str) -> Option<LoadedModel> {
    let folder = robots()?;
    let options = RobotOptions::default();
    Some(read_robot(folder.join(file), &options).unwrap_or_else(|error| panic!("{error}")))
}

/// The position, and the map of velocities, of one case.
fn translate(model: &Model, joint_order: &[&str], case: &Value) -> (Vec<f64>, DMatrix<f64>) {
    let qpos = numbers(&case["qpos"]);
    let (mut q, n) = (model.neutral_positions(), model.n_v());
    let mut turn = DMatrix::zeros(n, n);
    let (mut iq, mut iv) = (0, 0);
    for name in joint_order {
        let joint = model.joint(model.joint_named(name).expect("a known joint"));
        let (n_q, n_v) = (joint.kind.n_q(), joint.kind.n_v());
        q[joint.positions()].copy_from_slice(&qpos[iq..iq + n_q]);
        let at = joint.dofs().start;
        if joint.kind == JointKind::Floating {
            let [w, x, y, z] = [3, 4, 5, 6].map(|k| qpos[iq + k]);
            let w = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z));
            turn.view_mut((at, iv + 3), (3, 3))
                .copy_from(w.to_rotation_matrix().matrix());
            turn.view_mut((at + 3, iv), (3, 3))
                .copy_from(&Matrix3::identity());
        } else {
            turn[(at, iv)] = 1.0;
        }
        (iq, iv) = (iq + n_q, iv + n_v);
    }
    (q, turn)
}

fn check_model(expected_file: &str) {
    let Some(folder) = robots() else { return };
    let text = std::fs::read_to_string(folder.join(expected_file)).expect("expected values");
    let expected: Value = serde_json::from_str(&text).expect("JSON");
    let file = expected["model"].as_str().expect("model");
    let model = load(file).expect("the folder is there").model;
    assert_eq!(model.n_q() as u64, expected["nq"].as_u64().expect("nq"));
    assert_eq!(model.n_v() as u64, expected["nv"].as_u64().expect("nv"));
    for (body, mass) in expected["masses"].as_object().expect("masses") {
        let link = model.link(model.link_named(body).expect("a known body"));
        check(&format!("mass of {body}"), mass, &[link.inertia.mass]);
    }
    let names = expected["joint_order"].as_array().expect("joints");
    let order: Vec<&str> = names.iter().map(|j| j.as_str().expect("name")).collect();
    for case in expected["cases"].as_array().expect("cases") {
        check_case(&model, &order, case);
    }
}

fn check_case(model: &Model, order: &[&str], case: &Value) {
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let (q, turn) = translate(model, order, case);
    let n = model.n_v();
    let v = &turn * DVector::from_vec(numbers(&case["qvel"]));
    let theirs = |x: &[f64]| turn.transpose() * DVector::from_column_slice(x);
    let mut w = Workspace::new(model);

    let mut mass = DMatrix::zeros(n, n);
    mass_matrix(model, &q, &mut w, &mut mass);
    let mut armature = vec![0.0; n];
    model.add_reflected_inertia(&mut armature);
    let with_armature = &mass + DMatrix::from_diagonal(&DVector::from_vec(armature));
    check(
        "M",
        &case["M"],
        &row_major(&(turn.transpose() * &with_armature * &turn)),
    );

    let (mut weight, mut bias) = (vec![0.0; n], vec![0.0; n]);
    bias_forces(model, &q, &vec![0.0; n], &gravity, &mut w, &mut weight);
    check("g", &case["g"], theirs(&weight).as_slice());
    bias_forces(model, &q, v.as_slice(), &gravity, &mut w, &mut bias);
    check("h", &case["h"], theirs(&bias).as_slice());

    for (name, body) in case["bodies"].as_object().expect("bodies") {
        let link = model.link_named(name).expect("a known body");
        let at = w.positions.link_position(model, link);
        check(
            &format!("{name} position"),
            &body["position"],
            at.as_slice(),
        );
        let rotation = w.positions.link_rotation(model, link);
        let rows = rotation.transpose();
        check(
            &format!("{name} rotation"),
            &body["rotation"],
            rows.as_slice(),
        );
        let com = at + rotation * model.link(link).inertia.com;
        check(&format!("{name} com"), &body["com"], com.as_slice());
    }
}

#[test]
fn the_humanoid_agrees_with_mujoco() {
    check_model("humanoid_mjcf/expected.json");
}

#[test]
fn the_arm_agrees_with_mujoco() {
    check_model("iiwa14/expected_mjcf.json");
}

#[test]
fn the_hand_whose_masses_are_those_of_its_meshes_agrees_with_mujoco() {
    check_model("allegro/expected_mjcf.json");
}

#[test]
fn a_scene_that_includes_a_robot_loads_with_its_floor_and_objects() {
    let Some(loaded) = load("allegro/mjcf/scene_right.xml") else {
        return;
    };
    let model = &loaded.model;
    // The hand, and an object with a free joint.
    assert_eq!((model.n_q(), model.n_v()), (16 + 7, 16 + 6));
    let floor = model.link(model.link_named("worldbody").expect("shapes of the world"));
    assert_eq!(floor.collisions.len(), 1);
    let object = model.joint(
        model
            .link(model.link_named("object").expect("object"))
            .parent_joint
            .expect("a joint"),
    );
    assert_eq!(object.kind, JointKind::Floating);
    assert_eq!(
        model.initial_positions()[object.positions()][..3],
        [0.0, 0.0, 0.1]
    );
}

#[test]
fn cables_are_refused_by_name_and_line() {
    let Some(folder) = robots() else { return };
    let path = folder.join("cable_mjcf/cable.xml");
    let error =
        read_robot(&path, &RobotOptions::default()).expect_err("it includes a missing file");
    let text = error.to_string();
    assert!(
        text.contains("cable.xml:17") && text.contains("\"scene.xml\" was not found"),
        "{text}"
    );
    // Without the file that is not there, the cable itself is what cannot be read.
    let written = std::fs::read_to_string(&path).expect("text");
    let without = written.replace("<include file=\"scene.xml\"/>", "");
    let error = pliant_multibody::parse_robot(without.as_bytes(), &path, &RobotOptions::default())
        .expect_err("a cable");
    let text = error.to_string();
    assert!(
        text.contains("cable.xml:33") && text.contains("<composite>"),
        "{text}"
    );
}
