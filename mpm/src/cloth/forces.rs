//! Forces of all triangles and hinges, summed at the vertices.

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::Real;
use rayon::prelude::*;

use super::{Cloth, PARALLEL_TRIANGLES_MIN};

/// What a cloth exerts in one state; memory to be used again for the next.
///
/// Triangles and hinges write their own forces, then every vertex adds up what is at its corners: in parallel, with the same bits for any
/// number of threads. An example is at [`Cloth`].
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::generate;
/// use pliant_mpm::{Cloth, ClothForces, ClothMaterial, ClothMesh, InPlaneLaw};
///
/// // A square of cloth at rest in its plane, under a layer that has come to half the distance.
/// let material = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.3, 1000.0, 5e-4)?;
/// let (mesh, _) = ClothMesh::new("square", generate::sheet([0.1, 0.1], [10, 10])?, 0.02)?;
/// let cloth = Cloth::<f64>::new(&mesh, &material);
/// let positions = mesh.surface().vertices();
/// let velocities = vec![Vector3::zeros(); positions.len()];
/// let normals = vec![Vector3::z() * 0.5; cloth.triangles().len()];
/// let mut forces = ClothForces::default();
/// forces.evaluate(&cloth, positions, &velocities, &normals);
/// assert!(forces.vertices().iter().all(|force| force.norm() < 1e-12));
/// let pressure = 1e5 * 0.5_f64.ln().powi(2); // k ln² r₃₃ with k = E
/// assert!(forces.kirchhoff().iter().all(|tau| (tau[(2, 2)] + pressure).abs() < 1e-6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ClothForces<T> {
    vertices: Vec<Vector3<T>>,
    kirchhoff: Vec<Matrix3<T>>,
    /// Of the corners of triangles, then of hinges.
    corners: Vec<Vector3<T>>,
    /// Of the hinges of a plate.
    strains: Vec<T>,
    /// G times the strains, √J.
    combined: Vec<T>,
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

    /// Forces and stresses of `cloth` with these positions (m) and velocities (m/s) of its vertices and normals of its triangles.
    /// Allocates when the cloth is larger than all before.
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
        let motion = Motion {
            positions,
            velocities,
        };
        let of_triangles = self.fit(cloth, &motion, normals.len());
        let (corners, _) = self.corners.split_at_mut(of_triangles);
        (&cloth.triangles, normals)
            .into_par_iter()
            .zip(corners.par_chunks_exact_mut(3))
            .zip(&mut self.kirchhoff)
            .with_min_len(PARALLEL_TRIANGLES_MIN)
            .for_each(|(((triangle, normal), corners), kirchhoff)| {
                let (x, v) = motion.of(&triangle.vertices);
                let forces = triangle.forces(&cloth.law, &x, &v, normal);
                corners.copy_from_slice(&forces.vertices);
                *kirchhoff = forces.kirchhoff;
            });
        self.bend_and_sum(cloth, positions);
    }

    /// [`Cloth::convect_normals`] and [`Self::evaluate`] in one pass over the triangles: the end of one substep and the beginning
    /// of the next. Same results.
    ///
    /// # Panics
    /// If a slice does not have an entry for each vertex or triangle.
    pub fn advance(
        &mut self,
        cloth: &Cloth<T>,
        positions: &[Vector3<T>],
        velocities: &[Vector3<T>],
        velocity_gradients: &[Matrix3<T>],
        time_step: T,
        normals: &mut [Vector3<T>],
    ) {
        let motion = Motion {
            positions,
            velocities,
        };
        cloth.check_lengths(positions.len(), velocity_gradients.len());
        let of_triangles = self.fit(cloth, &motion, normals.len());
        let (corners, _) = self.corners.split_at_mut(of_triangles);
        (&cloth.triangles, velocity_gradients, normals)
            .into_par_iter()
            .zip(corners.par_chunks_exact_mut(3))
            .zip(&mut self.kirchhoff)
            .with_min_len(PARALLEL_TRIANGLES_MIN)
            .for_each(|(((triangle, gradient, normal), corners), kirchhoff)| {
                let (x, v) = motion.of(&triangle.vertices);
                let forces = triangle.advance(&cloth.law, &x, &v, &(gradient * time_step), normal);
                corners.copy_from_slice(&forces.vertices);
                *kirchhoff = forces.kirchhoff;
            });
        self.bend_and_sum(cloth, positions);
    }

    /// Makes room, and returns the number of corners of triangles.
    fn fit(&mut self, cloth: &Cloth<T>, motion: &Motion<'_, T>, normal_count: usize) -> usize {
        cloth.check_lengths(motion.positions.len(), normal_count);
        cloth.check_lengths(motion.velocities.len(), normal_count);
        let of_triangles = 3 * cloth.triangles.len();
        let corner_count = of_triangles + 4 * cloth.hinges.len();
        self.vertices
            .resize(motion.positions.len(), Vector3::zeros());
        self.kirchhoff.resize(normal_count, Matrix3::zeros());
        self.corners.resize(corner_count, Vector3::zeros());
        of_triangles
    }

    fn bend_and_sum(&mut self, cloth: &Cloth<T>, positions: &[Vector3<T>]) {
        let (_, of_hinges) = self.corners.split_at_mut(3 * cloth.triangles.len());
        let of = |vertices: &[u32; 4]| vertices.map(|v| positions[v as usize]);
        let hinges = cloth.hinges.par_iter().with_min_len(PARALLEL_TRIANGLES_MIN);
        match cloth.plate() {
            None => hinges
                .zip(of_hinges.par_chunks_exact_mut(4))
                .for_each(|(hinge, corners)| {
                    corners.copy_from_slice(&hinge.forces(&of(&hinge.vertices)));
                }),
            Some(plate) => {
                self.strains.resize(cloth.hinges.len(), T::zero());
                (hinges.zip(of_hinges.par_chunks_exact_mut(4)))
                    .zip(&mut self.strains)
                    .for_each(|((hinge, corners), strain)| {
                        let (value, gradient) = hinge.strain(&of(&hinge.vertices));
                        *strain = value;
                        corners.copy_from_slice(&gradient);
                    });
                let (strains, combined) = (&self.strains, &mut self.combined);
                combined.resize(strains.len(), T::zero());
                combined
                    .par_iter_mut()
                    .enumerate()
                    .with_min_len(PARALLEL_TRIANGLES_MIN)
                    .for_each(|(row, sum)| *sum = plate.combined(row, strains));
                of_hinges
                    .par_chunks_exact_mut(4)
                    .enumerate()
                    .with_min_len(PARALLEL_TRIANGLES_MIN)
                    .for_each(|(hinge, corners)| {
                        let moment = plate.moment(hinge, combined);
                        corners.iter_mut().for_each(|corner| *corner *= -moment);
                    });
            }
        }
        cloth.sum_corners(&self.corners, &mut self.vertices);
    }
}

/// Positions and velocities of the vertices.
struct Motion<'a, T> {
    positions: &'a [Vector3<T>],
    velocities: &'a [Vector3<T>],
}

impl<T: Real> Motion<'_, T> {
    #[inline(always)]
    fn of(&self, vertices: &[u32; 3]) -> ([Vector3<T>; 3], [Vector3<T>; 3]) {
        let of = |values: &[Vector3<T>]| vertices.map(|v| values[v as usize]);
        (of(self.positions), of(self.velocities))
    }
}
