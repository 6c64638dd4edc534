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
///
/// ```
/// use pliant_contact_sap::*;
///
/// # let masses: Vec<DenseDynamics> = (1..=20).map(|m| DenseDynamics::diagonal(&[f64::from(m)], vec![1.0])).collect();
/// # let dynamics: Vec<&dyn Dynamics> = masses.iter().map(|mass| mass as &dyn Dynamics).collect();
/// # let mut velocity = Rows::default();
/// # velocity.reset(1);
/// # velocity.identity(0, 0, 1);
/// # let mut constraints = ConstraintSet::default();
/// # let mut basis = constraints.basis(1);
/// # (0..20).for_each(|i| basis.rows(ParticipantIdx(i), &velocity, 0, 1.0));
/// # let label = ConstraintLabel { kind: RowKind::Other, index: 0 };
/// # basis.coordinate(0, RowLaw::Limit(Limit::new(1e-3, 0.0)), label);
/// // Twenty masses, the sum of whose velocities has a lower limit.
/// let problem = ContactProblem { dynamics: &dynamics, constraints: &constraints };
/// let products = |relative_tolerance| {
///     let stop = StopCriteria { relative_tolerance, ..StopCriteria::default() };
///     let mut solver = NewtonCg::new(NewtonCgSettings { stop, ..NewtonCgSettings::default() });
///     Ok::<_, SolveError>(solver.solve(&problem, &[-1.0; 20], &mut Solution::default())?.inner_iterations)
/// };
/// assert!(products(1e-2)? < products(1e-8)?); // a looser tolerance saves products with H
/// # Ok::<(), SolveError>(())
/// ```
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
/// let mut solver = NewtonCg::new(NewtonCgSettings { preconditioner: Preconditioner::Body, ..Default::default() });
/// let mut solution = Solution::default();
/// let report = solver.solve(&problem, &[-1.0], &mut solution)?;
/// assert!(report.is_trusted() && (solution.velocity[0] + 0.5).abs() < 1e-6);
/// assert!(report.inner_iterations >= 1); // of conjugate gradients
/// # Ok::<(), SolveError>(())
/// ```
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
