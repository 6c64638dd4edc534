//! Smoothing domains of edges: each edge has a sixth of every tetrahedron around it.

use pliant_hydroelastic::mesh::TetMesh;

/// The six edges of a tetrahedron by its corners.
pub(crate) const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// An edge, lower vertex first, and the part of a body that has it.
pub(crate) type PartEdge = ([u32; 2], u16);

/// Edges with the tetrahedra around them, both ascending; those of several parts once for each: no mean is taken across an interface of materials.
pub(crate) fn edge_stars(
    mesh: &TetMesh,
    part_of: impl Fn(u32) -> u16,
) -> Vec<(PartEdge, Vec<u32>)> {
    let mut sides: Vec<(PartEdge, u32)> = Vec::with_capacity(6 * mesh.tets().len());
    for (tet, e) in mesh.tets().iter().zip(0_u32..) {
        for [i, j] in EDGES {
            let [a, b] = [tet[i].0, tet[j].0];
            sides.push((([a.min(b), a.max(b)], part_of(e)), e));
        }
    }
    sides.sort_unstable();
    sides
        .chunk_by(|a, b| a.0 == b.0)
        .map(|star| (star[0].0, star.iter().map(|side| side.1).collect()))
        .collect()
}

/// The tetrahedra of each edge's domain.
pub(crate) fn edge_domains(mesh: &TetMesh, part_of: impl Fn(u32) -> u16) -> Vec<Vec<u32>> {
    let stars = edge_stars(mesh, part_of).into_iter();
    stars.map(|(_, star)| star).collect()
}
