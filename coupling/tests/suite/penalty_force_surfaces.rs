//! Penalty forces with attachments on triangles: sheets that deform, rigid meshes, and thin shapes that are crossed within one step.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_contact_sap::conformance::{MassSpringNet, NetSettings};
use pliant_coupling::{
    AttachmentPlace, BodyIdx, Geometry, GeometryIdx, Mount, PenaltyForce, PenaltyForceSettings,
    State, StepReport, Stepper, WalkCounts, World, WorldBuilder,
};
use pliant_hydroelastic::mesh::generate;
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

const G: f64 = 9.81;

fn surface(k: f64, friction: f64) -> ContactMaterial {
    ContactMaterial {
        stiffness: 2.0 * k,
        friction,
        ..ContactMaterial::default()
    }
}

fn add_box(
    builder: &mut WorldBuilder,
    (mass, lengths): (f64, Vector3<f64>),
    material: ContactMaterial,
    X_WB: Isometry3<f64>,
    v: [f64; 6],
) -> BodyIdx {
    let mut model = ModelBuilder::new("box");
    model.root(Root::Floating);
    model.link(LinkSpec::new(
        "box",
        SpatialInertia::solid_box(mass, lengths),
    ));
    let (p, r) = (X_WB.translation.vector, X_WB.rotation);
    let tree = RigidTree::new(Arc::new(model.build().expect("a legal model")))
        .starting_at(&[p.x, p.y, p.z, r.w, r.i, r.j, r.k], &v);
    let body = builder.add_body("box", Box::new(tree));
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(lengths).expect("positive lengths");
    builder.add_geometry(Geometry::new("box", mount, shape, material));
    body
}

fn add_net(
    builder: &mut WorldBuilder,
    settings: NetSettings,
    material: ContactMaterial,
) -> MassSpringNet {
    let net = MassSpringNet::new(settings).expect("legal settings");
    let body = builder.add_body("net", Box::new(net.clone()));
    builder.add_geometry(Geometry::of_vertices("net", body, material));
    net
}

fn run(
    world: &World,
    state: &mut State,
    (dt, steps): (f64, usize),
    tolerance: f64,
    mut watch: impl FnMut(&StepReport, &State),
) {
    let settings = PenaltyForceSettings {
        tolerance,
        ..PenaltyForceSettings::default()
    };
    let mut stepper = PenaltyForce::new(settings).expect("legal settings");
    let (mut next, mut report) = (State::default(), StepReport::default());
    for _ in 0..steps {
        stepper
            .step_into(world, state, dt, &mut next, &mut report)
            .expect("a step that can be taken");
        assert!(report.is_trusted(), "{:?}", report.penalty_force);
        std::mem::swap(state, &mut next);
        watch(&report, state);
    }
}

/// A small cube over the middle of one mesh of a coarse net with its rim held: no vertex of the net is under it. Masses and stiffnesses are in units
/// of `unit`.
fn on_a_coarse_net(z: f64, v_z: f64, unit: f64) -> (World, State) {
    let mut builder = WorldBuilder::default();
    let settings = NetSettings {
        n: 4,
        spacing: 0.1,
        stiffness: 200.0 * unit,
        node_mass: 0.02 * unit,
        damping: 0.5 * unit,
        radius: 0.0,
        corner_W: Point3::origin(),
    };
    let material = surface(500.0 * unit, 0.5);
    let net = add_net(&mut builder, settings, material);
    let at = Isometry3::translation(0.16, 0.14, z);
    let cube = (0.05 * unit, Vector3::repeat(0.02));
    add_box(
        &mut builder,
        cube,
        material,
        at,
        [0.0, 0.0, 0.0, 0.0, 0.0, v_z],
    );
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let rim: Vec<usize> = (0..16)
        .filter(|i| i % 4 == 0 || i % 4 == 3 || *i < 4 || *i >= 12)
        .collect();
    state.controls[0] = net.holding(&rim);
    (world, state)
}

