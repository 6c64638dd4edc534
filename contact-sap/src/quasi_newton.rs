//! Quasi-Newton descent with the diagonal blocks of the Hessian.

use std::time::Instant;

use crate::block_hessian::BlockHessian;
use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::hessian::Hessian;
use crate::interpolations::dot;
use crate::island::IslandProblem;
use crate::islands::{IslandAnswer, IslandSolver, Islands, solver_by_islands};
use crate::line_search::LineSearch;
use crate::newton::exact_hessian_solve;
use crate::potential::Potential;
use crate::progress::{Progress, Rate};
use crate::solver::StopCriteria;

/// Its name.
pub(crate) const QUASI_NEWTON: &str = "quasi-newton";

/// Settings of [`QuasiNewton`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QuasiNewtonSettings {
    /// When to stop.
    pub stop: StopCriteria,
    /// The line search.
    pub line_search: LineSearch,
    /// How successive directions are combined.
    pub acceleration: Acceleration,
}

/// How a direction is made from the block-diagonal step Δ = −H_D⁻¹∇ℓ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acceleration {
    /// Δ itself, as published.
    None,
    /// Δ made conjugate to the last direction (Polak and Ribière, restarted if that is no descent direction). Takes about the
    /// square root of the iterations of [`Acceleration::None`].
    #[default]
    Conjugate,
}

/// Block-diagonal quasi-Newton: every node (a rigid body, a vertex, a tree) steps as if the others were held.
///
/// Nothing larger than a node's block is factored. Convergence is linear, and slow where constraints are much stiffer than the
/// bodies they couple; the report then holds [`StopReason::IterationLimit`](crate::StopReason::IterationLimit).
///
/// Source: Yu et al. (2025), Algorithm 1, with γ = −∂ℓ/∂v_c (its step 6 lacks the sign).
///
/// ```
/// # use pliant_contact_sap::*;
/// # let mass = DenseDynamics::diagonal(&[2.0], vec![-2.0]);
/// # let dynamics = [&mass as &dyn Dynamics];
/// # let mut factors = BlockFactors::default();
/// # factors.factor(&dynamics)?;
/// # let mut constraints = ConstraintSet::default();
/// # let label = ConstraintLabel { kind: RowKind::LowerLimit, index: 0 };
/// # let limit = RowLaw::Limit(Limit::new(0.5, 0.0));
/// # constraints.internal(ParticipantIdx(0), &factors).velocity(0, limit, label);
/// // 2 kg with the free velocity −1 m/s against a limit of R = 0.5 1/kg: 2v = −2 − v/R.
/// let problem = ContactProblem { dynamics: &dynamics, constraints: &constraints };
/// let mut solver = QuasiNewton::new(QuasiNewtonSettings { acceleration: Acceleration::None, ..Default::default() });
/// let mut solution = Solution::default();
/// let report = solver.solve(&problem, &[-1.0], &mut solution)?;
/// assert!(report.is_trusted() && (solution.velocity[0] + 0.5).abs() < 1e-6);
/// # Ok::<(), SolveError>(())
/// ```
pub struct QuasiNewton {
    islands: Islands<QuasiNewtonSettings>,
}

solver_by_islands!(QuasiNewton, QuasiNewtonSettings);

#[derive(Default)]
pub(crate) struct QuasiNewtonWorkspace {
    evaluation: Evaluation,
    blocks: BlockHessian,
    last_gradient: Vec<f64>,
    step: Vec<f64>,
    hessian: Hessian,
}

impl IslandSolver for QuasiNewtonSettings {
    type Workspace = QuasiNewtonWorkspace;

    fn solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut QuasiNewtonWorkspace,
        answer: &mut IslandAnswer,
    ) -> Result<(), SolveError> {
        let QuasiNewtonWorkspace {
            evaluation: e,
            blocks,
            last_gradient,
            step,
            ..
        } = workspace;
        let mut progress = Progress::begin(p, e, &self.stop, Rate::Linear, answer);
        let clock = Instant::now();
        blocks.begin(p);
        last_gradient.resize(p.island.n_dofs, 0.0);
        step.resize(p.island.n_dofs, 0.0);
        progress.report.stages.set_up += clock.elapsed();
        // ∇ℓ·H_D⁻¹∇ℓ of the last iteration.
        let mut last_decrement = f64::INFINITY;
        while progress.residual(p, e)?.is_some() {
            let clock = Instant::now();
            e.update_aggregates(p, |_, law, v_c| law.hessian(v_c));
            progress.report.stages.assembly += clock.elapsed();

            let clock = Instant::now();
            blocks.factor(p, e)?;
            progress.report.factorisations += 1;
            for (s, g) in step.iter_mut().zip(&e.gradient) {
                *s = -g;
            }
            blocks.solve(p, 0..p.island.n_dofs, step);
            let decrement = -dot(&e.gradient, step);
            let change = decrement + dot(last_gradient, step);
            let beta = match self.acceleration {
                Acceleration::None => 0.0,
                Acceleration::Conjugate => (change / last_decrement).max(0.0),
            };
            for (dv, s) in e.dv.iter_mut().zip(&*step) {
                *dv = s + beta * *dv;
            }
            if e.slope_at_start() > -0.1 * decrement {
                e.dv.copy_from_slice(step);
            }
            last_decrement = decrement;
            last_gradient.copy_from_slice(&e.gradient);
            progress.report.stages.linear_solve += clock.elapsed();

            let clock = Instant::now();
            let quadratic = e.begin_direction(p);
            progress.advance(p, e, quadratic, &self.line_search)?;
            progress.report.stages.line_search += clock.elapsed();
        }
        progress.finish(p, e);
        Ok(())
    }

    fn hessian_solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut QuasiNewtonWorkspace,
        velocity: &[f64],
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        let QuasiNewtonWorkspace {
            evaluation,
            hessian,
            ..
        } = workspace;
        exact_hessian_solve(p, evaluation, hessian, QUASI_NEWTON, velocity, x)
    }
}
