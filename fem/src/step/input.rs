//! Input of a step: checks, held velocities and external forces.

use nalgebra::Vector3;
use pliant_contact_sap::{BodyError, BodyState, StepInput};

use super::FemStep;

impl FemStep {
    pub(super) fn check(&self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        let expected = 3 * self.motion.parts.rest.len();
        for (what, values) in [
            ("q of a finite-element body", &state.q),
            ("v of a finite-element body", &state.v),
        ] {
            if values.len() != expected {
                return Err(BodyError::StateLength {
                    what,
                    found: values.len(),
                    expected,
                });
            }
            if let Some(i) = values.iter().position(|x| !x.is_finite()) {
                return Err(BodyError::NotFinite {
                    location: format!("{what}, {}", component(i)),
                    value: values[i],
                });
            }
        }
        let control = input.control;
        for (what, values) in [
            ("actuator positions", &control.position),
            ("actuator velocities", &control.velocity),
        ] {
            if !values.is_empty() {
                return Err(BodyError::Unsupported { what });
            }
        }
        for (what, found) in [
            (
                "held velocities of a finite-element body",
                control.held.len(),
            ),
            (
                "forces on the vertices of a finite-element body",
                control.effort.len(),
            ),
        ] {
            if found != 0 && found != expected {
                return Err(BodyError::StateLength {
                    what,
                    found,
                    expected,
                });
            }
        }
        let held = control.held.iter().enumerate();
        for (i, velocity) in held.filter_map(|(i, v)| v.map(|v| (i, v))) {
            if !velocity.is_finite() {
                return Err(BodyError::NotFinite {
                    location: format!("the held velocity of {}", component(i)),
                    value: velocity,
                });
            }
        }
        let has_torque = control
            .loads
            .iter()
            .any(|load| load.torque_W != Vector3::zeros());
        if has_torque {
            return Err(BodyError::Unsupported {
                what: "torque on a point; use a pair of forces",
            });
        }
        Ok(())
    }

    /// Sets the held components and their velocities.
    pub(super) fn hold(&mut self, input: &StepInput<'_>) {
        self.held.clone_from(&self.motion.parts.fixed);
        for (held, v) in self.held.iter().zip(&mut self.motion.v) {
            for k in 0..3 {
                if held[k] {
                    v[k] = 0.0;
                }
            }
        }
        for (i, velocity) in input.control.held.iter().enumerate() {
            let (vertex, k) = (i / 3, i % 3);
            if let (Some(velocity), false) = (velocity, self.motion.parts.fixed[vertex][k]) {
                self.held[vertex][k] = true;
                self.motion.v[vertex][k] = *velocity;
            }
        }
    }

    pub(super) fn gather_external(&mut self, input: &StepInput<'_>) -> Result<(), BodyError> {
        let parts = &*self.motion.parts;
        self.external.clear();
        let weights = parts.row_mass.iter().map(|mass| input.gravity * *mass);
        self.external.extend(weights);
        (self.field_forces).add(parts, &self.motion.q, &mut self.external)?;
        let efforts = input.control.effort.chunks_exact(3);
        for (force, effort) in self.external.iter_mut().zip(efforts) {
            *force += Vector3::from_column_slice(effort);
        }
        for load in &input.control.loads {
            for (vertex, weight) in parts.stencil(&load.point)?.terms() {
                self.external[vertex] += load.force_W * weight;
            }
        }
        let mut forces = self.external.iter().flat_map(|force| force.iter());
        match forces.position(|force| !force.is_finite()) {
            None => Ok(()),
            Some(i) => Err(BodyError::NotFinite {
                location: format!("the force on {}", component(i)),
                value: self.external[i / 3][i % 3],
            }),
        }
    }
}

/// Component `i` of a field of vectors on vertices.
fn component(i: usize) -> String {
    format!("vertex {}, axis {}", i / 3, ["x", "y", "z"][i % 3])
}
