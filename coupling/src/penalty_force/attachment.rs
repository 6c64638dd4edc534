//! Attachments as the state keeps them.

use nalgebra::Point3;
use pliant_hydroelastic::{Facing, MeshPlace};
use serde::{Deserialize, Serialize};

use crate::world::GeometryIdx;

/// The attachment of a particle to an object, X, kept from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// Whose surface it is on.
    pub object: GeometryIdx,
    /// The geometry whose particle it holds.
    pub particles: GeometryIdx,
    /// The particle.
    pub particle: u32,
    /// Where it is.
    pub place: AttachmentPlace,
}

/// Where an attachment is on its object.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum AttachmentPlace {
    /// At a point of the geometry's frame, m.
    InFrame(Point3<f64>),
    /// On a triangle of the surface.
    OnMesh {
        /// The triangle, among those of the geometry, and the weights of its vertices.
        place: MeshPlace,
        /// The side on which the particle is kept.
        facing: Facing,
    },
}

impl Attachment {
    /// Order of attachments in a state.
    pub(super) fn key(&self) -> (GeometryIdx, GeometryIdx, u32) {
        (self.object, self.particles, self.particle)
    }
}
