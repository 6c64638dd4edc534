//! Held joints, prescribed velocities and actuators.

use pliant_contact_sap::{PdGains, RowKind};
use pliant_multibody::RigidTree;

use super::test_bench::{Bench, DOWN, G, WEIGHTLESS, chain, pendulum};

fn gains(proportional: f64, derivative: f64, effort_limit: f64) -> PdGains {
    PdGains {
        proportional,
        derivative,
        effort_limit,
    }
}

/// A pendulum of 1 kg m² with an actuator, without gravity.
fn driven(gains: PdGains, dt: f64) -> Bench {
    let model = pendulum(1.0, |_| {});
    let hinge = model.joint_named("hinge0").expect("there is one");
    let tree = RigidTree::new(model)
        .with_actuator(hinge, gains)
        .expect("legal gains");
    Bench::new(tree, dt, WEIGHTLESS)
}

#[test]
fn a_locked_joint_stays_and_the_next_one_swings_from_it() {
    let tree = RigidTree::new(chain(&[1.0, 0.5], |_| {})).starting_at(&[0.3, 0.4], &[0.0, 0.0]);
    let dt = 1e-3;
    let mut bench = Bench::new(tree, dt, DOWN);
    bench.control.held[0] = Some(0.0);
    let (mut q, mut v) = (0.4_f64, 0.0);
    for _ in 0..500 {
        v -= dt * G / 0.5 * (0.3 + q).sin();
        q += dt * v;
        bench.step();
        assert_eq!((bench.state.q[0], bench.state.v[0]), (0.3, 0.0));
        assert!((bench.state.q[1] - q).abs() < 1e-12);
    }
    // Released, it moves again.
    bench.control.held[0] = None;
    bench.step();
    assert!(bench.state.v[0] != 0.0);
}

#[test]
fn a_prescribed_velocity_accelerates_the_other_joints_consistently() {
    // No force acts across the second link, so its mass stays at rest when the first starts instantaneously.
    let mut bench = Bench::new(RigidTree::new(chain(&[1.0, 0.5], |_| {})), 1e-3, WEIGHTLESS);
    bench.control.held[0] = Some(2.0);
    bench.step();
    let v = &bench.state.v;
    assert_eq!(v[0], 2.0);
    // 1 m · 2 rad/s + 0.5 m · (2 + v) = 0.
    assert!((v[1] + 6.0).abs() < 1e-13, "{v:?}");
    bench.steps(99);
    assert!((bench.state.q[0] - 0.2).abs() < 1e-14);
}

#[test]
fn an_actuator_saturates_exactly_at_its_limit() {
    let dt = 1e-3;
    let mut bench = driven(gains(100.0, 10.0, 5.0), dt);
    bench.control.position[0] = 10.0;
    bench.step();
    assert_eq!(bench.row_force(RowKind::Actuator, 0), Some(5.0));
    assert!((bench.state.v[0] - dt * 5.0).abs() < 1e-17);
    bench.control.position[0] = -10.0;
    bench.step();
    assert_eq!(bench.row_force(RowKind::Actuator, 0), Some(-5.0));
}

#[test]
fn a_soft_actuator_is_implicit_pd_control() {
    let (kp, kd, dt) = (30.0, 2.0, 1e-2);
    let mut bench = driven(gains(kp, kd, f64::INFINITY), dt);
    bench.control.position[0] = 0.7;
    bench.control.velocity[0] = 0.1;
    let (mut q, mut v) = (0.0, 0.0);
    for _ in 0..100 {
        v = (v + dt * (kp * (0.7 - q) + kd * 0.1)) / (1.0 + dt * (dt * kp + kd));
        q += dt * v;
        bench.step();
        // The solver's tolerance, summed over the steps.
        assert!(
            (bench.state.q[0] - q).abs() < 1e-8,
            "{}",
            bench.state.q[0] - q
        );
    }
}

#[test]
fn very_large_gains_reach_their_target_without_overshoot() {
    let dt = 1e-3;
    for (kp, kd) in [(1e9, 1e6), (1e15, 1e12), (1e15, 0.0)] {
        let mut bench = driven(gains(kp, kd, f64::INFINITY), dt);
        bench.control.position[0] = 0.1;
        let mut before = 0.0;
        for _ in 0..40 {
            bench.step();
            let q = bench.state.q[0];
            // The fraction that the near-rigid spring yields, squared: 2.5e-4² of 0.1.
            assert!(q >= before - 1e-8 && q < 0.1 + 1e-4, "{kp} {kd}: {q}");
            before = q.min(0.1);
        }
        assert!((bench.state.q[0] - 0.1).abs() < 1e-6, "{kp} {kd}");
    }
}

#[test]
fn feed_forward_is_bounded_by_the_actuator_or_else_by_the_joint() {
    let dt = 1e-3;
    let mut bench = driven(gains(0.0, 0.0, 3.0), dt);
    bench.control.effort[0] = 1e3;
    bench.step();
    assert!((bench.state.v[0] - dt * 3.0).abs() < 1e-16);

    let model = pendulum(1.0, |joint| joint.limits.effort = 4.0);
    let hinge = model.joint_named("hinge0").expect("there is one");
    let mut bare = Bench::new(RigidTree::new(model.clone()), dt, WEIGHTLESS);
    bare.control.effort[0] = -1e3;
    bare.step();
    assert!((bare.state.v[0] + dt * 4.0).abs() < 1e-16);
    let strong = RigidTree::new(model)
        .with_actuator(hinge, gains(0.0, 0.0, 9.0))
        .expect("legal gains");
    let mut strong = Bench::new(strong, dt, WEIGHTLESS);
    strong.control.effort[0] = 1e3;
    strong.step();
    assert!((strong.state.v[0] - dt * 4.0).abs() < 1e-16);
}

#[test]
fn actuators_on_joints_of_several_degrees_of_freedom_and_invalid_gains_are_rejected() {
    let model = pendulum(1.0, |_| {});
    let hinge = model.joint_named("hinge0").expect("there is one");
    for bad in [
        gains(-1.0, 0.0, 1.0),
        gains(0.0, f64::NAN, 1.0),
        gains(f64::INFINITY, 0.0, 1.0),
        gains(0.0, 0.0, -1.0),
    ] {
        let refused = RigidTree::new(model.clone()).with_actuator(hinge, bad);
        assert!(
            refused.is_err_and(|e| e.to_string().contains("hinge0")),
            "{bad:?}"
        );
    }
}
