//! The iteration of Newton's method, with nested iterations on parts of the problem.

use std::time::Instant;

use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::friction_tangent::{DualEstimates, FrictionTangent};
use crate::island::IslandProblem;
use crate::islands::IslandAnswer;
use crate::line_search::LineSearch;
use crate::linear_algebra::LinearAlgebra;
use crate::newton::schur::Condensed;
use crate::newton::subdomain::Subdomain;
use crate::newton::systems::{LinearSolver, Systems};
use crate::progress::{Progress, Rate};
use crate::solver::StopCriteria;

/// Newton's method with any linear solver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewtonMethod {
    pub(crate) stop: StopCriteria,
    pub(crate) line_search: LineSearch,
    pub(crate) friction: FrictionTangent,
    pub(crate) linear_solver: LinearSolver,
}

/// State of the iteration of one island. Memory is reused.
#[derive(Default)]
pub(crate) struct Iterate {
    pub(super) evaluation: Evaluation,
    systems: Systems,
    estimates: DualEstimates,
}

/// Iterations after which the tangent of friction alternates. Either tangent may take hundreds of iterations along a narrow
/// valley of the cost in a few of ten thousand stiff random problems, but not both.
const TANGENT_PERIOD: usize = 20;

/// Iterations nested in that of an island: on a subdomain, or on the condensed island.
pub(crate) struct Nested<'a> {
    pub(super) subdomain: &'a mut Subdomain,
    pub(super) part: &'a mut Iterate,
    pub(super) reduction: Option<Reduction<'a>>,
}

/// The condensed island.
pub(crate) struct Reduction<'a> {
    pub(super) condensed: &'a mut Condensed,
    pub(super) iterate: &'a mut Iterate,
    pub(super) subdomain: &'a mut Subdomain,
    /// Remaining rounds of its iteration.
    pub(super) rounds: usize,
}

/// Initial dual estimates of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Estimates {
    /// Copied from an enclosing iteration.
    Given,
    /// From the first evaluation.
    Initial,
}

/// Rounds of the condensed iteration. Its solution also solves the full problem, except for round-off.
const CONDENSED_ROUNDS: usize = 3;

/// Condensed islands with fewer participants have no subdomains.
pub(super) const REDUCED_MEMBERS_MIN: usize = 20;

impl NewtonMethod {
    /// Solves the problem from `answer.velocity`.
    pub(crate) fn solve_by_iteration(
        &self,
        p: &IslandProblem<'_>,
        iterate: &mut Iterate,
        nested: Option<Nested<'_>>,
        answer: &mut IslandAnswer,
    ) -> Result<(), SolveError> {
        let e = &mut iterate.evaluation;
        let mut progress = Progress::begin(p, e, &self.stop, Rate::Superlinear, answer);
        self.iterate(p, iterate, Estimates::Initial, nested, &mut progress)?;
        progress.finish(p, &iterate.evaluation);
        Ok(())
    }

    /// x ← H⁻¹x at `velocity`.
    pub(crate) fn hessian_solve(
        &self,
        p: &IslandProblem<'_>,
        iterate: &mut Iterate,
        velocity: &[f64],
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        let e = &mut iterate.evaluation;
        iterate
            .systems
            .hessian_solve(p, e, self.linear_solver, velocity, x)
    }

    /// Iterates until `progress` stops.
    fn iterate(
        &self,
        p: &IslandProblem<'_>,
        iterate: &mut Iterate,
        estimates: Estimates,
        mut nested: Option<Nested<'_>>,
        progress: &mut Progress<'_>,
    ) -> Result<(), SolveError> {
        let mut estimated = estimates == Estimates::Given;
        let mut laid_out = false;
        while let Some(residual) = progress.residual(p, &mut iterate.evaluation)? {
            let clock = Instant::now();
            let tolerance = self.stop.tolerance(residual);
            if !estimated {
                iterate.estimates.begin(p, &iterate.evaluation, residual);
                estimated = true;
            }
            if let Some(Nested {
                subdomain, part, ..
            }) = &mut nested
            {
                if subdomain.choose(p, &iterate.evaluation, residual, tolerance) {
                    progress.report.stages.set_up += clock.elapsed();
                    self.solve_subdomain(p, iterate, subdomain, part, progress)?;
                    continue;
                }
                subdomain.reset();
            }
            if !laid_out {
                iterate.systems.begin(p, self.linear_solver)?;
                laid_out = true;
                if let Some(reduction) =
                    nested.as_mut().and_then(|nested| nested.reduction.as_mut())
                    && self.condenses(p, reduction.condensed)
                {
                    progress.report.factorisations += reduction.condensed.eliminate(p)?;
                    reduction.rounds = CONDENSED_ROUNDS;
                }
            }
            progress.report.stages.assembly += clock.elapsed();
            if let Some(Nested {
                part,
                reduction: Some(reduction),
                ..
            }) = &mut nested
                && reduction.rounds > 0
            {
                reduction.rounds -= 1;
                self.solve_condensed(p, iterate, reduction, part, tolerance, progress)?;
                continue;
            }
            let clock = Instant::now();
            let Iterate {
                evaluation: e,
                systems,
                estimates,
            } = iterate;
            estimates.aggregate(p, e, self.tangent(progress.report.iterations));
            progress.report.stages.assembly += clock.elapsed();

            systems.direction(p, e, residual, tolerance, &mut progress.report)?;

            let clock = Instant::now();
            let quadratic = e.begin_direction(p);
            if estimates.is_ascent(e) {
                estimates.clear_closing();
                continue;
            }
            estimates.update(p, e);
            progress.advance(p, e, quadratic, &self.line_search)?;
            progress.report.stages.line_search += clock.elapsed();
        }
        Ok(())
    }

