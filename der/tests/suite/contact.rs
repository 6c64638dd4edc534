//! Rods in contact and welded to links, through the public traits alone.

use std::sync::Arc;

use crate::support::close::close;
use crate::support::worlds::{DAMPED, add_rod, floor, rope, run};
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, UnitQuaternion, Vector3};
use pliant_contact_sap::DeformableModel;
use pliant_coupling::{
    Anchor, BodyIdx, Constraint, ConstraintCompliance, ConstraintKind, Exclusion, Geometry, Mount,
    WorldBuilder,
};
use pliant_der::{Centreline, End, EndCondition, EquilibriumSettings, Rayleigh, Rod, RodBuilder};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

const G: f64 = 9.81;
const RADIUS: f64 = 0.005;

/// A rubber rope along x about (0, 0, `height`), with a node spacing larger than its contact spheres.
fn level(length: f64, edges: usize, height: f64) -> RodBuilder {
    let end = 0.5 * length;
    let line = Centreline::straight(
        Point3::new(-end, 0.0, height),
        Point3::new(end, 0.0, height),
        edges,
    );
    rope(line, RADIUS)
}

/// Adds a rod with contact spheres about its nodes.
fn add_balls(builder: &mut WorldBuilder, rod: &Rod) -> BodyIdx {
    let material = ContactMaterial {
        stiffness: 1e4,
        ..ContactMaterial::default()
    };
    let (body, _) = add_rod(builder, "rope", rod, |body| {
        Geometry::of_vertices("rope", body, material)
    });
    builder.exclude(Exclusion::Bodies(body, body));
    body
}

/// A free cube of edge 0.1 m about `p_WB`.
fn add_cube(builder: &mut WorldBuilder, mass: f64, p_WB: Vector3<f64>) -> BodyIdx {
    let lengths = Vector3::repeat(0.1);
    let mut model = ModelBuilder::new("cube");
    model.root(Root::Floating);
    model.link(LinkSpec::new(
        "cube",
        SpatialInertia::solid_box(mass, lengths),
    ));
    let model = Arc::new(model.build().unwrap());
    let q = [p_WB.x, p_WB.y, p_WB.z, 1.0, 0.0, 0.0, 0.0];
    let tree = RigidTree::new(model).starting_at(&q, &[0.0; 6]);
    let body = builder.add_body("cube", Box::new(tree));
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(lengths).unwrap();
    builder.add_geometry(Geometry::new(
        "cube",
        mount,
        shape,
        ContactMaterial::default(),
    ));
    body
}

#[test]
fn a_rope_falls_over_a_box_and_the_floor_carries_both() {
    let mut builder = WorldBuilder::default();
    let floor = builder.add_geometry(floor(ContactMaterial::default()));
    let cube = add_cube(&mut builder, 0.5, Vector3::new(0.0, 0.0, 0.05));
    let rod = level(0.5, 40, 0.12).damping(DAMPED).build().unwrap();
    let body = add_balls(&mut builder, &rod);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    run(&world, &mut state, 2e-3, 1.2, |_, _| {});
    let lowest = (0..41).map(|i| rod.position(&state.bodies[body.0], i).z);
    let lowest = lowest.fold(f64::INFINITY, f64::min);
    assert!(
        lowest > RADIUS - 1e-3 && lowest < 0.03,
        "its ends hang down to {lowest}"
    );
    let middle = rod.position(&state.bodies[body.0], 20);
    // Its ends bend down over the cube's edges, which lifts the midpoint slightly.
    let above = middle.z - 0.1 - RADIUS;
    assert!(
        (-1e-3..0.02).contains(&above),
        "the middle lies {above} m above the cube"
    );
    close("the cube stays", state.bodies[cube.0].q[2], 0.05, 1e-3);
    let (mut carried, mut steps) = (0.0, 0.0);
    run(&world, &mut state, 2e-3, 0.2, |report, _| {
        carried += report
            .contact_wrench(&Point3::origin(), |g| g != floor)
            .force
            .z;
        steps += 1.0;
    });
    let weight = (0.5 + rod.total_mass()) * G;
    close("weight", carried / steps, weight, 0.01 * weight);
}

#[test]
fn friction_beside_the_centreline_makes_a_sliding_rod_roll() {
    let mut builder = WorldBuilder::default();
    builder.add_geometry(floor(ContactMaterial::default()));
    let rod = level(0.2, 8, RADIUS).build().unwrap();
    let body = add_balls(&mut builder, &rod);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let v0 = 0.3;
    for node in 0..9 {
        state.bodies[body.0].v[4 * node + 1] = v0;
    }
    run(&world, &mut state, 1e-3, 0.15, |_, _| {});
    // A sliding solid cylinder comes to roll at two thirds of its speed.
    for node in 0..9 {
        let v = state.bodies[body.0].v[4 * node + 1];
        close("speed", v, 2.0 / 3.0 * v0, 0.02 * v0);
    }
    for edge in 0..8 {
        // About the tangent +x, rolling towards +y is a negative rotation.
        let spin = state.bodies[body.0].v[rod.angle_dof(edge).unwrap()];
        close("spin", spin * RADIUS, -2.0 / 3.0 * v0, 0.02 * v0);
    }
}

