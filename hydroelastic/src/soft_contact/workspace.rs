//! Reused storage of soft contact.

use super::patch_points::Piece;
use super::polygon_recorder::PolygonRecorder;
use super::surface_points::SurfacePoints;
use super::vertex_distances::VertexDistances;
use crate::contact_point::ContactPoint;
use crate::patch::SoftOverlap;

/// Buffers of all kinds of pairs; keeps no results.
#[derive(Default)]
pub(super) struct Workspace {
    pub(super) stack: Vec<(u32, u32)>,
    pub(super) pairs: Vec<(u32, u32)>,
    pub(super) pieces: Vec<Piece>,
    pub(super) distances: VertexDistances,
    pub(super) in_contact: Vec<bool>,
    pub(super) surface: SurfacePoints,
    pub(super) overlap: SoftOverlap,
    pub(super) recorder: PolygonRecorder,
    /// Segments of a filament that have a patch.
    pub(super) with_patch: Vec<u32>,
    pub(super) points: Vec<ContactPoint>,
}
