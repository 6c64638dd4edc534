//! Participants of a contact problem.

use std::fmt;

use crate::dynamics::Dynamics;

/// Index of a participant of the problem: a body with velocities to solve for.
///
/// ```
/// use pliant_contact_sap::*;
///
/// let (cart, weightless) = (DenseDynamics::diagonal(&[4.0], vec![0.0]), DenseDynamics::diagonal(&[0.0], vec![0.0]));
/// let mut factors = BlockFactors::default();
/// factors.factor(&[&cart as &dyn Dynamics])?;
/// assert!((factors.inverse_diagonal(ParticipantIdx(0), 0) - 0.25).abs() < 1e-15); // of the first participant
/// let error = factors.factor(&[&cart as &dyn Dynamics, &weightless]).unwrap_err();
/// assert_eq!(error.participant(), Some(ParticipantIdx(1)));
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParticipantIdx(pub usize);

impl fmt::Display for ParticipantIdx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The participants of a problem, by index: their A and b. Implemented by lists of [`Dynamics`] and of [`BodyStep`](crate::BodyStep)s, so that a
/// stepper lends its bodies to the solver as they are.
///
/// ```
/// use pliant_contact_sap::{DenseDynamics, Dynamics, ParticipantIdx, Participants};
///
/// let (arm, cube) = (DenseDynamics::diagonal(&[1.0; 7], vec![0.0; 7]), DenseDynamics::diagonal(&[1.0; 6], vec![0.0; 6]));
/// let participants: &dyn Participants = &[&arm as &dyn Dynamics, &cube];
/// assert_eq!(participants.dynamics(ParticipantIdx(1)).n_dofs(), 6);
/// assert_eq!(participants.iter().map(|d| d.n_dofs()).sum::<usize>(), 13);
/// ```
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
