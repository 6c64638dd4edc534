//! Conservation of energy and momentum.

use crate::random_trees::{Dice, GRAVITY, chain, welded};
use nalgebra::Vector3;
use pliant_multibody::{
    Model, Root, Workspace, forward_dynamics, kinetic_energy, momentum, potential_energy,
};

/// Classical Runge-Kutta method for q̇ = v in the exponential chart at the start of each step, without forces.
fn runge_kutta(
    model: &Model,
    q: &mut Vec<f64>,
    v: &mut [f64],
    time_step_s: f64,
    w: &mut Workspace,
) {
    let n = model.n_v();
    let slope = |q: &[f64], v: &[f64], w: &mut Workspace| {
        let mut vdot = vec![0.0; n];
        forward_dynamics(model, q, v, &vec![0.0; n], &GRAVITY, w, &mut vdot);
        vdot
    };
    let ahead = |x: &[f64], by: &[f64], h: f64| -> Vec<f64> {
        x.iter().zip(by).map(|(x, d)| x + h * d).collect()
    };
    let moved = |by: &[f64], h: f64| {
        let mut next = q.clone();
        model.integrate(q, by, h, &mut next);
        next
    };
    let h = time_step_s;
    let (v1, a1) = (v.to_vec(), slope(q, v, w));
    let v2 = ahead(v, &a1, 0.5 * h);
    let a2 = slope(&moved(&v1, 0.5 * h), &v2, w);
    let v3 = ahead(v, &a2, 0.5 * h);
    let a3 = slope(&moved(&v2, 0.5 * h), &v3, w);
    let v4 = ahead(v, &a3, h);
    let a4 = slope(&moved(&v3, h), &v4, w);
    let mean = |k: [&[f64]; 4]| -> Vec<f64> {
        (0..n)
            .map(|i| (k[0][i] + 2.0 * (k[1][i] + k[2][i]) + k[3][i]) / 6.0)
            .collect()
    };
    *q = moved(&mean([&v1, &v2, &v3, &v4]), h);
    let change = mean([&a1, &a2, &a3, &a4]);
    v.iter_mut().zip(change).for_each(|(v, a)| *v += h * a);
}

fn total_energy(model: &Model, q: &[f64], v: &[f64]) -> f64 {
    let mut w = Workspace::new(model);
    w.update(model, q, v);
    kinetic_energy(model, &w.velocities, &w.inertias)
        + potential_energy(model, &w.positions, &w.inertias, &GRAVITY)
}

/// Largest change of total energy over a second, integrated in steps of `time_step_s`.
fn energy_drift(model: &Model, q: &[f64], v: &[f64], steps: u32) -> f64 {
    let (mut q, mut v) = (q.to_vec(), v.to_vec());
    let start = total_energy(model, &q, &v);
    let mut w = Workspace::new(model);
    let mut worst: f64 = 0.0;
    for _ in 0..steps {
        runge_kutta(model, &mut q, &mut v, 1.0 / f64::from(steps), &mut w);
        worst = worst.max((total_energy(model, &q, &v) - start).abs());
    }
    worst
}

#[test]
fn energy_of_a_swinging_chain_is_conserved_to_fourth_order() {
    let model = chain(4);
    let (q, v) = ([0.5, -0.3, 0.8, 0.2], [0.4, -0.9, 0.7, 1.5]);
    let (coarse, fine) = (
        energy_drift(&model, &q, &v, 500),
        energy_drift(&model, &q, &v, 1000),
    );
    let order = (coarse / fine).log2();
    assert!(
        (3.5..=5.5).contains(&order),
        "drift {coarse} then {fine}: order {order}"
    );
    assert!(fine < 1e-6, "{fine}");
}

#[test]
fn energy_of_a_tree_with_every_joint_is_conserved_as_steps_shrink() {
    // The chart of ball joints is used to second order only, so the drift is of second order in the step or better.
    let mut dice = Dice::new(70);
    let model = dice.tree(10, welded());
    let (q, v) = (dice.positions(&model), dice.numbers(model.n_v()));
    let (coarse, fine) = (
        energy_drift(&model, &q, &v, 500),
        energy_drift(&model, &q, &v, 1000),
    );
    assert!(coarse / fine > 3.5, "drift {coarse} then {fine}");
    assert!(fine < 1e-3 * total_energy(&model, &q, &v).abs(), "{fine}");
}

#[test]
fn free_flight_conserves_linear_and_angular_momentum() {
    let mut dice = Dice::new(71);
    let model = dice.tree(9, Root::Floating);
    let (mut q, mut v) = (dice.positions(&model), dice.numbers(model.n_v()));
    let mut w = Workspace::new(&model);
    let momenta = |q: &[f64], v: &[f64], w: &mut Workspace| {
        w.update(&model, q, v);
        momentum(&model, &w.positions, &w.velocities, &w.inertias)
    };
    // At one instant, subtract the known effect of gravity from the rate of change.
    let n = model.n_v();
    let before = momenta(&q, &v, &mut w);
    let mut vdot = vec![0.0; n];
    forward_dynamics(
        &model,
        &q,
        &v,
        &vec![0.0; n],
        &Vector3::zeros(),
        &mut w,
        &mut vdot,
    );
    let eps = 1e-6;
    let step = |h: f64, w: &mut Workspace| {
        let mut next = q.clone();
        model.integrate(&q, &v, h, &mut next);
        let rates: Vec<f64> = v.iter().zip(&vdot).map(|(v, a)| v + h * a).collect();
        momenta(&next, &rates, w)
    };
    let (plus, minus) = (step(eps, &mut w), step(-eps, &mut w));
    let linear = (plus.linear - minus.linear) / (2.0 * eps);
    let angular = (plus.angular_about_origin - minus.angular_about_origin) / (2.0 * eps);
    let scale = before.linear.norm() + before.angular_about_origin.norm();
    assert!(linear.norm() < 1e-7 * (1.0 + scale), "{linear}");
    assert!(angular.norm() < 1e-7 * (1.0 + scale), "{angular}");
    // And over a second of flight under gravity: p(t) = p(0) + m g t.
    for _ in 0..2000 {
        runge_kutta(&model, &mut q, &mut v, 5e-4, &mut w);
    }
    let after = momenta(&q, &v, &mut w);
    let expected = before.linear + GRAVITY * model.moving_mass();
    assert!(
        (after.linear - expected).norm() < 1e-5 * expected.norm(),
        "{} {expected}",
        after.linear
    );
}
