//! A box that slides along the floor and stops.

use nalgebra::{Isometry3, Vector3};

use super::test_world::{G, MODELS, Model, Outcome, SOLVER, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "sliding-box",
    about: "a box sliding on the floor stops after v²/(2μg), less the discrete correction",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
const MASS: f64 = 1.0;
const STIFFNESS: f64 = 5e5;
const FRICTION: f64 = 0.3;
const SPEED: f64 = 1.0;

/// Stopping distance of a body of speed v that loses a δt = μ g δt in each step:
///
/// ```text
/// x = δt Σ_{k=1}^{n} (v − k a δt),   n = ⌊v/(a δt)⌋
///   = v²/(2a) − v δt/2 + a δt² f(1 − f)/2,   f = v/(a δt) − n
/// ```
fn stop_distance(speed: f64, deceleration: f64, time_step_s: f64) -> f64 {
    let per_step = deceleration * time_step_s;
    let f = (speed / per_step).fract();
    speed * speed / (2.0 * deceleration) - 0.5 * speed * time_step_s
        + 0.5 * per_step * time_step_s * f * (1.0 - f)
}

/// Error of the distance due to the solver: at 1e-6 of the momentum in every step the speed is off by
/// 1e-6 Σ v_k, and summed up once more over the time to stop T = v/a the distance by
///
/// ```text
/// 1e-6/δt ∫₀ᵀ∫₀ᵗ v dt' dt = 1e-6/δt · v T²/3
/// ```
fn solver_distance(speed: f64, deceleration: f64, time_step_s: f64) -> f64 {
    let time_to_stop = speed / deceleration;
    SOLVER / time_step_s * speed * time_to_stop * time_to_stop / 3.0
}

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for model in MODELS {
        let (distance, speed_left) = slide(model)?;
        findings.push(Finding::equals(
            format!("sliding-box: stop distance (m), {}", model.name()),
            distance,
            stop_distance(SPEED, FRICTION * G, TIME_STEP_S),
            solver_distance(SPEED, FRICTION * G, TIME_STEP_S),
            "sum of v − kμgδt; solver stops at 1e-6 of the momentum",
        ));
        findings.push(Finding::at_most(
            format!("sliding-box: speed after the stop (m/s), {}", model.name()),
            speed_left,
            SOLVER * G * TIME_STEP_S,
            "Coulomb; solver stops at 1e-6 of the weight's impulse",
        ));
    }
    Ok(findings)
}

/// Distance travelled after twice the time to stop, and the speed then.
///
/// The box starts at its static depth.
fn slide(model: Model) -> Outcome<(f64, f64)> {
    let surface = material(STIFFNESS, FRICTION);
    let height = 0.05 - MASS * G / (4.0 * STIFFNESS);
    let mut setup = TestWorld::new(model, surface);
    setup.floor(Isometry3::identity());
    let lengths = Vector3::new(0.4, 0.4, 0.1);
    let X_WB = Isometry3::translation(0.0, 0.0, height);
    let v = [0.0, 0.0, 0.0, SPEED, 0.0, 0.0];
    let body = setup.free_box("box", lengths, MASS, X_WB, v)?;
    let mut run = setup.start(TIME_STEP_S)?;
    let time_to_stop = SPEED / (FRICTION * G);
    run.steps((2.0 * time_to_stop / TIME_STEP_S) as usize)?;
    Ok((run.position(body).x, run.velocity(body).norm()))
}

#[cfg(test)]
mod tests {
    use super::super::stiction::STICTION_SPEED;
    use super::*;

    #[test]
    fn stop_distance_is_the_sum_of_the_velocities() {
        for (v, a, dt) in [(1.0, 2.943, 1e-3), (0.7, 5.0, 0.01), (1.0, 10.0, 0.01)] {
            let mut left: f64 = v;
            let mut sum = 0.0;
            while left - a * dt > 0.0 {
                left -= a * dt;
                sum += dt * left;
            }
            assert!((stop_distance(v, a, dt) - sum).abs() < 1e-12);
        }
    }

    /// Softened friction, less than μN by v/√(v² + ε²), adds (1/a)∫(√(v² + ε²) − v) dv = ε²/(2a)·(ln(2v/ε) + ½).
    #[test]
    fn softening_is_far_below_the_tolerance() {
        let a = FRICTION * G;
        let e = STICTION_SPEED;
        let added = e * e / (2.0 * a) * ((2.0 * SPEED / e).ln() + 0.5);
        assert!(added < 1e-2 * solver_distance(SPEED, a, TIME_STEP_S));
    }
}
