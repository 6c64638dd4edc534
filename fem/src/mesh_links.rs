//! The elements around each vertex.

use std::ops::Range;

use pliant_hydroelastic::mesh::TetMesh;

/// Elements around vertices. An *incidence* is a pair of an element and one of its vertices; those of a vertex are consecutive, in the
/// order of their elements.
#[derive(Clone, Debug)]
pub(crate) struct MeshLinks {
    corners: Vec<[u32; 4]>,
    /// First incidence of each vertex, and one past the last.
    starts: Vec<u32>,
    /// 4 · element + local vertex.
    incidences: Vec<u32>,
}

impl MeshLinks {
    pub(crate) fn new(mesh: &TetMesh) -> Self {
        let corners: Vec<[u32; 4]> = mesh.tets().iter().map(|tet| tet.map(|v| v.0)).collect();
        let mut starts = vec![0_u32; mesh.vertices().len() + 1];
        for vertex in corners.iter().flatten() {
            starts[*vertex as usize + 1] += 1;
        }
        for v in 1..starts.len() {
            starts[v] += starts[v - 1];
        }
        let mut next = starts.clone();
        let mut incidences = vec![0; 4 * corners.len()];
        for (vertex, code) in corners.iter().flatten().zip(0_u32..) {
            let next = &mut next[*vertex as usize];
            incidences[*next as usize] = code;
            *next += 1;
        }
        Self {
            corners,
            starts,
            incidences,
        }
    }

    pub(crate) fn n_vertices(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn n_incidences(&self) -> usize {
        self.incidences.len()
    }

    pub(crate) fn incidences(&self, vertex: u32) -> Range<usize> {
        let v = vertex as usize;
        self.starts[v] as usize..self.starts[v + 1] as usize
    }

    /// Element and local vertex of an incidence.
    #[inline]
    pub(crate) fn element(&self, incidence: usize) -> (usize, usize) {
        let code = self.incidences[incidence] as usize;
        (code / 4, code % 4)
    }

    /// Vertices of an incidence's element.
    #[inline]
    pub(crate) fn corners(&self, incidence: usize) -> [u32; 4] {
        self.corners[self.incidences[incidence] as usize / 4]
    }

    /// Vertices of an element.
    #[cfg(test)]
    pub(crate) fn corners_of(&self, element: usize) -> [u32; 4] {
        self.corners[element]
    }
}
