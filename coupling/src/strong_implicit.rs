//! The strong-implicit stepper: every body and every contact in one convex problem a step.

mod consistent;
mod constraints;
mod forces;
mod implicit;
mod lagged_terms;

use nalgebra::Vector3;
use pliant_contact_sap::{
    BlockFactors, BodyStep, ConstraintSet, ContactProblem, ConvexContactSolver, Dynamics, Solution,
    SolveReport, StepInput, TimeStep, VelocityLayout,
};
use pliant_hydroelastic::{ContactGeometry, GeometryDispatcher};
use rayon::prelude::*;

use consistent::merged;
use constraints::find_touched;
use lagged_terms::LaggedTermsIteration;

use crate::collision::Collision;
use crate::constraint_assembly::ConstraintAssembly;
use crate::contacts::ContactAssembly;
use crate::error::StepError;
use crate::friction_limits::FrictionLimits;
use crate::pair_basis::Bodies;
use crate::patch_depth::warn_of_depth;
use crate::report::{ImplicitReport, RowOwner, StepReport};
use crate::state::State;
use crate::stiction::ContactMemory;
use crate::world::{BodyIdx, GeometryIdx, World};

/// Bodies with fewer velocities than these in all are opened on one thread: waking others costs what some hundred elements do.
const PARALLEL_DOFS_MIN: usize = 2000;

/// Steps a [`World`] by one convex contact problem a step (Han, Masterjohn, Castro 2023, section VI), with the world's
/// [`Integration`](pliant_contact_sap::Integration).
///
/// `S` solves the problem. The stepper holds memory only: what it writes is a function of world, state and Δt, so any
/// number of steppers can step clones of a state at once and give the same bits.
pub struct StrongImplicit<S> {
    solver: S,
    geometry: Box<dyn ContactGeometry>,
    world: Option<World>,
    steps: Vec<Box<dyn BodyStep>>,
    factors: BlockFactors,
    collision: Collision,
    contacts: ContactAssembly,
    constraints: ConstraintAssembly,
    set: ConstraintSet,
    owners: Vec<RowOwner>,
    offsets: Vec<usize>,
    start: Vec<f64>,
    /// Of each body: the velocities about which the step was linearised first.
    linearised_at: Vec<Vec<f64>>,
    free: Vec<f64>,
    path: Vec<f64>,
    solved_path: Vec<f64>,
    limits: FrictionLimits,
    /// A pair that meets on the way found last, by contacts that were not added.
    missed_contact: Option<(GeometryIdx, GeometryIdx)>,
    lagged: LaggedTermsIteration,
    implicit: ImplicitReport,
    solution: Solution,
    guess: Vec<f64>,
    /// Of each body: whether anything constrains it.
    touched: Vec<bool>,
    /// Empty between steps.
    dynamics: Vec<&'static dyn Dynamics>,
    /// Contacts by pair.
    order: Vec<usize>,
    /// Δt of the step just taken, s; none if there was none or it failed.
    taken: Option<f64>,
}

impl<S: ConvexContactSolver> StrongImplicit<S> {
    /// With our own contact geometry.
    pub fn new(solver: S) -> Self {
        Self::with_geometry(solver, Box::new(GeometryDispatcher::default()))
    }

    /// With contact geometry of your own.
    pub fn with_geometry(solver: S, geometry: Box<dyn ContactGeometry>) -> Self {
        Self {
            solver,
            geometry,
            world: None,
            steps: Vec::new(),
            factors: BlockFactors::default(),
            collision: Collision::default(),
            contacts: ContactAssembly::default(),
            constraints: ConstraintAssembly::default(),
            set: ConstraintSet::default(),
            owners: Vec::new(),
            offsets: Vec::new(),
            start: Vec::new(),
            linearised_at: Vec::new(),
            free: Vec::new(),
            path: Vec::new(),
            solved_path: Vec::new(),
            limits: FrictionLimits::default(),
            missed_contact: None,
            lagged: LaggedTermsIteration::default(),
            implicit: ImplicitReport::default(),
            solution: Solution::default(),
            guess: Vec::new(),
            touched: Vec::new(),
            dynamics: Vec::new(),
            order: Vec::new(),
            taken: None,
        }
    }

    /// Steps `state` by `time_step_s` into `next`, whose memory is reused; `state` stays as it is.
    ///
    /// A step whose solver missed its tolerance is taken all the same and says so: [`StepReport::is_trusted`].
    ///
    /// # Errors
    /// [`StepError`], naming step, time and what is wrong; `next` is then not to be used.
    pub fn step(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
    ) -> Result<StepReport, StepError> {
        let mut report = StepReport::default();
        self.step_into(world, state, time_step_s, next, &mut report)?;
        Ok(report)
    }

