//! Newton's method with conjugate gradients, without assembly of H.

use crate::error::SolveError;
use crate::friction_tangent::FrictionTangent;
use crate::island::IslandProblem;
use crate::islands::{IslandAnswer, IslandSolver, Islands, solver_by_islands};
use crate::line_search::LineSearch;
use crate::newton::{Iterate, LinearSolver, NewtonMethod};
use crate::preconditioner::Preconditioner;
use crate::solver::StopCriteria;

/// Settings of [`NewtonCg`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NewtonCgSettings {
    /// When to stop.
    pub stop: StopCriteria,
    /// The line search along Newton's direction.
    pub line_search: LineSearch,
    /// The tangent of friction.
    pub friction: FrictionTangent,
    /// The preconditioner of conjugate gradients.
    pub preconditioner: Preconditioner,
}

/// Inexact Newton method: H Δv = −∇ℓ by conjugate gradients, as accurately as the outer iteration requires.
///
/// Works with bodies that only multiply by A. H is never formed: a product takes one with A and a small matrix for each
/// basis. Prefer [`Newton`](crate::Newton) for rigid bodies and up to a few thousand vertices.
///
/// The forcing term is η = min(η_max, 0.9 (‖g_k‖/‖g_{k−1}‖)²) with η_max = 1e-2, and 1e-6 from the twentieth iteration on.
///
/// Source: Eisenstat and Walker (1996), choice 2.
pub struct NewtonCg {
    islands: Islands<NewtonCgSettings>,
}

solver_by_islands!(NewtonCg, NewtonCgSettings);

impl From<NewtonCgSettings> for NewtonMethod {
    fn from(settings: NewtonCgSettings) -> Self {
        Self {
            stop: settings.stop,
            line_search: settings.line_search,
            friction: settings.friction,
            linear_solver: LinearSolver::ConjugateGradients(settings.preconditioner),
        }
    }
}

impl IslandSolver for NewtonCgSettings {
    type Workspace = Iterate;

    fn solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut Iterate,
        answer: &mut IslandAnswer,
    ) -> Result<(), SolveError> {
        NewtonMethod::from(*self).solve_by_iteration(p, workspace, None, answer)
    }

    fn hessian_solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut Iterate,
        velocity: &[f64],
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        NewtonMethod::from(*self).hessian_solve(p, workspace, velocity, x)
    }
}
