//! Contact of a closed mesh with a convex shape or another mesh.
//!
//! A contact of polyhedra consists of corners on faces and edges on edges. Three kinds of points are collected: corners
//! of the partner on the mesh's faces, corners of the mesh on the partner, and convex edges of the mesh on the partner.
//! Each normal must lie within the normal cone of its feature, so that the interior edges of a flat floor cause no
//! bump. Points found from several features at the same position count once: points near each other share the stiffness
//! of one.

mod corners;
mod features;

use nalgebra::{Isometry3, Point3, Vector3};

use super::convex::{Convex, Core, PosedCore};
use super::feature::feature_id;
use super::manifold::{ManifoldBuffers, PairPoint, manifold};
use super::separation::{Separation, separation, separation_along};
use super::shares::share_out;
use crate::Shape;
use crate::aabb::Aabb;
use crate::shape::{MeshFeature, MeshShape};
use corners::{CornerOfA, corners_on_faces};
pub(crate) use features::MeshBuffers;
use features::{SHALLOW, id_of};

/// Allowed deviation of a normal from the cone of its feature (sine of the angle).
const CONE_TOLERANCE: f64 = 1e-3;

/// Appends the contact of the convex shape A with the mesh B, in the frame of B.
pub(crate) fn convex_on_mesh(
    a: &Shape,
    mesh: &MeshShape,
    X_BA: &Isometry3<f64>,
    reach: f64,
    manifolds: &mut ManifoldBuffers,
    buffers: &mut MeshBuffers,
    out: &mut Vec<PairPoint>,
) {
    let Some(convex) = Convex::of(a) else { return };
    let placed = PosedCore::new(convex.core, X_BA);
    let region = a.aabb(X_BA).inflated(reach);
    buffers.gather(mesh, &region);
    if buffers.triangles.is_empty() {
        return;
    }
    let start = out.len();
    corners_on_faces(
        &placed,
        convex.rounding,
        mesh,
        reach,
        manifolds,
        buffers,
        out,
    );
    for &v in &buffers.vertices {
        let p = mesh.vertices()[v as usize].coords;
        let piece = Piece {
            core: Core::Edge([p, p]),
            feature: MeshFeature::Vertex(v),
        };
        piece.against_convex(&placed, convex.rounding, mesh, reach, manifolds, out);
    }
    for &e in &buffers.edges {
        let ends = mesh.edges()[e as usize]
            .vertices
            .map(|v| mesh.vertices()[v as usize].coords);
        let piece = Piece {
            core: Core::Edge(ends),
            feature: MeshFeature::Edge(e),
        };
        piece.against_convex(&placed, convex.rounding, mesh, reach, manifolds, out);
    }
    share_out(
        &mut out[start..],
        a.size().min(mesh.local_aabb().half_extents().norm()),
    );
}

