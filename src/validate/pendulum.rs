//! Energy of swinging pendulums.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_coupling::State;
use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, SpatialInertia};

use super::test_world::{G, Model, Outcome, Run, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "pendulum",
    about: "the energy of a swinging pendulum converges at first order, with the error of the modified equation",
    kind: CaseKind::Function(run),
    needs: None,
};

const ARM: f64 = 0.8;
const MASS: f64 = 1.3;
const RADIUS: f64 = 0.1;
/// Between the top and the bottom of the swing, where the leading term of the error is large.
const DURATION_S: f64 = 0.3;
const START: f64 = 1.2;

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for links in [1, 2] {
        let what = format!("pendulum: energy of {links} in a chain");
        findings.extend(orders(&what, |n| Ok(energy_error(&swing(links, n)?)))?);
    }
    findings.push(modified_energy()?);
    Ok(findings)
}

/// A chain of `links` balls on massless arms, after the duration in `n` steps.
fn swing(links: usize, n: usize) -> Outcome<Run> {
    let mut ball = SpatialInertia::solid_sphere(MASS, RADIUS);
    ball.com = Vector3::new(0.0, 0.0, -ARM);
    let mut builder = ModelBuilder::new("pendulum");
    builder.link(LinkSpec::new("ceiling", SpatialInertia::zero()));
    let mut parent = "ceiling".to_string();
    for k in 0..links {
        let name = format!("arm {k}");
        builder.link(LinkSpec::new(&name, ball));
        let below = if k == 0 { 0.0 } else { -ARM };
        builder.joint(
            JointSpec::new(format!("hinge {k}"), JointKind::Continuous, &parent, &name)
                .at(Isometry3::translation(0.0, 0.0, below))
                .about(Vector3::y()),
        );
        parent = name;
    }
    let q: Vec<f64> = [START, 0.3][..links].to_vec();
    let tree = RigidTree::new(Arc::new(builder.build()?)).starting_at(&q, &vec![0.0; links]);
    let mut setup = TestWorld::new(Model::Lagged, material(1e6, 0.5));
    setup.builder.add_body("pendulum", Box::new(tree));
    let mut run = setup.start(DURATION_S / n as f64)?;
    run.steps(n)?;
    Ok(run)
}

/// (E(T) − E(0))/(m g l).
fn energy_error(run: &Run) -> f64 {
    let total = |state: &State| {
        let energy = run.world.energy(state);
        energy.kinetic + energy.potential
    };
    (total(&run.state) - total(&run.world.default_state())) / (MASS * G * ARM)
}

/// The scheme, v⁺ = v − δt V'(q)/I and q⁺ = q + δt v⁺, keeps H − (δt/2) H_p H_q up to O(δt²). From rest, E(T) − E(0) is
/// (δt/2) θ̇ V' at T with V' = m g l sin θ.
fn modified_energy() -> Outcome<Finding> {
    let n = 2000;
    let run = swing(1, n)?;
    let body = &run.state.bodies[0];
    let (theta, rate) = (body.q[0], body.v[0]);
    let expected = 0.5 * run.time_step_s * rate * theta.sin();
    // The next term is smaller by δt times the rates in the motion: ω₀ = √(g/l), and the pendulum's own.
    let next = run.time_step_s * ((G / ARM).sqrt() + rate.abs());
    Ok(Finding::equals(
        "pendulum: energy error over mgl".into(),
        energy_error(&run),
        expected,
        next * expected.abs(),
        "modified energy of symplectic Euler (Hairer, Lubich, Wanner, ch. IX); next term O(δt) smaller",
    ))
}

/// Order of convergence of an error in the time step, from runs of 500, 1000 and 2000 steps.
fn orders(what: &str, error: impl Fn(usize) -> Outcome<f64>) -> Outcome<[Finding; 2]> {
    let errors = [error(500)?, error(1000)?, error(2000)?];
    let finding = |k: usize, steps: &str| {
        Finding::equals(
            format!("{what}, observed order of its error, {steps}"),
            (errors[k] / errors[k + 1]).abs().log2(),
            1.0,
            0.04 / 2_f64.powi(k as i32),
            "first-order scheme; the error's next term is smaller by O(δt), at most 4 % here and half that there",
        )
    };
    Ok([
        finding(0, "500 to 1000 steps"),
        finding(1, "1000 to 2000 steps"),
    ])
}
