//! Is H the derivative of g, for every kind of side of a contact?

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use pliant_contact_sap::DeformableModel;
use pliant_contact_sap::conformance::{BlobSettings, MassSpringNet, NetSettings, ParticleBlob};
use pliant_hydroelastic::{Branch, ContactMaterial, Shape, Slide};
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia,
};

use super::attached::{Attached, Object};
use super::detection::Detection;
use super::pull::PenaltyDamping;
use super::settings::PenaltyForceSettings;
use super::system::System;
use crate::state::State;
use crate::world::{
    Anisotropy, BodyIdx, EdgeContact, Exclusion, Geometry, GeometryIdx, Mount, PairRule, World,
    WorldBuilder,
};

fn material() -> ContactMaterial {
    with_friction(0.4)
}

fn with_friction(friction: f64) -> ContactMaterial {
    ContactMaterial {
        stiffness: 4e3,
        friction,
        dissipation: 1.5,
        relaxation_time_s: 0.01,
    }
}

fn add(
    builder: &mut WorldBuilder,
    name: &str,
    model: Box<dyn DeformableModel>,
    shapes: &[(u32, Shape)],
) {
    add_of(builder, name, model, shapes, material());
}

fn add_of(
    builder: &mut WorldBuilder,
    name: &str,
    model: Box<dyn DeformableModel>,
    shapes: &[(u32, Shape)],
    material: ContactMaterial,
) {
    let body = builder.add_body(name, model);
    for (frame, shape) in shapes {
        let mount = Mount::Frame {
            body,
            frame: *frame,
            X_FG: Isometry3::translation(0.01, 0.0, -0.02),
        };
        let name = format!("{name} {frame}");
        builder.add_geometry(Geometry::new(name, mount, shape.clone(), material));
    }
}

fn free(lengths: Vector3<f64>, X_WB: Isometry3<f64>, v: [f64; 6]) -> Box<dyn DeformableModel> {
    let mut model = ModelBuilder::new("free");
    model.root(Root::Floating);
    model.link(LinkSpec::new(
        "free",
        SpatialInertia::solid_box(0.8, lengths),
    ));
    let (p, r) = (X_WB.translation.vector, X_WB.rotation);
    let tree = RigidTree::new(Arc::new(model.build().expect("a legal model")));
    Box::new(tree.starting_at(&[p.x, p.y, p.z, r.w, r.i, r.j, r.k], &v))
}

/// An arm of two hinges and a ball joint, with boxes on its links.
fn arm() -> Box<dyn DeformableModel> {
    let mut model = ModelBuilder::new("arm");
    model.root(Root::Fixed(Isometry3::identity()));
    let inertia = SpatialInertia::solid_box(0.5, Vector3::new(0.1, 0.1, 0.3));
    for name in ["base", "upper", "lower", "hand"] {
        model.link(LinkSpec::new(name, inertia));
    }
    let at = Isometry3::from_parts(
        Translation3::new(0.0, 0.02, 0.28),
        UnitQuaternion::from_euler_angles(0.2, -0.3, 0.1),
    );
    for (name, kind, parent, child) in [
        ("shoulder", JointKind::Revolute, "base", "upper"),
        ("elbow", JointKind::Revolute, "upper", "lower"),
        ("wrist", JointKind::Ball, "lower", "hand"),
    ] {
        let mut joint = JointSpec::new(name, kind, parent, child).at(at);
        joint.axis = Vector3::new(0.3, 1.0, 0.2);
        model.joint(joint);
    }
    let tree = RigidTree::new(Arc::new(model.build().expect("a legal model")));
    let mut state = tree.default_state();
    state.v = vec![0.4, -0.8, 0.6, 0.3, -0.5];
    Box::new(tree.starting_at(&state.q, &state.v))
}

