//! Triangles of a convex hull joined to flat polygons.

use nalgebra::Point3;

use super::quickhull::{HullTriangle, area_vector};

/// Flat to this fraction of the size, and of the smallest extent, of the hull: files have their coordinates with about seven digits.
const FLAT_TO: [f64; 2] = [1e-7, 1e-3];

/// The corners of each face, counter-clockwise from outside. The polygons form a closed surface, and so do their fans of triangles.
pub(super) fn flat_faces(
    points: &[Point3<f64>],
    triangles: &[HullTriangle],
    size: f64,
    thickness: f64,
) -> Vec<Vec<u32>> {
    let tolerance = (FLAT_TO[0] * size).min(FLAT_TO[1] * thickness);
    let mut faces = joined(points, triangles, tolerance);
    drop_corners_of_two_faces(&mut faces);
    if is_closed(&faces) {
        return faces;
    }
    triangles.iter().map(|t| t.corners.to_vec()).collect()
}

/// Joins neighbours in the plane of a triangle, the largest first.
fn joined(points: &[Point3<f64>], triangles: &[HullTriangle], tolerance: f64) -> Vec<Vec<u32>> {
    let areas: Vec<_> = triangles
        .iter()
        .map(|t| area_vector(points, t.corners))
        .collect();
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|a, b| {
        areas[*b]
            .norm_squared()
            .total_cmp(&areas[*a].norm_squared())
    });
    let is_needle = |t: usize| {
        let [a, b, c] = triangles[t].corners.map(|v| points[v as usize]);
        let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
        areas[t].norm() <= tolerance * longest
    };
    let mut is_taken = vec![false; triangles.len()];
    let mut faces = Vec::new();
    for seed in order {
        if is_taken[seed] {
            continue;
        }
        let normal = areas[seed].try_normalize(0.0).unwrap_or_default();
        let origin = points[triangles[seed].corners[0] as usize];
        let fits = |t: usize| {
            let faces_alike = areas[t].dot(&normal) > 0.5 * areas[t].norm() || is_needle(t);
            let corners = triangles[t].corners.iter();
            let heights = corners.map(|v| normal.dot(&(points[*v as usize] - origin)).abs());
            faces_alike && heights.fold(0.0, f64::max) <= tolerance
        };
        is_taken[seed] = true;
        let mut region = vec![seed];
        let mut next = 0;
        while let Some(&at) = region.get(next) {
            next += 1;
            for t in triangles[at].neighbours.map(|t| t as usize) {
                if !is_taken[t] && fits(t) {
                    is_taken[t] = true;
                    region.push(t);
                }
            }
        }
        faces.push(rim(triangles, &region).unwrap_or_else(|| {
            region[1..].iter().for_each(|t| is_taken[*t] = false);
            triangles[seed].corners.to_vec()
        }));
    }
    faces
}

/// The boundary of a set of triangles; `None` unless it is one loop without a repeated corner.
fn rim(triangles: &[HullTriangle], region: &[usize]) -> Option<Vec<u32>> {
    let mut members = region.to_vec();
    members.sort_unstable();
    let mut sides: Vec<[u32; 2]> = Vec::new();
    for t in region.iter().map(|t| &triangles[*t]) {
        let outer = (0..3).filter(|k| members.binary_search(&(t.neighbours[*k] as usize)).is_err());
        sides.extend(outer.map(|k| [t.corners[k], t.corners[(k + 1) % 3]]));
    }
    sides.sort_unstable();
    if sides.windows(2).any(|pair| pair[0][0] == pair[1][0]) {
        return None;
    }
    let first = sides.first()?[0];
    let mut rim = vec![first];
    loop {
        let side = sides
            .binary_search_by_key(rim.last()?, |side| side[0])
            .ok()?;
        match sides[side][1] {
            end if end == first => break,
            end => rim.push(end),
        }
        if rim.len() > sides.len() {
            return None;
        }
    }
    (rim.len() == sides.len()).then_some(rim)
}

/// Drops corners between two faces only: the faces agree there to the tolerance. A triangle with such a corner joins the other face.
fn drop_corners_of_two_faces(faces: &mut Vec<Vec<u32>>) {
    loop {
        let mut incident: Vec<(u32, usize)> = Vec::new();
        for (f, face) in faces.iter().enumerate() {
            incident.extend(face.iter().map(|corner| (*corner, f)));
        }
        incident.sort_unstable();
        let mut changed = vec![false; faces.len()];
        let of_two = incident
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|c| c.len() == 2);
        for pair in of_two {
            let (corner, mut one, mut two) = (pair[0].0, pair[0].1, pair[1].1);
            if faces[one].len() > faces[two].len() {
                core::mem::swap(&mut one, &mut two);
            }
            if changed[one] || changed[two] || faces[two].len() <= 3 {
                continue;
            }
            changed[one] = true;
            changed[two] = true;
            faces[two].retain(|c| *c != corner);
            match faces[one].len() {
                3 => faces[one].clear(),
                _ => faces[one].retain(|c| *c != corner),
            }
        }
        if !changed.contains(&true) {
            return;
        }
        faces.retain(|face| !face.is_empty());
    }
}

/// Whether the fans of the faces are a closed surface, in which each side of a triangle is the side of one other, reversed.
fn is_closed(faces: &[Vec<u32>]) -> bool {
    let mut sides: Vec<[u32; 2]> = Vec::new();
    for face in faces {
        for edge in face.windows(2).skip(1) {
            let [a, b, c] = [face[0], edge[0], edge[1]];
            sides.extend([[a, b], [b, c], [c, a]]);
        }
    }
    sides.sort_unstable();
    let is_single = sides.windows(2).all(|pair| pair[0] != pair[1]);
    let has_twin = |side: &[u32; 2]| sides.binary_search(&[side[1], side[0]]).is_ok();
    faces.len() >= 4 && is_single && sides.iter().all(has_twin)
}
