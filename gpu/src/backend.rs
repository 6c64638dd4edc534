//! A time step of a world on the device: what changed goes up, all substeps in one submission, one read-back.
//!
//! Particles and contact forces stay on the device from one time step to the next; they are sent when the state is another one than the device has.
//!
//! The grid is sparse: blocks of nodes that particles reach, in a box with a margin for their way in the time step. A particle that leaves the box, and more
//! blocks or contacts than there is room for, set the status word; the step is then taken again from its start with a larger box or buffer.

use std::sync::Arc;

use pliant_contact_sap::{BodyError, BodyReport, BodyState};
use pliant_mpm::{
    DeviceObject, DeviceParticles, GradientForm, MaterialPoints, ParticleImpulse, RigidLinks,
    SubstepBackend, SubstepInput, SubstepLimit, SubstepReport,
};

use crate::adapter::Gpu;
use crate::batch::{Forces, GpuBatch, Particles, Request};
use crate::cloth_tables::ClothTables;
use crate::control::Prescribed;
use crate::error::GpuError;
use crate::layout::*;
use crate::node_box::{Extent, NodeBox};
use crate::particles::{self, Taken};
use crate::read_back::Found;
use crate::shapes::Shapes;
use crate::size::{StepSize, solve_bytes};
use crate::support::{check_input, check_objects, device_shapes};
use crate::tables::{Lasting, Table, add_links, add_obstacles, add_walls, start_of_out};

/// Nodes lighter than this part of a particle have no part in contact, as on the processor.
const NODE_MASS_MIN: f64 = 1e-7;
/// Times that a step is taken before it is an error.
const ATTEMPTS: u32 = 12;
/// Room for contacts at first.
const CONTACTS_FIRST: u32 = 256;
/// The same for blocks, and particles for each further one: an eighth of those that fill a block.
const BLOCKS_FIRST: u32 = 256;
const PARTICLES_OF_BLOCK: u32 = 64;
/// Blocks more than the last time step needed, besides a quarter.
const BLOCKS_MORE: u32 = 32;
/// The stress on the processor, over that on the device, is less: they differ by round-off of f32.
const STRESS_MARGIN: f32 = 1.01;
/// Particles that are sent one by one; of more, all are sent.
const DISPLACED_MAX: usize = 1000;

/// The substeps of one model on a device.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Preset, RigidLinks, Sampling, SubstepContact, SubstepSolver, fill};
/// use pliant_gpu::{Gpu, GpuSubsteps, adapters};
/// use pliant_mpm::{CpuSubsteps, SubstepBackend, SubstepInput, SubstepReport};
///
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let solver = SubstepSolver::GaussSeidel;
/// # let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver, tolerance: 1e-2, iterations_max: 100 };
/// # let (gravity, laws) = (Vector3::new(0.0, 0.0, -9.81), &LaggedLaws);
/// # let input = SubstepInput { time_step_s: 1e-3, substeps: 4, gravity, control: &control, obstacles: &[], contact, laws };
/// // On a GPU, or on the processor where there is none.
/// let has_gpu = adapters().iter().any(|adapter| !adapter.is_software && adapter.can_take_substeps());
/// let mut backend: Box<dyn SubstepBackend> = match has_gpu {
///     true => Box::new(GpuSubsteps::new(&Arc::new(Gpu::open()?), &model)?),
///     false => Box::new(CpuSubsteps::<f32>::new(&model)),
/// };
/// // A cube of foam falls for 1 ms in four substeps: v = −g Δt to the round-off of f32.
/// backend.begin(&model.default_state())?;
/// backend.run(&input, &mut links, &mut Vec::new(), &mut SubstepReport::default())?;
/// let _ = backend.end(&mut next)?;
/// assert!(next.v.chunks(3).all(|v| (v[2] + 9.81e-3).abs() < 1e-7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GpuSubsteps {
    batch: GpuBatch,
    /// Its place there.
    world: usize,
    particles: DeviceParticles,
    objects: Vec<DeviceObject>,
    shapes: Shapes,
    cloths: ClothTables,
    lasting: Lasting,
    /// Whether the device has it.
    has_lasting: bool,
    resident: Option<Resident>,
    requested: Option<Requested>,
    contacts_max: u32,
    /// `None` before the first time step.
    blocks_max: Option<u32>,
    /// Iterations of the contact solve by many workgroups in the next time step.
    iterations: u32,
    /// Cells around the particles, beyond their way.
    margin: i32,
    passed_s: f64,
    crushed: Option<(u32, u32)>,
}

/// What the device has at the end of a time step.
struct Resident {
    taken: Taken,
    held: Vec<u32>,
    /// The contact forces, and the number of obstacles.
    memory: Option<(Vec<ParticleImpulse>, usize)>,
}

