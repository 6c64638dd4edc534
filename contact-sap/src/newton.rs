//! Newton's method.

mod continuation;
mod hessian_products;
mod iteration;
mod mixed;
mod schur;
mod subdomain;
mod systems;

use std::time::Instant;

use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::friction_tangent::FrictionTangent;
use crate::island::{IslandProblem, Start};
use crate::islands::{IslandAnswer, IslandReport, IslandSolver, Islands, solver_by_islands};
use crate::line_search::LineSearch;
use crate::linear_algebra::LinearAlgebra;
use crate::newton::iteration::{Nested, REDUCED_MEMBERS_MIN, Reduction};
use crate::newton::schur::Condensed;
use crate::newton::subdomain::Subdomain;
use crate::progress::{Progress, Rate};
use crate::solver::{SolveMode, StopCriteria};

pub(crate) use iteration::{Iterate, NewtonMethod};
pub(crate) use schur::ReducedBody;
pub(crate) use systems::{LinearSolver, NEWTON, exact_hessian_solve};

/// Settings of [`Newton`].
///
/// ```
/// use pliant_contact_sap::*;
///
/// # let mass = DenseDynamics::diagonal(&[2.0], vec![-2.0]);
/// # let dynamics = [&mass as &dyn Dynamics];
/// # let mut factors = BlockFactors::default();
/// # factors.factor(&dynamics)?;
/// # let mut constraints = ConstraintSet::default();
/// # let label = ConstraintLabel { kind: RowKind::LowerLimit, index: 0 };
/// # let limit = RowLaw::Limit(Limit::new(0.5, 0.0));
/// # constraints.internal(ParticipantIdx(0), &factors).velocity(0, limit, label);
/// # let problem = ContactProblem { dynamics: &dynamics, constraints: &constraints };
/// let direct = NewtonSettings { linear_algebra: LinearAlgebra::Direct, ..NewtonSettings::default() };
/// let report = Newton::new(direct).solve(&problem, &[-1.0], &mut Solution::default())?;
/// // One velocity: every system was solved by a dense factor.
/// assert!(report.systems.dense >= 1 && report.systems.sparse + report.systems.mixed == 0);
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NewtonSettings {
    /// When to stop.
    pub stop: StopCriteria,
    /// The line search along Newton's direction.
    pub line_search: LineSearch,
    /// The tangent of friction in the first iterations; every twenty iterations it alternates with the other one.
    pub friction: FrictionTangent,
    /// How linear systems are solved.
    pub linear_algebra: LinearAlgebra,
}

/// Newton's method: H Δv = −∇ℓ, solved by a factor or by conjugate gradients depending on the island, and a line search.
///
/// Globally convergent to the unique minimiser, quadratically at the end. If few participants of a large island have nearly
/// all of the residual, they are solved first with the others held. The tolerance is tested before the first factorisation,
/// so a guess that solves the problem costs none. Solves of more than sixty iterations restart from softer contacts. Every A
/// must be assembled.
///
/// Source: Castro, Permenter, Han (2022), section VI.
///
/// ```
/// use pliant_contact_sap::*;
///
/// // A cart of 1 kg at 1 m/s meets a wagon of 1000 kg at rest, g = 0: the distance must not fall, u = v_1 − v_0 ≥ 0.
/// let masses = [(1.0, 1.0), (1e3, 0.0)].map(|(m, v)| DenseDynamics::diagonal(&[m], vec![m * v]));
/// let mut velocity = Rows::default();
/// velocity.reset(1);
/// velocity.identity(0, 0, 1);
/// let mut constraints = ConstraintSet::default();
/// let mut basis = constraints.basis(1);
/// basis.rows(ParticipantIdx(1), &velocity, 0, 1.0);
/// basis.rows(ParticipantIdx(0), &velocity, 0, -1.0);
/// let label = ConstraintLabel { kind: RowKind::Other, index: 0 };
/// basis.coordinate(0, RowLaw::Limit(Limit::near_rigid(0.01, 0.0, 1.001)), label);
///
/// let problem = ContactProblem { dynamics: &[&masses[0] as &dyn Dynamics, &masses[1]], constraints: &constraints };
/// let mut solution = Solution::default();
/// let report = Newton::default().solve(&problem, &[1.0, 0.0], &mut solution)?;
/// let v = &solution.velocity;
/// assert!(report.is_trusted() && (v[0] + 1e3 * v[1] - 1.0).abs() < 1e-9); // momentum
/// assert!((v[0] - v[1]).abs() < 1e-3); // one velocity, to the near-rigid compliance
/// # Ok::<(), SolveError>(())
/// ```
pub struct Newton {
    islands: Islands<NewtonSettings>,
}

solver_by_islands!(Newton, NewtonSettings);

#[derive(Default)]
pub(crate) struct NewtonWorkspace {
    whole: Iterate,
    part: Iterate,
    subdomain: Subdomain,
    condensed: Condensed,
    /// Of the condensed island.
    reduced: Iterate,
    reduced_subdomain: Subdomain,
}

/// Islands with fewer participants have no subdomains.
const MEMBERS_MIN: usize = 200;

impl From<NewtonSettings> for NewtonMethod {
    fn from(settings: NewtonSettings) -> Self {
        Self {
            stop: settings.stop,
            line_search: settings.line_search,
            friction: settings.friction,
            linear_solver: LinearSolver::Factored(settings.linear_algebra),
        }
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
        let mut method = NewtonMethod::from(*self);
        if p.start.mode() == SolveMode::Inexact {
            method.stop = self.stop.inexact();
        }
        method.solve_with_continuation(p, workspace, answer)
    }

    fn hessian_solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut NewtonWorkspace,
        velocity: &[f64],
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        NewtonMethod::from(*self).hessian_solve(p, &mut workspace.whole, velocity, x)
    }
}

impl NewtonMethod {
    /// Solves the problem without continuation, from `answer.velocity`.
    fn solve_directly(
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
            subdomain,
            condensed,
            reduced,
            reduced_subdomain,
        } = workspace;
        subdomain.begin(p, MEMBERS_MIN);
        let nested = Nested {
            subdomain,
            part,
            reduction: Some(Reduction {
                condensed,
                iterate: reduced,
                subdomain: reduced_subdomain,
                rounds: 0,
            }),
        };
        self.solve_by_iteration(p, whole, Some(nested), answer)?;
        answer.report.add_earlier(&before);
        Ok(())
    }

    /// Solves only the condensed problem of the island; false if there is nothing to eliminate. Residual and tolerance are
    /// those of the kept velocities: the eliminated ones have no residual.
    fn solve_for_impulses(
        &self,
        whole: &IslandProblem<'_>,
        workspace: &mut NewtonWorkspace,
        answer: &mut IslandAnswer,
    ) -> Result<bool, SolveError> {
        let NewtonWorkspace {
            whole: Iterate { evaluation, .. },
            part,
            condensed,
            reduced,
            reduced_subdomain,
            ..
        } = workspace;
        let clock = Instant::now();
        self.linear_solver.check(whole)?;
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
        reduced_subdomain.begin(&p, REDUCED_MEMBERS_MIN);
        let nested = Nested {
            subdomain: reduced_subdomain,
            part,
            reduction: None,
        };
        self.solve_by_iteration(&p, reduced, Some(nested), &mut condensed.answer)?;
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

    /// Whether the velocities of `answer` are the solution; `answer` is then complete.
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
}
