//! Triangles of a soft body cut by the pressure field of a filament.
//!
//! Points replace patches on segments that travel further in a step than their field is deep, and on segments whose
//! centreline is inside the body.

use nalgebra::{Isometry3, Point3};

use super::patch_points::{Piece, emit};
use super::workspace::Workspace;
use super::{on_field, segments};
use crate::contact_geometry::Query;
use crate::contact_point::{ContactKey, ContactPoint, MaterialPoint, Primitive};
use crate::field::PressureField;
use crate::filament::Filament;
use crate::soft_mesh::SoftMesh;

/// Marks keys of points that replace a patch.
const REPLACES_PATCH: u64 = 1 << 63;

/// Appends the points of the surface, which is A, and a filament with a field.
pub(super) fn collide(
    mesh: &SoftMesh,
    (f, field): (&Filament, &PressureField),
    q: &Query,
    w: &mut Workspace,
    out: &mut Vec<ContactPoint>,
) {
    w.recorder.stop();
    find(mesh, field, w);
    // Beyond the margin, contacts are speculative points.
    w.pieces.retain(|piece| piece.gap <= q.margin);
    let on_segment = |piece: &Piece, p_WC: &Point3<f64>| {
        let segment = f.segment_of(piece.feature);
        let (fraction, offset) = f.material_point_below_axis(segment, p_WC, &piece.normal);
        MaterialPoint {
            primitive: Primitive::Edge(segment as u32),
            weights: [1.0 - fraction, fraction, 0.0, 0.0],
            offset,
        }
    };
    // The index of a piece is that of one of its tetrahedra.
    let extent = |piece: &Piece| f.patch_extent(piece.feature);
    emit(mesh, on_segment, extent, &mut w.pieces, out);
    let with_patch = &mut w.with_patch;
    with_patch.clear();
    let loaded = w.pieces.iter().filter(|piece| piece.gap < 0.0);
    with_patch.extend(loaded.map(|piece| f.segment_of(piece.feature) as u32));
    with_patch.sort_unstable();
    with_patch.dedup();
    let points = &mut w.points;
    points.clear();
    // Balls with the depth of the field as radius; for flat segments along their centreline.
    segments::collide(mesh, (f, Some(field.depth())), q, &mut w.stack, points);
    out.extend(points.iter().filter_map(|c| {
        let Primitive::Edge(segment) = c.b.primitive else {
            return None;
        };
        let beside = |with_patch: &u32| with_patch.abs_diff(segment) <= 1;
        let unseen = c.entry > 0.0 || c.signed_distance < -field.depth();
        (unseen && !with_patch.iter().any(beside)).then_some(ContactPoint {
            key: ContactKey(c.key.0 | REPLACES_PATCH),
            ..*c
        })
    }));
}

/// Collects the pieces of all triangles in the workspace.
pub(super) fn find(mesh: &SoftMesh, field: &PressureField, w: &mut Workspace) {
    w.pieces.clear();
    let memory = (&mut w.stack, &mut w.pairs, &mut w.recorder);
    on_field::find(mesh, field, &Isometry3::identity(), memory, &mut w.pieces);
}
