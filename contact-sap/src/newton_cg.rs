//! Newton's method with preconditioned conjugate gradients in place of a factorisation.

use std::time::Instant;

use crate::block_hessian::BlockHessian;
use crate::conjugate_gradients::{ConjugateGradients, Limits};
use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::friction_tangent::{DualEstimates, FrictionTangent};
use crate::island::IslandProblem;
use crate::islands::{IslandAnswer, IslandSolver, Islands, solver_by_islands};
use crate::line_search::LineSearch;
use crate::potential::Potential;
use crate::progress::{Progress, Rate};
use crate::solver::StopCriteria;

/// Settings of [`NewtonCg`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NewtonCgSettings {
    /// When to stop.
    pub stop: StopCriteria,
    /// How far to go along Newton's direction.
    pub line_search: LineSearch,
    /// The curvature of friction that Newton sees.
    pub friction: FrictionTangent,
    /// What conjugate gradients are preconditioned with.
    pub preconditioner: Preconditioner,
}

/// An approximation of H⁻¹.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preconditioner {
    /// The inverse of the diagonal blocks of H: knows contact, not the stiffness between blocks.
    #[default]
    BlockDiagonal,
    /// The body's own [`Dynamics::precondition`](crate::Dynamics::precondition), which knows its stiffness but no contact;
    /// bodies without one get their diagonal blocks of H.
    Body,
}

/// Inexact Newton: H Δv = −∇ℓ by conjugate gradients, only as exactly as the outer iteration can use.
///
/// Works with bodies that only multiply by A. H is never formed: a product costs one by A and a small matrix for each
/// basis. Prefer [`Newton`](crate::Newton) for rigid bodies and up to a few thousand vertices.
///
/// The forcing term η = min(η_max, 0.9 (‖g_k‖/‖g_{k−1}‖)²) follows Eisenstat and Walker (1996), choice 2, with η_max = 1e-2,
/// and 1e-6 after twenty iterations: behind stiff contact a loose direction is a wrong one. Measured on 10,000 random
/// problems: at most 64 iterations, with η_max = 0.1 throughout as many as 145.
pub struct NewtonCg {
    islands: Islands<NewtonCgSettings>,
}

solver_by_islands!(NewtonCg, NewtonCgSettings);

#[derive(Default)]
pub(crate) struct NewtonCgWorkspace {
    evaluation: Evaluation,
    estimates: DualEstimates,
    blocks: BlockHessian,
    gradients: ConjugateGradients,
}

impl IslandSolver for NewtonCgSettings {
    type Workspace = NewtonCgWorkspace;

    fn solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut NewtonCgWorkspace,
        answer: &mut IslandAnswer,
    ) -> Result<(), SolveError> {
        let NewtonCgWorkspace {
            evaluation: e,
            estimates,
            blocks,
            gradients,
        } = workspace;
        let mut progress = Progress::begin(p, e, &self.stop, Rate::Superlinear, answer);
        let clock = Instant::now();
        gradients.begin(p);
        blocks.begin(p);
        progress.report.stages.set_up += clock.elapsed();
        let mut last_residual = f64::INFINITY;
        let mut estimated = false;
        while let Some(residual) = progress.residual(p, e)? {
            let clock = Instant::now();
            if !estimated {
                estimates.begin(p, e, residual);
                estimated = true;
            }
            estimates.aggregate(p, e, self.friction);
            progress.report.stages.assembly += clock.elapsed();

            let clock = Instant::now();
            blocks.factor(p, e)?;
            progress.report.factorisations += 1;
            let ratio = residual.norm / last_residual;
            last_residual = residual.norm;
            // Solving past the tolerance of the outer iteration would be thrown away.
            let floor = 0.3 * self.stop.tolerance(residual) / residual.norm;
            let eta = (0.9 * ratio * ratio).min(progress.forcing_max()).max(floor);
            e.write_right_hand_side();
            let mut dv = std::mem::take(&mut e.dv);
            progress.report.inner_iterations +=
                self.solve_system(p, e, blocks, gradients, eta, &mut dv);
            e.dv = dv;
            e.set_direction_product(gradients.product());
            progress.report.stages.linear_solve += clock.elapsed();

            let clock = Instant::now();
            let quadratic = e.begin_direction(p);
            if estimates.is_ascent(e) {
                estimates.clear_closing();
                continue;
            }
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
        workspace: &mut NewtonCgWorkspace,
        velocity: &[f64],
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        let NewtonCgWorkspace {
            evaluation: e,
            blocks,
            gradients,
            ..
        } = workspace;
        e.begin(p);
        e.v.copy_from_slice(velocity);
        e.update_impulses(p);
        e.update_aggregates(p, |_, law, v_c| law.hessian(v_c));
        gradients.begin(p);
        blocks.begin(p);
        blocks.factor(p, e)?;
        self.solve_system(p, e, blocks, gradients, 1e-13, x);
        Ok(())
    }
}

impl NewtonCgSettings {
    /// x ← H⁻¹x to the relative tolerance `eta`; returns the number of iterations. Round-off ends them after 20 n + 200 at
    /// the latest.
    fn solve_system(
        &self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        blocks: &BlockHessian,
        gradients: &mut ConjugateGradients,
        eta: f64,
        x: &mut [f64],
    ) -> usize {
        let limits = Limits {
            relative_residual: eta,
            iterations_max: 20 * x.len() + 200,
        };
        let precondition = |r: &[f64], z: &mut [f64]| {
            z.copy_from_slice(r);
            match self.preconditioner {
                Preconditioner::BlockDiagonal => blocks.solve(p, 0..p.island.n_dofs, z),
                Preconditioner::Body => {
                    for member in &p.island.members {
                        if !p.dynamics(member).precondition(&mut z[member.dofs()]) {
                            blocks.solve(p, member.dofs(), z);
                        }
                    }
                }
            }
        };
        gradients.solve(p, e, limits, x, precondition).iterations
    }
}
