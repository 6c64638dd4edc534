//! What Python sets for a body, after the scene's own drives.

use nalgebra::Vector3;
use pliant_contact_sap::{Control, Load, MaterialPoint};
use pliant_coupling::State;

#[derive(Clone, Default)]
pub(super) struct Override {
    pub(super) body: usize,
    pub(super) position: Option<Vec<f64>>,
    pub(super) velocity: Option<Vec<f64>>,
    pub(super) effort: Option<Vec<f64>>,
    pub(super) load: Option<[f64; 6]>,
    pub(super) field: Field,
}

impl Override {
    pub(super) fn apply(&mut self, controls: &mut [Control]) {
        let control = &mut controls[self.body];
        let pairs = [
            (&self.position, &mut control.position),
            (&self.velocity, &mut control.velocity),
            (&self.effort, &mut control.effort),
        ];
        for (value, place) in pairs {
            if let Some(value) = value {
                place.clone_from(value);
            }
        }
        self.field.take_back(&mut control.loads);
        if let Some([fx, fy, fz, tx, ty, tz]) = self.load {
            control.loads.clear();
            control.loads.push(Load {
                point: MaterialPoint::on_frame(0, Vector3::zeros()),
                force_W: Vector3::new(fx, fy, fz),
                torque_W: Vector3::new(tx, ty, tz),
            });
        }
        self.field.add(&mut control.loads);
    }
}

/// Forces of a field on the points of a body during one step, besides its other loads.
#[derive(Clone, Default)]
pub(super) struct Field {
    /// Of the next step.
    pub(super) forces: Vec<Load>,
    /// How many loads there are without those of the last step; `None` before the first.
    others: Option<usize>,
}

impl Field {
    fn take_back(&mut self, loads: &mut Vec<Load>) {
        if let Some(others) = self.others.take() {
            loads.truncate(others);
        }
    }

    fn add(&mut self, loads: &mut Vec<Load>) {
        if !self.forces.is_empty() {
            self.others = Some(loads.len());
            loads.append(&mut self.forces);
        }
    }
}

/// The state without the forces of fields, which are of one step only.
pub(super) fn without_fields(state: &State, overrides: &[Override]) -> State {
    let mut state = state.clone();
    for entry in overrides {
        if let Some(others) = entry.field.others {
            state.controls[entry.body].loads.truncate(others);
        }
    }
    state
}
