//! The body that is filled, given by its surface.

use nalgebra::{Point3, Vector3};

use crate::mesh::shells::solid_angle;
use crate::shape::{MeshShape, mesh_nearest};

/// Treatment of self-intersecting surfaces.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{Crossings, FillSettings, MeshError, SurfaceOptions, SurfaceUse, TriMesh, generate, tetrahedralise};
///
/// // Two cubes of 1 m that share a corner of 0.5 m × 0.6 m × 0.7 m, in one surface.
/// let cube = generate::cuboid(Vector3::repeat(0.5))?;
/// let shifted = cube.vertices().iter().map(|x| x + Vector3::new(0.5, 0.4, 0.3));
/// let vertices: Vec<_> = cube.vertices().iter().copied().chain(shifted).collect();
/// let n = cube.vertices().len() as u32;
/// let triangles: Vec<_> = cube.raw_triangles().chain(cube.raw_triangles().map(|t| t.map(|v| v + n))).collect();
/// let (surface, _) = TriMesh::build(vertices, triangles, SurfaceUse::Solid, &SurfaceOptions::default())?;
/// let settings = FillSettings::of_edge_length(0.2);
/// assert!(matches!(tetrahedralise(&surface, &settings), Err(MeshError::Topology(_))));
/// let (united, _) = tetrahedralise(&surface, &FillSettings { crossings: Crossings::Unite, ..settings })?;
/// assert_eq!(united.component_count(), 1);
/// let volume = united.solid_moments().volume;
/// assert!((volume - (2.0 - 0.5 * 0.6 * 0.7)).abs() < 0.05); // the shared part counts once
/// # Ok::<(), MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossings {
    /// An error with two of the intersecting triangles.
    Refuse,
    /// All points with a non-zero winding number are inside, so overlapping parts are united. Slow: every lattice point
    /// visits every triangle.
    Unite,
}

/// The body to be filled; its signed distance is negative inside.
pub(crate) struct Solid {
    pub(super) shape: MeshShape,
    pub(super) crossings: Crossings,
}

impl Solid {
    /// φ, m.
    pub(super) fn signed_distance(&self, p: &Vector3<f64>) -> f64 {
        let phi = self.nearest(p);
        match self.crossings {
            Crossings::Refuse => phi,
            Crossings::Unite => {
                let triangles = 0..self.shape.triangles().len() as u32;
                let angle: f64 = triangles
                    .map(|t| solid_angle(p, self.shape.corners(t).map(|c| c.coords)))
                    .sum();
                if angle > std::f64::consts::TAU {
                    -phi.abs()
                } else {
                    phi.abs()
                }
            }
        }
    }

    /// φ, m, from a point where φ is known: within |φ| of that point φ does not change sign.
    pub(super) fn signed_distance_near(&self, p: &Vector3<f64>, known: (Vector3<f64>, f64)) -> f64 {
        let (other, phi) = known;
        if self.crossings == Crossings::Unite && (p - other).norm() < phi.abs() {
            return self.nearest(p).abs().copysign(phi);
        }
        self.signed_distance(p)
    }

    /// Distance from the surface, m; the sign is correct where the surface does not intersect itself.
    fn nearest(&self, p: &Vector3<f64>) -> f64 {
        mesh_nearest(&self.shape, &Point3::from(*p)).0.value
    }
}
