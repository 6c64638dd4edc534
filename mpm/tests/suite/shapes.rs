//! Material points on rigid shapes of every kind, which carry their weight by contacts along the normals of the shape.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Geometry, GeometryIdx, Mount, State, StepReport, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{LinearCorotated, MpmBuilder, MpmSettings, ObjectSpec, Sampling, fill};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

const H: f64 = 0.02;
const DT: f64 = 0.004;
const G: f64 = 9.81;
const EDGE: f64 = 0.06;
const DENSITY: f64 = 500.0;

const CONTACT: ContactMaterial = ContactMaterial {
    stiffness: 1e4,
    dissipation: 5.0,
    friction: 0.8,
    relaxation_time_s: 0.1,
};

fn rubber(bottom: f64) -> ObjectSpec {
    let shape = Shape::cuboid(Vector3::repeat(EDGE)).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, bottom + 0.5 * EDGE);
    let set = fill("cube", &shape, &pose, H, Sampling::default()).unwrap();
    let material = Arc::new(LinearCorotated::new(
        Lame::from_young_poisson(1e5, 0.3).unwrap(),
    ));
    ObjectSpec::new("cube", material, DENSITY, set)
}

/// A cube of rubber that stands on the top of `shape`, 0.05 m above the origin.
fn standing_on(shape: Shape, X_WG: Isometry3<f64>) -> World {
    let mut builder = WorldBuilder::default();
    builder.add_geometry(Geometry::new("stand", Mount::World(X_WG), shape, CONTACT));
    let mut points = MpmBuilder::new(MpmSettings::new(H));
    points.object(rubber(0.05));
    let body = builder.add_body("points", Box::new(points.build().unwrap()));
    builder.add_geometry(Geometry::of_vertices("points", body, CONTACT));
    builder.build().unwrap()
}

/// The last report of a run, and the mean force on the particles over its last half.
fn settle(world: &World, steps: usize) -> (StepReport, Vector3<f64>) {
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let (mut state, mut next) = (world.default_state(), State::default());
    let (mut last, mut sum) = (StepReport::default(), Vector3::zeros());
    for step in 0..steps {
        last = stepper.step(world, &state, DT, &mut next).unwrap();
        assert!(last.is_trusted());
        std::mem::swap(&mut state, &mut next);
        if 2 * step >= steps {
            let points = |g| g == GeometryIdx(1);
            sum += last.contact_wrench(&Point3::origin(), points).force;
        }
    }
    (last, sum / (steps - steps / 2) as f64)
}

/// Outward normal of a shape at a point, world frame.
type Outward = fn(&Point3<f64>) -> Vector3<f64>;

#[test]
fn every_shape_carries_a_cube_of_particles_along_its_own_normals() {
    let lying = Isometry3::rotation(Vector3::x() * std::f64::consts::FRAC_PI_2);
    let upright = Isometry3::identity();
    let corners: Vec<_> = (0..8)
        .map(|k| {
            let sign = |bit: usize| if k >> bit & 1 == 1 { 0.05 } else { -0.05 };
            Point3::new(sign(0), sign(1), sign(2))
        })
        .collect();
    let faces = [
        [0, 2, 3],
        [0, 3, 1],
        [4, 5, 7],
        [4, 7, 6],
        [0, 1, 5],
        [0, 5, 4],
        [2, 6, 7],
        [2, 7, 3],
        [0, 4, 6],
        [0, 6, 2],
        [1, 3, 7],
        [1, 7, 5],
    ];
    let up: Outward = |_| Vector3::z();
    let from_axis: Outward = |p| Vector3::new(p.x, 0.0, p.z).normalize();
    let cases: [(Shape, Isometry3<f64>, Outward); 7] = [
        (Shape::sphere(0.05).unwrap(), upright, |p| {
            p.coords.normalize()
        }),
        (Shape::capsule(0.05, 0.2).unwrap(), lying, from_axis),
        (Shape::cylinder(0.05, 0.2).unwrap(), lying, from_axis),
        (Shape::cylinder(0.08, 0.1).unwrap(), upright, up),
        (Shape::cuboid(Vector3::repeat(0.1)).unwrap(), upright, up),
        (Shape::convex_hull(&corners).unwrap(), upright, up),
        (Shape::mesh(&corners, &faces).unwrap(), upright, up),
    ];
    let weight = DENSITY * EDGE.powi(3) * G;
    for (shape, X_WG, outward) in cases {
        let name = shape.name();
        let world = standing_on(shape, X_WG);
        let (last, force) = settle(&world, 60);
        assert!(
            (force - Vector3::z() * weight).norm() < 0.03 * weight,
            "{name}: {force} for {weight}"
        );
        assert!(!last.contacts.is_empty(), "{name}");
        for contact in &last.contacts {
            // From B into A: from the shape to the particles, or back.
            let sign = if contact.a == GeometryIdx(1) {
                1.0
            } else {
                -1.0
            };
            let expected = outward(&contact.p_WCa);
            let off = contact.normal_W * sign - expected;
            // Contacts on a face may lie beyond its edge.
            assert!(
                off.norm() < 0.02,
                "{name}: {} for {expected}",
                contact.normal_W
            );
        }
    }
}

