//! Gradients of the last step, body by body.

use nalgebra::Vector3;
use pliant_contact_sap::MaterialPoint;
use pliant_coupling::{AdjointError, BodyIdx};
use pyo3::prelude::*;

use super::{Held, is_free, mass_points};
use crate::error::{ControlError, StepError};

/// Gradients with respect to targets of position and velocity, efforts, the load of a free rigid body, and forces on the points.
type OfBody = [Vec<f64>; 5];

pub(super) fn of_last_step(
    held: &mut Held,
    slopes: &[(usize, Vec<f64>)],
) -> Result<Vec<OfBody>, AdjointError> {
    let bodies = (0..held.world().n_bodies()).map(BodyIdx);
    let points: Vec<_> = bodies.map(|body| mass_points(held, body)).collect();
    let free: Vec<_> = (0..points.len()).map(|body| is_free(held, body)).collect();
    let slopes = slopes
        .iter()
        .map(|(body, slope)| (BodyIdx(*body), &**slope));
    let adjoint = held.adjoint(&slopes.collect::<Vec<_>>())?;
    let controls = adjoint.controls().into_iter();
    let of_body = |(b, control): (usize, pliant_coupling::ControlGradient)| {
        let body = BodyIdx(b);
        let mut load = Vec::new();
        if free[b] {
            let origin = adjoint.load(body, &MaterialPoint::on_frame(0, Vector3::zeros()))?;
            load.extend(origin.force_W.iter().chain(origin.torque_W.iter()));
        }
        let mut forces = Vec::new();
        for point in points[b].iter().flatten() {
            forces.extend(adjoint.load(body, &point.point)?.force_W.iter());
        }
        Ok([
            control.position,
            control.velocity,
            control.effort,
            load,
            forces,
        ])
    };
    controls.enumerate().map(of_body).collect()
}

pub(super) fn raised(error: &AdjointError) -> PyErr {
    let text = error.to_string();
    match error {
        AdjointError::Length { .. } | AdjointError::RebuiltVelocities { .. } => {
            ControlError::new_err(text)
        }
        _ => StepError::new_err(text),
    }
}
