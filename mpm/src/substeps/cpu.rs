//! Substeps on the processor, in f32 or f64.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::Real;
use pliant_contact_sap::{BodyError, BodyReport, BodyState, ContactParameters};
use rayon::prelude::*;

use super::cloth::{ClothRun, cloths_of};
use super::contact_problem::{Contact, ContactNode, ContactProblem};
use super::links::RigidLinks;
use super::pair_sums::PairSums;
use super::prescribed::{Held, Prescribed, held_sets, occupied};
use super::solver::Solvers;
use super::{ParticleImpulse, SubstepBackend, SubstepInput, SubstepReport, detection};
use crate::colours::worth_threads;
use crate::error::MpmError;
use crate::lanes::LaneScalar;
use crate::material::{Lagged, Law, Material, Strain};
use crate::model::{MaterialPoints, Parts, Records};
use crate::nodes::locate;
use crate::particle::Particle;
use crate::sparse_grid::{BLOCK_NODES, NONE, SparseGrid};
use crate::spline::{GradientForm, Stencil, base_node, corner};
use crate::step::{Crushed, finish};
use crate::transfer::{NodeField, Transfer, sort_particles};

/// Nodes lighter than this part of a particle have no part in contact: round-off of their velocity would be amplified.
const NODE_MASS_MIN: f64 = 1e-7;

/// The precision of particles and grid: f32 or f64.
pub trait Precision: LaneScalar {
    /// The formulas of a material in this precision.
    fn law(material: &dyn Material) -> &dyn Law<Self>;
}

impl Precision for f32 {
    fn law(material: &dyn Material) -> &dyn Law<f32> {
        material
    }
}

impl Precision for f64 {
    fn law(material: &dyn Material) -> &dyn Law<f64> {
        material
    }
}

