//! A sheet of squares, each divided into two triangles.

use nalgebra::Vector3;

use super::{build, positive, within};
use crate::mesh::error::MeshError;
use crate::mesh::options::SurfaceUse;
use crate::mesh::tri_mesh::TriMesh;

/// A flat sheet of cloth about the origin in the plane z = 0, its normals along +z.
///
/// `size` in m along x and y, `cells` squares along each, every square divided along alternating diagonals.
///
/// # Errors
/// [`MeshError::Setting`] unless both sizes are positive and both counts lie in 1..=4096.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{TriangleIdx, generate};
///
/// let flag = generate::sheet([0.6, 0.4], [3, 2])?;
/// assert_eq!((flag.vertices().len(), flag.triangles().len()), (12, 12));
/// assert!((flag.area() - 0.24).abs() < 1e-15);
/// assert!((flag.triangle_normal(TriangleIdx(0)) - Vector3::z()).norm() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
pub fn sheet(size: [f64; 2], cells: [u32; 2]) -> Result<TriMesh, MeshError> {
    size.iter().try_for_each(|side| positive("size", *side))?;
    cells
        .iter()
        .try_for_each(|count| within("cells", *count, 1, 4096))?;
    let [n_x, n_y] = cells;
    let coordinate = |k: usize, i: u32| size[k] * (f64::from(i) / f64::from(cells[k]) - 0.5);
    let vertices = (0..=n_y)
        .flat_map(|j| (0..=n_x).map(move |i| Vector3::new(coordinate(0, i), coordinate(1, j), 0.0)))
        .collect();
    let at = |i: u32, j: u32| j * (n_x + 1) + i;
    let mut triangles = Vec::new();
    for j in 0..n_y {
        for i in 0..n_x {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend(if (i + j) % 2 == 0 {
                [[a, b, c], [a, c, d]]
            } else {
                [[a, b, d], [b, c, d]]
            });
        }
    }
    build(vertices, triangles, SurfaceUse::Cloth)
}
