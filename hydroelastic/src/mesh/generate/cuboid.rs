//! Boxes: twelve triangles, or cells of six tetrahedra.

use nalgebra::Vector3;

use super::{closed, positive, within};
use crate::mesh::error::MeshError;
use crate::mesh::options::TetOptions;
use crate::mesh::tet_mesh::TetMesh;
use crate::mesh::tri_mesh::TriMesh;

/// A box about the origin, two triangles per face. `half_extents` in m.
///
/// # Errors
/// [`MeshError::Setting`] unless all half extents are positive.
pub fn cuboid(half_extents: Vector3<f64>) -> Result<TriMesh, MeshError> {
    half_extents
        .iter()
        .try_for_each(|half| positive("half extent", *half))?;
    let corner = |c: u32| {
        Vector3::from_fn(|k, _| {
            if c >> k & 1 == 1 {
                half_extents[k]
            } else {
                -half_extents[k]
            }
        })
    };
    let faces = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles = faces
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .collect();
    closed((0..8).map(corner).collect(), triangles)
}

/// A box of tetrahedra about the origin: `cells` small boxes along x, y, z, each divided into six tetrahedra along its
/// long diagonal. All diagonals are parallel, so that neighbours conform.
///
/// `half_extents` in m.
///
/// # Errors
/// [`MeshError::Setting`] unless all half extents are positive and all counts lie in 1..=256.
pub fn tet_cuboid(half_extents: Vector3<f64>, cells: [u32; 3]) -> Result<TetMesh, MeshError> {
    half_extents
        .iter()
        .try_for_each(|half| positive("half extent", *half))?;
    cells
        .iter()
        .try_for_each(|count| within("cells", *count, 1, 256))?;
    let [n_x, n_y, n_z] = cells;
    let at = |i: [u32; 3]| (i[2] * (n_y + 1) + i[1]) * (n_x + 1) + i[0];
    let mut vertices = Vec::new();
    for k in 0..=n_z {
        for j in 0..=n_y {
            for i in 0..=n_x {
                let steps = [(i, n_x), (j, n_y), (k, n_z)];
                vertices.push(Vector3::from_fn(|axis, _| {
                    let (step, count) = steps[axis];
                    half_extents[axis] * (2.0 * f64::from(step) / f64::from(count) - 1.0)
                }));
            }
        }
    }
    let tets = six_a_cell(cells, at);
    Ok(TetMesh::build(vertices, tets, &TetOptions::default())?.0)
}

/// Tetrahedra of cells in rows, `at` the number of the vertex at a corner.
pub(super) fn six_a_cell([n_x, n_y, n_z]: [u32; 3], at: impl Fn([u32; 3]) -> u32) -> Vec<[u32; 4]> {
    // From corner 000 to corner 111 one axis after the other; odd permutations of the axes are inverted.
    let even = [[0, 1, 2], [1, 2, 0], [2, 0, 1]];
    let odd = [[1, 0, 2], [0, 2, 1], [2, 1, 0]];
    let mut tets = Vec::new();
    for k in 0..n_z {
        for j in 0..n_y {
            for i in 0..n_x {
                for (axes, swap) in even
                    .iter()
                    .map(|axes| (axes, false))
                    .chain(odd.iter().map(|axes| (axes, true)))
                {
                    let mut corner = [i, j, k];
                    let mut tet = [at(corner); 4];
                    for (step, axis) in axes.iter().enumerate() {
                        corner[*axis] += 1;
                        tet[step + 1] = at(corner);
                    }
                    if swap {
                        tet.swap(2, 3);
                    }
                    tets.push(tet);
                }
            }
        }
    }
    tets
}
