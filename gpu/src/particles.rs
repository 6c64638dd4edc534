//! Particles on their way to the device and back: chunks in parallel, each particle in one pass.

use pliant_mpm::{Particle, ParticleImpulse};
use rayon::prelude::*;

use crate::layout::{DeviceParticle, place};
use crate::node_box::Extent;

/// Particles that a thread takes at a time.
pub(crate) const CHUNK: usize = 1024;

/// Particles as the device has them, with the bits of the held sets of each; `held` is empty without sets.
pub(crate) fn packed(
    particles: &[Particle<f64>],
    held: &[u32],
    spacing: f64,
) -> Vec<DeviceParticle> {
    let each = particles.par_iter().with_min_len(CHUNK).enumerate();
    each.map(|(number, p)| of(p, number, held, spacing))
        .collect()
}

/// The same of single particles, with their numbers.
pub(crate) fn some_packed(
    (particles, numbers): (&[Particle<f64>], &[u32]),
    held: &[u32],
    spacing: f64,
) -> Vec<(usize, DeviceParticle)> {
    let numbers = numbers.iter().map(|n| *n as usize);
    numbers
        .map(|n| (n, of(&particles[n], n, held, spacing)))
        .collect()
}

fn of(p: &Particle<f64>, number: usize, held: &[u32], spacing: f64) -> DeviceParticle {
    DeviceParticle::of(p, spacing, held.get(number).copied().unwrap_or(0))
}

/// What [`take`] found.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) extent: Extent,
    /// Particles that [`packed`] would put to another place than the device has them: round-off took them across the border of cells.
    pub(crate) displaced: Vec<u32>,
    /// The norm of the Kirchhoff stress of each particle, Pa; zero of cloth.
    pub(crate) stresses: Vec<f32>,
}

/// Moves particles to where the device has them.
pub(crate) fn take(
    particles: &mut [Particle<f64>],
    found: &[DeviceParticle],
    spacing: f64,
) -> Taken {
    let mut stresses = vec![0.0; found.len()];
    let chunks = particles.par_chunks_mut(CHUNK).zip(found.par_chunks(CHUNK));
    let chunks = chunks.zip(stresses.par_chunks_mut(CHUNK));
    let each = chunks.map(|((particles, found), stresses)| {
        let mut taken = Taken::default();
        for ((p, device), stress) in particles.iter_mut().zip(found).zip(stresses) {
            device.write(p, spacing);
            *stress = device.stress();
            let place = place(p, spacing);
            taken.extent.add(place.0, &p.v);
            if !device.is_at(place) {
                taken.displaced.push(p.index);
            }
        }
        taken
    });
    let taken = each.reduce(Taken::default, |mut all, other| {
        all.extent = all.extent.and(other.extent);
        all.displaced.extend(other.displaced);
        all
    });
    Taken { stresses, ..taken }
}

/// The contact forces of all particles on each of so many obstacles, from those of a state.
pub(crate) fn forces(ids: &[u32], memory: &[ParticleImpulse], obstacles: usize) -> Vec<[f32; 4]> {
    let mut forces = vec![[0.0; 4]; ids.len() * obstacles];
    for m in memory {
        let place = ids.binary_search(&m.particle);
        if let (Ok(place), true) = (place, (m.obstacle as usize) < obstacles) {
            let f = m.force_W.map(|x| x as f32);
            forces[place * obstacles + m.obstacle as usize] = [f.x, f.y, f.z, 0.0];
        }
    }
    forces
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector3;

    use super::*;

    #[test]
    fn a_particle_that_round_off_takes_to_another_cell_is_named() {
        let mut particles = [0.003, 0.009_999_999].map(|x| Particle {
            x: Vector3::new(x, 0.0, 0.0),
            ..Particle::default()
        });
        particles[1].index = 1;
        let found = particles.map(|p| DeviceParticle::of(&p, 0.02, 0));
        let taken = take(&mut particles, &found, 0.02);
        assert_eq!(taken.displaced, [1]);
        assert_eq!(taken.extent, Extent::of(&particles, 0.02));
    }
}
