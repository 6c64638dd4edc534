//! Substeps on the processor, in f32 or f64.

use std::sync::Arc;

use nalgebra::Matrix3;
use pliant_constitutive::Real;
use pliant_contact_sap::{BodyError, BodyReport, BodyState, Cancellation, ContactParameters};

use super::clock::Clock;
use super::cloth::{ClothRun, cloths_of};
use super::contact_problem::{Contact, ContactProblem};
use super::device::HeldSet;
use super::links::RigidLinks;
use super::node_numbers::NodeNumbers;
use super::pair_sums::PairSums;
use super::prescribed::{Prescribed, held_sets};
use super::solver::Limits;
use super::solver_kind::ChosenSolver;
use super::time_step::{ANY_STRESS, SubstepLimit, present_limit};
use super::warm_start::WarmStart;
use super::{ParticleImpulse, SubstepBackend, SubstepInput, SubstepReport, detection};
use crate::error::MpmError;
use crate::lanes::LaneScalar;
use crate::loads::sorted_index_of_load;
use crate::material::{Law, Material, MaterialLaw, ParticleLaw};
use crate::mirrors::Mirrors;
use crate::model::{MaterialPoints, Object, Parts, Records};
use crate::particle::Particle;
use crate::sparse_grid::SparseGrid;
use crate::spline::{GradientForm, Stencil, base_node, corner};
use crate::step::{Crushed, finish};
use crate::transfer::{Before, NodeField, Transfer, sort_particles};

/// Nodes lighter than this part of a particle have no part in contact: round-off of their velocity would be amplified.
const NODE_MASS_MIN: f64 = 1e-7;

/// The precision of particles and grid: f32 or f64.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Preset, RigidLinks, Sampling};
/// # use pliant_mpm::{SubstepBackend, SubstepContact, SubstepInput, SubstepSolver, fill};
/// use pliant_mpm::{Precision, SubstepReport};
///
/// /// Largest error of the velocity of a cube of foam that falls for 2 ms, m/s.
/// fn error<T: Precision>() -> Result<f64, Box<dyn std::error::Error>> {
/// #     let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// #     let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// #     builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// #     let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// #     let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// #     let solver = SubstepSolver::GaussSeidel;
/// #     let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver, tolerance: 1e-2, iterations_max: 100 };
/// #     let (gravity, laws) = (Vector3::new(0.0, 0.0, -9.81), &LaggedLaws);
/// #     let input = SubstepInput { time_step_s: 2e-3, substeps: 8, gravity, control: &control, obstacles: &[], contact, laws };
///     let mut backend = CpuSubsteps::<T>::new(&model);
///     backend.begin(&model.default_state())?;
///     backend.run(&input, &mut links, &mut Vec::new(), &mut SubstepReport::default())?;
///     let _ = backend.end(&mut next)?;
///     Ok(next.v.chunks(3).map(|v| (v[2] + 9.81 * 2e-3).abs()).fold(0.0, f64::max))
/// }
/// assert!(error::<f64>()? < 1e-14);
/// assert!(error::<f32>()? < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Precision: LaneScalar {
    /// The formulas of a material for many particles in this precision.
    fn law(material: &dyn Material) -> MaterialLaw<'_, Self>;

    /// Its formulas for one particle in this precision.
    fn law_of_one(material: &dyn Material) -> &dyn Law<Self>;
}

impl Precision for f32 {
    fn law(material: &dyn Material) -> MaterialLaw<'_, f32> {
        match material.in_lanes() {
            Some(law) => MaterialLaw::InLanes(law),
            None => MaterialLaw::OneByOne(material),
        }
    }

    fn law_of_one(material: &dyn Material) -> &dyn Law<f32> {
        material
    }
}

