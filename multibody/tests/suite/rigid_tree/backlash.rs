//! Backlash of couplings and actuators: lag, free motion within the play, load on either side.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::{DeformableModel, Load, MaterialPoint, NEAR_RIGID_ROW, PdGains, RowKind};
use pliant_multibody::{
    CouplerLaw, JointIdx, JointKind, JointSpec, LinkSpec, Model, ModelBuilder, RigidTree,
    SpatialInertia,
};

use super::test_bench::{Bench, DOWN, WEIGHTLESS, brick, pendulum};

const PLAY: f64 = 0.04;

/// A wheel that follows a pinion: q_wheel = 0.1 − 2 q_pinion, with play and dry friction in its bearing.
fn gears(friction: f64) -> Arc<Model> {
    let mut builder = ModelBuilder::new("gears");
    builder.link(LinkSpec::new("box", SpatialInertia::zero()));
    for name in ["pinion", "wheel"] {
        builder.link(LinkSpec::new(name, brick(1.0, Vector3::zeros())));
        let mut joint = JointSpec::new(name, JointKind::Revolute, "box", name).about(Vector3::z());
        if name == "wheel" {
            joint.passive.dry_friction = friction;
        }
        builder.joint(joint);
    }
    builder.coupler("wheel", "pinion", CouplerLaw::linear(-2.0, 0.1));
    let mut model = builder.build().expect("gears");
    let wheel = model.joint_named("wheel").expect("a joint");
    model.set_backlash(wheel, PLAY).expect("a width");
    Arc::new(model)
}

fn offset(bench: &Bench) -> f64 {
    bench.state.q[1] + 2.0 * bench.state.q[0] - 0.1
}

#[test]
fn a_coupled_wheel_lags_by_half_of_the_play_and_reverses_after_all_of_it() {
    for dt in [1e-3, 1e-2] {
        let mut bench = Bench::new(RigidTree::new(gears(0.3)), dt, WEIGHTLESS);
        // A stop at rest under the force F is overrun by 2δt² R/w F/I.
        let inertia = (0.1 * 0.1 + 0.2 * 0.2) / 12.0;
        let softness = NEAR_RIGID_ROW.powi(2) / (4.0 * std::f64::consts::PI.powi(2));
        let overrun = 2.0 * dt * dt * softness * 0.3 / inertia;
        let until = |bench: &mut Bench, time_s: f64| bench.steps((time_s / dt).round() as usize);
        // The wheel is to turn at −1 rad/s and stays behind.
        bench.control.held[0] = Some(0.5);
        until(&mut bench, 0.5);
        assert!(
            (offset(&bench) - 0.5 * PLAY).abs() < 1.1 * overrun + 1e-9,
            "{}",
            offset(&bench)
        );
        assert!((bench.state.v[1] + 1.0).abs() < 1e-6);
        let force = bench.row_force(RowKind::Coupler, 1).expect("a row");
        assert!(
            (force + 0.3).abs() < 1e-4,
            "the pinion overcomes the friction: {force}"
        );
        // Back by 0.6 of the play: friction stops the wheel after I v²/2F, and it stands.
        let stands = bench.state.q[1];
        bench.control.held[0] = Some(-0.2);
        until(&mut bench, 0.6 * PLAY / 0.4);
        let coasted = stands - bench.state.q[1];
        assert!((coasted - inertia / (2.0 * 0.3)).abs() < dt, "{coasted}");
        assert!(bench.state.v[1].abs() < 1e-6);
        assert_eq!(bench.row_force(RowKind::Coupler, 1), Some(0.0));
        until(&mut bench, 0.5);
        assert!(
            (offset(&bench) + 0.5 * PLAY).abs() < 1.1 * overrun + 1e-9,
            "{}",
            offset(&bench)
        );
    }
}

#[test]
fn a_wheel_within_its_play_is_free() {
    let tree = RigidTree::new(gears(0.0)).starting_at(&[0.0, 0.1], &[0.0, 0.4]);
    let mut bench = Bench::new(tree, 1e-3, WEIGHTLESS);
    // It reaches the stop after 50 ms.
    bench.steps(49);
    assert!((bench.state.q[1] - 0.1 - 0.049 * 0.4).abs() < 1e-12);
    assert_eq!(bench.state.v, [0.0, 0.4]);
    // From then on both turn, with the angular momentum of both about the coupling: I (1 + 1/4) of equal wheels.
    bench.steps(10);
    assert!((offset(&bench) - 0.5 * PLAY).abs() < 1e-5);
    assert!(
        (bench.state.v[1] - 0.4 / 1.25).abs() < 1e-3,
        "{:?}",
        bench.state.v
    );
}

#[test]
fn starts_within_the_play_are_kept_and_others_moved_to_its_end() {
    let model = gears(0.0);
    for (start, expected) in [(0.11, 0.11), (0.15, 0.12), (-3.0, 0.08)] {
        let mut q = [0.0, start];
        model.make_admissible(&mut q);
        assert!((q[1] - expected).abs() < 1e-15, "{q:?}");
    }
    // Extending the model keeps the play.
    let copy = model.to_builder().build().expect("the same");
    assert_eq!(copy.couplers()[0].backlash, PLAY);
}

fn driven(model: Arc<Model>, gains: [f64; 2], limit: f64) -> RigidTree {
    let gains = PdGains {
        proportional: gains[0],
        derivative: gains[1],
        effort_limit: limit,
    };
    let tree = RigidTree::new(model).with_actuator(JointIdx(0), gains);
    let tree = tree.expect("gains").with_backlash(JointIdx(0), PLAY);
    tree.expect("a width")
}

