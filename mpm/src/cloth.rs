//! Cloth: triangle meshes among the material points, after Jiang, Gast, Teran (2017), as used by Yu et al. (2025).
//!
//! Every vertex and every triangle centroid is a particle. Vertices carry mass, momentum and the forces of the stretch in the
//! plane, which come from the mesh and do not drift. Centroids carry a normal that the grid convects: it measures how close
//! other layers are, and its stress is scattered like that of any other particle. Contact between layers, with friction, comes from
//! the grid alone.
//!
//! One explicit substep with a cloth:
//!
//! 1. [`ClothForces::evaluate`]: forces on vertices, stresses of centroids. In the first substep only, see 5.
//! 2. Particles to grid: momentum of all, forces of vertices with weights w_i, stresses of centroids with gradients.
//! 3. Grid velocities, boundary conditions and contact; grid to particles.
//! 4. Vertices move; centroids follow by [`Cloth::centroids`]. They keep the velocity that they have from the grid: with the mean of
//!    their vertices' velocities, linear momentum would not be conserved.
//! 5. [`ClothForces::advance`]: normals with the centroids' velocity gradients and the new positions, and the next forces.

mod bending_curvature;
mod factor_row;
mod fading;
mod forces;
mod hinge;
mod in_plane;
mod law;
mod layers;
mod material;
mod mesh;
mod object;
mod plate;
mod second_derivative;
mod step_limit;
mod surface_frame;
#[cfg(test)]
mod tests;
mod triangle;

pub use forces::ClothForces;
pub use hinge::Hinge;
pub use law::ClothLaw;
pub use material::{BendingModel, ClothMaterial, InPlaneLaw};
pub use mesh::ClothMesh;
pub use object::ClothSpec;
pub(crate) use object::{ClothObject, Fabric};
pub(crate) use plate::PlateStiffness;
pub use step_limit::{ClothStepLimit, StepLimitCause};
pub(crate) use surface_frame::SurfaceFrame;
pub(crate) use triangle::shape_gradients;
pub use triangle::{ClothTriangle, TriangleForces};

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::Real;
use rayon::prelude::*;

/// Below so many triangles, threads cost more than they save.
const PARALLEL_TRIANGLES_MIN: usize = 512;

/// A mesh of a material in the precision of `T`: everything about a cloth that does not change while it moves.
///
/// Its state is outside, one entry for each vertex or triangle in the order of the mesh: positions and velocities of vertices,
/// convected normals of triangles.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_hydroelastic::mesh::generate;
/// use pliant_mpm::{Cloth, ClothForces, ClothMaterial, ClothMesh, InPlaneLaw};
///
/// let material = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.0, 1000.0, 5e-4)?;
/// let (mesh, _) = ClothMesh::new("strip", generate::sheet([0.1, 0.02], [20, 4])?, 0.01)?;
/// let cloth = Cloth::<f64>::new(&mesh, &material);
/// let mass = cloth.vertex_masses().iter().chain(cloth.centroid_masses()).sum::<f64>();
/// assert!((mass - 1000.0 * 5e-4 * 0.1 * 0.02).abs() < 1e-15);
///
/// // One per cent longer: the force in a cross-section is E t w ε = 0.01 N.
/// let stretch = |x: &Vector3<f64>| Vector3::new(1.01 * x.x, x.y, x.z);
/// let positions: Vec<_> = mesh.surface().vertices().iter().map(stretch).collect();
/// let velocities = vec![Vector3::zeros(); positions.len()];
/// let mut normals = vec![Vector3::zeros(); cloth.triangles().len()];
/// cloth.unit_normals(&positions, &mut normals);
/// let mut forces = ClothForces::default();
/// forces.evaluate(&cloth, &positions, &velocities, &normals);
/// let end = positions.iter().zip(forces.vertices()).filter(|(x, _)| x.x > 0.05);
/// assert!((end.map(|(_, f)| f.x).sum::<f64>() + 0.01).abs() < 1e-12);
///
/// // Layers that approach at 1/s shorten the normals.
/// let approach = vec![Matrix3::from_diagonal(&[0.0, 0.0, -1.0].into()); normals.len()];
/// cloth.convect_normals(&positions, &approach, 0.01, &mut normals);
/// assert!((normals[0].z - 0.99).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cloth<T> {
    law: ClothLaw<T>,
    triangles: Vec<ClothTriangle<T>>,
    hinges: Vec<Hinge<T>>,
    /// Of [`BendingModel::Plate`] with a stiffness.
    plate: Option<PlateStiffness<T>>,
    vertex_masses: Vec<T>,
    centroid_masses: Vec<T>,
    /// Corners of triangles and hinges about each vertex, in compressed rows.
    corners: Corners,
}

