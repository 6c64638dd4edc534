//! The balance of momentum m(v) = Jᵀγ of a body whose A and b do not say all of it.

use crate::error::BodyError;

/// ∂m/∂v at one velocity: overwrites its second argument, y, with (∂m/∂v) x of its first.
pub type BalanceTangent<'a> = Box<dyn FnMut(&[f64], &mut [f64]) + 'a>;

/// m and its derivative, evaluated without the matrix A.
pub trait MomentumBalance {
    /// m(v), N·s, not linearised; zero at the motion without constraints.
    ///
    /// # Errors
    /// Velocities that lead to a state in which the body has no forces.
    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError>;
    /// ∂m/∂v at `v`, not made positive definite, and unsymmetric for some models. What all products need is computed here, once.
    ///
    /// # Errors
    /// As [`MomentumBalance::residual`].
    fn tangent(&self, v: &[f64]) -> Result<BalanceTangent<'_>, BodyError>;
}

/// A balance of momentum that is the gradient of a potential E(v) and not linear in v.
///
/// A stepper that solves the implicit equations in full repeats [`BodyStep::linearise`](super::BodyStep::linearise) at the velocities
/// found, with a line search on E.
pub trait NonlinearBalance: MomentumBalance {
    /// E(v), J, with ∇E = m, up to a constant; infinite where the body has no energy, such as for inverted elements of a barrier law.
    ///
    /// # Errors
    /// An energy that cannot be evaluated.
    fn potential(&self, v: &[f64]) -> Result<f64, BodyError>;
}

/// The linearisation with which a step begins, of bodies that choose its point themselves.
///
/// - Rods and nonlinear material points solve for their free motion and call their own
///   [`BodyStep::linearise`](super::BodyStep::linearise) there (Li and Chou 2025).
/// - Finite elements of nonlinear laws expand the elastic forces about the positions at the start of the step. Only changes of velocity
///   feel what makes A positive definite: A x − b = m(0) + (∂m/∂v) v0 + A (x − v0) for backward Euler.
pub trait StartLinearisation {
    /// Computes A and b, then offered by [`BodyStep::dynamics`](super::BodyStep::dynamics). `v` is overwritten with the velocities at
    /// which A x − b is m(x) up to terms of second order in δt.
    ///
    /// # Errors
    /// As [`BodyStep::linearise`](super::BodyStep::linearise).
    fn linearise_start(&mut self, v: &mut Vec<f64>) -> Result<(), BodyError>;
}
