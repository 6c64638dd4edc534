//! Gradients of a function of the end velocities with respect to what acts during a step.

use nalgebra::Vector3;
use pliant_contact_sap::{BodyError, MaterialPoint, SolveError};

use crate::strong_implicit::SolvedAdjoint;
use crate::world::BodyIdx;

/// Gradients of a function L(v) of the velocities at the end of a step with respect to controls and forces; made by
/// [`Stepper::adjoint`](crate::Stepper::adjoint).
///
/// At the solution of the contact problem g(v, u) = A v − b(u) − Σ Jᵀγ(v, u) = 0. With its Hessian H = ∂g/∂v,
///
/// ```text
/// ∂v/∂u = −H⁻¹ ∂g/∂u,    ∂L/∂u = −(∂g/∂u)ᵀλ,    H λ = ∂L/∂v
/// ```
///
/// One linear system is solved, whatever the number of inputs. A force at a point Q has −(∂g/∂f)ᵀλ = δt J_Q λ: δt times the velocity that
/// Q has where λ are the velocities of its body.
///
/// Held fixed is what the convex problem takes as given: positions, distances and normals of contacts, friction bounds of the lagged
/// model, rotations of corotated bodies, the point of a linearisation, and the midpoint of a midpoint step. With the similar or the SAP
/// model the gradient of rigid bodies in backward Euler steps is therefore that of the step, except for contacts that begin within the
/// step. Where a constraint opens, closes or saturates there are two one-sided gradients; this is one of them.
pub struct Adjoint<'a> {
    solved: SolvedAdjoint<'a>,
}

/// The gradient with respect to the control of a body; empty vectors where nothing of the kind acts in the step, otherwise one entry for each
/// velocity of its state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlGradient {
    /// With respect to the position targets of actuators, of L per rad or m.
    pub position: Vec<f64>,
    /// With respect to their velocity targets, of L per rad/s or m/s.
    pub velocity: Vec<f64>,
    /// With respect to efforts, of L per N·m or N.
    pub effort: Vec<f64>,
}

/// The gradient with respect to a load at a material point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadGradient {
    /// With respect to the force, of L per N, world axes.
    pub force_W: Vector3<f64>,
    /// With respect to the torque, of L per N·m, world axes; zero for a point without axes.
    pub torque_W: Vector3<f64>,
}

/// Gradients that cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AdjointError {
    /// The stepper has none.
    #[error(
        "this stepper has no gradients; use the strong-implicit stepper with a fixed time step"
    )]
    Unsupported,
    /// No step was taken, or the last one failed.
    #[error("there is no step to differentiate; take one first")]
    NoStep,
    /// ∂L/∂v of a body has the wrong length.
    #[error(
        "∂L/∂v of body \"{body}\" has {found} values; it takes {expected}, one for each velocity"
    )]
    Length {
        /// Name of the body.
        body: String,
        /// Values found.
        found: usize,
        /// Values needed.
        expected: usize,
    },
    /// The velocities of the body are those of a grid of one step.
    #[error(
        "the velocities of body \"{body}\" are those of a grid, which every step builds anew; take a function of the velocities of other bodies"
    )]
    RebuiltVelocities {
        /// Name of the body.
        body: String,
    },
    /// A point that the body does not have.
    #[error("body \"{body}\": {source}")]
    Point {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: BodyError,
    },
    /// The system H λ = ∂L/∂v has no solution.
    #[error("the adjoint system: {0}")]
    Solve(#[from] SolveError),
}

impl<'a> Adjoint<'a> {
    pub(crate) fn new(solved: SolvedAdjoint<'a>) -> Self {
        Self { solved }
    }

    /// The gradient with respect to the control of every body, in their order.
    #[must_use]
    pub fn controls(&self) -> Vec<ControlGradient> {
        self.solved.controls()
    }

    /// The gradient with respect to a load at `point` of a body.
    ///
    /// That by gravity is the sum of the gradients by forces on the body's points with mass, each times its mass.
    ///
    /// # Errors
    /// [`AdjointError::Point`].
    pub fn load(&self, body: BodyIdx, point: &MaterialPoint) -> Result<LoadGradient, AdjointError> {
        self.solved.load(body, point)
    }
}
