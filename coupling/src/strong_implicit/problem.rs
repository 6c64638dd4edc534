//! The convex problem of one step: bodies linearised, motion predicted, contacts and constraints collected.

use std::time::Instant;

use pliant_contact_sap::{
    BlockFactors, BodyState, BodyStep, Cancellation, ConstraintSet, ContactProblem, ParticipantIdx,
    Solution, StepInput, TimeStep,
};
use pliant_hydroelastic::ContactGeometry;
use rayon::prelude::*;

use super::restitution::Impacts;
use crate::collision::{Collision, PairContact, Search};
use crate::constraint_assembly::ConstraintAssembly;
use crate::contacts::{ContactAssembly, ContactRecord, Setting};
use crate::error::StepError;
use crate::pair_basis::Bodies;
use crate::report::{RowOwner, StepTimes};
use crate::state::State;
use crate::stiction;
use crate::world::{BodyIdx, World};

/// Below this many velocities in all, bodies are linearised on one thread: waking others costs as much as some hundred elements.
const PARALLEL_DOFS_MIN: usize = 2000;

/// What a step is taken of.
#[derive(Clone, Copy)]
pub(crate) struct StepContext<'a> {
    pub(crate) world: &'a World,
    pub(crate) state: &'a State,
    pub(crate) time_step: TimeStep,
    pub(crate) geometry: &'a dyn ContactGeometry,
    pub(crate) cancellation: &'a Cancellation,
}

/// The problem of the step at hand; memory is reused from step to step.
#[derive(Default)]
pub(super) struct StepProblem {
    pub(super) steps: Vec<Box<dyn BodyStep>>,
    /// Of each body: the velocities about which the step was linearised first.
    pub(super) linearised_at: Vec<Vec<f64>>,
    pub(super) velocities: Velocities,
    pub(super) factors: BlockFactors,
    pub(super) collision: Collision,
    pub(super) contacts: ContactAssembly,
    pub(super) constraints: ConstraintAssembly,
    pub(super) impacts: Impacts,
    pub(super) set: ConstraintSet,
    /// Whose each row of the set is.
    pub(super) owners: Vec<RowOwner>,
    /// Of each body: whether contacts or constraints act on it.
    pub(super) participating: Vec<bool>,
    pub(super) guess: Vec<f64>,
    pub(super) solution: Solution,
    /// Of one body, where impacts move it along another path than its end velocity.
    pub(super) moved: BodyState,
    /// ‖D b‖ with D = diag(A)^(−1/2), √J.
    pub(super) momentum_scale: f64,
    pub(super) times: StepTimes,
}

/// Velocities of all bodies before the solve.
#[derive(Debug, Default)]
pub(super) struct Velocities {
    /// First velocity of each body, and the end of the last.
    offsets: Vec<usize>,
    /// v0.
    pub(super) start: Vec<f64>,
    /// v*, predicted without contacts and constraints.
    pub(super) free: Vec<f64>,
    /// What moves positions from v0 to v*: θ_vq v* + (1 − θ_vq) v0.
    path: Vec<f64>,
    /// The same from v0 to the solution.
    solved_path: Vec<f64>,
}

impl Velocities {
    /// Velocities of body `b`.
    pub(super) fn range(&self, b: usize) -> std::ops::Range<usize> {
        self.offsets[b]..self.offsets[b + 1]
    }

    fn bodies<'a>(&'a self, steps: &'a [Box<dyn BodyStep>], state: &'a State) -> Bodies<'a> {
        Bodies {
            steps,
            start: &self.start,
            free: &self.free,
            path: &self.path,
            offsets: &self.offsets,
            velocity_change: &state.memory.velocity_change,
        }
    }
}

impl StepContext<'_> {
    /// # Errors
    /// [`StepError::Cancelled`].
    pub(super) fn check_cancellation(&self) -> Result<(), StepError> {
        match self.cancellation.is_requested() {
            true => Err(StepError::cancelled(self.state)),
            false => Ok(()),
        }
    }

    pub(super) fn of_body(&self, b: usize, source: pliant_contact_sap::BodyError) -> StepError {
        StepError::of_body(self.world, self.state, BodyIdx(b), source)
    }
}

impl StepProblem {
    /// New workspaces for the bodies of `world`.
    pub(super) fn adopt(&mut self, world: &World) {
        let bodies = &world.parts.bodies;
        self.steps = bodies.iter().map(|b| b.model.new_step()).collect();
        self.collision.adopt(world);
    }

    pub(super) fn cancel_with(&mut self, cancellation: &Cancellation) {
        for step in &mut self.steps {
            step.cancel_with(cancellation);
        }
        self.collision.cancellation = cancellation.clone();
    }