impl Precision for f64 {
    fn law(material: &dyn Material) -> MaterialLaw<'_, f64> {
        match material.in_lanes() {
            Some(law) => MaterialLaw::InLanes(law),
            None => MaterialLaw::OneByOne(material),
        }
    }

    fn law_of_one(material: &dyn Material) -> &dyn Law<f64> {
        material
    }
}

/// The substeps of one model on the processor. Particles stay in memory in the precision `T` from the beginning to the end of a time step.
///
/// `Asynchronous` of `pliant-coupling` takes them within the steps of rigid bodies; [`SubstepBackend`] has an example of the calls that it makes.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{State, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// # let cube = Shape::cuboid(Vector3::repeat(0.04))?;
/// # let points = fill("dough", &cube, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut model = MpmBuilder::new(MpmSettings::new(0.02));
/// # let dough = Preset::PizzaDough;
/// # model.object(ObjectSpec::new("dough", dough.material(), dough.density(), points));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("points", Box::new(model.build()?));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let implicit = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// use pliant_coupling::{Asynchronous, AsynchronousSettings, Stepper, Substeps};
///
/// // A cube of dough falls for 1 ms, in four substeps of f32.
/// let settings = AsynchronousSettings { substeps: Substeps::Fixed(4), ..AsynchronousSettings::default() };
/// let mut stepper = Asynchronous::new(implicit, settings)?;
/// let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// assert!(report.is_trusted());
/// assert_eq!(report.asynchronous.expect("of this stepper").substeps.substeps, 4);
/// assert!(next.bodies[0].v.chunks(3).all(|v| (v[2] + 9.81e-3).abs() < 1e-6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CpuSubsteps<T> {
    parts: Arc<Parts>,
    records: Records,
    /// In the order of the grid.
    particles: Vec<Particle<T>>,
    unsorted: Vec<Particle<T>>,
    grid: SparseGrid,
    field: NodeField<T>,
    /// The field before the forces of a substep, where the model looks back at it.
    before: NodeField<T>,
    mirrors: Mirrors,
    /// Of each object that is a cloth.
    cloths: Vec<Option<ClothRun<T>>>,
    /// Where each particle of the state is among the sorted ones.
    place: Vec<u32>,
    prescribed: Prescribed,
    problem: ContactProblem,
    solver: ChosenSolver,
    numbers: NodeNumbers,
    forces: WarmStart,
    passed_s: f64,
    crushed: Crushed,
    cancellation: Cancellation,
}

impl<T: Precision> CpuSubsteps<T> {
    /// For the model.
    #[must_use]
    pub fn new(model: &MaterialPoints) -> Self {
        Self {
            parts: Arc::clone(&model.parts),
            records: Records::default(),
            particles: Vec::new(),
            unsorted: Vec::new(),
            grid: SparseGrid::default(),
            field: NodeField::default(),
            before: NodeField::default(),
            mirrors: Mirrors::default(),
            cloths: cloths_of(&model.parts),
            place: Vec::new(),
            prescribed: Prescribed::default(),
            problem: ContactProblem::default(),
            solver: ChosenSolver::default(),
            numbers: NodeNumbers::default(),
            forces: WarmStart::default(),
            passed_s: 0.0,
            crushed: Crushed::default(),
            cancellation: Cancellation::default(),
        }
    }

    fn sort(&mut self) -> Result<(), MpmError> {
        let spacing = T::of(self.parts.settings.spacing);
        self.grid
            .build(spacing, self.particles.iter().map(|p| p.x))?;
        sort_particles(&self.grid, &self.particles, &mut self.unsorted);
        std::mem::swap(&mut self.particles, &mut self.unsorted);
        self.place.resize(self.particles.len(), 0);
        for (place, p) in self.particles.iter().enumerate() {
            self.place[p.index as usize] = place as u32;
        }
        self.mirrors.find(&self.parts.mirrors, &self.grid);
        Ok(())
    }

