//! Patches of a compliant body on a rigid surface: the part of the surface inside the body.

use super::balance::Balance;
use super::closed_patches;
use super::flood::Flood;
use super::pieces::Pieces;
use super::polygon::ON_FACE;
use super::slice::{Scale, Slice, in_tetrahedron};
use crate::field::{OUTSIDE, PressureField, SkinFace};
use crate::patch_geometry::RigidSurface;
use crate::pressure_bvh::{Facet, Relative};

/// Finds the polygons in the frame of `field`, in which `surface` lies at `X`.
///
/// The rim of a patch lies where both surfaces intersect: seeds are faces of the skin and triangles that may intersect
/// them. A component of the surface entirely inside has no rim; its seed is the tetrahedron around one of its triangles
/// ([`closed_patches`]).
pub(crate) fn find(
    field: &PressureField,
    surface: &RigidSurface,
    X: &Relative,
    flood: &mut Flood,
    found: &mut Pieces,
) {
    found.set_scale(Scale::of_heights(field, surface.extent()));
    flood.begin();
    let Flood {
        stack,
        pairs,
        seeds,
        ..
    } = flood;
    let (tree, skin) = (surface.tree(), field.skin_tree());
    let corners = |t| surface.corners(t).map(|x| X.point(&x));
    tree.visit_triangle_pairs(X, skin, pairs, corners, |t, facet, f| {
        let face = field.skin(f);
        if may_cross(facet, field, face) {
            seeds.push((face.tet, t));
        }
    });
    closed_patches::parts_inside(field, surface, X, stack, |i, t| seeds.push((i, t)));
    run(field, surface, X, flood, found);
}

/// Tests every tetrahedron and triangle whose boxes overlap.
#[cfg(test)]
pub(crate) fn find_among_all(
    field: &PressureField,
    surface: &RigidSurface,
    X: &Relative,
    flood: &mut Flood,
    found: &mut Pieces,
) {
    found.set_scale(Scale::of_heights(field, surface.extent()));
    flood.begin();
    let Flood { stack, seeds, .. } = flood;
    let tree = field.tet_tree();
    surface
        .tree()
        .visit_pairs(X, tree, stack, |t, i| seeds.push((i, t)));
    run(field, surface, X, flood, found);
}

/// False only if the whole triangle lies on one side of the face, or the whole face on one side of the triangle.
fn may_cross(triangle: &Facet, field: &PressureField, face: &SkinFace) -> bool {
    let side = &field.functions_of(face.tet).sides[face.side as usize];
    let height = triangle.corners.map(|x| side.at(&x));
    if one_sided(&height, ON_FACE) {
        return false;
    }
    let height = face
        .corners
        .map(|v| triangle.normal.dot(&field.vertices()[v as usize]) - triangle.offset);
    !one_sided(&height, ON_FACE * field.depth() * triangle.normal.norm())
}

fn one_sided(heights: &[f64; 3], tolerance: f64) -> bool {
    heights.iter().all(|h| *h > tolerance) || heights.iter().all(|h| *h < -tolerance)
}

fn run(
    field: &PressureField,
    surface: &RigidSurface,
    X: &Relative,
    flood: &mut Flood,
    found: &mut Pieces,
) {
    flood.run(
        |i, t| pair(field, surface, X, i, t, found),
        |i, t, face| {
            let (i, t) = if face < 4 {
                (field.across(i)[face as usize], t)
            } else {
                (i, surface.across(t)[face as usize - 4])
            };
            (i != OUTSIDE).then_some((i, t))
        },
    );
}

fn pair(
    field: &PressureField,
    surface: &RigidSurface,
    X: &Relative,
    i: u32,
    t: u32,
    found: &mut Pieces,
) -> Option<u8> {
    let tet = field.functions_of(i);
    if tet.is_flat() {
        return None;
    }
    let normal = X.rotation * surface.normal(t);
    let triangle = surface.corners(t).map(|x| X.point(&x));
    let Slice {
        mut polygon,
        counts,
    } = in_tetrahedron(&triangle, &normal, (field, i), found.scale())?;
    if counts && let Some(balance) = Balance::on_rigid(&tet.pressure.gradient, &normal) {
        found.push(
            &mut polygon,
            (i, t),
            (field.piece(i), surface.plane(t)),
            &balance,
            &tet.pressure,
        );
    }
    Some(polygon.corner_faces())
}
