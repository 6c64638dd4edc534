//! Rings of points around the middle of a disc, and the triangles between them.

use nalgebra::Vector3;

use super::staggered::strip;
use super::{build, positive, within};
use crate::mesh::error::MeshError;
use crate::mesh::options::SurfaceUse;
use crate::mesh::tri_mesh::TriMesh;

/// Bound on the number of rings.
const RINGS_MAX: u32 = 1024;
/// Points on the first ring; every further one has as many more.
const SECTORS: u32 = 6;
/// Longest edge over the distance of rings: from a corner of one ring to the next point of another, whose angle is a sixth of a turn over the number of
/// that ring.
const LONGEST: f64 = 1.45;

/// A flat disc about the origin in the plane z = 0, its normals along +z, of rings at equal distances.
///
/// `radius` in m; no edge is longer than `edge` (m). Ring k has 6k points, the first of them on the x axis; the disc is the same after a sixth of a turn.
/// Its outline is inscribed in the circle.
///
/// # Errors
/// [`MeshError::Setting`] unless both lengths are positive, and for more than 1024 rings.
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
///
/// let disc = generate::disc(0.15, 0.015)?;
/// // 15 rings.
/// assert_eq!(disc.vertices().len(), 1 + 6 * 15 * 16 / 2);
/// assert!((disc.area() / (std::f64::consts::PI * 0.15 * 0.15) - 1.0).abs() < 2e-3);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
pub fn disc(radius: f64, edge: f64) -> Result<TriMesh, MeshError> {
    positive("radius", radius)?;
    positive("edge", edge)?;
    let rings = (LONGEST * radius / edge - 1e-9)
        .ceil()
        .clamp(1.0, f64::from(u32::MAX)) as u32;
    within("rings", rings, 1, RINGS_MAX)?;
    let mut vertices = vec![Vector3::zeros()];
    let mut triangles = Vec::new();
    let mut inner: Vec<u32> = vec![0];
    for ring in 1..=rings {
        let first = vertices.len() as u32;
        let count = SECTORS * ring;
        let distance = radius * (f64::from(ring) / f64::from(rings));
        vertices.extend((0..count).map(|k| {
            let angle = std::f64::consts::TAU * f64::from(k) / f64::from(count);
            Vector3::new(angle.cos(), angle.sin(), 0.0) * distance
        }));
        let outer: Vec<u32> = (first..first + count).collect();
        for sector in 0..SECTORS {
            let of_sector = |points: &[u32], per_sector: u32| -> Vec<u32> {
                let at = |k: u32| points[k as usize % points.len()];
                (sector * per_sector..=(sector + 1) * per_sector)
                    .map(at)
                    .collect()
            };
            // Along the direction of rotation, the outer ring lies to the right of the inner one.
            let (low, high) = (of_sector(&outer, ring), of_sector(&inner, ring - 1));
            strip(&vertices, &low, &high, &mut triangles);
        }
        inner = outer;
    }
    build(vertices, triangles, SurfaceUse::Cloth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disc_is_whole_and_has_no_longer_edge() {
        for (radius, edge) in [(0.15, 0.015), (0.15, 0.4), (1.0, 0.11)] {
            let mesh = disc(radius, edge).unwrap();
            let (vertices, triangles) = (mesh.vertices(), mesh.triangles());
            assert_eq!((mesh.euler_number(), mesh.boundary_loops().len()), (1, 1));
            let up = (0..triangles.len()).all(|t| mesh.triangle_normal((t as u32).into()).z > 0.9);
            assert!(up, "{radius}");
            let length = |[a, b]: [usize; 2]| (vertices[a] - vertices[b]).norm();
            let lengths = mesh
                .edges()
                .iter()
                .map(|e| length(e.vertices.map(|v| v.index())));
            assert!(
                lengths.fold(0.0, f64::max) <= edge * (1.0 + 1e-9),
                "{radius}"
            );
            // A polygon of n corners in the circle.
            let corners = mesh.boundary_loops()[0].len() as f64;
            let angle = std::f64::consts::TAU / corners;
            let area = 0.5 * corners * radius * radius * angle.sin();
            assert!((mesh.area() / area - 1.0).abs() < 1e-12, "{radius}");
        }
    }

    #[test]
    fn impossible_discs_are_refused() {
        for (radius, edge, name) in [
            (0.0, 0.1, "radius"),
            (1.0, -0.1, "edge"),
            (1.0, 1e-5, "rings"),
        ] {
            let error = disc(radius, edge).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
