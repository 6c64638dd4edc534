//! Staggered rows of points and the nearly equilateral triangles between them.
//!
//! In a row, points are one edge apart; in every other row they are shifted by half an edge. For a given bound on the edges, no other
//! regular arrangement has fewer vertices and triangles for the same area.

use nalgebra::Vector3;

use super::{build, positive, within};
use crate::mesh::error::MeshError;
use crate::mesh::options::SurfaceUse;
use crate::mesh::tri_mesh::TriMesh;

/// Bound on the number of edges of a row, and on that of the rows.
const COUNT_MAX: u32 = 4096;

/// A flat sheet about the origin in the plane z = 0, its normals along +z, of nearly equilateral triangles.
///
/// `size` in m along x and y; no edge is longer than `edge` (m). The rows are parallel to x.
///
/// # Errors
/// [`MeshError::Setting`] unless all lengths are positive, and at most 4096 edges fit along each side.
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
///
/// // No edge exceeds its bound, and fewer vertices are needed than on a square grid with diagonals of that length.
/// let sheet = generate::staggered_sheet([1.0, 1.0], 0.1)?;
/// let length = |[a, b]: [usize; 2]| (sheet.vertices()[a] - sheet.vertices()[b]).norm();
/// assert!(sheet.edges().iter().all(|edge| length(edge.vertices.map(|v| v.index())) <= 0.1 * (1.0 + 1e-12)));
/// let n = (2f64.sqrt() / 0.1).ceil() as u32;
/// assert!(sheet.vertices().len() < generate::sheet([1.0, 1.0], [n, n])?.vertices().len());
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
pub fn staggered_sheet(size: [f64; 2], edge: f64) -> Result<TriMesh, MeshError> {
    size.iter().try_for_each(|side| positive("size", *side))?;
    positive("edge", edge)?;
    let along = count("edges along x", size[0] / edge)?;
    let length = size[0] / f64::from(along);
    let n_rows = count("rows", size[1] / row_distance(edge, length))?;
    let points = |row: u32| {
        let y = size[1] * (f64::from(row) / f64::from(n_rows) - 0.5);
        row_of(row, 0.5 * size[0], length)
            .into_iter()
            .map(move |x| Vector3::new(x, y, 0.0))
    };
    let mut vertices: Vec<Vector3<f64>> = Vec::new();
    let mut triangles = Vec::new();
    let mut below: Vec<u32> = Vec::new();
    for row in 0..=n_rows {
        let first = vertices.len() as u32;
        vertices.extend(points(row));
        let above: Vec<u32> = (first..vertices.len() as u32).collect();
        strip(&vertices, &below, &above, &mut triangles);
        below = above;
    }
    build(vertices, triangles, SurfaceUse::Cloth)
}

/// The whole number of parts, none of them longer than one.
fn count(name: &str, parts: f64) -> Result<u32, MeshError> {
    // The quotient of lengths in decimal digits may be above a whole number by rounding.
    let count = (parts - 1e-9).ceil().clamp(1.0, f64::from(u32::MAX)) as u32;
    within(name, count, 1, COUNT_MAX)?;
    Ok(count)
}

/// The distance of rows for which the edges between them are `edge` long, if those along them are `length` long.
pub(super) fn row_distance(edge: f64, length: f64) -> f64 {
    (edge * edge - 0.25 * length * length).sqrt()
}

/// Coordinates of the points of a row from `-half` to `half`; odd rows are shifted by half of `length`, but for their ends.
pub(super) fn row_of(row: u32, half: f64, length: f64) -> Vec<f64> {
    let n = (2.0 * half / length).round() as u32;
    if row.is_multiple_of(2) {
        return (0..=n).map(|k| f64::from(k) * length - half).collect();
    }
    let inner = (0..n).map(|k| (f64::from(k) + 0.5) * length - half);
    std::iter::once(-half)
        .chain(inner)
        .chain(std::iter::once(half))
        .collect()
}

/// The triangles between two rows of points along x, the first below the second: the shorter diagonal of each gap.
pub(super) fn strip(
    vertices: &[Vector3<f64>],
    below: &[u32],
    above: &[u32],
    triangles: &mut Vec<[u32; 3]>,
) {
    let distance = |a: u32, b: u32| (vertices[a as usize] - vertices[b as usize]).norm();
    let (mut low, mut high) = (below, above);
    while let ([a, low_rest @ ..], [b, high_rest @ ..]) = (low, high) {
        let (next_low, next_high) = (low_rest.first(), high_rest.first());
        let along_low = next_low.map_or(f64::INFINITY, |next| distance(*next, *b));
        let along_high = next_high.map_or(f64::INFINITY, |next| distance(*a, *next));
        match (next_low, next_high) {
            (Some(next), _) if along_low <= along_high => {
                triangles.push([*a, *next, *b]);
                low = low_rest;
            }
            (_, Some(next)) => {
                triangles.push([*a, *next, *b]);
                high = high_rest;
            }
            _ => break,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn longest_edge(mesh: &TriMesh) -> f64 {
        let vertices = mesh.vertices();
        let length = |[a, b]: [usize; 2]| (vertices[a] - vertices[b]).norm();
        let edges = mesh.edges().iter();
        edges
            .map(|edge| length(edge.vertices.map(|v| v.index())))
            .fold(0.0, f64::max)
    }

    #[test]
    fn a_staggered_sheet_is_whole_and_has_no_longer_edge() {
        for (size, edge) in [
            ([0.42, 0.42], 1.0 / 64.0),
            ([1.0, 0.3], 0.1),
            ([0.2, 0.7], 0.3),
        ] {
            let mesh = staggered_sheet(size, edge).unwrap();
            assert!((mesh.area() - size[0] * size[1]).abs() < 1e-12);
            assert_eq!((mesh.euler_number(), mesh.boundary_loops().len()), (1, 1));
            assert!(longest_edge(&mesh) <= edge * (1.0 + 1e-9), "{size:?}");
            let up = (0..mesh.triangles().len())
                .all(|t| mesh.triangle_normal((t as u32).into()).z > 0.9);
            assert!(up, "{size:?}");
        }
    }

    /// Equilateral triangles of this edge have an area of √3/4 a²; squares that are halved, with the bound on their diagonals,
    /// a²/4.
    #[test]
    fn a_staggered_sheet_has_as_few_triangles_as_equilateral_ones() {
        let (size, edge) = ([1.0, 1.0], 0.02);
        let mesh = staggered_sheet(size, edge).unwrap();
        let fewest = size[0] * size[1] / (0.75_f64.sqrt() * 0.5 * edge * edge);
        let ratio = mesh.triangles().len() as f64 / fewest;
        assert!((1.0..1.04).contains(&ratio), "{ratio}");
    }

    #[test]
    fn impossible_sheets_are_refused() {
        for (size, edge, name) in [
            ([0.0, 1.0], 0.1, "size"),
            ([1.0, 1.0], -0.1, "edge"),
            ([1.0, 1.0], 1e-4, "edges along x"),
        ] {
            let error = staggered_sheet(size, edge).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