    /// Begins the step of every body and linearises it.
    pub(super) fn linearise(&mut self, context: StepContext<'_>) -> Result<(), StepError> {
        let clock = Instant::now();
        let StepContext { world, state, .. } = context;
        let linearise = |(b, (step, point)): (usize, (&mut Box<dyn BodyStep>, &mut Vec<f64>))| {
            let input = StepInput {
                time_step: context.time_step,
                gravity: world.parts.gravity,
                control: &state.controls[b],
            };
            let begun = step.begin(&state.bodies[b], &input);
            let failed = begun.and_then(|()| step.linearise_start(point)).err();
            failed.map(|source| context.of_body(b, source))
        };
        let n_dofs: usize = state.bodies.iter().map(|body| body.v.len()).sum();
        self.linearised_at.resize_with(self.steps.len(), Vec::new);
        let failed = if self.steps.len() > 1 && n_dofs >= PARALLEL_DOFS_MIN {
            let steps = self.steps.par_iter_mut().zip(&mut self.linearised_at);
            let steps = steps.with_max_len(1).enumerate();
            steps.map(linearise).find_map_first(|failed| failed)
        } else {
            let steps = self.steps.iter_mut().zip(&mut self.linearised_at);
            steps.enumerate().find_map(linearise)
        };
        if let Some(failed) = failed {
            return Err(failed);
        }
        let Velocities { offsets, start, .. } = &mut self.velocities;
        offsets.clear();
        offsets.push(0);
        start.clear();
        for step in &self.steps {
            start.extend_from_slice(step.start_velocity());
            offsets.push(start.len());
        }
        self.times = StepTimes {
            bodies: clock.elapsed(),
            ..StepTimes::default()
        };
        Ok(())
    }

    /// Predicts the free motion: v* ≈ v0 + D⁻¹(b − A v0) with D the diagonal blocks of A, exact where D is all of A.
    pub(super) fn predict(&mut self, context: StepContext<'_>) -> Result<(), StepError> {
        let clock = Instant::now();
        let factored = self.factors.factor(&self.steps);
        factored.map_err(|source| StepError::of_solve(context.world, context.state, source))?;
        self.velocities
            .free
            .resize(self.velocities.start.len(), 0.0);
        for (p, step) in self.steps.iter().enumerate() {
            let range = self.velocities.range(p);
            let start = &self.velocities.start[range.clone()];
            let free = &mut self.velocities.free[range];
            let dynamics = step.dynamics();
            dynamics.apply(start, free);
            for (x, b) in free.iter_mut().zip(dynamics.right_hand_side()) {
                *x = b - *x;
            }
            self.factors.solve(ParticipantIdx(p), free);
            for (x, v0) in free.iter_mut().zip(start) {
                *x += v0;
            }
        }
        let Velocities {
            start, free, path, ..
        } = &mut self.velocities;
        context.time_step.mean_velocities(start, free, path);
        self.times.factors += clock.elapsed();
        Ok(())
    }

    /// Collects contacts along the predicted motion, and the constraints of bodies and between them.
    pub(super) fn constrain(&mut self, context: StepContext<'_>) -> Result<(), StepError> {
        let StepContext {
            world,
            state,
            time_step,
            geometry,
            ..
        } = context;
        let Self {
            steps,
            velocities,
            factors,
            collision,
            contacts,
            constraints,
            set,
            owners,
            times,
            ..
        } = self;
        let bodies = velocities.bodies(steps, state);
        let time_step_s = time_step.length_s;
        let clock = Instant::now();
        collision.place(world, state, &bodies, time_step_s, Search::All)?;
        collision.find(world, state, geometry, time_step_s, Search::All)?;
        times.geometry += clock.elapsed();

        set.clear();
        contacts.clear();
        let setting = Setting {
            world,
            state,
            bodies,
            poses: &collision.poses,
            time_step,
        };
        contacts.add(&collision.contacts, &setting, set, factors)?;
        owners.clear();
        for (b, step) in steps.iter().enumerate() {
            step.constraints(&mut set.internal(ParticipantIdx(b), factors));
            owners.resize(set.n_rows(), RowOwner::Body(BodyIdx(b)));
        }
        let surfaces = &collision.surfaces;
        constraints.add(
            world, state, &bodies, surfaces, time_step, set, factors, owners,
        )?;
        self.find_participating(world);
        self.guess_velocities(world);
        Ok(())
    }

    /// Bodies without contacts and constraints may solve their free motion by themselves, which is then their guess.
    pub(super) fn solve_free_bodies(&mut self, context: StepContext<'_>) -> Result<(), StepError> {
        for (b, step) in self.steps.iter_mut().enumerate() {
            if self.participating[b] {
                continue;
            }
            let Some(lagged) = step.as_lagged() else {
                continue;
            };
            let clock = Instant::now();
            let free = lagged.update_in_free_motion();
            self.times.bodies += clock.elapsed();
            if let Some(free) = free.map_err(|source| context.of_body(b, source))? {
                self.guess[self.velocities.range(b)].copy_from_slice(free);
            }
        }
        Ok(())
    }