/// The substeps of one model on the processor. Particles stay in memory in the precision `T` from the beginning to the end of a time step.
pub struct CpuSubsteps<T> {
    parts: Arc<Parts>,
    records: Records,
    /// In the order of the grid.
    particles: Vec<Particle<T>>,
    unsorted: Vec<Particle<T>>,
    grid: SparseGrid,
    field: NodeField<T>,
    /// Of each object that is a cloth.
    cloths: Vec<Option<ClothRun<T>>>,
    /// Where each particle of the state is among the sorted ones.
    place: Vec<u32>,
    /// Of each sorted particle: what its material holds fixed in a substep, and its Kirchhoff stress.
    responses: Vec<(Lagged<T>, Matrix3<T>)>,
    prescribed: Prescribed,
    problem: ContactProblem,
    solvers: Solvers,
    /// Number in the contact problem of each node of the field.
    numbers: Vec<u32>,
    /// Contact forces of the last substep, ascending by particle of the state and obstacle.
    forces: Vec<((u32, u32), Vector3<f64>)>,
    passed_s: f64,
    crushed: Crushed,
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
            cloths: cloths_of(&model.parts),
            place: Vec::new(),
            responses: Vec::new(),
            prescribed: Prescribed::default(),
            problem: ContactProblem::default(),
            solvers: Solvers::default(),
            numbers: Vec::new(),
            forces: Vec::new(),
            passed_s: 0.0,
            crushed: Crushed::default(),
        }
    }

    /// Checks that all particles of each cloth are in the state, at their places.
    fn check_cloths(&self) -> Result<(), BodyError> {
        for (number, object) in self.parts.objects.iter().enumerate() {
            let Some(cloth) = &object.cloth else {
                continue;
            };
            let n = cloth.n_particles();
            let own = self.records.particles.iter().zip(&self.records.ids);
            let own = own.skip(cloth.first as usize).zip(cloth.first..);
            let found = own
                .take_while(|((p, id), k)| p.object as usize == number && *id == k)
                .count();
            if found < n {
                return Err(BodyError::StateLength {
                    what: "particles of a cloth, in the order of its mesh",
                    found,
                    expected: n,
                });
            }
        }
        Ok(())
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
        Ok(())
    }

    fn scatter(&mut self, transfer: &Transfer<T>, length_s: f64, held: &[Held]) {
        let is_held = |index: usize| held.iter().any(|held| held.members[index]);
        self.find_responses();
        let dt = T::of(length_s);
        let (cloths, responses, place) = (&self.cloths, &self.responses, &self.place);
        for cloth in cloths.iter().flatten() {
            cloth.kick(&mut self.particles, &self.place, dt, is_held);
        }
        let impulse = |p: &Particle<T>| -> Matrix3<T> {
            let kirchhoff = match &cloths[p.object as usize] {
                Some(cloth) => cloth.kirchhoff(p.index),
                None => responses[place[p.index as usize] as usize].1,
            };
            kirchhoff * (-p.volume * dt)
        };
        transfer.particles_to_grid(&self.grid, &self.particles, impulse, &mut self.field);
        for cloth in cloths.iter().flatten() {
            cloth.kick(&mut self.particles, &self.place, -dt, is_held);
        }
    }

    /// Stress of every particle, and what its material holds fixed until it moves on.
    fn find_responses(&mut self) {
        let objects = &self.parts.objects;
        let of_particle = |p: &Particle<T>| {
            let law = T::law(objects[p.object as usize].material.as_ref());
            let mut lagged = Lagged {
                velocity_gradient: p.c,
                ..Lagged::default()
            };
            law.lag(&p.strain, None, &mut lagged);
            let stress = law.stress(&p.strain, &lagged, &Matrix3::zeros());
            (lagged, stress)
        };
        self.responses.clear();
        if worth_threads(&self.grid) {
            self.responses
                .par_extend(self.particles.par_iter().map(of_particle));
        } else {
            self.responses
                .extend(self.particles.iter().map(of_particle));
        }
    }

    /// Adds the impulses of loads on particles to the momentum of the field.
    fn add_loads(&mut self, input: &SubstepInput<'_>, length_s: f64) -> Result<(), BodyError> {
        let h = self.parts.settings.spacing;
        for load in &input.control.loads {
            if load.torque_W != Vector3::zeros() {
                return Err(BodyError::Unsupported {
                    what: "torque on a particle",
                });
            }
            let vertex = match load.point.primitive {
                pliant_contact_sap::Primitive::Vertex(v) => v,
                other => {
                    return Err(BodyError::NoSuchPoint {
                        point: other,
                        available: "vertices, one for each particle".into(),
                    });
                }
            };
            for (block, cell, range) in occupied(&self.grid) {
                let Some(p) = self.particles[range].iter().find(|p| p.index == vertex) else {
                    continue;
                };
                let stencil = Stencil::about(&p.x, cell.base, T::of(1.0 / h), GradientForm::True);
                for n in 0..27 {
                    let (octant, node) = locate(cell.local(), n);
                    let block = self.grid.blocks[block].plus[octant];
                    if block != NONE {
                        let share = load.force_W * (length_s * stencil.weight(corner(n)).wide());
                        let values = self.field.node_mut(block as usize, node);
                        (0..3).for_each(|k| values[k] += T::of(share[k]));
                    }
                }
            }
        }
        Ok(())
    }

    /// Finds contacts and lays out their problem.
    fn open_contacts(&mut self, input: &SubstepInput<'_>, links: &RigidLinks, length_s: f64) {
        let speed = self.particles.iter().map(|p| p.v.norm_squared().wide());
        let scene = detection::Scene {
            parts: &self.parts,
            grid: &self.grid,
            particles: &self.particles,
            obstacles: input.obstacles,
            links,
            length_s,
            speed_max: speed.fold(0.0, f64::max).sqrt(),
        };
        self.problem.clear();
        detection::find(&scene, &mut self.problem.contacts);
        self.number_nodes();
    }

    /// Replaces storage indices of nodes in contacts by numbers of the problem.
    fn number_nodes(&mut self) {
        let lightest = self.parts.objects.iter().map(|o| o.particle_mass);
        let mass_min = NODE_MASS_MIN * lightest.fold(f64::INFINITY, f64::min);
        self.numbers
            .resize(self.grid.n_blocks() * BLOCK_NODES, NONE);
        let problem = &mut self.problem;
        for contact in &mut problem.contacts {
            for (node, weight) in contact.nodes.iter_mut().zip(&mut contact.weights) {
                if *node == NONE {
                    *node = 0;
                    continue;
                }
                let number = &mut self.numbers[*node as usize];
                if *number == NONE {
                    *number = problem.nodes.len() as u32;
                    let values = &self.field.values[4 * *node as usize..][..4];
                    let mass = values[3].wide();
                    let inverse = if mass > mass_min { 1.0 / mass } else { 0.0 };
                    let prescribed = self.prescribed.of_node(*node);
                    problem.nodes.push(ContactNode {
                        node: *node,
                        free: Vector3::from_fn(|k, _| values[k].wide()),
                        inverse_mass: Vector3::from_fn(|k, _| {
                            if prescribed[k].is_nan() { inverse } else { 0.0 }
                        }),
                    });
                }
                *node = *number;
                if problem.nodes[*number as usize].inverse_mass == Vector3::zeros()
                    && self
                        .prescribed
                        .of_node(problem.nodes[*number as usize].node)[0]
                        .is_nan()
                {
                    // Without mass, the node has no velocity to speak of.
                    *weight = 0.0;
                }
            }
        }
        for node in &problem.nodes {
            self.numbers[node.node as usize] = NONE;
        }
    }

    /// Solves the contact problem and writes the velocities of its nodes back to the field.
    fn solve_contacts(
        &mut self,
        input: &SubstepInput<'_>,
        links: &mut RigidLinks,
        length_s: f64,
        report: &mut SubstepReport,
    ) {
        let forces = &self.forces;
        let settings = &input.contact;
        let parameters = |contact: &Contact, inverse_inertia: f64| {
            let pair = input.obstacles[contact.obstacle as usize].pairs[contact.object as usize]
                .expect("contacts are of pairs with parameters");
            ContactParameters {
                time_step: length_s.into(),
                signed_distance: contact.signed_distance,
                start_velocity: contact.start_velocity,
                stiffness: pair.stiffness,
                dissipation: pair.dissipation,
                friction: pair.friction,
                stiction_speed: settings.stiction_speed,
                inverse_inertia,
                near_rigid: settings.near_rigid,
            }
        };
        let warm = |contact: &Contact| {
            let key = (contact.particle, contact.obstacle);
            let found = forces.binary_search_by_key(&key, |(key, _)| *key);
            found.map_or(Vector3::zeros(), |i| forces[i].1 * length_s)
        };
        self.problem.open(&parameters, warm, links);
        let solved = self.solvers.solve(
            settings.solver,
            &mut self.problem,
            links,
            settings.tolerance,
            settings.iterations_max,
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
        self.forces.clear();
        let contacts = self.problem.contacts.iter().zip(&self.problem.states);
        let loaded = contacts.filter(|(_, state)| state.impulse != Vector3::zeros());
        self.forces.extend(loaded.map(|(contact, state)| {
            let key = (contact.particle, contact.obstacle);
            (key, state.impulse / length_s)
        }));
        self.forces.sort_unstable_by_key(|(key, _)| *key);
    }

    /// Moves particles on; returns whether one of them has left its cell.
    fn gather(&mut self, transfer: &Transfer<T>, length_s: f64, held: &[Held]) -> bool {
        let dt = T::of(length_s);
        let inverse = T::of(1.0 / self.parts.settings.spacing);
        let objects = &self.parts.objects;
        let has_left_its_cell = AtomicBool::new(false);
        let crushed = &self.crushed;
        let (cloths, responses, place) = (&self.cloths, &self.responses, &self.place);
        let update = |p: &mut Particle<T>, gradient: &Matrix3<T>| {
            let from = base_node(&p.x, inverse);
            if let Some(cloth) = &cloths[p.object as usize] {
                p.strain.f = *gradient;
                p.c = cloth.damped(&p.c);
                let own = held.iter().filter(|held| held.members[p.index as usize]);
                for (k, v) in own.flat_map(|held| held.velocity.iter().enumerate()) {
                    if !v.is_nan() {
                        p.v[k] = T::of(*v);
                    }
                }
                p.x += p.v * dt;
                if base_node(&p.x, inverse) != from {
                    has_left_its_cell.store(true, Ordering::Relaxed);
                }
                return;
            }
            let law = T::law(objects[p.object as usize].material.as_ref());
            let g = gradient * dt;
            let lagged = Lagged {
                time_s: dt,
                ..responses[place[p.index as usize] as usize].0
            };
            if law.is_crushed(&p.strain, &g) {
                crushed.note(p.index);
            }
            p.strain = law.advance(&p.strain, &lagged, &g);
            p.x += p.v * dt;
            if base_node(&p.x, inverse) != from {
                has_left_its_cell.store(true, Ordering::Relaxed);
            }
        };
        transfer.grid_to_particles(&self.grid, &self.field, &mut self.particles, update);
        let mut has_left = has_left_its_cell.into_inner();
        for cloth in self.cloths.iter_mut().flatten() {
            cloth.advance(&mut self.particles, &self.place, dt);
            // Centroids are not where the grid took them.
            has_left = true;
        }
        has_left
    }
}

