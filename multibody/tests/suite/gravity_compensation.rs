//! Weight that is carried for single links.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{BodyState, Control, DeformableModel, StepInput};
use pliant_multibody::{
    BodyInertias, JointKind, JointSpec, LinkSpec, Model, ModelBuilder, PositionKinematics,
    RigidTree, Root, SpatialInertia, Workspace, bias_forces, forward_dynamics, potential_energy,
};

const GRAVITY: Vector3<f64> = Vector3::new(0.3, 0.0, -9.81);

fn link(name: &str, mass: f64, com: Vector3<f64>, share: f64) -> LinkSpec {
    let mut inertia = SpatialInertia::solid_box(mass, Vector3::new(0.1, 0.2, 0.3));
    inertia.com = com;
    LinkSpec {
        gravity_compensation: share,
        ..LinkSpec::new(name, inertia)
    }
}

/// An arm of two hinges with a camera welded to its end, whose links have these shares.
fn arm(root: Root, shares: [f64; 4]) -> Model {
    let mut builder = ModelBuilder::new("arm");
    builder.root(root);
    builder.link(link("base", 3.0, Vector3::zeros(), shares[0]));
    builder.link(link("upper", 2.0, Vector3::new(0.2, 0.0, 0.05), shares[1]));
    builder.link(link("lower", 1.5, Vector3::new(0.15, 0.03, 0.0), shares[2]));
    builder.link(link("camera", 0.4, Vector3::new(0.0, 0.0, 0.02), shares[3]));
    let along = |x| Isometry3::translation(x, 0.0, 0.0);
    let hinge = |name, parent, child, x, axis| {
        JointSpec::new(name, JointKind::Continuous, parent, child)
            .at(along(x))
            .about(axis)
    };
    builder.joint(hinge("shoulder", "base", "upper", 0.1, Vector3::y()));
    builder.joint(hinge(
        "elbow",
        "upper",
        "lower",
        0.4,
        Vector3::new(0.0, 1.0, 1.0),
    ));
    builder.joint(JointSpec::new("weld", JointKind::Fixed, "lower", "camera").at(along(0.3)));
    builder.build().expect("a legal arm")
}

#[test]
fn bias_forces_at_rest_are_the_gradient_of_the_energy() {
    let model = arm(Root::Fixed(Isometry3::identity()), [0.7, 0.3, 1.2, -0.5]);
    let q = [0.4, -1.1];
    let energy = |q: &[f64]| {
        let mut positions = PositionKinematics::new(&model);
        positions.update(&model, q);
        let mut inertias = BodyInertias::new(&model);
        inertias.update(&model, &positions);
        potential_energy(&model, &positions, &inertias, &GRAVITY)
    };
    let mut bias = [0.0; 2];
    bias_forces(
        &model,
        &q,
        &[0.0; 2],
        &GRAVITY,
        &mut Workspace::new(&model),
        &mut bias,
    );
    for k in 0..2 {
        let (mut ahead, mut behind) = (q, q);
        ahead[k] += 1e-5;
        behind[k] -= 1e-5;
        let slope = (energy(&ahead) - energy(&behind)) / 2e-5;
        assert!((bias[k] - slope).abs() < 1e-8, "{k}: {} {slope}", bias[k]);
    }
}

#[test]
fn an_arm_whose_links_are_all_carried_stays_where_it_is() {
    let model = arm(Root::Fixed(Isometry3::identity()), [1.0; 4]);
    let mut vdot = [1.0; 2];
    let q = [0.4, -1.1];
    forward_dynamics(
        &model,
        &q,
        &[0.0; 2],
        &[0.0; 2],
        &GRAVITY,
        &mut Workspace::new(&model),
        &mut vdot,
    );
    assert!(vdot.iter().all(|a| a.abs() < 1e-12), "{vdot:?}");
}

#[test]
fn the_centre_of_mass_of_a_free_robot_falls_by_the_weight_that_is_left() {
    let shares = [0.0, 0.5, 1.0, 0.0];
    let masses = [3.0, 2.0, 1.5, 0.4];
    let model = Arc::new(arm(Root::Floating, shares));
    let total: f64 = masses.iter().sum();
    let left: f64 = masses.iter().zip(shares).map(|(m, c)| m * (1.0 - c)).sum();
    let q = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.4, -1.1];
    let tree = RigidTree::new(Arc::clone(&model)).starting_at(&q, &[0.0; 8]);
    let (mut step, control) = (tree.new_step(), Control::default());
    let mut state = tree.default_state();
    let (dt, n) = (1e-3, 100);
    for _ in 0..n {
        step.begin(&state, &StepInput::new(dt, GRAVITY, &control))
            .expect("a legal state");
        let mut v = vec![0.0; 8];
        step.as_explicit()
            .expect("a tree")
            .explicit_velocity(&mut v)
            .expect("regular");
        let mut next = BodyState::default();
        assert!(
            step.advance(&v, &mut next)
                .expect("a legal state")
                .warnings
                .is_empty()
        );
        state = next;
    }
    let momentum = tree.energy(&state, &GRAVITY).linear_momentum_W;
    let expected = GRAVITY * left * dt * f64::from(n);
    assert!(
        (momentum - expected).norm() < 1e-9 * total,
        "{momentum} {expected}"
    );
}

#[test]
fn a_share_that_is_not_finite_is_refused() {
    let mut model = arm(Root::Floating, [0.0; 4]);
    let upper = model.link_named("upper").expect("a link");
    let error = model
        .set_gravity_compensation(upper, f64::NAN)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("\"upper\"") && error.contains("gravity compensation"),
        "{error}"
    );
    let mut builder = ModelBuilder::new("one");
    builder.link(link("lid", 1.0, Vector3::zeros(), f64::INFINITY));
    assert!(builder.build().unwrap_err().to_string().contains("\"lid\""));
}