#[test]
fn a_thin_needle_at_speed_does_not_pass_between_particles() {
    let slick = ContactMaterial {
        friction: 0.0,
        ..CONTACT
    };
    // 2 mm thick, lying across the cube, half of the cube's edge in a step.
    for (speed, dt) in [(3.0, 0.01), (6.0, 0.002)] {
        let (radius, length, mass) = (0.001, 0.2, 1.0);
        let mut model = ModelBuilder::new("needle");
        model.root(Root::Floating);
        let lengths = Vector3::new(2.0 * radius, 2.0 * radius, length);
        model.link(LinkSpec::new(
            "needle",
            SpatialInertia::solid_box(mass, lengths),
        ));
        let across =
            UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
        // Between two layers of particles.
        let start = [-0.05, 0.0, 0.03, across.w, across.i, across.j, across.k];
        let needle = RigidTree::new(Arc::new(model.build().unwrap()))
            .starting_at(&start, &[0.0, 0.0, 0.0, speed, 0.0, 0.0]);
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::zeros());
        let body = builder.add_body("needle", Box::new(needle));
        let mount = Mount::Frame {
            body,
            frame: 0,
            X_FG: Isometry3::identity(),
        };
        let shape = Shape::cylinder(radius, length).unwrap();
        builder.add_geometry(Geometry::new("needle", mount, shape, slick));
        let mut points = MpmBuilder::new(MpmSettings::new(H));
        points.object(rubber(0.0));
        let points = points.build().unwrap();
        let soft = builder.add_body("points", Box::new(points.clone()));
        builder.add_geometry(Geometry::of_vertices("points", soft, slick));
        let world = builder.build().unwrap();
        let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
        let (mut state, mut next) = (world.default_state(), State::default());
        let before = world.energy(&state).linear_momentum_W;
        while state.time_s < 0.06 {
            let report = stepper.step(&world, &state, dt, &mut next).unwrap();
            assert!(report.is_trusted(), "{:?}", report.warnings);
            std::mem::swap(&mut state, &mut next);
            let front = state.bodies[body.0].q[0];
            let ahead = points
                .particles(&state.bodies[soft.0])
                .filter(|p| p.p_WP.x > front);
            assert!(
                ahead.count() >= points.particles(&state.bodies[soft.0]).count() / 2,
                "{speed} m/s, at {} s",
                state.time_s
            );
        }
        let after = world.energy(&state).linear_momentum_W;
        assert!((after - before).norm() < 1e-6 * before.norm());
        let pushed = world
            .model(soft)
            .energy(&state.bodies[soft.0], &Vector3::zeros());
        assert!(pushed.linear_momentum_W.x > 0.05 * before.x, "{pushed:?}");
    }
}
