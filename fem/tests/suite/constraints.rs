//! Constraints between vertices of finite-element bodies and rigid bodies or the world.

use std::sync::Arc;

use crate::support::built;
use crate::support::touching::{run, soft_cube};
use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{MaterialPoint, Primitive, SolverKind, StopCriteria};
use pliant_coupling::{
    Anchor, BodyIdx, Constraint, ConstraintCompliance, ConstraintKind, State, Stepper,
    StrongImplicit, WorldBuilder,
};
use pliant_fem::{Axis, FemBuilder, Region};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

/// A soft cube on top of a free rigid one, every vertex of its lower face constrained to it.
fn joined(upper: FemBuilder) -> (WorldBuilder, BodyIdx, BodyIdx) {
    let upper = built(upper);
    let mut builder = WorldBuilder::default();
    let mut model = ModelBuilder::new("weight");
    model.root(Root::Floating);
    let size = Vector3::repeat(0.1);
    model.link(LinkSpec::new(
        "weight",
        SpatialInertia::solid_box(2.0, size),
    ));
    let model = Arc::new(model.build().unwrap());
    let weight =
        RigidTree::new(model).starting_at(&[0.0, 0.0, -0.1, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
    let lower = upper.points_in(&Region::HalfSpace {
        point: Vector3::z() * -0.05,
        normal: Vector3::z(),
    });
    let places = upper.mesh().vertices().to_vec();
    let rigid = builder.add_body("weight", Box::new(weight));
    let soft = builder.add_body("soft", Box::new(upper));
    for (k, point) in lower.unwrap().into_iter().enumerate() {
        let Primitive::Vertex(vertex) = point.primitive else {
            unreachable!("a region has vertices")
        };
        let p_F = places[vertex as usize] + Vector3::z() * 0.1;
        let frame = Anchor::Frame {
            body: rigid,
            frame: 0,
            X_FA: Isometry3::translation(p_F.x, p_F.y, p_F.z),
        };
        let point = Anchor::Point { body: soft, point };
        // In either order.
        let (a, b) = if k % 2 == 0 {
            (point, frame)
        } else {
            (frame, point)
        };
        builder.add_constraint(Constraint {
            name: format!("glue {k}"),
            kind: ConstraintKind::Ball,
            a,
            b,
            compliance: ConstraintCompliance::NearRigid,
        });
    }
    (builder, soft, rigid)
}

#[test]
fn constraints_carry_the_weight_of_a_rigid_body_below_a_soft_one() {
    let ceiling = Region::HalfSpace {
        point: Vector3::z() * 0.05,
        normal: -Vector3::z(),
    };
    let (builder, _, rigid) = joined(soft_cube().fix(ceiling, &Axis::ALL));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let mut pull = Vector3::zeros();
    run(&world, &mut state, 0.01, 3.0, |report, _| {
        let forces = report.constraints.iter().enumerate();
        // On the rigid body: end B of the even constraints, end A of the odd ones.
        pull = forces
            .map(|(k, constraint)| constraint.on_a.force * if k % 2 == 0 { -1.0 } else { 1.0 })
            .sum();
    });
    let weight = 2.0 * 9.81;
    eprintln!("glue carries {:.6} of {weight:.6} N", pull.z);
    assert!(
        (pull - Vector3::z() * weight).norm() < 1e-6 * weight,
        "{pull}"
    );
    let q = &state.bodies[rigid.0].q;
    // Stretched by about FL/EA, 2 %.
    let sag = -0.1 - q[2];
    assert!((1e-3..4e-3).contains(&sag), "{sag}");
    assert!(q[0].abs() < 1e-3 && q[1].abs() < 1e-3);
}

#[test]
fn joined_bodies_conserve_their_momenta_in_free_flight() {
    let (mut builder, soft, rigid) = joined(soft_cube());
    builder.gravity(Vector3::zeros());
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let (omega, v) = (Vector3::new(0.5, -0.3, 1.0), Vector3::new(0.4, 0.2, -0.1));
    state.bodies[rigid.0]
        .v
        .copy_from_slice(&[omega.x, omega.y, omega.z, v.x, v.y, v.z]);
    let q = state.bodies[soft.0].q.clone();
    for (v_W, q) in state.bodies[soft.0]
        .v
        .chunks_exact_mut(3)
        .zip(q.chunks_exact(3))
    {
        let arm = Vector3::from_column_slice(q) + Vector3::z() * 0.1;
        v_W.copy_from_slice((v + omega.cross(&arm)).as_slice());
    }
    let before = world.energy(&state);
    run(&world, &mut state, 0.005, 1.0, |_, _| {});
    let after = world.energy(&state);
    let linear = (after.linear_momentum_W - before.linear_momentum_W).norm();
    let angular = (after.angular_momentum_W - before.angular_momentum_W).norm();
    let share = angular / before.angular_momentum_W.norm();
    eprintln!(
        "linear momentum off by {linear:.1e}, angular by {:.3} %",
        100.0 * share
    );
    assert!(
        linear < 1e-9 * before.linear_momentum_W.norm(),
        "{linear:e}"
    );
    // First order in the step, during a sixth of a rotation.
    assert!(share < 0.01, "{share}");
}

#[test]
fn a_weld_of_a_point_is_rejected() {
    let mut builder = WorldBuilder::default();
    let soft = builder.add_body("soft", Box::new(built(soft_cube())));
    builder.add_constraint(Constraint {
        name: "glue".into(),
        kind: ConstraintKind::Weld,
        a: Anchor::Point {
            body: soft,
            point: MaterialPoint::on_vertex(0),
        },
        b: Anchor::World(Isometry3::identity()),
        compliance: ConstraintCompliance::NearRigid,
    });
    let refused = builder
        .build()
        .err()
        .map(|e| e.to_string())
        .unwrap_or_default();
    assert!(
        refused.contains("\"glue\"") && refused.contains("no axes"),
        "{refused}"
    );
}

#[test]
fn a_vertex_constrained_to_the_world_stays_and_an_unknown_one_is_rejected() {
    let constraint = |point: u32| {
        let mut builder = WorldBuilder::default();
        let body = builder.add_body("soft", Box::new(built(soft_cube())));
        builder.add_constraint(Constraint {
            name: "nail".into(),
            kind: ConstraintKind::Ball,
            a: Anchor::World(Isometry3::translation(-0.05, -0.05, -0.05)),
            b: Anchor::Point {
                body,
                point: MaterialPoint::on_vertex(point),
            },
            compliance: ConstraintCompliance::NearRigid,
        });
        builder.build().unwrap()
    };
    let world = constraint(0);
    let mut state = world.default_state();
    run(&world, &mut state, 0.01, 0.5, |_, _| {});
    let nail = Vector3::from_column_slice(&state.bodies[0].q[..3]);
    assert!((nail + Vector3::repeat(0.05)).norm() < 1e-4, "{nail}");
    let world = constraint(99);
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let refused = stepper.step(&world, &world.default_state(), 0.01, &mut State::default());
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains("nail") && text.contains("27 vertices"),
        "{text}"
    );
}

#[test]
fn a_vertex_both_fixed_and_constrained_is_rejected_by_name() {
    let error = |axes: &[Axis]| {
        let mut builder = WorldBuilder::default();
        let fixed = soft_cube().fix(Region::Vertices(vec![3, 4]), axes);
        let body = builder.add_body("cushion", Box::new(built(fixed)));
        builder.add_constraint(Constraint {
            name: "base".into(),
            kind: ConstraintKind::Ball,
            a: Anchor::World(Isometry3::identity()),
            b: Anchor::Point {
                body,
                point: MaterialPoint::on_vertex(4),
            },
            compliance: ConstraintCompliance::NearRigid,
        });
        builder.build().err().map(|e| e.to_string())
    };
    let refused = error(&Axis::ALL).unwrap_or_default();
    for word in ["\"base\"", "vertex 4", "\"cushion\"", "fixed already"] {
        assert!(refused.contains(word), "{refused}");
    }
    // Fixed along one axis, constrained along the others.
    assert_eq!(error(&[Axis::Z]), None);
}
