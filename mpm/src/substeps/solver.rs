//! What solvers of the contact problem of a substep are.

use super::contact_problem::ContactProblem;
use super::laws::SubstepLaws;
use super::links::RigidLinks;

/// Solves contact problems of substeps, with friction bounds that are those of the solution if the laws ask for it. A solver keeps its
/// workspace from problem to problem, and nothing else: its result is a function of the problem alone.
pub(super) trait SubstepContactSolver: Send {
    /// Moves `problem` and `links` from the impulses that they have to the solution. v = v* + M⁻¹Jᵀγ and V = V* − Λ J_rᵀγ hold afterwards to
    /// round-off, converged or not.
    fn solve(
        &mut self,
        problem: &mut ContactProblem,
        links: &mut RigidLinks,
        laws: &dyn SubstepLaws,
        limits: Limits,
    ) -> Solved;
}

/// Solves contact problems whose laws are fixed, which are convex.
pub(super) trait ConvexSolver: Send {
    /// Moves `problem` and `links` from the impulses that they have to the minimiser, with the same two relations afterwards.
    fn minimise(
        &mut self,
        problem: &mut ContactProblem,
        links: &mut RigidLinks,
        limits: Limits,
    ) -> Solved;
}

/// When a solver stops.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Of the impulses, relative.
    pub(super) tolerance: f64,
    pub(super) iterations_max: u32,
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Solved {
    /// Sweeps, or products with the Hessian.
    pub(super) iterations: u32,
    pub(super) is_converged: bool,
}