/// Numbers of the corners at each vertex: corner c of triangle t is 3t + c, corner c of hinge k is 3 (triangles) + 4k + c.
#[derive(Clone, Debug)]
struct Corners {
    ends: Vec<u32>,
    numbers: Vec<u32>,
}

impl Corners {
    fn new(vertex_count: usize, at: impl Iterator<Item = u32> + Clone) -> Self {
        let mut ends = vec![0; vertex_count];
        at.clone().for_each(|vertex| ends[vertex as usize] += 1);
        let mut start = 0;
        for end in &mut ends {
            (start, *end) = (start + *end, start);
        }
        let mut numbers = vec![0; start as usize];
        for (vertex, number) in at.zip(0_u32..) {
            let next = &mut ends[vertex as usize];
            numbers[*next as usize] = number;
            *next += 1;
        }
        Self { ends, numbers }
    }

    fn at(&self, vertex: usize) -> &[u32] {
        let start = vertex.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.numbers[start as usize..self.ends[vertex] as usize]
    }
}

impl<T: Real> Cloth<T> {
    /// A cloth of this shape and material. Without bending stiffness it has no hinges.
    #[must_use]
    pub fn new(mesh: &ClothMesh, material: &ClothMaterial) -> Self {
        let surface = mesh.surface();
        let triangles: Vec<_> = surface
            .raw_triangles()
            .zip(mesh.rest())
            .map(|(vertices, rest)| ClothTriangle::new(vertices, rest, material.thickness()))
            .collect();
        let stiffness = material.bending_stiffness();
        let hinges: Vec<_> = mesh
            .hinges()
            .filter(|_| stiffness > 0.0)
            .map(|hinge| Hinge::new(mesh, &hinge, stiffness))
            .collect();
        let plate = (material.bending_model() == BendingModel::Plate && !hinges.is_empty())
            .then(|| PlateStiffness::new(mesh, stiffness, material.poissons_ratio()));
        let quarters: Vec<f64> = mesh
            .areas()
            .map(|area| 0.25 * material.areal_density() * area)
            .collect();
        let vertex_count = surface.vertices().len();
        let mut masses = vec![0.0; vertex_count];
        for (corners, quarter) in surface.raw_triangles().zip(&quarters) {
            corners.iter().for_each(|v| masses[*v as usize] += quarter);
        }
        let corners = Corners::new(
            vertex_count,
            triangles
                .iter()
                .flat_map(|triangle| triangle.vertices)
                .chain(hinges.iter().flat_map(|hinge| hinge.vertices)),
        );
        Self {
            law: material.law(),
            triangles,
            hinges,
            plate,
            vertex_masses: masses.into_iter().map(T::of).collect(),
            centroid_masses: quarters.into_iter().map(T::of).collect(),
            corners,
        }
    }

    /// The constants of the material.
    #[must_use]
    pub fn law(&self) -> &ClothLaw<T> {
        &self.law
    }

    /// The triangles, in the order of the mesh.
    #[must_use]
    pub fn triangles(&self) -> &[ClothTriangle<T>] {
        &self.triangles
    }

    /// The edges with two triangles, if the cloth resists bending.
    #[must_use]
    pub fn hinges(&self) -> &[Hinge<T>] {
        &self.hinges
    }

    /// How the edges resist bending; [`BendingModel::Hinges`] where nothing resists, too.
    #[must_use]
    pub fn bending_model(&self) -> BendingModel {
        match self.plate {
            Some(_) => BendingModel::Plate,
            None => BendingModel::Hinges,
        }
    }

    /// How the edges depend on each other; `None` if each resists by itself.
    pub(crate) fn plate(&self) -> Option<&PlateStiffness<T>> {
        self.plate.as_ref()
    }

    /// Mass of each vertex, kg: a quarter of that of each of its triangles.
    #[must_use]
    pub fn vertex_masses(&self) -> &[T] {
        &self.vertex_masses
    }

    /// Mass of each centroid, kg: a quarter of that of its triangle.
    #[must_use]
    pub fn centroid_masses(&self) -> &[T] {
        &self.centroid_masses
    }

    /// Means over the vertices of each triangle: positions of centroids from those of vertices.
    ///
    /// # Panics
    /// If a slice does not have an entry for each vertex or triangle.
    pub fn centroids(&self, of_vertices: &[Vector3<T>], of_centroids: &mut [Vector3<T>]) {
        self.check_lengths(of_vertices.len(), of_centroids.len());
        let third = T::one() / T::of(3.0);
        for (triangle, centroid) in self.triangles.iter().zip(of_centroids) {
            let [a, b, c] = triangle.vertices.map(|v| of_vertices[v as usize]);
            *centroid = (a + b + c) * third;
        }
    }

