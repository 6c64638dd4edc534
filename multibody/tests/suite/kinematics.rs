//! Velocities, Jacobians and accelerations are derivatives of poses, for every kind of joint.

use crate::random_trees::{Dice, welded};
use nalgebra::{DMatrix, DVector, Point3, Vector3};
use pliant_multibody::{
    AccelerationKinematics, LinkIdx, Model, PositionKinematics, Root, VelocityKinematics, Wrench,
    add_wrench, jacobian_columns, point_jacobian,
};

/// Step of central differences: truncation ε² and round-off u/ε both stay near 1e-10.
const EPS: f64 = 1e-5;

fn positions_at(model: &Model, q: &[f64]) -> PositionKinematics {
    let mut positions = PositionKinematics::new(model);
    positions.update(model, q);
    positions
}

fn moved(model: &Model, q: &[f64], v: &[f64], time: f64) -> Vec<f64> {
    let mut next = q.to_vec();
    model.integrate(q, v, time, &mut next);
    next
}

#[test]
fn link_twists_are_the_derivatives_of_link_poses_along_the_exponential_map() {
    for (seed, root) in [(1, welded()), (2, Root::Floating), (3, welded())] {
        let mut dice = Dice::new(seed);
        let model = dice.tree(16, root);
        let (q, v) = (dice.positions(&model), dice.numbers(model.n_v()));
        let here = positions_at(&model, &q);
        let mut velocities = VelocityKinematics::new(&model);
        velocities.update(&model, &here, &v);
        let ahead = positions_at(&model, &moved(&model, &q, &v, EPS));
        let behind = positions_at(&model, &moved(&model, &q, &v, -EPS));
        for l in (0..model.links().len()).map(LinkIdx) {
            let (to, from) = (ahead.link_pose(&model, l), behind.link_pose(&model, l));
            let linear = (to.translation.vector - from.translation.vector) / (2.0 * EPS);
            let angular = (to.rotation * from.rotation.inverse()).scaled_axis() / (2.0 * EPS);
            let twist = velocities.link_twist(&model, &here, l);
            assert!(
                (twist.linear - linear).norm() < 1e-8,
                "link {l:?}: {} {linear}",
                twist.linear
            );
            assert!(
                (twist.angular - angular).norm() < 1e-8,
                "link {l:?}: {} {angular}",
                twist.angular
            );
        }
    }
}

#[test]
fn point_jacobian_times_v_is_the_twist_of_the_point() {
    for (seed, root) in [(4, welded()), (5, Root::Floating)] {
        let mut dice = Dice::new(seed);
        let model = dice.tree(16, root);
        let (q, v) = (dice.positions(&model), dice.numbers(model.n_v()));
        let positions = positions_at(&model, &q);
        let mut velocities = VelocityKinematics::new(&model);
        velocities.update(&model, &positions, &v);
        let mut jacobian = DMatrix::zeros(6, model.n_v());
        for l in (0..model.links().len()).map(LinkIdx) {
            let p_WQ = positions.point(&model, l, &dice.vector());
            point_jacobian(&model, &positions, l, &p_WQ, &mut jacobian);
            let expected = velocities
                .twist_at(&model, &positions, l, &p_WQ)
                .to_vector();
            let found = &jacobian * DVector::from_column_slice(&v);
            assert!((found - expected).norm() < 1e-13 * (1.0 + expected.norm()));
            for (k, _) in jacobian_columns(&model, &positions, l, &p_WQ) {
                assert!(model.support(model.links()[l.0].body).any(|dof| dof == k));
            }
        }
    }
}

#[test]
fn each_jacobian_column_is_the_derivative_by_its_degree_of_freedom() {
    let mut dice = Dice::new(6);
    let model = dice.tree(12, Root::Floating);
    let q = dice.positions(&model);
    let here = positions_at(&model, &q);
    let tip = LinkIdx(model.links().len() - 1);
    let p_LQ = Vector3::new(0.1, -0.2, 0.3);
    let mut jacobian = DMatrix::zeros(6, model.n_v());
    point_jacobian(
        &model,
        &here,
        tip,
        &here.point(&model, tip, &p_LQ),
        &mut jacobian,
    );
    for k in 0..model.n_v() {
        let mut unit = vec![0.0; model.n_v()];
        unit[k] = 1.0;
        let ahead = positions_at(&model, &moved(&model, &q, &unit, EPS)).point(&model, tip, &p_LQ);
        let behind =
            positions_at(&model, &moved(&model, &q, &unit, -EPS)).point(&model, tip, &p_LQ);
        let column = jacobian.fixed_view::<3, 1>(3, k).into_owned();
        assert!(
            (column - (ahead - behind) / (2.0 * EPS)).norm() < 1e-8,
            "column {k}"
        );
    }
}

