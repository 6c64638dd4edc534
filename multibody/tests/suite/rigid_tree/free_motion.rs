//! Free motion of trees: pendulums, springs, free flight.

use std::sync::Arc;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use pliant_contact_sap::{DeformableModel, Integration, Load, MaterialPoint};
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, Model, ModelBuilder, RigidTree, Root, SpatialInertia,
    Workspace, centre_of_mass, forward_dynamics,
};

use super::conformance::{moving, tree_of_all_joints};
use super::test_bench::{Bench, DOWN, G, WEIGHTLESS, brick, chain, pendulum};

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
        // Two evaluations of the same sequence, with 1000 roundings each.
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
            // Cancellation of k q and k q_rest.
            let slack = 1e-12 * scale + 64.0 * f64::EPSILON;
            assert!((bench.state.q[0] - q).abs() < slack, "k = {k}, d = {d}");
        }
        assert!((q - 0.2).abs() <= 0.32, "k = {k}, d = {d}: {q}");
    }
}

#[test]
fn a_rotor_adds_its_inertia_times_the_gear_ratio_squared() {
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

/// A free brick in motion, with its centre of mass at `com` from the link's origin: the same motion for any `com`.
fn free_brick(com: Vector3<f64>, dt: f64, gravity: Vector3<f64>) -> Bench {
    let mut builder = ModelBuilder::new("brick");
    builder.root(Root::Floating);
    builder.link(LinkSpec::new("brick", brick(2.0, com)));
    let model = Arc::new(builder.build().expect("a legal brick"));
    let quat_wxyz = [0.5, 0.5, -0.5, 0.5];
    let [w, x, y, z] = quat_wxyz;
    let to_world = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z));
    let to_origin = -(to_world * com);
    let origin = Vector3::new(0.1, 0.2, 0.3) + to_origin;
    let omega = Vector3::new(1.0, -3.0, 2.0);
    let velocity = Vector3::new(0.4, 0.2, -0.3) + omega.cross(&to_origin);
    let q: Vec<f64> = origin.iter().chain(&quat_wxyz).copied().collect();
    let v: Vec<f64> = omega.iter().chain(velocity.iter()).copied().collect();
    Bench::new(RigidTree::new(model).starting_at(&q, &v), dt, gravity)
}

/// The centre of mass of all links.
fn centre(bench: &Bench) -> Vector3<f64> {
    let model = bench.tree().model();
    let mut w = Workspace::new(model);
    w.update_positions(model, &bench.state.q);
    centre_of_mass(model, &w.positions, &w.inertias).position
}

fn linear_momentum(bench: &Bench) -> Vector3<f64> {
    let energy = bench.tree().energy(&bench.state, &WEIGHTLESS);
    energy.linear_momentum_W
}

const FAR_OFF: Vector3<f64> = Vector3::new(1.0, -0.5, 2.0);

#[test]
fn linear_momentum_of_a_free_body_is_conserved_for_any_origin() {
    let near = Vector3::new(0.1, -0.05, 0.2);
    let cases = [Vector3::zeros(), near, FAR_OFF].into_iter();
    for (com, integration) in cases.flat_map(|com| Integration::ALL.map(|i| (com, i))) {
        let mut bench = free_brick(com, 1e-3, WEIGHTLESS);
        bench.integration = integration;
        let (p0, c0) = (linear_momentum(&bench), centre(&bench));
        bench.steps(1000);
        let change = (linear_momentum(&bench) - p0).norm() / p0.norm();
        assert!(change < 1e-12, "{change:e} of it, com {com:?}");
        let strayed = (centre(&bench) - c0 - p0 / 2.0).norm();
        assert!(strayed < 1e-12, "{strayed:e} m off the line, com {com:?}");
    }
}

#[test]
fn the_motion_of_a_free_body_does_not_depend_on_its_origin() {
    for integration in Integration::ALL {
        let mut about_centre = free_brick(Vector3::zeros(), 1e-2, DOWN);
        let mut about_corner = free_brick(FAR_OFF, 1e-2, DOWN);
        (about_centre.integration, about_corner.integration) = (integration, integration);
        about_centre.steps(200);
        about_corner.steps(200);
        let (one, other) = (&about_centre.state, &about_corner.state);
        let apart = (centre(&about_centre) - centre(&about_corner)).norm();
        assert!(apart < 1e-11, "{apart:e}");
        let rotations = one.q[3..].iter().zip(&other.q[3..]);
        for (a, b) in rotations.chain(one.v[..3].iter().zip(&other.v[..3])) {
            assert!((a - b).abs() < 1e-11, "{one:?} {other:?}");
        }
    }
}

