//! Torsional and rolling friction of contact points.

use nalgebra::{Isometry3, Vector3};
use pliant_coupling::RigidSurface;
use pliant_hydroelastic::Shape;
use pliant_multibody::SpatialInertia;

use super::test_world::{G, MODELS, Model, Outcome, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "turning-friction",
    about: "a rolling ball stops after 7 v² R/(10 l g), a spinning ball slows by 5 l g/(2 R²)",
    kind: CaseKind::Function(run),
    needs: None,
};

const MASS: f64 = 0.4;
const RADIUS: f64 = 0.05;
const STIFFNESS: f64 = 5e5;
const TIME_STEP_S: f64 = 1e-3;
const LENGTH: f64 = 1e-3;

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for model in MODELS {
        findings.push(rolling(model)?);
        findings.push(spinning(model)?);
    }
    Ok(findings)
}

fn rolling(model: Model) -> Outcome<Finding> {
    let speed = 0.5;
    let surface = RigidSurface {
        rolling_friction: LENGTH,
        ..RigidSurface::default()
    };
    let start = [0.0, speed / RADIUS, 0.0, speed, 0.0, 0.0];
    let (position, _) = after(4.0, model, surface, start)?;
    let expected = 0.7 * speed * speed * RADIUS / (LENGTH * G);
    Ok(Finding::equals(
        format!(
            "turning-friction: distance of a rolling ball (m), {}",
            model.name()
        ),
        position.x,
        expected,
        0.01 * expected,
        "momentum about the contact, (7/5) m R a = l m g",
    ))
}

fn spinning(model: Model) -> Outcome<Finding> {
    let (spin, time) = (40.0, 2.0);
    let surface = RigidSurface {
        torsional_friction: LENGTH,
        ..RigidSurface::default()
    };
    let (_, found) = after(time, model, surface, [0.0, 0.0, spin, 0.0, 0.0, 0.0])?;
    let loss = 2.5 * LENGTH * G / (RADIUS * RADIUS) * time;
    Ok(Finding::equals(
        format!("turning-friction: spin of a ball (rad/s), {}", model.name()),
        found,
        spin - loss,
        0.01 * loss,
        "(2/5) m R² dω/dt = −l m g",
    ))
}

/// Position and spin about the vertical of a ball on the floor.
fn after(
    time: f64,
    model: Model,
    surface: RigidSurface,
    start: [f64; 6],
) -> Outcome<(Vector3<f64>, f64)> {
    let mut setup = TestWorld::new(model, material(STIFFNESS, 0.5));
    setup.rigid_surface = surface;
    setup.floor(Isometry3::identity());
    let depth = MASS * G / STIFFNESS;
    let body = setup.free(
        "ball",
        Shape::sphere(RADIUS)?,
        SpatialInertia::solid_sphere(MASS, RADIUS),
        Isometry3::translation(0.0, 0.0, RADIUS - depth),
        start,
    )?;
    let mut run = setup.start(TIME_STEP_S)?;
    run.steps((time / TIME_STEP_S).round() as usize)?;
    Ok((run.position(body), run.angular_velocity(body).z))
}