#[test]
fn triangles_carry_what_no_vertex_touches() {
    let (world, mut state) = on_a_coarse_net(0.012, 0.0, 1.0);
    run(&world, &mut state, (5e-3, 800), 1e-8, |_, _| {});
    let settled = state.memory.attachments.clone();
    assert!(settled.len() >= 3, "{settled:?}");
    let on_triangles =
        |a: &pliant_coupling::Attachment| matches!(a.place, AttachmentPlace::OnMesh { .. });
    assert!(settled.iter().all(on_triangles));
    let x = state.bodies[1].q.clone();
    let mut lifted = 0.0;
    run(&world, &mut state, (5e-3, 200), 1e-8, |report, _| {
        lifted = report
            .contact_wrench(&Point3::origin(), |g| g == GeometryIdx(1))
            .force
            .z;
    });
    assert!((lifted - 0.05 * G).abs() < 1e-6, "{lifted}");
    assert_eq!(state.memory.attachments, settled);
    let crept = x.iter().zip(&state.bodies[1].q).map(|(a, b)| (a - b).abs());
    let crept = crept.fold(0.0, f64::max);
    assert!(crept < 1e-8, "{crept:e}");
}

#[test]
fn a_fast_cube_does_not_pass_through_a_sheet() {
    // 50 mm in the first step, through a sheet 20 mm below.
    let (world, mut state) = on_a_coarse_net(0.03, -5.0, 1.0);
    run(&world, &mut state, (1e-2, 1), 1e-6, |report, _| {
        assert!(!report.contacts.is_empty());
    });
    let attached = state.memory.attachments.len();
    assert!(attached >= 4, "{attached}");
    run(&world, &mut state, (1e-2, 150), 1e-6, |_, _| {});
    // The net sags under the cube, which would have fallen by 11 m.
    let z = state.bodies[1].q[2];
    assert!(z > -0.03, "{z}");
    assert!(!state.memory.attachments.is_empty());
}

#[test]
fn the_unit_of_mass_changes_no_motion_on_a_sheet() {
    // A power of two changes no rounding.
    let states = [1.0, 2.0_f64.powi(-20)].map(|unit| {
        let (world, mut state) = on_a_coarse_net(0.02, -1.0, unit);
        run(&world, &mut state, (5e-3, 60), 1e-8, |_, _| {});
        assert!(!state.memory.attachments.is_empty());
        (state.bodies.clone(), state.memory.attachments.clone())
    });
    assert_eq!(states[0], states[1]);
}

#[test]
fn a_collision_with_a_sheet_keeps_momentum() {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let material = surface(200.0, 0.4);
    let settings = NetSettings {
        n: 8,
        radius: 0.0,
        corner_W: Point3::origin(),
        ..NetSettings::default()
    };
    add_net(&mut builder, settings, material);
    let turned = UnitQuaternion::from_euler_angles(0.5, 0.7, 0.2);
    let at = Isometry3::from_parts(Translation3::new(0.1, 0.12, 0.09), turned);
    let cube = (0.02, Vector3::repeat(0.08));
    add_box(
        &mut builder,
        cube,
        material,
        at,
        [0.3, -0.2, 0.5, 0.1, 0.0, -0.6],
    );
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let before = world.energy(&state);
    let (mut met, mut most) = (0.0_f64, 0);
    run(&world, &mut state, (2e-3, 150), 1e-12, |report, state| {
        let force = report
            .contact_wrench(&Point3::origin(), |g| g == GeometryIdx(1))
            .force;
        met += force.norm() * 2e-3;
        most = most.max(state.memory.attachments.len());
    });
    let after = world.energy(&state);
    assert!(met > 2e-3 && most >= 1, "they have met: {met} {most}");
    let off = (after.linear_momentum_W - before.linear_momentum_W).norm();
    assert!(off < 1e-12, "{off:e}");
    let lost = before.kinetic + before.potential - after.kinetic - after.potential;
    assert!(lost > 0.0, "backward Euler takes energy out");
}

