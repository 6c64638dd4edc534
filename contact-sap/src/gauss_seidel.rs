//! Projected Gauss-Seidel: local solves of one constraint after the other for its impulse.

mod dual;

use std::time::Instant;

use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::gauss_seidel::dual::Dual;
use crate::hessian::Hessian;
use crate::island::IslandProblem;
use crate::islands::{IslandAnswer, IslandSolver, Islands, solver_by_islands};
use crate::line_search::LineSearch;
use crate::newton::exact_hessian_solve;
use crate::progress::{Progress, Rate};
use crate::solver::StopCriteria;

pub(crate) use dual::GAUSS_SEIDEL;

/// Settings of [`GaussSeidel`].
///
/// ```
/// use pliant_contact_sap::*;
///
/// # let carts: Vec<DenseDynamics> =
/// #     (0..5).map(|i| DenseDynamics::diagonal(&[1.0], vec![f64::from(u8::from(i == 0))])).collect();
/// # let dynamics: Vec<&dyn Dynamics> = carts.iter().map(|cart| cart as &dyn Dynamics).collect();
/// # let mut velocity = Rows::default();
/// # velocity.reset(1);
/// # velocity.identity(0, 0, 1);
/// # let mut constraints = ConstraintSet::default();
/// # for i in 0..4 {
/// #     let mut basis = constraints.basis(1);
/// #     basis.rows(ParticipantIdx(i + 1), &velocity, 0, 1.0);
/// #     basis.rows(ParticipantIdx(i), &velocity, 0, -1.0);
/// #     let label = ConstraintLabel { kind: RowKind::Bilateral, index: i as u32 };
/// #     basis.coordinate(0, RowLaw::Bilateral(Bilateral::spring(0.01, 0.0, 1e4, 0.0, 2.0)), label);
/// # }
/// // A train of five carts with springs between them, of which the first has been pushed: a sweep is not enough.
/// let problem = ContactProblem { dynamics: &dynamics, constraints: &constraints };
/// let one_sweep = StopCriteria { iterations_max: 1, ..StopCriteria::default() };
/// let mut solver = GaussSeidel::new(GaussSeidelSettings { stop: one_sweep });
/// let report = solver.solve(&problem, &[0.0; 5], &mut Solution::default())?;
/// assert_eq!(report.stop, StopReason::IterationLimit);
/// let report = GaussSeidel::default().solve(&problem, &[0.0; 5], &mut Solution::default())?;
/// assert!(report.is_trusted() && report.iterations > 1);
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GaussSeidelSettings {
    /// When to stop; an iteration is one sweep over all constraints.
    pub stop: StopCriteria,
}

/// Projected Gauss-Seidel on the impulses of the same convex problem: the method of most real-time engines, as a baseline.
///
/// A sweep solves v_c = v̂ + W γ(v_c) for the impulse of each constraint with all others held, and applies its change to the
/// bodies: coordinate ascent on the dual problem. An exact line search towards A⁻¹(b + Jᵀγ) then moves the velocities, so
/// the cost never rises. Convergence is slow for long load paths and large mass ratios. Every A must be assembled.
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
/// let mut solution = Solution::default();
/// let report = GaussSeidel::default().solve(&problem, &[-1.0], &mut solution)?;
/// assert!(report.is_trusted() && (solution.velocity[0] + 0.5).abs() < 1e-6);
/// # Ok::<(), SolveError>(())
/// ```
pub struct GaussSeidel {
    islands: Islands<GaussSeidelSettings>,
}

solver_by_islands!(GaussSeidel, GaussSeidelSettings);

#[derive(Default)]
pub(crate) struct GaussSeidelWorkspace {
    evaluation: Evaluation,
    hessian: Hessian,
    dual: Dual,
}

impl IslandSolver for GaussSeidelSettings {
    type Workspace = GaussSeidelWorkspace;

    fn solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut GaussSeidelWorkspace,
        answer: &mut IslandAnswer,
    ) -> Result<(), SolveError> {
        let GaussSeidelWorkspace {
            evaluation: e,
            hessian,
            dual,
        } = workspace;
        let mut progress = Progress::begin(p, e, &self.stop, Rate::Linear, answer);
        while progress.residual(p, e)?.is_some() {
            let clock = Instant::now();
            if progress.at_start() {
                dual.begin(p, e, hessian)?;
                progress.report.factorisations += 1;
            }
            progress.report.stages.assembly += clock.elapsed();

            let clock = Instant::now();
            dual.sweep(p, e, hessian)?;
            progress.report.stages.linear_solve += clock.elapsed();

            let clock = Instant::now();
            for ((dv, target), v) in e.dv.iter_mut().zip(&dual.v).zip(&e.v) {
                *dv = target - v;
            }
            let quadratic = e.begin_direction(p);
            if e.slope_at_start() < 0.0 {
                progress.advance(p, e, quadratic, &LineSearch::default())?;
            } else {
                progress.stay();
            }
            progress.report.stages.line_search += clock.elapsed();
        }
        progress.finish(p, e);
        Ok(())
    }

    fn hessian_solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut GaussSeidelWorkspace,
        velocity: &[f64],
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        let GaussSeidelWorkspace {
            evaluation,
            hessian,
            ..
        } = workspace;
        exact_hessian_solve(p, evaluation, hessian, GAUSS_SEIDEL, velocity, x)
    }
}
