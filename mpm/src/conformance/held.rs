//! A held set of the reference.

use nalgebra::Vector3;
use pliant_contact_sap::Control;

use super::reference::{Node, Reach};
use crate::model::Parts;
use crate::particle::Particle;

pub(super) struct Held {
    /// Whether each particle belongs to it.
    pub(super) members: Vec<bool>,
    velocity: [Option<f64>; 3],
}

impl Held {
    /// The sets that have a velocity.
    pub(super) fn all(parts: &Parts, control: &Control, ids: &[u32]) -> Vec<Self> {
        let sets = parts.grips.iter().zip(control.held.chunks_exact(3));
        let moving = sets.filter(|(_, velocity)| velocity.iter().any(Option::is_some));
        let each = moving.map(|((_, grip), velocity)| Self {
            members: ids.iter().map(|id| grip.contains(id)).collect(),
            velocity: [velocity[0], velocity[1], velocity[2]],
        });
        each.collect()
    }

    /// Nodes with more than half of their mass from the set have its velocity. Vertices of cloth hold no nodes.
    pub(super) fn hold_nodes(
        &self,
        parts: &Parts,
        particles: &[Particle<f64>],
        reaches: &[Vec<Reach>],
        nodes: &mut [Node],
    ) {
        let mut share = vec![0.0; nodes.len()];
        for ((p, reaches), is_member) in particles.iter().zip(reaches).zip(&self.members) {
            if *is_member && parts.objects[p.object as usize].cloth.is_none() {
                for reach in reaches {
                    share[reach.node] += reach.weight * p.mass;
                }
            }
        }
        for (node, share) in nodes.iter_mut().zip(share) {
            if share > 0.5 * node.mass {
                for (k, v) in self.velocity.iter().enumerate() {
                    if let Some(v) = v {
                        node.v[k] = *v;
                        node.inverse_mass[k] = 0.0;
                        node.in_contact = true;
                    }
                }
            }
        }
    }

    /// Gives the velocity of the set to a particle that belongs to it.
    pub(super) fn hold_particle(&self, index: usize, particle_v: &mut Vector3<f64>) {
        if self.members[index] {
            for (k, v) in self.velocity.iter().enumerate() {
                particle_v[k] = v.unwrap_or(particle_v[k]);
            }
        }
    }
}
