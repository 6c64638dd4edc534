//! The one read-back of a time step: the device is waited for when a world needs what it left there.
//!
//! Each buffer that is read back has its own copy in the memory of the processor. So a copy is never larger than what is bound, and all that fits on the
//! device comes back.

use std::sync::{Arc, OnceLock};

use nalgebra::Vector3;
use pliant_mpm::{PairImpulse, ParticleImpulse, StageTimes};
use rayon::prelude::*;

use crate::adapter::Gpu;
use crate::buffers::{Copies, READ};
use crate::layout::{COUNTERS, DeviceParticle, PAIR, Params};
use crate::particles::CHUNK;
use crate::size::{FORCE_BYTES, PARTICLE_BYTES};
use crate::stage_clock::{DispatchTime, StageClock, Timed};

/// A set of dispatches that the device was given, and what its time steps left there.
pub(crate) struct Run {
    copies: Arc<Copies>,
    /// Bytes of the results of all worlds in each copy; timestamps are behind the counters.
    lengths: Lengths,
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
    /// How often each stage was dispatched.
    pub(crate) dispatches: Vec<u64>,
}

struct Results {
    /// `None` of an empty one.
    views: [Option<wgpu::BufferView>; READ.len()],
    times: StageTimes,
    dispatches: Vec<DispatchTime>,
}

impl Run {
    /// Of a submission that copies so many bytes to each of the copies.
    pub(crate) fn new(
        (copies, lengths): (Arc<Copies>, Lengths),
        submission: wgpu::SubmissionIndex,
        timing: Option<Timing>,
    ) -> Self {
        Self {
            copies,
            lengths,
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
        let in_use = || {
            let each = self.copies.iter().zip(self.lengths);
            each.filter(|(_, length)| *length > 0)
        };
        for (copy, length) in in_use() {
            let sender = sender.clone();
            copy.map_async(wgpu::MapMode::Read, 0..length, move |result| {
                // Without a receiver nobody waits.
                let _ = sender.send(result);
            });
        }
        // So that a buffer that is never mapped is an error and no wait without end.
        drop(sender);
        let waited = gpu.device.poll(wgpu::PollType::Wait {
            submission_index: Some(self.submission.clone()),
            timeout: None,
        });
        if let Some(fault) = gpu.fault() {
            return Err(fault);
        }
        waited.map_err(|e| e.to_string())?;
        for _ in in_use() {
            let mapped = receiver.recv().map_err(|e| e.to_string())?;
            mapped.map_err(|e| e.to_string())?;
        }
        let mut views = [const { None }; READ.len()];
        for ((view, copy), length) in views.iter_mut().zip(&*self.copies).zip(self.lengths) {
            if length > 0 {
                let mapped = copy.get_mapped_range(0..length);
                *view = Some(mapped.map_err(|e| e.to_string())?);
            }
        }
        let times = self.timing.as_ref().zip(views[0].as_ref());
        let times = times.map(|(t, counters)| {
            let stamps = counters.len() - t.timed.bytes() as usize;
            let stamps = bytemuck::cast_slice(&counters[stamps..]);
            let times = t.clock.times(t.timed, stamps);
            let dispatches = t.clock.dispatch_times(&times, &t.dispatches);
            (t.clock.phases(&times, t.worlds), dispatches)
        });
        let (times, dispatches) = times.unwrap_or_default();
        Ok(Results {
            views,
            times,
            dispatches,
        })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(Ok(results)) = self.results.take() {
            drop(results.views);
            let in_use = self.copies.iter().zip(self.lengths);
            (in_use.filter(|(_, length)| *length > 0)).for_each(|(copy, _)| copy.unmap());
        }
    }
}

/// Bytes of what is read back of each of [`READ`]: counters, particles, contact forces, links and sums.
pub(crate) type Lengths = [u64; READ.len()];

/// What the time step of a world leaves on the device.
pub(crate) struct Found {
    run: Arc<Run>,
    /// Where it begins in each copy.
    at: Lengths,
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
    /// What begins at `at` in the copies of a run.
    pub(crate) fn new(run: &Arc<Run>, at: Lengths, lengths: Lengths) -> Self {
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
        let view = self.results().and_then(|r| r.views[part].as_ref());
        let (at, length) = (self.at[part] as usize, self.lengths[part] as usize);
        let bytes = view.map(|view| &view[at..][..length]);
        bytemuck::cast_slice(bytes.unwrap_or_default())
    }

    /// The share of the world in the times of the stages.
    pub(crate) fn times(&self) -> StageTimes {
        self.results().map(|r| r.times).unwrap_or_default()
    }

    /// Times of the dispatches of all worlds together.
    pub(crate) fn dispatch_times(&self) -> &[DispatchTime] {
        self.results().map_or(&[], |r| &r.dispatches)
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
                        friction: f64::from(sum[11]),
                        friction_excess: f64::from(sum[12]),
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
