//! Differential inverse kinematics: targets, trajectories, limits.

use crate::random_trees::Dice;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_multibody::{
    DofIdx, HeldDofs, IkSettings, IkStop, InverseKinematics, JointKind, JointSpec, LinkSpec, Model,
    ModelBuilder, PositionKinematics, SpatialInertia,
};

/// An arm with seven revolute joints of alternating axes.
fn arm() -> Model {
    let mut builder = ModelBuilder::new("arm");
    builder.link(LinkSpec::new("l0", SpatialInertia::zero()));
    for i in 1..=7 {
        builder.link(LinkSpec::new(
            format!("l{i}"),
            SpatialInertia::solid_box(1.0, Vector3::repeat(0.1)),
        ));
        let axis = if i % 2 == 1 {
            Vector3::z()
        } else {
            Vector3::y()
        };
        let mut joint = JointSpec::new(
            format!("j{i}"),
            JointKind::Revolute,
            format!("l{}", i - 1),
            format!("l{i}"),
        )
        .at(Isometry3::translation(0.0, 0.0, 0.2))
        .about(axis);
        joint.limits.lower = -2.0;
        joint.limits.upper = 2.0;
        joint.limits.velocity = 3.0;
        builder.joint(joint);
    }
    builder.frame("tool", "l7", Isometry3::translation(0.0, 0.0, 0.1));
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

fn solver(model: &Model, held: HeldDofs, settings: IkSettings) -> InverseKinematics {
    InverseKinematics::new(
        model,
        model.frame_named("tool").expect("the tool"),
        held,
        settings,
    )
}

fn tool_pose(model: &Model, q: &[f64]) -> Isometry3<f64> {
    let mut positions = PositionKinematics::new(model);
    positions.update(model, q);
    positions.frame_pose(model, &model.frame_named("tool").expect("the tool"))
}

fn within_limits(model: &Model, q: &[f64]) -> bool {
    model.joints().iter().all(|j| {
        let at = q[j.positions().start];
        at >= j.limits.lower - 1e-12 && at <= j.limits.upper + 1e-12
    })
}

#[test]
fn poses_of_other_configurations_are_reached_within_limits() {
    let model = arm();
    let mut ik = solver(&model, HeldDofs::none(&model), IkSettings::default());
    let mut dice = Dice::new(80);
    let mut reached = 0;
    for _ in 0..50 {
        let start: Vec<f64> = dice.numbers(7);
        let goal: Vec<f64> = start
            .iter()
            .map(|q| (q + 0.6 * dice.number(-1.0, 1.0)).clamp(-1.9, 1.9))
            .collect();
        let target = tool_pose(&model, &goal);
        let mut q = start;
        let report = ik.reach(&model, &mut q, &target);
        assert!(within_limits(&model, &q), "{q:?}");
        if report.stop == IkStop::Reached {
            let off = tool_pose(&model, &q).inverse() * target;
            assert!(off.translation.vector.norm() < 1e-8 && off.rotation.angle() < 1e-8);
            assert!(report.iterations <= 60, "{report:?}");
            reached += 1;
        }
    }
    // A local method may be stopped by a limit; from nearby configurations that is rare.
    assert!(reached >= 48, "reached {reached} of 50");
}

#[test]
fn a_target_out_of_reach_is_approached_and_reported() {
    let model = arm();
    let free = IkSettings {
        rotation_weight: 0.0,
        ..IkSettings::default()
    };
    let mut ik = solver(&model, HeldDofs::none(&model), free);
    let mut q = vec![0.1, 0.4, -0.2, 0.5, 0.1, -0.3, 0.2];
    let shoulder = Vector3::new(0.0, 0.0, 0.4);
    let far = shoulder + Vector3::new(3.0, 0.0, 1.0);
    let report = ik.reach(
        &model,
        &mut q,
        &Isometry3::from_parts(far.into(), UnitQuaternion::identity()),
    );
    assert_ne!(report.stop, IkStop::Reached);
    // Fully extended, the tool is 1.1 m from the second joint.
    let best = (far - shoulder).norm() - 1.1;
    assert!(
        (report.position_error - best).abs() < 1e-2,
        "{report:?}, best {best}"
    );
}

#[test]
fn a_trajectory_is_followed() {
    let model = arm();
    let mut ik = solver(&model, HeldDofs::none(&model), IkSettings::default());
    let mut q = vec![0.2, 0.7, -0.3, -1.4, 0.2, 0.9, 0.1];
    let start = tool_pose(&model, &q);
    let (mut v, mut next, h) = (vec![0.0; 7], vec![0.0; 7], 0.01);
    let mut worst: f64 = 0.0;
    for step in 1..=200 {
        let angle = core::f64::consts::TAU * f64::from(step) / 200.0;
        let offset = Vector3::new(0.0, 0.05 * angle.sin(), 0.05 * (1.0 - angle.cos()));
        let target =
            Isometry3::from_parts((start.translation.vector + offset).into(), start.rotation);
        let report = ik.velocity_towards(&model, &q, &target, h, &mut v);
        assert_eq!(report.at_limit, 0, "{step} {q:?} {v:?}");
        model.integrate(&q, &v, h, &mut next);
        core::mem::swap(&mut q, &mut next);
        let off = (tool_pose(&model, &q).translation.vector - target.translation.vector).norm();
        worst = worst.max(off);
    }
    // The error of one linearisation: half the curvature of the arm times the square of a 1.6 mm step.
    assert!(worst < 1e-5, "{worst}");
}

#[test]
fn speed_limits_and_held_joints_are_respected() {
    let model = arm();
    let held = HeldDofs::of(&model, [DofIdx(2)]);
    let mut ik = solver(&model, held, IkSettings::default());
    let q = [0.2, 0.6, -0.3, -1.0, 0.2, 0.8, 0.1];
    let mut v = vec![0.0; 7];
    let mut target = tool_pose(&model, &q);
    target.translation.vector += Vector3::new(-0.3, 0.3, 0.1);
    let report = ik.velocity_towards(&model, &q, &target, 0.01, &mut v);
    assert!(report.at_limit > 0);
    assert!(v.iter().all(|v| v.abs() <= 3.0 + 1e-12), "{v:?}");
    assert_eq!(v[2], 0.0);
}

#[test]
fn a_joint_at_its_limit_stops_and_the_others_compensate() {
    let model = arm();
    let mut ik = solver(&model, HeldDofs::none(&model), IkSettings::default());
    let q = [0.0, 0.5, 0.0, 2.0, 0.0, 0.4, 0.0];
    let mut bent = q;
    bent[3] = 2.1;
    bent[1] = 0.45;
    let mut v = vec![0.0; 7];
    let target = tool_pose(&model, &bent);
    let _ = ik.velocity_towards(&model, &q, &target, 0.1, &mut v);
    assert!(v[3] <= 0.0, "joint 4 is at its upper limit: {v:?}");
    assert!(v.iter().any(|v| v.abs() > 1e-3), "{v:?}");
}

/// Largest change of a joint's speed within 5 ms, in steps of `h`. The tool moves towards the shoulder until the elbow is at
/// its limit, further by the other joints, and back.
fn largest_change(braking_time_s: f64, h: f64) -> f64 {
    let model = arm();
    let settings = IkSettings {
        braking_time_s,
        rotation_weight: 0.0,
        ..IkSettings::default()
    };
    let mut ik = solver(&model, HeldDofs::none(&model), settings);
    let mut q = vec![0.2, 0.7, -0.3, -1.8, 0.2, -0.9, 0.1];
    let start = tool_pose(&model, &q);
    let inwards = (Vector3::new(0.0, 0.0, 0.4) - start.translation.vector).normalize();
    let (mut v, mut next) = (vec![0.0; 7], vec![0.0; 7]);
    let steps = (2.0 / h).round() as usize;
    let window = (5e-3 / h).round() as usize;
    let mut speeds = vec![vec![0.0; 7]];
    let mut n_limited = 0;
    for step in 1..=steps {
        let phase = core::f64::consts::TAU * step as f64 / steps as f64;
        let mut target = start;
        target.translation.vector += inwards * (0.1 * (1.0 - phase.cos()));
        let report = ik.velocity_towards(&model, &q, &target, h, &mut v);
        assert!(
            report.position_error < 2e-3,
            "the others take over: {report:?}"
        );
        n_limited += usize::from(report.at_limit > 0);
        model.integrate(&q, &v, h, &mut next);
        core::mem::swap(&mut q, &mut next);
        assert!(within_limits(&model, &q), "{q:?}");
        speeds.push(v.clone());
    }
    assert!(
        n_limited > steps / 10,
        "the limit is met: {n_limited} of {steps}"
    );
    let changes = speeds
        .iter()
        .zip(&speeds[window..])
        .flat_map(|(before, after)| {
            let pairs = before.iter().zip(after);
            pairs.map(|(before, after)| (after - before).abs())
        });
    changes.fold(0.0, f64::max)
}

#[test]
fn velocities_are_continuous_where_a_joint_reaches_its_limit() {
    // Without braking, the joint stops within one step, whatever its length.
    let (abrupt, smooth) = (largest_change(0.0, 1e-3), largest_change(0.1, 1e-3));
    let finer = largest_change(0.1, 2.5e-4);
    assert!(
        smooth < 0.25 * abrupt,
        "{smooth} rad/s with, {abrupt} rad/s without"
    );
    assert!((finer / smooth - 1.0).abs() < 0.2, "{finer} {smooth}");
}
