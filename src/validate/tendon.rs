//! A fixed tendon across two slides: its spring, its drive and its limit act along L = q₁ + 3 q₂.

use std::f64::consts::TAU;
use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::PdGains;
use pliant_coupling::BodyIdx;
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, ModelBuilder, PositionRange, RigidTree, SpatialInertia,
    TendonDrive, TendonIdx, TendonSpec, TendonSpring,
};

use super::test_world::{Model, Outcome, Run, SOLVER, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "fixed-tendon",
    about: "a tendon across two slides swings, pulls and stops them as its coefficients share its force",
    kind: CaseKind::Function(run),
    needs: None,
};

const COEFFICIENTS: [f64; 2] = [1.0, 3.0];
const MASSES: [f64; 2] = [1.0, 2.0];
const TIME_STEP_S: f64 = 1e-3;

/// Inverse mass along L: Σ c²/m.
fn inverse_mass() -> f64 {
    COEFFICIENTS
        .iter()
        .zip(MASSES)
        .map(|(c, m)| c * c / m)
        .sum()
}

fn length(q: &[f64]) -> f64 {
    COEFFICIENTS.iter().zip(q).map(|(c, q)| c * q).sum()
}

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = oscillation()?;
    findings.extend(pull()?);
    findings.extend(stop()?);
    Ok(findings)
}

/// The slides, each with a spring to its place if `joint_stiffness` is not zero.
fn slides(tendon: TendonSpec, joint_stiffness: [f64; 2]) -> Outcome<RigidTree> {
    let mut model = ModelBuilder::new("slides");
    model.link(LinkSpec::new("base", SpatialInertia::zero()));
    let axes = [Vector3::x(), Vector3::y()];
    for (k, (name, axis)) in ["x", "y"].into_iter().zip(axes).enumerate() {
        model.link(LinkSpec::new(
            name,
            SpatialInertia::solid_sphere(MASSES[k], 0.1),
        ));
        let mut slide = JointSpec::new(name, JointKind::Prismatic, "base", name).about(axis);
        slide.passive.spring_stiffness = joint_stiffness[k];
        slide.passive.damping = 2.0 * (joint_stiffness[k] * MASSES[k]).sqrt();
        model.joint(slide);
    }
    model.tendon(tendon);
    Ok(RigidTree::new(Arc::new(model.build()?)))
}

fn tendon(limits: PositionRange, spring: TendonSpring) -> TendonSpec {
    let terms = ["x", "y"].map(str::to_owned).into_iter().zip(COEFFICIENTS);
    TendonSpec {
        name: "tendon".into(),
        terms: terms.collect(),
        limits,
        spring,
        drive: TendonDrive::default(),
    }
}

const FREE: PositionRange = PositionRange {
    lower: f64::NEG_INFINITY,
    upper: f64::INFINITY,
};

fn start(tree: RigidTree) -> Outcome<(Run, BodyIdx)> {
    let mut setup = TestWorld::new(Model::Lagged, material(1e6, 0.5));
    setup.builder.gravity(Vector3::zeros());
    let body = setup.builder.add_body("slides", Box::new(tree));
    Ok((setup.start(TIME_STEP_S)?, body))
}

/// L̈ = −k W L: the period, and the shares of the slides as their coefficients over their masses.
fn oscillation() -> Outcome<Vec<Finding>> {
    let stiffness = 7.0;
    let spring = TendonSpring {
        stiffness,
        ..TendonSpring::default()
    };
    let share: Vec<f64> = COEFFICIENTS
        .iter()
        .zip(MASSES)
        .map(|(c, m)| c / m)
        .collect();
    let tree = slides(tendon(FREE, spring), [0.0; 2])?.starting_at(&share, &[0.0; 2]);
    let (mut run, body) = start(tree)?;
    let (mut last, mut crossings) = (length(&share), Vec::new());
    for step in 0..4000 {
        run.steps(1)?;
        let found = length(&run.body(body).q);
        if last < 0.0 && found >= 0.0 {
            crossings.push(step as f64 + last / (last - found));
        }
        last = found;
    }
    let periods = crossings.len() - 1;
    let period = (crossings[periods] - crossings[0]) / periods as f64 * TIME_STEP_S;
    let expected = TAU / (stiffness * inverse_mass()).sqrt();
    let q = &run.body(body).q;
    Ok(vec![
        Finding::equals(
            "fixed-tendon: period of its spring (s)".into(),
            period,
            expected,
            // Of the second order in ω δt = 6e-3.
            1e-4 * expected,
            "L̈ = −k Σ(c²/m) L",
        ),
        Finding::equals(
            "fixed-tendon: ratio of the two slides".into(),
            q[1] / q[0],
            share[1] / share[0],
            1e-9,
            "accelerations are c/m times the force",
        ),
    ])
}

/// A drive at its limit, against springs of the slides.
fn pull() -> Outcome<Vec<Finding>> {
    let (stiffness, force) = ([50.0, 80.0], 4.0);
    let tree = slides(tendon(FREE, TendonSpring::default()), stiffness)?;
    let gains = PdGains {
        proportional: 1e4,
        derivative: 10.0,
        effort_limit: force,
    };
    let tree = tree.with_tendon_actuator(TendonIdx(0), gains)?;
    let control = tree.model().control_of_tendon(TendonIdx(0));
    let (mut run, body) = start(tree)?;
    run.control(body).position[control] = 10.0;
    run.steps(5000)?;
    let found = run.body(body).q.clone();
    Ok((0..2)
        .map(|k| {
            Finding::equals(
                format!("fixed-tendon: slide {k} under a drive of 4 N (m)"),
                found[k],
                COEFFICIENTS[k] * force / stiffness[k],
                SOLVER,
                "statics, k q = c F",
            )
        })
        .collect())
}

/// A limit takes away the rate of the length, by an impulse along c/m.
fn stop() -> Outcome<Vec<Finding>> {
    let limits = PositionRange {
        lower: -1.0,
        upper: 1.0,
    };
    let v = [1.0, 1.0];
    let tree =
        slides(tendon(limits, TendonSpring::default()), [0.0; 2])?.starting_at(&[0.0; 2], &v);
    let (mut run, body) = start(tree)?;
    run.steps(600)?;
    let found = run.body(body).v.clone();
    Ok((0..2)
        .map(|k| {
            Finding::equals(
                format!("fixed-tendon: velocity of slide {k} at the limit (m/s)"),
                found[k],
                v[k] - length(&v) / inverse_mass() * COEFFICIENTS[k] / MASSES[k],
                1e-3,
                "an impulse c λ that makes Σ c v zero",
            )
        })
        .collect())
}
