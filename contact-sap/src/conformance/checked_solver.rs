//! A solver whose every answer is looked at.

use super::{Violation, promise, residual};
use crate::error::SolveError;
use crate::problem::ContactProblem;
use crate::solver::{
    ConvexContactSolver, Solution, SolveMode, SolveReport, StopCriteria, StopReason,
};

/// The solver's sums and those of the check differ by round-off, and islands have different scales.
const MARGIN: f64 = 3.0;

/// Checks the accuracy of `solution`: ‖D∇ℓ‖ at its velocities, computed by dense matrices, must be within three times the tolerance of
/// `stop`, or within 1e-6 of its terms if the cost stalled at round-off. Solutions at the limit of iterations are not checked.
///
/// # Errors
/// The gradient, the terms it balances, and why the solver stopped.
pub fn check_solution(
    problem: &ContactProblem<'_>,
    solution: &Solution,
    report: &SolveReport,
    stop: &StopCriteria,
) -> Result<(), Violation> {
    let (gradient, scale) = residual(problem, &solution.velocity);
    let allowed = match report.stop {
        StopReason::Converged => stop.absolute_tolerance + stop.relative_tolerance * scale,
        StopReason::CostStalledAtRoundOff => 1e-6 * scale,
        StopReason::IterationLimit => f64::INFINITY,
    };
    promise(gradient <= MARGIN * allowed, || {
        format!(
            "‖D∇ℓ‖ is {gradient:e}, the terms it balances are {scale:e}, and the solver says {:?}",
            report.stop
        )
    })
}

/// A solver whose answers are held against [`check_solution`], for steppers to step random worlds with. It panics at one that is not
/// what its report says.
///
/// ```
/// use pliant_contact_sap::conformance::{CheckedSolver, check_solver};
/// use pliant_contact_sap::{SolverKind, StopCriteria};
///
/// let stop = StopCriteria::default();
/// let mut solver = CheckedSolver::new(SolverKind::Newton.build(stop), stop);
/// check_solver(&mut solver)?; // every solve on the way is checked too
/// # Ok::<(), pliant_contact_sap::conformance::Violation>(())
/// ```
pub struct CheckedSolver {
    solver: Box<dyn ConvexContactSolver>,
    stop: StopCriteria,
}

impl CheckedSolver {
    /// Checks `solver`, which was built with `stop`.
    #[must_use]
    pub fn new(solver: Box<dyn ConvexContactSolver>, stop: StopCriteria) -> Self {
        Self { solver, stop }
    }

    fn check(
        &self,
        problem: &ContactProblem<'_>,
        mode: SolveMode,
        out: &Solution,
        report: &SolveReport,
    ) {
        if mode == SolveMode::Inexact || report.unsolved_velocities > 0 {
            return;
        }
        if let Err(violation) = check_solution(problem, out, report, &self.stop) {
            panic!("{violation}");
        }
    }
}

impl ConvexContactSolver for CheckedSolver {
    fn solve_for(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        mode: SolveMode,
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        let report = self.solver.solve_for(problem, guess, mode, out)?;
        self.check(problem, mode, out, &report);
        Ok(report)
    }

    fn solve_again(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        mode: SolveMode,
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        let report = self.solver.solve_again(problem, guess, mode, out)?;
        self.check(problem, mode, out, &report);
        Ok(report)
    }

    fn hessian_solve(
        &mut self,
        problem: &ContactProblem<'_>,
        at: &Solution,
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        self.solver.hessian_solve(problem, at, x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::scenes::Scene;
    use crate::newton::Newton;

    #[test]
    fn a_solution_is_held_against_what_its_report_says() {
        for scene in Scene::all() {
            scene.with_problem(|problem| {
                let stop = StopCriteria::default();
                let mut out = Solution::default();
                let mut checked = CheckedSolver::new(Box::new(Newton::default()), stop);
                let report = checked.solve(problem, &vec![0.0; problem.n_dofs()], &mut out);
                let report = report.unwrap();
                // Moved by more than any tolerance.
                out.velocity.iter_mut().for_each(|v| *v += 1e-2);
                let violation = check_solution(problem, &out, &report, &stop).unwrap_err();
                assert!(violation.to_string().contains("∇ℓ"), "{violation}");
                let gave_up = SolveReport {
                    stop: StopReason::IterationLimit,
                    ..report
                };
                check_solution(problem, &out, &gave_up, &stop).unwrap();
            });
        }
    }
}
