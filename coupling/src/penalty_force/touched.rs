//! The vertices of deforming bodies that contacts act on, with the velocities that move them.
//!
//! A vertex moves by δx = δt Σ c_j δv_j, and a force f on it adds δt c_j·f to the balance of velocity j. Several contacts may share a vertex.

use nalgebra::Vector3;

use super::BodyFault;
use super::bodies::Bodies;
use super::vertex_place::VertexPlace;

#[derive(Default)]
pub(super) struct Touched {
    /// Of each place and vertex, its index here or [`NONE`].
    index: Vec<Vec<u32>>,
    /// First column of each vertex, and the end of the last.
    starts: Vec<usize>,
    columns: Vec<(u32, Vector3<f64>)>,
    scratch: Vec<(u32, Vector3<f64>)>,
}

const NONE: u32 = u32::MAX;

impl Touched {
    /// Opens a step.
    pub(super) fn begin(&mut self, bodies: &Bodies, vertices: &[VertexPlace]) {
        self.index.resize_with(vertices.len(), Vec::new);
        for (index, place) in self.index.iter_mut().zip(vertices) {
            index.clear();
            index.resize(place.n_particles(bodies), NONE);
        }
        self.starts.clear();
        self.starts.push(0);
        self.columns.clear();
    }

    /// The index of a vertex, which is added if it is new.
    pub(super) fn touch(
        &mut self,
        bodies: &Bodies,
        vertices: &[VertexPlace],
        (place, vertex): (usize, u32),
    ) -> Result<usize, BodyFault> {
        let known = self.index[place][vertex as usize];
        if known != NONE {
            return Ok(known as usize);
        }
        let fresh = self.len();
        vertices[place].columns(bodies, vertex, &mut self.scratch)?;
        self.columns.append(&mut self.scratch);
        self.starts.push(self.columns.len());
        self.index[place][vertex as usize] = fresh as u32;
        Ok(fresh)
    }

    /// The index of a vertex that was touched.
    pub(super) fn known(&self, place: usize, vertex: u32) -> usize {
        self.index[place][vertex as usize] as usize
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// c_j of a vertex, ascending in j.
    pub(super) fn columns(&self, index: usize) -> &[(u32, Vector3<f64>)] {
        &self.columns[self.starts[index]..self.starts[index + 1]]
    }

    /// δx of all vertices by a change `x` of the velocities.
    pub(super) fn displacements(&self, x: &[f64], dt: f64, out: &mut Vec<Vector3<f64>>) {
        out.clear();
        out.extend((0..self.len()).map(|vertex| {
            let columns = self.columns(vertex).iter();
            columns
                .map(|(j, c)| c * x[*j as usize])
                .sum::<Vector3<f64>>()
                * dt
        }));
    }

    /// out += scale Σ c·f.
    pub(super) fn add_generalised(&self, forces: &[Vector3<f64>], scale: f64, out: &mut [f64]) {
        for (vertex, force) in forces.iter().enumerate() {
            for (j, c) in self.columns(vertex) {
                out[*j as usize] += scale * c.dot(force);
            }
        }
    }
}
