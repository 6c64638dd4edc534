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
///
/// ```
/// use nalgebra::{Isometry3, UnitQuaternion, Vector3, Vector6};
/// use pliant_contact_sap::{BodyError, EndFrames};
///
/// /// A frame at the tip of a rod of 1 m that turns about the z axis, in steps of 10 ms from the angle 0.
/// #[derive(Default)]
/// struct Rod { angle: f64 }
/// impl EndFrames for Rod {
///     fn move_to(&mut self, v: &[f64]) -> Result<(), BodyError> {
///         self.angle = 0.01 * v[0];
///         Ok(())
///     }
///     fn pose(&self, _: u32) -> Isometry3<f64> {
///         let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), self.angle);
///         Isometry3::from_parts((turn * Vector3::x()).into(), turn)
///     }
///     fn jacobian(&self, _: u32, out: &mut Vec<f64>) {
///         out.clear();
///         out.extend([0.0, 0.0, 1.0, -self.angle.sin(), self.angle.cos(), 0.0]);
///     }
///     fn displacement(&self, frame: u32, out: &mut Vec<f64>) {
///         self.jacobian(frame, out);
///         out.iter_mut().for_each(|x| *x *= 0.01);
///     }
///     // The moment of a fixed force at a fixed place about a fixed axis does not depend on the angle.
///     fn add_impulse_derivative(&self, _: u32, _: &Vector6<f64>, _: &mut [f64]) {}
/// }
/// let (mut rod, mut by_v, h) = (Rod::default(), Vec::new(), 1e-4);
/// let mut tip = |v| rod.move_to(&[v]).map(|()| rod.pose(0).translation.vector);
/// let difference = (tip(20.0 + h)? - tip(20.0 - h)?) / (2.0 * h);
/// rod.displacement(0, &mut by_v);
/// assert!((difference - Vector3::from_column_slice(&by_v[3..])).norm() < 1e-8);
/// # Ok::<(), BodyError>(())
/// ```
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
