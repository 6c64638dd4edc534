//! The strong-implicit stepper: every body and every contact in one convex problem a step.

mod consistent;
mod forces;
mod implicit;

use nalgebra::Vector3;
use pliant_contact_sap::{
    BlockFactors, BodyStep, ConstraintSet, ContactProblem, ConvexContactSolver, Dynamics,
    ParticipantIdx, Solution, SolveReport, StepInput, TimeStep,
};
use pliant_hydroelastic::{ContactGeometry, GeometryDispatcher};

use crate::collision::{Collision, Search};
use crate::contacts::{ContactAssembly, ContactRecord, Setting};
use crate::error::StepError;
use crate::friction_limits::FrictionLimits;
use crate::pair_basis::Bodies;
use crate::patch_depth::warn_of_depth;
use crate::report::{ImplicitReport, RowOwner, StepReport};
use crate::state::State;
use crate::stiction::{self, StuckContact};
use crate::ties::TieAssembly;
use crate::world::{BodyIdx, GeometryIdx, World};

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
    ties: TieAssembly,
    set: ConstraintSet,
    owners: Vec<RowOwner>,
    offsets: Vec<usize>,
    start: Vec<f64>,
    free: Vec<f64>,
    path: Vec<f64>,
    solved_path: Vec<f64>,
    limits: FrictionLimits,
    /// A pair that meets on the way found last, by contacts that were not added.
    overlooked: Option<(GeometryIdx, GeometryIdx)>,
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
            ties: TieAssembly::default(),
            set: ConstraintSet::default(),
            owners: Vec::new(),
            offsets: Vec::new(),
            start: Vec::new(),
            free: Vec::new(),
            path: Vec::new(),
            solved_path: Vec::new(),
            limits: FrictionLimits::default(),
            overlooked: None,
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
            .solve(world, state, time_step_s, &steps)
            .and_then(|first| self.meet_implicit_equations(world, state, &mut steps, first));
        self.steps = steps;
        self.fill(report, time_step_s, outcome?);
        self.advance(world, state, time_step_s, next, report)?;
        let doubt = report.doubt().map(|doubt| doubt.describe(world));
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
        self.offsets.clear();
        self.offsets.push(0);
        self.start.clear();
        for (b, step) in self.steps.iter_mut().enumerate() {
            let input = StepInput {
                time_step: TimeStep {
                    length_s: time_step_s,
                    integration: world.parts.integration,
                },
                gravity: world.parts.gravity,
                control: &state.controls[b],
            };
            step.begin(&state.bodies[b], &input)
                .and_then(|()| step.linearise())
                .map_err(|source| StepError::of_body(world, state, BodyIdx(b), source))?;
            self.start.extend_from_slice(step.start_velocity());
            self.offsets.push(self.start.len());
        }
        Ok(())
    }

    fn solve(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        steps: &[Box<dyn BodyStep>],
    ) -> Result<SolveReport, StepError> {
        let mut dynamics = emptied(std::mem::take(&mut self.dynamics));
        dynamics.extend(steps.iter().map(|s| s.dynamics()));
        let outcome = self.solve_with(world, state, time_step_s, steps, &dynamics);
        self.dynamics = emptied(dynamics);
        outcome
    }

    fn solve_with(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        steps: &[Box<dyn BodyStep>],
        dynamics: &[&dyn Dynamics],
    ) -> Result<SolveReport, StepError> {
        let solve_error = |source| StepError::of_solve(world, state, source);
        self.factors.factor(dynamics).map_err(solve_error)?;
        self.predict(dynamics);
        let time_step = TimeStep {
            length_s: time_step_s,
            integration: world.parts.integration,
        };
        time_step.mean_velocities(&self.start, &self.free, &mut self.path);
        let bodies = Bodies {
            steps,
            start: &self.start,
            free: &self.free,
            path: &self.path,
            offsets: &self.offsets,
            constrained: &state.constrained,
        };
        let collision = &mut self.collision;
        collision.place(world, state, &bodies, time_step_s, Search::All)?;
        collision.find(world, state, &*self.geometry, time_step_s, Search::All)?;

        self.set.clear();
        self.contacts.clear();
        let setting = Setting {
            world,
            state,
            bodies,
            poses: &self.collision.poses,
            time_step,
        };
        self.contacts.add(
            &self.collision.contacts,
            &setting,
            &mut self.set,
            &mut self.factors,
        )?;
        self.limits.foresee(
            (world, state),
            (steps, time_step_s),
            &mut self.contacts.records,
            &mut self.set,
        );
        self.owners.clear();
        for (b, step) in steps.iter().enumerate() {
            let participant = ParticipantIdx(b);
            step.internal_constraints(&mut self.set.internal(participant, &self.factors));
            let n = self.set.n_rows();
            self.owners.resize(n, RowOwner::Body(BodyIdx(b)));
        }
        self.ties.add(
            world,
            state,
            &bodies,
            &self.collision.surfaces,
            time_step,
            &mut self.set,
            &mut self.factors,
            &mut self.owners,
        )?;

        let records = &self.contacts.records;
        guess_velocities(
            world,
            records,
            bodies.offsets,
            bodies.start,
            &mut self.guess,
        );
        let told = steps.iter().any(|step| step.free_velocity().is_some());
        if told {
            find_touched(world, records, &self.owners, &mut self.touched);
            for (b, step) in steps.iter().enumerate() {
                if let (false, Some(free)) = (self.touched[b], step.free_velocity()) {
                    self.guess[self.offsets[b]..self.offsets[b + 1]].copy_from_slice(free);
                }
            }
        }
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
        let outcome = self.solve_until_consistent(world, state, time_step, bodies, dynamics);
        [self.start, self.free, self.path] = [start, free, path];
        self.offsets = offsets;
        outcome
    }

    /// v* ≈ v0 + D⁻¹(b − A v0), exact where the block diagonal D is all of A.
    fn predict(&mut self, dynamics: &[&dyn Dynamics]) {
        self.free.resize(self.start.len(), 0.0);
        for (p, dynamics) in dynamics.iter().enumerate() {
            let range = self.offsets[p]..self.offsets[p + 1];
            let (start, free) = (&self.start[range.clone()], &mut self.free[range]);
            dynamics.apply(start, free);
            for (x, b) in free.iter_mut().zip(dynamics.right_hand_side()) {
                *x = b - *x;
            }
            self.factors.solve(ParticipantIdx(p), free);
            for (x, v0) in free.iter_mut().zip(start) {
                *x += v0;
            }
        }
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
            if self.steps[b].velocities_last() {
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
        next.stuck.sort_unstable_by_key(StuckContact::key);
        self.limits.remember(
            world,
            (&self.steps, time_step_s),
            (&self.contacts.records, &self.solution.contact_impulse),
            &mut next.loads,
        );
        next.proposed_step_s = state.proposed_step_s;
        next.controls.clone_from(&state.controls);
        next.ties.clone_from(&state.ties);
        next.step = state.step + 1;
        next.time_s = state.time_s + time_step_s;
        Ok(())
    }
}

