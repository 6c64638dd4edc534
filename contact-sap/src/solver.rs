//! The interface of a contact solver and its report.

use std::time::Duration;

use crate::cancellation::Cancellation;
use crate::error::SolveError;
use crate::linear_algebra::LinearSystems;
use crate::problem::ContactProblem;

/// Solves the contact problem: the unique v that minimises ½vᵀAv − bᵀv + Σ ℓ_i.
///
/// A solver may keep workspaces and symbolic factors between calls, but its solution must depend on its arguments alone:
/// bit for bit the same after any earlier solve and for any number of threads.
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
/// // 2 kg with the free velocity −1 m/s against a limit of R = 0.5 1/kg: 2v = −2 − v/R.
/// let problem = ContactProblem { dynamics: &dynamics, constraints: &constraints };
/// let (mut solver, mut solution) = (Newton::default(), Solution::default());
/// let report = solver.solve(&problem, &[-1.0], &mut solution)?;
/// assert!(report.is_trusted() && (solution.velocity[0] + 0.5).abs() < 1e-6);
/// // ∂v/∂b = H⁻¹ = 1/(A + 1/R).
/// let mut dv = [1.0];
/// solver.hessian_solve(&problem, &solution, &mut dv)?;
/// assert!((dv[0] - 0.25).abs() < 1e-12);
/// # Ok::<(), SolveError>(())
/// ```
pub trait ConvexContactSolver: Send {
    /// Solves `problem` from the velocities `guess`. A solver may ignore `mode` and always solve in full. `out` is overwritten
    /// and its memory reused.
    ///
    /// # Errors
    /// The problem is not finite, not convex, or lacks what this solver needs. Missing the tolerance is no error: the report
    /// then holds [`StopReason::IterationLimit`].
    fn solve_for(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        mode: SolveMode,
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError>;

    /// [`solve_for`](Self::solve_for) in full.
    ///
    /// # Errors
    /// As [`ConvexContactSolver::solve_for`].
    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        self.solve_for(problem, guess, SolveMode::Full, out)
    }

    /// Solves again after constraints were changed or added: every A and b must be that of the last
    /// [`solve_for`](Self::solve_for).
    ///
    /// The solution is that of [`solve_for`](Self::solve_for), but the dynamics are neither checked nor factored again. If
    /// `mode` requests only impulses, velocities of non-participating degrees of freedom may be left at the guess:
    /// [`SolveReport::unsolved_velocities`] counts them, and the reported cost does not include their change.
    ///
    /// # Errors
    /// As [`ConvexContactSolver::solve_for`].
    fn solve_again(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        mode: SolveMode,
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        self.solve_for(problem, guess, mode, out)
    }

    /// x ← H⁻¹x with H the Hessian at `at`. The derivative of the step with respect to a parameter θ is
    /// ∂v/∂θ = −H⁻¹ ∂(∇ℓ)/∂θ.
    ///
    /// # Errors
    /// As [`ConvexContactSolver::solve_for`].
    fn hessian_solve(
        &mut self,
        problem: &ContactProblem<'_>,
        at: &Solution,
        x: &mut [f64],
    ) -> Result<(), SolveError>;

    /// Solves end with [`SolveError::Cancelled`] once `cancellation` is requested. A solver without an implementation solves to its end.
    fn cancel_with(&mut self, cancellation: &Cancellation) {
        let _ = cancellation;
    }
}

/// How complete a solution has to be.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::*;
///
/// // A net in free fall, of which one node meets a limit.
/// # let (net, control) = (MassSpringNet::default(), Control::default());
/// # let (mut step, mut v0) = (net.new_step(), Vec::new());
/// # step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::new(0.0, 0.0, -9.81), &control))?;
/// # step.linearise_start(&mut v0)?;
/// # let mut factors = BlockFactors::default();
/// # factors.factor(&[step.dynamics()])?;
/// # let mut constraints = ConstraintSet::default();
/// # let label = ConstraintLabel { kind: RowKind::LowerLimit, index: 2 };
/// # let mut own = constraints.internal(ParticipantIdx(0), &factors);
/// # let law = RowLaw::Limit(Limit::near_rigid(0.01, 0.0, own.inverse_inertia(2)));
/// # own.velocity(2, law, label);
/// let problem = ContactProblem { dynamics: &[step.dynamics()], constraints: &constraints };
/// let settings = NewtonSettings { linear_algebra: LinearAlgebra::Schur, ..NewtonSettings::default() };
/// let (mut solver, mut solution) = (Newton::new(settings), Solution::default());
/// let full = solver.solve_for(&problem, &v0, SolveMode::Full, &mut solution)?;
/// let impulse = solution.row_impulse[0];
/// let partial = solver.solve_again(&problem, &v0, SolveMode::ImpulsesOnly, &mut solution)?;
/// assert_eq!((full.unsolved_velocities, partial.unsolved_velocities), (0, 297)); // all but one node
/// assert!((solution.row_impulse[0] - impulse).abs() < 1e-6 * impulse);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolveMode {
    /// All velocities and impulses, to the tolerance.
    #[default]
    Full,
    /// Impulses and the velocities of participating degrees of freedom, to the tolerance.
    ImpulsesOnly,
    /// As [`SolveMode::ImpulsesOnly`], to the looser tolerance of [`StopCriteria::inexact`].
    Inexact,
}

