//! Collisions of free boxes, and the bundled scenes of rolling and of wedges on both sides of their limits.
//!
//! Linear momentum is kept to the tolerance of the solver. Angular momentum about the origin changes by the defect of backward Euler, −δt² (v_A − v_B) × f for
//! a force f on A. Directions of GMRES descend however few vectors they have, so steps converge with 1, 2 and 5 of them.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{GeometryIdx, PenaltyForceSettings};

use super::PenaltyRun;
use crate::runner::{RunLength, RunOptions};
use crate::scene::{ParameterOverride, Scene, SceneOptions};
use crate::validate::test_world::{Model, Outcome, TestWorld, material};
use crate::validate::{CaseLength, Finding, finding};

pub(super) fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for vectors in [20, 5, 2, 1] {
        findings.extend(collision(vectors)?);
    }
    for mu in ["0.3", "0.01"] {
        findings.extend(scene("penalty-rolling", mu)?);
    }
    // 1.1 and 0.9 times the friction that carries the blocks.
    for mu in ["0.055", "0.045"] {
        findings.extend(scene("penalty-wedge", mu)?);
    }
    Ok(findings)
}

fn scene(name: &str, mu: &str) -> Outcome<Vec<Finding>> {
    let options = SceneOptions {
        parameters: vec![ParameterOverride {
            name: "mu".into(),
            value: mu.into(),
        }],
        ..SceneOptions::default()
    };
    let scene = Scene::load(name, &options)?;
    let options = RunOptions {
        length: RunLength::Smoke,
        ..RunOptions::default()
    };
    let summary = crate::runner::run(&scene, &options, &mut |_| {})?.summary;
    let case = format!("penalty-motion: {name}, mu = {mu}");
    Ok(summary
        .expectations
        .iter()
        .map(|verdict| finding(&case, verdict))
        .collect())
}

/// Two boxes that spin meet without gravity, with `vectors` of GMRES in an iteration.
fn collision(vectors: u32) -> Outcome<Vec<Finding>> {
    let mut setup = TestWorld::new(Model::Lagged, material(1e3, 0.4));
    setup.builder.gravity(Vector3::zeros());
    let lengths = Vector3::repeat(0.2);
    let turned = UnitQuaternion::from_euler_angles(0.5, 0.7, 0.2);
    let second = Isometry3::from_parts(Translation3::new(0.27, 0.04, 0.03), turned);
    for (name, mass, pose, v) in [
        (
            "left",
            1.0,
            Isometry3::identity(),
            [0.3, -0.2, 0.5, 1.0, 0.0, 0.1],
        ),
        ("right", 2.0, second, [0.0, 0.4, -0.3, -0.8, 0.1, 0.0]),
    ] {
        setup.free_box(name, lengths, mass, pose, v)?;
    }
    let settings = PenaltyForceSettings {
        tolerance: 1e-10,
        krylov_max: vectors,
        ..PenaltyForceSettings::default()
    };
    let dt = 2e-3;
    let mut run = PenaltyRun::new(setup.builder.build()?, settings, dt)?;
    let before = run.world.energy(&run.state);
    let (mut defect, mut met) = (Vector3::zeros(), 0.0_f64);
    for _ in 0..150 {
        let report = run.trusted_step()?;
        let v = |b: usize| Vector3::from_column_slice(&run.state.bodies[b].v[3..]);
        let on_first = report.contact_wrench(&Point3::origin(), |g| g == GeometryIdx(0));
        defect -= (v(0) - v(1)).cross(&on_first.force) * (dt * dt);
        met += on_first.force.norm() * dt;
    }
    let after = run.world.energy(&run.state);
    let name = |what: &str| format!("penalty-motion: {what}, {vectors} vectors of GMRES");
    Ok(vec![
        Finding::at_least(
            name("impulse of the collision (N s)"),
            met,
            0.5,
            "they meet",
        ),
        Finding::at_most(
            name("change of momentum (N s)"),
            (after.linear_momentum_W - before.linear_momentum_W).norm(),
            1e-8,
            "forces are opposite",
        ),
        Finding::at_most(
            name("change of angular momentum (N m s) beyond the defect of backward Euler"),
            (after.angular_momentum_W - before.angular_momentum_W - defect).norm(),
            1e-7,
            "forces lead from particles to attachments, so they have no net torque",
        ),
        Finding::at_most(
            name("kinetic energy over that before"),
            after.kinetic / before.kinetic,
            1.0,
            "backward Euler takes energy out, never in",
        ),
    ])
}
