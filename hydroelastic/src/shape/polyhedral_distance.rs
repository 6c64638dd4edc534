//! Signed distance φ of hulls and meshes, from the nearest face, edge or vertex.

use nalgebra::{Point3, Vector3};

use super::{ConvexHull, MeshFeature, MeshShape};
use crate::signed_distance::SignedDistance;

/// The feature of a hull nearest to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HullFeature {
    Face(u32),
    Edge(u32, u32),
    Vertex(u32),
}

/// φ of a hull and the nearest feature. Inside: the nearest face plane (exact, since the nearest surface point of a
/// convex body lies on the face whose plane is nearest). Outside: the nearest point of the faces visible from the
/// query.
pub(crate) fn hull_nearest(
    hull: &ConvexHull,
    p: &Point3<f64>,
) -> (SignedDistance<f64>, HullFeature) {
    let mut top = (0, f64::NEG_INFINITY);
    for (i, face) in hull.faces().iter().enumerate() {
        let height = face.normal.dot(&p.coords) - face.offset;
        if height > top.1 {
            top = (i, height);
        }
    }
    let flat = |face: usize, height| {
        (
            SignedDistance::flat(height, hull.faces()[face].normal),
            HullFeature::Face(face as u32),
        )
    };
    if top.1 <= 0.0 {
        return flat(top.0, top.1);
    }
    let mut best: Option<(f64, FaceNearest)> = None;
    for (i, face) in hull.faces().iter().enumerate() {
        let height = face.normal.dot(&p.coords) - face.offset;
        if height <= 0.0 || best.as_ref().is_some_and(|b| height * height >= b.0) {
            continue;
        }
        let nearest = nearest_on_face(hull, i, p, height);
        let squared = nearest.0.norm_squared();
        if best.as_ref().is_none_or(|b| squared < b.0) {
            best = Some((squared, nearest));
        }
    }
    match best {
        Some((squared, (_, HullFeature::Face(f), _))) => flat(f as usize, squared.sqrt()),
        Some((_, (offset, feature, along))) => (
            SignedDistance::curved(offset, along, 1.0, hull.faces()[top.0].normal),
            feature,
        ),
        None => flat(top.0, top.1),
    }
}

type FaceNearest = (Vector3<f64>, HullFeature, Option<Vector3<f64>>);

/// Offset from the nearest point of a face polygon to `p`, for `p` above the face's plane.
fn nearest_on_face(hull: &ConvexHull, face: usize, p: &Point3<f64>, height: f64) -> FaceNearest {
    let normal = hull.faces()[face].normal;
    let ids = hull.face_vertices(face);
    let corner = |i: usize| hull.vertices()[ids[i % ids.len()] as usize];
    let mut nearest: Option<(f64, FaceNearest)> = None;
    for i in 0..ids.len() {
        let (a, b) = (corner(i), corner(i + 1));
        let edge = b - a;
        // Outside this side of the polygon?
        if edge.cross(&normal).dot(&(p - a)) <= 0.0 {
            continue;
        }
        let t = edge.dot(&(p - a)) / edge.norm_squared();
        let (va, vb) = (ids[i], ids[(i + 1) % ids.len()]);
        let (q, feature, along) = if t <= 0.0 {
            (a, HullFeature::Vertex(va), None)
        } else if t >= 1.0 {
            (b, HullFeature::Vertex(vb), None)
        } else {
            (
                a + edge * t,
                HullFeature::Edge(va.min(vb), va.max(vb)),
                Some(edge.normalize()),
            )
        };
        let offset = p - q;
        let squared = offset.norm_squared();
        if nearest.as_ref().is_none_or(|n| squared < n.0) {
            nearest = Some((squared, (offset, feature, along)));
        }
    }
    nearest.map_or(
        (normal * height, HullFeature::Face(face as u32), None),
        |n| n.1,
    )
}

/// φ of a closed mesh, the nearest point and its feature. The sign comes from the feature's pseudo-normal.
pub(crate) fn mesh_nearest(
    mesh: &MeshShape,
    p: &Point3<f64>,
) -> (SignedDistance<f64>, Point3<f64>, MeshFeature) {
    let (q, feature, distance) = mesh.nearest(p);
    let outward = mesh.outward(feature);
    let offset = p - q;
    let sign = if outward.dot(&offset) < 0.0 {
        -1.0
    } else {
        1.0
    };
    let unit_outward = outward.try_normalize(0.0).unwrap_or_else(Vector3::z);
    let phi = match feature {
        // From the plane: the normal is exact however near the surface the query is.
        MeshFeature::Face(t) => SignedDistance::flat(sign * distance, *mesh.normal(t)),
        MeshFeature::Edge(e) => {
            let [a, b] = mesh.edges()[e as usize]
                .vertices
                .map(|v| mesh.vertices()[v as usize]);
            let along = (b - a).normalize();
            SignedDistance::curved(offset, Some(along), sign, unit_outward)
        }
        MeshFeature::Vertex(_) => SignedDistance::curved(offset, None, sign, unit_outward),
    };
    (phi, q, feature)
}
