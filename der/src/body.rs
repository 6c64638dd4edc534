//! The rod as a [`DeformableModel`]: state, surface and energy.

use nalgebra::Vector3;
use pliant_contact_sap::{
    BodyError, BodyState, BodyStep, Control, DeformableModel, Energy, StepInput, Surface,
};

use crate::elasticity::{DerivativeOrder, edge_kinematics, node};
use crate::rod::Rod;
use crate::step::{RodStep, write_surface};

impl DeformableModel for Rod {
    fn default_state(&self) -> BodyState {
        self.parts.start.clone()
    }

    /// Holds clamped and pinned ends fixed.
    fn default_control(&self) -> Control {
        let held = &self.parts.held;
        Control {
            held: match held.contains(&true) {
                true => held.iter().map(|h| h.then_some(0.0)).collect(),
                false => Vec::new(),
            },
            ..Control::default()
        }
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(RodStep::new(self))
    }

    /// The reference frames in the history must be orthonormal to 10⁻⁶.
    fn check_state(&self, state: &BodyState, control: &Control) -> Result<(), BodyError> {
        let input = StepInput::new(1e-3, Vector3::zeros(), control);
        self.new_step().begin(state, &input)?;
        self.parts.check_frames(&state.history)
    }

    /// Named frames; nodes as vertices, with the section's radius; edges, with their sections unless these are discs. Clamp
    /// edges are not part of the surface.
    fn surface(&self, state: &BodyState, out: &mut Surface) {
        let rod = &*self.parts;
        let layout = rod.history();
        let edge = |i: usize| {
            let (a, b) = rod.nodes_of_edge(i);
            edge_kinematics(
                rod.rest_length[i],
                &layout.frame(&state.history, i),
                &(node(&state.q, b) - node(&state.q, a)),
                state.q[4 * i + 3],
                i,
            )
            .ok()
        };
        write_surface(rod, &state.q, edge, out);
    }

    /// Clamp edges are included: their inertia counts where they move.
    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        let rod = &*self.parts;
        let mut energy = Energy::default();
        for i in 0..rod.n_nodes {
            let (x, v) = (node(&state.q, i), node(&state.v, i));
            let p = v * rod.node_mass(i);
            energy.kinetic += 0.5 * p.dot(&v);
            energy.potential -= rod.node_mass(i) * gravity.dot(&x);
            energy.linear_momentum_W += p;
            energy.angular_momentum_W += x.cross(&p);
        }
        for i in 0..rod.n_edges {
            let (a, b) = rod.nodes_of_edge(i);
            let tangent = (node(&state.q, b) - node(&state.q, a)).normalize();
            let spin = rod.mass[4 * i + 3] * state.v[4 * i + 3];
            energy.kinetic += 0.5 * spin * state.v[4 * i + 3];
            energy.angular_momentum_W += tangent * spin;
        }
        energy.potential += match self.evaluate(state, DerivativeOrder::Energy) {
            Ok((_, elastic)) => elastic.total(),
            // An inadmissible state, which no step reaches.
            Err(_) => f64::INFINITY,
        };
        energy
    }
}
