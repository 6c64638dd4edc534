//! A ball on an incline.

use nalgebra::Isometry3;
use pliant_hydroelastic::Shape;
use pliant_multibody::SpatialInertia;

use super::rolling::{Incline, Motion, TIME_STEP_S};
use super::test_world::{G, Outcome};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "rolling-ball",
    about: "a ball rolls with 5/7 g sin θ where μ ≥ 2/7 tan θ, and slides with the right spin elsewhere",
    kind: CaseKind::Function(run),
    needs: None,
};

const MASS: f64 = 0.8;
const RADIUS: f64 = 0.1;
const STIFFNESS: f64 = 5e5;

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    // 2/7 tan θ is 0.050, 0.165, 0.165, 0.286.
    let inclines = [(10.0, 0.5), (30.0, 0.17), (30.0, 0.16), (45.0, 0.2)];
    let mut findings = Vec::new();
    for incline in Incline::all(CASE.name, STIFFNESS, inclines) {
        findings.extend(roll(&incline)?);
    }
    Ok(findings)
}

fn roll(incline: &Incline) -> Outcome<[Finding; 2]> {
    let depth = MASS * G * incline.angle().cos() / STIFFNESS;
    let mut setup = incline.test_world();
    let body = setup.free(
        "ball",
        Shape::sphere(RADIUS)?,
        SpatialInertia::solid_sphere(MASS, RADIUS),
        incline.X_WG() * Isometry3::translation(0.0, 0.0, RADIUS - depth),
        [0.0; 6],
    )?;
    let mut run = setup.start(TIME_STEP_S)?;
    let downhill = incline.downhill();
    let growth = run.growth(|run| {
        [
            run.velocity(body).dot(&downhill),
            run.angular_velocity(body).y,
        ]
    })?;
    // The contact lies halfway between the surfaces.
    let law = incline.law(RADIUS - 0.5 * depth, 0.4 * RADIUS * RADIUS);
    // The contact lies higher by half of T μ Δv, Δv the growth of the slip in a step.
    let growth_of_slip = match law.motion {
        Motion::Rolling => 0.0,
        Motion::Sliding => (law.acceleration - law.angular_acceleration * RADIUS) * TIME_STEP_S,
    };
    let lifting = incline.model.lifting_time(TIME_STEP_S, &incline.surface());
    let lift = lifting * incline.friction * growth_of_slip;
    let lever = law.angular_acceleration * lift / (2.0 * RADIUS);
    Ok(incline.findings(
        &law,
        &run,
        &growth,
        [0.0, lever],
        "momentum balance of a ball; solver stops at 1e-6 of the momentum, lever arm of the lifted contact",
    ))
}
