//! Newton's method.

mod continuation;
mod local;
mod mixed;
mod schur;
mod systems;

use std::time::Instant;

use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::friction_tangent::{DualEstimates, FrictionTangent};
use crate::island::{IslandProblem, Start};
use crate::islands::{IslandAnswer, IslandReport, IslandSolver, Islands, solver_by_islands};
use crate::line_search::LineSearch;
use crate::linear_algebra::LinearAlgebra;
use crate::newton::local::LocalPart;
use crate::newton::schur::Condensed;
use crate::newton::systems::Systems;
use crate::progress::{Progress, Rate};
use crate::solver::{SolveMode, StopCriteria};
use crate::solver_kind::SolverKind;

pub(crate) use schur::ReducedBody;
pub(crate) use systems::exact_hessian_solve;

/// Settings of [`Newton`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NewtonSettings {
    /// When to stop.
    pub stop: StopCriteria,
    /// How far to go along Newton's direction.
    pub line_search: LineSearch,
    /// The curvature of friction that Newton sees first; the other one takes turns with it where a solve is long.
    pub friction: FrictionTangent,
    /// How its linear systems are solved.
    pub linear_algebra: LinearAlgebra,
}

/// Newton's method: H Δv = −∇ℓ, solved by a factor or by conjugate gradients as suits the island, and a line search.
///
/// Globally convergent to the unique minimiser, quadratically at the end. Where few participants of a large island hold
/// nearly all of the residual, they are solved first with the rest held. The tolerance is tested before anything is
/// factored, so that a guess that already solves the problem costs no factorisation. A solve that is long starts again from
/// softer contact. Needs every A assembled.
///
/// Source: Castro, Permenter, Han (2022), section VI.
pub struct Newton {
    islands: Islands<NewtonSettings>,
}

solver_by_islands!(Newton, NewtonSettings);

#[derive(Default)]
pub(crate) struct NewtonWorkspace {
    whole: Iterate,
    part: Iterate,
    local: LocalPart,
    condensed: Condensed,
    /// Of the condensed island.
    reduced: Iterate,
    reduced_local: LocalPart,
}

/// What the iteration of an island, or of a part of one, knows.
#[derive(Default)]
struct Iterate {
    evaluation: Evaluation,
    systems: Systems,
    estimates: DualEstimates,
}

const NAME: &str = SolverKind::Newton.name();

/// Iterations after which the other tangent of friction is tried, in turns. Both converge, but a few in ten thousand stiff, rough problems lead one
/// of them along a narrow valley of the cost for hundreds of iterations, which the other leaves.
const TANGENT_PERIOD: usize = 20;

/// What may go ahead of an island: parts of it, or what elimination leaves of it.
struct Ahead<'a> {
    local: &'a mut LocalPart,
    part: &'a mut Iterate,
    condensed: Option<Reduction<'a>>,
}

/// The condensed island.
struct Reduction<'a> {
    condensed: &'a mut Condensed,
    iterate: &'a mut Iterate,
    local: &'a mut LocalPart,
    /// Rounds of its iteration that are left.
    rounds: usize,
}

/// Whether an iteration has estimates to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Estimates {
    /// They were copied from the island that this one is a part of.
    Given,
    /// They are made from the first evaluation.
    ToBegin,
}

/// The condensed iteration ends where the whole is solved, too; round-off may cost a second one.
const CONDENSED_ROUNDS: usize = 3;

/// Islands of fewer participants are iterated as a whole (measured: 160 rigid bodies lose a tenth by parts, 640 gain an
/// eighth).
const MEMBERS_MIN: usize = 200;

/// The same of islands of Schur complements, whose blocks are larger.
const REDUCED_MEMBERS_MIN: usize = 20;

