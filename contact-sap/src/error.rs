//! Errors of solvers and bodies.

use crate::body::Primitive;
use crate::participant::ParticipantIdx;

/// An invalid problem, or a failed solve.
///
/// ```
/// use pliant_contact_sap::*;
///
/// let (cart, ghost) = (DenseDynamics::diagonal(&[2.0], vec![1.0]), DenseDynamics::diagonal(&[-1.0], vec![0.0]));
/// let dynamics = [&cart as &dyn Dynamics, &ghost];
/// let problem = ContactProblem { dynamics: &dynamics, constraints: &ConstraintSet::default() };
/// let error = Newton::default().solve(&problem, &[0.0; 2], &mut Solution::default()).unwrap_err();
/// assert_eq!(error.participant(), Some(ParticipantIdx(1)));
/// assert!(error.to_string().contains("A of participant 1 is not positive definite"));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A number in the problem is NaN or infinite.
    #[error(
        "{location} holds {value}, which is not a finite number; look for diverging controls, an explicit stiff spring or a bad initial state"
    )]
    NotFinite {
        /// Which quantity of which participant or constraint.
        location: String,
        /// The participant, if it is one's.
        participant: Option<ParticipantIdx>,
        /// The value.
        value: f64,
    },
    /// A participant's A is not symmetric positive definite.
    #[error(
        "A of participant {participant} is not positive definite (pivot of row {row} is {pivot:e}); every moving link needs mass and every vertex a density"
    )]
    NotPositiveDefinite {
        /// The participant.
        participant: ParticipantIdx,
        /// Row within the participant.
        row: usize,
        /// The pivot found.
        pivot: f64,
    },
    /// A participant's A is not symmetric.
    #[error(
        "A of participant {participant} is not symmetric: row {row}, column {column} holds {lower:e}, its mirror {upper:e}"
    )]
    NotSymmetric {
        /// The participant.
        participant: ParticipantIdx,
        /// Row within the participant.
        row: usize,
        /// Column, smaller than the row.
        column: usize,
        /// Entry below the diagonal.
        lower: f64,
        /// Entry above the diagonal.
        upper: f64,
    },
    /// Sizes of a participant's dynamics do not match.
    #[error(
        "participant {participant}: {found} {what}, expected {expected}; every row of A lies in exactly one diagonal block (`conformance::check_dynamics` checks an implementation)"
    )]
    DynamicsSize {
        /// The participant.
        participant: ParticipantIdx,
        /// The quantity counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// The count required.
        expected: usize,
    },
    /// A constraint refers to velocities that its participant does not have.
    #[error(
        "basis {basis} refers to velocity {dof} of participant {participant}, which has {n_dofs} of them in this step"
    )]
    NoSuchVelocity {
        /// The basis, in the order they were added.
        basis: usize,
        /// The participant.
        participant: ParticipantIdx,
        /// The velocity index.
        dof: usize,
        /// How many there are; zero if the problem has no such participant.
        n_dofs: usize,
    },
    /// A Hessian is not positive definite although the diagonal blocks of every A are.
    #[error(
        "the Hessian is not positive definite at row {row} of participant {participant}: either its A is indefinite, so check the body's stiffness matrix, or stiffness and inertia differ by more than round-off allows, so lower the contact stiffness or raise the near-rigid parameter"
    )]
    HessianNotPositiveDefinite {
        /// The participant.
        participant: ParticipantIdx,
        /// Row within the participant.
        row: usize,
    },
    /// A parameter of a constraint is out of its range.
    #[error("constraint {constraint}: {parameter} = {value} {allowed}")]
    Parameter {
        /// Which constraint, in the order they were added.
        constraint: String,
        /// Name of the parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// A vector has the wrong length.
    #[error("{what} has length {found}, the problem has {expected} velocities")]
    Length {
        /// Which vector.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The right length.
        expected: usize,
    },
    /// Its [`Cancellation`](crate::Cancellation) was requested.
    #[error("the solve was cancelled")]
    Cancelled,
    /// The solver requires an assembled A and the participant has none.
    #[error(
        "participant {participant} has no assembled matrix, which {solver} requires; choose the solver `newton-cg`"
    )]
    NotAssembled {
        /// The participant.
        participant: ParticipantIdx,
        /// The solver's name.
        solver: &'static str,
    },
}

impl SolveError {
    /// The participant in question, if there is one.
    #[must_use]
    pub fn participant(&self) -> Option<ParticipantIdx> {
        match self {
            Self::NotFinite { participant, .. } => *participant,
            Self::NotPositiveDefinite { participant, .. }
            | Self::NotSymmetric { participant, .. }
            | Self::DynamicsSize { participant, .. }
            | Self::NoSuchVelocity { participant, .. }
            | Self::HessianNotPositiveDefinite { participant, .. }
            | Self::NotAssembled { participant, .. } => Some(*participant),
            Self::Parameter { .. } | Self::Length { .. } | Self::Cancelled => None,
        }
    }
}

/// A body that cannot take this step.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{BodyError, Control, DeformableModel, StepInput};
///
/// let net = MassSpringNet::default();
/// let mut state = net.default_state();
/// state.q.pop();
/// let control = Control::default();
/// let error = net.new_step().begin(&state, &StepInput::new(0.01, Vector3::zeros(), &control)).unwrap_err();
/// assert!(matches!(error, BodyError::StateLength { what: "q", found: 299, expected: 300 }));
/// assert_eq!(error.to_string(), "q has 299 entries, the model requires 300");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The state does not match the model.
    #[error("{what} has {found} entries, the model requires {expected}")]
    StateLength {
        /// Which vector of the state.
        what: &'static str,
        /// Entries found.
        found: usize,
        /// Entries required.
        expected: usize,
    },
    /// A number in the state is NaN or infinite.
    #[error("{location} is {value}; the step was not taken")]
    NotFinite {
        /// Which quantity.
        location: String,
        /// The value.
        value: f64,
    },
    /// The body lacks a capability that this stepper requires.
    #[error("this body has no {what}; choose a stepper that does not require it")]
    Unsupported {
        /// The capability.
        what: &'static str,
    },
    /// An explicit step that is longer than this state allows.
    #[error(
        "an explicit step of {length_s:.2e} s is unstable: {cause}; take steps of {stable_s:.2e} s at most, or integrate by backward Euler"
    )]
    Unstable {
        /// The step, s.
        length_s: f64,
        /// The longest stable step, s.
        stable_s: f64,
        /// What sets it.
        cause: String,
    },
    /// A material point that the body does not have.
    #[error("{point:?} is not a point of this body, which has {available}")]
    NoSuchPoint {
        /// The point.
        point: Primitive,
        /// The points that exist.
        available: String,
    },
    /// Its [`Cancellation`](crate::Cancellation) was requested.
    #[error("the step was cancelled")]
    Cancelled,
    /// An error particular to one model, as text.
    #[error("{0}")]
    Model(String),
}
