//! The contact problem of one step.

use std::fmt;

use crate::body::BodyStep;
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

/// The participants of a problem, by index: their A and b. Implemented by lists of [`Dynamics`] and of [`BodyStep`]s, so that a
/// stepper lends its bodies to the solver as they are.
pub trait Participants: Sync {
    /// Number of participants.
    fn n_participants(&self) -> usize;
    /// A and b of one of them.
    ///
    /// # Panics
    /// If there are not so many.
    fn dynamics(&self, participant: ParticipantIdx) -> &dyn Dynamics;
}

impl dyn Participants + '_ {
    /// A and b of all participants, in the order of their index.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Dynamics> {
        (0..self.n_participants()).map(|p| self.dynamics(ParticipantIdx(p)))
    }
}

impl Participants for Vec<&dyn Dynamics> {
    fn n_participants(&self) -> usize {
        self.len()
    }

    fn dynamics(&self, participant: ParticipantIdx) -> &dyn Dynamics {
        self[participant.0]
    }
}

impl<const N: usize> Participants for [&dyn Dynamics; N] {
    fn n_participants(&self) -> usize {
        N
    }

    fn dynamics(&self, participant: ParticipantIdx) -> &dyn Dynamics {
        self[participant.0]
    }
}

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
