//! The contact problem of one step.

use crate::body::BodyStep;
use crate::constraint_set::ConstraintSet;
use crate::dynamics::Dynamics;
use crate::participant::{ParticipantIdx, Participants};

impl Participants for Vec<Box<dyn BodyStep>> {
    fn n_participants(&self) -> usize {
        self.len()
    }

    fn dynamics(&self, participant: ParticipantIdx) -> &dyn Dynamics {
        self[participant.0].dynamics()
    }
}

/// min_v ½vᵀAv − bᵀv + Σ ℓ_i(J_i v + b_i): what a [`ConvexContactSolver`](crate::ConvexContactSolver) solves.
///
/// The velocities of all participants are concatenated in the order of their indices.
///
/// Source: Han, Masterjohn, Castro (2023), eq. (9).
#[derive(Clone, Copy)]
pub struct ContactProblem<'a> {
    /// A and b of every participant.
    pub dynamics: &'a dyn Participants,
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
