//! Which face of a solid a particle enters, where surfaces lie flush.
//!
//! What slides over tiles is below their common plane by the depth of its contacts. So its particles enter the next tile through a side that the last
//! one covers, and corners of the tiles enter a soft slider through its front. Held by such a face they would be walls. Two rules keep them apart:
//!
//! - A particle meets a face only if one of its own faces is opposite: one in the middle of the bottom of a box has no contact with a wall.
//! - Where a face beyond a sharp edge is above the particle, and the particle was below its plane by no more than contacts of the two geometries with that
//!   normal are deep, it belongs to that face.

use nalgebra::Vector3;
use pliant_hydroelastic::{MeshPlace, Path, SurfaceHit};

use super::pair::Pair;
use super::surfaces::MeshSurface;
use super::system::System;

/// Cosine of the angle between the normals of two faces that may touch, at most.
const OPPOSITE: f64 = -0.05;
/// Cosine of the angle between the normals at a sharp edge.
const SHARP: f64 = 0.4;
/// Cosine of the angle between the normals of contacts on one plane.
const SAME: f64 = 0.9;
/// Particles of one body differ in depth.
const SPREAD: f64 = 2.0;
/// Part of its distance by which a point may be beside the triangle below.
const BESIDE: f64 = 1e-6;

/// The place of a solid that a particle enters on a path that meets it at `hit`, both in the object's frame; `None` if it only brushes a face that none of its own is
/// opposite to.
pub(super) fn entered(
    system: &System,
    pair: &Pair,
    particle: usize,
    path: &Path,
    hit: SurfaceHit,
) -> Option<SurfaceHit> {
    let (places, bodies) = (&system.places, &system.bodies);
    let Some(surface) = places.surface(pair.object) else {
        return Some(hit);
    };
    let solid = |surface: Option<&MeshSurface>| surface.is_none_or(MeshSurface::is_solid);
    if pair.object == pair.particles || !surface.is_solid() {
        return Some(hit);
    }
    let to_object = places.pose_at_start(pair.object).rotation.inverse();
    let faces: Vec<Vector3<f64>> = match solid(places.surface(pair.particles)) {
        true => places.faces_at_start(pair.particles, particle, bodies),
        false => Vec::new(),
    };
    if faces.is_empty() {
        return Some(hit);
    }
    let meets = |normal: &Vector3<f64>| {
        let opposite = |face: &Vector3<f64>| (to_object * face).dot(normal) < OPPOSITE;
        faces.iter().any(opposite)
    };
    let walk = &surface.walk;
    let start = surface.at_start(bodies, &places.vertices);
    let end = surface.at_end(&places.vertices);
    let (across, _) = walk.plane(start, hit.place.triangle);
    let mut nearest: Option<(f64, MeshPlace)> = None;
    let reach = (path[1] - path[0]).norm() + SPREAD * deepest(system, pair, |_| true);
    surface.triangles_near(&[path[1]; 2], reach, |triangle| {
        let (normal, _) = walk.plane(end, triangle);
        if normal.dot(&across) > SHARP || !meets(&normal) {
            return;
        }
        let corner = |vertices| walk.corners(vertices, triangle)[0];
        let depth = -(path[1] - corner(end)).dot(&normal);
        let (apart, _) = walk.nearest_on(end, triangle, &path[1]);
        if depth <= 0.0 || apart > depth * (1.0 + BESIDE) || nearest.is_some_and(|n| n.0 <= depth) {
            return;
        }
        let before = -(path[0] - corner(start)).dot(&walk.plane(start, triangle).0);
        let normal_W = places.pose_at_start(pair.object).rotation * normal;
        let on_plane = |n: &Vector3<f64>| n.dot(&normal_W) > SAME;
        if before <= surface.round_off() + SPREAD * deepest(system, pair, on_plane) {
            let (_, place) = walk.nearest_on(start, triangle, &path[0]);
            nearest = Some((depth, place));
        }
    });
    match nearest {
        Some((_, place)) => Some(SurfaceHit { place, ..hit }),
        None => meets(&across).then_some(hit),
    }
}

/// Of the contacts of either geometry of a pair, the largest depth at the start of the step (m) of those whose normal, away from the object of the pair, is of a kind.
fn deepest(system: &System, pair: &Pair, is_of_kind: impl Fn(&Vector3<f64>) -> bool) -> f64 {
    let depths = system.attached.iter().filter_map(|contact| {
        let of = &contact.attachment;
        let way = match () {
            () if of.object == pair.object || of.particles == pair.particles => 1.0,
            () if of.object == pair.particles || of.particles == pair.object => -1.0,
            () => return None,
        };
        let at_start = &contact.at_start;
        is_of_kind(&(at_start.normal_W * way)).then_some(at_start.depth)
    });
    depths.fold(0.0, f64::max)
}
