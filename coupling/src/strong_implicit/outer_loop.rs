//! The outer loop: convex problems solved until every lagged quantity has converged.
//!
//! A convex problem takes friction bounds, the set of contacts, the rotations of corotated bodies and the point of linearisation as
//! given; its solution changes them. Each of them is a [`LaggedQuantity`] with a residual and an update. A round evaluates the residuals
//! at one solution and applies the updates that are due; the next solve starts as warm as these updates allow.

use pliant_contact_sap::{ConvexContactSolver, SolveError, SolveMode, SolveReport};

use super::contact_set::{ContactSet, PathSearch};
use super::friction_bounds::FrictionBoundIteration;
use super::problem::{StepContext, StepProblem};
use super::relinearisation::Relinearisation;
use super::rotations::RotationIteration;
use super::settings::StrongImplicitSettings;
use crate::convergence::Convergence;
use crate::error::StepError;
use crate::friction_bounds::{FrictionBounds, FrictionError};

/// A quantity that the convex problem takes as given and that its solution changes.
pub(super) trait LaggedQuantity {
    /// The residual at the last solution, as a multiple of its tolerance: at most 1 once converged. 0 where the quantity is not
    /// iterated in this round, or no further.
    fn residual(&mut self, attempt: &mut Attempt<'_>, round: &Round) -> Result<f64, StepError>;
    /// Sets the quantity from the last solution; returns how the next solve starts.
    fn update(&mut self, attempt: &mut Attempt<'_>) -> Result<Restart, StepError>;
}

/// What the lagged quantities of a step read and write.
pub(super) struct Attempt<'a> {
    pub(super) context: StepContext<'a>,
    pub(super) solver: &'a mut dyn ConvexContactSolver,
    pub(super) problem: &'a mut StepProblem,
}

/// One round: the updates after one solution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Rounds with updates since the right-hand side last changed.
    pub(super) number: usize,
    /// Whether the solution has all velocities to the full tolerance.
    pub(super) complete: bool,
    /// Whether momentum balances are being relinearised, and impulses are not yet accurate enough to set friction bounds from them.
    pub(super) linearisation: LinearisationStage,
    /// The coldest start that the updates of this round require; `None`: all quantities so far have converged.
    pub(super) restart: Option<Restart>,
}

/// How far the relinearisation of a step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LinearisationStage {
    /// Momentum balances stay as they were linearised first.
    #[default]
    First,
    /// They are relinearised; impulses are still rough.
    Rough,
    /// They are relinearised; impulses are accurate enough to set friction bounds from them.
    Accurate,
}

/// How the next solve starts: what the updates of a round changed, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Restart {
    /// Bounds of constraints.
    Bounds,
    /// The set of constraints.
    Constraints,
    /// b.
    RightHandSide,
    /// A and b.
    Dynamics,
}

impl Round {
    /// Applies the update of `quantity` if its residual exceeds the tolerance.
    fn apply(
        &mut self,
        quantity: &mut dyn LaggedQuantity,
        attempt: &mut Attempt<'_>,
    ) -> Result<(), StepError> {
        if quantity.residual(attempt, self)? > 1.0 {
            self.restart = self.restart.max(Some(quantity.update(attempt)?));
        }
        Ok(())
    }
}

/// The lagged quantities of a step.
#[derive(Debug, Default)]
pub(super) struct OuterLoop {
    relinearisation: Relinearisation,
    friction: FrictionBoundIteration,
    contacts: ContactSet,
    rotations: RotationIteration,
}

