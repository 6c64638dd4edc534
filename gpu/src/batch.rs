//! Worlds that take their substeps together: what each asks for is kept until it is begun, or one of them needs its answer; then one set of dispatches
//! takes the time steps of all that have asked.
//!
//! Worlds may ask while the device takes the time steps of others. Nobody waits with the members locked. The device does what it is given in order, so that
//! sets of dispatches share all buffers but the one that is read back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::adapter::Gpu;
use crate::buffers::{Buffers, FORCES, LISTS, Need, OUT, OfBindings, PARTICLES, Part, SCENE};
use crate::dispatch::{Dispatches, GROUPS_MAX, Shared};
use crate::layout::{COUNTERS, CRUSHED_FIRST, DeviceParticle, Params};
use crate::read_back::{self, Found, Lengths, Run, Timing};
use crate::size::PARTICLE_BYTES;
use crate::stage_clock::{self, StageClock, Timed};

/// Things of so many bytes go to the device one by one, smaller ones together.
const LARGE: usize = 1 << 16;

/// Worlds on a device that take their substeps in one set of dispatches, each with one workgroup or more of every stage.
///
/// Worlds may differ in everything, the number of substeps included. A world whose buffers overflow takes its step again without the others. One for which the
/// adapter has no room has an error of its own, and the others go on.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Preset, RigidLinks, Sampling, SubstepContact, SubstepSolver, fill};
/// use pliant_gpu::{Gpu, GpuBatch, GpuSubsteps, adapters};
/// use pliant_mpm::{SubstepBackend, SubstepInput, SubstepReport};
///
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let solver = SubstepSolver::GaussSeidel;
/// # let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver, tolerance: 1e-2, iterations_max: 100 };
/// # let (mut memory, mut report) = (Vec::new(), SubstepReport::default());
/// # let on = |g: f64| { let gravity = Vector3::new(0.0, 0.0, -g); SubstepInput { time_step_s: 1e-3, substeps: 4, gravity, control: &control, obstacles: &[], contact, laws: &LaggedLaws } };
/// if adapters().iter().any(|adapter| !adapter.is_software && adapter.can_take_substeps()) {
///     // A cube of foam falls on the earth and on the moon, in the same dispatches.
///     let batch = GpuBatch::new(&Arc::new(Gpu::open()?));
///     let mut worlds = [GpuSubsteps::in_batch(&batch, &model)?, GpuSubsteps::in_batch(&batch, &model)?];
///     let inputs = [on(9.81), on(1.62)];
///     for (world, input) in worlds.iter_mut().zip(&inputs) {
///         world.begin(&model.default_state())?;
///         world.prepare(input, &links, &memory)?;
///     }
///     for (world, input) in worlds.iter_mut().zip(&inputs) {
///         world.run(input, &mut links, &mut memory, &mut report)?;
///         let _ = world.end(&mut next)?;
///         assert!(next.v.chunks(3).all(|v| (v[2] - 1e-3 * input.gravity.z).abs() < 1e-7));
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct GpuBatch {
    gpu: Arc<Gpu>,
    members: Arc<Mutex<Members>>,
}

/// What is on the device, and who asks for what.
struct Members {
    buffers: Buffers,
    parts: Vec<Part>,
    /// Whether a part is that of a world.
    are_taken: Vec<bool>,
    asked: Vec<WorldRequest>,
    /// Of what was begun; the device may be at it.
    answers: Vec<Option<Result<Found, String>>>,
    clock: Option<Arc<StageClock>>,
}

/// A world, and what it asks for.
type WorldRequest = (usize, Request);

/// What a world needs on the device to take a time step.
pub(crate) struct Request {
    /// Without the places of its parts.
    pub(crate) params: Params,
    pub(crate) shared: Shared,
    /// Bytes of each binding.
    pub(crate) bytes: OfBindings,
    /// The part of `scene` that lasts, if the device does not have it.
    pub(crate) lasting: Option<Vec<f32>>,
    /// The part of the time step, and the byte at which it begins.
    pub(crate) table: (u64, Vec<f32>),
    pub(crate) out: Vec<f32>,
    pub(crate) particles: Particles,
    pub(crate) forces: Forces,
}

/// Particles on their way to the device.
pub(crate) enum Particles {
    All(Vec<DeviceParticle>),
    /// The device has the others.
    Some(Vec<(usize, DeviceParticle)>),
}

/// Contact forces on their way to the device.
pub(crate) enum Forces {
    /// The device has them.
    Kept,
    /// There are none.
    Zero,
    Sent(Vec<[f32; 4]>),
}

