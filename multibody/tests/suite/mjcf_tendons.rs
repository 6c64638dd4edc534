//! Fixed tendons of MJCF files, and gains that depend on inertia; numbers of MuJoCo 4.0.0 for `data/drives.xml`.

use std::path::Path;
use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::{PdGains, RowKind};
use pliant_multibody::{Model, RigidTree, RobotOptions, TendonIdx, mjcf};

use super::mjcf_models::{load, parse};
use super::rigid_tree::test_bench::{Bench, WEIGHTLESS};

fn drives() -> Model {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/drives.xml");
    let loaded = mjcf::read_mjcf(file, &RobotOptions::default());
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
    loaded.model
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 1e-9,
        "{found} against {expected}"
    );
}

#[test]
fn gains_that_depend_on_inertia_are_those_of_mujoco() {
    let model = drives();
    let joint = |name: &str| model.joint(model.joint_named(name).expect("a joint"));
    // jnt_stiffness and dof_damping.
    near(joint("a").passive.spring_stiffness, 30.753476077744594);
    near(joint("a").passive.damping, 6.027681311237941);
    near(joint("c").passive.spring_stiffness, 42.042741146913635);
    near(joint("c").passive.damping, 8.408548229382728);
    // −actuator_biasprm[2] times the square of the gear.
    let gains = joint("b").drive.gains.expect("a position actuator");
    near(gains.proportional, 50.0 * 9.0);
    near(gains.derivative, 2.044312610123731 * 9.0);
    let tendon = &model.tendons()[0];
    let gains = tendon.drive.gains.expect("a position actuator");
    near(gains.proportional, 20.0 * 4.0);
    near(gains.derivative, 1.7030266277457138 * 4.0);
    assert_eq!(tendon.drive.effort_limit, 10.0);
    assert_eq!((tendon.limits.lower, tendon.limits.upper), (-0.3, 0.5));
    // tendon_lengthspring, and ten_length at these positions.
    near(tendon.spring.rest.lower, 0.2);
    near(tendon.length(&model, &[0.3, 0.1, 0.2]), -0.25);
}

/// Two slides without gravity and friction, of 1 kg and 2 kg, and a tendon L = q₁ + 3 q₂.
fn slides(tendon: &str) -> Arc<Model> {
    let loaded = load(&format!(
        r#"<worldbody>
             <body name="x"><joint name="x" type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
             <body name="y"><joint name="y" type="slide" axis="0 1 0"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body>
           </worldbody>
           <tendon><fixed name="t" {tendon}><joint joint="x" coef="1"/><joint joint="y" coef="3"/></fixed></tendon>
           <actuator><position name="p" tendon="t" kp="10" kv="2" forcerange="-4 4"/></actuator>"#
    ));
    assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
    Arc::new(loaded.model)
}

/// Inverse mass along L: 1/1 + 9/2.
const W: f64 = 5.5;

#[test]
fn a_spring_with_a_damper_pulls_along_the_tendon() {
    let (k, d, dt) = (7.0, 0.4, 1e-3);
    let model = slides("stiffness=\"7\" damping=\"0.4\" springlength=\"0.2\"");
    let mut bench = Bench::new(
        RigidTree::new(model).starting_at(&[0.5, 0.1], &[0.0; 2]),
        dt,
        WEIGHTLESS,
    );
    bench.step();
    // Implicit: F = −k (L + dt L̇ − 0.2) − d L̇ with L̇ = dt W F.
    let force = -k * (0.8 - 0.2) / (1.0 + dt * W * (dt * k + d));
    assert!((bench.state.v[0] - dt * force).abs() < 1e-12);
    assert!((bench.state.v[1] - dt * 3.0 * force / 2.0).abs() < 1e-12);
    // Slack between two lengths.
    let slack = slides("stiffness=\"7\" springlength=\"0.2 0.9\"");
    let mut bench = Bench::new(
        RigidTree::new(slack).starting_at(&[0.5, 0.1], &[0.0; 2]),
        dt,
        WEIGHTLESS,
    );
    bench.step();
    assert_eq!(bench.state.v, [0.0, 0.0]);
}

#[test]
fn a_limit_stops_the_length() {
    let model = slides("range=\"-1 1\"");
    let start = RigidTree::new(model).starting_at(&[0.0, 0.0], &[1.0, 1.0]);
    let mut bench = Bench::new(start, 1e-3, WEIGHTLESS);
    let length = |q: &[f64]| q[0] + 3.0 * q[1];
    for _ in 0..600 {
        bench.step();
        assert!(length(&bench.state.q) < 1.0 + 1e-3);
    }
    // The impulse along (1, 3/2) takes the rate of the length away: v − 4/W (1, 3/2).
    let expected = [1.0 - 4.0 / W, 1.0 - 1.5 * 4.0 / W];
    for (v, expected) in bench.state.v.iter().zip(expected) {
        assert!((v - expected).abs() < 1e-3, "{:?}", bench.state.v);
    }
}