/// Largest error of H x from central differences of g, relative to H x, and how many contacts stuck, slipped, and were between edges, at velocities
/// that differ from those of the start by up to `change`, m/s and rad/s.
fn worst_error(world: &World, settings: &PenaltyForceSettings, change: f64) -> (f64, [usize; 3]) {
    let state: State = world.default_state();
    let mut system = System::of(world, &state, settings).expect("legal surfaces");
    let mut detection = Detection::of(world, &state, &system.places).expect("pairs that exist");
    system.begin(world, &state, 0.01).expect("a legal state");
    detection.begin(&mut system, &state).expect("no memory");
    detection.add(&mut system).expect("contacts");
    let n = system.n_dofs();
    let vary = |k: usize, size: f64| size * (1.7 * k as f64 + 0.3).sin();
    let v: Vec<f64> = (system.v.iter().enumerate())
        .map(|(k, v)| v + vary(k, change))
        .collect();
    system.move_to(&v).expect("legal velocities");
    detection.add(&mut system).expect("contacts");
    let mut branches = [0; 3];
    let is_pressed = |a: &&Attached| a.is_active() && matches!(a.object, Object::Edges(_));
    branches[2] = system.attached.iter().filter(is_pressed).count();
    for sliding in system.sliding() {
        match sliding.branch {
            Branch::Stick => branches[0] += 1,
            Branch::Slip => branches[1] += 1,
            Branch::Separate => {}
        }
    }
    let mut worst = 0.0_f64;
    for direction in 0..4 {
        let x: Vec<f64> = (0..n).map(|k| vary(3 * k + 7 * direction, 1.0)).collect();
        system.move_to(&v).expect("legal velocities");
        system.linearise().expect("a derivative");
        let mut product = vec![0.0; n];
        let mut derivative = system.derivative().expect("a derivative");
        derivative.product(&x, &mut product);
        drop(derivative);
        let h = 1e-6;
        let mut at = |h: f64| {
            let moved: Vec<f64> = v.iter().zip(&x).map(|(v, x)| v + h * x).collect();
            system.move_to(&moved).expect("legal velocities");
            system.g.clone()
        };
        let (up, down) = (at(h), at(-h));
        let differences = up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * h));
        let off = differences.zip(&product).map(|(d, p)| (d - p).powi(2));
        let size: f64 = product.iter().map(|p| p * p).sum();
        worst = worst.max((off.sum::<f64>() / size).sqrt());
    }
    (worst, branches)
}

#[test]
fn h_is_the_derivative_of_g() {
    for (slide, damping) in [
        (Slide::Planar, PenaltyDamping::None),
        (Slide::Exact, PenaltyDamping::None),
        (Slide::Planar, PenaltyDamping::HuntCrossley),
        (Slide::Exact, PenaltyDamping::KelvinVoigt),
    ] {
        let mut builder = WorldBuilder::default();
        let tilted = Isometry3::from_parts(
            Translation3::new(0.0, 0.0, -0.13),
            UnitQuaternion::from_euler_angles(0.1, 0.05, 0.0),
        );
        let mount = Mount::World(tilted);
        builder.add_geometry(Geometry::new(
            "floor",
            mount,
            Shape::half_space(),
            material(),
        ));
        let ball = Shape::sphere(0.2).expect("a radius");
        let long = Shape::cuboid(Vector3::new(0.2, 0.3, 0.25)).expect("lengths");
        add(
            &mut builder,
            "arm",
            arm(),
            &[(1, long.clone()), (3, ball.clone())],
        );
        let turned = UnitQuaternion::from_euler_angles(0.4, 0.2, -0.3);
        let near_hand = Isometry3::from_parts(Translation3::new(0.1, 0.25, 0.75), turned);
        let lengths = Vector3::repeat(0.3);
        add(
            &mut builder,
            "cube",
            free(lengths, near_hand, [0.5, -0.2, 0.3, 0.1, 0.6, -0.4]),
            &[(0, Shape::cuboid(lengths).expect("lengths"))],
        );
        let on_floor = Isometry3::from_parts(Translation3::new(0.3, 0.0, 0.03), turned);
        add(
            &mut builder,
            "ball",
            free(lengths, on_floor, [0.2, 0.9, -0.7, -0.5, 0.4, -0.3]),
            &[(0, ball.clone())],
        );
        // Balls on the floor, on each other and on a box, and a capsule.
        let small = Shape::sphere(0.1).expect("a radius");
        let capsule = Shape::capsule(0.1, 0.3).expect("sizes");
        for (k, (shape, p)) in [
            (small.clone(), [1.0, 0.0, -0.088]),
            (small.clone(), [1.0, 0.02, 0.1]),
            (small, [1.4, 0.2, -0.088]),
            (capsule, [1.2, -0.5, -0.155]),
        ]
        .into_iter()
        .enumerate()
        {
            let lying = UnitQuaternion::from_euler_angles(1.57, 0.1, 0.3);
            let at = Isometry3::from_parts(Translation3::new(p[0], p[1], p[2]), lying);
            let v = [0.9, -0.7, 0.3, 0.5, -0.4, -0.6];
            add_of(
                &mut builder,
                ["low", "high", "lone", "capsule"][k],
                free(Vector3::repeat(0.2), at, v),
                &[(0, shape)],
                with_friction([0.4, 0.4, 0.02, 0.1][k]),
            );
        }
        let world = builder.build().expect("a legal world");
        let settings = PenaltyForceSettings {
            slide,
            damping,
            ..PenaltyForceSettings::default()
        };
        let (worst, branches) = worst_error(&world, &settings, 0.3);
        assert!(worst < 1e-6, "{slide:?}, {damping:?}: {worst:e}");
        assert!(
            branches[0] + branches[1] >= 6 && branches[1] >= 2,
            "{branches:?}"
        );
    }
}

