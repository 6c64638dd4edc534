//! Forces of all triangles and hinges, summed at the vertices.

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::Real;
use rayon::prelude::*;

use super::{Cloth, PARALLEL_TRIANGLES_MIN};

/// What a cloth exerts in one state; memory to be used again for the next.
///
/// Triangles and hinges write their own forces, then every vertex adds up what is at its corners: in parallel, with the same bits for any
/// number of threads. An example is at [`Cloth`].
#[derive(Clone, Debug, Default)]
pub struct ClothForces<T> {
    vertices: Vec<Vector3<T>>,
    kirchhoff: Vec<Matrix3<T>>,
    /// Of the corners of triangles, then of hinges.
    corners: Vec<Vector3<T>>,
}

impl<T: Real> ClothForces<T> {
    /// Forces on the vertices, N, without gravity.
    #[must_use]
    pub fn vertices(&self) -> &[Vector3<T>] {
        &self.vertices
    }

    /// Kirchhoff stress of each centroid, Pa, acting on the [volume](super::ClothTriangle::volume) of its triangle.
    #[must_use]
    pub fn kirchhoff(&self) -> &[Matrix3<T>] {
        &self.kirchhoff
    }

    /// Computes forces and stresses of `cloth` with these positions (m) and velocities (m/s) of its vertices and normals of its
    /// triangles. Allocates when the cloth is larger than all before.
    ///
    /// # Panics
    /// If a slice does not have an entry for each vertex or triangle.
    pub fn evaluate(
        &mut self,
        cloth: &Cloth<T>,
        positions: &[Vector3<T>],
        velocities: &[Vector3<T>],
        normals: &[Vector3<T>],
    ) {
        cloth.check_lengths(positions.len(), normals.len());
        cloth.check_lengths(velocities.len(), normals.len());
        let of_triangles = 3 * cloth.triangles.len();
        let corner_count = of_triangles + 4 * cloth.hinges.len();
        self.vertices.resize(positions.len(), Vector3::zeros());
        self.kirchhoff.resize(normals.len(), Matrix3::zeros());
        self.corners.resize(corner_count, Vector3::zeros());
        let (triangle_corners, hinge_corners) = self.corners.split_at_mut(of_triangles);
        cloth
            .triangles
            .par_iter()
            .zip(normals)
            .zip(triangle_corners.par_chunks_exact_mut(3))
            .zip(&mut self.kirchhoff)
            .with_min_len(PARALLEL_TRIANGLES_MIN)
            .for_each(|(((triangle, normal), corners), kirchhoff)| {
                let x = triangle.vertices.map(|v| positions[v as usize]);
                let v = triangle.vertices.map(|v| velocities[v as usize]);
                let forces = triangle.forces(&cloth.law, &x, &v, normal);
                corners.copy_from_slice(&forces.vertices);
                *kirchhoff = forces.kirchhoff;
            });
        cloth
            .hinges
            .par_iter()
            .zip(hinge_corners.par_chunks_exact_mut(4))
            .with_min_len(PARALLEL_TRIANGLES_MIN)
            .for_each(|(hinge, corners)| {
                let x = hinge.vertices.map(|v| positions[v as usize]);
                corners.copy_from_slice(&hinge.forces(&x));
            });
        let corners = &self.corners;
        self.vertices
            .par_iter_mut()
            .enumerate()
            .with_min_len(PARALLEL_TRIANGLES_MIN)
            .for_each(|(vertex, force)| {
                let at = cloth.corners.at(vertex);
                *force = at
                    .iter()
                    .fold(Vector3::zeros(), |sum, n| sum + corners[*n as usize]);
            });
    }
}
