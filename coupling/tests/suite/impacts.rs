//! Rigid bodies that run into thin plates and walls: none is passed, and friction of an impact is Coulomb's.

use std::sync::Arc;

use crate::rigid_contact::{material, solver};
use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{NEAR_RIGID_CONTACT, PdGains};
use pliant_coupling::{
    ContactModel, ContactSettings, Geometry, LaggedModel, Mount, SapModel, SimilarModel, State,
    Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::Shape;
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia,
};

/// A ball of 0.1 kg and 50 mm with a thin plate, its top at z = 0, in its way; gravity off.
fn ball_and_plate(
    model: &Arc<dyn ContactModel>,
    friction: f64,
    p_WB: Vector3<f64>,
    v: Vector3<f64>,
) -> World {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    builder.contact(ContactSettings {
        model: Arc::clone(model),
        // The default of the similar model lets the fastest balls sink by millimetres.
        near_rigid: Some(NEAR_RIGID_CONTACT),
        ..ContactSettings::default()
    });
    builder.add_geometry(Geometry::new(
        "plate",
        Mount::World(Isometry3::translation(0.0, 0.0, -0.0025)),
        Shape::cuboid(Vector3::new(20.0, 20.0, 0.005)).expect("positive lengths"),
        material(friction),
    ));
    let mut model = ModelBuilder::new("ball");
    model.root(Root::Floating);
    model.link(LinkSpec::new(
        "body",
        SpatialInertia::solid_sphere(0.1, 0.05),
    ));
    let model = model.build().expect("a ball is a legal model");
    let q = [p_WB.x, p_WB.y, p_WB.z, 1.0, 0.0, 0.0, 0.0];
    let tree = RigidTree::new(Arc::new(model)).starting_at(&q, &[0.0, 0.0, 0.0, v.x, v.y, v.z]);
    let body = builder.add_body("ball", Box::new(tree));
    builder.add_geometry(Geometry::new(
        "ball",
        Mount::Frame {
            body,
            frame: 0,
            X_FG: Isometry3::identity(),
        },
        Shape::sphere(0.05).expect("positive radius"),
        material(friction),
    ));
    builder.build().expect("a legal world")
}

/// After an oblique impact Coulomb's law leaves v_t − μ v_n of the tangential speed, unless the ball rolls before that.
#[track_caller]
fn check_oblique_impact(model: &Arc<dyn ContactModel>, speed: f64, friction: f64) {
    let component = speed / 2_f64.sqrt();
    let v = Vector3::new(component, 0.0, -component);
    // 3 1/3 steps of 10 ms away from the plate.
    let start = Vector3::new(0.0, 0.0, 0.05 + component / 30.0);
    let world = ball_and_plate(model, friction, start, v);
    let mut stepper = StrongImplicit::new(solver());
    let mut state = world.default_state();
    let mut next = State::default();
    for _ in 0..8 {
        let report = stepper
            .step(&world, &state, 0.01, &mut next)
            .expect("a step that can be taken");
        assert!(report.is_trusted());
        std::mem::swap(&mut state, &mut next);
    }
    let body = &state.bodies[0];
    assert!(body.q[2] > 0.049, "{model:?}: sank to {}", body.q[2]);
    let left = body.v[3] / component;
    let expected = (1.0 - friction).max(5.0 / 7.0);
    assert!(
        (left - expected).abs() < 0.03,
        "{model:?}: at {speed} m/s, friction {friction}: {left} of the tangential speed left, not {expected}"
    );
}

#[test]
fn oblique_impacts_obey_coulomb_at_any_speed() {
    let models: [Arc<dyn ContactModel>; 3] = [
        Arc::new(LaggedModel::default()),
        Arc::new(SimilarModel),
        Arc::new(SapModel),
    ];
    for model in &models {
        for speed in [1.0, 10.0, 30.0] {
            for friction in [0.0, 0.1, 0.2, 0.5] {
                check_oblique_impact(model, speed, friction);
            }
        }
    }
}

/// A cart on a rail, its actuator asked to be 1 m away at once, with a thin wall on the way: the free motion knows
/// nothing of the actuator, so only the path of the solution shows the wall.
#[test]
fn a_wall_that_only_the_solution_meets_is_not_passed() {
    let mut model = ModelBuilder::new("cart");
    model.link(LinkSpec::new("rail", SpatialInertia::zero()));
    model.link(LinkSpec::new(
        "cart",
        SpatialInertia::solid_box(1.0, Vector3::repeat(0.1)),
    ));
    let slide = JointSpec::new("slide", JointKind::Prismatic, "rail", "cart");
    model.joint(slide.about(Vector3::x()));
    let model = Arc::new(model.build().expect("a cart is a legal model"));
    let gains = PdGains {
        proportional: 1e6,
        derivative: 1e3,
        effort_limit: 1000.0,
    };
    let joint = model.joint_named("slide").expect("just added");
    let tree = RigidTree::new(model)
        .with_actuator(joint, gains)
        .expect("legal gains");
    let mut builder = WorldBuilder::default();
    let body = builder.add_body("cart", Box::new(tree));
    builder.add_geometry(Geometry::new(
        "cart",
        Mount::Frame {
            body,
            frame: 1,
            X_FG: Isometry3::identity(),
        },
        Shape::cuboid(Vector3::repeat(0.1)).expect("positive lengths"),
        material(0.5),
    ));
    builder.add_geometry(Geometry::new(
        "wall",
        Mount::World(Isometry3::translation(0.1, 0.0, 0.0)),
        Shape::cuboid(Vector3::new(0.005, 1.0, 1.0)).expect("positive lengths"),
        material(0.5),
    ));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    state.controls[0].position = vec![1.0];
    let mut stepper = StrongImplicit::new(solver());
    let mut next = State::default();
    for _ in 0..20 {
        let report = stepper
            .step(&world, &state, 0.01, &mut next)
            .expect("a step that can be taken");
        assert!(report.is_trusted());
        std::mem::swap(&mut state, &mut next);
    }
    // 1000 N on four points of 1e6/2 N/m each sink by 0.5 mm.
    let front = state.bodies[0].q[0] + 0.05;
    assert!((front - 0.0975).abs() < 1e-3, "{front}");
}
