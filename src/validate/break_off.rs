//! The pull at which a box breaks off a surface that attracts it.

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{Load, MaterialPoint};
use pliant_coupling::PairRule;
use pliant_hydroelastic::Shape;
use pliant_multibody::SpatialInertia;

use super::test_world::{G, MODELS, Model, Outcome, TestWorld, free_body, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "break-off",
    about: "a box under a ceiling that attracts it breaks off when its weight and a pull exceed the attraction",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
const MASS: f64 = 0.5;
const SIDE: f64 = 0.1;
const ADHESION: f64 = 20.0;
/// Growth of the pull, N/s.
const RATE: f64 = 10.0;

/// What moves by less still adheres, m.
const REACH: f64 = 1e-4;

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for model in MODELS {
        let [pull, most] = break_off(model)?;
        // While the pull exceeds the rest by r t, the box moves by r t³/6m.
        let moving_s = (6.0 * MASS * REACH / RATE).cbrt();
        findings.push(Finding::equals(
            format!("break-off: pull (N), {}", model.name()),
            pull,
            ADHESION - MASS * G,
            RATE * moving_s,
            "pull + m g = adhesion; the pull grows while the box moves by 0.1 mm",
        ));
        findings.push(Finding::equals(
            format!("break-off: largest force on the box (N), {}", model.name()),
            most,
            ADHESION,
            RATE * TIME_STEP_S,
            "the ceiling holds by its attraction alone; the growth of a step",
        ));
    }
    Ok(findings)
}

/// The pull in the first step in which the ceiling transmits nothing, and the largest force that it has transmitted.
fn break_off(model: Model) -> Outcome<[f64; 2]> {
    let mut setup = TestWorld::new(model, material(1e6, 0.5));
    let ceiling = setup.floor(Isometry3::rotation(Vector3::x() * std::f64::consts::PI));
    let lengths = Vector3::repeat(SIDE);
    let tree = free_body(
        SpatialInertia::solid_box(MASS, lengths),
        Isometry3::translation(0.0, 0.0, -0.5 * SIDE),
        [0.0; 6],
    )?;
    let body = setup.builder.add_body("box", Box::new(tree));
    let cube = Shape::cuboid(lengths)?;
    let shape = setup.mount("box", (body, 0), Isometry3::identity(), cube);
    let rule = PairRule {
        adhesion: Some(ADHESION),
        ..PairRule::default()
    };
    setup.builder.pair_rule(ceiling, shape, rule);
    let mut run = setup.start(TIME_STEP_S)?;
    let (mut pull, mut most) = (0.0, 0.0_f64);
    while pull < 2.0 * ADHESION {
        pull += RATE * TIME_STEP_S;
        run.control(body).loads = vec![Load {
            point: MaterialPoint::on_frame(0, Vector3::zeros()),
            force_W: Vector3::new(0.0, 0.0, -pull),
            torque_W: Vector3::zeros(),
        }];
        let report = run.step()?;
        let transmitted = report.pair(ceiling, shape);
        let force = transmitted.map_or(0.0, |pair| pair.force_on_a().norm());
        if force == 0.0 {
            break;
        }
        most = most.max(force);
    }
    Ok([pull, most])
}