/// A time step that was requested.
struct Requested {
    params: Params,
    node_box: NodeBox,
    held: Vec<u32>,
}

impl GpuSubsteps {
    /// For the model.
    ///
    /// # Errors
    /// [`GpuError::Unsupported`] for a material of another crate.
    pub fn new(gpu: &Arc<Gpu>, model: &MaterialPoints) -> Result<Self, GpuError> {
        Self::in_batch(&GpuBatch::new(gpu), model)
    }

    /// For the model, as one of the worlds of a batch. [`SubstepBackend::prepare`] of every world before the first [`SubstepBackend::run`] takes the
    /// substeps of all together.
    ///
    /// # Errors
    /// [`GpuError::Unsupported`] for a material of another crate, affine FLIP, mirrored walls, and liquids whose volume follows their
    /// particles.
    pub fn in_batch(batch: &GpuBatch, model: &MaterialPoints) -> Result<Self, GpuError> {
        let particles = DeviceParticles::new(model);
        if let Some(what) = particles.beyond() {
            return Err(GpuError::unsupported(what));
        }
        let objects = particles.objects();
        check_objects(&objects)?;
        let cloths = ClothTables::new(&objects)?;
        let lasting = Lasting::new(&objects, &Shapes::default(), &cloths);
        Ok(Self {
            batch: batch.clone(),
            world: batch.add_world(),
            particles,
            objects,
            shapes: Shapes::default(),
            cloths,
            lasting,
            has_lasting: false,
            resident: None,
            requested: None,
            contacts_max: CONTACTS_FIRST,
            blocks_max: None,
            iterations: 0,
            margin: 2,
            passed_s: 0.0,
            crushed: None,
        })
    }

    /// Whether the next time step begins with what the device has.
    #[cfg(test)]
    pub(crate) fn has_particles(&self) -> bool {
        self.resident.is_some()
    }

    /// Instead of what the last time step needed.
    #[cfg(test)]
    pub(crate) fn set_iterations(&mut self, iterations: u32) {
        self.iterations = iterations;
    }

    /// What is bound at a number, for tests of single stages.
    #[cfg(test)]
    pub(crate) fn buffer(&self, binding: usize) -> wgpu::Buffer {
        self.batch.buffer(binding)
    }

    /// Asks for the step with the present room.
    fn request(
        &mut self,
        input: &SubstepInput<'_>,
        links: &RigidLinks,
        memory: &[ParticleImpulse],
    ) -> Result<(), BodyError> {
        let shapes = device_shapes(&mut self.shapes, input.obstacles)?;
        if !self.lasting.is_of(&self.shapes) {
            self.lasting = Lasting::new(&self.objects, &self.shapes, &self.cloths);
            self.has_lasting = false;
        }
        let prescribed = Prescribed::new(&self.particles, &self.objects, input.control)?;
        let spacing = self.particles.spacing();
        // Until the step has been taken the device has nothing that is known.
        let resident = self.resident.take();
        let extent = resident.as_ref().map(|r| r.taken.extent);
        let extent = extent.unwrap_or_else(|| Extent::of(self.particles.particles(), spacing));
        let node_box = NodeBox::new(&extent, (input.time_step_s, spacing, self.margin))?;
        let mut params = self.params(input, &node_box);
        let corner = node_box.corner(spacing);
        let mut table = Table::after(&self.lasting.table);
        let obstacles = (input.obstacles, &shapes[..], &self.lasting);
        add_obstacles(&mut table, &mut params, obstacles, &corner);
        let walls = self.particles.walls();
        add_walls(&mut table, &mut params, walls, spacing, node_box.origin);
        prescribed.add(&mut table, &mut params);
        add_links(&mut table, &mut params, links);
        let out = start_of_out(&mut params, links, &corner);
        params.corners_at = out.len() as u32;
        let table = table.finish();
        let size = StepSize {
            particles: params.n_particles.into(),
            blocks: params.blocks_max.into(),
            contacts: params.contacts_max.into(),
            obstacles: params.n_obstacles.into(),
        };
        let table_bytes = table.offset() + size_of_val(table.numbers()) as u64;
        let corners = self.cloths.corner_numbers();
        params.solve_at = params.corners_at + corners as u32;
        let out_bytes = size_of_val(&out[..]) as u64 + 4 * corners + solve_bytes(&params);
        let held = prescribed.held().to_vec();
        let (particles, forces) = self.sent(resident, &held, (memory, input.obstacles.len()));
        let lasting = || self.lasting.table.numbers().to_vec();
        let request = Request {
            params,
            iterations: self.iterations,
            bytes: size.bindings((table_bytes, out_bytes)),
            lasting: (!self.has_lasting).then(lasting),
            table: (table.offset(), table.numbers().to_vec()),
            out,
            particles,
            forces,
        };
        self.batch.request(self.world, request);
        self.requested = Some(Requested {
            params,
            node_box,
            held,
        });
        Ok(())
    }