    /// Velocities and volumes of the nodes before the forces of a substep; `field` has their masses.
    fn look_back(&mut self, transfer: &Transfer<T>) {
        if !self.parts.looks_back() {
            return;
        }
        transfer.particles_to_grid_before(&self.grid, &self.particles, &mut self.before);
        self.before.divide_by_mass_of(&self.field);
        self.mirrors.complete_volumes(&mut self.before);
    }

    /// Mass and momentum of the nodes, with the impulses of stress.
    fn scatter(&mut self, transfer: &Transfer<T>, length_s: f64, held: &[HeldSet]) {
        let is_held = |index: usize| held.iter().any(|held| held.members[index]);
        let dt = T::of(length_s);
        for cloth in self.cloths.iter().flatten() {
            cloth.kick(&mut self.particles, &self.place, dt, is_held);
        }
        let (objects, cloths) = (&self.parts.objects, &self.cloths);
        let impulses = |particles: &[Particle<T>], out: &mut [Matrix3<T>]| {
            let mut rest = &mut *out;
            for own in particles.chunk_by(|a, b| a.object == b.object) {
                let object = own[0].object as usize;
                let (now, later) = rest.split_at_mut(own.len());
                rest = later;
                match &cloths[object] {
                    Some(cloth) => cloth.stresses(own, now),
                    None => T::law(objects[object].material.as_ref()).stresses(
                        transfer.instructions,
                        own,
                        now,
                    ),
                }
            }
            for (p, stress) in particles.iter().zip(out) {
                *stress *= -p.volume * dt;
            }
        };
        transfer.particles_to_grid(&self.grid, &self.particles, impulses, &mut self.field);
        for cloth in self.cloths.iter().flatten() {
            cloth.kick(&mut self.particles, &self.place, -dt, is_held);
        }
    }

    /// Adds the impulses of loads on particles to the momentum of the field.
    fn add_loads(&mut self, input: &SubstepInput<'_>, length_s: f64) -> Result<(), BodyError> {
        let inverse = T::of(1.0 / self.parts.settings.spacing);
        for load in &input.control.loads {
            let p = &self.particles[sorted_index_of_load(load, &self.place)?];
            let base = base_node(&p.x, inverse);
            let stencil = Stencil::about(&p.x, base, inverse, GradientForm::True);
            for corner in (0..27).map(corner) {
                let node = [0, 1, 2].map(|k| base[k] + corner[k] as i32);
                if let Some((block, node)) = self.grid.find_node(node) {
                    let share = load.force_W * (length_s * stencil.weight(corner).wide());
                    let values = self.field.node_mut(block, node);
                    (0..3).for_each(|k| values[k] += T::of(share[k]));
                }
            }
        }
        Ok(())
    }

    /// Finds contacts and lays out their problem.
    fn open_contacts(&mut self, input: &SubstepInput<'_>, links: &RigidLinks, length_s: f64) {
        let scene = detection::Scene {
            parts: &self.parts,
            grid: &self.grid,
            particles: &self.particles,
            obstacles: input.obstacles,
            links,
            length_s,
            range_m: input.laws.range_m(),
        };
        self.problem.clear();
        detection::find(&scene, &mut self.problem.contacts);
        let masses = self.parts.objects.iter().map(|o| o.particle_mass);
        let mass_min = NODE_MASS_MIN * masses.fold(f64::INFINITY, f64::min);
        self.numbers
            .assign(&mut self.problem, &self.field, &self.prescribed, mass_min);
    }

