//! Inertias of all bodies in world axes, shared by the dynamics algorithms.

use crate::kinematics::PositionKinematics;
use crate::model::Model;
use crate::spatial::OriginInertia;

/// Inertias of all bodies about their origins, in world axes, at q.
#[derive(Clone, Debug)]
pub struct BodyInertias {
    pub(crate) bodies: Vec<OriginInertia>,
}

impl BodyInertias {
    /// A workspace for `model`; call [`update`](Self::update) before reading it.
    pub fn new(model: &Model) -> Self {
        Self {
            bodies: vec![OriginInertia::default(); model.n_bodies()],
        }
    }

    /// Rotates all inertias to world axes.
    pub fn update(&mut self, model: &Model, positions: &PositionKinematics) {
        for (i, body) in model.bodies.iter().enumerate().skip(1) {
            self.bodies[i] = body.inertia_B.rotated(&positions.bodies[i].rotation);
        }
    }
}
