//! Worlds that take their substeps together. The request of each world is kept until the requests are submitted, at the latest when one of the results is read;
//! one set of dispatches then takes all of these time steps.
//!
//! A world may make a request while the device takes the time steps of others, since the state is not locked during a wait. Submissions run in their order,
//! so that they share all buffers but the one that is read back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::adapter::Gpu;
use crate::buffers::{Buffers, FORCES, LISTS, Need, OUT, OfBindings, PARTICLES, Part, READ, SCENE};
use crate::dispatch::Dispatches;
use crate::layout::{COUNTERS, CRUSHED_FIRST, DeviceParticle, Params};
use crate::pipelines::GROUPS_MAX;
use crate::read_back::{self, Found, Lengths, Run, Timing};
use crate::size::PARTICLE_BYTES;
use crate::stage_clock::{DispatchTime, StageClock};

/// Things of so many bytes go to the device one by one, smaller ones together.
const LARGE: usize = 1 << 16;
/// Bytes of a piece: of what is larger, two pieces at a time are in the memory of the driver.
const PIECE: usize = 64 << 20;

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
    state: Arc<Mutex<BatchState>>,
}

/// The buffers of the device, and the requests and results of all worlds.
struct BatchState {
    buffers: Buffers,
    parts: Vec<Part>,
    /// Whether a part is that of a world.
    in_use: Vec<bool>,
    requests: Vec<WorldRequest>,
    /// Of submitted requests; the device may not have finished them.
    results: Vec<Option<Result<Found, String>>>,
    clock: Option<Arc<StageClock>>,
    /// Of the last results that were read.
    dispatch_times: Vec<DispatchTime>,
}

/// A world and its request.
type WorldRequest = (usize, Request);

/// What a world needs on the device to take a time step.
pub(crate) struct Request {
    /// Without the places of its parts.
    pub(crate) params: Params,
    /// Iterations of the contact solve by many workgroups.
    pub(crate) iterations: u32,
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
        Self::with_clock(gpu, StageClock::of_phases(gpu))
    }

    /// Without worlds; its stages are timed one by one, for [`dispatch_times`](Self::dispatch_times). That takes time itself.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use pliant_gpu::{Gpu, GpuBatch, adapters};
    ///
    /// if adapters().iter().any(|adapter| !adapter.is_software && adapter.can_take_substeps()) {
    ///     let batch = GpuBatch::timed_by_stage(&Arc::new(Gpu::open()?));
    ///     // There is nothing before the first time step.
    ///     assert!(batch.dispatch_times().is_empty());
    /// }
    /// # Ok::<(), pliant_gpu::GpuError>(())
    /// ```
    #[must_use]
    pub fn timed_by_stage(gpu: &Arc<Gpu>) -> Self {
        Self::with_clock(gpu, StageClock::of_stages(gpu))
    }

    fn with_clock(gpu: &Arc<Gpu>, clock: Option<StageClock>) -> Self {
        Self {
            gpu: Arc::clone(gpu),
            state: Arc::new(Mutex::new(BatchState {
                buffers: Buffers::default(),
                parts: Vec::new(),
                in_use: Vec::new(),
                requests: Vec::new(),
                results: Vec::new(),
                clock: clock.map(Arc::new),
                dispatch_times: Vec::new(),
            })),
        }
    }

    /// Times of the dispatches of the last set of time steps whose results were read, all worlds together: of phases, or of stages if they are
    /// [timed one by one](Self::timed_by_stage). Empty on an adapter without timestamps.
    #[must_use]
    pub fn dispatch_times(&self) -> Vec<DispatchTime> {
        self.state().dispatch_times.clone()
    }

    pub(crate) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    fn state(&self) -> MutexGuard<'_, BatchState> {
        // A panic in the thread of another world leaves requests and results complete.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a world and returns its place.
    pub(crate) fn add_world(&self) -> usize {
        let mut state = self.state();
        if let Some(free) = state.in_use.iter().position(|taken| !taken) {
            state.in_use[free] = true;
            return free;
        }
        state.parts.push(Part::default());
        state.in_use.push(true);
        state.results.push(None);
        state.parts.len() - 1
    }

    /// Removes a world, whose place is then free for another.
    pub(crate) fn remove_world(&self, world: usize) {
        self.cancel(world);
        let mut state = self.state();
        state.parts[world].room = OfBindings::default();
        state.in_use[world] = false;
    }

    /// Requests a time step, instead of any earlier request of the world.
    pub(crate) fn request(&self, world: usize, request: Request) {
        self.cancel(world);
        self.state().requests.push((world, request));
    }

    /// Drops the request of a world, or its result.
    pub(crate) fn cancel(&self, world: usize) {
        let mut state = self.state();
        state.requests.retain(|(other, _)| *other != world);
        state.results[world] = None;
    }

    /// Submits all requests, without waiting for the device.
    pub(crate) fn start(&self) {
        self.state().start(&self.gpu);
    }

    /// The result of the request of a world. Submits all requests if that of this world was not submitted, and waits for the device.
    pub(crate) fn result(&self, world: usize) -> Result<Found, String> {
        let result = {
            let mut state = self.state();
            if state.results[world].is_none() {
                state.start(&self.gpu);
            }
            state.results[world].take()
        };
        let found = result.expect("requested before it is read")?;
        found.wait(&self.gpu)?;
        self.state().dispatch_times = found.dispatch_times().to_vec();
        Ok(found)
    }

    /// What is bound at a number.
    #[cfg(test)]
    pub(crate) fn buffer(&self, binding: usize) -> wgpu::Buffer {
        self.state().buffers.at(binding).clone()
    }
}