impl GpuBatch {
    /// Without worlds.
    #[must_use]
    pub fn new(gpu: &Arc<Gpu>) -> Self {
        Self {
            gpu: Arc::clone(gpu),
            members: Arc::new(Mutex::new(Members {
                buffers: Buffers::default(),
                parts: Vec::new(),
                are_taken: Vec::new(),
                asked: Vec::new(),
                answers: Vec::new(),
                clock: StageClock::new(gpu).map(Arc::new),
            })),
        }
    }

    pub(crate) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        // A panic of another world leaves requests and answers whole.
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more world.
    pub(crate) fn enter(&self) -> usize {
        let mut members = self.members();
        if let Some(free) = members.are_taken.iter().position(|taken| !taken) {
            members.are_taken[free] = true;
            return free;
        }
        members.parts.push(Part::default());
        members.are_taken.push(true);
        members.answers.push(None);
        members.parts.len() - 1
    }

    /// Gives up the place of a world.
    pub(crate) fn leave(&self, world: usize) {
        self.forget(world);
        let mut members = self.members();
        members.parts[world].room = OfBindings::default();
        members.are_taken[world] = false;
    }

    /// Asks for a time step.
    pub(crate) fn ask(&self, world: usize, request: Request) {
        self.forget(world);
        self.members().asked.push((world, request));
    }

    /// Drops what a world has asked for.
    pub(crate) fn forget(&self, world: usize) {
        let mut members = self.members();
        members.asked.retain(|(other, _)| *other != world);
        members.answers[world] = None;
    }

    /// Gives the device the time steps of all worlds that have asked, without waiting for it.
    pub(crate) fn start(&self) {
        self.members().start(&self.gpu);
    }

    /// The answer to what a world has asked for. Begins the time steps of all worlds that have asked, if that of this one was not begun, and waits for
    /// the device.
    pub(crate) fn answer(&self, world: usize) -> Result<Found, String> {
        let answer = {
            let mut members = self.members();
            if members.answers[world].is_none() {
                members.start(&self.gpu);
            }
            members.answers[world].take()
        };
        let found = answer.expect("asked for before it is taken")?;
        found.wait(&self.gpu)?;
        Ok(found)
    }

    /// What is bound at a number.
    #[cfg(test)]
    pub(crate) fn buffer(&self, binding: usize) -> wgpu::Buffer {
        self.members().buffers.at(binding).clone()
    }
}

impl Members {
    fn start(&mut self, gpu: &Gpu) {
        let asked = std::mem::take(&mut self.asked);
        let asked = self.with_room(gpu, asked);
        let results_max = gpu.description.storage_buffer_max;
        for asked in sets(asked, results_max.saturating_sub(stage_clock::BYTES_MAX)) {
            match self.launch(gpu, &asked) {
                Ok(found) => {
                    for ((world, _), found) in asked.iter().zip(found) {
                        self.answers[*world] = Some(Ok(found));
                    }
                }
                Err(reason) => {
                    for (world, _) in asked {
                        self.answers[world] = Some(Err(reason.clone()));
                    }
                }
            }
        }
    }

    /// Makes room for what was asked for. A world for which there is none has its error, and leaves the room to the others.
    fn with_room(&mut self, gpu: &Gpu, mut asked: Vec<WorldRequest>) -> Vec<WorldRequest> {
        let need = |(world, request): &WorldRequest| Need {
            world: *world,
            particles: request.params.n_particles.into(),
            bytes: request.bytes,
        };
        loop {
            let needs: Vec<Need> = asked.iter().map(need).collect();
            match self.buffers.fit(gpu, &mut self.parts, &needs) {
                Ok(()) => return asked,
                Err((place, error)) => {
                    let (world, _) = asked.remove(place);
                    self.answers[world] = Some(Err(error.to_string()));
                }
            }
        }
    }

