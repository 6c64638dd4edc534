//! The one read-back of a time step: the device is waited for when a world needs what it left there.

use std::sync::{Arc, OnceLock};

use nalgebra::Vector3;
use pliant_mpm::{PairImpulse, ParticleImpulse, StageTimes};
use rayon::prelude::*;

use crate::adapter::Gpu;
use crate::layout::{COUNTERS, DeviceParticle, PAIR, Params};
use crate::particles::CHUNK;
use crate::size::{FORCE_BYTES, PARTICLE_BYTES};
use crate::stage_clock::{StageClock, Timed};

/// A set of dispatches that the device was given, and what its time steps left there.
pub(crate) struct Run {
    buffer: Arc<wgpu::Buffer>,
    /// Bytes of the results of all worlds, and of the timestamps after them.
    length: u64,
    submission: wgpu::SubmissionIndex,
    timing: Option<Timing>,
    /// Once somebody has waited for the device.
    results: OnceLock<Result<Results, String>>,
}

/// How the timestamps of a run are read.
pub(crate) struct Timing {
    pub(crate) clock: Arc<StageClock>,
    pub(crate) timed: Timed,
    pub(crate) worlds: usize,
}

struct Results {
    view: wgpu::BufferView,
    times: StageTimes,
}

impl Run {
    /// Of a submission that copies so many bytes to the buffer.
    pub(crate) fn new(
        (buffer, length): (Arc<wgpu::Buffer>, u64),
        submission: wgpu::SubmissionIndex,
        timing: Option<Timing>,
    ) -> Self {
        Self {
            buffer,
            length,
            submission,
            timing,
            results: OnceLock::new(),
        }
    }

    /// Waits for the device. Of several threads one waits there, and the others for it; it does no other work meanwhile.
    fn wait(&self, gpu: &Gpu) -> Result<&Results, String> {
        let results = self.results.get_or_init(|| self.read(gpu));
        results.as_ref().map_err(Clone::clone)
    }

    fn read(&self, gpu: &Gpu) -> Result<Results, String> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let all = 0..self.length;
        (self.buffer).map_async(wgpu::MapMode::Read, all.clone(), move |result| {
            // Without a receiver nobody waits.
            let _ = sender.send(result);
        });
        let waited = gpu.device.poll(wgpu::PollType::Wait {
            submission_index: Some(self.submission.clone()),
            timeout: None,
        });
        if let Some(fault) = gpu.fault() {
            return Err(fault);
        }
        waited.map_err(|e| e.to_string())?;
        let mapped = receiver.recv().map_err(|e| e.to_string())?;
        mapped.map_err(|e| e.to_string())?;
        let view = self.buffer.get_mapped_range(all);
        let view = view.map_err(|e| e.to_string())?;
        let times = self.timing.as_ref().map(|t| {
            let stamps = view.len() - t.timed.bytes() as usize;
            let stamps = bytemuck::cast_slice(&view[stamps..]);
            t.clock.times(t.timed, stamps, t.worlds)
        });
        Ok(Results {
            times: times.unwrap_or_default(),
            view,
        })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(Ok(results)) = self.results.take() {
            drop(results.view);
            self.buffer.unmap();
        }
    }
}

/// Bytes of counters, particles, forces and out.
pub(crate) type Lengths = [u64; 4];

/// What the time step of a world leaves on the device.
pub(crate) struct Found {
    run: Arc<Run>,
    at: u64,
    lengths: Lengths,
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

fn vector(numbers: &[f32]) -> Vector3<f64> {
    Vector3::new(numbers[0], numbers[1], numbers[2]).map(f64::from)
}

impl Found {
    /// What begins at `at` in the results of a run.
    pub(crate) fn new(run: &Arc<Run>, at: u64, lengths: Lengths) -> Self {
        Self {
            run: Arc::clone(run),
            at,
            lengths,
        }
    }

    /// Waits for the device. All else is empty before.
    pub(crate) fn wait(&self, gpu: &Gpu) -> Result<(), String> {
        self.run.wait(gpu).map(|_| ())
    }

    fn results(&self) -> Option<&Results> {
        self.run.results.get()?.as_ref().ok()
    }

    fn part<T: bytemuck::AnyBitPattern>(&self, part: usize) -> &[T] {
        let at = self.at + self.lengths[..part].iter().sum::<u64>();
        let bytes = self
            .results()
            .map(|r| &r.view[at as usize..][..self.lengths[part] as usize]);
        bytemuck::cast_slice(bytes.unwrap_or_default())
    }

    /// The share of the world in the times of the stages.
    pub(crate) fn times(&self) -> StageTimes {
        self.results().map(|r| r.times).unwrap_or_default()
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