impl NewtonSettings {
    /// Iterates until `progress` says stop. With `ahead`, something smaller may be solved first.
    fn iterate(
        &self,
        p: &IslandProblem<'_>,
        iterate: &mut Iterate,
        estimates: Estimates,
        mut ahead: Option<Ahead<'_>>,
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
            if let Some(Ahead { local, part, .. }) = &mut ahead {
                if local.choose(p, &iterate.evaluation, residual, tolerance) {
                    progress.report.stages.set_up += clock.elapsed();
                    self.solve_part(p, iterate, local, part, progress)?;
                    continue;
                }
                local.forget();
            }
            if !laid_out {
                iterate.systems.begin(p, self.linear_algebra, NAME)?;
                laid_out = true;
                if let Some(reduction) = ahead.as_mut().and_then(|ahead| ahead.condensed.as_mut())
                    && self.condenses(p, reduction.condensed)
                {
                    progress.report.factorisations += reduction.condensed.eliminate(p)?;
                    reduction.rounds = CONDENSED_ROUNDS;
                }
            }
            progress.report.stages.assembly += clock.elapsed();
            if let Some(Ahead {
                part,
                condensed: Some(reduction),
                ..
            }) = &mut ahead
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
            let friction = match (progress.report.iterations / TANGENT_PERIOD).is_multiple_of(2) {
                true => self.friction,
                false => self.friction.other(),
            };
            estimates.aggregate(p, e, friction);
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

    /// Whether to eliminate what no constraint touches before iterating; lays it out if so.
    fn condenses(&self, p: &IslandProblem<'_>, condensed: &mut Condensed) -> bool {
        match self.linear_algebra {
            LinearAlgebra::Direct | LinearAlgebra::Mixed => false,
            LinearAlgebra::Schur => condensed.begin(p),
            LinearAlgebra::Automatic => {
                p.island.n_contacts > 0
                    && condensed.has_large_sparse_body(p)
                    && condensed.begin_if_cheaper(p)
            }
        }
    }

    /// Solves what elimination has left and moves the whole there.
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
            local,
            ..
        } = reduction;
        condensed.restrict(whole, &iterate.evaluation.v);
        let n_contacts = whole.island.n_contacts;
        reduced.estimates.resize(n_contacts);
        reduced.estimates.copy(0, &iterate.estimates, 0, n_contacts);
        let stop = StopCriteria {
            // What is eliminated has no residual, but round-off.
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
        local.begin(&p, REDUCED_MEMBERS_MIN);
        let ahead = Ahead {
            local,
            part,
            condensed: None,
        };
        self.iterate(&p, reduced, Estimates::Given, Some(ahead), &mut progress)?;
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

    /// Solves nothing but what elimination leaves of the island; false where there is nothing to eliminate. Residual and
    /// tolerance are those of the velocities that stay: what was eliminated has no residual.
    fn solve_for_impulses(
        &self,
        whole: &IslandProblem<'_>,
        workspace: &mut NewtonWorkspace,
        answer: &mut IslandAnswer,
    ) -> Result<bool, SolveError> {
        let NewtonWorkspace {
            whole:
                Iterate {
                    evaluation,
                    systems,
                    ..
                },
            part,
            condensed,
            reduced,
            reduced_local,
            ..
        } = workspace;
        let clock = Instant::now();
        systems.choose(whole, self.linear_algebra, NAME)?;
        if !self.condenses(whole, condensed) {
            return Ok(false);
        }
        if !condensed.is_eliminated(whole) && self.is_solved(whole, evaluation, answer)? {
            return Ok(true);
        }
        let eliminated = condensed.eliminate(whole)?;
        condensed.restrict(whole, &answer.velocity);
        let assembly = clock.elapsed();
        let p = IslandProblem {
            island: &condensed.island,
            reduced: &condensed.bodies,
            ..*whole
        };
        let (e, own) = (&mut reduced.evaluation, &mut condensed.answer);
        let mut progress = Progress::begin(&p, e, &self.stop, Rate::Superlinear, own);
        reduced_local.begin(&p, REDUCED_MEMBERS_MIN);
        let ahead = Ahead {
            local: reduced_local,
            part,
            condensed: None,
        };
        self.iterate(&p, reduced, Estimates::ToBegin, Some(ahead), &mut progress)?;
        progress.finish(&p, &reduced.evaluation);
        let unsolved_velocities = condensed.extend_participating(whole, &mut answer.velocity);
        let own = &condensed.answer;
        answer.contact_impulse.clone_from(&own.contact_impulse);
        answer.row_impulse.clone_from(&own.row_impulse);
        answer.residual_history.clone_from(&own.residual_history);
        answer.report = own.report;
        let report = &mut answer.report;
        report.unsolved_velocities = unsolved_velocities;
        report.factorisations += eliminated;
        let systems = std::mem::take(&mut report.systems);
        report.systems.schur = systems.dense + systems.sparse + systems.mixed;
        report.stages.assembly += assembly;
        Ok(true)
    }

    /// Whether the velocities of `answer` are the solution; the answer is then complete.
    fn is_solved(
        &self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        answer: &mut IslandAnswer,
    ) -> Result<bool, SolveError> {
        let mut progress = Progress::begin(p, e, &self.stop, Rate::Superlinear, answer);
        let solved = progress.residual(p, e)?.is_none();
        if solved {
            progress.finish(p, e);
        }
        Ok(solved)
    }

    /// Solves the part that `local` has chosen and moves the whole there.
    fn solve_part(
        &self,
        whole: &IslandProblem<'_>,
        iterate: &mut Iterate,
        local: &mut LocalPart,
        part: &mut Iterate,
        whole_progress: &mut Progress<'_>,
    ) -> Result<(), SolveError> {
        let clock = Instant::now();
        local.restrict(
            whole,
            &iterate.evaluation,
            &iterate.estimates,
            &mut part.estimates,
        );
        whole_progress.report.stages.set_up += clock.elapsed();
        let p = IslandProblem {
            island: &local.island,
            ..*whole
        };
        let e = &mut part.evaluation;
        let mut progress =
            Progress::begin(&p, e, &local.stop, Rate::Superlinear, &mut local.answer);
        self.iterate(&p, part, Estimates::Given, None, &mut progress)?;
        progress.finish(&p, &part.evaluation);
        local.extend(
            whole,
            &part.estimates,
            &mut iterate.evaluation,
            &mut iterate.estimates,
        );
        let (sum, own) = (&mut whole_progress.report, &local.answer.report);
        sum.inner_iterations += own.iterations;
        sum.factorisations += own.factorisations;
        sum.line_search_evaluations += own.line_search_evaluations;
        sum.systems = sum.systems + own.systems;
        sum.stages = sum.stages + own.stages;
        Ok(())
    }
}

impl IslandSolver for NewtonSettings {
    type Workspace = NewtonWorkspace;

