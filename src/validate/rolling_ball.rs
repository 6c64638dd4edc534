//! A ball on an incline.

use nalgebra::{Isometry3, Vector3};
use pliant_hydroelastic::Shape;
use pliant_multibody::SpatialInertia;

use super::laboratory::{G, Laboratory, MODELS, Model, Outcome, WINDOW_STEPS, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "rolling-ball",
    about: "a ball rolls with 5/7 g sin θ where μ ≥ 2/7 tan θ, and slides with the right spin elsewhere",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
const MASS: f64 = 0.8;
const RADIUS: f64 = 0.1;
const STIFFNESS: f64 = 5e5;

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for model in MODELS {
        // 2/7 tan θ is 0.050, 0.165, 0.165, 0.286.
        for (angle_deg, friction) in [(10.0, 0.5), (30.0, 0.17), (30.0, 0.16), (45.0, 0.2)] {
            findings.extend(roll(model, angle_deg, friction)?);
        }
    }
    Ok(findings)
}

/// How the ball moves.
#[derive(Clone, Copy, Debug)]
enum Motion {
    Rolling,
    Sliding,
}

/// Acceleration and angular acceleration of a ball of radius R whose contact point lies r below its centre.
///
/// With F the friction, m a = m g sin θ − F and ⅖mR² α = F r.
///
/// ```text
/// rolling   a = α r = g sin θ/(1 + ⅖R²/r²) → 5/7 g sin θ,   as long as g sin θ − a ≤ μ g cos θ, → μ ≥ 2/7 tan θ
/// sliding   a = g(sin θ − μ cos θ),   α = μ g cos θ · r/(⅖R²) → 5 μ g cos θ/(2R)
/// ```
///
/// The ball is pressed in by d = m g cos θ/k, and the contact lies halfway between the surfaces: r = R − d/2.
fn accelerations(angle: f64, friction: f64) -> (Motion, f64, f64) {
    let r = RADIUS - 0.5 * MASS * G * angle.cos() / STIFFNESS;
    let gyration = 0.4 * RADIUS * RADIUS;
    let rolling = G * angle.sin() / (1.0 + gyration / (r * r));
    let most = friction * G * angle.cos();
    if G * angle.sin() - rolling <= most {
        return (Motion::Rolling, rolling, rolling / r);
    }
    (Motion::Sliding, G * angle.sin() - most, most * r / gyration)
}

fn roll(model: Model, angle_deg: f64, friction: f64) -> Outcome<[Finding; 2]> {
    let angle = angle_deg.to_radians();
    let X_WG = Isometry3::rotation(Vector3::y() * angle);
    let surface = material(STIFFNESS, friction);
    let mut lab = Laboratory::new(model, surface);
    lab.floor(X_WG);
    let depth = MASS * G * angle.cos() / STIFFNESS;
    let body = lab.free(
        "ball",
        Shape::sphere(RADIUS)?,
        SpatialInertia::solid_sphere(MASS, RADIUS),
        X_WG * Isometry3::translation(0.0, 0.0, RADIUS - depth),
        [0.0; 6],
    )?;
    let mut run = lab.start(TIME_STEP_S)?;
    let downhill = X_WG.rotation * Vector3::x();
    let found = run.growth(|run| {
        [
            run.velocity(body).dot(&downhill),
            run.angular_velocity(body).y,
        ]
    })?;

    let (motion, a, alpha) = accelerations(angle, friction);
    let name = |what: &str| {
        let model = model.name();
        format!("rolling-ball: {motion:?}, {what} at μ = {friction}, θ = {angle_deg}°, {model}")
    };
    let [speed, turning] = found.after;
    // A sliding contact that hovers lies higher by half of T μ v, and the similar model's dissipation, which sees μ v, too,
    // lets the ball rise out of its dent besides.
    let slip = match motion {
        Motion::Rolling => 0.0,
        Motion::Sliding => speed - turning * RADIUS,
    };
    let dent = match model {
        Model::Similar => depth,
        Model::Lagged | Model::Sap => 0.0,
    };
    let hover = model.gliding_time(TIME_STEP_S, &surface) * friction * slip + dent;
    let lever = alpha * hover / (2.0 * RADIUS);
    // Its rise takes time and force: μ times the speed gained by it.
    let rising = friction * dent.min(hover) / (WINDOW_STEPS as f64 * TIME_STEP_S).powi(2);
    let source = "momentum balance of a ball; solver stops at 1e-6 of the momentum, lever arm of the hovering contact";
    Ok([
        Finding::equals(
            name("acceleration (m/s²)"),
            found.rate[0],
            a,
            run.solver_acceleration(speed) + rising,
            source,
        ),
        Finding::equals(
            name("angular acceleration (rad/s²)"),
            found.rate[1],
            alpha,
            run.solver_acceleration(turning) + lever,
            source,
        ),
    ])
}
