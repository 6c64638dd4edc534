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
    /// What it did in the last step.
    pub motion: AttachmentMotion,
}

/// What an attachment did in a step, which determines its coefficient of friction in the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttachmentMotion {
    /// It stayed, or is new: μ_s.
    #[default]
    Stuck,
    /// It slid: μ.
    Slid,
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
