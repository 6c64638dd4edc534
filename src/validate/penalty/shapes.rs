//! Balls that roll and spin on one point, bricks over the edge of a table, soft blocks with equal faces, and a cable that touches nothing.
//!
//! A ball keeps its speed v = ω r and its spin about the vertical; one that slides comes to roll with 5/7 of its speed. A brick stands where its centre of mass is above
//! the table. Backward Euler and friction take energy out, so a stack that is let go never has more than it started with.

use std::sync::Arc;

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_constitutive::Lame;
use pliant_coupling::{Geometry, Mount, PenaltyForceSettings};
use pliant_fem::{FemBuilder, LinearCorotated};
use pliant_hydroelastic::Shape;
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_multibody::SpatialInertia;

use super::PenaltyRun;
use crate::validate::test_world::{G, Model, Outcome, TestWorld, material};
use crate::validate::{CaseLength, Finding};

const K: f64 = 1e6;

pub(super) fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    findings.extend(ball("rolling", [0.0, 13.0, 0.0, 1.3, 0.0, 0.0], 1.3)?);
    findings.extend(ball("spinning", [0.0, 0.0, 20.0, 0.0, 0.0, 0.0], 0.0)?);
    findings.extend(ball("sliding", [0.0, 0.0, 0.0, 1.4, 0.0, 0.0], 1.0)?);
    for (x, stands) in [(-2e-3, true), (2e-3, false)] {
        findings.push(brick(x, stands)?);
    }
    findings.extend(stack()?);
    Ok(findings)
}

/// A ball of 0.1 m on a floor for 1 s, with μ = 0.3.
fn ball(what: &str, v: [f64; 6], expected: f64) -> Outcome<Vec<Finding>> {
    let (radius, mass) = (0.1, 0.7);
    let mut setup = TestWorld::new(Model::Lagged, material(K, 0.3));
    setup.floor(Isometry3::identity());
    let inertia = SpatialInertia::solid_sphere(mass, radius);
    let z = radius - mass * G / K;
    let at = Isometry3::translation(0.0, 0.0, z);
    setup.free("ball", Shape::sphere(radius)?, inertia, at, v)?;
    let settings = PenaltyForceSettings::default();
    let mut run = PenaltyRun::new(setup.builder.build()?, settings, 2e-3)?;
    let mut bump = 0.0_f64;
    for _ in 0..500 {
        let _trusted = run.trusted_step()?;
        bump = bump.max((run.state.bodies[0].q[2] - z).abs());
    }
    let end = &run.state.bodies[0].v;
    let name = |of: &str| format!("penalty-shapes: {of} of a {what} ball");
    // Friction begins with the stretch of its spring, and in steps.
    let tolerance = if what == "sliding" { 5e-3 } else { 1e-7 };
    Ok(vec![
        Finding::equals(
            name("speed (m/s)"),
            end[3],
            expected,
            tolerance,
            "5/7 of the speed at which it slides",
        ),
        Finding::equals(
            name("slip (m/s)"),
            end[3] - radius * end[1],
            0.0,
            1e-4,
            "v = ω r",
        ),
        Finding::equals(
            name("spin (rad/s)"),
            end[2],
            v[2],
            1e-8,
            "one point has no torque about its normal",
        ),
        Finding::at_most(
            name("bumps (m)"),
            bump,
            1e-10,
            "the nearest point of a ball is one radius below its centre",
        ),
    ])
}

/// A brick of 0.2 m with its centre at x, over the edge x = 0 of a table.
fn brick(x: f64, stands: bool) -> Outcome<Finding> {
    let mut setup = TestWorld::new(Model::Lagged, material(K, 0.6));
    let table = Mount::World(Isometry3::translation(-0.5, 0.0, -0.05));
    let top = Shape::cuboid(Vector3::new(1.0, 1.0, 0.1))?;
    let surface = setup.material;
    setup
        .builder
        .add_geometry(Geometry::new("table", table, top, surface));
    let turn = UnitQuaternion::from_euler_angles(0.0, 0.0, 0.6);
    let at = Isometry3::from_parts(Translation3::new(x, 0.0, 0.025), turn);
    setup.free_box("brick", Vector3::new(0.2, 0.1, 0.05), 2.0, at, [0.0; 6])?;
    let settings = PenaltyForceSettings::default();
    let mut run = PenaltyRun::new(setup.builder.build()?, settings, 2e-3)?;
    for _ in 0..300 {
        let _trusted = run.trusted_step()?;
    }
    let sunk = 0.025 - run.state.bodies[0].q[2];
    let name = format!(
        "penalty-shapes: fall in 0.6 s of a brick with its centre {} mm beyond an edge (m)",
        1e3 * x
    );
    let source = "its centre of mass is above the table, or not";
    Ok(match stands {
        true => Finding::at_most(name, sunk, 1e-3, source),
        false => Finding::at_least(name, sunk, 1e-3, source),
    })
}

/// A heavy soft block on a light one whose upper face is equal to its lower: rims on rims.
fn stack() -> Outcome<Vec<Finding>> {
    let mut setup = TestWorld::new(Model::Lagged, material(K, 0.5));
    setup.floor(Isometry3::identity());
    let surface = setup.material;
    let mut starts = Vec::new();
    for (name, cells, height, density, z) in [
        ("soft", [4, 4, 4], 0.1, 100.0, 0.05),
        ("heavy", [3, 3, 2], 0.05, 2000.0, 0.125),
    ] {
        let mesh = tet_cuboid(Vector3::new(0.1, 0.1, height) * 0.5, cells)?;
        let law = Arc::new(LinearCorotated::new(Lame::from_young_poisson(1e4, 0.0)?));
        let (body, _) = FemBuilder::new(mesh, law, density).build()?;
        let still = Vector3::zeros();
        let start = body.rigid_state(&Isometry3::translation(0.0, 0.0, z), &still, &still);
        let body = setup.builder.add_body(name, Box::new(body));
        setup
            .builder
            .add_geometry(Geometry::of_vertices(name, body, surface));
        starts.push((body, start));
    }
    let settings = PenaltyForceSettings::default();
    let mut run = PenaltyRun::new(setup.builder.build()?, settings, 5e-3)?;
    for (body, start) in starts {
        run.state.bodies[body.0] = start;
    }
    let total = |run: &PenaltyRun| {
        let energy = run.world.energy(&run.state);
        energy.kinetic + energy.potential
    };
    let before = total(&run);
    let (mut highest, mut untrusted) = (before, 0);
    for _ in 0..20 {
        untrusted += u32::from(!run.step()?.is_trusted());
        highest = highest.max(total(&run));
    }
    Ok(vec![
        Finding::at_most(
            "penalty-shapes: energy of soft blocks with equal faces over that at the start".into(),
            highest / before,
            1.0 + 1e-6,
            "contact gives no energy",
        ),
        Finding::at_most(
            "penalty-shapes: untrusted steps of 20 of soft blocks with equal faces".into(),
            f64::from(untrusted),
            2.0,
            "the force is continuous at the rim; in the first steps all vertices begin to touch at once",
        ),
    ])
}