impl<T: Precision> SubstepBackend for CpuSubsteps<T> {
    fn begin(&mut self, state: &BodyState) -> Result<(), BodyError> {
        self.records.read_again(&self.parts, state)?;
        self.check_cloths()?;
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
        self.read_forces(memory);
        let mut pairs = PairSums::new(self.parts.objects.len(), input.obstacles.len());
        *report = SubstepReport {
            substeps: input.substeps,
            ..SubstepReport::default()
        };
        let gravity = input.gravity.map(T::of);
        let mut is_sorted = false;
        for _ in 0..input.substeps {
            let mut clock = Clock::start();
            if !is_sorted {
                self.sort()?;
            }
            report.times.sort_s += clock.lap_s();
            links.begin_substep();
            self.scatter(&transfer, length_s, &held);
            self.add_loads(input, length_s)?;
            self.field.momentum_to_velocity(&gravity, T::of(length_s));
            self.prescribed
                .find(&self.parts, &self.grid, &self.field, &self.particles, &held);
            self.prescribed.apply(&mut self.field);
            report.times.scatter_s += clock.lap_s();
            self.open_contacts(input, links, length_s);
            report.times.detect_s += clock.lap_s();
            self.solve_contacts(input, links, length_s, report);
            pairs.add(&self.problem);
            report.times.solve_s += clock.lap_s();
            is_sorted = !self.gather(&transfer, length_s, &held);
            report.times.gather_s += clock.lap_s();
            links.end_substep(length_s, share);
        }
        self.passed_s = input.time_step_s;
        self.write_forces(memory);
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

impl<T> CpuSubsteps<T> {
    /// Contact forces by identity of particles to those by place in the state.
    fn read_forces(&mut self, memory: &[ParticleImpulse]) {
        self.forces.clear();
        let ids = &self.records.ids;
        let each = memory.iter().filter_map(|m| {
            let place = ids.binary_search(&m.particle).ok()?;
            Some(((place as u32, m.obstacle), m.force_W))
        });
        self.forces.extend(each);
        self.forces.sort_unstable_by_key(|(key, _)| *key);
    }

    fn write_forces(&self, memory: &mut Vec<ParticleImpulse>) {
        memory.clear();
        let ids = &self.records.ids;
        memory.extend(
            self.forces
                .iter()
                .map(|((place, obstacle), force)| ParticleImpulse {
                    particle: ids[*place as usize],
                    obstacle: *obstacle,
                    force_W: *force,
                }),
        );
    }
}

impl<T: Real> Particle<T> {
    /// The same in another precision.
    fn cast<U: Real>(&self) -> Particle<U> {
        let vector = |x: &Vector3<T>| x.map(|x| U::of(x.wide()));
        let matrix = |x: &Matrix3<T>| x.map(|x| U::of(x.wide()));
        Particle {
            x: vector(&self.x),
            mass: U::of(self.mass.wide()),
            v: vector(&self.v),
            volume: U::of(self.volume.wide()),
            c: matrix(&self.c),
            strain: Strain {
                f: matrix(&self.strain.f),
                internal: self.strain.internal.map(|x| U::of(x.wide())),
            },
            object: self.object,
            index: self.index,
        }
    }
}

/// Times the stages of a substep.
struct Clock(Instant);

impl Clock {
    fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the last lap, s.
    fn lap_s(&mut self) -> f64 {
        let now = Instant::now();
        let lap = now - self.0;
        self.0 = now;
        lap.as_secs_f64()
    }
}
