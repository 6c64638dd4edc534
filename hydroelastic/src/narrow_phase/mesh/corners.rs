//! Corners of a partner on the faces of a mesh.

use nalgebra::{Point3, Vector3};

use super::features::{MeshBuffers, SHALLOW, id_of};
use crate::aabb::Aabb;
use crate::narrow_phase::convex::PosedCore;
use crate::narrow_phase::manifold::{ManifoldBuffers, PairPoint};
use crate::shape::{MeshFeature, MeshShape, TriangleFeature, closest_on_triangle, mesh_nearest};

/// The part of the extent of a convex shape, from the end towards a face on, whose corners may touch that face: those at the other end face
/// away from it. A round rim has few corners, which need not be at the very end: with 0.5, poses of a cylinder lose contacts. Without this test a
/// frictionless box over 15 seams of tiles that are meshes slows from 1 to 0.42 m/s; with it, by 4e-6.
const FACING: f64 = 0.75;

/// Corners of the features of A that face the mesh.
pub(super) fn corners_on_faces(
    a: &PosedCore<'_>,
    round_A: f64,
    mesh: &MeshShape,
    reach: f64,
    manifolds: &mut ManifoldBuffers,
    buffers: &mut MeshBuffers,
    out: &mut Vec<PairPoint>,
) {
    buffers.corners.clear();
    for &t in &buffers.triangles {
        let normal = mesh.normal(t);
        let height = normal.dot(&(a.support(&-normal) - mesh.corners(t)[0].coords)) - round_A;
        if height <= reach {
            for c in manifolds.corners_towards(a, &-normal) {
                buffers.corners.push((c.vertex, c.p));
            }
        }
    }
    // A corner found from several triangles counts once; rims give different points for different normals.
    buffers.corners.sort_unstable_by(|x, y| {
        let by_position = |p: &Vector3<f64>, q: &Vector3<f64>| {
            p.x.total_cmp(&q.x)
                .then(p.y.total_cmp(&q.y))
                .then(p.z.total_cmp(&q.z))
        };
        x.0.cmp(&y.0).then(by_position(&x.1, &y.1))
    });
    buffers.corners.dedup();
    let shallow = SHALLOW * (a.core.thickness() + round_A);
    for &(vertex, p) in &buffers.corners {
        let facing = |normal: &Vector3<f64>| {
            let (far, near) = (a.support(normal), a.support(&-normal));
            normal.dot(&(p - near)) <= FACING * normal.dot(&(far - near))
        };
        let corner = CornerOfA {
            center: p,
            radius: round_A,
            feature: vertex,
            facing,
        };
        corner.on_faces(mesh, (reach, shallow), &mut buffers.near, out);
    }
}

/// A ball or a point of A.
pub(super) struct CornerOfA<F> {
    pub(super) center: Vector3<f64>,
    pub(super) radius: f64,
    pub(super) feature: u32,
    /// Whether the surface of A at the corner faces one with the given outward normal.
    pub(super) facing: F,
}

impl<F: Fn(&Vector3<f64>) -> bool> CornerOfA<F> {
    /// Against the faces of the mesh that the corner lies above or has just entered.
    pub(super) fn on_faces(
        &self,
        mesh: &MeshShape,
        (reach, shallow): (f64, f64),
        near: &mut Vec<u32>,
        out: &mut Vec<PairPoint>,
    ) {
        let Self {
            center,
            radius,
            feature: feature_A,
            ..
        } = *self;
        let at = Point3::from(center);
        let (nearest, _, feature) = mesh_nearest(mesh, &at);
        if nearest.value - radius > reach {
            return;
        }
        let inside = nearest.value <= 0.0;
        // In a concave part several faces are in contact with the corner. Of the faces behind it, those are kept that are
        // shallow or at most twice as deep as the nearest, which excludes the far side of a plate.
        let depth = if inside {
            (-2.0 * nearest.value).max(shallow)
        } else {
            0.0
        };
        near.clear();
        let around = Aabb::from_half_extents(at, Vector3::repeat((reach + radius).max(depth)));
        mesh.triangles_in(&around, |t| near.push(t));
        near.sort_unstable();
        let start = out.len();
        let push =
            |normal: Vector3<f64>, height: f64, feature: MeshFeature, out: &mut Vec<PairPoint>| {
                let is_duplicate = out[start..]
                    .iter()
                    .any(|p| p.normal.dot(&normal) > 1.0 - 1e-9);
                if !is_duplicate {
                    out.push(PairPoint {
                        p_A: center - normal * radius,
                        p_B: center - normal * height,
                        normal,
                        phi: height - radius,
                        share: 1.0,
                        feature_A,
                        feature_B: id_of(feature),
                    });
                }
            };
        for &t in near.iter() {
            let normal = *mesh.normal(t);
            let corners = mesh.corners(t);
            let height = normal.dot(&(at - corners[0]));
            let in_front = height >= 0.0 && nearest.value >= 0.0 && height - radius <= reach;
            let behind =
                height < 0.0 && inside && -height <= depth && normal.dot(&nearest.gradient) > -0.5;
            if !(in_front || behind) || !(self.facing)(&normal) {
                continue;
            }
            // Coplanar neighbours share their edges: a foot point on the seam belongs to either and counts once.
            let foot = at - normal * height;
            let (on, feature) = closest_on_triangle(&foot, &corners);
            let seam = 1e-9 * (corners[1] - corners[0]).norm();
            if feature == TriangleFeature::Face || (on - foot).norm() <= seam {
                push(normal, height, MeshFeature::Face(t), out);
            }
        }
        if out.len() == start && inside {
            push(nearest.gradient, nearest.value, feature, out);
        }
    }
}
