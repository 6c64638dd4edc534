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
///
/// ```
/// use pliant_contact_sap::*;
///
/// # let masses = [(1.0, 1.0), (3.0, 0.0)].map(|(m, v)| DenseDynamics::diagonal(&[m], vec![m * v]));
/// # let mut velocity = Rows::default();
/// # velocity.reset(1);
/// # velocity.identity(0, 0, 1);
/// # let mut constraints = ConstraintSet::default();
/// # let mut basis = constraints.basis(1);
/// # basis.rows(ParticipantIdx(1), &velocity, 0, 1.0);
/// # basis.rows(ParticipantIdx(0), &velocity, 0, -1.0);
/// # let label = ConstraintLabel { kind: RowKind::Other, index: 0 };
/// # basis.coordinate(0, RowLaw::Limit(Limit::new(0.1, 0.0)), label);
/// // A mass of 1 kg at 1 m/s runs into one of 3 kg, on a buffer of R = 0.1 1/kg.
/// let problem = ContactProblem { dynamics: &[&masses[0] as &dyn Dynamics, &masses[1]], constraints: &constraints };
/// let settings = QuasiNewtonSettings { line_search: LineSearch::Armijo, ..QuasiNewtonSettings::default() };
/// let mut solution = Solution::default();
/// let report = QuasiNewton::new(settings).solve(&problem, &[1.0, 0.0], &mut solution)?;
/// // γ = (v_0 − v_1)/R and v_0 − v_1 = 1 − γ (1/1 + 1/3).
/// assert!(report.is_trusted() && (solution.row_impulse[0] - 1.0 / (0.1 + 4.0 / 3.0)).abs() < 1e-5);
/// # Ok::<(), SolveError>(())
/// ```
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
///
/// ```
/// use pliant_contact_sap::*;
///
/// # // Ten carts of 1 kg in a row, the first pushed, with stiff couplings.
/// # let carts: Vec<DenseDynamics> =
/// #     (0..10).map(|i| DenseDynamics::diagonal(&[1.0], vec![f64::from(u8::from(i == 0))])).collect();
/// # let dynamics: Vec<&dyn Dynamics> = carts.iter().map(|cart| cart as &dyn Dynamics).collect();
/// # let mut velocity = Rows::default();
/// # velocity.reset(1);
/// # velocity.identity(0, 0, 1);
/// # let mut constraints = ConstraintSet::default();
/// # for i in 0..9 {
/// #     let mut basis = constraints.basis(1);
/// #     basis.rows(ParticipantIdx(i + 1), &velocity, 0, 1.0);
/// #     basis.rows(ParticipantIdx(i), &velocity, 0, -1.0);
/// #     let label = ConstraintLabel { kind: RowKind::Bilateral, index: i as u32 };
/// #     basis.coordinate(0, RowLaw::Bilateral(Bilateral::spring(0.01, 0.0, 1e5, 0.0, 2.0)), label);
/// # }
/// // A train of ten carts with springs between them, of which the first has been pushed.
/// let problem = ContactProblem { dynamics: &dynamics, constraints: &constraints };
/// let iterations = |acceleration| {
///     let settings = QuasiNewtonSettings { acceleration, ..QuasiNewtonSettings::default() };
///     let report = QuasiNewton::new(settings).solve(&problem, &[0.0; 10], &mut Solution::default())?;
///     Ok::<_, SolveError>(report.iterations)
/// };
/// assert!(2 * iterations(Acceleration::Conjugate)? < iterations(Acceleration::None)?);
/// # Ok::<(), SolveError>(())
/// ```
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
