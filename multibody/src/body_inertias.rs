//! Inertias of all bodies turned into world axes, shared by the three dynamics algorithms.

use crate::kinematics::PositionKinematics;
use crate::model::Model;
use crate::spatial::OriginInertia;

/// Each body's inertia about its origin, in world axes, at one position. Filled by [`update`](Self::update).
#[derive(Clone, Debug)]
pub struct BodyInertias {
    pub(crate) bodies: Vec<OriginInertia>,
}

impl BodyInertias {
    /// Room for `model`; call [`update`](Self::update) before reading.
    pub fn new(model: &Model) -> Self {
        Self {
            bodies: vec![OriginInertia::default(); model.n_bodies()],
        }
    }

    /// Turns every body's inertia into world axes.
    pub fn update(&mut self, model: &Model, positions: &PositionKinematics) {
        for (i, body) in model.bodies.iter().enumerate().skip(1) {
            self.bodies[i] = body.inertia_B.rotated(&positions.bodies[i].rotation);
        }
    }
}
