//! What a solver of the contact problem of a substep is.

use super::contact_problem::ContactProblem;
use super::links::RigidLinks;

/// Solves contact problems of substeps. A solver keeps its workspace from problem to problem, and nothing else: its result is a function
/// of the problem alone.
pub(super) trait SubstepContactSolver: Send {
    /// Moves `problem` and `links` from the impulses that they have to the minimiser, to the relative error `tolerance` of the impulses, in at most
    /// `iterations_max` iterations. v = v* + M⁻¹Jᵀγ and V = V* − Λ J_rᵀγ hold afterwards to round-off, converged or not.
    fn solve(
        &mut self,
        problem: &mut ContactProblem,
        links: &mut RigidLinks,
        tolerance: f64,
        iterations_max: u32,
    ) -> Solved;
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Solved {
    /// Sweeps, or products with the Hessian.
    pub(super) iterations: u32,
    pub(super) is_converged: bool,
}