    /// Normals of unit length: d₃ of a cloth whose layers do not touch. Triangles without area keep theirs.
    ///
    /// # Panics
    /// If a slice does not have an entry for each vertex or triangle.
    pub fn unit_normals(&self, positions: &[Vector3<T>], normals: &mut [Vector3<T>]) {
        self.check_lengths(positions.len(), normals.len());
        for (triangle, normal) in self.triangles.iter().zip(normals) {
            let [a, b, c] = triangle.vertices.map(|v| positions[v as usize]);
            let cross = (b - a).cross(&(c - a));
            *normal = cross.try_normalize(T::zero()).unwrap_or(*normal);
        }
    }

    /// d₃ ← return mapping of (I + Δt ∇v) d₃, with the velocity gradients (1/s) of the centroids and the positions at the end of
    /// the step.
    ///
    /// # Panics
    /// If a slice does not have an entry for each vertex or triangle.
    pub fn convect_normals(
        &self,
        positions: &[Vector3<T>],
        velocity_gradients: &[Matrix3<T>],
        time_step: T,
        normals: &mut [Vector3<T>],
    ) {
        self.check_lengths(positions.len(), normals.len());
        self.check_lengths(positions.len(), velocity_gradients.len());
        (&self.triangles, velocity_gradients, normals)
            .into_par_iter()
            .with_min_len(PARALLEL_TRIANGLES_MIN)
            .for_each(|(triangle, gradient, normal)| {
                let corners = triangle.vertices.map(|v| positions[v as usize]);
                let convected = *normal + gradient * time_step * *normal;
                let F = triangle.deformation_gradient(&corners, &convected);
                *normal = self.law.return_normal(&F);
            });
    }

    /// Elastic energy of stretch, compressed layers and bending, J.
    ///
    /// # Panics
    /// If a slice does not have an entry for each vertex or triangle.
    #[must_use]
    pub fn energy(&self, positions: &[Vector3<T>], normals: &[Vector3<T>]) -> T {
        self.check_lengths(positions.len(), normals.len());
        let mut sum = T::zero();
        for (triangle, normal) in self.triangles.iter().zip(normals) {
            let corners = triangle.vertices.map(|v| positions[v as usize]);
            let F = triangle.deformation_gradient(&corners, normal);
            sum += self.law.energy(&F) * triangle.volume;
        }
        sum + self.bending_energy(positions)
    }

    /// Elastic energy of bending, J.
    pub(crate) fn bending_energy(&self, positions: &[Vector3<T>]) -> T {
        let of = |hinge: &Hinge<T>| hinge.vertices.map(|v| positions[v as usize]);
        match &self.plate {
            Some(plate) => {
                let strains = self.hinges.iter().map(|hinge| hinge.strain(&of(hinge)).0);
                plate.energy(&strains.collect::<Vec<_>>())
            }
            None => {
                let each = self.hinges.iter().map(|hinge| hinge.energy(&of(hinge)));
                each.fold(T::zero(), |sum, energy| sum + energy)
            }
        }
    }

    /// Number of corners of triangles and hinges: see [`Self::sum_corners`].
    pub(crate) fn n_corners(&self) -> usize {
        3 * self.triangles.len() + 4 * self.hinges.len()
    }

    /// Sums values at the corners of the triangles, then of the hinges, at the vertices, in an order that does not depend on the threads.
    pub(crate) fn sum_corners(&self, corners: &[Vector3<T>], vertices: &mut [Vector3<T>]) {
        let sum_at = |(vertex, sum): (usize, &mut Vector3<T>)| {
            let at = self.corners.at(vertex).iter();
            *sum = at.fold(Vector3::zeros(), |sum, n| sum + corners[*n as usize]);
        };
        if vertices.len() < 2 * PARALLEL_TRIANGLES_MIN {
            vertices.iter_mut().enumerate().for_each(sum_at);
            return;
        }
        let numbered = vertices.par_iter_mut().enumerate();
        let parts = numbered.with_min_len(PARALLEL_TRIANGLES_MIN);
        parts.for_each(sum_at);
    }

    fn check_lengths(&self, of_vertices: usize, of_triangles: usize) {
        assert!(
            of_vertices == self.vertex_masses.len() && of_triangles == self.triangles.len(),
            "{of_vertices} vertices and {of_triangles} triangles given for a cloth of {} and {}",
            self.vertex_masses.len(),
            self.triangles.len()
        );
    }
}
