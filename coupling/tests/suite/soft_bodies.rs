//! A mass-spring net and a particle blob, bodies of no paper's making, in contact with a rigid box, with each other and
//! with themselves: what the coupling knows of them is the trait alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::conformance::{BlobSettings, MassSpringNet, NetSettings, ParticleBlob};
use pliant_contact_sap::{DeformableModel, SolverKind, StopCriteria};
use pliant_coupling::{
    BodyIdx, Exclusion, Geometry, GeometryIdx, Mount, State, StepReport, Stepper, StrongImplicit,
    World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

const G: f64 = 9.81;
const DT: f64 = 2e-3;

fn soft() -> ContactMaterial {
    ContactMaterial {
        stiffness: 5e3,
        dissipation: 5.0,
        ..ContactMaterial::default()
    }
}

fn add_floor(builder: &mut WorldBuilder) -> GeometryIdx {
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), soft()))
}

/// A free cube of edge 0.1 m, its centre at `p_WB`.
fn add_cube(builder: &mut WorldBuilder, mass: f64, p_WB: Vector3<f64>) -> BodyIdx {
    let lengths = Vector3::repeat(0.1);
    let mut model = ModelBuilder::new("cube");
    model.root(Root::Floating);
    model.link(LinkSpec::new(
        "cube",
        SpatialInertia::solid_box(mass, lengths),
    ));
    let model = Arc::new(model.build().expect("a cube is a legal model"));
    let q = [p_WB.x, p_WB.y, p_WB.z, 1.0, 0.0, 0.0, 0.0];
    let body = builder.add_body(
        "cube",
        Box::new(RigidTree::new(model).starting_at(&q, &[0.0; 6])),
    );
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(lengths).expect("positive lengths");
    builder.add_geometry(Geometry::new("cube", mount, shape, soft()));
    body
}

fn add_net(
    builder: &mut WorldBuilder,
    n: usize,
    radius: f64,
    corner_W: Point3<f64>,
) -> (BodyIdx, MassSpringNet) {
    let net = MassSpringNet::new(NetSettings {
        n,
        radius,
        corner_W,
        ..NetSettings::default()
    })
    .expect("legal settings");
    let body = builder.add_body("net", Box::new(net.clone()));
    builder.add_geometry(Geometry::of_vertices("net", body, soft()));
    (body, net)
}

fn add_blob(builder: &mut WorldBuilder, corner_W: Point3<f64>) -> (BodyIdx, ParticleBlob) {
    let blob = ParticleBlob::new(BlobSettings {
        n: 3,
        corner_W,
        ..BlobSettings::default()
    })
    .expect("legal settings");
    let body = builder.add_body("blob", Box::new(blob));
    builder.add_geometry(Geometry::of_vertices("blob", body, soft()));
    // A continuum's own particles are kept apart by its stress, not by contact.
    builder.exclude(Exclusion::Bodies(body, body));
    (body, blob)
}

/// Steps `state` for `seconds`, showing each report and the state after it to `watch`; every step must be trusted.
fn run(world: &World, state: &mut State, seconds: f64, mut watch: impl FnMut(&StepReport, &State)) {
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let mut next = State::default();
    for _ in 0..(seconds / DT).round() as usize {
        let report = stepper
            .step(world, state, DT, &mut next)
            .expect("a step that can be taken");
        assert!(report.is_trusted(), "{:?}", report.convergence.solve);
        std::mem::swap(state, &mut next);
        watch(&report, state);
    }
}

fn lowest(model: &dyn DeformableModel, state: &State, body: BodyIdx) -> f64 {
    let mut surface = pliant_contact_sap::Surface::default();
    model.surface(&state.bodies[body.0], &mut surface);
    let heights = surface.vertices.iter().map(|p| p.z);
    heights.fold(f64::INFINITY, f64::min)
}

/// Upward force on whatever is above the floor, averaged over `seconds`.
fn carried(world: &World, state: &mut State, seconds: f64, floor: GeometryIdx) -> f64 {
    let (mut sum, mut steps) = (0.0, 0.0);
    run(world, state, seconds, |report, _| {
        sum += report
            .contact_wrench(&Point3::origin(), |g| g != floor)
            .force
            .z;
        steps += 1.0;
    });
    sum / steps
}

#[test]
fn a_net_falls_over_a_box_and_both_rest_on_the_floor() {
    let mut builder = WorldBuilder::default();
    let floor = add_floor(&mut builder);
    let cube = add_cube(&mut builder, 1.0, Vector3::new(0.0, 0.0, 0.05));
    let (net_body, net) = add_net(&mut builder, 7, 0.01, Point3::new(-0.09, -0.09, 0.12));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let mut met_cube = 0;
    run(&world, &mut state, 0.8, |report, _| {
        met_cube += report
            .pair(GeometryIdx(1), GeometryIdx(2))
            .map_or(0, |pair| usize::from(pair.force_on_a().norm() > 0.0));
    });
    assert!(met_cube > 0, "the net lies on the cube");
    assert!(
        lowest(&net, &state, net_body) > 0.0,
        "no node below the floor"
    );
    // No node has passed into the cube's upper face, and some lie on it.
    let centre = &state.bodies[cube.0].q[..3];
    let over = state.bodies[net_body.0].q.chunks_exact(3).filter(|p| {
        let beside = |k: usize| (p[k] - centre[k]).abs();
        beside(0) < 0.04 && beside(1) < 0.04
    });
    let heights: Vec<f64> = over.map(|p| p[2]).collect();
    let least = heights.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(heights.len() > 3 && least > 0.1, "{heights:?}");
    assert!((state.bodies[cube.0].q[2] - 0.05).abs() < 5e-3);
    let weight = (1.0 + 49.0 * 5e-4) * G;
    let force = carried(&world, &mut state, 0.2, floor);
    assert!((force / weight - 1.0).abs() < 1e-2, "{force} of {weight}");
}

