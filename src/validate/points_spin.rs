//! A freely spinning cube of material points: its volume and angular momentum are constant.

use std::f64::consts::TAU;
use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_constitutive::Lame;
use pliant_coupling::{State, World};
use pliant_hydroelastic::Shape;
use pliant_mpm::{LinearCorotated, MpmBuilder, MpmSettings, ObjectSpec, Sampling, fill};

use super::test_world::{Model, Outcome, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "points-spin",
    about: "volume and angular momentum of a freely spinning cube of material points are constant",
    kind: CaseKind::Function(run),
    needs: None,
};

/// Edge of the cube, and of a cell, m.
const EDGE: f64 = 0.1;
const SPACING: f64 = 0.025;
const DENSITY: f64 = 1000.0;

/// rad/s and s: 0.2 rad a step.
const SPEED: f64 = 20.0;
const STEP_S: f64 = 0.01;

/// Allowed relative changes: of the volume at any time, and of the angular momentum per revolution on average.
const VOLUME: f64 = 0.005;
const MOMENTUM: f64 = 0.001;

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let turns = match length {
        CaseLength::Quick => 2,
        CaseLength::Full => 100,
    };
    let mut findings = Vec::new();
    for youngs_modulus in [1e5, 1e7] {
        let change = spin(youngs_modulus, turns)?;
        let name = |what: &str| {
            format!("points-spin: {what} in {turns} revolutions, E = {youngs_modulus:e} Pa")
        };
        findings.push(Finding::at_most(
            name("change of volume"),
            change.volume,
            VOLUME,
            "the rest strain follows the rotation of the step; with the paper's model the volume grows by the square of the angle, 4% here",
        ));
        findings.push(Finding::at_most(
            name("change of angular momentum per revolution, mean"),
            change.momentum,
            MOMENTUM,
            "no torque acts",
        ));
    }
    Ok(findings)
}

/// Relative changes: largest of the mean particle volume, and mean of the angular momentum per revolution.
struct Change {
    volume: f64,
    momentum: f64,
}

fn spin(youngs_modulus: f64, turns: u32) -> Outcome<Change> {
    let cube = Shape::cuboid(Vector3::repeat(EDGE))?;
    let X_WS = Isometry3::identity();
    let set = fill("cube", &cube, &X_WS, SPACING, Sampling::default())?;
    let elastic = Arc::new(LinearCorotated::new(Lame::from_young_poisson(
        youngs_modulus,
        0.4,
    )?));
    let mut spec = ObjectSpec::new("cube", elastic, DENSITY, set);
    spec.angular_velocity_W = Vector3::z() * SPEED;
    let mut points = MpmBuilder::new(MpmSettings::new(SPACING));
    points.object(spec);
    let model = points.build()?;
    let mut setup = TestWorld::new(Model::Lagged, material(1e6, 0.0));
    setup.builder.gravity(Vector3::zeros());
    let body = setup.builder.add_body("cube", Box::new(model.clone()));
    let mut run = setup.start(STEP_S)?;
    let momentum = |world: &World, state: &State| world.energy(state).angular_momentum_W.z;
    let start = momentum(&run.world, &run.state);
    let mut volume: f64 = 0.0;
    let steps = (f64::from(turns) * TAU / SPEED / STEP_S).round() as usize;
    for _ in 0..steps {
        let _ = run.step()?;
        let (mut sum, mut count) = (0.0, 0.0);
        for particle in model.particles(run.body(body)) {
            sum += particle.volume_ratio;
            count += 1.0;
        }
        volume = volume.max((sum / count - 1.0_f64).abs());
    }
    let lost = momentum(&run.world, &run.state) / start - 1.0;
    Ok(Change {
        volume,
        momentum: lost.abs() / f64::from(turns),
    })
}
