//! Soft bodies on penalty forces: stacks with equal faces, and prestress without contact.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::BodyState;
use pliant_contact_sap::conformance::{MassSpringNet, NetSettings};
use pliant_coupling::{
    BodyIdx, Geometry, Mount, PenaltyForce, PenaltyForceSettings, State, Stepper, World,
    WorldBuilder,
};
use pliant_fem::{FemBuilder, LinearCorotated};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::SpatialInertia;

use crate::penalty_worlds::add_free_body;

const SIDE: f64 = 0.1;
const DT: f64 = 5e-3;

struct Block {
    name: &'static str,
    cells: [u32; 3],
    height: f64,
    youngs_modulus: f64,
    density: f64,
    z: f64,
}

fn add(
    builder: &mut WorldBuilder,
    block: &Block,
    material: ContactMaterial,
) -> (BodyIdx, BodyState) {
    let lame = Lame::from_young_poisson(block.youngs_modulus, 0.0).expect("legal constants");
    let half = Vector3::new(SIDE, SIDE, block.height) * 0.5;
    let mesh = tet_cuboid(half, block.cells).expect("legal sizes");
    let soft = Arc::new(LinearCorotated::new(lame));
    let (body, _) = FemBuilder::new(mesh, soft, block.density)
        .build()
        .expect("a legal body");
    let at = Isometry3::translation(0.0, 0.0, block.z + 0.5 * block.height);
    let start = body.rigid_state(&at, &Vector3::zeros(), &Vector3::zeros());
    let body = builder.add_body(block.name, Box::new(body));
    builder.add_geometry(Geometry::of_vertices(block.name, body, material));
    (body, start)
}

/// A heavy block on a soft one, with equal faces whose vertices lie on each other's rims, or below them by `overlap`.
fn stack(friction: f64, upper: u32, overlap: f64) -> (World, State) {
    let material = ContactMaterial {
        stiffness: 2e6,
        friction,
        ..ContactMaterial::default()
    };
    let mut builder = WorldBuilder::default();
    let floor = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), material));
    let blocks = [
        Block {
            name: "soft",
            cells: [4, 4, 4],
            height: SIDE,
            youngs_modulus: 1e4,
            density: 100.0,
            z: 0.0,
        },
        Block {
            name: "heavy",
            cells: [upper, upper, 2],
            height: 0.5 * SIDE,
            youngs_modulus: 1e4,
            density: 2000.0,
            z: SIDE - overlap,
        },
    ];
    let starts = blocks.map(|block| add(&mut builder, &block, material));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    for (body, start) in starts {
        state.bodies[body.0] = start;
    }
    (world, state)
}

#[test]
fn a_stack_of_soft_blocks_with_equal_faces_gains_no_energy() {
    check_energy_of_stacks(&[(0.5, 3)]);
}

#[test]
#[ignore = "half a minute"]
fn stacks_of_other_meshes_and_without_friction_gain_no_energy() {
    check_energy_of_stacks(&[(0.5, 4), (0.0, 3)]);
}

/// Friction, and cells along the edges of the upper block.
#[track_caller]
fn check_energy_of_stacks(stacks: &[(f64, u32)]) {
    for &(friction, upper) in stacks {
        let (world, mut state) = stack(friction, upper, 0.0);
        let mut stepper = PenaltyForce::new(PenaltyForceSettings::default()).expect("settings");
        let mut next = State::default();
        let before = world.energy(&state);
        let mut untrusted = 0;
        let mut highest = before.kinetic + before.potential;
        for _ in 0..30 {
            let report = stepper.step(&world, &state, DT, &mut next).expect("a step");
            untrusted += usize::from(!report.is_trusted());
            std::mem::swap(&mut state, &mut next);
            let energy = world.energy(&state);
            highest = highest.max(energy.kinetic + energy.potential);
        }
        assert!(highest <= (before.kinetic + before.potential) * (1.0 + 1e-6));
        // In the first steps all vertices begin to touch at once.
        assert!(untrusted <= 2, "{untrusted} untrusted");
    }
}