#[test]
fn a_blob_whose_velocities_change_in_number_lands_on_a_box() {
    let mut builder = WorldBuilder::default();
    let floor = add_floor(&mut builder);
    let cube = add_cube(&mut builder, 0.5, Vector3::new(0.0, 0.0, 0.05));
    let (blob_body, blob) = add_blob(&mut builder, Point3::new(-0.011, -0.008, 0.12));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let mut sizes = BTreeSet::new();
    let mut on_cube = 0;
    run(&world, &mut state, 0.6, |report, _| {
        sizes.insert(report.n_dofs);
        on_cube += report
            .pair(GeometryIdx(1), GeometryIdx(2))
            .map_or(0, |pair| pair.contacts.len());
    });
    assert!(sizes.len() > 2, "numbers of velocities met: {sizes:?}");
    assert!(on_cube > 0);
    let bottom = lowest(&blob, &state, blob_body);
    assert!(
        bottom > 0.09,
        "the blob lies on the cube, not in it: {bottom}"
    );
    assert!((state.bodies[cube.0].q[2] - 0.05).abs() < 2e-3);
    let weight = (0.5 + blob.particle_mass() * blob.n_particles() as f64) * G;
    let force = carried(&world, &mut state, 0.2, floor);
    assert!((force / weight - 1.0).abs() < 2e-2, "{force} of {weight}");
}

#[test]
fn a_held_net_catches_a_box_and_a_blob() {
    let mut builder = WorldBuilder::default();
    let cube = add_cube(&mut builder, 0.05, Vector3::new(0.135, 0.135, 0.57));
    let (net_body, net) = add_net(&mut builder, 8, 0.016, Point3::new(0.0, 0.0, 0.5));
    let (blob_body, blob) = add_blob(&mut builder, Point3::new(0.05, 0.05, 0.53));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let n = 8;
    let rim: Vec<usize> = (0..n * n)
        .filter(|k| [0, n - 1].contains(&(k / n)) || [0, n - 1].contains(&(k % n)))
        .collect();
    state.controls[net_body.0] = net.holding(&rim);
    run(&world, &mut state, 0.6, |_, _| {});
    // Both are above the net where it sags most.
    let sag = lowest(&net, &state, net_body);
    assert!(state.bodies[cube.0].q[2] > sag + 0.05, "the box at {sag}");
    let bottom = lowest(&blob, &state, blob_body);
    assert!(bottom > sag, "the blob at {bottom}, the net at {sag}");
    assert!(state.bodies[cube.0].v.iter().all(|v| v.abs() < 0.5));
}

#[test]
fn a_folded_net_rests_on_itself() {
    let mut builder = WorldBuilder::default();
    add_floor(&mut builder);
    let (net_body, net) = add_net(&mut builder, 8, 0.01, Point3::new(0.0, 0.0, 0.02));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    // The far half is bent over the near one, on a radius of 3 cm.
    for p in state.bodies[net_body.0].q.chunks_exact_mut(3) {
        let (crease, radius) = (0.1, 0.03);
        let angle = (p[0] - crease) / radius;
        if angle > 0.0 {
            let bent = angle.min(std::f64::consts::PI);
            let rest = (angle - bent) * radius;
            p[0] = crease + radius * bent.sin() - rest;
            p[2] += radius * (1.0 - bent.cos());
        }
    }
    let itself = GeometryIdx(1);
    let mut met_itself = 0;
    run(&world, &mut state, 0.5, |report, _| {
        met_itself += report
            .contacts
            .iter()
            .filter(|c| (c.a, c.b) == (itself, itself) && c.force_W.norm() > 0.0)
            .count();
    });
    assert!(met_itself > 0, "it met itself");
    assert!(lowest(&net, &state, net_body) > 0.0);
    // Nodes that are no neighbours stay two radii apart, less the compliance of contact.
    let nodes: Vec<_> = state.bodies[net_body.0].q.chunks_exact(3).collect();
    for (i, p) in nodes.iter().enumerate() {
        for (j, q) in nodes.iter().enumerate().skip(i + 1) {
            let (rows, columns) = ((i / 8).abs_diff(j / 8), (i % 8).abs_diff(j % 8));
            let apart = (0..3).map(|k| (p[k] - q[k]).powi(2)).sum::<f64>().sqrt();
            assert!(rows.max(columns) < 2 || apart > 0.018, "{i}, {j}: {apart}");
        }
    }
}
