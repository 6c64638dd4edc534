//! Constraints on points whose motion is given.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{
    BodyStep, Interpolation, MaterialPoint, Primitive, Rows, StepInput, Surface,
};

use super::{BodyIdx, WorldParts};
use crate::constraint::Anchor;
use crate::error::WorldError;

impl WorldParts {
    /// Refuses constraints on points that a body fixes, and on points and frames whose motion its control prescribes, such as a clamped
    /// end of a rod. Points that do not exist are refused in the step.
    pub(super) fn check_tied_points(&self) -> Result<(), WorldError> {
        for (b, body) in self.bodies.iter().enumerate() {
            let on_it = |anchor: &Anchor| anchor.body() == Some(BodyIdx(b));
            if !self
                .constraints
                .iter()
                .any(|constraint| on_it(&constraint.a) || on_it(&constraint.b))
            {
                continue;
            }
            let mut step = body.model.new_step();
            let control = body.model.default_control();
            let input = StepInput {
                time_step: 1e-3.into(),
                gravity: self.gravity,
                control: &control,
            };
            let state = body.model.default_state();
            if step.begin(&state, &input).is_err() {
                continue;
            }
            let mut surface = Surface::default();
            body.model.surface(&state, &mut surface);
            let holds = control.held.iter().any(Option::is_some);
            for constraint in &self.constraints {
                for anchor in [&constraint.a, &constraint.b]
                    .into_iter()
                    .filter(|a| on_it(a))
                {
                    let place = match anchor {
                        Anchor::Point { point, .. } => {
                            is_fixed(&*step, point).then(|| named(point))
                        }
                        // Frames that cannot move, on bodies without prescribed motion, represent the world.
                        Anchor::Frame { frame, X_FA, .. } if holds => {
                            held_frame(&*step, &surface, *frame, X_FA)
                        }
                        Anchor::Frame { .. } | Anchor::World(_) => None,
                    };
                    if let Some(point) = place {
                        return Err(WorldError::ConstraintOfFixedPoint {
                            name: constraint.name.clone(),
                            body: body.name.clone(),
                            point,
                        });
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether no velocity of the solve moves a point.
fn is_fixed(step: &dyn BodyStep, point: &MaterialPoint) -> bool {
    let (mut interpolation, mut rows) = (Interpolation::Twist, Rows::default());
    let Ok(basis) = step.interpolation(point, &mut interpolation) else {
        return false;
    };
    step.basis(basis, &Point3::origin(), &mut rows);
    rows.is_prescribed()
}

/// The name of an anchor on a frame whose place is held, with the vertex that is next to it.
fn held_frame(
    step: &dyn BodyStep,
    surface: &Surface,
    frame: u32,
    X_FA: &Isometry3<f64>,
) -> Option<String> {
    let X_WF = surface.frames.get(frame as usize)?;
    let p_WA = X_WF * Point3::from(X_FA.translation.vector);
    let (mut interpolation, mut rows) = (Interpolation::Twist, Rows::default());
    let point = MaterialPoint::on_frame(frame, Vector3::zeros());
    let basis = step.interpolation(&point, &mut interpolation).ok()?;
    step.basis(basis, &p_WA, &mut rows);
    // The velocity of the anchor itself, last three of the twist, for each velocity of the solve alone.
    let n = step.start_velocity().len();
    let (mut alone, mut twist) = (vec![0.0; n], [0.0; 6]);
    for i in 0..n {
        alone[i] = 1.0;
        rows.apply_without_bias(&alone, &mut twist);
        alone[i] = 0.0;
        if twist[3..].iter().any(|v| v.abs() > 1e-9) {
            return None;
        }
    }
    let distance = |p: &Point3<f64>| (p - p_WA).norm();
    let vertices = surface.vertices.iter().enumerate();
    let nearest = vertices.min_by(|(_, p), (_, q)| distance(p).total_cmp(&distance(q)));
    Some(match nearest {
        Some((vertex, _)) => format!("frame {frame}, at vertex {vertex},"),
        None => format!("frame {frame}"),
    })
}

fn named(point: &MaterialPoint) -> String {
    match point.primitive {
        Primitive::Frame(i) => format!("frame {i}"),
        Primitive::Vertex(i) => format!("vertex {i}"),
        Primitive::Edge(i) => format!("a point of edge {i}"),
        Primitive::Triangle(i) => format!("a point of triangle {i}"),
        Primitive::Tetrahedron(i) => format!("a point of tetrahedron {i}"),
    }
}