impl BatchState {
    fn start(&mut self, gpu: &Gpu) {
        let requests = std::mem::take(&mut self.requests);
        let requests = self.with_room(gpu, requests);
        // Worlds are along the third axis.
        for requests in requests.chunks(GROUPS_MAX as usize) {
            match self.launch(gpu, requests) {
                Ok(found) => {
                    for ((world, _), found) in requests.iter().zip(found) {
                        self.results[*world] = Some(Ok(found));
                    }
                }
                Err(reason) => {
                    for (world, _) in requests {
                        self.results[*world] = Some(Err(reason.clone()));
                    }
                }
            }
        }
    }

    /// Makes room for the requests. A world for which there is none gets an error, and the others the room.
    fn with_room(&mut self, gpu: &Gpu, mut requests: Vec<WorldRequest>) -> Vec<WorldRequest> {
        let need = |(world, request): &WorldRequest| Need {
            world: *world,
            particles: request.params.n_particles.into(),
            bytes: request.bytes,
        };
        loop {
            let needs: Vec<Need> = requests.iter().map(need).collect();
            match self.buffers.fit(gpu, &mut self.parts, &needs) {
                Ok(()) => return requests,
                Err((place, error)) => {
                    let (world, _) = requests.remove(place);
                    self.results[world] = Some(Err(error.to_string()));
                }
            }
        }
    }

    /// One set of dispatches.
    fn launch(&mut self, gpu: &Gpu, requests: &[WorldRequest]) -> Result<Vec<Found>, String> {
        let with_parts = |(world, r): &WorldRequest| Params {
            parts_at: self.parts[*world].elements(),
            ..r.params
        };
        let params: Vec<Params> = requests.iter().map(with_parts).collect();
        self.buffers.write_worlds(gpu, &params);
        let substeps = params.iter().map(|p| p.substeps).max().unwrap_or(0);
        let clock = self
            .clock
            .clone()
            .map(|clock| (clock.timed(substeps), clock));
        let stamps = clock.as_ref().map_or(0, |(timed, _)| timed.bytes());
        let lengths: Vec<_> = requests.iter().map(lengths).collect();
        let mut totals: Lengths =
            std::array::from_fn(|part| lengths.iter().map(|of_world| of_world[part]).sum());
        let stamps_at = totals[0];
        totals[0] += stamps;
        let copies = self.buffers.copies(gpu, totals);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        self.send(gpu, requests, &mut encoder)?;
        let bound = self.buffers.bind(gpu);
        let iterations = requests.iter().map(|(_, request)| request.iterations);
        let dispatches = Dispatches::of(params.iter().zip(iterations));
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            gpu.pipelines.bind(&mut pass, &bound);
            for substep in 0..substeps {
                let marks = (clock.as_ref()).and_then(|(timed, c)| c.marks(*timed, substep));
                dispatches.add_substep(gpu, substep, &mut pass, marks);
            }
        }
        let mut places = Vec::with_capacity(lengths.len());
        let mut at = Lengths::default();
        for ((world, _), lengths) in requests.iter().zip(&lengths) {
            places.push(at);
            for (part, binding) in READ.into_iter().enumerate() {
                if lengths[part] > 0 {
                    let from = (self.buffers.at(binding), self.parts[*world].at[binding]);
                    let to = (&copies[part], at[part]);
                    encoder.copy_buffer_to_buffer(from.0, from.1, to.0, to.1, lengths[part]);
                    at[part] += lengths[part];
                }
            }
        }
        if let Some((timed, clock)) = &clock {
            let resolved = clock.resolve(*timed, &mut encoder);
            encoder.copy_buffer_to_buffer(resolved, 0, &copies[0], stamps_at, stamps);
        }
        let submission = gpu.queue.submit([encoder.finish()]);
        let timing = clock.map(|(timed, clock)| Timing {
            clock,
            timed,
            worlds: requests.len(),
            dispatches: dispatches.counts(substeps),
        });
        let run = Arc::new(Run::new((copies, totals), submission, timing));
        let each = places.into_iter().zip(lengths);
        Ok(each
            .map(|(at, lengths)| Found::new(&run, at, lengths))
            .collect())
    }

    /// Writes the data of the requests to its places: large pieces at once, small ones in one piece, from which `encoder` copies them.
    fn send(
        &mut self,
        gpu: &Gpu,
        requests: &[WorldRequest],
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), String> {
        let mut counters = [0_u32; COUNTERS as usize];
        counters[CRUSHED_FIRST] = u32::MAX;
        let (mut small, mut copies) = (Vec::new(), Vec::new());
        for (world, request) in requests {
            let part = &self.parts[*world];
            let mut write = |binding: usize, offset: u64, bytes: &[u8]| {
                let to = part.at[binding] + offset;
                if bytes.len() >= LARGE {
                    write_in_pieces(gpu, (self.buffers.at(binding), to), bytes, PIECE);
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

/// Writes `bytes` to a place in a buffer, the driver's copies of two pieces at a time.
pub(crate) fn write_in_pieces(
    gpu: &Gpu,
    (buffer, at): (&wgpu::Buffer, u64),
    bytes: &[u8],
    piece: usize,
) {
    let mut last = None;
    for (number, part) in bytes.chunks(piece).enumerate() {
        (gpu.queue).write_buffer(buffer, at + (number * piece) as u64, part);
        if bytes.len() > piece {
            let before = last.replace(gpu.queue.submit([]));
            if before.is_some() {
                // A device that fails here is an error of the launch.
                let _ = gpu.device.poll(wgpu::PollType::Wait {
                    submission_index: before,
                    timeout: None,
                });
            }
        }
    }
}