/// Nodes with radii and particles on a grid, both against a free body, and the body against the floor.
fn deforming_bodies(builder: &mut WorldBuilder) {
    let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.07));
    builder.add_geometry(Geometry::new(
        "floor",
        mount,
        Shape::half_space(),
        material(),
    ));
    let turned = UnitQuaternion::from_euler_angles(0.2, 0.1, -0.3);
    let lengths = Vector3::new(0.3, 0.3, 0.15);
    let at = Isometry3::from_parts(Translation3::new(0.12, 0.1, 0.0), turned);
    add(
        builder,
        "block",
        free(lengths, at, [0.5, -0.2, 0.3, 0.1, 0.6, -0.4]),
        &[(0, Shape::cuboid(lengths).expect("lengths"))],
    );
    let net = MassSpringNet::new(NetSettings {
        n: 6,
        corner_W: Point3::new(0.05, 0.02, 0.06),
        ..NetSettings::default()
    });
    let blob = ParticleBlob::new(BlobSettings {
        n: 4,
        corner_W: Point3::new(0.0, 0.1, 0.04),
        ..BlobSettings::default()
    });
    let models: [(&str, Box<dyn DeformableModel>); 2] = [
        ("net", Box::new(net.expect("legal settings"))),
        ("blob", Box::new(blob.expect("legal settings"))),
    ];
    for (name, model) in models {
        let body = builder.add_body(name, model);
        builder.add_geometry(Geometry::of_vertices(name, body, material()));
    }
    builder.exclude(Exclusion::Bodies(BodyIdx(1), BodyIdx(2)));
}

#[test]
fn h_is_the_derivative_of_g_for_particles_of_deforming_bodies() {
    let mut builder = WorldBuilder::default();
    deforming_bodies(&mut builder);
    let world = builder.build().expect("a legal world");
    let (worst, branches) = worst_error(&world, &PenaltyForceSettings::default(), 0.3);
    assert!(worst < 1e-6, "{worst:e}");
    assert!(
        branches[0] + branches[1] > 20 && branches[1] > 3,
        "{branches:?}"
    );
}

