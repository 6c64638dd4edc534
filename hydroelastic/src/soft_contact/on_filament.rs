//! Triangles of a soft body cut by the pressure field of a filament.
//!
//! What patches cannot see is left to points: segments that fly further in a step than their field is deep, and those whose
//! centreline has gone under.

use nalgebra::{Isometry3, Point3};

use super::patch_points::{Extent, Piece, emit};
use super::{Workspace, on_field, segments};
use crate::contact_geometry::Query;
use crate::contact_point::{ContactKey, ContactPoint, MaterialPoint, Primitive};
use crate::field::PressureField;
use crate::filament::Filament;
use crate::soft_mesh::SoftMesh;

/// Marks keys of points that stand in for a patch.
const STAND_IN: u64 = 1 << 63;

/// Appends the points of the surface, which is A, and a filament with a field.
pub(super) fn collide(
    mesh: &SoftMesh,
    (f, field): (&Filament, &PressureField),
    q: &Query,
    w: &mut Workspace,
    out: &mut Vec<ContactPoint>,
) {
    w.drawn.leave_out();
    find(mesh, field, w);
    // Pieces further than the margin are foreseen by points.
    w.pieces.retain(|piece| piece.gap <= q.margin);
    let on_segment = |piece: &Piece, p_WC: &Point3<f64>| {
        let segment = f.segment_of(piece.feature);
        let (fraction, offset) = f.carried_under(segment, p_WC, &piece.normal);
        MaterialPoint {
            primitive: Primitive::Edge(segment as u32),
            weights: [1.0 - fraction, fraction, 0.0, 0.0],
            offset,
        }
    };
    // The number of a piece is that of one of its tetrahedra.
    let extent = Extent::OfPiece(&|piece| f.patch_extent(piece.feature));
    emit(mesh, on_segment, extent, &mut w.pieces, out);
    let held = &mut w.held;
    held.clear();
    let pressing = w.pieces.iter().filter(|piece| piece.gap < 0.0);
    held.extend(pressing.map(|piece| f.segment_of(piece.feature) as u32));
    held.sort_unstable();
    held.dedup();
    let points = &mut w.points;
    points.clear();
    // Balls as thick as the field is deep: of flat segments along their middle.
    segments::collide(mesh, (f, Some(field.depth())), q, &mut w.stack, points);
    out.extend(points.iter().filter_map(|c| {
        let Primitive::Edge(segment) = c.b.primitive else {
            return None;
        };
        let beside = |held: &u32| held.abs_diff(segment) <= 1;
        let unseen = c.entry > 0.0 || c.signed_distance < -field.depth();
        (unseen && !held.iter().any(beside)).then_some(ContactPoint {
            key: ContactKey(c.key.0 | STAND_IN),
            ..*c
        })
    }));
}

/// The pieces of all triangles, into the workspace.
pub(super) fn find(mesh: &SoftMesh, field: &PressureField, w: &mut Workspace) {
    w.pieces.clear();
    let memory = (&mut w.stack, &mut w.pairs, &mut w.drawn);
    on_field::find(mesh, field, &Isometry3::identity(), memory, &mut w.pieces);
}
