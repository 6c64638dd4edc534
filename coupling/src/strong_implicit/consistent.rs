//! One problem solved again until it is that of its own solution: with friction of the loads found, and with every pair that meets on
//! the way found.

use pliant_contact_sap::{
    ConvexContactSolver, Dynamics, ParticipantIdx, SolveMode, SolveReport, TimeStep,
};

use super::{StrongImplicit, problem};
use crate::collision::Search;
use crate::contacts::Setting;
use crate::error::StepError;
use crate::friction_limits::{Foresight, FrictionLimits, SolveInStep};
use crate::pair_basis::Bodies;
use crate::state::State;
use crate::world::{GeometryIdx, World};

/// Single contacts whose loads are larger or smaller than predicted are given new limits at most this often,
const RESOLVES_MAX: usize = 2;

/// contacts are added where the solution sends bodies and the free motion did not at most this often,
const SEARCHES_MAX: usize = 4;

/// and where friction of a pair is not that of the loads found, a step is solved again at most this often.
pub(super) const CORRECTIONS_MAX: usize = 12;

impl<S: ConvexContactSolver> StrongImplicit<S> {
    /// Solves until friction is that of the loads found and no pair is left that meets on the way found.
    ///
    /// Friction asks for impulses only: velocities of what nothing touches may lag behind until it is right.
    pub(super) fn solve_until_consistent(
        &mut self,
        world: &World,
        state: &State,
        time_step: TimeStep,
        bodies: Bodies<'_>,
        dynamics: &[&dyn Dynamics],
    ) -> Result<SolveReport, StepError> {
        let scale = self.momentum_scale(dynamics);
        // Limits need no more digits than they have themselves, until they are right.
        let records = &self.contacts.records;
        let mut rough = FrictionLimits::are_a_guess(world, records);
        let mode = match rough {
            true => SolveMode::Inexact,
            false => SolveMode::Full,
        };
        let mut report = self.solve_first(world, state, dynamics, mode)?;
        self.limits.begin();
        let (mut round, mut searches) = (0, 0);
        loop {
            let solve = SolveInStep {
                world,
                records: &self.contacts.records,
                impulses: &self.solution.contact_impulse,
                scale,
            };
            let foresight = match round < RESOLVES_MAX {
                true => Foresight::CanBeCorrected,
                false => Foresight::Settled,
            };
            let wrong = self.limits.are_wrong(&solve, foresight) && round < CORRECTIONS_MAX;
            if wrong {
                let impulses = &self.solution.contact_impulse;
                let records = &mut self.contacts.records;
                let model = world.parts.contact.model;
                self.limits.correct(model, records, impulses, &mut self.set);
            }
            let complete = report.unsolved_velocities == 0 && !rough;
            let mut missed_contact = false;
            if complete && (searches == 0 || !wrong) {
                self.missed_contact = self.find_missed(world, state, time_step, &bodies)?;
                missed_contact = self.missed_contact.is_some() && searches < SEARCHES_MAX;
                if missed_contact {
                    self.add_missed(world, state, time_step, &bodies)?;
                }
                searches += 1;
            }
            if complete && !(wrong || missed_contact) {
                return Ok(report);
            }
            let mode = match (wrong && !missed_contact, rough) {
                (true, true) => SolveMode::Inexact,
                (true, false) => SolveMode::ImpulsesOnly,
                (false, _) => SolveMode::Full,
            };
            rough &= wrong;
            round += usize::from(wrong || missed_contact);
            self.guess.clone_from(&self.solution.velocity);
            let again = self
                .solver
                .solve_again(
                    &problem(dynamics, &self.set),
                    &self.guess,
                    mode,
                    &mut self.solution,
                )
                .map_err(|source| StepError::of_solve(world, state, source))?;
            report = merged(report, again);
        }
    }

    /// Solves with dynamics not solved with before.
    pub(super) fn solve_first(
        &mut self,
        world: &World,
        state: &State,
        dynamics: &[&dyn Dynamics],
        mode: SolveMode,
    ) -> Result<SolveReport, StepError> {
        self.solver
            .solve_for(
                &problem(dynamics, &self.set),
                &self.guess,
                mode,
                &mut self.solution,
            )
            .map_err(|source| StepError::of_solve(world, state, source))
    }

    /// ‖D b‖ with D = diag(A)^(−1/2), √J.
    pub(super) fn momentum_scale(&self, dynamics: &[&dyn Dynamics]) -> f64 {
        let mut sum = 0.0;
        for (p, dynamics) in dynamics.iter().enumerate() {
            for (dof, b) in dynamics.right_hand_side().iter().enumerate() {
                sum += b * b * self.factors.inverse_diagonal(ParticipantIdx(p), dof);
            }
        }
        sum.sqrt()
    }

    /// Finds contacts of pairs that do not meet on the foreseen way, but on the one found; the first of these pairs.
    fn find_missed(
        &mut self,
        world: &World,
        state: &State,
        time_step: TimeStep,
        bodies: &Bodies<'_>,
    ) -> Result<Option<(GeometryIdx, GeometryIdx)>, StepError> {
        if !world.parts.contact.follows_paths() {
            return Ok(None);
        }
        let time_step_s = time_step.length_s;
        let velocity = &self.solution.velocity;
        time_step.mean_velocities(bodies.start, velocity, &mut self.solved_path);
        let solved = Bodies {
            path: &self.solved_path,
            ..*bodies
        };
        let collision = &mut self.collision;
        if !collision.find_diverted(world, state, bodies, &solved)? {
            return Ok(None);
        }
        let search = Search::Overlooked;
        collision.place(world, state, &solved, time_step_s, search)?;
        collision.find(world, state, &*self.geometry, time_step_s, search)?;
        Ok(collision.contacts.first().map(|c| (c.a, c.b)))
    }

    /// Adds the contacts found last to the problem.
    fn add_missed(
        &mut self,
        world: &World,
        state: &State,
        time_step: TimeStep,
        bodies: &Bodies<'_>,
    ) -> Result<(), StepError> {
        let setting = Setting {
            world,
            state,
            bodies: *bodies,
            poses: &self.collision.poses,
            time_step,
        };
        let found = &self.collision.contacts;
        self.contacts
            .add(found, &setting, &mut self.set, &mut self.factors)
    }
}

/// The report of a solve and of its warm-started repetition.
pub(super) fn merged(first: SolveReport, again: SolveReport) -> SolveReport {
    SolveReport {
        iterations: first.iterations + again.iterations,
        iterations_total: first.iterations_total + again.iterations_total,
        factorisations: first.factorisations + again.factorisations,
        systems: first.systems + again.systems,
        inner_iterations: first.inner_iterations + again.inner_iterations,
        line_search_evaluations: first.line_search_evaluations + again.line_search_evaluations,
        stages: first.stages + again.stages,
        ..again
    }
}
