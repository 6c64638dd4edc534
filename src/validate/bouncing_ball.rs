//! Impacts with a coefficient of restitution: bounces of a ball, and a row of balls.

use nalgebra::{Isometry3, Vector3};
use pliant_hydroelastic::Shape;
use pliant_multibody::SpatialInertia;

use super::test_world::{G, Model, Outcome, Run, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "bouncing-ball",
    about: "a ball bounces to e² of its height at any time step, and a cradle hands on its velocity",
    kind: CaseKind::Function(run),
    needs: None,
};

const MASS: f64 = 0.4;
const RADIUS: f64 = 0.05;
const DROP: f64 = 1.0;
const BALLS: usize = 5;

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for time_step_s in [1e-4, 1e-3, 1e-2] {
        for e in [0.5, 0.8] {
            findings.extend(bounces(e, time_step_s)?);
        }
        findings.push(cradle(time_step_s)?);
    }
    Ok(findings)
}

/// The first two heights.
fn bounces(e: f64, time_step_s: f64) -> Outcome<Vec<Finding>> {
    let mut run = world(e, |setup| {
        setup.floor(Isometry3::identity());
        ball(setup, Vector3::z() * (DROP + RADIUS), Vector3::zeros())
    })?
    .start(time_step_s)?;
    let body = pliant_coupling::BodyIdx(0);
    // It lands after √(2h/g), then after e, e² times twice that.
    let first = (2.0 * DROP / G).sqrt();
    let landings = [
        first,
        first * (1.0 + 2.0 * e),
        first * (1.0 + 2.0 * e + 2.0 * e * e),
    ];
    let mut findings = Vec::new();
    run.steps((landings[0] / time_step_s + 1.0) as usize)?;
    for (k, end) in landings[1..].iter().enumerate() {
        let mut height = 0.0_f64;
        while run.state.time_s < end - 2.0 * time_step_s {
            run.steps(1)?;
            height = height.max(run.position(body).z - RADIUS);
        }
        run.steps(4)?;
        let expected = DROP * e.powi(2 * (k as i32 + 1));
        findings.push(Finding::equals(
            format!(
                "bouncing-ball: height {} (m), e = {e}, {time_step_s} s",
                k + 1
            ),
            height,
            expected,
            0.01 * expected,
            "Newton's law of impact: h e^(2k)",
        ));
    }
    Ok(findings)
}

/// The speed of the last of five balls a tenth of a millimetre apart.
fn cradle(time_step_s: f64) -> Outcome<Finding> {
    let mut setup = world(1.0, |setup| {
        let mut last = ball(setup, Vector3::x() * -0.1, Vector3::x())?;
        for k in 1..BALLS {
            let at = Vector3::x() * (k as f64 * (2.0 * RADIUS + 1e-4));
            last = ball(setup, at, Vector3::zeros())?;
        }
        Ok(last)
    })?;
    setup.builder.gravity(Vector3::zeros());
    let mut run = setup.start(time_step_s)?;
    run.steps((0.2 / time_step_s) as usize)?;
    let speed = |run: &Run, k: usize| run.velocity(pliant_coupling::BodyIdx(k)).x;
    Ok(Finding::equals(
        format!("bouncing-ball: speed of the last ball of a cradle (m/s), {time_step_s} s"),
        speed(&run, BALLS - 1),
        1.0,
        1e-3,
        "impacts of equal balls one after the other exchange their velocities",
    ))
}

fn world<T>(e: f64, fill: impl FnOnce(&mut TestWorld) -> Outcome<T>) -> Outcome<TestWorld> {
    let mut setup = TestWorld::new(Model::Lagged, material(1e6, 0.0));
    setup.rigid_surface.restitution = Some(e);
    fill(&mut setup)?;
    Ok(setup)
}

fn ball(
    setup: &mut TestWorld,
    at: Vector3<f64>,
    v: Vector3<f64>,
) -> Outcome<pliant_coupling::BodyIdx> {
    setup.free(
        &format!("ball at {:.3} {:.3}", at.x, at.z),
        Shape::sphere(RADIUS)?,
        SpatialInertia::solid_sphere(MASS, RADIUS),
        Isometry3::from(nalgebra::Translation3::from(at)),
        [0.0, 0.0, 0.0, v.x, v.y, v.z],
    )
}
