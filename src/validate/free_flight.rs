//! Bodies in free flight.

use nalgebra::{Isometry3, Matrix3, Quaternion, UnitQuaternion, Vector3};
use pliant_coupling::State;
use pliant_hydroelastic::Shape;
use pliant_multibody::SpatialInertia;

use super::test_world::{G, MODELS, Model, Outcome, Run, TestWorld, free_body, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "free-flight",
    about: "momentum and angular momentum are kept in flight, momentum in collisions",
    kind: CaseKind::Function(run),
    needs: None,
};

const MASS: f64 = 1.7;
/// Three unequal principal moments of inertia, kg m², so that the body tumbles.
const MOMENTS: [f64; 3] = [0.011, 0.02, 0.027];

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let places = [
        ("whose origin is its centre of mass", Vector3::zeros()),
        ("whose origin is 2.3 m off", Vector3::new(1.0, -0.5, 2.0)),
    ];
    let mut findings = Vec::new();
    for (body, com) in places {
        findings.push(linear_momentum(body, com)?);
        findings.push(angular_momentum(body, com)?);
    }
    for model in MODELS {
        findings.push(collision(model)?);
    }
    Ok(findings)
}

/// A tumbling body with the centre of mass at `com` from its origin, after half a second in `n` steps.
fn tumble(com: Vector3<f64>, n: usize) -> Outcome<Run> {
    let mut setup = TestWorld::new(Model::Lagged, material(1e6, 0.5));
    let inertia = SpatialInertia::new(MASS, com, Matrix3::from_diagonal(&MOMENTS.into()));
    let v = [3.0, -2.0, 5.0, 1.0, 0.5, 4.0];
    let body = free_body(inertia, Isometry3::identity(), v)?;
    setup.builder.add_body("body", Box::new(body));
    let mut run = setup.start(0.5 / n as f64)?;
    run.steps(n)?;
    Ok(run)
}

/// |p − p_0 − m g t|/|p_0|.
fn linear_momentum_error(run: &Run) -> Outcome<f64> {
    let momentum = |state: &State| run.world.energy(state).linear_momentum_W;
    let before = momentum(&run.world.default_state());
    let expected = before - Vector3::z() * (MASS * G * run.state.time_s);
    Ok((momentum(&run.state) - expected).norm() / before.norm())
}

fn linear_momentum(body: &str, com: Vector3<f64>) -> Outcome<Finding> {
    Ok(Finding::at_most(
        format!(
            "free-flight: relative change of linear momentum less the impulse of gravity, of a body {body}"
        ),
        linear_momentum_error(&tumble(com, 1000)?)?,
        1e-12,
        "conservation; a thousand steps of a few roundings",
    ))
}

/// About the centre of mass.
fn angular_momentum(body: &str, com: Vector3<f64>) -> Outcome<Finding> {
    let run = tumble(com, 1000)?;
    let spin = |state: &State| {
        let energy = run.world.energy(state);
        let q = &state.bodies[0].q;
        let R_WB = UnitQuaternion::from_quaternion(Quaternion::new(q[3], q[4], q[5], q[6]));
        let p_WC = Vector3::from_column_slice(&q[..3]) + R_WB * com;
        energy.angular_momentum_W - p_WC.cross(&energy.linear_momentum_W)
    };
    let before = spin(&run.world.default_state());
    Ok(Finding::at_most(
        format!("free-flight: relative change of angular momentum of a body {body}"),
        (spin(&run.state) - before).norm() / before.norm(),
        1e-11,
        "conservation; a thousand steps of a few roundings, relative to those of the moment of the weight",
    ))
}

/// Two tumbling boxes that collide without gravity: contact forces are opposite and equal.
///
/// Momentum does not depend on the solver's tolerance: a common translation changes no contact velocity, so along it the Hessian
/// contains the masses alone, and Newton's steps keep the momentum of the initial guess.
fn collision(model: Model) -> Outcome<Finding> {
    let mut setup = TestWorld::new(model, material(1e5, 0.5));
    setup.builder.gravity(Vector3::zeros());
    let lengths = Vector3::new(0.1, 0.15, 0.2);
    let shape = Shape::cuboid(lengths)?;
    for (name, mass, x, v) in [
        ("left", 1.0, -0.2, [1.0, 2.0, -1.0, 1.5, 0.1, 0.0]),
        ("right", 3.0, 0.2, [-2.0, 0.5, 3.0, -0.5, 0.0, 0.1]),
    ] {
        let X_WB = Isometry3::new(Vector3::new(x, 0.0, 0.0), Vector3::new(0.3, x, -0.2));
        let inertia = SpatialInertia::solid_box(mass, lengths);
        setup.free(name, shape.clone(), inertia, X_WB, v)?;
    }
    let mut run = setup.start(1e-3)?;
    let before = run.world.energy(&run.state).linear_momentum_W;
    let of_left = |run: &Run| Vector3::from_column_slice(&run.state.bodies[0].v[3..]);
    let left_before = of_left(&run);
    run.steps(400)?;
    let after = run.world.energy(&run.state).linear_momentum_W;
    assert!(
        (of_left(&run) - left_before).norm() > 0.1,
        "the boxes collide"
    );
    // Relative to the momenta of the single boxes, as their sum is close to zero.
    let momentum = 1.0 * 1.5 + 3.0 * 0.5;
    let model = model.name();
    Ok(Finding::at_most(
        format!("free-flight: relative change of linear momentum in a collision, {model}"),
        (after - before).norm() / momentum,
        1e-12,
        "action and reaction; four hundred steps of a few roundings",
    ))
}
