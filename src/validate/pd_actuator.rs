//! A cart on a rail, driven by a PD actuator.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::PdGains;
use pliant_coupling::BodyIdx;
use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, SpatialInertia};

use super::test_world::{Model, Outcome, Run, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "pd-actuator",
    about: "a PD actuator follows backward Euler below its effort limit and applies exactly the limit above",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-2;
const MASS: f64 = 2.5;
const KP: f64 = 400.0;
const KD: f64 = 9.0;
const EFFORT: f64 = 7.3;
const TARGET: f64 = 0.01;

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let [effort, speed] = saturated()?;
    Ok(vec![effort, speed, oscillating()?])
}

fn cart(effort_limit: f64) -> Outcome<(Run, BodyIdx)> {
    let mut builder = ModelBuilder::new("cart");
    builder.link(LinkSpec::new("rail", SpatialInertia::zero()));
    let inertia = SpatialInertia::solid_box(MASS, Vector3::repeat(0.1));
    builder.link(LinkSpec::new("cart", inertia));
    builder.joint(JointSpec::new(
        "slide",
        JointKind::Prismatic,
        "rail",
        "cart",
    ));
    let model = builder.build()?;
    let joint = model.joint_named("slide")?;
    let gains = PdGains {
        proportional: KP,
        derivative: KD,
        effort_limit,
    };
    let tree = RigidTree::new(Arc::new(model)).with_actuator(joint, gains)?;
    let mut setup = TestWorld::new(Model::Lagged, material(1e6, 0.5));
    let body = setup.builder.add_body("cart", Box::new(tree));
    Ok((setup.start(TIME_STEP_S)?, body))
}

/// With a target ten metres away the force is e in every step, and after n steps v = n δt e/m.
fn saturated() -> Outcome<[Finding; 2]> {
    let (mut run, body) = cart(EFFORT)?;
    run.control(body).position = vec![10.0];
    let n = 50;
    let mut effort: f64 = EFFORT;
    for _ in 0..n {
        for row in run.step()?.rows {
            if (row.force - EFFORT).abs() > (effort - EFFORT).abs() {
                effort = row.force;
            }
        }
    }
    let speed = f64::from(n) * TIME_STEP_S * EFFORT / MASS;
    Ok([
        Finding::equals(
            "pd-actuator: effort at saturation (N), worst step".into(),
            effort,
            EFFORT,
            2.0 * f64::EPSILON * EFFORT,
            "the limit itself; two roundings, as an impulse is made from a force and back",
        ),
        Finding::equals(
            "pd-actuator: speed at constant effort (m/s)".into(),
            run.body(body).v[0],
            speed,
            4.0 * f64::from(n) * f64::EPSILON * speed,
            "n δt e/m; four roundings a step",
        ),
    ])
}

/// Position after n steps of backward Euler of m q̈ = −Kp(q − q_d) − Kd q̇, from rest at q = 0.
///
/// With x = q − q_d and D = m + δtKd + δt²Kp,
///
/// ```text
/// D v⁺ = m v − δtKp x,   x⁺ = x + δt v⁺     ⇒     D x⁺ − (2m + δtKd) x + m x⁻ = 0
/// ```
///
/// whose roots ρ e^{±iφ} have ρ² = m/D and 2ρ cos φ = (2m + δtKd)/D. So x_n = ρⁿ(x_0 cos nφ + c sin nφ), with c from
/// x_1 = x_0(1 − δt²Kp/D).
fn oscillation(n: i32) -> f64 {
    let dt = TIME_STEP_S;
    let d = MASS + dt * KD + dt * dt * KP;
    let rho = (MASS / d).sqrt();
    let phi = ((2.0 * MASS + dt * KD) / (2.0 * d * rho)).acos();
    let x_0 = -TARGET;
    let x_1 = x_0 * (1.0 - dt * dt * KP / d);
    let c = (x_1 / rho - x_0 * phi.cos()) / phi.sin();
    let angle = f64::from(n) * phi;
    TARGET + rho.powi(n) * (x_0 * angle.cos() + c * angle.sin())
}

fn oscillating() -> Outcome<Finding> {
    let (mut run, body) = cart(f64::INFINITY)?;
    run.control(body).position = vec![TARGET];
    let n = 40;
    run.steps(n as usize)?;
    Ok(Finding::equals(
        format!("pd-actuator: position (m) after {n} steps without limit"),
        run.body(body).q[0],
        oscillation(n),
        f64::from(20 * n) * f64::EPSILON * TARGET,
        "backward Euler of a damped oscillator; twenty roundings a step",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_the_recursion() {
        let (mut q, mut v) = (0.0, 0.0);
        let dt = TIME_STEP_S;
        for n in 1..=60 {
            v = (MASS * v - dt * KP * (q - TARGET)) / (MASS + dt * KD + dt * dt * KP);
            q += dt * v;
            assert!((oscillation(n) - q).abs() < 1e-13 * TARGET * f64::from(n));
        }
    }
}
