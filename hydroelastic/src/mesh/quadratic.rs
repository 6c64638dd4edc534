//! Ten-node tetrahedra: nodes at the vertices and on the edges, and the linear tetrahedra between them.

use super::error::{FilePosition, Flaw, Location, MeshError};
use super::index::{TetIdx, VertexIdx};
use super::options::{Orientation, TetOptions};
use super::tet_build::FLAT_QUALITY;
use super::tet_mesh::{TetMesh, tet_quality};
use nalgebra::Vector3;

/// Edges of a tetrahedron by its corners, in the order of nodes 4 to 9: the order of VTK and Abaqus.
pub const MID_EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]];

/// The part of a ten-node tetrahedron at each of its corners, by its nodes.
const CORNER_PARTS: [[usize; 4]; 4] = [[0, 4, 6, 7], [4, 1, 5, 8], [6, 5, 2, 9], [7, 8, 9, 3]];

/// Diagonals of the octahedron between them, with the other four nodes around it.
const DIAGONALS: [([usize; 2], [usize; 4]); 3] = [
    ([4, 9], [6, 7, 8, 5]),
    ([6, 8], [7, 4, 5, 9]),
    ([7, 5], [4, 6, 9, 8]),
];

/// Another diagonal must be shorter by this factor: on regular meshes round-off does not decide.
const SHORTER: f64 = 1.0 - 1e-6;

/// Ten-node tetrahedra, and their refinement: eight linear tetrahedra between the nodes of each, four at its corners and four around the shortest
/// diagonal of the octahedron between them. Faces are cut into four triangles.
///
/// Nodes are the vertices of a [`TetMesh`] in its order, then one for each edge: where [`TetMesh::edge_nodes`] has it, otherwise in the
/// middle.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{QuadraticMesh, generate};
///
/// // A cube of 6 tetrahedra has 8 vertices and 19 edges.
/// let cube = generate::tet_cuboid(Vector3::repeat(0.5), [1, 1, 1])?;
/// let quadratic = QuadraticMesh::of(&cube)?;
/// assert_eq!(quadratic.refinement().vertices().len(), 8 + 19);
/// assert_eq!(quadratic.refinement().tets().len(), 8 * 6);
/// // The node of the first edge of the first tetrahedron is in its middle.
/// let [a, b, .., mid] = [0, 1, 4].map(|k| quadratic.refinement().vertices()[quadratic.elements()[0][k].index()]);
/// assert_eq!(mid, (a + b) / 2.0);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Debug)]
pub struct QuadraticMesh {
    refinement: TetMesh,
    elements: Vec<[VertexIdx; 10]>,
}

impl QuadraticMesh {
    /// The ten-node tetrahedra of a mesh.
    ///
    /// # Errors
    /// [`MeshError::Element`] for a tetrahedron that its curved edges fold.
    pub fn of(mesh: &TetMesh) -> Result<Self, MeshError> {
        let edges = edges_of(mesh);
        let mut nodes = mesh.vertices().to_vec();
        let curved = mesh.edge_nodes();
        nodes.extend(edges.iter().map(|edge| {
            match curved.binary_search_by_key(edge, |(edge, _)| *edge) {
                Ok(found) => curved[found].1,
                Err(_) => {
                    let [a, b] = edge.map(|v| mesh.vertices()[v.index()]);
                    (a + b) * 0.5
                }
            }
        }));
        let first = mesh.vertices().len() as u32;
        let element = |tet: &[VertexIdx; 4]| {
            std::array::from_fn(|k| {
                if k < 4 {
                    return tet[k];
                }
                let [i, j] = MID_EDGES[k - 4];
                let edge = [tet[i].min(tet[j]), tet[i].max(tet[j])];
                VertexIdx(first + edges.partition_point(|other| *other < edge) as u32)
            })
        };
        let elements: Vec<[VertexIdx; 10]> = mesh.tets().iter().map(element).collect();
        let mut parts = Vec::with_capacity(8 * elements.len());
        for (element, e) in elements.iter().zip(0_u32..) {
            let at = element.map(|node| nodes[node.index()]);
            for part in parts_of(&at) {
                let quality = tet_quality(part.map(|k| at[k]));
                if quality < FLAT_QUALITY {
                    return Err(folded(TetIdx(e), element, part));
                }
                parts.push(part.map(|k| element[k].0));
            }
        }
        let options = TetOptions {
            orientation: Orientation::Refuse,
            ..TetOptions::default()
        };
        let (refinement, _) = TetMesh::build(nodes, parts, &options)?;
        Ok(Self {
            refinement,
            elements,
        })
    }

