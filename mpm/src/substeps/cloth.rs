//! The cloths of a model during the substeps of a time step.

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::Real;

use crate::cloth::{Cloth, ClothForces, ClothObject};
use crate::model::Parts;
use crate::particle::Particle;

/// One cloth: its state between substeps, and its forces.
#[derive(Debug)]
pub(super) struct ClothRun<T> {
    cloth: Cloth<T>,
    /// Index of the first vertex in the state.
    first: usize,
    positions: Vec<Vector3<T>>,
    velocities: Vec<Vector3<T>>,
    normals: Vec<Vector3<T>>,
    /// Velocity gradients at the centroids, 1/s.
    gradients: Vec<Matrix3<T>>,
    centroids: Vec<Vector3<T>>,
    forces: ClothForces<T>,
}

impl<T: Real> ClothRun<T> {
    pub(super) fn new(object: &ClothObject) -> Self {
        Self {
            cloth: Cloth::new(&object.mesh, &object.material),
            first: object.first as usize,
            positions: Vec::new(),
            velocities: Vec::new(),
            normals: Vec::new(),
            gradients: Vec::new(),
            centroids: Vec::new(),
            forces: ClothForces::default(),
        }
    }

    fn n_vertices(&self) -> usize {
        self.cloth.vertex_masses().len()
    }

    /// Reads the state from particles in its order, and computes the forces.
    pub(super) fn begin(&mut self, particles: &[Particle<T>]) {
        let (n, triangles) = (self.n_vertices(), self.cloth.triangles().len());
        let vertices = &particles[self.first..self.first + n];
        let centroids = &particles[self.first + n..self.first + n + triangles];
        self.positions.clear();
        self.positions.extend(vertices.iter().map(|p| p.x));
        self.velocities.clear();
        self.velocities.extend(vertices.iter().map(|p| p.v));
        self.normals.clear();
        self.normals
            .extend(centroids.iter().map(|p| p.strain.f.column(2).into_owned()));
        self.gradients.resize(triangles, Matrix3::zeros());
        self.centroids.resize(triangles, Vector3::zeros());
        self.forces.evaluate(
            &self.cloth,
            &self.positions,
            &self.velocities,
            &self.normals,
        );
    }

    /// Changes the velocities of the vertices by `time` of their forces. `place` finds a particle of the state. On held vertices the
    /// support balances the forces.
    pub(super) fn kick(
        &self,
        particles: &mut [Particle<T>],
        place: &[u32],
        time: T,
        is_held: impl Fn(usize) -> bool,
    ) {
        let masses = self.cloth.vertex_masses();
        for (k, (force, mass)) in self.forces.vertices().iter().zip(masses).enumerate() {
            if is_held(self.first + k) {
                continue;
            }
            particles[place[self.first + k] as usize].v += force * (time / *mass);
        }
    }

    /// Kirchhoff stress of particles of the cloth, Pa.
    pub(super) fn stresses(&self, particles: &[Particle<T>], out: &mut [Matrix3<T>]) {
        for (p, out) in particles.iter().zip(out) {
            let k = p.index as usize - self.first;
            *out = match k.checked_sub(self.n_vertices()) {
                Some(triangle) => self.forces.kirchhoff()[triangle],
                None => Matrix3::zeros(),
            };
        }
    }

    /// Leaves velocity gradients with centroids of the cloth, and with all particles the part of C that they hand to the grid.
    pub(super) fn take_gradients(&self, particles: &mut [Particle<T>], gradients: &[Matrix3<T>]) {
        let first_centroid = self.first + self.n_vertices();
        for (p, gradient) in particles.iter_mut().zip(gradients) {
            if p.index as usize >= first_centroid {
                p.strain.f = *gradient;
            }
            p.c = self.cloth.law().transferred_affine(&p.c);
        }
    }

    /// Takes the vertices of a substep over: centroids follow them, normals are convected, and the next forces are computed. Centroids keep
    /// their velocities from the grid. Velocities interpolated from the vertices, as published, would not keep momentum.
    pub(super) fn advance(&mut self, particles: &mut [Particle<T>], place: &[u32], time: T) {
        let n = self.n_vertices();
        for k in 0..n {
            let p = &particles[place[self.first + k] as usize];
            self.positions[k] = p.x;
            self.velocities[k] = p.v;
        }
        let of_centroids = &place[self.first + n..self.first + n + self.gradients.len()];
        for (gradient, place) in self.gradients.iter_mut().zip(of_centroids) {
            // Left there by the gather.
            *gradient = particles[*place as usize].strain.f;
        }
        self.forces.advance(
            &self.cloth,
            &self.positions,
            &self.velocities,
            &self.gradients,
            time,
            &mut self.normals,
        );
        self.cloth.centroids(&self.positions, &mut self.centroids);
        for (x, place) in self.centroids.iter().zip(of_centroids) {
            let centroid = &mut particles[*place as usize];
            (centroid.x, centroid.x_rest) = (*x, Vector3::zeros());
        }
    }

    /// Writes the deformation gradients of the triangles to the particles of the state.
    pub(super) fn end(&self, particles: &mut [Particle<T>], place: &[u32]) {
        let n = self.n_vertices();
        let triangles = self.cloth.triangles().iter().zip(&self.normals);
        for (t, (triangle, normal)) in triangles.enumerate() {
            let corners = triangle.vertices.map(|v| self.positions[v as usize]);
            let p = &mut particles[place[self.first + n + t] as usize];
            p.strain.f = triangle.deformation_gradient(&corners, normal);
        }
    }
}

/// The cloths of a model by object.
pub(super) fn cloths_of<T: Real>(parts: &Parts) -> Vec<Option<ClothRun<T>>> {
    let objects = parts.objects.iter();
    objects
        .map(|o| o.cloth.as_deref().map(ClothRun::new))
        .collect()
}