    /// Solves the contact problem and writes the velocities of its nodes back to the field.
    fn solve_contacts(
        &mut self,
        input: &SubstepInput<'_>,
        links: &mut RigidLinks,
        length_s: f64,
        report: &mut SubstepReport,
    ) {
        let settings = &input.contact;
        let parameters = |contact: &Contact, inverse_inertia: f64| {
            let pair = input.obstacles[contact.obstacle as usize].pairs[contact.object as usize]
                .expect("contacts are of pairs with parameters");
            ContactParameters {
                time_step: length_s.into(),
                signed_distance: contact.signed_distance,
                start_velocity: contact.normal.dot(&contact.start_velocity),
                stiffness: pair.stiffness,
                dissipation: pair.dissipation,
                friction: pair.friction,
                stiction_speed: settings.stiction_speed,
                inverse_inertia,
                near_rigid: settings.near_rigid,
            }
        };
        let warm = |contact: &Contact| self.forces.force(contact) * length_s;
        self.problem.open(&parameters, input.laws, warm, links);
        let solved = self.solver.of(settings.solver).solve(
            &mut self.problem,
            links,
            input.laws,
            Limits {
                tolerance: settings.tolerance,
                iterations_max: settings.iterations_max,
            },
        );
        let n = self.problem.contacts.len() as u32;
        report.contacts += u64::from(n);
        report.contacts_max = report.contacts_max.max(n);
        report.iterations += u64::from(solved.iterations);
        report.unsolved += u32::from(!solved.is_converged);
        for (i, node) in self.problem.nodes.iter().enumerate() {
            let v = self.problem.velocity(i);
            let values = &mut self.field.values[4 * node.node as usize..][..3];
            (0..3).for_each(|k| values[k] = T::of(v[k]));
        }
        self.forces.take(&self.problem, length_s);
    }

    /// Moves particles on; returns whether one of them has left its cell.
    fn gather(&mut self, transfer: &Transfer<T>, length_s: f64, held: &[HeldSet]) -> bool {
        let dt = T::of(length_s);
        let (objects, cloths, crushed) = (&self.parts.objects, &self.cloths, &self.crushed);
        let update = |particles: &mut [Particle<T>], gradients: &[Matrix3<T>], packings: &[T]| {
            let (mut rest, mut packings) = (gradients, packings);
            for own in particles.chunk_by_mut(|a, b| a.object == b.object) {
                let object = own[0].object as usize;
                let (now, later) = rest.split_at(own.len());
                rest = later;
                let (packed, later) = packings.split_at(own.len().min(packings.len()));
                packings = later;
                match &cloths[object] {
                    Some(cloth) => {
                        cloth.take_gradients(own, now);
                        hold(own, held);
                    }
                    None => T::law(objects[object].material.as_ref()).advance_all(
                        transfer.instructions,
                        dt,
                        now,
                        own,
                        &|index| crushed.note(index),
                    ),
                }
                pack(&objects[object], dt, own, packed);
            }
        };
        let particles = &mut self.particles;
        let before = self.parts.looks_back().then(|| Before {
            field: &self.before,
            keep: T::of(self.parts.settings.transfer.kept(length_s)),
        });
        let mut has_left =
            transfer.grid_to_particles(&self.grid, (&self.field, before), dt, particles, update);
        for cloth in self.cloths.iter_mut().flatten() {
            cloth.advance(&mut self.particles, &self.place, dt);
            // Centroids are not where the grid took them.
            has_left = true;
        }
        has_left
    }
}

/// Tells the material of an object the packing around its particles, if it asks for it, at the end of a substep of `time`, s.
fn pack<T: Precision>(object: &Object, time: T, particles: &mut [Particle<T>], packings: &[T]) {
    if !object.material.follows_packing() {
        return;
    }
    let law = T::law_of_one(object.material.as_ref());
    let crossings = time / T::of(object.crossing_s);
    for (p, packing) in particles.iter_mut().zip(packings) {
        p.strain = law.packed(&p.strain, *packing, crossings);
    }
}

/// Gives held particles their velocities.
fn hold<T: Real>(particles: &mut [Particle<T>], held: &[HeldSet]) {
    for p in particles {
        let own = held.iter().filter(|held| held.members[p.index as usize]);
        for (k, v) in own.flat_map(|held| held.velocity.iter().enumerate()) {
            if !v.is_nan() {
                p.v[k] = T::of(*v);
            }
        }
    }
}

