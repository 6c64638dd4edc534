//! Ground given by its heights on a grid: two triangles in each cell, vertical walls, and a level bottom.

use nalgebra::Vector3;

use super::{closed, positive, within};
use crate::mesh::error::{FilePosition, Flaw, Location, MeshError};
use crate::mesh::tri_mesh::TriMesh;

/// Most heights along a side, and in all.
const SIDE: u32 = 1 << 16;
const NODES: usize = 4_000_000;

/// The solid below a grid of heights, with its middle above the origin.
///
/// `size` in m along x and y; `heights` in m, row after row from low to high y, each of `columns` heights from low to high x;
/// `bottom` in m, the level of the bottom, below all heights. The diagonal of each cell runs from its corner at high x to its
/// corner at high y.
///
/// # Errors
/// [`MeshError::Setting`] unless both sizes are positive, there are whole rows, at least two of at least two heights, and all
/// heights are finite and above the bottom.
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
///
/// // A ramp that rises from 0 to 0.6 m over 2 m along x, 4 m wide, on a base of 0.1 m.
/// let ramp = generate::height_field([2.0, 4.0], &[0.0, 0.3, 0.6, 0.0, 0.3, 0.6], 3, -0.1)?;
/// assert!(ramp.is_closed());
/// let volume = ramp.solid_moments().ok_or("it is closed")?.volume;
/// assert!((volume - 2.0 * 4.0 * (0.1 + 0.3)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn height_field(
    size: [f64; 2],
    heights: &[f64],
    columns: usize,
    bottom: f64,
) -> Result<TriMesh, MeshError> {
    size.iter().try_for_each(|side| positive("size", *side))?;
    let rows = heights.len() / columns.max(1);
    for (name, count) in [("rows of heights", rows), ("heights in a row", columns)] {
        within(name, u32::try_from(count).unwrap_or(u32::MAX), 2, SIDE)?;
    }
    if heights.len() != rows * columns || heights.len() > NODES {
        let what = format!("{} heights in rows of {columns}", heights.len());
        let remedy = format!("Give whole rows, and at most {NODES} heights");
        return Err(flaw(what, remedy));
    }
    let is_above = |height: &f64| height.is_finite() && *height > bottom;
    if let Some(k) = heights.iter().position(|height| !is_above(height)) {
        let what = format!(
            "height {} in row {} is {} m",
            k % columns,
            k / columns,
            heights[k]
        );
        let remedy = format!("It must be finite and above the bottom at {bottom} m");
        return Err(flaw(what, remedy));
    }
    let grid = Grid {
        size,
        rows,
        columns,
    };
    let rim = grid.rim();
    let mut vertices: Vec<Vector3<f64>> = (heights.iter().enumerate())
        .map(|(k, height)| grid.node(k, *height))
        .collect();
    vertices.extend(rim.iter().map(|k| grid.node(*k, bottom)));
    vertices.push(Vector3::new(0.0, 0.0, bottom));
    let mut triangles = grid.ground();
    let first = heights.len();
    let middle = first + rim.len();
    for k in 0..rim.len() {
        let next = (k + 1) % rim.len();
        let [a, b, c, d] = [rim[k], rim[next], first + next, first + k];
        triangles.extend([[a, d, c], [a, c, b], [middle, c, d]]);
    }
    let index = |triangle: [usize; 3]| triangle.map(|k| k as u32);
    closed(vertices, triangles.into_iter().map(index).collect())
}

fn flaw(what: String, remedy: String) -> MeshError {
    let at = Location::new("height field", FilePosition::Whole);
    MeshError::Setting(Flaw::new(at, what, remedy))
}

/// Node k is number k % `columns` along x, k / `columns` along y.
struct Grid {
    size: [f64; 2],
    rows: usize,
    columns: usize,
}

impl Grid {
    fn node(&self, k: usize, height: f64) -> Vector3<f64> {
        let along = |side: f64, i: usize, n: usize| side * (i as f64 / (n - 1) as f64 - 0.5);
        Vector3::new(
            along(self.size[0], k % self.columns, self.columns),
            along(self.size[1], k / self.columns, self.rows),
            height,
        )
    }

    /// The nodes on the edge, counterclockwise seen from above.
    fn rim(&self) -> Vec<usize> {
        let (rows, columns) = (self.rows, self.columns);
        let south = 0..columns - 1;
        let east = (0..rows - 1).map(|row| row * columns + columns - 1);
        let north = (1..columns)
            .rev()
            .map(|column| (rows - 1) * columns + column);
        let west = (1..rows).rev().map(|row| row * columns);
        south.chain(east).chain(north).chain(west).collect()
    }

    fn ground(&self) -> Vec<[usize; 3]> {
        let mut triangles = Vec::new();
        for row in 0..self.rows - 1 {
            for column in 0..self.columns - 1 {
                let a = row * self.columns + column;
                let [b, c, d] = [a + 1, a + self.columns, a + self.columns + 1];
                triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
        triangles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_surface_is_closed_and_bounds_its_prisms() {
        // Below a triangle stands a prism: its area times the mean of its three heights.
        let (rows, columns) = (4, 5);
        let heights: Vec<f64> = (0..rows * columns).map(|k| f64::from(k * k % 7)).collect();
        let surface = height_field([2.0, 3.0], &heights, columns as usize, -1.0).unwrap();
        assert!(surface.is_closed());
        assert_eq!((surface.euler_number(), surface.component_count()), (2, 1));
        let mut sum = 0.0;
        for (row, column) in (0..rows - 1).flat_map(|j| (0..columns - 1).map(move |i| (j, i))) {
            let at = |j: i32, i: i32| heights[((row + j) * columns + column + i) as usize] + 1.0;
            let lower = (at(0, 0) + at(0, 1) + at(1, 0)) / 3.0;
            let upper = (at(0, 1) + at(1, 1) + at(1, 0)) / 3.0;
            sum += (lower + upper) / 2.0 * (2.0 / 4.0) * (3.0 / 3.0);
        }
        let volume = surface.solid_moments().unwrap().volume;
        assert!((volume - sum).abs() < 1e-12 * sum, "{volume} {sum}");
    }

    #[test]
    fn faulty_grids_are_refused_with_the_height() {
        let refused = |heights: &[f64], columns: usize, expected: &str| {
            let error = height_field([1.0, 1.0], heights, columns, -1.0).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        };
        refused(&[0.0; 2], 2, "rows of heights = 1");
        refused(&[0.0; 2], 1, "heights in a row = 1");
        refused(&[], 0, "rows of heights = 0");
        refused(&[0.0; 5], 2, "5 heights in rows of 2");
        refused(&[0.0, 0.0, 0.0, f64::NAN], 2, "height 1 in row 1 is NaN m");
        refused(&[0.0, -1.0, 0.0, 0.0], 2, "above the bottom at -1 m");
        assert!(height_field([1.0, 0.0], &[0.0; 4], 2, -1.0).is_err());
    }
}
