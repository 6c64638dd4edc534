//! What a tree does by itself: swing, fly, spring back.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::DeformableModel;
use pliant_multibody::{
    LinkSpec, Model, ModelBuilder, RigidTree, Root, Workspace, forward_dynamics,
};

use crate::test_bench::{Bench, DOWN, G, WEIGHTLESS, brick, chain, pendulum};

/// q after time `until` by classical Runge-Kutta on the model's forward dynamics, joints of one degree of freedom only.
fn reference(model: &Model, q: &[f64], until: f64) -> Vec<f64> {
    let n = q.len();
    let mut w = Workspace::new(model);
    let mut rate = |x: &[f64]| {
        let mut xdot = x[n..].to_vec();
        xdot.resize(2 * n, 0.0);
        let (q, v) = x.split_at(n);
        forward_dynamics(model, q, v, &vec![0.0; n], &DOWN, &mut w, &mut xdot[n..]);
        xdot
    };
    let mut x = q.to_vec();
    x.resize(2 * n, 0.0);
    let steps = 2000;
    let h = until / f64::from(steps);
    let along = |x: &[f64], k: &[f64], h: f64| -> Vec<f64> {
        x.iter().zip(k).map(|(x, k)| x + h * k).collect()
    };
    for _ in 0..steps {
        let k1 = rate(&x);
        let k2 = rate(&along(&x, &k1, 0.5 * h));
        let k3 = rate(&along(&x, &k2, 0.5 * h));
        let k4 = rate(&along(&x, &k3, h));
        for i in 0..2 * n {
            x[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    x.truncate(n);
    x
}

/// Distance from the reference at 0.5 s, for a step.
fn error_at(model: &Arc<Model>, q: &[f64], dt: f64) -> f64 {
    let tree = RigidTree::new(model.clone()).starting_at(q, &vec![0.0; q.len()]);
    let mut bench = Bench::new(tree, dt, DOWN);
    bench.steps((0.5 / dt).round() as usize);
    let exact = reference(model, q, 0.5);
    let difference = bench
        .state
        .q
        .iter()
        .zip(&exact)
        .map(|(a, b)| (a - b).powi(2));
    difference.sum::<f64>().sqrt()
}

#[track_caller]
fn check_first_order(error: impl Fn(f64) -> f64) {
    let errors = [2e-3, 1e-3, 5e-4].map(error);
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((1.85..2.15).contains(&ratio), "errors {errors:?}");
    }
}

#[test]
fn a_pendulum_follows_the_scheme_to_the_last_digits() {
    let tree = RigidTree::new(pendulum(0.8, |_| {})).starting_at(&[1.2], &[0.3]);
    let dt = 1e-3;
    let mut bench = Bench::new(tree, dt, DOWN);
    let (mut q, mut v) = (1.2_f64, 0.3);
    for _ in 0..1000 {
        v -= dt * G / 0.8 * q.sin();
        q += dt * v;
        bench.step();
        // Two ways to the same number, 1000 roundings each.
        assert!((bench.state.q[0] - q).abs() < 1e-12);
    }
}

#[test]
fn pendulum_and_double_pendulum_converge_to_the_exact_motion_at_first_order() {
    let single = pendulum(1.0, |_| {});
    check_first_order(|dt| error_at(&single, &[1.0], dt));
    let double = chain(&[1.0, 0.7], |_| {});
    check_first_order(|dt| error_at(&double, &[1.0, -0.4], dt));
}

#[test]
fn stiff_springs_and_dampers_are_implicit_euler() {
    let dt = 1e-2;
    for (k, d) in [(1e8, 0.0), (1e8, 1e6), (10.0, 1e9), (40.0, 0.3)] {
        let model = pendulum(1.0, |joint| {
            joint.passive.spring_stiffness = k;
            joint.passive.spring_rest = 0.2;
            joint.passive.damping = d;
        });
        let tree = RigidTree::new(model).starting_at(&[0.5], &[1.0]);
        let mut bench = Bench::new(tree, dt, WEIGHTLESS);
        let (mut q, mut v) = (0.5_f64, 1.0_f64);
        for _ in 0..50 {
            v = (v - dt * k * (q - 0.2)) / (1.0 + dt * d + dt * dt * k);
            q += dt * v;
            bench.step();
            let scale = (q - 0.2).abs() + dt * v.abs();
            // k q against k q_rest cancels: that many digits are lost.
            let slack = 1e-12 * scale + 64.0 * f64::EPSILON;
            assert!((bench.state.q[0] - q).abs() < slack, "k = {k}, d = {d}");
        }
        assert!((q - 0.2).abs() <= 0.32, "k = {k}, d = {d}: {q}");
    }
}

#[test]
fn a_rotor_behind_a_gear_adds_its_inertia_times_the_ratio_squared() {
    let model = pendulum(1.0, |joint| {
        joint.drive.rotor_inertia = 0.01;
        joint.drive.gear_ratio = 100.0;
    });
    let mut bench = Bench::new(RigidTree::new(model), 1e-3, WEIGHTLESS);
    bench.control.effort[0] = 3.0;
    bench.step();
    // 1 kg at 1 m, and 0.01 · 100² kg m² of rotor.
    assert!((bench.state.v[0] - 1e-3 * 3.0 / 101.0).abs() < 1e-18);
    let kinetic = bench.tree().energy(&bench.state, &WEIGHTLESS).kinetic;
    assert!((kinetic - 0.5 * 101.0 * bench.state.v[0].powi(2)).abs() < 1e-20);
}

/// A free brick with its centre at `com` from the link's origin, spinning and flying.
fn free_brick(com: Vector3<f64>, dt: f64) -> Bench {
    let mut builder = ModelBuilder::new("brick");
    builder.root(Root::Floating);
    builder.link(LinkSpec::new("brick", brick(2.0, com)));
    let model = Arc::new(builder.build().expect("a legal brick"));
    let q = [0.1, 0.2, 0.3, 0.5, 0.5, -0.5, 0.5];
    let v = [1.0, -3.0, 2.0, 0.4, 0.2, -0.3];
    Bench::new(RigidTree::new(model).starting_at(&q, &v), dt, WEIGHTLESS)
}

/// Change of linear and angular momentum over 0.4 s.
fn drift(com: Vector3<f64>, dt: f64) -> (f64, f64) {
    let mut bench = free_brick(com, dt);
    let before = bench.tree().energy(&bench.state, &WEIGHTLESS);
    bench.steps((0.4 / dt).round() as usize);
    let after = bench.tree().energy(&bench.state, &WEIGHTLESS);
    (
        (after.linear_momentum_W - before.linear_momentum_W).norm(),
        (after.angular_momentum_W - before.angular_momentum_W).norm(),
    )
}

#[test]
fn linear_momentum_is_kept_exactly_about_the_centre_and_to_first_order_off_it() {
    let (linear, _) = drift(Vector3::zeros(), 1e-3);
    assert!(linear < 1e-13, "{linear}");
    let off = Vector3::new(0.1, -0.05, 0.2);
    check_first_order(|dt| drift(off, dt).0);
}

#[test]
fn angular_momentum_of_a_tumbling_body_is_kept_to_first_order() {
    check_first_order(|dt| drift(Vector3::zeros(), dt).1);
    check_first_order(|dt| drift(Vector3::new(0.1, -0.05, 0.2), dt).1);
}