impl OuterLoop {
    /// Solves until every lagged quantity has converged or reached its limit of iterations.
    ///
    /// While friction bounds of deformable bodies are rough, so are the solutions: [`SolveMode::Inexact`].
    pub(super) fn converge(
        &mut self,
        attempt: &mut Attempt<'_>,
        settings: &StrongImplicitSettings,
    ) -> Result<Convergence, StepError> {
        self.relinearisation.begin(settings.linearisation);
        self.rotations.begin(settings.lagged_iterations_max);
        self.friction.predict(attempt);
        let mut mode = self.start_anew(attempt);
        let mut report = attempt.solve_cold(mode)?;
        let mut number = 0;
        loop {
            attempt.context.check_cancellation()?;
            let mut round = Round {
                number,
                complete: mode != SolveMode::Inexact && report.unsolved_velocities == 0,
                linearisation: LinearisationStage::First,
                restart: None,
            };
            round.apply(&mut self.relinearisation, attempt)?;
            round.linearisation = self.relinearisation.stage();
            let quantities: [&mut dyn LaggedQuantity; 3] =
                [&mut self.friction, &mut self.contacts, &mut self.rotations];
            for quantity in quantities {
                round.apply(quantity, attempt)?;
            }
            number += 1;
            let again = match round.restart {
                None if !round.complete => {
                    number -= 1;
                    mode = SolveMode::Full;
                    attempt.solve_warm(mode)?
                }
                None if self.relinearisation.activate(attempt)? => continue,
                None => return Ok(self.convergence(report)),
                Some(Restart::Bounds) => {
                    mode = match round.linearisation {
                        LinearisationStage::First => self.friction.mode(),
                        _ => SolveMode::Full,
                    };
                    attempt.solve_warm(mode)?
                }
                Some(Restart::Constraints) => {
                    mode = SolveMode::Full;
                    attempt.solve_warm(mode)?
                }
                Some(Restart::RightHandSide) => {
                    number = 0;
                    mode = self.start_anew(attempt);
                    attempt.solve_cold(mode)?
                }
                Some(Restart::Dynamics) => {
                    mode = SolveMode::Full;
                    attempt.solve_cold(mode)?
                }
            };
            report = merged(report, again);
        }
    }

    /// [`OuterLoop::converge`] where the velocities of the solution do not move the bodies: no contact is added.
    pub(super) fn converge_velocities(
        &mut self,
        attempt: &mut Attempt<'_>,
        settings: &StrongImplicitSettings,
    ) -> Result<Convergence, StepError> {
        self.contacts.search = PathSearch::Skipped;
        let convergence = self.converge(attempt, settings);
        self.contacts.search = PathSearch::AlongSolution;
        convergence
    }

    /// Forgets the iterations of bounds and contacts; returns how exactly the next solve has to be.
    fn start_anew(&mut self, attempt: &Attempt<'_>) -> SolveMode {
        self.contacts.begin();
        self.friction.begin(attempt)
    }

    fn convergence(&self, solve: SolveReport) -> Convergence {
        Convergence {
            solve,
            friction: self.friction.limits.error(),
            missed_contact: self.contacts.missed,
            lagged: self.rotations.report,
            implicit: self.relinearisation.report,
            energy_gain: None,
            unsolved_substeps: 0,
        }
    }

    /// The friction bounds, for the loads that the next step starts from.
    pub(super) fn friction_bounds(&mut self) -> &mut FrictionBounds {
        &mut self.friction.limits
    }
}

impl Attempt<'_> {
    /// Solves with dynamics not solved with before.
    fn solve_cold(&mut self, mode: SolveMode) -> Result<SolveReport, StepError> {
        self.problem.update_momentum_scale();
        let (problem, guess, solution) = self.problem.convex();
        let outcome = self.solver.solve_for(&problem, guess, mode, solution);
        outcome.map_err(|source| self.failed(source))
    }

    /// Solves from the last solution, with the dynamics of the last solve.
    fn solve_warm(&mut self, mode: SolveMode) -> Result<SolveReport, StepError> {
        self.problem.guess_last_solution();
        let (problem, guess, solution) = self.problem.convex();
        let outcome = self.solver.solve_again(&problem, guess, mode, solution);
        outcome.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: SolveError) -> StepError {
        StepError::of_solve(self.context.world, self.context.state, source)
    }
}

impl Convergence {
    /// That of a step solved once more.
    pub(super) fn followed_by(self, next: Self) -> Self {
        Self {
            solve: merged(self.solve, next.solve),
            friction: FrictionError {
                updates: self.friction.updates + next.friction.updates,
                ..next.friction
            },
            ..next
        }
    }
}

/// The report of a solve and of the next one in the same step.
fn merged(first: SolveReport, next: SolveReport) -> SolveReport {
    SolveReport {
        iterations: first.iterations + next.iterations,
        iterations_total: first.iterations_total + next.iterations_total,
        factorisations: first.factorisations + next.factorisations,
        systems: first.systems + next.systems,
        inner_iterations: first.inner_iterations + next.inner_iterations,
        line_search_evaluations: first.line_search_evaluations + next.line_search_evaluations,
        stages: first.stages + next.stages,
        ..next
    }
}
