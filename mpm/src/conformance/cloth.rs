//! A cloth of the reference: its state between substeps. The formulas are those of [`Cloth`], in f64.

use nalgebra::{Matrix3, Vector3};

use crate::cloth::{Cloth, ClothForces};
use crate::model::Parts;
use crate::particle::Particle;

pub(super) struct ReferenceCloth<'a> {
    cloth: &'a Cloth<f64>,
    /// Index of its first vertex.
    pub(super) first: usize,
    normals: Vec<Vector3<f64>>,
}

impl<'a> ReferenceCloth<'a> {
    pub(super) fn all(parts: &'a Parts, particles: &[Particle<f64>]) -> Vec<Self> {
        let cloths = parts.objects.iter().filter_map(|o| o.cloth.as_deref());
        let with_normals = cloths.map(|object| {
            let mut own = Self {
                cloth: &object.cloth,
                first: object.first as usize,
                normals: Vec::new(),
            };
            let centroids = &particles[own.first_centroid()..][..own.cloth.triangles().len()];
            let normals = centroids.iter().map(|p| p.strain.f.column(2).into_owned());
            own.normals = normals.collect();
            own
        });
        with_normals.collect()
    }

    pub(super) fn first_centroid(&self) -> usize {
        self.first + self.cloth.vertex_masses().len()
    }

    fn of_vertices(
        &self,
        particles: &[Particle<f64>],
        value: impl Fn(&Particle<f64>) -> Vector3<f64>,
    ) -> Vec<Vector3<f64>> {
        let vertices = &particles[self.first..self.first_centroid()];
        vertices.iter().map(value).collect()
    }

    pub(super) fn forces(&self, particles: &[Particle<f64>]) -> ClothForces<f64> {
        let mut forces = ClothForces::default();
        let positions = self.of_vertices(particles, |p| p.x);
        let velocities = self.of_vertices(particles, |p| p.v);
        forces.evaluate(self.cloth, &positions, &velocities, &self.normals);
        forces
    }

    /// Takes centroids to their triangles, and normals on with the velocity gradients `gradients` of all particles.
    pub(super) fn advance(
        &mut self,
        particles: &mut [Particle<f64>],
        gradients: &[Matrix3<f64>],
        time: f64,
    ) {
        let positions = self.of_vertices(particles, |p| p.x);
        let first = self.first_centroid();
        let n = self.normals.len();
        let own = &gradients[first..first + n];
        (self.cloth).convect_normals(&positions, own, time, &mut self.normals);
        let mut centroids = vec![Vector3::zeros(); n];
        self.cloth.centroids(&positions, &mut centroids);
        let triangles = self.cloth.triangles().iter().zip(&self.normals);
        for (k, (triangle, normal)) in triangles.enumerate() {
            let corners = triangle.vertices.map(|v| positions[v as usize]);
            let p = &mut particles[first + k];
            p.x = centroids[k];
            p.strain.f = triangle.deformation_gradient(&corners, normal);
        }
    }
}
