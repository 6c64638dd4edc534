//! Joint limits, dry friction and couplings.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{DeformableModel, NEAR_RIGID_ROW, PdGains, RowKind, StepInput};
use pliant_multibody::{
    CouplerLaw, JointKind, JointSpec, LinkSpec, Model, ModelBuilder, RigidTree, SpatialInertia,
};

use super::test_bench::{Bench, DOWN, WEIGHTLESS, brick, pendulum};

/// R/w of a near-rigid row.
fn softness() -> f64 {
    NEAR_RIGID_ROW.powi(2) / (4.0 * std::f64::consts::PI.powi(2))
}

fn limited(lower: f64, upper: f64) -> Arc<Model> {
    pendulum(1.0, |joint| {
        joint.limits.lower = lower;
        joint.limits.upper = upper;
    })
}

#[test]
fn a_limit_holds_within_its_regularisation_and_releases() {
    let dt = 1e-3;
    let tree = RigidTree::new(limited(-0.2, 0.3)).starting_at(&[0.0], &[5.0]);
    let mut bench = Bench::new(tree, dt, WEIGHTLESS);
    for _ in 0..100 {
        bench.step();
        // The yield of the regularisation in one step, and again on release.
        assert!(bench.state.q[0] <= 0.3 + 2.0 * dt * 5.0 * softness());
    }
    let torque = 2.0;
    bench.control.effort[0] = torque;
    bench.steps(100);
    // At rest γ = δt τ = −g/(2δt R).
    let sunk = bench.state.q[0] - 0.3;
    let expected = 2.0 * dt * dt * softness() * torque;
    assert!((sunk / expected - 1.0).abs() < 1e-3, "{sunk} {expected}");
    let force = bench.row_force(RowKind::UpperLimit, 0);
    assert!((force.expect("there") - torque).abs() < 1e-6, "{force:?}");
    bench.control.effort[0] = -torque;
    bench.steps(10);
    assert!(
        (bench.state.v[0] + 10.0 * dt * torque).abs() < 1e-5,
        "{:?}",
        bench.state
    );
}

#[test]
fn limits_out_of_reach_are_omitted_and_fast_joints_do_not_miss_one() {
    let tree = |q: f64, v: f64| RigidTree::new(limited(-2.9, 2.9)).starting_at(&[q], &[v]);
    let rows = |q: f64, v: f64| {
        let mut bench = Bench::new(tree(q, v), 1e-3, WEIGHTLESS);
        bench.step();
        let has = |kind| bench.row_force(kind, 0).is_some();
        (has(RowKind::LowerLimit), has(RowKind::UpperLimit))
    };
    assert_eq!(rows(0.0, 1.0), (false, false));
    assert_eq!(rows(2.0, 1.0), (false, true));
    assert_eq!(rows(-2.0, 1.0), (true, false));
    assert_eq!(rows(0.0, 500.0), (true, true));
    for speed in [10.0, 300.0, 3000.0, -3000.0] {
        let mut bench = Bench::new(tree(0.4, speed), 1e-2, WEIGHTLESS);
        for _ in 0..30 {
            bench.step();
            let leak = 2.0 * 1e-2 * speed.abs() * softness();
            assert!(
                bench.state.q[0].abs() <= 2.9 + leak,
                "{speed}: {:?}",
                bench.state
            );
        }
    }
}

#[test]
fn a_violated_limit_is_restored_without_a_jump() {
    let dt = 1e-3;
    let tree = RigidTree::new(limited(-0.2, 0.3)).starting_at(&[0.31], &[0.0]);
    let mut bench = Bench::new(tree, dt, WEIGHTLESS);
    bench.step();
    assert!((bench.state.q[0] - 0.305).abs() < 1e-5, "half of the way");
    bench.steps(50);
    assert!(bench.state.q[0] <= 0.3 + 1e-6);
}

#[test]
fn dry_friction_holds_without_creep_below_its_bound_and_slips_above() {
    let dt = 1e-3;
    let model = pendulum(1.0, |joint| joint.passive.dry_friction = 2.0);
    let mut bench = Bench::new(RigidTree::new(model), dt, WEIGHTLESS);
    bench.control.effort[0] = 1.99;
    bench.steps(10);
    let settled = bench.state.q[0];
    // A thousandth of the motion of 1 kg at 1 m in one step without friction.
    assert!(
        settled > 0.0 && settled <= 1.001e-3 * dt * dt * 1.99,
        "{settled:e}"
    );
    bench.steps(10_000);
    // The solver stops at 1e-14 √J, which is 1e-14 rad/s here: 1e-13 rad in ten seconds.
    assert!((bench.state.q[0] - settled).abs() < 1e-13, "crept");
    let friction = bench.row_force(RowKind::DryFriction, 0).expect("there");
    // To the solver's relative tolerance.
    assert!((friction / 1.99 + 1.0).abs() < 1e-6, "{friction}");
    bench.control.effort[0] = 2.1;
    bench.steps(100);
    let speed = bench.state.v[0];
    assert!((speed - 100.0 * dt * 0.1).abs() < 1e-5, "{speed}");
    let friction = bench.row_force(RowKind::DryFriction, 0);
    assert_eq!(friction, Some(-2.0));
    bench.control.effort[0] = 0.0;
    bench.steps(100);
    assert!(
        bench.state.v[0].abs() < 1e-9,
        "stops and stays: {:?}",
        bench.state
    );
}

