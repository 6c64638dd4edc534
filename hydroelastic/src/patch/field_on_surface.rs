//! A compliant body on a rigid surface: the part of the surface inside of the body.

use super::balance::Balance;
use super::flood::Flood;
use super::found::Found;
use super::polygon::Polygon;
use super::rimless;
use super::surface::RigidSurface;
use crate::field::{OUTSIDE, PressureField};
use crate::range_tree::Relative;

/// Finds the polygons in the frame of `field`, in which `surface` lies at `X`.
///
/// The rim of a patch lies where both surfaces cross: seeds are faces of the skin with triangles whose boxes overlap. A part of the
/// surface that lies wholly inside has no rim; the tetrahedron around one of its triangles is the seed ([`rimless`]).
pub(crate) fn find(
    field: &PressureField,
    surface: &RigidSurface,
    X: &Relative,
    flood: &mut Flood,
    found: &mut Found,
) {
    found.set_scale(field.depth());
    flood.begin();
    let Flood { stack, seeds, .. } = flood;
    surface
        .tree()
        .visit_pairs(X, field.skin_tree(), stack, |t, f| {
            seeds.push((field.skin(f).tet, t));
        });
    rimless::parts_inside(field, surface, X, |i, t| seeds.push((i, t)));
    run(field, surface, X, flood, found);
}

/// Looks at every tetrahedron and triangle whose boxes overlap.
#[cfg(test)]
pub(crate) fn find_among_all(
    field: &PressureField,
    surface: &RigidSurface,
    X: &Relative,
    flood: &mut Flood,
    found: &mut Found,
) {
    found.set_scale(field.depth());
    flood.begin();
    let Flood { stack, seeds, .. } = flood;
    surface
        .tree()
        .visit_pairs(X, field.tet_tree(), stack, |t, i| seeds.push((i, t)));
    run(field, surface, X, flood, found);
}

fn run(
    field: &PressureField,
    surface: &RigidSurface,
    X: &Relative,
    flood: &mut Flood,
    found: &mut Found,
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
    found: &mut Found,
) -> Option<u8> {
    let tet = field.functions_of(i);
    if tet.is_flat() {
        return None;
    }
    let mut polygon = Polygon::triangle(&surface.corners(t).map(|x| X.point(&x)));
    for (k, side) in tet.sides.iter().enumerate() {
        if !polygon.clip(side, k as u32) {
            return None;
        }
    }
    let normal = X.rotation * surface.normal(t);
    if let Some(mut balance) = Balance::on_rigid(&tet.pressure.gradient, &normal) {
        let own = polygon.own_faces();
        for (k, n) in field.across(i).iter().enumerate() {
            if own >> k & 1 == 1 && *n != OUTSIDE {
                balance.weight *= 0.5;
            }
        }
        found.push(
            polygon,
            (i, t),
            (field.piece(i), surface.plane(t)),
            &balance,
            &tet.pressure,
        );
    }
    Some(polygon.touched_faces())
}
