//! Joint reactions.

use nalgebra::Vector3;
use pliant_contact_sap::{DeformableModel, Load, MaterialPoint, PdGains, RowKind};
use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, SpatialInertia};

use super::test_bench::{Bench, DOWN, G, brick, chain};

#[test]
fn each_joint_of_a_hanging_chain_carries_the_weight_below() {
    let mut bench = Bench::new(RigidTree::new(chain(&[1.0, 0.5, 0.3], |_| {})), 1e-3, DOWN);
    bench.step();
    for (j, below) in [3.0, 2.0, 1.0].into_iter().enumerate() {
        let reaction = bench.reactions()[j];
        assert_eq!(reaction.joint, j as u32);
        assert!((reaction.force_W - Vector3::new(0.0, 0.0, below * G)).norm() < 1e-12);
        assert!(reaction.torque_W.norm() < 1e-12);
    }
    assert!((bench.reactions()[2].p_WC.z + 1.5).abs() < 1e-15);
}

#[test]
fn a_held_arm_carries_the_forces_and_moments_of_weight_and_load() {
    let mut builder = ModelBuilder::new("bracket");
    builder.link(LinkSpec::new("wall", SpatialInertia::zero()));
    builder.link(LinkSpec::new("arm", SpatialInertia::zero()));
    builder.link(LinkSpec::new(
        "box",
        brick(2.0, Vector3::new(0.4, 0.0, 0.0)),
    ));
    builder.joint(JointSpec::new("hinge", JointKind::Revolute, "wall", "arm").about(Vector3::y()));
    let at = nalgebra::Isometry3::translation(0.6, 0.0, 0.0);
    builder.joint(JointSpec::new("glue", JointKind::Fixed, "arm", "box").at(at));
    let model = builder.build().expect("a legal model");
    let mut bench = Bench::new(RigidTree::new(model.into()), 1e-3, DOWN);
    bench.control.held[0] = Some(0.0);
    bench.control.loads.push(Load {
        point: MaterialPoint::on_frame(2, Vector3::new(0.0, 0.1, 0.0)),
        force_W: Vector3::new(5.0, 0.0, 0.0),
        torque_W: Vector3::new(0.0, 0.0, 1.0),
    });
    bench.step();
    let reactions = bench.reactions();
    let weight = Vector3::new(0.0, 0.0, 2.0 * G);
    let force = weight - Vector3::new(5.0, 0.0, 0.0);
    // About the box's origin: weight at 0.4 m along x, the push at 0.1 m along y.
    let glue = Vector3::new(0.4, 0.0, 0.0).cross(&weight)
        - Vector3::new(0.0, 0.1, 0.0).cross(&Vector3::new(5.0, 0.0, 0.0))
        - Vector3::new(0.0, 0.0, 1.0);
    let hinge = glue + Vector3::new(0.6, 0.0, 0.0).cross(&force);
    for (reaction, torque) in [(reactions[1], glue), (reactions[0], hinge)] {
        assert!((reaction.force_W - force).norm() < 1e-12);
        assert!(
            (reaction.torque_W - torque).norm() < 1e-12,
            "{reaction:?} {torque}"
        );
    }
}

#[test]
fn the_component_along_the_axis_is_the_actuator_torque() {
    let model = chain(&[1.0, 0.6], |_| {});
    let hinge = model.joint_named("hinge0").expect("there is one");
    let gains = PdGains {
        proportional: 50.0,
        derivative: 1.0,
        effort_limit: f64::INFINITY,
    };
    let tree = RigidTree::new(model)
        .with_actuator(hinge, gains)
        .expect("legal gains")
        .starting_at(&[0.4, -0.9], &[1.0, 2.0]);
    let mut bench = Bench::new(tree, 1e-3, DOWN);
    bench.step();
    let torque = bench.row_force(RowKind::Actuator, 0).expect("there");
    let [first, second] = bench.reactions()[..] else {
        panic!("two joints")
    };
    // The solver's tolerance, in momentum, over the step.
    assert!((first.torque_W.y - torque).abs() < 1e-6 * torque.abs());
    assert!(second.torque_W.y.abs() < 1e-6 * torque.abs());
}

#[test]
fn the_root_reaction_and_weight_are_the_rate_of_momentum() {
    // The balance is that of (q0, v0): first order in the step.
    let defect = |dt: f64| {
        let tree =
            RigidTree::new(chain(&[1.0, 0.6], |_| {})).starting_at(&[0.4, -0.9], &[1.0, 2.0]);
        let mut bench = Bench::new(tree, dt, DOWN);
        let before = bench.tree().energy(&bench.state, &DOWN);
        bench.step();
        let after = bench.tree().energy(&bench.state, &DOWN);
        let rate = (after.linear_momentum_W - before.linear_momentum_W) / dt;
        let turning = (after.angular_momentum_W - before.angular_momentum_W) / dt;
        let root = bench.reactions()[0];
        let positions = [Vector3::new(-0.4_f64.sin(), 0.0, -0.4_f64.cos()), {
            let angle = 0.4 - 0.9_f64;
            Vector3::new(
                -0.4_f64.sin() - 0.6 * angle.sin(),
                0.0,
                -0.4_f64.cos() - 0.6 * angle.cos(),
            )
        }];
        let moment: Vector3<f64> = positions.iter().map(|p| p.cross(&DOWN)).sum();
        let linear = (root.force_W + 2.0 * DOWN - rate).norm();
        let angular = (root.torque_W + moment - turning).norm();
        (linear, angular)
    };
    let (coarse, fine) = (defect(1e-3), defect(5e-4));
    for (coarse, fine) in [(coarse.0, fine.0), (coarse.1, fine.1)] {
        assert!((1.9..2.1).contains(&(coarse / fine)), "{coarse} {fine}");
        assert!(coarse < 0.1, "{coarse} N or N m of a hundred");
    }
}