#[test]
fn an_arm_held_by_dry_friction_stays_at_rest_for_any_time_step() {
    for dt in [1e-2, 1e-3] {
        let mut builder = ModelBuilder::new("stiff arm");
        builder.link(LinkSpec::new("base", SpatialInertia::zero()));
        for (i, name) in ["upper", "fore", "hand"].into_iter().enumerate() {
            let parent = ["base", "upper", "fore"][i];
            builder.link(LinkSpec::new(
                name,
                brick(1.0, Vector3::new(0.15, 0.0, 0.0)),
            ));
            let joint = JointSpec::new(name, JointKind::Revolute, parent, name).about(Vector3::y());
            let at = if i == 0 { 0.0 } else { 0.3 };
            let mut joint = joint.at(Isometry3::translation(at, 0.0, 0.0));
            joint.passive.dry_friction = [15.0, 7.0, 2.0][i];
            builder.joint(joint);
        }
        let model = Arc::new(builder.build().expect("a legal arm"));
        let mut bench = Bench::new(RigidTree::new(model), dt, DOWN);
        bench.steps((1.0 / dt) as usize);
        let start = bench.state.clone();
        bench.steps((10.0 / dt) as usize);
        for k in 0..3 {
            let crept = (bench.state.q[k] - start.q[k]).abs();
            assert!(crept < 1e-11, "joint {k}: {crept:e} rad in 10 s at {dt} s");
        }
        // Torque on each joint, outermost first: 1 kg at 0.15 m, and so on.
        let carried = [13.24, 5.89, 1.47];
        for (force, carried) in bench.state.history.iter().zip(carried) {
            let off = force.abs() - carried;
            assert!(off.abs() < 0.01, "{:?}", bench.state.history);
        }
    }
}

#[test]
fn a_history_of_another_model_is_rejected() {
    let model = pendulum(1.0, |joint| joint.passive.dry_friction = 2.0);
    let tree = RigidTree::new(model);
    let mut state = tree.default_state();
    for (history, place) in [(vec![0.0, 0.0], "history"), (vec![f64::NAN], "history[0]")] {
        state.history = history;
        let control = tree.default_control();
        let input = StepInput {
            time_step: 1e-3.into(),
            gravity: WEIGHTLESS,
            control: &control,
        };
        let error = tree.new_step().begin(&state, &input).expect_err("refused");
        assert!(error.to_string().contains(place), "{error}");
    }
}

/// Two arms side by side about z, coupled by q1 = −2 q0 + 0.1.
fn coupled() -> Arc<Model> {
    let mut builder = ModelBuilder::new("coupled");
    builder.link(LinkSpec::new("base", SpatialInertia::zero()));
    for name in ["first", "second"] {
        builder.link(LinkSpec::new(name, brick(1.0, Vector3::new(0.3, 0.0, 0.0))));
        let joint = JointSpec::new(name, JointKind::Revolute, "base", name);
        builder.joint(joint.about(Vector3::z()));
    }
    builder.coupler("second", "first", CouplerLaw::linear(-2.0, 0.1));
    Arc::new(builder.build().expect("a legal model"))
}

fn coupler_error(bench: &Bench) -> f64 {
    bench.state.q[1] + 2.0 * bench.state.q[0] - 0.1
}

#[test]
fn a_coupled_joint_starts_consistently_and_follows() {
    let mut bench = Bench::new(RigidTree::new(coupled()), 1e-3, WEIGHTLESS);
    assert_eq!(bench.state.q, [0.0, 0.1]);
    bench.control.effort[0] = 1.0;
    let inertia = coupled_inertia(&bench);
    for _ in 0..300 {
        bench.step();
        let error = coupler_error(&bench);
        assert!(error.abs() < 1e-7, "{error}");
    }
    let expected = 0.3 / inertia;
    // The fraction of the coupling velocity that its regularisation permits at the start.
    assert!((bench.state.v[0] / expected - 1.0).abs() < softness());
}

/// I₀ + (−2)² I₁ of two equal arms.
fn coupled_inertia(bench: &Bench) -> f64 {
    let mut state = bench.state.clone();
    state.v = vec![1.0, 0.0];
    5.0 * 2.0 * bench.tree().energy(&state, &WEIGHTLESS).kinetic
}

#[test]
fn a_coupler_holds_with_either_side_held_and_with_both() {
    let mut bench = Bench::new(RigidTree::new(coupled()), 1e-3, WEIGHTLESS);
    bench.control.held[0] = Some(0.5);
    bench.steps(200);
    assert!((bench.state.q[0] - 0.1).abs() < 1e-13);
    assert!(coupler_error(&bench).abs() < 1e-6);
    bench.control.held = vec![None, Some(-0.3)];
    bench.steps(200);
    assert!(coupler_error(&bench).abs() < 1e-6);
    assert!((bench.state.v[0] - 0.15).abs() < 1e-6);
    bench.control.held = vec![Some(0.0), Some(0.0)];
    bench.step();
    assert_eq!(bench.row_force(RowKind::Coupler, 1), None);
}

#[test]
fn an_actuator_on_the_coupled_joint_drives_its_source() {
    let model = coupled();
    let second = model.joint_named("second").expect("there is one");
    let gains = PdGains {
        proportional: 100.0,
        derivative: 30.0,
        effort_limit: f64::INFINITY,
    };
    let tree = RigidTree::new(model)
        .with_actuator(second, gains)
        .expect("legal gains");
    let mut bench = Bench::new(tree, 1e-2, WEIGHTLESS);
    bench.control.position[1] = -0.9;
    bench.steps(1000);
    assert!((bench.state.q[0] - 0.5).abs() < 1e-6, "{:?}", bench.state);
}
