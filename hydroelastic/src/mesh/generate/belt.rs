//! A flat belt of tetrahedra around two pulleys.

use std::f64::consts::PI;

use nalgebra::Vector3;

use super::cuboid::six_a_cell;
use super::{positive, within};
use crate::mesh::error::MeshError;
use crate::mesh::options::TetOptions;
use crate::mesh::tet_mesh::TetMesh;

/// A belt of tetrahedra around two pulleys of radius `radius` (m) whose axles are parallel to y, at x = ±`axles`/2 (m);
/// `size`: width along y and thickness, m. `cells` along, across and through the belt, each of six tetrahedra; the
/// cells along it have equal length on its midline.
///
/// # Errors
/// [`MeshError::Setting`] unless all lengths are positive, and the cells along lie in 3..=4096, the others in 1..=256.
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
///
/// // Two pulleys of 0.1 m at a distance of 0.5 m: the midline of a belt of 1 cm is 2 · 0.5 m + 2π · 0.105 m long.
/// let belt = generate::tet_belt(0.5, 0.1, [0.05, 0.01], [200, 2, 1])?;
/// let length = 1.0 + std::f64::consts::TAU * 0.105;
/// assert!((belt.solid_moments().volume / (length * 0.05 * 0.01) - 1.0).abs() < 1e-3);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
pub fn tet_belt(
    axles: f64,
    radius: f64,
    size: [f64; 2],
    cells: [u32; 3],
) -> Result<TetMesh, MeshError> {
    let [width, thickness] = size;
    let lengths = [
        ("distance of the axles", axles),
        ("radius", radius),
        ("width", width),
        ("thickness", thickness),
    ];
    lengths
        .into_iter()
        .try_for_each(|(name, length)| positive(name, length))?;
    let [n_along, n_across, n_through] = cells;
    within("cells along", n_along, 3, 4096)?;
    within("cells across", n_across, 1, 256)?;
    within("cells through", n_through, 1, 256)?;
    let around = radius + 0.5 * thickness;
    let length = 2.0 * axles + 2.0 * PI * around;
    // Position on the midline and outward normal, by arc length: top, right pulley, bottom, left pulley.
    let midline = |s: f64| {
        let half = 0.5 * axles;
        let arc = PI * around;
        let on_arc = |centre: f64, angle: f64| {
            let out = Vector3::new(angle.sin(), 0.0, angle.cos());
            (Vector3::new(centre, 0.0, 0.0) + out * around, out)
        };
        if s < axles {
            (Vector3::new(s - half, 0.0, around), Vector3::z())
        } else if s < axles + arc {
            on_arc(half, (s - axles) / around)
        } else if s < 2.0 * axles + arc {
            let back = s - axles - arc;
            (Vector3::new(half - back, 0.0, -around), -Vector3::z())
        } else {
            on_arc(-half, PI + (s - 2.0 * axles - arc) / around)
        }
    };
    let mut vertices = Vec::new();
    for k in 0..=n_through {
        let height = thickness * (f64::from(k) / f64::from(n_through) - 0.5);
        for j in 0..=n_across {
            let y = width * (f64::from(j) / f64::from(n_across) - 0.5);
            for i in 0..n_along {
                let (position, out) = midline(length * f64::from(i) / f64::from(n_along));
                vertices.push(position + out * height + Vector3::y() * y);
            }
        }
    }
    let at = |[i, j, k]: [u32; 3]| (k * (n_across + 1) + j) * n_along + i % n_along;
    let tets = six_a_cell(cells, at);
    Ok(TetMesh::build(vertices, tets, &TetOptions::default())?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_belt_has_the_volume_of_its_polygon_and_one_hole() {
        let (axles, radius, size) = (0.146, 0.03, [0.02, 0.002]);
        let exact = (2.0 * axles + 2.0 * PI * (radius + 0.5 * size[1])) * size[0] * size[1];
        let mut before = f64::INFINITY;
        for n in [50, 100, 200] {
            let belt = tet_belt(axles, radius, size, [n, 4, 3]).unwrap();
            assert_eq!(belt.tets().len(), 6 * 12 * n as usize);
            let error = (belt.solid_moments().volume / exact - 1.0).abs();
            // Chords instead of arcs: second order.
            assert!(error < 0.35 * before, "{n}: {error}");
            before = error;
        }
        assert!(before < 5e-4, "{before}");
        assert!(tet_belt(axles, radius, size, [2, 4, 3]).is_err());
        assert!(tet_belt(axles, radius, [0.02, 0.0], [50, 4, 3]).is_err());
    }
}
