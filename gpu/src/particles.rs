//! Particles on their way to the device and back: chunks in parallel, each particle in one pass, straight into and out of mapped memory.

use bytemuck::Zeroable;
use pliant_mpm::{Particle, ParticleImpulse};
use rayon::prelude::*;

use crate::adapter::Gpu;
use crate::layout::{DeviceParticle, place};
use crate::node_box::Extent;

/// Particles that a thread takes at a time.
pub(crate) const CHUNK: usize = 1024;
/// Particles that are packed before they are written: mapped memory is written in order, not here and there.
const FEW: usize = 16;

const BYTES: usize = size_of::<DeviceParticle>();

/// Writes particles to the first places of `buffer`, with the bits of the held sets of each; `held` is empty without sets.
pub(crate) fn upload(
    gpu: &Gpu,
    buffer: &wgpu::Buffer,
    particles: &[Particle<f64>],
    held: &[u32],
    spacing: f64,
) -> Result<(), String> {
    let Some(bytes) = wgpu::BufferSize::new((particles.len() * BYTES) as u64) else {
        return Ok(());
    };
    let Some(mut view) = gpu.queue.write_buffer_with(buffer, 0, bytes) else {
        let fault = gpu.fault();
        return Err(fault.unwrap_or_else(|| format!("no memory for {bytes} bytes of particles")));
    };
    let (places, mut rest) = view.slice(..).into_chunks::<{ FEW * BYTES }>();
    let places: Vec<_> = places.into_iter().collect();
    let pack = |number: usize, few: &[Particle<f64>]| {
        let mut packed = [DeviceParticle::zeroed(); FEW];
        for ((to, p), number) in packed.iter_mut().zip(few).zip(FEW * number..) {
            let held = held.get(number).copied().unwrap_or(0);
            *to = DeviceParticle::of(p, spacing, held);
        }
        packed
    };
    let whole = places.into_par_iter().zip(particles.par_chunks(FEW));
    let whole = whole.with_min_len(CHUNK / FEW).enumerate();
    whole.for_each(|(k, (place, few))| place.write(bytemuck::cast(pack(k, few))));
    let last = particles.chunks_exact(FEW).remainder();
    let packed = pack(particles.len() / FEW, last);
    rest.copy_from_slice(bytemuck::cast_slice(&packed[..last.len()]));
    Ok(())
}

/// What [`take`] found.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) extent: Extent,
    /// Particles that [`upload`] would put to another place than the device has them: round-off took them across the border of cells.
    pub(crate) displaced: Vec<u32>,
}

/// Moves particles to where the device has them.
pub(crate) fn take(
    particles: &mut [Particle<f64>],
    found: &[DeviceParticle],
    spacing: f64,
) -> Taken {
    let chunks = particles.par_chunks_mut(CHUNK).zip(found.par_chunks(CHUNK));
    let each = chunks.map(|(particles, found)| {
        let mut taken = Taken::default();
        for (p, device) in particles.iter_mut().zip(found) {
            device.write(p, spacing);
            let place = place(p, spacing);
            taken.extent.add(place.0, &p.v);
            if !device.is_at(place) {
                taken.displaced.push(p.index);
            }
        }
        taken
    });
    each.reduce(Taken::default, |mut all, other| {
        all.extent = all.extent.and(other.extent);
        all.displaced.extend(other.displaced);
        all
    })
}

/// Sends single particles again.
pub(crate) fn replace(
    gpu: &Gpu,
    buffer: &wgpu::Buffer,
    (particles, displaced): (&[Particle<f64>], &[u32]),
    held: &[u32],
    spacing: f64,
) {
    for number in displaced.iter().map(|n| *n as usize) {
        let held = held.get(number).copied().unwrap_or(0);
        let packed = DeviceParticle::of(&particles[number], spacing, held);
        let at = (number * BYTES) as u64;
        (gpu.queue).write_buffer(buffer, at, bytemuck::bytes_of(&packed));
    }
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
