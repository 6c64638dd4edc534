//! A box on an incline, over a grid of friction coefficients and angles.

use nalgebra::{Isometry3, Vector3};

use super::stiction::{
    delassus_at, inverse_inertia, sap_creep, softened_creep, softened_creep_slope,
};
use super::test_world::{G, MODELS, Model, Outcome, SOLVER, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "incline",
    about: "a box on an incline sticks below the friction cone and slides with g(sin θ − μ cos θ) above, over a grid of μ and θ",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
const MASS: f64 = 2.0;
const STIFFNESS: f64 = 5e5;
const LENGTHS: [f64; 3] = [0.4, 0.3, 0.1];
const FRICTIONS: [f64; 4] = [0.1, 0.3, 0.6, 1.0];
const ANGLES_DEG: [f64; 5] = [3.0, 12.0, 22.0, 35.0, 50.0];

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for model in MODELS {
        for friction in FRICTIONS {
            for angle_deg in ANGLES_DEG {
                findings.push(slide_or_stick(model, friction, angle_deg)?);
            }
        }
    }
    Ok(findings)
}

fn slide_or_stick(model: Model, friction: f64, angle_deg: f64) -> Outcome<Finding> {
    let angle = angle_deg.to_radians();
    // Downhill is +x of the plane.
    let X_WG = Isometry3::rotation(Vector3::y() * angle);
    let surface = material(STIFFNESS, friction);
    let mut setup = TestWorld::new(model, surface);
    setup.floor(X_WG);
    let depth = MASS * G * angle.cos() / (4.0 * STIFFNESS);
    let X_WB = X_WG * Isometry3::translation(0.0, 0.0, 0.5 * LENGTHS[2] - depth);
    let body = setup.free_box("box", LENGTHS.into(), MASS, X_WB, [0.0; 6])?;
    let mut run = setup.start(TIME_STEP_S)?;
    let downhill = X_WG.rotation * Vector3::x();
    let growth = run.growth(|run| [run.velocity(body).dot(&downhill)])?;

    let name = |what: &str| {
        let model = model.name();
        format!("incline: {what} at μ = {friction}, θ = {angle_deg}°, {model}")
    };
    if angle.tan() < friction {
        let (expected, tolerance) = creep(model, friction, angle);
        return Ok(Finding::equals(
            name("creep (m/s)"),
            growth.after[0],
            expected,
            tolerance,
            "regularised stiction; solver stops at 1e-6 of the weight's impulse",
        ));
    }
    let a = G * (angle.sin() - friction * angle.cos());
    Ok(Finding::equals(
        name("acceleration (m/s²)"),
        growth.rate[0],
        a,
        run.solver_acceleration(growth.after[0]),
        "Coulomb; solver stops at 1e-6 of the momentum",
    ))
}

/// Creep in stiction, m/s, and the error due to the solver.
///
/// Lagged and similar: all corners slip alike, so their softened friction adds up to μ N v/√(v² + v_s²) = m g sin θ, which
/// is [`softened_creep`] at s = tan θ/μ. An error of 1e-6 m g δt in the balance is one of 1e-6/(μ cos θ) in s.
///
/// SAP: four sticking corners share m g sin θ δt. (A corner with less load reaches its cone first; the grid avoids such points.)
///
/// In both cases 1e-6 g δt is added for the speed of the centre of mass as the box rocks.
fn creep(model: Model, friction: f64, angle: f64) -> (f64, f64) {
    let rocking = SOLVER * G * TIME_STEP_S;
    if model == Model::Sap {
        let l = Vector3::from(LENGTHS);
        let s = l.component_mul(&l);
        let moments = Vector3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (MASS / 12.0);
        let w = inverse_inertia(&delassus_at(MASS, moments, 0.5 * l));
        return (
            sap_creep(w, MASS * G * angle.sin() * TIME_STEP_S / 4.0),
            rocking,
        );
    }
    let s = angle.tan() / friction;
    let balance = SOLVER / (friction * angle.cos());
    (
        softened_creep(s),
        rocking + balance * softened_creep_slope(s),
    )
}
