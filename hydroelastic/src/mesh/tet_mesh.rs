//! `TetMesh`: a checked, immutable tetrahedral mesh with adjacency and its boundary surface.

use super::components::components_by_vertex;
use super::edge_nodes::NodesOnEdges;
use super::error::MeshError;
use super::faces::{FACES, sorted_faces};
use super::index::{TetIdx, VertexIdx};
use super::moments::{Bounds, SolidMoments, six_volumes, solid_moments};
use super::options::{
    Degenerate, Orientation, SelfIntersections, SurfaceOptions, SurfaceUse, Weld,
};
use super::tri_mesh::TriMesh;
use nalgebra::Vector3;

/// A tetrahedral mesh: vertices in metres, tetrahedra of positive volume, adjacency, boundary.
///
/// Every face belongs to one or two tetrahedra, every vertex to at least one.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{TetIdx, generate};
///
/// // A cube of 2 m, in 2 × 2 × 2 cells.
/// let cube = generate::tet_cuboid(Vector3::repeat(1.0), [2, 2, 2])?;
/// assert_eq!(cube.vertices().len(), 27);
/// assert!((cube.solid_moments().volume - 8.0).abs() < 1e-12);
/// assert!((cube.boundary_area() - 24.0).abs() < 1e-12);
/// assert!(cube.tet_volume(TetIdx(0)) > 0.0);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TetMesh {
    vertices: Vec<Vector3<f64>>,
    /// Ascending by edges.
    edge_nodes: NodesOnEdges<VertexIdx>,
    tets: Vec<[VertexIdx; 4]>,
    neighbours: Vec<[Option<TetIdx>; 4]>,
    boundary: Boundary,
    component_of: Vec<u32>,
    component_count: u32,
    bounds: Bounds,
}

/// The boundary of a [`TetMesh`]: the faces of a single tetrahedron, in the order of the tetrahedra.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::generate;
///
/// // A cube of 1 m as 6 tetrahedra: two triangles on each side, each opposite to a corner of the tetrahedron behind it.
/// let cube = generate::tet_cuboid(Vector3::repeat(0.5), [1, 1, 1])?;
/// let boundary = cube.boundary();
/// assert_eq!((cube.tets().len(), boundary.triangles.len()), (6, 12));
/// for ((triangle, tet), opposite) in boundary.triangles.iter().zip(&boundary.tets).zip(&boundary.opposite_corners) {
///     let [a, b, c] = triangle.map(|v| cube.vertices()[v.index()]);
///     let inside = cube.corners(*tet)[usize::from(*opposite)];
///     assert!((b - a).cross(&(c - a)).dot(&(inside - a)) < 0.0, "counter-clockwise seen from outside");
/// }
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Boundary {
    /// Corners as vertices of the tetrahedral mesh, counter-clockwise seen from outside.
    pub triangles: Vec<[VertexIdx; 3]>,
    /// The tetrahedron behind each triangle.
    pub tets: Vec<TetIdx>,
    /// The corner (0..4) of that tetrahedron opposite to the triangle.
    pub opposite_corners: Vec<u8>,
}

impl TetMesh {
    /// From parts that have passed all checks.
    pub(crate) fn assemble(vertices: Vec<Vector3<f64>>, tets: &[[u32; 4]]) -> Self {
        let mut neighbours = vec![[None; 4]; tets.len()];
        for group in sorted_faces(tets).chunk_by(|a, b| a.corners == b.corners) {
            assert!(
                group.len() <= 2,
                "faces with more than two tetrahedra are refused before the adjacency is built"
            );
            if let [one, two] = group {
                neighbours[one.tet()][one.side()] = Some(TetIdx(two.tet() as u32));
                neighbours[two.tet()][two.side()] = Some(TetIdx(one.tet() as u32));
            }
        }
        let mut boundary = Boundary::default();
        for ((tet, across), t) in tets.iter().zip(&neighbours).zip(0_u32..) {
            for k in 0..4 {
                if across[k].is_none() {
                    boundary
                        .triangles
                        .push(FACES[k].map(|corner| VertexIdx(tet[corner])));
                    boundary.tets.push(TetIdx(t));
                    boundary.opposite_corners.push(k as u8);
                }
            }
        }
        let (component_of, component_count) = components_by_vertex(vertices.len(), tets);
        let bounds = Bounds::of(&vertices).expect("a checked mesh has vertices");
        let tets = tets.iter().map(|tet| tet.map(VertexIdx)).collect();
        Self {
            vertices,
            edge_nodes: Vec::new(),
            tets,
            neighbours,
            boundary,
            component_of,
            component_count,
            bounds,
        }
    }

    pub(crate) fn set_edge_nodes(&mut self, nodes: NodesOnEdges<VertexIdx>) {
        self.edge_nodes = nodes;
    }

    /// Nodes on the edges of ten-node tetrahedra, m, ascending by edges, lower vertex first; empty for a mesh of four-node tetrahedra. Only
    /// [`QuadraticMesh`](super::QuadraticMesh) takes notice of them: here, edges are straight.
    #[must_use]
    pub fn edge_nodes(&self) -> &[([VertexIdx; 2], Vector3<f64>)] {
        &self.edge_nodes
    }

    /// Positions, m.
    #[must_use]
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Corners of each tetrahedron; all volumes are positive.
    #[must_use]
    pub fn tets(&self) -> &[[VertexIdx; 4]] {
        &self.tets
    }

    /// Positions of the four corners, m.
    #[must_use]
    pub fn corners(&self, tet: TetIdx) -> [Vector3<f64>; 4] {
        self.tets[tet.index()].map(|vertex| self.vertices[vertex.index()])
    }