    /// Particles and contact forces that the device does not have.
    fn sent(
        &self,
        resident: Option<Resident>,
        held: &[u32],
        (memory, obstacles): (&[ParticleImpulse], usize),
    ) -> (Particles, Forces) {
        let (particles, spacing) = (self.particles.particles(), self.particles.spacing());
        let stays = |r: &Resident| r.held == held && r.taken.displaced.len() <= DISPLACED_MAX;
        let resident = resident.filter(stays);
        let sent = match &resident {
            Some(Resident { taken, .. }) => {
                let displaced = (particles, &taken.displaced[..]);
                Particles::Some(particles::some_packed(displaced, held, spacing))
            }
            None => Particles::All(particles::packed(particles, held, spacing)),
        };
        let forces = match resident.and_then(|r| r.memory) {
            Some((own, n)) if own == memory && n == obstacles => Forces::Kept,
            _ if memory.is_empty() => Forces::Zero,
            _ => Forces::Sent(particles::forces(self.particles.ids(), memory, obstacles)),
        };
        (sent, forces)
    }

    fn params(&self, input: &SubstepInput<'_>, node_box: &NodeBox) -> Params {
        let spacing = self.particles.spacing();
        let masses = self.objects.iter().map(|o| o.particle_mass);
        let dt = input.time_step_s / f64::from(input.substeps);
        let n_particles = self.particles.particles().len() as u32;
        let first = BLOCKS_FIRST + n_particles / PARTICLES_OF_BLOCK;
        let blocks_max = self.blocks_max.unwrap_or(first).min(node_box.n_blocks());
        Params {
            dims: node_box.dims,
            blocks_max,
            table_size: (2 * blocks_max).next_power_of_two(),
            origin: node_box.origin,
            n_particles,
            gravity: input.gravity.map(|x| x as f32).into(),
            dt: dt as f32,
            spacing: spacing as f32,
            inverse_spacing: (1.0 / spacing) as f32,
            is_mls: u32::from(self.particles.gradient() == GradientForm::Mls),
            n_obstacles: input.obstacles.len() as u32,
            n_objects: self.objects.len() as u32,
            contacts_max: self.contacts_max,
            iterations_max: input.contact.iterations_max,
            substeps: input.substeps,
            tolerance: input.contact.tolerance as f32,
            stiction_speed: input.contact.stiction_speed as f32,
            near_rigid: input.contact.near_rigid as f32,
            light_mass: (NODE_MASS_MIN * masses.fold(f64::INFINITY, f64::min)) as f32,
            ..self.lasting.places
        }
    }

    /// Takes what the device found into the particles, the links and the report. Returns false for a step that is to be requested again, with more room.
    fn take(
        &mut self,
        (found, requested): (Found, Requested),
        input: &SubstepInput<'_>,
        links: &mut RigidLinks,
        memory: &mut Vec<ParticleImpulse>,
        report: &mut SubstepReport,
    ) -> Result<bool, BodyError> {
        let params = &requested.params;
        let counters = found.counters();
        let status = counters[STATUS];
        // A step without room has numbers of no meaning.
        if status & TOO_MANY_BLOCKS != 0 {
            let needed = counters[BLOCKS_NEEDED].max(params.blocks_max);
            self.blocks_max = Some(needed.saturating_mul(3) / 2);
            return Ok(false);
        }
        if status & TOO_MANY_CONTACTS != 0 {
            self.contacts_max = counters[CONTACTS_NEEDED].saturating_mul(3) / 2;
            return Ok(false);
        }
        if status & LOOP_CUT != 0 {
            return Err(BodyError::Model(format!(
                "the adapter \"{}\" cut loops short over {} contacts in a substep; take the substeps on the processor, or on a GPU that is no software",
                self.batch.gpu().description.name,
                counters[CONTACTS_MAX]
            )));
        }
        if status & NOT_FINITE != 0 {
            return Err(BodyError::NotFinite {
                location: "a particle within the substeps on the device".into(),
                value: f64::NAN,
            });
        }
        if status & LEFT_GRID != 0 {
            self.margin = self.margin.saturating_mul(2);
            return Ok(false);
        }
        let spacing = self.particles.spacing();
        let moved = self.particles.particles_mut();
        let taken = particles::take(moved, found.particles(), spacing);
        let share = 1.0 / f64::from(input.substeps);
        for impulses in found.link_impulses(params) {
            links.replay_substep(&impulses, input.time_step_s * share, share);
        }
        let are_exact = found.write_memory(params, self.particles.ids(), memory);
        self.resident = Some(Resident {
            taken,
            held: requested.held,
            memory: are_exact.then(|| (memory.clone(), input.obstacles.len())),
        });
        report.contacts = u64::from(counters[CONTACTS_TOTAL]);
        report.contacts_max = counters[CONTACTS_MAX];
        report.iterations = u64::from(counters[ITERATIONS]);
        report.unsolved = counters[UNSOLVED];
        report.pairs = found.pairs(params, &requested.node_box.corner(spacing));
        report.times = found.times();
        self.iterations = iterations(self.batch.gpu(), counters, params.substeps);
        let needed = counters[BLOCKS_NEEDED];
        self.blocks_max = Some(needed.saturating_add(needed / 4 + BLOCKS_MORE));
        let crushed = counters[CRUSHED];
        self.crushed = (crushed > 0).then_some((crushed, counters[CRUSHED_FIRST]));
        Ok(true)
    }
}

