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
///
/// ```
/// use pliant_contact_sap::*;
///
/// // Without constraints the minimiser is A⁻¹b, participant by participant.
/// let (cart, wheel) = (DenseDynamics::diagonal(&[4.0], vec![2.0]), DenseDynamics::diagonal(&[0.5], vec![3.0]));
/// let problem = ContactProblem { dynamics: &[&cart as &dyn Dynamics, &wheel], constraints: &ConstraintSet::default() };
/// assert_eq!(problem.n_dofs(), 2);
/// let mut solution = Solution::default();
/// let report = Newton::default().solve(&problem, &[0.0; 2], &mut solution)?;
/// assert!(report.is_trusted());
/// assert!((solution.velocity[0] - 0.5).abs() < 1e-9 && (solution.velocity[1] - 6.0).abs() < 1e-9);
/// # Ok::<(), SolveError>(())
/// ```
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
