//! The contact problem of one step.

use std::fmt;

use crate::constraint_set::ConstraintSet;
use crate::dynamics::Dynamics;

/// Index of a participant of the problem: a body with velocities to solve for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParticipantIdx(pub usize);

impl fmt::Display for ParticipantIdx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// min_v ½vᵀAv − bᵀv + Σ ℓ_i(J_i v + b_i): the problem of a [`ConvexContactSolver`](crate::ConvexContactSolver).
///
/// The velocities of all participants are concatenated in the order of their indices.
///
/// Source: Han, Masterjohn, Castro (2023), eq. (9).
#[derive(Clone, Copy)]
pub struct ContactProblem<'a> {
    /// A and b of every participant.
    pub dynamics: &'a [&'a dyn Dynamics],
    /// All constraints.
    pub constraints: &'a ConstraintSet,
}

impl ContactProblem<'_> {
    /// Number of velocities of all participants together.
    #[must_use]
    pub fn n_dofs(&self) -> usize {
        self.dynamics.iter().map(|d| d.n_dofs()).sum()
    }
}
