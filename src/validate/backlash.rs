//! A wheel with backlash behind its pinion.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_multibody::{
    CouplerLaw, JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, SpatialInertia,
};

use super::test_world::{Model, Outcome, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "backlash",
    about: "a wheel with friction lags its pinion by half of the play, and turns back after all of it",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
/// Width of the play at the wheel, rad.
const PLAY: f64 = 0.02;
/// Wheel by pinion.
const RATIO: f64 = -0.5;
/// Of the pinion, rad/s.
const SPEED: f64 = 0.4;
const STEPS: usize = 1000;

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut model = ModelBuilder::new("gears");
    model.link(LinkSpec::new("box", SpatialInertia::zero()));
    for name in ["pinion", "wheel"] {
        model.link(LinkSpec::new(
            name,
            SpatialInertia::solid_cylinder(0.1, 0.05, 0.02),
        ));
        let mut joint =
            JointSpec::new(name, JointKind::Continuous, "box", name).about(Vector3::z());
        if name == "wheel" {
            joint.passive.dry_friction = 0.05;
        }
        model.joint(joint);
    }
    model.coupler("wheel", "pinion", CouplerLaw::linear(RATIO, 0.0));
    let mut model = model.build()?;
    let wheel = model.joint_named("wheel")?;
    model.set_backlash(wheel, PLAY)?;
    let mut setup = TestWorld::new(Model::Lagged, material(1e6, 0.5));
    let tree = RigidTree::new(Arc::new(model));
    let body = setup.builder.add_body("gears", Box::new(tree));
    let mut run = setup.start(TIME_STEP_S)?;
    let mut findings = Vec::new();
    let mut turned = [0.0; 2];
    for (k, speed) in [SPEED, -SPEED].into_iter().enumerate() {
        run.control(body).held[0] = Some(speed);
        run.steps(STEPS)?;
        let q = &run.body(body).q;
        turned[k] = q[1];
        findings.push(Finding::equals(
            format!("backlash: offset of the wheel (rad), pinion at {speed} rad/s"),
            q[1] - RATIO * q[0],
            -0.5 * PLAY * (RATIO * speed).signum(),
            1e-6,
            "the flanks touch; the near-rigid stop yields by less",
        ));
    }
    let way = RATIO * SPEED * STEPS as f64 * TIME_STEP_S;
    findings.push(Finding::equals(
        "backlash: way of the wheel back (rad)".to_owned(),
        (turned[1] - turned[0]).abs(),
        way.abs() - PLAY,
        2e-6,
        "the way of the pinion less the play",
    ));
    Ok(findings)
}