/// Appends the contact of two meshes, in the frame of B.
pub(crate) fn mesh_on_mesh(
    a: &MeshShape,
    b: &MeshShape,
    X_BA: &Isometry3<f64>,
    reach: f64,
    buffers: &mut MeshBuffers,
    out: &mut Vec<PairPoint>,
) {
    let X_AB = X_BA.inverse();
    let start = out.len();
    let thickness = |m: &MeshShape| m.local_aabb().half_extents().min();
    let shallow = SHALLOW * thickness(a).min(thickness(b));
    let region_B = a.local_aabb().transformed(X_BA).inflated(reach);
    buffers.gather(b, &region_B);
    if buffers.triangles.is_empty() {
        return;
    }
    // Corners of B on faces of A: in the frame of A, with A and B exchanged.
    for &v in &buffers.vertices {
        let from = out.len();
        corner_of(b, v, &X_AB).on_faces(a, (reach, shallow), &mut buffers.near, out);
        for p in &mut out[from..] {
            *p = p.swapped().moved(X_BA);
        }
    }
    std::mem::swap(&mut buffers.edges, &mut buffers.others);
    let region_A = b.local_aabb().transformed(&X_AB).inflated(reach);
    buffers.gather(a, &region_A);
    for &v in &buffers.vertices {
        corner_of(a, v, X_BA).on_faces(b, (reach, shallow), &mut buffers.near, out);
    }
    for &e in &buffers.edges {
        let ends = a.edges()[e as usize]
            .vertices
            .map(|v| (X_BA * a.vertices()[v as usize]).coords);
        let outward_A = X_BA * a.outward(MeshFeature::Edge(e));
        let around = Aabb::from_points(&ends.map(Point3::from)).inflated(reach);
        for &f in &buffers.others {
            let other = b.edges()[f as usize]
                .vertices
                .map(|v| b.vertices()[v as usize]);
            if !around.intersects(&Aabb::from_points(&other)) {
                continue;
            }
            edge_on_edge((e, a, ends, outward_A), (f, b), X_BA, reach, out);
        }
    }
    let size = a
        .local_aabb()
        .half_extents()
        .norm()
        .min(b.local_aabb().half_extents().norm());
    share_out(&mut out[start..], size);
}

/// The corner `v` of the mesh A, in the frame of B.
fn corner_of(
    a: &MeshShape,
    v: u32,
    X_BA: &Isometry3<f64>,
) -> CornerOfA<impl Fn(&Vector3<f64>) -> bool> {
    let outward_B = X_BA * a.outward(MeshFeature::Vertex(v));
    CornerOfA {
        center: (X_BA * a.vertices()[v as usize]).coords,
        radius: 0.0,
        feature: feature_id::vertex(v),
        facing: move |normal: &Vector3<f64>| {
            normal.dot(&outward_B) < -CONE_TOLERANCE * outward_B.norm()
        },
    }
}

/// A vertex or a convex edge of a mesh as a convex set.
struct Piece {
    core: Core<'static>,
    feature: MeshFeature,
}

impl Piece {
    fn against_convex(
        &self,
        a: &PosedCore<'_>,
        round_A: f64,
        mesh: &MeshShape,
        reach: f64,
        manifolds: &mut ManifoldBuffers,
        out: &mut Vec<PairPoint>,
    ) {
        let Some(outward) = mesh.outward(self.feature).try_normalize(1e-12) else {
            return;
        };
        let b = Convex {
            core: self.core,
            rounding: 0.0,
        };
        let shallow = SHALLOW * (a.core.thickness() + round_A);
        let fits = |s: &Separation| pushes_outwards(mesh, self.feature, s, round_A, &outward);
        let Some(any) = separation(a, round_A, &b, reach) else {
            return;
        };
        let s = if fits(&any) {
            any
        } else {
            // The shortest separation of an overlap may lead through the mesh. The separation along the outward normal
            // is used if it is not much larger; otherwise another feature has the contact.
            match separation_along(a, round_A, &b, reach, &outward) {
                Some(s) if s.distance >= (2.0 * any.distance).min(-shallow) && fits(&s) => s,
                _ => return,
            }
        };
        if let Core::Edge([p, q]) = self.core
            && p != q
            && at_an_end(&s.p_B, &p, &q)
            && manifolds.corners_towards(a, &-s.normal).len() < 2
        {
            // The adjacent vertex has the contact.
            return;
        }
        let start = out.len();
        manifold(a, round_A, &b, &s, manifolds, out);
        for p in &mut out[start..] {
            p.feature_B = match (self.feature, p.feature_B) {
                // The start, the end, or the interior of the edge.
                (MeshFeature::Edge(e), id)
                    if id == feature_id::vertex(0) || id == feature_id::vertex(1) =>
                {
                    feature_id::edge(e ^ ((id + 1) << 28))
                }
                (feature, _) => id_of(feature),
            };
        }
        out.retain_from(start, |p| p.phi <= reach);
    }
}

