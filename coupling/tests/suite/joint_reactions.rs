//! Reactions of joints under contacts and constraints.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Anchor, BodyIdx, Constraint, ConstraintCompliance, ConstraintKind, Geometry, Mount, State,
    Stepper, StrongImplicit, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia,
};

const G: f64 = 9.81;
const SIZE: Vector3<f64> = Vector3::new(0.2, 0.2, 0.2);

/// A shelf of 2 kg on a hinge about y at the origin, to be held.
fn shelf() -> RigidTree {
    let mut builder = ModelBuilder::new("shelf");
    builder.link(LinkSpec::new("wall", SpatialInertia::zero()));
    builder.link(LinkSpec::new("board", SpatialInertia::solid_box(2.0, SIZE)));
    builder
        .joint(JointSpec::new("hinge", JointKind::Continuous, "wall", "board").about(Vector3::y()));
    RigidTree::new(Arc::new(builder.build().expect("a legal model")))
}

/// A free box of 1 kg.
fn free_box(position: Vector3<f64>) -> RigidTree {
    let mut builder = ModelBuilder::new("box");
    builder.root(Root::Floating);
    builder.link(LinkSpec::new("box", SpatialInertia::solid_box(1.0, SIZE)));
    let p = position;
    RigidTree::new(Arc::new(builder.build().expect("a legal model")))
        .starting_at(&[p.x, p.y, p.z, 1.0, 0.0, 0.0, 0.0], &[0.0; 6])
}

fn cube_on(body: BodyIdx, frame: u32, name: &str) -> Geometry {
    Geometry {
        name: name.into(),
        mount: Mount::Frame {
            body,
            frame,
            X_FG: Isometry3::identity(),
        },
        shape: Some(Shape::cuboid(SIZE).expect("positive lengths")),
        material: ContactMaterial::default(),
        part: None,
        compliance: None,
        patch: None,
        surface_velocity: Vector3::zeros(),
        rigid_surface: pliant_coupling::RigidSurface::default(),
    }
}

/// Force and torque of the shelf's hinge after half a second of rest.
fn hinge_after_rest(mut builder: WorldBuilder, shelf: BodyIdx) -> (Vector3<f64>, Vector3<f64>) {
    builder.gravity(Vector3::new(0.0, 0.0, -G));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    state.controls[shelf.0].held[0] = Some(0.0);
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    assert!(
        stepper.reactions(shelf).joints.is_empty(),
        "no step was taken"
    );
    let mut next = State::default();
    for _ in 0..500 {
        let report = stepper
            .step(&world, &state, 1e-3, &mut next)
            .expect("a step");
        assert!(report.is_trusted());
        std::mem::swap(&mut state, &mut next);
    }
    let reactions = stepper.reactions(shelf).joints;
    assert_eq!(reactions.len(), 1);
    assert!(reactions[0].p_WC.coords.norm() < 1e-12);
    (reactions[0].force_W, reactions[0].torque_W)
}

#[test]
fn a_hinge_carries_what_rests_on_its_link() {
    let mut builder = WorldBuilder::default();
    let board = builder.add_body("shelf", Box::new(shelf()));
    let load = builder.add_body("box", Box::new(free_box(Vector3::new(0.05, 0.0, 0.2))));
    builder.add_geometry(cube_on(board, 1, "board"));
    builder.add_geometry(cube_on(load, 0, "box"));
    let (force, torque) = hinge_after_rest(builder, board);
    // 2 kg of its own and 1 kg on top, 5 cm along x; at rest to the solver's tolerance.
    assert!(
        (force - Vector3::new(0.0, 0.0, 3.0 * G)).norm() < 1e-4,
        "{force}"
    );
    let expected = Vector3::new(0.05, 0.0, 0.0).cross(&Vector3::new(0.0, 0.0, G));
    assert!((torque - expected).norm() < 1e-4, "{torque}");
}

#[test]
fn a_hinge_carries_what_is_tied_to_its_link() {
    for kind in [ConstraintKind::Weld, ConstraintKind::Ball] {
        let mut builder = WorldBuilder::default();
        let board = builder.add_body("shelf", Box::new(shelf()));
        // The constraint holds the box above its centre, so that a ball constraint finds it at rest.
        let load = builder.add_body("box", Box::new(free_box(Vector3::new(0.5, 0.1, -0.3))));
        let anchor = |body, frame, p: [f64; 3]| Anchor::Frame {
            body,
            frame,
            X_FA: Isometry3::translation(p[0], p[1], p[2]),
        };
        builder.add_constraint(Constraint {
            name: "rope".into(),
            kind,
            a: anchor(load, 0, [0.0, 0.0, 0.3]),
            b: anchor(board, 1, [0.5, 0.1, 0.0]),
            compliance: ConstraintCompliance::NearRigid,
        });
        let (force, torque) = hinge_after_rest(builder, board);
        assert!(
            (force - Vector3::new(0.0, 0.0, 3.0 * G)).norm() < 1e-4,
            "{kind:?} {force}"
        );
        let expected = Vector3::new(0.5, 0.1, 0.0).cross(&Vector3::new(0.0, 0.0, G));
        assert!((torque - expected).norm() < 1e-4, "{kind:?} {torque}");
    }
}
