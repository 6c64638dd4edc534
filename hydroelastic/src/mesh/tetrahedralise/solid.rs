//! The body that is filled, given by its surface.

use nalgebra::{Point3, Vector3};

use crate::mesh::orientation::solid_angle;
use crate::shape::{MeshShape, mesh_nearest};

/// Treatment of self-intersecting surfaces.
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