/// Velocities and impulses.
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
/// # let problem = ContactProblem { dynamics: &dynamics, constraints: &constraints };
/// # let mut solution = Solution::default();
/// # let report = Newton::default().solve(&problem, &[-1.0], &mut solution)?;
/// # assert!(report.is_trusted());
/// // 2 kg with the free velocity −1 m/s, which a limit changes: A(v − v*) = γ.
/// let (v, gamma) = (solution.velocity[0], solution.row_impulse[0]);
/// assert!((2.0 * (v + 1.0) - gamma).abs() < 1e-6);
/// assert!(solution.contact_impulse.is_empty());
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// v of all participants, one after the other.
    pub velocity: Vec<f64>,
    /// γ of each contact, world axes, three values each, N·s.
    pub contact_impulse: Vec<f64>,
    /// γ of each scalar row, N·s or N·m·s.
    pub row_impulse: Vec<f64>,
    /// ‖D∇ℓ‖ of each iteration of the island with the most iterations, √J.
    pub residual_history: Vec<f64>,
}

/// When a solve may stop: ‖D∇ℓ‖ ≤ ε_a + ε_r max(‖D A v‖, ‖D Jᵀγ‖), D = diag(A)^(−1/2).
///
/// Every component of D∇ℓ has the unit √J, so the test does not depend on the scale of the bodies.
///
/// Source: Castro, Permenter, Han (2022), section VI-B.
///
/// ```
/// use pliant_contact_sap::StopCriteria;
///
/// let stop = StopCriteria { relative_tolerance: 1e-4, ..StopCriteria::default() };
/// assert_eq!(stop.inexact().relative_tolerance, 1e-2);
/// // Criteria that are looser than that stay as they are.
/// let loose = StopCriteria { relative_tolerance: 0.1, ..stop };
/// assert_eq!(loose.inexact(), loose);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopCriteria {
    /// ε_a, √J. Default 1e-14: the energy of such a residual is below the round-off of any sum of energies.
    pub absolute_tolerance: f64,
    /// ε_r. Default 1e-6: two digits below the accuracy of first-order contact. Below 1e-7, round-off of stiff bodies limits
    /// the residual.
    pub relative_tolerance: f64,
    /// Iterations after which the solver stops with [`StopReason::IterationLimit`]. Default 300: the worst of 13,200 random
    /// problems takes 212 iterations of Newton's method.
    pub iterations_max: usize,
}

impl StopCriteria {
    /// The criteria of [`SolveMode::Inexact`]: ε_r of at least 1e-2.
    ///
    /// With 1e-2 for intermediate solves, steps of a soft bear in a gripper take 9.6 Newton iterations instead of 13.0.
    #[must_use]
    pub fn inexact(&self) -> Self {
        const INEXACT: f64 = 1e-2;
        Self {
            relative_tolerance: self.relative_tolerance.max(INEXACT),
            ..*self
        }
    }
}

impl Default for StopCriteria {
    fn default() -> Self {
        Self {
            absolute_tolerance: 1e-14,
            relative_tolerance: 1e-6,
            iterations_max: 300,
        }
    }
}

/// Why a solve ended; ordered from best to worst.
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
/// # constraints.internal(ParticipantIdx(0), &factors).velocity(0, RowLaw::Limit(Limit::new(0.5, 0.0)), label);
/// # let problem = ContactProblem { dynamics: &dynamics, constraints: &constraints };
/// // A solver that may not iterate returns its guess, which is wrong here.
/// let stop = StopCriteria { iterations_max: 0, ..StopCriteria::default() };
/// let (mut solver, mut solution) = (SolverKind::Newton.build(stop), Solution::default());
/// let report = solver.solve(&problem, &[-1.0], &mut solution)?;
/// assert_eq!((report.stop, solution.velocity[0]), (StopReason::IterationLimit, -1.0));
/// assert!(!report.is_trusted());
/// // The worst of several reasons is the largest.
/// assert_eq!(StopReason::Converged.max(report.stop), StopReason::IterationLimit);
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopReason {
    /// The tolerance is met.
    #[default]
    Converged,
    /// The cost no longer changes by more than its round-off: the solution is as accurate as f64 allows.
    CostStalledAtRoundOff,
    /// [`StopCriteria::iterations_max`] was reached; the step should not be trusted.
    IterationLimit,
}