#[test]
fn an_actuator_moves_the_length_to_its_target_within_its_limit() {
    let model = slides("");
    let gains = model.tendons()[0].drive.gains.expect("gains of the file");
    let gains = PdGains {
        proportional: gains.proportional,
        derivative: gains.derivative,
        effort_limit: f64::INFINITY,
    };
    let tree = RigidTree::new(Arc::clone(&model)).starting_at(&[0.0, 0.0], &[0.0; 2]);
    let tree = tree
        .with_tendon_actuator(TendonIdx(0), gains)
        .expect("legal gains");
    let mut bench = Bench::new(tree, 1e-3, WEIGHTLESS);
    let control = model.control_of_tendon(TendonIdx(0));
    assert_eq!((control, bench.control.position.len()), (2, 3));
    bench.control.position[control] = 1.0;
    bench.step();
    // 10 N are wanted, 4 N are given.
    assert!((bench.state.v[0] - 4e-3).abs() < 1e-12);
    assert_eq!(
        bench
            .row_force(RowKind::Actuator, control as u32)
            .map(|f| (f * 1e9).round()),
        Some(4e9)
    );
    bench.steps(20_000);
    let length = bench.state.q[0] + 3.0 * bench.state.q[1];
    assert!((length - 1.0).abs() < 1e-6, "{length}");
    // The joints share it as their masses: x = 1/1, y = 3/2.
    assert!((bench.state.q[1] / bench.state.q[0] - 1.5).abs() < 1e-6);
}

#[test]
fn held_joints_move_the_length_too() {
    let model = slides("stiffness=\"100\" damping=\"20\" springlength=\"0\"");
    let mut bench = Bench::new(
        RigidTree::new(model).starting_at(&[0.0, 0.0], &[0.0; 2]),
        1e-3,
        WEIGHTLESS,
    );
    bench.control.held = vec![Some(0.3), None];
    bench.steps(1000);
    // Quasi-static: 3 q₂ = −0.3 t, up to the lag of the damper and the inertia.
    assert!((bench.state.q[1] + 0.1).abs() < 5e-3, "{:?}", bench.state.q);
}

#[test]
fn faulty_tendons_are_refused_with_their_place() {
    let body = r#"<worldbody><body name="x"><joint name="x"/><geom size="0.1"/></body><body><joint name="f" type="ball"/><geom size="0.1"/></body></worldbody>"#;
    for (tendon, expected) in [
        (
            "<fixed name=\"t\"><joint joint=\"z\" coef=\"1\"/></fixed>",
            "joint \"z\" is not",
        ),
        ("<fixed name=\"t\"><joint joint=\"x\"/></fixed>", "coef"),
        (
            "<fixed name=\"t\"><joint joint=\"f\" coef=\"1\"/></fixed>",
            "one degree of freedom",
        ),
        (
            "<fixed name=\"t\"><joint joint=\"x\" coef=\"0\"/></fixed>",
            "other than 0",
        ),
        (
            "<fixed name=\"t\" range=\"1 0\"><joint joint=\"x\" coef=\"1\"/></fixed>",
            "must ascend",
        ),
        (
            "<fixed name=\"t\" stiffness=\"-1\"><joint joint=\"x\" coef=\"1\"/></fixed>",
            "must not be negative",
        ),
    ] {
        let error = parse(&format!("{body}<tendon>{tendon}</tendon>"))
            .expect_err(tendon)
            .to_string();
        assert!(
            error.contains("m.xml:") && error.contains(expected),
            "{error}"
        );
    }
    let lost = format!("{body}<actuator><motor tendon=\"t\"/></actuator>");
    assert!(
        parse(&lost)
            .expect_err("no tendon")
            .to_string()
            .contains("tendon \"t\" is not in")
    );
}

#[test]
fn compensated_links_have_no_weight() {
    // A level arm of 1 m with 2 kg at its end, 75 % of whose weight is compensated, on a hinge about y.
    let arm = |gravcomp: &str| {
        load(&format!(
            r#"<worldbody><body name="arm" gravcomp="{gravcomp}"><joint axis="0 1 0"/><inertial pos="1 0 0" mass="2" diaginertia="1 1 1"/></body></worldbody>"#
        ))
        .model
    };
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    for (gravcomp, share) in [("0", 1.0), ("0.75", 0.25), ("1", 0.0), ("2", -1.0)] {
        let model = arm(gravcomp);
        let mut w = pliant_multibody::Workspace::new(&model);
        let mut bias = [0.0];
        pliant_multibody::bias_forces(&model, &[0.0], &[0.0], &gravity, &mut w, &mut bias);
        assert!(
            (bias[0] + share * 2.0 * 9.81).abs() < 1e-12,
            "{gravcomp}: {bias:?}"
        );
        // The derivative of the potential energy.
        let energy = |q: f64| {
            let mut w = pliant_multibody::Workspace::new(&model);
            w.update_positions(&model, &[q]);
            pliant_multibody::potential_energy(&model, &w.positions, &w.inertias, &gravity)
        };
        let slope = (energy(1e-5) - energy(-1e-5)) / 2e-5;
        assert!((slope - bias[0]).abs() < 1e-8);
    }
}

#[test]
fn free_bodies_fall_by_their_own_shares_of_weight() {
    // With centres of mass away from the origins of their frames.
    let model = load(
        r#"<worldbody><body name="b" gravcomp="0.75"><freejoint/><inertial pos="0.3 0 0" mass="2" diaginertia="1 1 1"/></body>
<body name="c"><freejoint/><inertial pos="0 0.2 0" mass="5" diaginertia="1 1 1"/></body></worldbody>"#,
    )
    .model;
    let q = model.initial_positions();
    let mut bench = Bench::new(
        RigidTree::new(Arc::new(model)).starting_at(&q, &[0.0; 12]),
        1e-2,
        Vector3::new(0.0, 0.0, -10.0),
    );
    bench.steps(100);
    for (i, found) in bench.state.v.iter().enumerate() {
        let expected = match i {
            5 => -2.5,
            11 => -10.0,
            _ => 0.0,
        };
        assert!((found - expected).abs() < 1e-9, "{:?}", bench.state.v);
    }
}