/// The velocities at the start, but for those of bodies that rest in patches.
fn guess_velocities(
    world: &World,
    records: &[ContactRecord],
    offsets: &[usize],
    start: &[f64],
    guess: &mut Vec<f64>,
) {
    guess.clear();
    guess.extend_from_slice(start);
    let settings = &world.parts.contact;
    let mut last = None;
    for record in records {
        let pair = Some((record.a, record.b));
        let held = record.patch.is_some() && settings.stiction.remembers(record.patch);
        if !held || last == pair {
            continue;
        }
        last = pair;
        for g in [record.a, record.b] {
            if let Some(body) = world.parts.geometries[g.0].mount.body() {
                let dofs = offsets[body.0]..offsets[body.0 + 1];
                stiction::stop_what_rests(settings, &mut guess[dofs]);
            }
        }
    }
}

/// Of each body whether a contact, a tie or a constraint of its own acts on it.
fn find_touched(
    world: &World,
    records: &[ContactRecord],
    owners: &[RowOwner],
    touched: &mut Vec<bool>,
) {
    let parts = &world.parts;
    touched.clear();
    touched.resize(parts.bodies.len(), false);
    let in_contact = records.iter().flat_map(|record| [record.a, record.b]);
    for body in in_contact.filter_map(|g| parts.geometries[g.0].mount.body()) {
        touched[body.0] = true;
    }
    for owner in owners {
        match *owner {
            RowOwner::Body(body) => touched[body.0] = true,
            RowOwner::Tie(tie) => {
                let tie = &parts.ties[tie.0];
                for body in [tie.a.body(), tie.b.body()].into_iter().flatten() {
                    touched[body.0] = true;
                }
            }
        }
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
        ("ties", state.ties.len(), world.parts.ties.len()),
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