    /// One set of dispatches.
    fn launch(&mut self, gpu: &Gpu, asked: &[WorldRequest]) -> Result<Vec<Found>, String> {
        let with_parts = |(world, r): &WorldRequest| Params {
            parts_at: self.parts[*world].elements(),
            ..r.params
        };
        let params: Vec<Params> = asked.iter().map(with_parts).collect();
        self.buffers.write_worlds(gpu, &params);
        let substeps = params.iter().map(|p| p.substeps).max().unwrap_or(0);
        let timed = Timed::new(substeps);
        let stamps = self.clock.as_ref().map_or(0, |_| timed.bytes());
        let lengths: Vec<_> = asked.iter().map(lengths).collect();
        let total = lengths.iter().flatten().sum::<u64>() + stamps;
        let of_request = |(_, r): &WorldRequest| u64::from(r.params.n_particles);
        let particles = asked.iter().map(of_request).sum();
        let read = self.buffers.read_back(gpu, total, particles);
        let read = read.map_err(|e| e.to_string())?;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        self.send(gpu, asked, &mut encoder)?;
        let bound = self.buffers.bind(gpu);
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_bind_group(0, &bound, &[]);
            let sizes = asked.iter().map(|(_, request)| request.shared);
            let dispatches = Dispatches::of(params.iter().zip(sizes));
            for substep in 0..substeps {
                let marks = (self.clock.as_ref()).and_then(|clock| clock.marks(timed, substep));
                dispatches.add_substep(gpu, substep, &mut pass, marks);
            }
        }
        let mut at = 0;
        for ((world, _), lengths) in asked.iter().zip(&lengths) {
            for (binding, length) in [LISTS, PARTICLES, FORCES, OUT].into_iter().zip(lengths) {
                if *length > 0 {
                    let from = (self.buffers.at(binding), self.parts[*world].at[binding]);
                    encoder.copy_buffer_to_buffer(from.0, from.1, &read, at, *length);
                }
                at += length;
            }
        }
        if let Some(clock) = &self.clock {
            let resolved = clock.resolve(timed, &mut encoder);
            encoder.copy_buffer_to_buffer(resolved, 0, &read, at, stamps);
        }
        let submission = gpu.queue.submit([encoder.finish()]);
        let worlds = asked.len();
        let clock = self.clock.clone();
        let timing = clock.map(|clock| Timing {
            clock,
            timed,
            worlds,
        });
        let run = Arc::new(Run::new((read, total), submission, timing));
        let mut at = 0;
        let of_world = |lengths: Lengths| {
            let found = Found::new(&run, at, lengths);
            at += lengths.iter().sum::<u64>();
            found
        };
        Ok(lengths.into_iter().map(of_world).collect())
    }

    /// Writes what was asked for to its places: large things at once, small ones in one piece, from which `encoder` copies them.
    fn send(
        &mut self,
        gpu: &Gpu,
        asked: &[WorldRequest],
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), String> {
        let mut counters = [0_u32; COUNTERS as usize];
        counters[CRUSHED_FIRST] = u32::MAX;
        let (mut small, mut copies) = (Vec::new(), Vec::new());
        for (world, request) in asked {
            let part = &self.parts[*world];
            let mut write = |binding: usize, offset: u64, bytes: &[u8]| {
                let to = part.at[binding] + offset;
                if bytes.len() >= LARGE {
                    gpu.queue.write_buffer(self.buffers.at(binding), to, bytes);
                } else if !bytes.is_empty() {
                    copies.push((binding, to, small.len() as u64, bytes.len() as u64));
                    small.extend_from_slice(bytes);
                }
            };
            if let Some(lasting) = &request.lasting {
                write(SCENE, 0, bytemuck::cast_slice(lasting));
            }
            write(
                SCENE,
                request.table.0,
                bytemuck::cast_slice(&request.table.1),
            );
            write(LISTS, 0, bytemuck::cast_slice(&counters));
            write(OUT, 0, bytemuck::cast_slice(&request.out));
            match &request.particles {
                Particles::All(all) => write(PARTICLES, 0, bytemuck::cast_slice(all)),
                Particles::Some(some) => some.iter().for_each(|(number, particle)| {
                    let offset = *number as u64 * PARTICLE_BYTES;
                    write(PARTICLES, offset, bytemuck::bytes_of(particle));
                }),
            }
            match &request.forces {
                Forces::Sent(forces) => write(FORCES, 0, bytemuck::cast_slice(forces)),
                Forces::Zero if request.bytes[FORCES] > 0 => {
                    let (at, length) = (part.at[FORCES], request.bytes[FORCES]);
                    encoder.clear_buffer(self.buffers.at(FORCES), at, Some(length));
                }
                Forces::Kept | Forces::Zero => {}
            }
        }
        let sent = self.buffers.sent(gpu, small.len() as u64).clone();
        gpu.queue.write_buffer(&sent, 0, &small);
        for (binding, to, from, length) in copies {
            let buffer = self.buffers.at(binding);
            encoder.copy_buffer_to_buffer(&sent, from, buffer, to, length);
        }
        match gpu.fault() {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }
}

fn lengths((_, request): &WorldRequest) -> Lengths {
    read_back::lengths(&request.params, request.out.len())
}

/// Sets of dispatches: worlds are along the third axis, and their results in one buffer of so many bytes.
fn sets(asked: Vec<WorldRequest>, results_max: u64) -> Vec<Vec<WorldRequest>> {
    let mut sets: Vec<Vec<WorldRequest>> = Vec::new();
    let mut taken = 0;
    for one in asked {
        let bytes: u64 = lengths(&one).iter().sum();
        match sets.last_mut() {
            Some(set) if set.len() < GROUPS_MAX as usize && taken + bytes <= results_max => {
                set.push(one);
                taken += bytes;
            }
            _ => {
                sets.push(vec![one]);
                taken = bytes;
            }
        }
    }
    sets
}
