//! Contact forces from substep to substep and from step to step: warm starts of the contact solver.

use nalgebra::Vector3;

use super::ParticleImpulse;
use super::contact_problem::{Contact, ContactProblem};

/// Contact forces of the last substep, N, ascending by particle of the state and obstacle.
#[derive(Clone, Debug, Default)]
pub(super) struct WarmStart {
    forces: Vec<((u32, u32), Vector3<f64>)>,
}

impl WarmStart {
    /// Reads forces by identity of particles; `ids` are those of the particles of the state, ascending.
    pub(super) fn read(&mut self, memory: &[ParticleImpulse], ids: &[u32]) {
        self.forces.clear();
        let each = memory.iter().filter_map(|m| {
            let place = ids.binary_search(&m.particle).ok()?;
            Some(((place as u32, m.obstacle), m.force_W))
        });
        self.forces.extend(each);
        self.forces.sort_unstable_by_key(|(key, _)| *key);
    }

    /// Writes forces by identity of particles.
    pub(super) fn write(&self, memory: &mut Vec<ParticleImpulse>, ids: &[u32]) {
        memory.clear();
        let each = self.forces.iter();
        memory.extend(each.map(|((place, obstacle), force)| ParticleImpulse {
            particle: ids[*place as usize],
            obstacle: *obstacle,
            force_W: *force,
        }));
    }

    /// The force on a contact in the last substep, N.
    pub(super) fn force(&self, contact: &Contact) -> Vector3<f64> {
        let key = (contact.particle, contact.obstacle);
        let found = self.forces.binary_search_by_key(&key, |(key, _)| *key);
        found.map_or(Vector3::zeros(), |i| self.forces[i].1)
    }

    /// Takes the forces of a solved problem of a substep of `length_s`.
    pub(super) fn take(&mut self, problem: &ContactProblem, length_s: f64) {
        self.forces.clear();
        let contacts = problem.contacts.iter().zip(&problem.states);
        let loaded = contacts.filter(|(_, state)| state.impulse != Vector3::zeros());
        self.forces.extend(loaded.map(|(contact, state)| {
            let key = (contact.particle, contact.obstacle);
            (key, state.impulse / length_s)
        }));
        self.forces.sort_unstable_by_key(|(key, _)| *key);
    }
}
