//! Are the frames at the end of a step where `advance` takes them, and are their derivatives those of differences?

use nalgebra::{Isometry3, Vector3, Vector6};

use super::accepts;
use crate::body::{
    BodyState, BodyStep, DeformableModel, EndFrames, MaterialPoint, StepInput, Surface,
};
use crate::conformance::probe::{Probe, distance, norm};
use crate::conformance::{Violation, promise};
use crate::error::BodyError;
use crate::rows::{Interpolation, Rows};
use crate::time_step::TimeStep;

/// Step of the central differences.
const H: f64 = 1e-5;

/// Everything of [`EndFrames`], in a step of backward Euler.
pub(super) fn check_end_frames(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
    probe: &mut Probe,
) -> Result<(), Violation> {
    let input = StepInput {
        time_step: TimeStep::from(input.time_step.length_s),
        ..*input
    };
    let mut step = model.new_step();
    accepts(step.as_mut(), state, &input)?;
    let v: Vec<f64> = step
        .start_velocity()
        .iter()
        .map(|v| v + 0.5 * probe.number())
        .collect();
    let mut next = BodyState::default();
    let _ = step
        .advance(&v, &mut next)
        .map_err(|e| fails("advance", &e))?;
    let mut surface = Surface::default();
    model.surface(&next, &mut surface);
    let Some(end) = step.as_end_frames() else {
        return Ok(());
    };
    for (frame, expected) in (0_u32..).zip(&surface.frames) {
        end.move_to(&v).map_err(|e| fails("move_to", &e))?;
        let off = apart(&end.pose(frame), expected).norm();
        promise(off < 1e-12, || {
            format!("frame {frame} at the end is off by {off:e} from where advance takes it")
        })?;
        check_displacement(end, frame, &v)?;
        check_impulse_derivative(end, frame, &v, probe)?;
    }
    check_jacobians(model, step.as_mut(), &next, &input, &v)
}

/// Rotation vector and displacement from one pose to another.
fn apart(to: &Isometry3<f64>, from: &Isometry3<f64>) -> Vector6<f64> {
    let turn = (to.rotation * from.rotation.inverse()).scaled_axis();
    let shift = to.translation.vector - from.translation.vector;
    Vector6::new(turn.x, turn.y, turn.z, shift.x, shift.y, shift.z)
}

fn check_displacement(end: &mut dyn EndFrames, frame: u32, v: &[f64]) -> Result<(), Violation> {
    let mut by_v = Vec::new();
    end.displacement(frame, &mut by_v);
    promise(by_v.len() == 6 * v.len(), || {
        format!("the displacement of frame {frame} is not 6 by n")
    })?;
    for (k, column) in by_v.chunks_exact(6).enumerate() {
        let mut at = |h: f64| -> Result<Isometry3<f64>, Violation> {
            let mut moved = v.to_vec();
            moved[k] += h;
            end.move_to(&moved).map_err(|e| fails("move_to", &e))?;
            Ok(end.pose(frame))
        };
        let difference = apart(&at(H)?, &at(-H)?) / (2.0 * H);
        let off = distance(difference.as_slice(), column);
        promise(off <= 1e-8 * (1.0 + norm(column)), || {
            format!(
                "column {k} of the displacement of frame {frame} is off by {off:e} from differences of the pose"
            )
        })?;
    }
    end.move_to(v).map_err(|e| fails("move_to", &e))
}

/// Jᵀw of an impulse about the point `p`, which does not move with the frame.
fn generalised(end: &dyn EndFrames, frame: u32, w: &Vector6<f64>, p: &Vector3<f64>) -> Vec<f64> {
    let mut jacobian = Vec::new();
    end.jacobian(frame, &mut jacobian);
    let force = w.fixed_rows::<3>(3);
    let shifted = w.fixed_rows::<3>(0) + (p - end.pose(frame).translation.vector).cross(&force);
    let at_origin: Vec<f64> = shifted.iter().chain(force.iter()).copied().collect();
    let columns = jacobian.chunks_exact(6);
    columns
        .map(|column| column.iter().zip(&at_origin).map(|(j, w)| j * w).sum())
        .collect()
}

fn check_impulse_derivative(
    end: &mut dyn EndFrames,
    frame: u32,
    v: &[f64],
    probe: &mut Probe,
) -> Result<(), Violation> {
    let n = v.len();
    let w = Vector6::from_fn(|_, _| probe.number());
    let p = end.pose(frame).translation.vector;
    let mut derivative = vec![0.0; n * n];
    end.add_impulse_derivative(frame, &w, &mut derivative);
    for (k, column) in derivative.chunks_exact(n.max(1)).enumerate() {
        let mut at = |h: f64| -> Result<Vec<f64>, Violation> {
            let mut moved = v.to_vec();
            moved[k] += h;
            end.move_to(&moved).map_err(|e| fails("move_to", &e))?;
            Ok(generalised(end, frame, &w, &p))
        };
        let (up, down) = (at(H)?, at(-H)?);
        let difference: Vec<f64> = up
            .iter()
            .zip(&down)
            .map(|(u, d)| (u - d) / (2.0 * H))
            .collect();
        let off = distance(&difference, column);
        promise(off <= 1e-8 * (1.0 + norm(column)), || {
            format!(
                "column {k} of the derivative of an impulse on frame {frame} is off by {off:e} from differences"
            )
        })?;
    }
    end.move_to(v).map_err(|e| fails("move_to", &e))
}

/// The Jacobians at the end are the bases of a step that starts there.
fn check_jacobians(
    model: &dyn DeformableModel,
    step: &mut dyn BodyStep,
    next: &BodyState,
    input: &StepInput<'_>,
    v: &[f64],
) -> Result<(), Violation> {
    let mut later = model.new_step();
    accepts(later.as_mut(), next, input)?;
    let Some(end) = step.as_end_frames() else {
        return Ok(());
    };
    let mut surface = Surface::default();
    model.surface(next, &mut surface);
    let (mut jacobian, mut rows, mut interpolation) =
        (Vec::new(), Rows::default(), Interpolation::Twist);
    for (frame, pose) in (0_u32..).zip(&surface.frames) {
        end.jacobian(frame, &mut jacobian);
        let point = MaterialPoint::on_frame(frame, Vector3::zeros());
        let basis = later.interpolation(&point, &mut interpolation);
        let basis = basis.map_err(|e| fails("interpolation", &e))?;
        later.basis(basis, &pose.translation.vector.into(), &mut rows);
        let mut twist = [0.0; 6];
        for (k, column) in jacobian.chunks_exact(6).enumerate() {
            let mut e = vec![0.0; v.len()];
            e[k] = 1.0;
            rows.apply_without_bias(&e, &mut twist);
            let off = distance(&twist, column);
            promise(off <= 1e-11 * (1.0 + norm(column)), || {
                format!(
                    "column {k} of the Jacobian of frame {frame} is off by {off:e} from the basis of a step from there"
                )
            })?;
        }
    }
    Ok(())
}

fn fails(what: &str, error: &BodyError) -> Violation {
    Violation(format!("{what} fails: {error}"))
}
