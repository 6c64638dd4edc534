//! Held sets and loads of a time step, as the shaders read them.

use std::collections::BTreeMap;

use nalgebra::Vector3;
use pliant_contact_sap::{BodyError, Control};
use pliant_mpm::{DeviceObject, DeviceParticles};

use crate::layout::Params;
use crate::support::refused;
use crate::tables::{Table, index};

/// Sets have a bit each.
const SETS_MAX: usize = 32;

/// What is prescribed in a time step.
#[derive(Debug, Default)]
pub(crate) struct Prescribed {
    /// Velocity of each set, and the bits of its components that are held.
    sets: Vec<[f64; 4]>,
    /// Of each particle the bits of its sets; empty without sets.
    held: Vec<u32>,
    /// Whether a set has particles that are no cloth.
    holds_nodes: bool,
    /// Force on each particle that has one.
    loads: BTreeMap<usize, Vector3<f64>>,
}

impl Prescribed {
    /// # Errors
    /// A wrong number of velocities, a load on no particle, or more sets than there are bits.
    pub(crate) fn new(
        particles: &DeviceParticles,
        objects: &[DeviceObject],
        control: &Control,
    ) -> Result<Self, BodyError> {
        let mut prescribed = Self::default();
        let sets = particles.held_sets(&control.held)?;
        if sets.len() > SETS_MAX {
            return Err(refused(format!("a model of {} held sets", sets.len())));
        }
        if !sets.is_empty() {
            prescribed.held.resize(particles.particles().len(), 0);
        }
        for (number, set) in sets.iter().enumerate() {
            let [x, y, z] = set.velocity.map(|v| if v.is_nan() { 0.0 } else { v });
            let bits = (0..3).filter(|k| !set.velocity[*k].is_nan());
            let bits: u32 = bits.map(|k| 1 << k).sum();
            prescribed.sets.push([x, y, z, f64::from(bits)]);
            let each = prescribed.held.iter_mut().zip(&set.members);
            for ((held, is_member), p) in each.zip(particles.particles()) {
                *held |= u32::from(*is_member) << number;
                let is_solid = objects[p.object as usize].cloth.is_none();
                prescribed.holds_nodes |= *is_member && is_solid;
            }
        }
        let loaded = particles.loaded_particles(&control.loads)?;
        for (particle, load) in loaded.into_iter().zip(&control.loads) {
            *prescribed.loads.entry(particle).or_default() += load.force_W;
        }
        Ok(prescribed)
    }

    /// Of each particle the bits of its sets; empty without sets.
    pub(crate) fn held(&self) -> &[u32] {
        &self.held
    }

    pub(crate) fn add(&self, table: &mut Table, params: &mut Params) {
        params.held_sets_at = table.vectors();
        params.n_held_sets = self.sets.len() as u32;
        params.holds_nodes = u32::from(self.holds_nodes);
        self.sets.iter().for_each(|set| table.push(*set));
        params.loads_at = table.vectors();
        params.n_loads = self.loads.len() as u32;
        for (particle, f) in &self.loads {
            table.push([f.x, f.y, f.z, index(*particle as u32)]);
        }
    }
}
