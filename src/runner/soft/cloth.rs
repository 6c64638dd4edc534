//! A cloth among the material points of a scene.

use std::ops::Range;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, Energy};
use pliant_mpm::{MaterialPoints, ObjectIdx};

use super::SoftModel;
use crate::scene::Shown;

/// The vertices of a cloth.
#[derive(Clone, Debug)]
pub(crate) struct ClothObject {
    pub(crate) model: MaterialPoints,
    pub(crate) object: ObjectIdx,
    /// The vertices among the particles of the body.
    pub(crate) vertices: Range<usize>,
    /// Its triangles, with vertices counted from 0.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// A third of the mass of each triangle for each of its vertices, kg.
    pub(crate) masses: Vec<f64>,
    /// m³ at rest.
    pub(crate) volume: f64,
}

impl ClothObject {
    fn own<'a>(&self, numbers: &'a [f64]) -> impl Iterator<Item = &'a [f64]> + use<'a> {
        numbers[3 * self.vertices.start..3 * self.vertices.end].chunks_exact(3)
    }
}

impl SoftModel for ClothObject {
    fn points(&self, state: &BodyState, out: &mut Vec<Point3<f64>>) {
        out.clear();
        out.extend(self.own(&state.q).map(Point3::from_slice));
    }

    fn velocities(&self, state: &BodyState, out: &mut Vec<Vector3<f64>>) {
        out.clear();
        out.extend(self.own(&state.v).map(Vector3::from_column_slice));
    }

    fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    fn masses(&self, _: &BodyState) -> Vec<f64> {
        self.masses.clone()
    }

    /// That at rest.
    fn volume(&self, _: &BodyState) -> f64 {
        self.volume
    }

    /// A cloth has no such quantity.
    fn numbers(&self, _: Shown, _: &BodyState, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.masses.len(), 0.0);
    }

    fn share_of_energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Option<Energy> {
        Some(self.model.energy_of(state, gravity, self.object))
    }
}