    /// The neighbours across the four faces; face k is opposite to corner k; `None` on the boundary.
    #[must_use]
    pub fn neighbours(&self, tet: TetIdx) -> [Option<TetIdx>; 4] {
        self.neighbours[tet.index()]
    }

    /// The boundary triangles.
    #[must_use]
    pub fn boundary(&self) -> &Boundary {
        &self.boundary
    }

    /// Area of the boundary, m².
    #[must_use]
    pub fn boundary_area(&self) -> f64 {
        let area = |triangle: &[VertexIdx; 3]| {
            let [a, b, c] = triangle.map(|vertex| self.vertices[vertex.index()]);
            0.5 * (b - a).cross(&(c - a)).norm()
        };
        self.boundary.triangles.iter().map(area).sum()
    }

    /// The boundary as a surface mesh, with the vertex of this mesh for each of its vertices. Its triangle k is
    /// triangle k of [`TetMesh::boundary`].
    ///
    /// # Errors
    /// [`MeshError::Topology`] when components of the mesh touch only in an edge (shared by four boundary triangles),
    /// and [`MeshError::Element`] when a boundary triangle has no significant area (a very flat tetrahedron).
    pub fn boundary_surface(&self) -> Result<(TriMesh, Vec<VertexIdx>), MeshError> {
        let mut new_index = vec![u32::MAX; self.vertices.len()];
        let mut old_index = Vec::new();
        let renumber = |vertex: VertexIdx| {
            let new = &mut new_index[vertex.index()];
            if *new == u32::MAX {
                *new = old_index.len() as u32;
                old_index.push(vertex);
            }
            *new
        };
        let triangles = self
            .boundary
            .triangles
            .iter()
            .flatten()
            .copied()
            .map(renumber)
            .collect::<Vec<u32>>();
        let triangles = triangles
            .chunks_exact(3)
            .map(|t| [t[0], t[1], t[2]])
            .collect();
        let vertices = old_index
            .iter()
            .map(|vertex| self.vertices[vertex.index()])
            .collect();
        let as_is = SurfaceOptions {
            weld: Weld::Never,
            degenerate: Degenerate::Refuse,
            orientation: Orientation::Refuse,
            self_intersections: SelfIntersections::Skip,
            ..SurfaceOptions::default()
        };
        let (surface, _) = TriMesh::build(vertices, triangles, SurfaceUse::Solid, &as_is)?;
        Ok((surface, old_index))
    }

    /// Volume of one tetrahedron, m³; positive.
    #[must_use]
    pub fn tet_volume(&self, tet: TetIdx) -> f64 {
        let [a, b, c, d] = self.corners(tet);
        six_volumes(&a, &b, &c, &d) / 6.0
    }

    /// Volume, centroid and inertia of the whole mesh at unit density.
    #[must_use]
    pub fn solid_moments(&self) -> SolidMoments {
        let center = self.bounds.center();
        solid_moments(
            center,
            self.tet_indices()
                .map(|t| self.corners(t).map(|corner| corner - center)),
        )
    }

    /// The smallest axis-aligned box around the vertices.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Number of connected components; tetrahedra that share a vertex are connected.
    #[must_use]
    pub fn component_count(&self) -> usize {
        self.component_count as usize
    }

    /// The component of a tetrahedron, counted from 0.
    #[must_use]
    pub fn component_of(&self, tet: TetIdx) -> usize {
        self.component_of[tet.index()] as usize
    }

    /// Quality of one tetrahedron, see [`tet_quality`].
    #[must_use]
    pub fn quality(&self, tet: TetIdx) -> f64 {
        tet_quality(self.corners(tet))
    }

    /// The worst tetrahedron and its quality.
    #[must_use]
    pub fn min_quality(&self) -> (TetIdx, f64) {
        let qualities = self.tet_indices().map(|t| (t, self.quality(t)));
        qualities
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("a checked mesh has tetrahedra")
    }

    fn tet_indices(&self) -> impl Iterator<Item = TetIdx> + use<> {
        (0..self.tets.len() as u32).map(TetIdx)
    }
}

/// Quality of a tetrahedron: 6√2 V / l_rms³ with signed volume V and root mean square edge length l_rms.
///
/// Dimensionless; 1 for a regular tetrahedron, towards 0 for a sliver or needle, 0 when flat, negative when inverted.
#[must_use]
pub fn tet_quality(corners: [Vector3<f64>; 4]) -> f64 {
    let [a, b, c, d] = corners;
    let edges = [b - a, c - a, d - a, c - b, d - b, d - c];
    let mean_square = edges.iter().map(Vector3::norm_squared).sum::<f64>() / 6.0;
    let cube = mean_square * mean_square.sqrt();
    if cube == 0.0 {
        0.0
    } else {
        2.0_f64.sqrt() * six_volumes(&a, &b, &c, &d) / cube
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_tetrahedron_has_quality_one_at_any_size() {
        for size in [1e-20, 1.0, 1e20] {
            let corner = |x: f64, y: f64, z: f64| Vector3::new(x, y, z) * size;
            let tet = [
                corner(1., 1., 1.),
                corner(-1., 1., -1.),
                corner(1., -1., -1.),
                corner(-1., -1., 1.),
            ];
            let [a, b, c, d] = tet;
            assert!((tet_quality(tet) - 1.0).abs() < 8.0 * f64::EPSILON);
            assert!((tet_quality([a, c, b, d]) + 1.0).abs() < 8.0 * f64::EPSILON);
        }
    }

    #[test]
    fn faces_of_a_positive_tetrahedron_point_outward() {
        let tet: [Vector3<f64>; 4] = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
        for (k, face) in FACES.iter().enumerate() {
            let [a, b, c] = face.map(|corner| tet[corner]);
            assert!((b - a).cross(&(c - a)).dot(&(a - tet[k])) > 0.0, "face {k}");
        }
    }
}