/// Iterations of the contact solve by many workgroups after a time step of so many substeps: as many as the substeps needed, up to twice their mean. A software
/// device gains nothing by many workgroups.
fn iterations(gpu: &Gpu, counters: &[u32], substeps: u32) -> u32 {
    let twice_mean = 2 * counters[ITERATIONS].div_ceil(substeps);
    match gpu.description.is_software {
        true => 0,
        false => counters[ITERATIONS_MOST].min(twice_mean),
    }
}

impl Drop for GpuSubsteps {
    fn drop(&mut self) {
        self.batch.remove_world(self.world);
    }
}

/// Of the stress on the processor, from that on the device; infinity of one that is no number.
fn bound(stress: f32) -> f64 {
    f64::from(STRESS_MARGIN * stress).min(f64::INFINITY)
}

fn failed(reason: String) -> BodyError {
    BodyError::Model(format!(
        "the device failed: {reason}; the step was not taken, take the substeps on the processor"
    ))
}

impl SubstepBackend for GpuSubsteps {
    fn begin(&mut self, state: &BodyState) -> Result<(), BodyError> {
        if self.requested.take().is_some() {
            self.batch.cancel(self.world);
        }
        let resident = self.resident.take();
        self.particles.begin(state)?;
        self.resident = resident.filter(|_| self.particles.are_as_left());
        self.passed_s = 0.0;
        self.crushed = None;
        Ok(())
    }

    fn limit(&self) -> Option<SubstepLimit> {
        match &self.resident {
            Some(resident) => {
                let stresses = &resident.taken.stresses;
                (self.particles).limit(&|p| bound(stresses[p]))
            }
            None => self.particles.limit(&|_| f64::INFINITY),
        }
    }

    fn prepare(
        &mut self,
        input: &SubstepInput<'_>,
        links: &RigidLinks,
        memory: &[ParticleImpulse],
    ) -> Result<(), BodyError> {
        let n_particles = self.particles.particles().len();
        check_input(input, n_particles, links.len())?;
        match n_particles {
            0 => Ok(()),
            _ => self.request(input, links, memory),
        }
    }

    fn start(&mut self) -> bool {
        if self.requested.is_some() {
            self.batch.start();
        }
        self.requested.is_some()
    }

    fn run(
        &mut self,
        input: &SubstepInput<'_>,
        links: &mut RigidLinks,
        memory: &mut Vec<ParticleImpulse>,
        report: &mut SubstepReport,
    ) -> Result<(), BodyError> {
        if self.requested.is_none() {
            self.prepare(input, links, memory)?;
        }
        *report = SubstepReport {
            substeps: input.substeps,
            ..SubstepReport::default()
        };
        self.passed_s = input.time_step_s;
        for _ in 0..ATTEMPTS {
            let Some(requested) = self.requested.take() else {
                // There are no particles.
                memory.clear();
                let share = 1.0 / f64::from(input.substeps);
                let none = vec![0.0; 6 * links.len()];
                (0..input.substeps)
                    .for_each(|_| links.replay_substep(&none, input.time_step_s * share, share));
                return Ok(());
            };
            let found = self.batch.result(self.world).map_err(failed)?;
            self.has_lasting = true;
            if self.take((found, requested), input, links, memory, report)? {
                return Ok(());
            }
            self.request(input, links, memory)?;
        }
        self.batch.cancel(self.world);
        self.requested = None;
        Err(BodyError::Model(format!(
            "a particle leaves a box of {} cells around the material points within one time step; use a smaller time step",
            self.margin
        )))
    }

    fn end(&mut self, next: &mut BodyState) -> Result<BodyReport, BodyError> {
        self.particles.end(self.passed_s, self.crushed.take(), next)
    }
}
