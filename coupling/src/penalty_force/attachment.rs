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
    /// The particle; of two edges the first vertex of the first.
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
    /// Between two edges.
    Crossing(EdgeCrossing),
}

/// An attachment between two edges that cross, one of the object and one of the surface that the particles are of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EdgeCrossing {
    /// Vertices of the edge of the particles' surface.
    pub first: [u32; 2],
    /// Vertices of the edge of the object.
    pub second: [u32; 2],
    /// Where it is on each, 0 at the first vertex and 1 at the second.
    pub at: [f64; 2],
    /// The side of the second that the first is kept on: in front is that of the product of their directions.
    pub facing: Facing,
}

impl EdgeCrossing {
    pub(super) fn edges(&self) -> [[u32; 2]; 2] {
        [self.first, self.second]
    }
}

impl Attachment {
    /// What is attached to what: the order of attachments in a state, in which each key occurs once.
    #[must_use]
    pub fn key(&self) -> (GeometryIdx, GeometryIdx, u32, [u32; 3]) {
        let others = match &self.place {
            AttachmentPlace::Crossing(crossing) => {
                [crossing.first[1], crossing.second[0], crossing.second[1]]
            }
            AttachmentPlace::InFrame(_) | AttachmentPlace::OnMesh { .. } => [0; 3],
        };
        (self.object, self.particles, self.particle, others)
    }
}