    /// [`StrongImplicit::step`] into a report whose memory is reused, too: a step like the last one then allocates nothing,
    /// as far as bodies and contact geometries of others don't and islands are solved on one thread.
    ///
    /// # Errors
    /// As [`StrongImplicit::step`]; `report` is then not to be used, either.
    pub fn step_into(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        if !(time_step_s > 0.0 && time_step_s.is_finite()) {
            return Err(StepError::TimeStep(time_step_s));
        }
        check_lengths(world, state)?;
        self.taken = None;
        self.adopt(world);
        self.begin(world, state, time_step_s)?;

        let mut steps = std::mem::take(&mut self.steps);
        let outcome = self
            .solve(world, state, time_step_s, &mut steps)
            .and_then(|first| self.meet_implicit_equations(world, state, &mut steps, first));
        self.steps = steps;
        self.fill(report, time_step_s, outcome?);
        self.advance(world, state, time_step_s, next, report)?;
        let doubt = report.untrusted().map(|doubt| doubt.describe(world));
        report.warnings.extend(doubt);
        self.taken = Some(time_step_s);
        Ok(())
    }

    /// Makes workspaces for a world not seen in the last step.
    fn adopt(&mut self, world: &World) {
        let same = self
            .world
            .as_ref()
            .is_some_and(|known| std::sync::Arc::ptr_eq(&known.parts, &world.parts));
        if !same {
            let bodies = &world.parts.bodies;
            self.steps = bodies.iter().map(|b| b.model.new_step()).collect();
            self.collision.adopt(world);
            self.world = Some(world.clone());
        }
    }

    /// Opens the step of every body and linearises it.
    fn begin(&mut self, world: &World, state: &State, time_step_s: f64) -> Result<(), StepError> {
        let open = |(b, (step, point)): (usize, (&mut Box<dyn BodyStep>, &mut Vec<f64>))| {
            let input = StepInput {
                time_step: TimeStep {
                    length_s: time_step_s,
                    integration: world.parts.integration,
                },
                gravity: world.parts.gravity,
                control: &state.controls[b],
            };
            let opened = step.begin(&state.bodies[b], &input);
            let failed = opened.and_then(|()| step.linearise_start(point)).err();
            failed.map(|source| StepError::of_body(world, state, BodyIdx(b), source))
        };
        let n_dofs: usize = state.bodies.iter().map(|body| body.v.len()).sum();
        self.linearised_at.resize_with(self.steps.len(), Vec::new);
        let failed = if self.steps.len() > 1 && n_dofs >= PARALLEL_DOFS_MIN {
            let steps = self.steps.par_iter_mut().zip(&mut self.linearised_at);
            let steps = steps.with_max_len(1).enumerate();
            steps.map(open).find_map_first(|failed| failed)
        } else {
            let steps = self.steps.iter_mut().zip(&mut self.linearised_at);
            steps.enumerate().find_map(open)
        };
        if let Some(failed) = failed {
            return Err(failed);
        }
        self.offsets.clear();
        self.offsets.push(0);
        self.start.clear();
        for step in &self.steps {
            self.start.extend_from_slice(step.start_velocity());
            self.offsets.push(self.start.len());
        }
        Ok(())
    }

    /// Solves with the contacts of the step, again where what bodies foresee of their motion is not what is found.
    fn solve(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        steps: &mut [Box<dyn BodyStep>],
    ) -> Result<SolveReport, StepError> {
        let time_step = TimeStep {
            length_s: time_step_s,
            integration: world.parts.integration,
        };
        self.with_dynamics(steps, |stepper, dynamics| {
            stepper.find_contacts(world, state, time_step, steps, dynamics)
        })?;
        for (b, step) in steps
            .iter_mut()
            .enumerate()
            .filter(|(b, _)| !self.touched[*b])
        {
            let Some(lagged) = step.as_lagged() else {
                continue;
            };
            let free = lagged
                .update_in_free_motion()
                .map_err(|source| StepError::of_body(world, state, BodyIdx(b), source))?;
            if let Some(free) = free {
                self.guess[self.offsets[b]..self.offsets[b + 1]].copy_from_slice(free);
            }
        }
        let mut report = self.solve_with(world, state, time_step, steps)?;
        self.lagged.begin();
        loop {
            // More than at first, where pairs were overlooked.
            find_touched(
                world,
                &self.contacts.records,
                &self.owners,
                &mut self.touched,
            );
            let wrong = self.lagged.judge(
                steps,
                &self.touched,
                &self.offsets,
                &self.solution.velocity,
                world.parts.lagged_iterations_max,
            );
            if !wrong {
                return Ok(report);
            }
            self.lagged.correct(steps);
            self.guess.clone_from(&self.solution.velocity);
            report = merged(report, self.solve_with(world, state, time_step, steps)?);
        }
    }

