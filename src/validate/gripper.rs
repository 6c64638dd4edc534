//! A box held between two fingers.

use std::sync::Arc;

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_contact_sap::PdGains;
use pliant_hydroelastic::Shape;
use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, SpatialInertia};

use super::stiction::{
    delassus_at, inverse_inertia, sap_creep, softened_creep, softened_creep_slope, softening_loss,
};
use super::test_world::{
    G, MODELS, Model, Outcome, SOLVER, START_STEPS, TestWorld, WINDOW_STEPS, material,
};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "gripper",
    about: "two fingers that squeeze with F hold a box for 2μF just above mg, and lose it just below",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
const MASS: f64 = 0.5;
const SIDE: f64 = 0.05;
const FINGER_MASS: f64 = 0.1;
const FRICTION: f64 = 0.5;
const STIFFNESS: f64 = 5e5;

/// What closes the fingers.
#[derive(Clone, Copy, Debug)]
enum Grip {
    /// A given force.
    Force,
    /// PD actuators whose targets lie inside the box, at their effort limit.
    SaturatedPd,
}

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for model in MODELS {
        for grip in [Grip::Force, Grip::SaturatedPd] {
            for ratio in [1.02, 0.98] {
                findings.push(hold(model, grip, ratio)?);
            }
        }
    }
    Ok(findings)
}

/// `ratio`: 2μF/(mg), with F the force of each finger.
fn hold(model: Model, grip: Grip, ratio: f64) -> Outcome<Finding> {
    let force = ratio * MASS * G / (2.0 * FRICTION);
    let mut setup = TestWorld::new(model, material(STIFFNESS, FRICTION));
    let size = Vector3::repeat(SIDE);
    let body = setup.free_box("box", size, MASS, Isometry3::identity(), [0.0; 6])?;

    let plate = Vector3::new(0.02, 0.2, 0.2);
    let depth = force / (4.0 * STIFFNESS);
    let mut builder = ModelBuilder::new("hand");
    builder.link(LinkSpec::new("palm", SpatialInertia::zero()));
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let x = side * (0.5 * (SIDE + plate.x) - depth);
        let inertia = SpatialInertia::solid_box(FINGER_MASS, plate);
        builder.link(LinkSpec::new(name, inertia));
        builder.joint(
            JointSpec::new(name, JointKind::Prismatic, "palm", name)
                .at(Isometry3::translation(x, 0.0, 0.0))
                .about(Vector3::x() * -side),
        );
    }
    let mut tree = RigidTree::new(Arc::new(builder.build()?));
    if let Grip::SaturatedPd = grip {
        let gains = PdGains {
            proportional: 1e4,
            derivative: 10.0,
            effort_limit: force,
        };
        for name in ["left", "right"] {
            let joint = tree.model().joint_named(name)?;
            tree = tree.with_actuator(joint, gains)?;
        }
    }
    let fingers = ["left", "right"].map(|name| tree.model().link_named(name));
    let hand = setup.builder.add_body("hand", Box::new(tree));
    for (name, link) in ["left", "right"].into_iter().zip(fingers) {
        let frame = (hand, link?.0 as u32);
        setup.mount(name, frame, Isometry3::identity(), Shape::cuboid(plate)?);
    }
    let mut run = setup.start(TIME_STEP_S)?;
    match grip {
        Grip::Force => run.control(hand).effort = vec![force; 2],
        Grip::SaturatedPd => run.control(hand).position = vec![0.01; 2],
    }
    let growth = run.growth(|run| [-run.velocity(body).z])?;

    let name = |what: &str| {
        let model = model.name();
        format!("gripper: {what} at 2μF = {ratio} mg, {grip:?}, {model}")
    };
    Ok(if ratio > 1.0 {
        let (expected, tolerance) = creep(model, ratio, force);
        Finding::equals(
            name("creep (m/s)"),
            growth.after[0],
            expected,
            tolerance,
            "regularised stiction; solver stops at 1e-6 of the impulses on the fingers",
        )
    } else {
        let a = G * (1.0 - ratio);
        let (v1, v2) = (a * time(START_STEPS), a * time(START_STEPS + WINDOW_STEPS));
        let softening = match model {
            Model::Lagged | Model::Similar => G * ratio * softening_loss(v1, v2),
            Model::Sap => 0.0,
        };
        Finding::equals(
            name("fall (m/s²)"),
            growth.rate[0],
            a + softening,
            run.solver_acceleration(v2),
            "g − 2μF/m, friction softened; solver stops at 1e-6 of the momentum",
        )
    })
}

fn time(steps: usize) -> f64 {
    steps as f64 * TIME_STEP_S
}

/// Creep in stiction, m/s, and the error due to the solver: as for a box on an incline, with s = mg/(2μF).
///
/// SAP: eight corners share mg δt, and the finger's joint adds 1/m_finger along the normal.
///
/// The solver's measure is ‖D Jᵀγ‖, of which the largest part are the impulses F δt on the two fingers, D = m_finger^(−1/2);
/// 1e-6 of that may be missing from the balance of the box, in units of its own D = m^(−1/2).
fn creep(model: Model, ratio: f64, force: f64) -> (f64, f64) {
    let impulse = SOLVER * (2.0 * MASS / FINGER_MASS).sqrt() * force * TIME_STEP_S;
    let s = 1.0 / ratio;
    if model == Model::Sap {
        let moments = Vector3::repeat(MASS * SIDE * SIDE / 6.0);
        let of_box = delassus_at(MASS, moments, Vector3::repeat(0.5 * SIDE));
        let of_finger = Matrix3::from_diagonal(&Vector3::new(1.0 / FINGER_MASS, 0.0, 0.0));
        let w = inverse_inertia(&(of_box + of_finger));
        let creep = |gamma: f64| sap_creep(w, gamma / 8.0);
        return (
            creep(MASS * G * TIME_STEP_S),
            creep(impulse) + impulse / MASS,
        );
    }
    let bearable = 2.0 * FRICTION * force * TIME_STEP_S;
    (
        softened_creep(s),
        impulse / bearable * softened_creep_slope(s),
    )
}
