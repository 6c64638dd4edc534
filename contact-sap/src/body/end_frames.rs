//! Frames at the end of a step, for forces that act there.

use nalgebra::{Isometry3, Vector6};

use crate::error::BodyError;

/// Poses of a body's frames at the end of a step as a function of its end velocities v, and the first derivatives that an implicit force on them
/// needs.
///
/// With J(q) the Jacobian of a frame, (ω, v_O) = J v in world axes with O the frame's origin, an impulse w = (τ, f) there adds Jᵀ(q₁) w to the balance
/// of momentum, where q₁ is the position at the end. Its derivative is Jᵀ ∂w/∂v + ∂(Jᵀw)/∂v.
///
/// Bodies whose points follow from weights of vertices have no need for this: their Jacobians are those of
/// [`BodyStep::basis`](super::BodyStep::basis) throughout the step.
///
/// Offered by kinematic trees; the penalty-force stepper asks for it.
pub trait EndFrames {
    /// Moves to the end of a step with end velocities `v`. Everything else refers to it.
    ///
    /// # Errors
    /// Velocities that lead to a position the model does not have.
    fn move_to(&mut self, v: &[f64]) -> Result<(), BodyError>;
    /// X_WF of a frame.
    fn pose(&self, frame: u32) -> Isometry3<f64>;
    /// J of a frame at its origin, 6×n column-major; the memory of `out` is reused.
    fn jacobian(&self, frame: u32, out: &mut Vec<f64>);
    /// The rotation (rad) and displacement of the origin (m) of a frame by a change of v, world axes, 6×n column-major; the memory of `out` is
    /// reused.
    fn displacement(&self, frame: u32, out: &mut Vec<f64>);
    /// Adds ∂(Jᵀw)/∂v, n×n column-major, of an impulse w = (τ, f) about the place that the frame's origin has now, fixed in the world.
    fn add_impulse_derivative(&self, frame: u32, w: &Vector6<f64>, out: &mut [f64]);
}