#[test]
fn h_is_the_derivative_of_g_with_anisotropic_friction_and_stiffness_per_area() {
    let mut builder = WorldBuilder::default();
    deforming_bodies(&mut builder);
    let rule = |of: usize| PairRule {
        anisotropy: Some(Anisotropy {
            of: GeometryIdx(of),
            direction: Unit::new_normalize(Vector3::new(0.9, 0.3, -0.2)),
            friction: 0.1,
        }),
        ..PairRule::default()
    };
    // The floor and the block with each other, and with the vertices of net and blob.
    for (a, b, of) in [(0, 1, 1), (0, 2, 0), (0, 3, 0), (1, 2, 1), (1, 3, 1)] {
        builder.pair_rule(GeometryIdx(a), GeometryIdx(b), rule(of));
    }
    let per_area = PairRule {
        stiffness_per_area: Some(2e6),
        ..rule(1)
    };
    builder.pair_rule(GeometryIdx(0), GeometryIdx(1), per_area);
    let world = builder.build().expect("a legal world");
    let (worst, branches) = worst_error(&world, &PenaltyForceSettings::default(), 0.3);
    assert!(worst < 1e-6, "{worst:e}");
    assert!(branches[0] > 0 && branches[1] > 10, "{branches:?}");
}

/// A sheet that a block and another sheet press on.
fn on_a_sheet(friction: f64, edges: EdgeContact) -> World {
    let mut builder = WorldBuilder::default();
    let sheet = |z: f64, n: usize, spacing: f64| {
        let settings = NetSettings {
            n,
            spacing,
            corner_W: Point3::new(0.013, 0.017, z),
            ..NetSettings::default()
        };
        Box::new(MassSpringNet::new(settings).expect("legal settings"))
    };
    let models: [(&str, Box<dyn DeformableModel>); 2] = [
        ("low", sheet(0.0, 10, 0.03)),
        ("high", sheet(0.0205, 7, 0.021)),
    ];
    for (name, model) in models {
        let body = builder.add_body(name, model);
        builder.add_geometry(Geometry::of_vertices(name, body, with_friction(friction)));
    }
    let lengths = Vector3::new(0.1, 0.12, 0.05);
    let turned = UnitQuaternion::from_euler_angles(0.02, 0.03, -0.3);
    let at = Isometry3::from_parts(Translation3::new(0.15, 0.19, -0.0393), turned);
    add_of(
        &mut builder,
        "block",
        free(lengths, at, [0.1, -0.2, 0.3, 0.1, 0.2, 0.4]),
        &[(0, Shape::cuboid(lengths).expect("lengths"))],
        with_friction(friction),
    );
    let rule = PairRule {
        edges,
        ..PairRule::default()
    };
    builder.pair_rule(GeometryIdx(0), GeometryIdx(1), rule);
    builder.build().expect("a legal world")
}

#[test]
fn h_is_the_derivative_of_g_for_deforming_surfaces() {
    // Changes of 3 m/s carry particles over a triangle's width.
    for (friction, change, sliding) in [
        (0.4, 0.3, 2),
        (0.05, 0.3, 4),
        (0.05, 3.0, 4),
        (0.0, 0.3, 20),
    ] {
        for (_, damping) in PenaltyDamping::NAMES {
            let settings = PenaltyForceSettings {
                damping,
                ..PenaltyForceSettings::default()
            };
            let sheets = on_a_sheet(friction, EdgeContact::None);
            let (worst, branches) = worst_error(&sheets, &settings, change);
            let about = format!("{friction}, {change}, {damping:?}: {branches:?}");
            assert!(worst < 1e-6, "{about}: {worst:e}");
            assert!(branches[1] >= sliding, "{about}");
        }
    }
}

#[test]
fn h_is_the_derivative_of_g_for_crossing_edges() {
    for (friction, change) in [(0.4, 0.3), (0.05, 0.3), (0.0, 0.3), (0.05, 2.0)] {
        for (_, damping) in PenaltyDamping::NAMES {
            let settings = PenaltyForceSettings {
                damping,
                ..PenaltyForceSettings::default()
            };
            let sheets = on_a_sheet(friction, EdgeContact::Crossing);
            let (worst, branches) = worst_error(&sheets, &settings, change);
            let about = format!("{friction}, {change}, {damping:?}: {branches:?}");
            assert!(worst < 1e-6, "{about}: {worst:e}");
            assert!(branches[2] > 5, "{about}");
        }
    }
}