#[test]
fn linear_momentum_of_a_floating_tree_changes_by_external_forces_only() {
    for integration in Integration::ALL {
        let tree = moving(&tree_of_all_joints(Root::Floating));
        let frame = tree.model().link_named("ball").expect("there is one").0;
        let mass: f64 = tree.model().moving_mass();
        let mut bench = Bench::new(tree, 1e-3, WEIGHTLESS);
        bench.integration = integration;
        bench.tighten();
        let (p0, c0) = (linear_momentum(&bench), centre(&bench));
        bench.steps(300);
        // Springs, dampers, dry friction, an actuator and a coupling acted, all of them internal.
        let kept = (linear_momentum(&bench) - p0).norm() / p0.norm();
        assert!(kept < 1e-12, "{integration:?}: {kept:e}");
        let strayed = (centre(&bench) - c0 - p0 * (0.3 / mass)).norm();
        assert!(strayed < 1e-12, "{integration:?}: {strayed:e}");

        let force = Vector3::new(3.0, -2.0, 5.0);
        bench.control.loads.push(Load {
            point: MaterialPoint::on_frame(frame as u32, Vector3::new(0.1, 0.2, 0.3)),
            force_W: force,
            torque_W: Vector3::new(0.3, 0.0, -0.1),
        });
        bench.gravity = DOWN;
        bench.steps(200);
        let expected = p0 + (force + DOWN * mass) * 0.2;
        let off = (linear_momentum(&bench) - expected).norm() / expected.norm();
        assert!(off < 1e-12, "{integration:?}: {off:e}");
    }
}

/// 3.7 rad per step: the explicit torque −ω × Iω squares the speed in each step, to 1e182 rad/s after ten.
#[test]
fn a_body_of_half_a_revolution_per_step_keeps_the_magnitude_of_its_angular_momentum() {
    for (com, integration) in [
        (Vector3::zeros(), Integration::BackwardEuler),
        (FAR_OFF, Integration::BackwardEuler),
        (Vector3::zeros(), Integration::Symplectic),
    ] {
        let mut bench = free_brick(com, 1.0, WEIGHTLESS);
        bench.integration = integration;
        let inertia = brick(2.0, com).rotational;
        let magnitude = |bench: &Bench| {
            let [w, x, y, z] = bench.state.q[3..].try_into().expect("a quaternion");
            let to_world = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z));
            let omega = Vector3::from_row_slice(&bench.state.v[..3]);
            (inertia * to_world.inverse_transform_vector(&omega)).norm()
        };
        let start = magnitude(&bench);
        bench.steps(500);
        let change = (magnitude(&bench) / start - 1.0).abs();
        assert!(change < 1e-10, "{change:e} of it, com {com:?}");
    }
}

#[test]
fn a_floating_root_has_no_joint_reaction() {
    let mut bench = Bench::new(moving(&tree_of_all_joints(Root::Floating)), 2e-3, DOWN);
    bench.tighten();
    bench.steps(10);
    let root = bench.reactions()[0];
    assert!(root.force_W.norm() < 1e-9, "{root:?}");
}

#[test]
fn a_planar_joint_conserves_momentum_in_its_plane() {
    let mut builder = ModelBuilder::new("puck");
    builder.link(LinkSpec::new("table", SpatialInertia::zero()));
    let at = |name: &str| LinkSpec::new(name, brick(1.5, Vector3::new(0.2, -0.3, 0.1)));
    builder.link(at("puck"));
    builder.link(at("arm"));
    let glide = JointSpec::new("glide", JointKind::Planar, "table", "puck");
    builder.joint(glide.about(Vector3::new(0.3, -0.1, 1.0)));
    let elbow = JointSpec::new("elbow", JointKind::Continuous, "puck", "arm");
    builder.joint(elbow.about(Vector3::y()));
    let model = Arc::new(builder.build().expect("a legal puck"));
    let tree = RigidTree::new(model).starting_at(&[0.1, 0.2, 0.7, 0.4], &[0.3, -0.5, 2.0, 1.0]);
    let mut bench = Bench::new(tree, 1e-3, WEIGHTLESS);
    let normal = Vector3::new(0.3, -0.1, 1.0).normalize();
    let in_plane = |p: Vector3<f64>| p - normal * normal.dot(&p);
    let p0 = in_plane(linear_momentum(&bench));
    bench.steps(500);
    let change = (in_plane(linear_momentum(&bench)) - p0).norm() / p0.norm();
    assert!(change < 1e-12, "{change:e}");
    bench.control.held[0] = Some(0.2);
    bench.steps(10);
    assert!((bench.state.v[0] - 0.2).abs() < 1e-15, "held is held");
}

/// Change of angular momentum over 0.4 s.
fn momentum_change(com: Vector3<f64>, dt: f64, integration: Integration) -> f64 {
    let mut bench = free_brick(com, dt, WEIGHTLESS);
    bench.integration = integration;
    let angular = |bench: &Bench| {
        let energy = bench.tree().energy(&bench.state, &WEIGHTLESS);
        energy.angular_momentum_W
    };
    let before = angular(&bench);
    bench.steps((0.4 / dt).round() as usize);
    (angular(&bench) - before).norm()
}

#[test]
fn angular_momentum_of_a_tumbling_body_is_conserved_to_round_off() {
    for com in [Vector3::zeros(), FAR_OFF] {
        for integration in Integration::ALL {
            for dt in [1e-3, 0.1] {
                let change = momentum_change(com, dt, integration);
                assert!(
                    change < 1e-12,
                    "{com:?}, {integration:?}, {dt} s: {change:e}"
                );
            }
        }
    }
}