    /// Lends the dynamics of all bodies to `work`.
    fn with_dynamics<T>(
        &mut self,
        steps: &[Box<dyn BodyStep>],
        work: impl FnOnce(&mut Self, &[&dyn Dynamics]) -> T,
    ) -> T {
        let mut dynamics = emptied(std::mem::take(&mut self.dynamics));
        dynamics.extend(steps.iter().map(|s| s.dynamics()));
        let done = work(self, &dynamics);
        self.dynamics = emptied(dynamics);
        done
    }

    fn solve_with(
        &mut self,
        world: &World,
        state: &State,
        time_step: TimeStep,
        steps: &[Box<dyn BodyStep>],
    ) -> Result<SolveReport, StepError> {
        // Lent while the rest of the stepper is at work.
        let [start, free, path] =
            [&mut self.start, &mut self.free, &mut self.path].map(std::mem::take);
        let offsets = std::mem::take(&mut self.offsets);
        let bodies = Bodies {
            steps,
            start: &start,
            free: &free,
            path: &path,
            offsets: &offsets,
            constrained: &state.constrained,
        };
        let outcome = self.with_dynamics(steps, |stepper, dynamics| {
            stepper.solve_until_consistent(world, state, time_step, bodies, dynamics)
        });
        [self.start, self.free, self.path] = [start, free, path];
        self.offsets = offsets;
        outcome
    }

    fn advance(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        next.bodies
            .resize_with(state.bodies.len(), Default::default);
        for (b, step) in self.steps.iter().enumerate() {
            let v = &self.solution.velocity[self.offsets[b]..self.offsets[b + 1]];
            let said = step
                .advance(v, &mut next.bodies[b])
                .map_err(|source| StepError::of_body(world, state, BodyIdx(b), source))?;
            let name = &world.parts.bodies[b].name;
            let warnings = said.warnings.into_iter();
            report
                .warnings
                .extend(warnings.map(|w| format!("body \"{name}\": {w}")));
        }
        warn_of_depth(world, &report.contacts, &mut report.warnings);
        next.constrained.resize_with(state.bodies.len(), Vec::new);
        for (b, change) in next.constrained.iter_mut().enumerate() {
            let range = self.offsets[b]..self.offsets[b + 1];
            let (v, free) = (&self.solution.velocity[range.clone()], &self.free[range]);
            change.clear();
            if world.parts.bodies[b].model.velocity_layout() == VelocityLayout::Fixed {
                change.extend(v.iter().zip(free).map(|(v, free)| v - free));
            }
        }
        next.stuck.clear();
        let settings = &world.parts.contact;
        let impulses = self.solution.contact_impulse.chunks_exact(3);
        let contacts = self.contacts.records.iter().zip(impulses);
        let remember = contacts.filter(|(record, _)| settings.stiction.remembers(record.patch));
        next.stuck.extend(remember.filter_map(|(record, gamma)| {
            record.stuck(settings.model, &Vector3::from_column_slice(gamma))
        }));
        next.stuck.sort_unstable_by_key(ContactMemory::key);
        self.limits.remember(
            world,
            time_step_s,
            (&self.contacts.records, &self.solution.contact_impulse),
            &mut next.loads,
        );
        next.proposed_step_s = state.proposed_step_s;
        next.controls.clone_from(&state.controls);
        next.constraints.clone_from(&state.constraints);
        next.step = state.step + 1;
        next.time_s = state.time_s + time_step_s;
        Ok(())
    }
}

/// The memory of a vector of references, emptied, for references of another lifetime: the standard library collects from
/// a vector's own iterator in place.
fn emptied<'a, 'b>(mut references: Vec<&'a (dyn Dynamics + 'a)>) -> Vec<&'b (dyn Dynamics + 'b)> {
    references.clear();
    references
        .into_iter()
        .map(|_| unreachable!("it is empty"))
        .collect()
}

fn problem<'a>(
    dynamics: &'a [&'a dyn Dynamics],
    constraints: &'a ConstraintSet,
) -> ContactProblem<'a> {
    ContactProblem {
        dynamics,
        constraints,
    }
}

fn check_lengths(world: &World, state: &State) -> Result<(), StepError> {
    let lengths = [
        ("bodies", state.bodies.len(), world.parts.bodies.len()),
        ("controls", state.controls.len(), world.parts.bodies.len()),
        (
            "constraints",
            state.constraints.len(),
            world.parts.constraints.len(),
        ),
        (
            "entries of constrained",
            state.constrained.len(),
            world.parts.bodies.len(),
        ),
    ];
    for (what, found, expected) in lengths {
        if found != expected {
            return Err(StepError::StateLength {
                what,
                found,
                expected,
            });
        }
    }
    Ok(())
}
