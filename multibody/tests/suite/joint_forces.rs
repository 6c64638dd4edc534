//! Passive joint forces in a step, and joint reactions.

use crate::random_trees::{Dice, GRAVITY};
use nalgebra::{Isometry3, Vector3};
use pliant_multibody::{
    Drive, ForwardDynamicsInput, GravityAction, HeldDofs, JointKind, JointSpec, LinkSpec,
    ModelBuilder, PassiveForces, Root, SpatialInertia, Workspace, constrained_forward_dynamics,
    forward_dynamics, joint_reactions,
};

#[test]
fn implicit_damper_and_spring_take_effect_at_the_end_of_the_step() {
    let mut builder = ModelBuilder::new("slider");
    builder.gravity(GravityAction::Disabled);
    builder.link(LinkSpec::new("base", SpatialInertia::zero()));
    builder.link(LinkSpec::new(
        "mass",
        SpatialInertia::solid_sphere(2.0, 0.1),
    ));
    let mut joint = JointSpec::new("slide", JointKind::Prismatic, "base", "mass");
    joint.passive = PassiveForces {
        damping: 3.0,
        dry_friction: 0.0,
        spring_stiffness: 50.0,
        spring_rest: 0.1,
    };
    joint.drive = Drive {
        rotor_inertia: 1e-4,
        gear_ratio: 100.0,
        ..Drive::default()
    };
    builder.joint(joint);
    let model = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let (q0, v0, h) = (0.4, -0.7, 0.05);
    let (mut diagonal, mut tau) = ([0.0], [0.0]);
    model.implicit_diagonal(h, h, &mut diagonal);
    model.add_passive_forces(&[q0], &[v0], h, &mut tau);
    let mut w = Workspace::new(&model);
    w.update(&model, &[q0], &[v0]);
    let held = HeldDofs::none(&model);
    let input = ForwardDynamicsInput {
        tau: &tau,
        external: &[],
        diagonal: &diagonal,
        held: &held,
        held_acceleration: &[],
        gravity: GRAVITY,
    };
    let mut vdot = [0.0];
    constrained_forward_dynamics(&model, &input, &mut w, &mut vdot);
    let v = v0 + h * vdot[0];
    // (m + n² I)(v − v0) / h = −d v − k (q0 + h v − rest), with a mass of 2 kg and a reflected rotor inertia of 1 kg.
    let residual = (2.0 + 1.0) * (v - v0) / h + 3.0 * v + 50.0 * (q0 + h * v - 0.1);
    assert!(residual.abs() < 1e-12, "{residual}");
    assert!((model.spring_energy(&[q0]) - 0.5 * 50.0 * 0.09).abs() < 1e-14);
}

#[test]
fn reactions_balance_weight_through_fixed_joints() {
    // A post with a beam on a fixed joint, and a motor on a revolute joint at the beam's end, at rest.
    let mut builder = ModelBuilder::new("crane");
    let mut beam = SpatialInertia::solid_box(3.0, Vector3::new(1.0, 0.1, 0.1));
    beam.com = Vector3::new(0.5, 0.0, 0.0);
    builder.link(LinkSpec::new("post", SpatialInertia::zero()));
    builder.link(LinkSpec::new("beam", beam));
    let mut load = SpatialInertia::solid_sphere(2.0, 0.1);
    load.com = Vector3::new(0.0, 0.0, -0.3);
    builder.link(LinkSpec::new("load", load));
    builder.joint(
        JointSpec::new("weld", JointKind::Fixed, "post", "beam")
            .at(Isometry3::translation(0.0, 0.0, 2.0)),
    );
    let hinge = JointSpec::new("hinge", JointKind::Revolute, "beam", "load");
    builder.joint(
        hinge
            .at(Isometry3::translation(1.0, 0.0, 0.0))
            .about(Vector3::y()),
    );
    let model = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let mut w = Workspace::new(&model);
    let mut vdot = [0.0];
    forward_dynamics(&model, &[0.0], &[0.0], &[0.0], &GRAVITY, &mut w, &mut vdot);
    assert!(vdot[0].abs() < 1e-14, "the load hangs straight down");
    let reactions = joint_reactions(&model, &w.positions, &w.velocities, &w.accelerations, &[]);
    let (weld, hinge) = (
        model.joint_named("weld").expect("weld"),
        model.joint_named("hinge").expect("hinge"),
    );
    assert!((reactions[hinge.0].force - Vector3::new(0.0, 0.0, 2.0 * 9.81)).norm() < 1e-12);
    assert!((reactions[weld.0].force - Vector3::new(0.0, 0.0, 5.0 * 9.81)).norm() < 1e-12);
    // About the beam's origin: 3 kg at 0.5 m and 2 kg at 1 m; r × F of +z forces at +x is along −y.
    let torque = Vector3::new(0.0, -(3.0 * 0.5 + 2.0) * 9.81, 0.0);
    assert!(
        (reactions[weld.0].torque - torque).norm() < 1e-12,
        "{}",
        reactions[weld.0].torque
    );
}

#[test]
fn reactions_along_free_joints_are_the_joint_forces() {
    let mut dice = Dice::new(73);
    let model = dice.tree(14, Root::Floating);
    let n = model.n_v();
    let (q, v, tau) = (dice.positions(&model), dice.numbers(n), dice.numbers(n));
    let mut w = Workspace::new(&model);
    let mut vdot = vec![0.0; n];
    forward_dynamics(&model, &q, &v, &tau, &GRAVITY, &mut w, &mut vdot);
    let reactions = joint_reactions(&model, &w.positions, &w.velocities, &w.accelerations, &[]);
    for (joint, reaction) in model.joints().iter().zip(&reactions) {
        let at = w.positions.link_position(&model, joint.child);
        for k in joint.dofs() {
            let mut columns =
                pliant_multibody::jacobian_columns(&model, &w.positions, joint.child, &at);
            let (_, column) = columns
                .find(|(dof, _)| dof.0 == k)
                .expect("its own degree of freedom");
            assert!(
                (reaction.power(&column) - tau[k]).abs() < 1e-10,
                "joint {}",
                joint.name
            );
        }
    }
}
