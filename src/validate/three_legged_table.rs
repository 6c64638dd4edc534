//! A three-legged table under a torque about its vertical axis.

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_contact_sap::{Load, MaterialPoint};
use pliant_hydroelastic::Shape;
use pliant_multibody::SpatialInertia;

use super::stiction::{
    delassus_at, inverse_inertia, sap_creep, softened_creep, softened_creep_slope, softening_loss,
};
use super::test_world::{
    G, MODELS, Model, Outcome, SOLVER, START_STEPS, TestWorld, WINDOW_STEPS, free_body, material,
};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "three-legged-table",
    about: "a three-legged table resists a vertical torque up to μmgL, and accelerates with the excess above",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
const MASS: f64 = 3.0;
/// Moment arm L of the feet about the axis, m.
const ARM: f64 = 0.3;
/// Height of the centre of mass over the floor, m.
const HEIGHT: f64 = 0.2;
/// Radius of the ball under each leg, m.
const FOOT: f64 = 0.02;
const FRICTION: f64 = 0.4;
const STIFFNESS: f64 = 5e5;
/// Moments of inertia, kg m².
const MOMENTS: [f64; 3] = [0.1, 0.1, 0.16];

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for model in MODELS {
        for ratio in [0.5, 0.98, 1.02, 2.0] {
            findings.push(twist(model, ratio)?);
        }
    }
    Ok(findings)
}

/// `ratio`: torque M over μmgL.
///
/// Each foot carries mg/3 and resists with at most μmg/3 at the moment arm L: the table stays at rest for M ≤ μmgL. Above that,
/// I ω̇ = M − μmgL.
fn twist(model: Model, ratio: f64) -> Outcome<Finding> {
    let limit = FRICTION * MASS * G * ARM;
    let torque = ratio * limit;
    let surface = material(STIFFNESS, FRICTION);
    let mut setup = TestWorld::new(model, surface);
    setup.floor(Isometry3::identity());
    let moments = Matrix3::from_diagonal(&Vector3::from(MOMENTS));
    let depth = MASS * G / (3.0 * STIFFNESS);
    let X_WB = Isometry3::translation(0.0, 0.0, HEIGHT - depth);
    let table = free_body(
        SpatialInertia::new(MASS, Vector3::zeros(), moments),
        X_WB,
        [0.0; 6],
    )?;
    let table = setup.builder.add_body("table", Box::new(table));
    for k in 0..3 {
        let angle = f64::from(k) * std::f64::consts::TAU / 3.0;
        let (sin, cos) = angle.sin_cos();
        let X_FG = Isometry3::translation(ARM * cos, ARM * sin, FOOT - HEIGHT);
        setup.mount(&format!("foot {k}"), (table, 0), X_FG, Shape::sphere(FOOT)?);
    }
    let mut run = setup.start(TIME_STEP_S)?;
    run.control(table).loads = vec![Load {
        point: MaterialPoint::on_frame(0, Vector3::zeros()),
        force_W: Vector3::zeros(),
        torque_W: Vector3::z() * torque,
    }];
    let growth = run.growth(|run| [run.angular_velocity(table).z])?;

    let name = |what: &str| {
        let model = model.name();
        format!("three-legged-table: {what} at {ratio} μmgL, {model}")
    };
    if ratio < 1.0 {
        let (expected, tolerance) = creep(model, ratio, torque);
        return Ok(Finding::equals(
            name("creep (rad/s)"),
            growth.after[0],
            expected,
            tolerance,
            "regularised stiction; solver stops at 1e-6 of the torque's impulse",
        ));
    }
    let alpha = (torque - limit) / MOMENTS[2];
    let time = |steps: usize| steps as f64 * TIME_STEP_S;
    let omega_2 = alpha * time(START_STEPS + WINDOW_STEPS);
    let (v1, v2) = (ARM * alpha * time(START_STEPS), ARM * omega_2);
    let softening = match model {
        Model::Lagged | Model::Similar => limit / MOMENTS[2] * softening_loss(v1, v2),
        Model::Sap => 0.0,
    };
    Ok(Finding::equals(
        name("angular acceleration (rad/s²)"),
        growth.rate[0],
        alpha + softening,
        run.solver_acceleration(omega_2),
        "(M − μmgL)/I, friction softened; solver stops at 1e-6 of the momentum",
    ))
}

/// Creep in stiction, rad/s, and the error due to the solver: as for a box on an incline, with s = M/(μmgL); in
/// the SAP model three feet carry M/L.
fn creep(model: Model, s: f64, torque: f64) -> (f64, f64) {
    // Impulse of the torque against that of the weight, in the solver's measure.
    let of_torque = torque / MOMENTS[2].sqrt();
    let missing = SOLVER * of_torque.hypot(G * MASS.sqrt()) * MOMENTS[2].sqrt() / torque;
    if model == Model::Sap {
        let r = Vector3::new(ARM, 0.0, -HEIGHT);
        let w = inverse_inertia(&delassus_at(MASS, Vector3::from(MOMENTS), r));
        let creep = sap_creep(w, torque * TIME_STEP_S / (3.0 * ARM)) / ARM;
        let free = missing * torque * TIME_STEP_S / MOMENTS[2];
        return (creep, missing * creep + free);
    }
    (
        softened_creep(s) / ARM,
        missing * s * softened_creep_slope(s) / ARM,
    )
}