    /// The problem, its guess and its solution, as solvers take them.
    pub(super) fn convex(&mut self) -> (ContactProblem<'_>, &[f64], &mut Solution) {
        let problem = ContactProblem {
            dynamics: &self.steps,
            constraints: &self.set,
        };
        (problem, &self.guess, &mut self.solution)
    }

    /// Makes the last solution the guess of the next solve.
    pub(super) fn guess_last_solution(&mut self) {
        self.guess.clone_from(&self.solution.velocity);
    }

    /// Contacts of pairs that come into contact along the solution and not along the predicted motion, or pass into each other.
    pub(super) fn find_missed_contacts(
        &mut self,
        context: StepContext<'_>,
    ) -> Result<&[PairContact], StepError> {
        let StepContext {
            world,
            state,
            time_step,
            geometry,
            ..
        } = context;
        if !world.parts.contact.follows_paths() {
            return Ok(&[]);
        }
        let clock = Instant::now();
        let Velocities {
            start, solved_path, ..
        } = &mut self.velocities;
        time_step.mean_velocities(start, &self.solution.velocity, solved_path);
        let predicted = self.velocities.bodies(&self.steps, state);
        let solved = Bodies {
            path: &self.velocities.solved_path,
            ..predicted
        };
        let collision = &mut self.collision;
        let time_step_s = time_step.length_s;
        let diverted = collision.find_diverted(world, state, &predicted, &solved)?;
        let any = diverted || collision.any_may_pass(world, time_step_s);
        if any {
            collision.place(world, state, &solved, time_step_s, Search::Missed)?;
            collision.find(world, state, geometry, time_step_s, Search::Missed)?;
        }
        self.times.geometry += clock.elapsed();
        Ok(match any {
            true => &collision.contacts,
            false => &[],
        })
    }

    /// Adds the contacts found last.
    pub(super) fn add_found_contacts(&mut self, context: StepContext<'_>) -> Result<(), StepError> {
        let setting = Setting {
            world: context.world,
            state: context.state,
            bodies: self.velocities.bodies(&self.steps, context.state),
            poses: &self.collision.poses,
            time_step: context.time_step,
        };
        let found = &self.collision.contacts;
        self.contacts
            .add(found, &setting, &mut self.set, &mut self.factors)?;
        self.find_participating(context.world);
        Ok(())
    }

    /// ‖D b‖ for the present b.
    pub(super) fn update_momentum_scale(&mut self) {
        let mut sum = 0.0;
        for (p, step) in self.steps.iter().enumerate() {
            for (dof, b) in step.dynamics().right_hand_side().iter().enumerate() {
                sum += b * b * self.factors.inverse_diagonal(ParticipantIdx(p), dof);
            }
        }
        self.momentum_scale = sum.sqrt();
    }

    /// The velocities at the start, except zero for bodies at rest in patches.
    fn guess_velocities(&mut self, world: &World) {
        self.guess.clone_from(&self.velocities.start);
        let settings = &world.parts.contact;
        let remembers = |record: &&ContactRecord| {
            record.patch.is_some() && settings.stiction.remembers(record.patch)
        };
        let mut last = None;
        for record in self.contacts.records.iter().filter(remembers) {
            if last == Some(record.pair()) {
                continue;
            }
            last = Some(record.pair());
            for g in [record.a, record.b] {
                if let Some(body) = world.parts.geometries[g.0].mount.body() {
                    let dofs = self.velocities.range(body.0);
                    stiction::zero_resting_velocities(settings, &mut self.guess[dofs]);
                }
            }
        }
    }

    fn find_participating(&mut self, world: &World) {
        let parts = &world.parts;
        self.participating.clear();
        self.participating.resize(parts.bodies.len(), false);
        let records = &self.contacts.records;
        let in_contact = records.iter().flat_map(|record| [record.a, record.b]);
        for body in in_contact.filter_map(|g| parts.geometries[g.0].mount.body()) {
            self.participating[body.0] = true;
        }
        for owner in &self.owners {
            match *owner {
                RowOwner::Body(body) => self.participating[body.0] = true,
                RowOwner::Constraint(constraint) => {
                    let constraint = &parts.constraints[constraint.0];
                    for body in [constraint.a.body(), constraint.b.body()]
                        .into_iter()
                        .flatten()
                    {
                        self.participating[body.0] = true;
                    }
                }
            }
        }
    }
}
