//! The period of a parallelogram of four bars, closed by a constraint.

use std::f64::consts::TAU;
use std::sync::Arc;

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_coupling::{Anchor, Constraint, ConstraintCompliance, ConstraintKind};
use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, SpatialInertia};

use super::test_world::{G, Model, Outcome, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "four-bar",
    about: "a parallelogram of four bars, its loop closed once or twice by a ball constraint, swings like a pendulum",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
const STEPS: usize = 6000;
const AMPLITUDE: f64 = 0.1;
/// Of each of the two rods that hang, and of the bar that they carry.
const MASSES: [f64; 2] = [1.0, 2.0];

/// With rods of length 1 m, Σ m r² = 2 m/3 + M and Σ m g r = (m + M) g; a²/16 is the first term of the elliptic integral.
fn expected_period() -> f64 {
    let [rod, bar] = MASSES;
    let squared = (rod + bar) * G / (2.0 * rod / 3.0 + bar);
    TAU / squared.sqrt() * (1.0 + AMPLITUDE * AMPLITUDE / 16.0)
}

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let expected = expected_period();
    (1..=2)
        .map(|copies| {
            Ok(Finding::equals(
                format!("four-bar: period (s), closed {copies} times"),
                period(copies)?,
                expected,
                // The next term of the integral is 11 a⁴/3072, the error of the step (ω δt)²/24.
                1e-6 * expected,
                "conservation of energy, period of a pendulum",
            ))
        })
        .collect()
}

/// Mean time between upward crossings.
fn period(copies: usize) -> Outcome<f64> {
    let [rod, bar] = MASSES;
    let hanging = uniform_rod(rod, -Vector3::z());
    let lying = uniform_rod(bar, 2.0 * Vector3::x());
    let mut model = ModelBuilder::new("four-bar");
    model.link(LinkSpec::new("ceiling", SpatialInertia::zero()));
    for (name, inertia) in [("left", hanging), ("bar", lying), ("right", hanging)] {
        model.link(LinkSpec::new(name, inertia));
    }
    for (name, parent, child, p) in [
        ("a", "ceiling", "left", Vector3::zeros()),
        ("b", "left", "bar", -Vector3::z()),
        ("c", "ceiling", "right", 2.0 * Vector3::x()),
    ] {
        let hinge = JointSpec::new(name, JointKind::Continuous, parent, child);
        model.joint(hinge.at(Isometry3::from(p)).about(Vector3::y()));
    }
    let q = [AMPLITUDE, -AMPLITUDE, AMPLITUDE];
    let tree = RigidTree::new(Arc::new(model.build()?)).starting_at(&q, &[0.0; 3]);
    let mut setup = TestWorld::new(Model::Lagged, material(1e6, 0.5));
    let body = setup.builder.add_body("four-bar", Box::new(tree));
    let anchor = |frame, p: Vector3<f64>| Anchor::Frame {
        body,
        frame,
        X_FA: Isometry3::from(p),
    };
    for copy in 0..copies {
        setup.builder.add_constraint(Constraint {
            name: format!("pin {copy}"),
            kind: ConstraintKind::Ball,
            a: anchor(2, 2.0 * Vector3::x()),
            b: anchor(3, -Vector3::z()),
            compliance: ConstraintCompliance::NearRigid,
        });
    }
    let mut run = setup.start(TIME_STEP_S)?;
    let (mut last, mut crossings) = (AMPLITUDE, Vec::new());
    for step in 0..STEPS {
        run.steps(1)?;
        let angle = run.body(body).q[0];
        if last < 0.0 && angle >= 0.0 {
            crossings.push(step as f64 + last / (last - angle));
        }
        last = angle;
    }
    let periods = crossings.len() - 1;
    Ok((crossings[periods] - crossings[0]) / periods as f64 * TIME_STEP_S)
}

/// From the origin of its link to `end`.
fn uniform_rod(mass: f64, end: Vector3<f64>) -> SpatialInertia {
    let across = Matrix3::identity() * end.norm_squared() - end * end.transpose();
    let thin = Matrix3::identity() * 1e-9;
    SpatialInertia::new(mass, end / 2.0, across * (mass / 12.0) + thin)
}