impl<T: Precision> SubstepBackend for CpuSubsteps<T> {
    fn begin(&mut self, state: &BodyState) -> Result<(), BodyError> {
        self.records.read_again(&self.parts, state)?;
        self.records.check_cloths(&self.parts)?;
        self.particles.clear();
        self.particles
            .extend(self.records.particles.iter().map(Particle::cast));
        for cloth in self.cloths.iter_mut().flatten() {
            cloth.begin(&self.particles);
        }
        self.passed_s = 0.0;
        self.crushed = Crushed::default();
        Ok(())
    }

    fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
    }

    fn limit(&self) -> Option<SubstepLimit> {
        present_limit(&self.parts, &self.particles, ANY_STRESS)
    }

    fn run(
        &mut self,
        input: &SubstepInput<'_>,
        links: &mut RigidLinks,
        memory: &mut Vec<ParticleImpulse>,
        report: &mut SubstepReport,
    ) -> Result<(), BodyError> {
        let control = input.control;
        let targets = [&control.position, &control.velocity, &control.effort];
        if targets.iter().any(|x| !x.is_empty()) {
            return Err(BodyError::Unsupported { what: "actuators" });
        }
        if input.substeps == 0 {
            return Err(BodyError::Model(
                "a time step needs at least one substep".into(),
            ));
        }
        let settings = &self.parts.settings;
        let transfer = Transfer::new(T::of(settings.spacing), settings.gradient);
        let share = 1.0 / f64::from(input.substeps);
        let length_s = input.time_step_s * share;
        let held = held_sets(&self.parts, &self.records.ids, &control.held)?;
        self.forces.read(memory, &self.records.ids);
        let mut pairs = PairSums::new(self.parts.objects.len(), input.obstacles.len());
        *report = SubstepReport {
            substeps: input.substeps,
            ..SubstepReport::default()
        };
        let gravity = input.gravity.map(T::of);
        let mut is_sorted = false;
        for _ in 0..input.substeps {
            if self.cancellation.is_requested() {
                return Err(BodyError::Cancelled);
            }
            let mut clock = Clock::start();
            if !is_sorted {
                self.sort()?;
            }
            report.times.sort_s += clock.lap_s();
            links.begin_substep();
            self.scatter(&transfer, length_s, &held);
            self.add_loads(input, length_s)?;
            self.prescribed
                .find(&self.parts, &self.grid, &self.field, &self.particles, &held);
            self.look_back(&transfer);
            self.mirrors
                .fold(&mut self.field, &gravity, T::of(length_s));
            self.field.momentum_to_velocity(&gravity, T::of(length_s));
            self.prescribed.apply(&mut self.field);
            self.mirrors.reflect(&mut self.field);
            report.times.scatter_s += clock.lap_s();
            self.open_contacts(input, links, length_s);
            report.times.detect_s += clock.lap_s();
            self.solve_contacts(input, links, length_s, report);
            self.mirrors.reflect(&mut self.field);
            pairs.add(&self.problem);
            report.times.solve_s += clock.lap_s();
            is_sorted = !self.gather(&transfer, length_s, &held);
            report.times.gather_s += clock.lap_s();
            links.end_substep(length_s, share);
        }
        self.passed_s = input.time_step_s;
        self.forces.write(memory, &self.records.ids);
        pairs.write(&mut report.pairs);
        Ok(())
    }

    fn end(&mut self, next: &mut BodyState) -> Result<BodyReport, BodyError> {
        for cloth in self.cloths.iter().flatten() {
            cloth.end(&mut self.particles, &self.place);
        }
        for p in &self.particles {
            self.records.particles[p.index as usize] = p.cast();
        }
        let mut report = BodyReport::default();
        let crushed = std::mem::take(&mut self.crushed);
        report
            .warnings
            .extend(crushed.describe(&self.parts, &self.records));
        finish(&self.parts, &mut self.records, self.passed_s, next)?;
        Ok(report)
    }
}
