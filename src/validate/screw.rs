//! A nut that falls on a screw.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, SpatialInertia};

use super::test_world::{G, Model, Outcome, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "screw",
    about: "a nut turns down a vertical screw by its weight, against its inertia as it turns and sinks",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
const STEPS: usize = 500;
const MASS: f64 = 2.0;
/// About the axis, kg m².
const INERTIA: f64 = 1e-3;

/// With h = lead/2π, (I + m h²) θ̈ = −m g h. The semi-implicit step gives θ̇ exactly.
fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    [0.05, -0.2].into_iter().map(finding).collect()
}

fn finding(lead: f64) -> Outcome<Finding> {
    let about_com = Matrix3::from_diagonal(&Vector3::new(INERTIA, INERTIA, INERTIA));
    let nut = SpatialInertia::new(MASS, Vector3::zeros(), about_com);
    let mut model = ModelBuilder::new("screw");
    model.link(LinkSpec::new("spindle", SpatialInertia::zero()));
    model.link(LinkSpec::new("nut", nut));
    let kind = JointKind::Screw { lead };
    model.joint(JointSpec::new("thread", kind, "spindle", "nut").about(Vector3::z()));
    let mut setup = TestWorld::new(Model::Lagged, material(1e6, 0.5));
    let tree = RigidTree::new(Arc::new(model.build()?));
    let body = setup.builder.add_body("screw", Box::new(tree));
    let mut run = setup.start(TIME_STEP_S)?;
    run.steps(STEPS)?;
    let h = lead / std::f64::consts::TAU;
    let expected = -MASS * G * h / (INERTIA + MASS * h * h) * STEPS as f64 * TIME_STEP_S;
    Ok(Finding::equals(
        format!("screw: speed (rad/s) after 0.5 s, lead {lead} m"),
        run.body(body).v[0],
        expected,
        1e-9 * expected.abs(),
        "power of the weight = growth of the kinetic energy; round-off",
    ))
}
