//! Unchecked triangles and tetrahedra as read, with their names for messages.

use super::edge_nodes::EdgeNode;
use super::error::{Flaw, MeshError};
use super::names::Names;
use nalgebra::Vector3;

/// Triangles as read, with their names for messages.
pub(crate) struct Soup {
    pub(crate) names: Names,
    pub(crate) vertices: Vec<Vector3<f64>>,
    /// Indices are in range.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The file's element (a polygon may give several triangles) of each triangle.
    pub(crate) element_of: Vec<u32>,
}

impl Soup {
    /// The file's elements of these triangles, without duplicates.
    pub(crate) fn elements(&self, triangles: &[u32]) -> Vec<u32> {
        let mut elements: Vec<u32> = triangles
            .iter()
            .map(|t| self.element_of[*t as usize])
            .collect();
        elements.dedup();
        elements
    }

    pub(crate) fn corners(&self, triangle: u32) -> [Vector3<f64>; 3] {
        self.triangles[triangle as usize].map(|corner| self.vertices[corner as usize])
    }

    /// The vertices used by triangles, ascending.
    pub(crate) fn used_vertices(&self) -> impl Iterator<Item = usize> + use<> {
        let mut used = vec![false; self.vertices.len()];
        self.triangles
            .iter()
            .flatten()
            .for_each(|corner| used[*corner as usize] = true);
        used.into_iter()
            .enumerate()
            .filter_map(|(vertex, used)| used.then_some(vertex))
    }

    pub(crate) fn keep_triangles(&mut self, keep: &[bool]) {
        let mut kept = keep.iter();
        self.triangles.retain(|_| *kept.next().unwrap_or(&true));
        let mut kept = keep.iter();
        self.element_of.retain(|_| *kept.next().unwrap_or(&true));
    }
}

/// Tetrahedra as read, with their names for messages.
pub(crate) struct TetSoup {
    pub(crate) names: Names,
    pub(crate) vertices: Vec<Vector3<f64>>,
    /// Indices are in range.
    pub(crate) tets: Vec<[u32; 4]>,
    /// The file's element of each tetrahedron.
    pub(crate) element_of: Vec<u32>,
    /// Nodes on the edges of tetrahedra of ten nodes; they are vertices, too.
    pub(crate) edge_nodes: Vec<EdgeNode>,
}

impl TetSoup {
    pub(crate) fn corners(&self, tet: u32) -> [Vector3<f64>; 4] {
        self.tets[tet as usize].map(|corner| self.vertices[corner as usize])
    }

    pub(crate) fn elements(&self, tets: &[u32]) -> Vec<u32> {
        tets.iter().map(|t| self.element_of[*t as usize]).collect()
    }

    /// "cell 5 (vertices 0 4 7 6)".
    pub(crate) fn describe(&self, tet: u32) -> String {
        let name = self.names.elements.name(self.element_of[tet as usize]);
        format!(
            "{name} ({} {})",
            self.names.vertices.plural,
            self.names.vertex_list(&self.tets[tet as usize])
        )
    }

    pub(crate) fn element_error(&self, tet: u32, what: String, remedy: &str) -> MeshError {
        let at = self.names.element_location(self.element_of[tet as usize]);
        MeshError::Element(Flaw::new(at, what, remedy))
    }
}