#[test]
fn a_driven_joint_lags_its_motor_by_half_of_the_play() {
    // With dry friction F, the motor is ahead by half of the play and by F/Kp.
    let (friction, kp) = (2.0, 400.0);
    let model = || pendulum(1.0, |joint| joint.passive.dry_friction = friction);
    for dt in [1e-3, 1e-2] {
        let mut bench = Bench::new(driven(model(), [kp, 40.0], f64::INFINITY), dt, WEIGHTLESS);
        let lag = 0.5 * PLAY + friction / kp;
        for rate in [0.2, -0.2] {
            bench.control.velocity[0] = rate;
            for _ in 0..(2.0 / dt) as usize {
                bench.control.position[0] += rate * dt;
                bench.step();
            }
            let ahead = bench.control.position[0] - bench.state.q[0];
            assert!(
                (ahead - lag * rate.signum()).abs() < 1e-5,
                "{dt}: {ahead} {lag}"
            );
        }
        // After a reversal by 0.6 of the play, the joint stands where friction has stopped it, after I v²/2F.
        let turned = bench.state.q[0];
        bench.control.velocity[0] = 0.2;
        for _ in 0..(0.6 * PLAY / 0.2 / dt) as usize {
            bench.control.position[0] += 0.2 * dt;
            bench.step();
        }
        let coasted = turned - bench.state.q[0];
        assert!(
            (coasted - 0.2 * 0.2 / (2.0 * friction)).abs() < 0.2 * dt,
            "{coasted}"
        );
        assert!(bench.state.v[0].abs() < 1e-6, "{:?}", bench.state);
        assert_eq!(bench.row_force(RowKind::Actuator, 0), Some(0.0));
    }
}

#[test]
fn a_pendulum_within_the_play_swings_as_without_an_actuator() {
    let model = pendulum(1.0, |_| {});
    let swing = |tree: RigidTree| {
        let mut bench = Bench::new(tree.starting_at(&[0.015], &[0.0]), 1e-3, DOWN);
        bench.tighten();
        bench.control.position[0] = 0.0;
        bench.steps(1000);
        (bench.state.clone(), bench.row_force(RowKind::Actuator, 0))
    };
    let (free, _) = swing(RigidTree::new(Arc::clone(&model)));
    let (driven, force) = swing(driven(model, [1000.0, 300.0], f64::INFINITY));
    assert_eq!(force, Some(0.0));
    let apart = [free.q[0] - driven.q[0], free.v[0] - driven.v[0]];
    assert!(apart.iter().all(|x| x.abs() < 1e-10), "{apart:?}");
    assert!(free.q[0] < -0.0149, "it swings: {free:?}");
}

#[test]
fn loads_rest_on_either_side_and_efforts_act_through_the_motor() {
    let (kp, load) = (400.0, 3.0);
    let at_rest = |feed_forward: f64, load: f64, limit: f64| {
        let mut bench = Bench::new(
            driven(pendulum(1.0, |_| {}), [kp, 40.0], limit),
            1e-2,
            WEIGHTLESS,
        );
        let force_W = Vector3::new(-load, 0.0, 0.0);
        bench.control.loads = vec![Load {
            point: MaterialPoint::on_frame(1, Vector3::new(0.0, 0.0, -1.0)),
            force_W,
            torque_W: Vector3::zeros(),
        }];
        bench.control.effort[0] = feed_forward;
        bench.steps(400);
        (
            bench.state.q[0],
            bench.row_force(RowKind::Actuator, 0).expect("rows"),
        )
    };
    for sign in [1.0, -1.0] {
        // A force along −x at the end of the pendulum turns it by +1 N·m/N about y.
        let (q, effort) = at_rest(0.0, sign * load, f64::INFINITY);
        // To the middle of the lever at a small angle.
        let torque = load * q.cos();
        let expected = sign * (0.5 * PLAY + torque / kp);
        assert!((q - expected).abs() < 1e-7, "{q} {expected}");
        assert!((effort + sign * torque).abs() < 1e-5, "{effort}");
        // An effort against the load brings the joint back to the side of the play.
        let (q, _) = at_rest(-sign * load, sign * load, f64::INFINITY);
        assert!((q - sign * 0.5 * PLAY).abs() < 1e-5, "{q}");
        // Saturated, it gives no more than its limit.
        let (_, effort) = at_rest(0.0, sign * load, 1.0);
        assert!(effort.abs() <= 1.0 + 1e-12);
    }
}

#[test]
fn backlash_needs_a_width_and_what_it_is_in() {
    let gains = PdGains {
        proportional: 0.0,
        derivative: 1.0,
        effort_limit: 1.0,
    };
    let tree = || RigidTree::new(pendulum(1.0, |_| {}));
    let fails = |tree: RigidTree, width: f64, expected: &str| {
        let error = tree
            .with_backlash(JointIdx(0), width)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    };
    fails(tree(), 0.1, "needs an actuator");
    fails(tree(), f64::NAN, "must be finite and not negative");
    let damped = tree().with_actuator(JointIdx(0), gains).expect("gains");
    fails(damped, 0.1, "needs a proportional gain");
    let mut model = (*gears(0.0)).clone();
    for (name, width, expected) in [
        ("wheel", -0.1, "must be finite and not negative"),
        ("pinion", 0.1, "needs a joint that follows another"),
    ] {
        let joint = model.joint_named(name).expect("a joint");
        let error = model.set_backlash(joint, width).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // The position nearest to zero that the play allows.
    let start = RigidTree::new(gears(0.0)).default_state();
    assert!((start.q[1] - 0.08).abs() < 1e-15);
}