/// Initial orientation of the material frame of a rod along x: x along m1, y along m2, z along +x.
fn along_x() -> UnitQuaternion<f64> {
    let axes = Matrix3::from_columns(&[Vector3::y(), Vector3::z(), Vector3::x()]);
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes))
}

fn weld(builder: &mut WorldBuilder, rod: (BodyIdx, &Rod), b: Anchor) {
    let frame = rod.1.frame("held").unwrap();
    builder.add_constraint(Constraint {
        name: "weld".into(),
        kind: ConstraintKind::Weld,
        a: Anchor::Frame {
            body: rod.0,
            frame,
            X_FA: Isometry3::identity(),
        },
        b,
        compliance: ConstraintCompliance::NearRigid,
    });
}

#[test]
fn a_welded_end_bends_as_a_clamped_one() {
    let (length, edges) = (0.2, 24);
    let heavy = Rayleigh {
        mass: 5.0,
        stiffness: 0.02,
    };
    let end = |condition| {
        level(length, edges, 0.0)
            .damping(heavy)
            .director(Vector3::y())
            .end(End::Start, condition)
            .frame_at_end("held", End::Start)
            .build()
            .unwrap()
    };
    let clamped = end(EndCondition::Clamped { tangent: None });
    let gravity = Vector3::new(0.0, 0.0, -G);
    let rest = clamped
        .equilibrium(
            &clamped.default_state(),
            &gravity,
            &clamped.default_control(),
            &EquilibriumSettings::default(),
        )
        .unwrap()
        .state;
    let welded = end(EndCondition::Welded { tangent: None });
    let mut builder = WorldBuilder::default();
    let body = builder.add_body("rope", Box::new(welded.clone()));
    let at = Isometry3::from_parts(Vector3::new(-0.5 * length, 0.0, 0.0).into(), along_x());
    weld(&mut builder, (body, &welded), Anchor::World(at));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    run(&world, &mut state, 5e-3, 5.0, |_, _| {});
    let (found, expected) = (
        welded.position(&state.bodies[body.0], edges),
        clamped.position(&rest, edges),
    );
    assert!(expected.z < -0.05, "it bends: {expected}");
    // A near-rigid weld yields by a few thousandths of a radian under the moment of the clamp.
    close("tip", (found - expected).norm(), 0.0, 3e-3 * length);
}

#[test]
fn a_rotating_welded_link_twists_the_rod() {
    // A free cube, welded to a rod that is clamped at its other end, rotates about the rod.
    let (length, edges) = (0.2, 16);
    let rod = level(length, edges, 0.5)
        .director(Vector3::y())
        .end(End::Finish, EndCondition::Clamped { tangent: None })
        .end(End::Start, EndCondition::Welded { tangent: None })
        .frame_at_end("held", End::Start)
        .build()
        .unwrap();
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let cube = add_cube(&mut builder, 0.2, Vector3::new(-0.15, 0.0, 0.5));
    let body = builder.add_body("rope", Box::new(rod.clone()));
    let X_FA = Isometry3::from_parts(Vector3::new(0.05, 0.0, 0.0).into(), along_x());
    let anchor = Anchor::Frame {
        body: cube,
        frame: 0,
        X_FA,
    };
    weld(&mut builder, (body, &rod), anchor);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let omega = 2.0;
    state.bodies[cube.0].v[0] = omega;
    // A torsion pendulum: inertia m a²/6 of the cube on stiffness GJ/L; the rod's inertia is 1e-4 of the cube's.
    let shear = 1e6 / (2.0 * 1.49);
    let torsion = shear * std::f64::consts::PI * RADIUS.powi(4) / 2.0;
    let frequency = (torsion / length / (0.2 * 0.01 / 6.0)).sqrt();
    let quarter = 0.5 * std::f64::consts::PI / frequency;
    run(&world, &mut state, quarter / 400.0, quarter, |_, _| {});
    let angle = -rod.total_twist(&state.bodies[body.0]).unwrap() * std::f64::consts::TAU;
    close(
        "angle after a quarter",
        angle,
        omega / frequency,
        0.02 * omega / frequency,
    );
    close(
        "speed after a quarter",
        state.bodies[cube.0].v[0],
        0.0,
        0.03 * omega,
    );
}