/// Whether the normal of a contact at a feature points outwards from the surface.
fn pushes_outwards(
    mesh: &MeshShape,
    feature: MeshFeature,
    s: &Separation,
    round_A: f64,
    outward: &Vector3<f64>,
) -> bool {
    let cores_are_apart = s.distance + round_A > 0.0;
    if cores_are_apart {
        mesh.normal_cone_contains(feature, &s.normal, CONE_TOLERANCE)
    } else {
        // The separation direction of an overlap may lie slightly outside the cone; an inward one is wrong.
        s.normal.dot(outward) > 0.2
    }
}

fn at_an_end(p: &Vector3<f64>, from: &Vector3<f64>, to: &Vector3<f64>) -> bool {
    let along = to - from;
    let t = (p - from).dot(&along) / along.norm_squared();
    !(1e-6..=1.0 - 1e-6).contains(&t)
}

type EdgeOfA<'a> = (u32, &'a MeshShape, [Vector3<f64>; 2], Vector3<f64>);

fn edge_on_edge(
    (e, mesh_A, ends_A, outward_A): EdgeOfA<'_>,
    (f, mesh_B): (u32, &MeshShape),
    X_BA: &Isometry3<f64>,
    reach: f64,
    out: &mut Vec<PairPoint>,
) {
    let ends_B = mesh_B.edges()[f as usize]
        .vertices
        .map(|v| mesh_B.vertices()[v as usize].coords);
    let outward_B = mesh_B.outward(MeshFeature::Edge(f));
    let Some(start) = (outward_B - outward_A).try_normalize(1e-9) else {
        return;
    };
    let across = (ends_A[1] - ends_A[0]).cross(&(ends_B[1] - ends_B[0]));
    // Crossing edges determine the normal; for parallel ones the adjacent faces do.
    let Some(normal) = across
        .try_normalize(1e-3 * (ends_A[1] - ends_A[0]).norm() * (ends_B[1] - ends_B[0]).norm())
    else {
        return;
    };
    let normal = normal * 1.0_f64.copysign(normal.dot(&start));
    // The intersection of the lines projected along the normal.
    let (d_A, d_B) = (ends_A[1] - ends_A[0], ends_B[1] - ends_B[0]);
    let between = ends_B[0] - ends_A[0];
    let t = between.cross(&d_B).dot(&across) / across.norm_squared();
    let u = between.cross(&d_A).dot(&across) / across.norm_squared();
    if !(0.0..=1.0).contains(&t) || !(0.0..=1.0).contains(&u) {
        return;
    }
    let (p_A, p_B) = (ends_A[0] + d_A * t, ends_B[0] + d_B * u);
    let phi = normal.dot(&(p_A - p_B));
    let shortest = d_A.norm().min(d_B.norm());
    let in_cones = mesh_B.normal_cone_contains(MeshFeature::Edge(f), &normal, CONE_TOLERANCE)
        && mesh_A.normal_cone_contains(
            MeshFeature::Edge(e),
            &X_BA.inverse_transform_vector(&-normal),
            CONE_TOLERANCE,
        );
    if phi > reach || phi < -0.1 * shortest || !in_cones {
        return;
    }
    out.push(PairPoint {
        p_A,
        p_B,
        normal,
        phi,
        share: 1.0,
        feature_A: feature_id::edge(e),
        feature_B: feature_id::edge(f),
    });
}

trait RetainFrom<T> {
    fn retain_from(&mut self, start: usize, keep: impl Fn(&T) -> bool);
}

impl<T: Copy> RetainFrom<T> for Vec<T> {
    /// Removes entries from `start` on for which `keep` is false, preserving the order.
    fn retain_from(&mut self, start: usize, keep: impl Fn(&T) -> bool) {
        let mut end = start;
        for i in start..self.len() {
            if keep(&self[i]) {
                self[end] = self[i];
                end += 1;
            }
        }
        self.truncate(end);
    }
}

#[cfg(test)]
mod tests;