/// Blocks that overlap by a quarter of their height: springs of contact across them store hundreds of joules, and no step is solved.
#[test]
fn a_step_that_is_not_solved_gains_no_energy() {
    let (world, state) = stack(0.5, 3, 0.25 * SIDE);
    let mut stepper = PenaltyForce::new(PenaltyForceSettings::default()).expect("settings");
    let mut next = State::default();
    let report = stepper.step(&world, &state, DT, &mut next);
    assert!(!report.expect("a step").is_trusted());
    let energy = world.energy(&next);
    // ½ k (1 + μ²) d² of 16 + 25 particles.
    let stored = 41.0 * 0.5 * 1e6 * 1.25 * (0.25 * SIDE).powi(2);
    let total = energy.kinetic + energy.potential;
    assert!(total < 1.3 + stored, "{total}");
}

/// A net that hangs from two corners until it is at rest, and one that gravity does not pull on: nothing is in contact.
#[test]
fn a_body_at_rest_without_contact_converges_in_every_step() {
    for gravity in [9.81, 0.0] {
        let net = MassSpringNet::new(NetSettings {
            damping: 0.2,
            ..NetSettings::default()
        })
        .expect("legal settings");
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::z() * -gravity);
        let body = builder.add_body("net", Box::new(net));
        let world = builder.build().expect("a legal world");
        let mut state = world.default_state();
        let n = state.bodies[body.0].v.len();
        // The first row is held.
        let row = (n as f64 / 3.0).sqrt() as usize;
        state.controls[body.0].held = (0..n).map(|i| (i < 3 * row).then_some(0.0)).collect();
        let mut stepper = PenaltyForce::new(PenaltyForceSettings::default()).expect("settings");
        let mut next = State::default();
        let (mut untrusted, mut most) = (0, 0);
        for _ in 0..1000 {
            // Steps of 50 ms, in which backward Euler damps the swing.
            let report = stepper
                .step(&world, &state, 0.05, &mut next)
                .expect("a step");
            untrusted += u32::from(!report.is_trusted());
            most = most.max(report.convergence.solve.iterations);
            std::mem::swap(&mut state, &mut next);
        }
        let speed = state.bodies[body.0]
            .v
            .iter()
            .fold(0.0_f64, |a, v| a.max(v.abs()));
        assert_eq!(untrusted, 0, "gravity {gravity}");
        assert!(most <= 25, "{most} iterations");
        assert!(speed < 1e-3, "{speed}");
    }
}

/// A heavy and a light box, far apart: the light one is solved to its own tolerance, and its motion does not depend on the other.
#[test]
fn an_island_moves_as_if_it_were_alone() {
    let material = ContactMaterial {
        stiffness: 2e4,
        friction: 0.4,
        ..ContactMaterial::default()
    };
    let run = |other: Option<f64>| {
        let mut builder = WorldBuilder::default();
        let floor = Mount::World(Isometry3::identity());
        builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), material));
        let boxes = [(0.02, 0.0), (other.unwrap_or(1.0), 5.0)];
        let n = 1 + usize::from(other.is_some());
        for (k, (mass, x)) in boxes.into_iter().take(n).enumerate() {
            let lengths = Vector3::new(0.1, 0.12, 0.08);
            add_free_body(
                &mut builder,
                ["light", "other"][k],
                Shape::cuboid(lengths).expect("lengths"),
                SpatialInertia::solid_box(mass, lengths),
                material,
                Isometry3::translation(x, 0.0, 0.0405),
                [0.3, -0.2, 1.0, 0.7, 0.2, -0.3],
            );
        }
        let world = builder.build().expect("a legal world");
        let (mut state, mut next) = (world.default_state(), State::default());
        let mut stepper = PenaltyForce::new(PenaltyForceSettings::default()).expect("settings");
        for _ in 0..200 {
            let report = stepper
                .step(&world, &state, 2e-3, &mut next)
                .expect("a step");
            assert!(report.is_trusted());
            assert_eq!(report.convergence.solve.islands, n);
            std::mem::swap(&mut state, &mut next);
        }
        state.bodies[0].clone()
    };
    let alone = run(None);
    for mass in [1e-3, 1.0, 1e5] {
        assert_eq!(run(Some(mass)), alone, "beside {mass} kg, to the last bit");
    }
}
