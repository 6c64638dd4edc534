//! A sphere: a subdivided icosahedron.

use std::collections::HashMap;

use nalgebra::Vector3;

use super::{closed, positive, within};
use crate::mesh::error::MeshError;
use crate::mesh::tri_mesh::TriMesh;

/// A sphere about the origin: an icosahedron whose triangles are subdivided into four, `subdivisions` times.
///
/// `radius` in m; 20 · 4ⁿ triangles.
///
/// # Errors
/// [`MeshError::Setting`] unless the radius is positive and `subdivisions` at most 8 (1.3 million triangles).
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
///
/// // Each subdivision reduces the error of the volume by about four.
/// let exact = 4.0 / 3.0 * std::f64::consts::PI;
/// let missing = |n: u32| generate::sphere(1.0, n).map(|ball| exact - ball.solid_moments().expect("closed").volume);
/// assert!((missing(3)? / missing(4)? - 4.0).abs() < 0.1);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
pub fn sphere(radius: f64, subdivisions: u32) -> Result<TriMesh, MeshError> {
    positive("radius", radius)?;
    within("subdivisions", subdivisions, 0, 8)?;
    // The corners of golden rectangles; the faces follow from nearest neighbours.
    let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let mut directions = Vec::new();
    for (s, t) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
        directions.push(Vector3::new(0.0, s, t * golden));
        directions.push(Vector3::new(s, t * golden, 0.0));
        directions.push(Vector3::new(t * golden, 0.0, s));
    }
    let adjacent = |i: usize, j: usize| (directions[i] - directions[j]).norm() < 2.1;
    let mut triangles = Vec::new();
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                if adjacent(i, j) && adjacent(j, k) && adjacent(k, i) {
                    let outward = directions[i].cross(&directions[j]).dot(&directions[k]) > 0.0;
                    let corners = [i as u32, j as u32, k as u32];
                    triangles.push(if outward {
                        corners
                    } else {
                        [corners[0], corners[2], corners[1]]
                    });
                }
            }
        }
    }
    let mut vertices: Vec<Vector3<f64>> = directions.iter().map(Vector3::normalize).collect();
    for _ in 0..subdivisions {
        let mut midpoints = HashMap::new();
        let mut finer = Vec::with_capacity(4 * triangles.len());
        for [a, b, c] in triangles {
            let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(from, to): (u32, u32)| {
                *midpoints
                    .entry((from.min(to), from.max(to)))
                    .or_insert_with(|| {
                        vertices
                            .push((vertices[from as usize] + vertices[to as usize]).normalize());
                        vertices.len() as u32 - 1
                    })
            });
            finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    vertices.iter_mut().for_each(|vertex| *vertex *= radius);
    closed(vertices, triangles)
}