#[test]
fn accelerations_are_the_derivatives_of_twists() {
    for (seed, root) in [(7, welded()), (8, Root::Floating)] {
        let mut dice = Dice::new(seed);
        let model = dice.tree(16, root);
        let n = model.n_v();
        let (q, v, vdot) = (dice.positions(&model), dice.numbers(n), dice.numbers(n));
        let here = positions_at(&model, &q);
        let mut velocities = VelocityKinematics::new(&model);
        velocities.update(&model, &here, &v);
        let mut accelerations = AccelerationKinematics::new(&model);
        accelerations.update(&model, &here, &velocities, &vdot, &Vector3::zeros());
        let p_LQ = Vector3::new(-0.2, 0.1, 0.4);
        // Along q ⊕ t v with velocities v + t v̇ the first derivatives at t = 0 are exact.
        let twist_at = |l: LinkIdx, t: f64| {
            let then = positions_at(&model, &moved(&model, &q, &v, t));
            let rates: Vec<f64> = v.iter().zip(&vdot).map(|(v, a)| v + t * a).collect();
            let mut velocities = VelocityKinematics::new(&model);
            velocities.update(&model, &then, &rates);
            velocities
                .twist_at(&model, &then, l, &then.point(&model, l, &p_LQ))
                .to_vector()
        };
        for l in (0..model.links().len()).map(LinkIdx) {
            let difference = (twist_at(l, EPS) - twist_at(l, -EPS)) / (2.0 * EPS);
            let p_WQ = here.point(&model, l, &p_LQ);
            let found = accelerations
                .acceleration_at(&model, &here, &velocities, l, &p_WQ)
                .to_vector();
            assert!(
                (found - difference).norm() < 2e-8 * (1.0 + found.norm()),
                "link {l:?}: {found} {difference}"
            );
        }
    }
}

#[test]
fn bias_acceleration_is_the_acceleration_without_joint_accelerations() {
    let mut dice = Dice::new(9);
    let model = dice.tree(14, Root::Floating);
    let (q, v) = (dice.positions(&model), dice.numbers(model.n_v()));
    let here = positions_at(&model, &q);
    let mut velocities = VelocityKinematics::new(&model);
    velocities.update(&model, &here, &v);
    let (mut zero, mut bias) = (
        AccelerationKinematics::new(&model),
        AccelerationKinematics::new(&model),
    );
    zero.update(
        &model,
        &here,
        &velocities,
        &vec![0.0; model.n_v()],
        &Vector3::zeros(),
    );
    bias.update_bias(&model, &here, &velocities, &Vector3::zeros());
    for l in (0..model.links().len()).map(LinkIdx) {
        let at = here.link_position(&model, l);
        let there = zero.acceleration_at(&model, &here, &velocities, l, &at);
        assert_eq!(
            there,
            bias.acceleration_at(&model, &here, &velocities, l, &at)
        );
    }
}

#[test]
fn a_wrench_has_the_same_power_on_the_point_and_on_the_joints() {
    let mut dice = Dice::new(10);
    let model = dice.tree(14, Root::Floating);
    let (q, v) = (dice.positions(&model), dice.numbers(model.n_v()));
    let positions = positions_at(&model, &q);
    let mut velocities = VelocityKinematics::new(&model);
    velocities.update(&model, &positions, &v);
    let link = LinkIdx(9);
    let p_WQ = dice.vector();
    let wrench = Wrench {
        torque: dice.vector(),
        force: dice.vector(),
    };
    let mut tau = vec![0.0; model.n_v()];
    add_wrench(&model, &positions, link, &p_WQ, &wrench, &mut tau);
    let through_joints: f64 = tau.iter().zip(&v).map(|(t, v)| t * v).sum();
    let direct = wrench.power(&velocities.twist_at(&model, &positions, link, &p_WQ));
    assert!((through_joints - direct).abs() < 1e-13 * (1.0 + direct.abs()));
}

#[test]
fn difference_inverts_integration_for_every_kind_of_joint() {
    for seed in 11..16 {
        let mut dice = Dice::new(seed);
        let model = dice.tree(18, Root::Floating);
        let (q, v) = (dice.positions(&model), dice.numbers(model.n_v()));
        let next = moved(&model, &q, &v, 0.7);
        let mut back = vec![0.0; model.n_v()];
        model.difference(&q, &next, &mut back);
        for (b, v) in back.iter().zip(&v) {
            assert!((b - 0.7 * v).abs() < 1e-14 * 100.0, "{b} {v}");
        }
        let mut again = next.clone();
        model.normalise(&mut again);
        let drift = next
            .iter()
            .zip(&again)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(
            drift < 4.0 * f64::EPSILON,
            "quaternions were of unit length already, off by {drift}"
        );
    }
}

#[test]
fn points_are_fixed_in_the_link() {
    let mut dice = Dice::new(17);
    let model = dice.tree(10, welded());
    let positions = positions_at(&model, &dice.positions(&model));
    for l in (0..model.links().len()).map(LinkIdx) {
        let p_LQ = dice.vector();
        let p_WQ = positions.link_pose(&model, l) * Point3::from(p_LQ);
        assert!((positions.point(&model, l, &p_LQ) - p_WQ.coords).norm() < 1e-14);
    }
    assert_eq!(
        positions.link_position(&model, LinkIdx(0)),
        Vector3::new(0.3, -0.2, 0.9)
    );
}
