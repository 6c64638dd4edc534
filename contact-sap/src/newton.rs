//! Newton's method with a direct factorisation of the Hessian.

mod local;

use std::time::Instant;

use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::friction_tangent::{DualEstimates, FrictionTangent};
use crate::hessian::Hessian;
use crate::island::IslandProblem;
use crate::islands::{IslandAnswer, IslandSolver, Islands, solver_by_islands};
use crate::line_search::LineSearch;
use crate::newton::local::LocalPart;
use crate::potential::Potential;
use crate::progress::{Progress, Rate};
use crate::solver::StopCriteria;
use crate::solver_kind::SolverKind;

/// Settings of [`Newton`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NewtonSettings {
    /// When to stop.
    pub stop: StopCriteria,
    /// How far to go along Newton's direction.
    pub line_search: LineSearch,
    /// The curvature of friction that Newton sees.
    pub friction: FrictionTangent,
}

/// Newton's method: H Δv = −∇ℓ by sparse or dense Cholesky, and a line search.
///
/// Globally convergent to the unique minimiser, quadratically at the end. Where few participants of a large island hold
/// nearly all of the residual, they are solved first with the rest held. The tolerance is tested before anything is
/// factored, so that a guess that already solves the problem costs no factorisation. Needs every A assembled.
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
}

/// What the iteration of an island, or of a part of one, knows.
#[derive(Default)]
struct Iterate {
    evaluation: Evaluation,
    hessian: Hessian,
    estimates: DualEstimates,
}

const NAME: &str = SolverKind::Newton.name();

impl NewtonSettings {
    /// Iterates until `progress` says stop. With memory for `parts`, those of the island may go ahead of the whole;
    /// without, the estimates are there already.
    fn iterate(
        &self,
        p: &IslandProblem<'_>,
        iterate: &mut Iterate,
        mut parts: Option<(&mut LocalPart, &mut Iterate)>,
        progress: &mut Progress<'_>,
    ) -> Result<(), SolveError> {
        let mut estimated = parts.is_none();
        let mut laid_out = false;
        while let Some(residual) = progress.residual(p, &mut iterate.evaluation)? {
            let clock = Instant::now();
            if !estimated {
                iterate.estimates.begin(p, &iterate.evaluation, residual);
                estimated = true;
            }
            if let Some((local, part)) = &mut parts {
                let tolerance = self.stop.tolerance(residual);
                if local.choose(p, &iterate.evaluation, residual, tolerance) {
                    progress.report.stages.set_up += clock.elapsed();
                    self.solve_part(p, iterate, local, part, progress)?;
                    continue;
                }
                local.forget();
            }
            let Iterate {
                evaluation: e,
                hessian,
                estimates,
            } = iterate;
            if !laid_out {
                hessian.begin(p, NAME)?;
                laid_out = true;
            }
            estimates.aggregate(p, e, self.friction);
            hessian.assemble(p, e, 0.0);
            progress.report.stages.assembly += clock.elapsed();

            let clock = Instant::now();
            progress.report.factorisations += factor(p, e, hessian)?;
            for (dv, g) in e.dv.iter_mut().zip(&e.gradient) {
                *dv = -g;
            }
            hessian.solve(&mut e.dv);
            progress.report.stages.linear_solve += clock.elapsed();

            let clock = Instant::now();
            let quadratic = e.begin_direction(p);
            if self.friction == FrictionTangent::PrimalDual {
                estimates.update(p, e);
            }
            progress.advance(p, e, quadratic, &self.line_search)?;
            progress.report.stages.line_search += clock.elapsed();
        }
        Ok(())
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
        self.iterate(&p, part, None, &mut progress)?;
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
        let NewtonWorkspace { whole, part, local } = workspace;
        let e = &mut whole.evaluation;
        let mut progress = Progress::begin(p, e, &self.stop, Rate::Superlinear, answer);
        local.begin(p);
        self.iterate(p, whole, Some((local, part)), &mut progress)?;
        progress.finish(p, &whole.evaluation);
        Ok(())
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
            hessian,
            ..
        } = &mut workspace.whole;
        exact_hessian_solve(p, evaluation, hessian, NAME, velocity, x)
    }
}

/// x ← H⁻¹x at `velocity` with the Hessian itself, factored.
pub(crate) fn exact_hessian_solve(
    p: &IslandProblem<'_>,
    e: &mut Evaluation,
    hessian: &mut Hessian,
    solver: &'static str,
    velocity: &[f64],
    x: &mut [f64],
) -> Result<(), SolveError> {
    e.begin(p);
    e.v.copy_from_slice(velocity);
    e.update_impulses(p);
    hessian.begin(p, solver)?;
    e.update_aggregates(p, |_, law, v_c| law.hessian(v_c));
    hessian.assemble(p, e, 0.0);
    factor(p, e, hessian)?;
    hessian.solve(x);
    Ok(())
}

/// Factors the assembled H, with a little of diag(A) added should round-off have cost its definiteness; returns the number
/// of factorisations.
fn factor(
    p: &IslandProblem<'_>,
    e: &Evaluation,
    hessian: &mut Hessian,
) -> Result<usize, SolveError> {
    let Err(mut failed) = hessian.factor() else {
        return Ok(1);
    };
    // Any shift keeps the direction one of descent; 1e-2 is where help from a shift would hide a real defect.
    let mut shift = 1e-12;
    let mut count = 1;
    while shift <= 1e-2 {
        hessian.assemble(p, e, shift);
        count += 1;
        match hessian.factor() {
            Ok(()) => return Ok(count),
            Err(again) => failed = again,
        }
        shift *= 100.0;
    }
    Err(p.island.indefinite_at(failed.dof))
}
