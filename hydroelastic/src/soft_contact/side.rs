//! A soft body as one side of a pair.

use crate::contact_point::ContactPoint;
use crate::posed::DeformingSurface;
use crate::soft_mesh::SoftMesh;

/// A surface and its mesh.
pub(super) type Side<'a> = (&'a DeformingSurface<'a>, &'a SoftMesh);

/// Exchanges A and B in all points.
pub(super) fn swap(points: &mut [ContactPoint]) {
    for point in points {
        *point = point.swapped();
    }
}
