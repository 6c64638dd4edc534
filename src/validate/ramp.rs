//! A box at the limit of sliding, over a grid of slopes and friction, for every stepper and contact model.
//!
//! The speed after 1 s from rest on a ramp of slope tan θ, with μ from 5 % below tan θ to 20 % above:
//!
//! ```text
//! v = max(0, g (sin θ − μ cos θ)) t
//! ```

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Asynchronous, AsynchronousSettings, Attachment, AttachmentMotion, AttachmentPlace, GeometryIdx,
    PenaltyForce, PenaltyForceSettings, State, Stepper, StrongImplicit,
};
use pliant_hydroelastic::ContactMaterial;

use super::stiction::{STICTION_SPEED, softened_creep};
use super::test_world::{G, MODELS, Model, Outcome, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "ramp",
    about: "a box within 1 % of the limit of sliding sticks or slides, for every stepper and contact model",
    kind: CaseKind::Function(run),
    needs: None,
};

const SLOPES: [f64; 5] = [0.05, 0.1, 0.2, 0.4, 0.8];
const RATIOS: [f64; 5] = [0.95, 0.99, 1.01, 1.05, 1.2];
const TIME_STEP_S: f64 = 0.01;
const STEPS: usize = 100;
const STIFFNESS: f64 = 1e4;
const EDGE: f64 = 0.1;

/// How the box is stepped.
#[derive(Clone, Copy)]
enum Method {
    StrongImplicit(Model),
    Asynchronous(Model),
    PenaltyForce,
}

impl Method {
    fn name(self) -> String {
        match self {
            Self::StrongImplicit(model) => format!("strong-implicit, {}", model.name()),
            Self::Asynchronous(model) => format!("asynchronous, {}", model.name()),
            Self::PenaltyForce => "penalty-force".into(),
        }
    }

    fn stepper(self) -> Outcome<Box<dyn Stepper>> {
        let implicit = || StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
        Ok(match self {
            Self::StrongImplicit(_) => Box::new(implicit()),
            Self::Asynchronous(_) => Box::new(Asynchronous::new(
                implicit(),
                AsynchronousSettings::default(),
            )?),
            Self::PenaltyForce => Box::new(PenaltyForce::new(PenaltyForceSettings {
                tolerance: 1e-10,
                box_particles: 2,
                ..PenaltyForceSettings::default()
            })?),
        })
    }

    fn model(self) -> Model {
        match self {
            Self::StrongImplicit(model) | Self::Asynchronous(model) => model,
            Self::PenaltyForce => Model::Lagged,
        }
    }

    /// Tolerance of the speed, m/s. Softened friction creeps at v_s s/√(1 − s²), s = tan θ/μ < 1, or gains at most 2 v_s √(μ/2(tan θ − μ)) before it
    /// reaches its bound, where it slides; 1e-5 g t is for solvers that stop at 1e-6 of the momentum in each of 100 steps.
    fn tolerance(self, ratio: f64) -> f64 {
        let softened = match ratio > 1.0 {
            true => softened_creep(1.0 / ratio),
            false => 2.0 * STICTION_SPEED * (ratio / (2.0 * (1.0 - ratio))).sqrt(),
        };
        match self {
            Self::PenaltyForce => 1e-9,
            _ => 1.1 * softened + 1e-5 * G * STEPS as f64 * TIME_STEP_S,
        }
    }
}

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let mut methods = vec![Method::PenaltyForce];
    methods.extend(MODELS.map(Method::StrongImplicit));
    methods.extend(MODELS.map(Method::Asynchronous));
    let slopes = match length {
        CaseLength::Quick => &SLOPES[2..3],
        CaseLength::Full => &SLOPES[..],
    };
    let mut findings = Vec::new();
    for method in methods {
        for &slope in slopes {
            for ratio in RATIOS {
                findings.push(speed(method, slope, ratio)?);
            }
        }
    }
    Ok(findings)
}

fn speed(method: Method, slope: f64, ratio: f64) -> Outcome<Finding> {
    let (angle, friction) = (slope.atan(), ratio * slope);
    let X_WG = Isometry3::rotation(Vector3::y() * angle);
    let surface = ContactMaterial {
        dissipation: 0.0,
        ..material(STIFFNESS / 4.0, friction)
    };
    let mut setup = TestWorld::new(method.model(), surface);
    let floor = setup.floor(X_WG);
    let depth = G * angle.cos() / STIFFNESS;
    let X_WB = X_WG * Isometry3::translation(0.0, 0.0, 0.5 * EDGE - depth);
    let body = setup.free_box("box", Vector3::repeat(EDGE), 1.0, X_WB, [0.0; 6])?;
    let world = setup.builder.build()?;
    let mut state = world.default_state();
    // It slides without rocking.
    let still = Some(0.0);
    state.controls[body.0].held = vec![still, still, still, None, None, None];
    // Friction carries what it can from the start: tan θ d where it sticks, μ d where it slides.
    state.memory.attachments = loaded(floor, GeometryIdx(1), slope.min(friction) * depth);
    let (mut stepper, mut next) = (method.stepper()?, State::default());
    for _ in 0..STEPS {
        let report = stepper.step(&world, &state, TIME_STEP_S, &mut next)?;
        if let Some(untrusted) = report.untrusted() {
            return Err(untrusted.describe(&world).into());
        }
        std::mem::swap(&mut state, &mut next);
    }
    let v = Vector3::from_column_slice(&state.bodies[body.0].v[3..6]);
    let a = G * (angle.sin() - friction * angle.cos());
    Ok(Finding::equals(
        format!(
            "ramp: speed (m/s) at tan θ = {slope}, μ/tan θ = {ratio}, {}",
            method.name()
        ),
        v.dot(&(X_WG.rotation * Vector3::x())),
        a.max(0.0) * STEPS as f64 * TIME_STEP_S,
        method.tolerance(ratio),
        "Coulomb; softened friction creeps",
    ))
}

/// Attachments of the lower corners, behind them by `behind` (m).
fn loaded(object: GeometryIdx, particles: GeometryIdx, behind: f64) -> Vec<Attachment> {
    let side = |particle: u32, axis: u32| match particle >> axis & 1 {
        0 => -0.5 * EDGE,
        _ => 0.5 * EDGE,
    };
    (0..4)
        .map(|particle| Attachment {
            object,
            particles,
            particle,
            on_edge: None,
            place: AttachmentPlace::InFrame(Point3::new(
                side(particle, 0) - behind,
                side(particle, 1),
                0.0,
            )),
            motion: AttachmentMotion::default(),
        })
        .collect()
}
