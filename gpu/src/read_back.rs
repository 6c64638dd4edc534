//! The one read-back of a time step.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_mpm::{PairImpulse, ParticleImpulse, StageTimes};
use rayon::prelude::*;

use crate::adapter::Gpu;
use crate::layout::{COUNTERS, DeviceParticle, PAIR, Params};
use crate::particles::CHUNK;
use crate::size::{FORCE_BYTES, PARTICLE_BYTES};

/// What the time steps of all worlds left on the device, in mapped memory.
pub(crate) struct Mapped {
    buffer: wgpu::Buffer,
    /// There until the end.
    view: Option<wgpu::BufferView>,
}

impl Mapped {
    /// So many bytes from `at`.
    pub(crate) fn part<T: bytemuck::AnyBitPattern>(&self, at: u64, length: u64) -> &[T] {
        let bytes = self.view.as_deref().unwrap_or_default();
        bytemuck::cast_slice(&bytes[at as usize..][..length as usize])
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.view = None;
        self.buffer.unmap();
    }
}

/// Bytes of counters, particles, forces and out.
pub(crate) type Lengths = [u64; 4];

/// What the time step of a world left on the device.
pub(crate) struct Found {
    mapped: Arc<Mapped>,
    at: u64,
    lengths: Lengths,
    pub(crate) times: StageTimes,
}

pub(crate) fn lengths(params: &Params, out: usize) -> Lengths {
    let forces = u64::from(params.n_particles) * u64::from(params.n_obstacles);
    [
        u64::from(COUNTERS) * 4,
        u64::from(params.n_particles) * PARTICLE_BYTES,
        forces * FORCE_BYTES,
        out as u64 * 4,
    ]
}

/// Waits for the device and reads so many bytes of `buffer`.
pub(crate) fn read(gpu: &Gpu, buffer: &wgpu::Buffer, total: u64) -> Result<Mapped, String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    buffer.map_async(wgpu::MapMode::Read, 0..total, move |result| {
        // Without a receiver nobody waits.
        let _ = sender.send(result);
    });
    let waited = gpu.device.poll(wgpu::PollType::wait_indefinitely());
    if let Some(fault) = gpu.fault() {
        return Err(fault);
    }
    waited.map_err(|e| e.to_string())?;
    let mapped = receiver.recv().map_err(|e| e.to_string())?;
    mapped.map_err(|e| e.to_string())?;
    let view = buffer.get_mapped_range(0..total);
    Ok(Mapped {
        buffer: buffer.clone(),
        view: Some(view.map_err(|e| e.to_string())?),
    })
}

fn vector(numbers: &[f32]) -> Vector3<f64> {
    Vector3::new(numbers[0], numbers[1], numbers[2]).map(f64::from)
}

impl Found {
    /// What begins at `at` in `mapped`.
    pub(crate) fn new(mapped: &Arc<Mapped>, at: u64, lengths: Lengths, times: StageTimes) -> Self {
        Self {
            mapped: Arc::clone(mapped),
            at,
            lengths,
            times,
        }
    }

    fn part<T: bytemuck::AnyBitPattern>(&self, part: usize) -> &[T] {
        let at = self.at + self.lengths[..part].iter().sum::<u64>();
        self.mapped.part(at, self.lengths[part])
    }

    pub(crate) fn counters(&self) -> &[u32] {
        self.part(0)
    }

    pub(crate) fn particles(&self) -> &[DeviceParticle] {
        self.part(1)
    }

    fn out(&self) -> &[f32] {
        self.part(3)
    }

    /// Impulses on all links in each substep.
    pub(crate) fn link_impulses(&self, params: &Params) -> Vec<Vec<f64>> {
        let n = 6 * params.n_links as usize;
        let records = &self.out()[params.records_at as usize..];
        (0..params.substeps as usize)
            .map(|k| {
                records[k * n..][..n]
                    .iter()
                    .map(|x| f64::from(*x))
                    .collect()
            })
            .collect()
    }

    /// Impulses of the pairs, ascending by object and obstacle.
    pub(crate) fn pairs(&self, params: &Params, corner: &Vector3<f64>) -> Vec<PairImpulse> {
        let mut pairs = Vec::new();
        for object in 0..params.n_objects {
            for obstacle in 0..params.n_obstacles {
                let pair = obstacle * params.n_objects + object;
                let at = (params.sums_at + PAIR * pair) as usize;
                let sum = &self.out()[at..at + PAIR as usize];
                let size = f64::from(sum[3]);
                if size > 0.0 {
                    pairs.push(PairImpulse {
                        object,
                        obstacle,
                        impulse_W: vector(sum),
                        p_WC: vector(&sum[4..]) / size + corner,
                        normal_W: vector(&sum[8..])
                            .try_normalize(0.0)
                            .unwrap_or_else(Vector3::z),
                        signed_distance: f64::from(sum[7]),
                    });
                }
            }
        }
        pairs
    }

    /// Contact forces of the last substep. Returns whether they are exactly what the device has.
    pub(crate) fn write_memory(
        &self,
        params: &Params,
        ids: &[u32],
        memory: &mut Vec<ParticleImpulse>,
    ) -> bool {
        memory.clear();
        let n = params.n_obstacles as usize;
        if n == 0 {
            return true;
        }
        let of_particles = self.part::<[f32; 4]>(2).par_chunks(CHUNK * n);
        let each = of_particles
            .zip(ids.par_chunks(CHUNK))
            .map(|(forces, ids)| {
                let (mut touching, mut is_exact) = (Vec::new(), true);
                for (place, force) in forces.iter().enumerate() {
                    if vector(force) != Vector3::zeros() {
                        touching.push(ParticleImpulse {
                            particle: ids[place / n],
                            obstacle: (place % n) as u32,
                            force_W: vector(force),
                        });
                    } else {
                        // Minus zero is not.
                        is_exact &= force.map(f32::to_bits) == [0; 4];
                    }
                }
                (touching, is_exact)
            });
        let chunks: Vec<(Vec<ParticleImpulse>, bool)> = each.collect();
        let are_exact = chunks.iter().all(|(_, is_exact)| *is_exact);
        memory.extend(chunks.into_iter().flat_map(|(touching, _)| touching));
        are_exact
    }
}
