//! Newton's method with a direct factorisation of the Hessian.

use std::time::Instant;

use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::friction_tangent::{DualEstimates, FrictionTangent};
use crate::hessian::Hessian;
use crate::island::IslandProblem;
use crate::islands::{IslandAnswer, IslandSolver, Islands, solver_by_islands};
use crate::line_search::LineSearch;
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
/// Globally convergent to the unique minimiser, quadratically at the end. The tolerance is tested before anything is
/// factored, so that a guess that already solves the problem costs no factorisation. Needs every A assembled.
///
/// Source: Castro, Permenter, Han (2022), section VI.
pub struct Newton {
    islands: Islands<NewtonSettings>,
}

solver_by_islands!(Newton, NewtonSettings);

#[derive(Default)]
pub(crate) struct NewtonWorkspace {
    evaluation: Evaluation,
    hessian: Hessian,
    estimates: DualEstimates,
}

const NAME: &str = SolverKind::Newton.name();

impl IslandSolver for NewtonSettings {
    type Workspace = NewtonWorkspace;

    fn solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut NewtonWorkspace,
        answer: &mut IslandAnswer,
    ) -> Result<(), SolveError> {
        let NewtonWorkspace {
            evaluation: e,
            hessian,
            estimates,
        } = workspace;
        let mut progress = Progress::begin(p, e, &self.stop, Rate::Superlinear, answer);
        while let Some(residual) = progress.residual(p, e)? {
            let clock = Instant::now();
            if progress.at_start() {
                hessian.begin(p, NAME)?;
                estimates.begin(p, e, residual);
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
        progress.finish(p, e);
        Ok(())
    }

    fn hessian_solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut NewtonWorkspace,
        velocity: &[f64],
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        let NewtonWorkspace {
            evaluation,
            hessian,
            ..
        } = workspace;
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
