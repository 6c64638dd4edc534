//! What can go wrong, and where.

use crate::body::Primitive;
use crate::problem::ParticipantIdx;

/// A problem that no solver should touch, or a solve that cannot be trusted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A number in the problem is NaN or infinite.
    #[error(
        "{place} holds {value}, which is not a finite number; look for diverging controls, an explicit stiff spring or a bad initial state"
    )]
    NotFinite {
        /// Which quantity of which participant or constraint.
        place: String,
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
    /// Parts of a participant's dynamics do not belong together.
    #[error(
        "participant {participant}: {found} {what}, {expected} are right; every row of A lies in exactly one diagonal block (`conformance::check_dynamics` judges an implementation)"
    )]
    DynamicsSize {
        /// The participant.
        participant: ParticipantIdx,
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A constraint speaks of velocities that its participant doesn't have.
    #[error(
        "basis {basis} refers to velocity {dof} of participant {participant}, which has {n_dofs} of them in this step"
    )]
    NoSuchVelocity {
        /// The basis, in the order they were added.
        basis: usize,
        /// The participant.
        participant: ParticipantIdx,
        /// The velocity asked for.
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
        /// What would be right.
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
    /// The solver needs A in full and the participant does not offer it.
    #[error(
        "participant {participant} offers no assembled matrix, which {solver} needs; choose the conjugate-gradient Newton solver"
    )]
    NotAssembled {
        /// The participant.
        participant: ParticipantIdx,
        /// The solver's name.
        solver: &'static str,
    },
}

/// A body that cannot take this step.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The state does not belong to the model.
    #[error("{what} has {found} entries, the model needs {expected}")]
    StateLength {
        /// Which vector of the state.
        what: &'static str,
        /// Entries found.
        found: usize,
        /// Entries needed.
        expected: usize,
    },
    /// A number in the state is NaN or infinite.
    #[error("{place} is {value}; the step was not taken")]
    NotFinite {
        /// Which quantity.
        place: String,
        /// The value.
        value: f64,
    },
    /// The body does not offer what this stepper asks for.
    #[error("this body offers no {what}; choose a stepper that does without")]
    Unsupported {
        /// What was asked.
        what: &'static str,
    },
    /// A material point that the body does not have.
    #[error("{point:?} is no place on this body: it has {places}")]
    NoSuchPoint {
        /// What was asked for.
        point: Primitive,
        /// What there is.
        places: String,
    },
    /// Anything particular to one model, in its own words.
    #[error("{0}")]
    Model(String),
}