    /// The nodes of each element: four corners, then the nodes of the edges in the order of [`MID_EDGES`].
    #[must_use]
    pub fn elements(&self) -> &[[VertexIdx; 10]] {
        &self.elements
    }

    /// Linear tetrahedra between the nodes: those of element e are 8e to 8e + 7.
    #[must_use]
    pub fn refinement(&self) -> &TetMesh {
        &self.refinement
    }

    /// The refinement, and the nodes of each element.
    #[must_use]
    pub fn into_parts(self) -> (TetMesh, Vec<[VertexIdx; 10]>) {
        (self.refinement, self.elements)
    }
}

/// All edges, lower vertex first, ascending.
fn edges_of(mesh: &TetMesh) -> Vec<[VertexIdx; 2]> {
    let sides =
        |tet: &[VertexIdx; 4]| MID_EDGES.map(|[i, j]| [tet[i].min(tet[j]), tet[i].max(tet[j])]);
    let mut edges: Vec<[VertexIdx; 2]> = mesh.tets().iter().flat_map(sides).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// The eight parts of an element with nodes at these places.
fn parts_of(at: &[Vector3<f64>; 10]) -> [[usize; 4]; 8] {
    let length = |diagonal: usize| {
        let [p, q] = DIAGONALS[diagonal].0;
        (at[p] - at[q]).norm()
    };
    let shorter = |best: usize, other: usize| match length(other) < SHORTER * length(best) {
        true => other,
        false => best,
    };
    let ([p, q], around) = DIAGONALS[(1..3).fold(0, shorter)];
    std::array::from_fn(|k| match k {
        0..4 => CORNER_PARTS[k],
        _ => [p, q, around[k - 4], around[(k - 3) % 4]],
    })
}

fn folded(tet: TetIdx, element: &[VertexIdx; 10], part: [usize; 4]) -> MeshError {
    let numbers = |nodes: &[VertexIdx]| {
        let nodes: Vec<String> = nodes.iter().map(|v| v.0.to_string()).collect();
        nodes.join(" ")
    };
    MeshError::Element(Flaw::new(
        Location::new("ten-node tetrahedra", FilePosition::Whole),
        format!(
            "tetrahedron {} (vertices {}) is folded by its curved edges: the part between its nodes {part:?} has no positive volume",
            tet.0,
            numbers(&element[..4]),
        ),
        "Move the nodes of its edges towards the middles of the edges, or use smaller elements there",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::tet_cuboid;

    /// Nodes of a tetrahedron with straight edges.
    fn straight(corners: [Vector3<f64>; 4]) -> [Vector3<f64>; 10] {
        std::array::from_fn(|k| match k {
            0..4 => corners[k],
            _ => {
                let [i, j] = MID_EDGES[k - 4];
                (corners[i] + corners[j]) * 0.5
            }
        })
    }

    #[test]
    fn eight_parts_of_equal_volume_around_any_diagonal() {
        let mut diagonals = Vec::new();
        for apex in [
            Vector3::new(0.1, 0.2, 0.9),
            Vector3::new(1.0, -0.8, 0.9),
            Vector3::new(-0.8, 1.0, 0.9),
        ] {
            let corners = [Vector3::zeros(), Vector3::x(), Vector3::y(), apex];
            let at = straight(corners);
            let whole = (corners[1].cross(&corners[2])).dot(&corners[3]);
            for part in parts_of(&at) {
                let [o, a, b, c] = part.map(|k| at[k]);
                let volume = (a - o).cross(&(b - o)).dot(&(c - o));
                assert!((8.0 * volume / whole - 1.0).abs() < 1e-14, "{part:?}");
            }
            diagonals.push(parts_of(&at)[4][0]);
        }
        diagonals.sort_unstable();
        assert_eq!(diagonals, [4, 6, 7], "each diagonal is the shortest once");
    }

    #[test]
    fn the_refinement_of_a_box_is_conforming() {
        let mesh = tet_cuboid(Vector3::new(0.5, 0.4, 0.3), [3, 2, 2]).unwrap();
        let quadratic = QuadraticMesh::of(&mesh).unwrap();
        let fine = quadratic.refinement();
        // Cut by a grid of half the width.
        assert_eq!(fine.vertices().len(), 7 * 5 * 5);
        assert_eq!(fine.vertices()[..36], *mesh.vertices());
        let boundary = fine.boundary().triangles.len();
        assert_eq!(boundary, 4 * mesh.boundary().triangles.len());
        assert!((fine.boundary_area() - mesh.boundary_area()).abs() < 1e-14);
        assert!(fine.boundary_surface().is_ok());
    }
}
