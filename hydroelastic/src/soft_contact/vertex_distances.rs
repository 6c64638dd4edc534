//! Signed distances of a soft body's vertices to one shape, cached so that each is computed once.

use nalgebra::Point3;

use crate::posed::RigidShape;
use crate::signed_distance::SignedDistance;
use crate::soft_mesh::SoftMesh;

/// Reused storage.
#[derive(Default)]
pub(super) struct VertexDistances {
    cached: Vec<(u32, SignedDistance<f64>)>,
    /// The current pair; entries of other pairs are invalid.
    round: u32,
}

impl VertexDistances {
    /// Invalidates the entries of other pairs.
    pub(super) fn begin(&mut self, mesh: &SoftMesh) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.cached.clear();
            self.round = 1;
        }
        if self.cached.len() < mesh.n_points() {
            let none = (0, SignedDistance::flat(0.0, nalgebra::Vector3::z()));
            self.cached.resize(mesh.n_points(), none);
        }
    }

    /// In the frame of the shape.
    pub(super) fn of(
        &mut self,
        mesh: &SoftMesh,
        r: &RigidShape<'_>,
        vertex: u32,
    ) -> SignedDistance<f64> {
        let (round, cached) = &mut self.cached[vertex as usize];
        if *round != self.round {
            let p = Point3::from(mesh.point(vertex));
            *cached = r.shape.signed_distance(&r.X_WG.inverse_transform_point(&p));
            *round = self.round;
        }
        *cached
    }
}