    /// The tangent of friction after a number of iterations.
    fn tangent(&self, iterations: usize) -> FrictionTangent {
        let alternates = matches!(self.linear_solver, LinearSolver::Factored(_));
        match alternates && !(iterations / TANGENT_PERIOD).is_multiple_of(2) {
            true => self.friction.other(),
            false => self.friction,
        }
    }

    /// Whether to eliminate non-participating velocities before the iteration; lays out the condensed island if so.
    pub(super) fn condenses(&self, p: &IslandProblem<'_>, condensed: &mut Condensed) -> bool {
        match self.linear_solver {
            LinearSolver::ConjugateGradients(_)
            | LinearSolver::Factored(LinearAlgebra::Direct | LinearAlgebra::Mixed) => false,
            LinearSolver::Factored(LinearAlgebra::Schur) => condensed.begin(p),
            LinearSolver::Factored(LinearAlgebra::Automatic) => {
                p.island.n_contacts > 0
                    && condensed.has_large_sparse_body(p)
                    && condensed.begin_if_cheaper(p)
            }
        }
    }

    /// Solves the condensed problem and moves the full iterate to its solution.
    fn solve_condensed(
        &self,
        whole: &IslandProblem<'_>,
        iterate: &mut Iterate,
        reduction: &mut Reduction<'_>,
        part: &mut Iterate,
        tolerance: f64,
        whole_progress: &mut Progress<'_>,
    ) -> Result<(), SolveError> {
        let clock = Instant::now();
        let Reduction {
            condensed,
            iterate: reduced,
            subdomain,
            ..
        } = reduction;
        condensed.restrict(whole, &iterate.evaluation.v);
        let n_contacts = whole.island.n_contacts;
        reduced.estimates.resize(n_contacts);
        reduced.estimates.copy(0, &iterate.estimates, 0, n_contacts);
        let stop = StopCriteria {
            // The residual of eliminated velocities is round-off.
            absolute_tolerance: 0.7 * tolerance,
            relative_tolerance: 0.0,
            iterations_max: self.stop.iterations_max - whole_progress.report.iterations,
        };
        whole_progress.report.stages.set_up += clock.elapsed();
        let p = IslandProblem {
            island: &condensed.island,
            reduced: &condensed.bodies,
            ..*whole
        };
        let (e, answer) = (&mut reduced.evaluation, &mut condensed.answer);
        let mut progress = Progress::begin(&p, e, &stop, Rate::Superlinear, answer);
        subdomain.begin(&p, REDUCED_MEMBERS_MIN);
        let nested = Nested {
            subdomain,
            part,
            reduction: None,
        };
        self.iterate(&p, reduced, Estimates::Given, Some(nested), &mut progress)?;
        progress.finish(&p, &reduced.evaluation);
        let clock = Instant::now();
        iterate.estimates.copy(0, &reduced.estimates, 0, n_contacts);
        condensed.extend(iterate.evaluation.velocities_mut());
        let (sum, own) = (&mut whole_progress.report, &condensed.answer.report);
        sum.iterations += own.iterations;
        sum.inner_iterations += own.inner_iterations;
        sum.factorisations += own.factorisations;
        sum.systems.schur += own.systems.dense + own.systems.sparse + own.systems.mixed;
        sum.line_search_evaluations += own.line_search_evaluations;
        sum.stages = sum.stages + own.stages;
        sum.stages.linear_solve += clock.elapsed();
        Ok(())
    }

    /// Solves the chosen subdomain and moves the full iterate to its solution.
    fn solve_subdomain(
        &self,
        whole: &IslandProblem<'_>,
        iterate: &mut Iterate,
        subdomain: &mut Subdomain,
        part: &mut Iterate,
        whole_progress: &mut Progress<'_>,
    ) -> Result<(), SolveError> {
        let clock = Instant::now();
        subdomain.restrict(
            whole,
            &iterate.evaluation,
            &iterate.estimates,
            &mut part.estimates,
        );
        whole_progress.report.stages.set_up += clock.elapsed();
        let p = IslandProblem {
            island: &subdomain.island,
            ..*whole
        };
        let (e, answer) = (&mut part.evaluation, &mut subdomain.answer);
        let mut progress = Progress::begin(&p, e, &subdomain.stop, Rate::Superlinear, answer);
        self.iterate(&p, part, Estimates::Given, None, &mut progress)?;
        progress.finish(&p, &part.evaluation);
        subdomain.extend(
            whole,
            &part.estimates,
            &mut iterate.evaluation,
            &mut iterate.estimates,
        );
        let (sum, own) = (&mut whole_progress.report, &subdomain.answer.report);
        sum.inner_iterations += own.iterations;
        sum.factorisations += own.factorisations;
        sum.line_search_evaluations += own.line_search_evaluations;
        sum.systems = sum.systems + own.systems;
        sum.stages = sum.stages + own.stages;
        Ok(())
    }
}
