//! The motion of a step at the particles, a linear function of the velocities of the nodes.

use nalgebra::{Matrix3, Vector3};

use super::GridSystem;
use crate::nodes::{add_divergence, gradient, interpolate};
use crate::particle::Particle;
use crate::spline::corner;

/// What a step does to the particles, in sorted order.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepMotion {
    /// G of every particle.
    pub(crate) gradients: Vec<Matrix3<f64>>,
    /// In a model with cloth: changes of the positions of vertices (m) and of the normals of centroids; zero for all other particles.
    pub(crate) cloth: Vec<Vector3<f64>>,
}

impl StepMotion {
    /// No motion of `n` particles.
    pub(crate) fn at_start(n: usize) -> Self {
        Self {
            gradients: vec![Matrix3::zeros(); n],
            cloth: vec![Vector3::zeros(); n],
        }
    }
}

/// What a particle is to a cloth.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ClothPoint {
    /// No part of any.
    Other,
    /// A vertex.
    Vertex(ClothVertex),
    /// The centroid of a triangle with this normal at the start of the step.
    Centroid(Vector3<f64>),
}

/// How a vertex of a cloth moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClothVertex {
    /// One for each component that moves with the grid, zero where it is held.
    pub(super) free: Vector3<f64>,
    /// The velocity of held components, m/s; zero for others.
    pub(super) held: Vector3<f64>,
}

impl ClothVertex {
    /// Moves with the grid.
    pub(super) fn free() -> Self {
        Self {
            free: Vector3::repeat(1.0),
            held: Vector3::zeros(),
        }
    }

    /// Its velocity if that of the grid is `v`.
    fn velocity(&self, v: &Vector3<f64>) -> Vector3<f64> {
        v.component_mul(&self.free) + self.held
    }
}

impl GridSystem {
    /// Lets a vertex of a cloth, in sorted order, move with the given components of its velocity; NaN where it moves with the grid.
    pub(crate) fn hold_vertex(&mut self, p: usize, velocity: &[f64; 3]) {
        if let ClothPoint::Vertex(vertex) = &mut self.cloth_points[p] {
            for (k, v) in velocity.iter().enumerate().filter(|(_, v)| !v.is_nan()) {
                vertex.free[k] = 0.0;
                vertex.held[k] = *v;
            }
        }
    }

    /// Computes the changes that do not depend on the end velocities: of held vertices, and `beta` times the rates at the start.
    pub(super) fn find_start_changes(&mut self, beta: f64) {
        let mut changes = std::mem::take(&mut self.start_changes);
        self.cloth_changes(&self.start, beta, &mut changes);
        let time_s = self.time_step.forces_s();
        for (change, point) in changes.iter_mut().zip(&self.cloth_points) {
            if let ClothPoint::Vertex(vertex) = point {
                *change += vertex.held * time_s;
            }
        }
        self.start_changes = changes;
    }

    /// The motion for velocities `v`.
    pub(crate) fn motion(&self, v: &[f64], out: &mut StepMotion) {
        let alpha = self.alpha();
        out.gradients.resize(self.particles.len(), Matrix3::zeros());
        self.nodes
            .gather(&self.grid, v, &mut out.gradients, |p, local, out| {
                *out = gradient(&self.stencils[p], local) * alpha;
                if let Some(start) = self.start_gradients.get(p) {
                    *out += start;
                }
            });
        self.cloth_changes(v, alpha, &mut out.cloth);
        for (change, start) in out.cloth.iter_mut().zip(&self.start_changes) {
            *change += start;
        }
    }

    /// `time_s` times the rates of positions of vertices and of normals; empty without cloth.
    pub(crate) fn cloth_changes(&self, v: &[f64], time_s: f64, out: &mut Vec<Vector3<f64>>) {
        out.clear();
        if self.cloth_points.is_empty() {
            return;
        }
        out.resize(self.particles.len(), Vector3::zeros());
        self.nodes.gather(&self.grid, v, out, |p, local, out| {
            let stencil = &self.stencils[p];
            match &self.cloth_points[p] {
                ClothPoint::Other => {}
                ClothPoint::Vertex(vertex) => {
                    *out = interpolate(stencil, local).component_mul(&vertex.free) * time_s;
                }
                ClothPoint::Centroid(normal) => {
                    *out = gradient(stencil, local) * normal * time_s;
                }
            }
        });
    }

    /// Adds `factor` times the forces that are conjugate to the changes to the nodes: the transpose of [`Self::cloth_changes`].
    pub(crate) fn scatter_cloth(&self, forces: &[Vector3<f64>], factor: f64, out: &mut [f64]) {
        self.nodes.scatter::<3>(&self.grid, out, |_, cell, local| {
            for p in cell.particles.clone().map(|p| p as usize) {
                let stencil = &self.stencils[p];
                match &self.cloth_points[p] {
                    ClothPoint::Other => {}
                    ClothPoint::Vertex(vertex) => {
                        let force = forces[p].component_mul(&vertex.free) * factor;
                        for (n, to) in local.iter_mut().enumerate() {
                            let weight = stencil.weight(corner(n));
                            (0..3).for_each(|k| to[k] += weight * force[k]);
                        }
                    }
                    ClothPoint::Centroid(normal) => {
                        let stress = forces[p] * factor * normal.transpose();
                        add_divergence(stencil, &stress, local);
                    }
                }
            }
        });
    }

    /// The cloths at the end of a step of `length_s`, after all particles have moved with the grid: held vertices move as prescribed,
    /// normals are convected and returned, centroids follow their vertices. `v` are the velocities that move positions.
    pub(crate) fn move_cloths(&self, v: &[f64], length_s: f64, particles: &mut [Particle<f64>]) {
        let mut changes = Vec::new();
        self.cloth_changes(v, length_s, &mut changes);
        for (p, point) in self.cloth_points.iter().enumerate() {
            if let ClothPoint::Vertex(vertex) = point {
                changes[p] += vertex.held * length_s;
                particles[p].x = self.particles[p].x + changes[p];
                particles[p].v = vertex.velocity(&particles[p].v);
            }
        }
        for (_, cloth) in &self.cloths {
            cloth.follow(&changes, particles);
        }
    }
}