#[test]
fn a_rigid_mesh_of_a_box_holds_what_the_box_holds() {
    let floor_of = |shape: Shape| {
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::new(0.1125, 0.0, -1.0).normalize() * G);
        let material = surface(1e3, 0.1);
        let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.05));
        builder.add_geometry(Geometry::new("floor", mount, shape, material));
        let at = Isometry3::translation(-0.2, 0.013, 0.0999);
        let cube = (1.0, Vector3::repeat(0.2));
        add_box(
            &mut builder,
            cube,
            material,
            at,
            [0.0, 0.0, 0.0, 0.1, 0.0, 0.0],
        );
        builder.build().expect("a legal world")
    };
    let mesh = generate::cuboid(Vector3::new(0.5, 0.5, 0.05)).expect("positive lengths");
    let vertices: Vec<_> = mesh.vertices().iter().map(|v| Point3::from(*v)).collect();
    let triangles: Vec<_> = mesh.raw_triangles().collect();
    let shapes = [
        Shape::cuboid(Vector3::new(1.0, 1.0, 0.1)).expect("positive lengths"),
        Shape::mesh(&vertices, &triangles).expect("a closed mesh"),
    ];
    let mut walks = [WalkCounts::default(); 2];
    let mut on_mesh = walks.iter_mut();
    let paths = shapes.map(|shape| {
        let world = floor_of(shape);
        let mut state = world.default_state();
        let walks = on_mesh.next().expect("as many as shapes");
        run(&world, &mut state, (5e-3, 200), 1e-9, |report, _| {
            *walks = *walks + report.penalty_force.expect("of this stepper").walks;
        });
        assert_eq!(state.memory.attachments.len(), 16);
        state.bodies[0].q.clone()
    });
    // All slide in every step, and a few of them over the diagonal of the mesh's upper face.
    assert_eq!(walks[0].total(), 0, "a box is no mesh");
    assert_eq!(walks[1].total(), 16 * 200);
    assert!((2..=3).contains(&walks[1].most_states()), "{walks:?}");
    assert!(walks[1].share_ending_at_start() > 0.98, "{walks:?}");
    let apart = paths[0].iter().zip(&paths[1]).map(|(a, b)| (a - b).abs());
    assert!(apart.fold(0.0, f64::max) < 1e-7, "{paths:?}");
}

#[test]
fn a_fast_block_does_not_pass_through_a_thin_plate() {
    let mut builder = WorldBuilder::default();
    let material = surface(1e5, 0.3);
    let plate = Shape::cuboid(Vector3::new(1.0, 1.0, 0.002)).expect("positive lengths");
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("plate", mount, plate, material));
    let cube = (1.0, Vector3::repeat(0.05));
    // 0.5 m in the first step.
    let fast = [0.0, 0.0, 0.0, 0.4, 0.0, -50.0];
    let at = Isometry3::translation(0.0, 0.0, 0.1);
    add_box(&mut builder, cube, material, at, fast);
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    run(&world, &mut state, (1e-2, 1), 1e-6, |report, _| {
        assert!(report.contacts.len() >= 4);
    });
    run(&world, &mut state, (1e-2, 200), 1e-6, |_, _| {});
    let [x, z] = [0, 2].map(|i| state.bodies[0].q[i]);
    assert!((z - 0.026).abs() < 1e-3, "{z}");
    assert!(x.abs() < 0.2, "{x}");
}

#[test]
fn particles_that_start_inside_a_mesh_are_found() {
    let mesh = generate::cuboid(Vector3::new(0.5, 0.5, 0.05)).expect("positive lengths");
    let vertices: Vec<_> = mesh.vertices().iter().map(|v| Point3::from(*v)).collect();
    let triangles: Vec<_> = mesh.raw_triangles().collect();
    let floor = Shape::mesh(&vertices, &triangles).expect("a closed mesh");
    let mut builder = WorldBuilder::default();
    let material = surface(1e3, 0.5);
    let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.05));
    builder.add_geometry(Geometry::new("floor", mount, floor, material));
    let cube = (1.0, Vector3::repeat(0.2));
    let sag = G / 16e3;
    let at = Isometry3::translation(0.0, 0.0, 0.1 - sag);
    add_box(&mut builder, cube, material, at, [0.0; 6]);
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    run(&world, &mut state, (1e-2, 50), 1e-9, |_, _| {});
    assert_eq!(state.memory.attachments.len(), 16);
    assert!((state.bodies[0].q[2] - (0.1 - sag)).abs() < 1e-9);
}
