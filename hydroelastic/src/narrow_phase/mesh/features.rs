//! Features of a mesh near a partner, and their identifiers.

use nalgebra::Vector3;

use crate::aabb::Aabb;
use crate::narrow_phase::feature::feature_id;
use crate::shape::{MeshFeature, MeshShape};

/// Overlaps up to this fraction of the thickness need not be along the shortest direction: equal boxes stacked edge on
/// edge overlap less sideways than downwards.
pub(super) const SHALLOW: f64 = 0.01;

/// Reused storage; keeps no results.
#[derive(Default)]
pub(crate) struct MeshBuffers {
    pub(super) triangles: Vec<u32>,
    pub(super) vertices: Vec<u32>,
    pub(super) edges: Vec<u32>,
    pub(super) others: Vec<u32>,
    pub(super) corners: Vec<(u32, Vector3<f64>)>,
    pub(super) near: Vec<u32>,
}

impl MeshBuffers {
    /// Triangles, corners and convex edges of a mesh within a region, without duplicates, ascending.
    pub(super) fn gather(&mut self, mesh: &MeshShape, region: &Aabb) {
        let Self {
            triangles,
            vertices,
            edges,
            ..
        } = self;
        triangles.clear();
        vertices.clear();
        edges.clear();
        mesh.triangles_in(region, |t| triangles.push(t));
        triangles.sort_unstable();
        for &t in triangles.iter() {
            vertices.extend(
                mesh.triangles()[t as usize]
                    .iter()
                    .filter(|&&v| mesh.is_corner(v)),
            );
            edges.extend(
                mesh.triangle_edges(t)
                    .iter()
                    .filter(|&&e| mesh.edges()[e as usize].convex),
            );
        }
        for list in [vertices, edges] {
            list.sort_unstable();
            list.dedup();
        }
    }
}

/// The identifier of a feature in contact keys.
pub(super) fn id_of(feature: MeshFeature) -> u32 {
    match feature {
        MeshFeature::Face(t) => feature_id::face(t),
        MeshFeature::Edge(e) => feature_id::edge(e),
        MeshFeature::Vertex(v) => feature_id::vertex(v),
    }
}