/// Counts, times and residual of a solve.
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
/// # let problem = ContactProblem { dynamics: &dynamics, constraints: &constraints };
/// # let mut solution = Solution::default();
/// // 2 kg with the free velocity −1 m/s against a limit of R = 0.5 1/kg.
/// let report = Newton::default().solve(&problem, &[-1.0], &mut solution)?;
/// assert_eq!((report.stop, report.islands), (StopReason::Converged, 1));
/// // ½Av² − bv + ½Rγ² at v = −0.5 m/s, γ = 1 N·s.
/// assert!((report.cost - (0.25 - 1.0 + 0.25)).abs() < 1e-9);
/// # Ok::<(), SolveError>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    /// The worst reason over all islands.
    pub stop: StopReason,
    /// Connected components, which are solved separately.
    pub islands: usize,
    /// Iterations of the island with the most iterations.
    pub iterations: usize,
    /// Iterations over all islands.
    pub iterations_total: usize,
    /// Factorisations over all islands.
    pub factorisations: usize,
    /// Number of linear systems by solution method.
    pub systems: LinearSystems,
    /// Iterations of inner linear solvers over all islands, or of parts of islands that Newton solved ahead of the whole.
    pub inner_iterations: usize,
    /// Evaluations of the cost or its slope along search directions, over all islands.
    pub line_search_evaluations: usize,
    /// ½vᵀAv − bᵀv + Σ ℓ_i at the end, J.
    pub cost: f64,
    /// Largest ‖D∇ℓ‖ over the islands at the end, √J.
    pub residual: f64,
    /// Velocities that were left at the guess because the [`SolveMode`] requests only impulses.
    pub unsolved_velocities: usize,
    /// Time by stage, summed over islands.
    pub stages: StageTimes,
}

/// Time by stage.
///
/// ```
/// use pliant_contact_sap::*;
///
/// # let mass = DenseDynamics::diagonal(&[2.0], vec![-2.0]);
/// # let dynamics = [&mass as &dyn Dynamics];
/// # let problem = ContactProblem { dynamics: &dynamics, constraints: &ConstraintSet::default() };
/// // Two solves, timed together.
/// let (mut solver, mut solution) = (Newton::default(), Solution::default());
/// let first = solver.solve(&problem, &[0.0], &mut solution)?;
/// let second = solver.solve(&problem, &[1.0], &mut solution)?;
/// let total = first.stages + second.stages;
/// assert_eq!(total.linear_solve, first.stages.linear_solve + second.stages.linear_solve);
/// assert!(total.set_up >= first.stages.set_up);
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// Checking the problem, finding islands, laying out memory.
    pub set_up: Duration,
    /// Costs, impulses, gradients.
    pub gradient: Duration,
    /// Forming the Hessian.
    pub assembly: Duration,
    /// Factorising and solving with it.
    pub linear_solve: Duration,
    /// Searching along directions.
    pub line_search: Duration,
}

impl std::ops::Add for StageTimes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            set_up: self.set_up + other.set_up,
            gradient: self.gradient + other.gradient,
            assembly: self.assembly + other.assembly,
            linear_solve: self.linear_solve + other.linear_solve,
            line_search: self.line_search + other.line_search,
        }
    }
}

impl<S: ConvexContactSolver + ?Sized> ConvexContactSolver for Box<S> {
    fn solve_for(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        mode: SolveMode,
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        (**self).solve_for(problem, guess, mode, out)
    }

    fn solve_again(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        mode: SolveMode,
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        (**self).solve_again(problem, guess, mode, out)
    }

    fn hessian_solve(
        &mut self,
        problem: &ContactProblem<'_>,
        at: &Solution,
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        (**self).hessian_solve(problem, at, x)
    }

    fn cancel_with(&mut self, cancellation: &Cancellation) {
        (**self).cancel_with(cancellation);
    }
}

impl SolveReport {
    /// Whether the tolerance was met, or the residual is limited by round-off.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        self.stop < StopReason::IterationLimit
    }
}
