//! Bodies of registered kinds, for observables and pictures: the vertices of their surface.

use std::sync::Arc;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{
    BodyState, BodyStep, Control, DeformableModel, Energy, SelfContact, Surface,
};

use super::{Simplices, SoftModel};
use crate::registry::SceneBody;
use crate::scene::Shown;

/// A shared [`SceneBody`].
#[derive(Clone)]
pub(crate) struct OwnBody(pub(crate) Arc<dyn SceneBody>);

impl SoftModel for OwnBody {
    fn points(&self, state: &BodyState, out: &mut Vec<Point3<f64>>) {
        let mut surface = Surface::default();
        self.0.surface(state, &mut surface);
        *out = surface.vertices;
    }

    fn velocities(&self, state: &BodyState, out: &mut Vec<Vector3<f64>>) {
        *out = self.0.velocities(state);
    }

    fn masses(&self, state: &BodyState) -> Vec<f64> {
        self.0.masses(state)
    }

    fn simplices(&self, state: &BodyState) -> Simplices {
        let mut surface = Surface::default();
        self.0.surface(state, &mut surface);
        Simplices {
            triangles: surface.triangles,
            edges: surface.edges,
            tetrahedra: surface.tetrahedra,
        }
    }

    /// Volume inside its triangles, by the divergence theorem.
    fn volume(&self, state: &BodyState) -> f64 {
        let mut surface = Surface::default();
        self.0.surface(state, &mut surface);
        let below = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| surface.vertices[v as usize].coords);
            a.dot(&b.cross(&c)) / 6.0
        };
        surface.triangles.iter().map(below).sum()
    }

    /// Such bodies have none of these quantities.
    fn numbers(&self, _: Shown, state: &BodyState, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.0.masses(state).len(), 0.0);
    }
}

impl DeformableModel for OwnBody {
    fn default_state(&self) -> BodyState {
        self.0.default_state()
    }

    fn default_control(&self) -> Control {
        self.0.default_control()
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        self.0.new_step()
    }

    fn surface(&self, state: &BodyState, out: &mut Surface) {
        self.0.surface(state, out);
    }

    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        self.0.energy(state, gravity)
    }

    fn self_contact(&self) -> SelfContact {
        self.0.self_contact()
    }
}