    fn solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut NewtonWorkspace,
        answer: &mut IslandAnswer,
    ) -> Result<(), SolveError> {
        let mode = p.start.mode();
        let stop = match mode {
            SolveMode::Full | SolveMode::ImpulsesOnly => self.stop,
            SolveMode::Inexact => self.stop.inexact(),
        };
        let settings = Self { stop, ..*self };
        settings.solve_with_continuation(p, workspace, answer)
    }

    fn hessian_solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut NewtonWorkspace,
        velocity: &[f64],
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        let Iterate {
            evaluation,
            systems,
            ..
        } = &mut workspace.whole;
        systems.exact_solve(p, evaluation, NAME, velocity, x)
    }
}

impl NewtonSettings {
    /// Solves the problem as it is, from `answer.velocity`.
    fn solve_at_once(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut NewtonWorkspace,
        answer: &mut IslandAnswer,
    ) -> Result<(), SolveError> {
        let mode = p.start.mode();
        let mut before = IslandReport::default();
        if p.start != Start::Cold(SolveMode::Full)
            && self.solve_for_impulses(p, workspace, answer)?
        {
            if mode != SolveMode::Full || answer.report.unsolved_velocities == 0 {
                return Ok(());
            }
            before = answer.report;
            workspace.condensed.extend(&mut answer.velocity);
        }
        let NewtonWorkspace {
            whole,
            part,
            local,
            condensed,
            reduced,
            reduced_local,
        } = workspace;
        let e = &mut whole.evaluation;
        let mut progress = Progress::begin(p, e, &self.stop, Rate::Superlinear, answer);
        local.begin(p, MEMBERS_MIN);
        let ahead = Ahead {
            local,
            part,
            condensed: Some(Reduction {
                condensed,
                iterate: reduced,
                local: reduced_local,
                rounds: 0,
            }),
        };
        self.iterate(p, whole, Estimates::ToBegin, Some(ahead), &mut progress)?;
        progress.finish(p, &whole.evaluation);
        answer.report.add_earlier(&before);
        Ok(())
    }
}
