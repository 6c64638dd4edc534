//! A spinning ball falls freely until it touches the floor, in every contact model.

use nalgebra::{Isometry3, Vector3};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::SpatialInertia;

use super::test_world::{G, MODELS, Model, Outcome, TestWorld};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "first-touch",
    about: "no contact model acts on a spinning, moving ball before it touches the floor",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 2e-3;
const RADIUS: f64 = 0.05;
const HEIGHT: f64 = 0.5;

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    MODELS
        .into_iter()
        .map(|model| {
            Ok(Finding::at_most(
                format!(
                    "first-touch: change of motion before touching (m/s), {}",
                    model.name()
                ),
                largest_change(model)?,
                1e-12,
                "free fall, v = −g t; round-off",
            ))
        })
        .collect()
}

/// The largest deviation from free fall before the step that closes the gap.
fn largest_change(model: Model) -> Outcome<f64> {
    // With the default relaxation time of 0.1 s for each surface.
    let mut setup = TestWorld::new(model, ContactMaterial::default());
    setup.floor(Isometry3::identity());
    let v = [0.0, 30.0, 0.0, 3.0, 0.0, 0.0];
    let body = setup.free(
        "ball",
        Shape::sphere(RADIUS)?,
        SpatialInertia::solid_sphere(1.0, RADIUS),
        Isometry3::translation(0.0, 0.0, HEIGHT + RADIUS),
        v,
    )?;
    let mut run = setup.start(TIME_STEP_S)?;
    let mut largest = 0.0_f64;
    for step in 1.. {
        let speed = G * TIME_STEP_S * f64::from(step);
        if run.position(body).z - speed * TIME_STEP_S <= RADIUS {
            break;
        }
        run.steps(1)?;
        let change = run.velocity(body) - Vector3::new(v[3], 0.0, -speed);
        let turn = run.angular_velocity(body) - Vector3::new(0.0, v[1], 0.0);
        largest = largest.max(change.norm()).max(RADIUS * turn.norm());
    }
    Ok(largest)
}
