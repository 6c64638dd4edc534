//! Terms of the balance of momentum that lag behind the solution.

use crate::error::BodyError;

/// Terms of b evaluated at a predicted motion and corrected by fixed-point (Picard) iteration, such as the rotation that a rest shape
/// has at the end of the step. A does not depend on them.
///
/// Offered by finite elements and material points of the linear corotated law, whose rest strain follows their rotation.
///
/// ```
/// use pliant_contact_sap::{BodyError, LaggedTerms};
///
/// /// 1 kg at 1 m/s with the drag c v²: b = v0 − δt c v̄², v̄ the lagged velocity; A = 1.
/// struct Parachute { lagged: f64, next: f64, b: f64 }
/// impl LaggedTerms for Parachute {
///     fn residual(&mut self, v: &[f64]) -> f64 {
///         self.next = v[0];
///         (self.next - self.lagged).abs() / 1e-9 // of the tolerance
///     }
///     fn update(&mut self) {
///         self.lagged = self.next;
///         self.b = 1.0 - 0.01 * 20.0 * self.lagged * self.lagged;
///     }
///     fn update_in_free_motion(&mut self) -> Result<Option<&[f64]>, BodyError> { Ok(None) }
/// }
/// let mut body = Parachute { lagged: 1.0, next: 1.0, b: 0.8 };
/// while body.residual(&[body.b]) > 1.0 { // A⁻¹b
///     body.update();
/// }
/// assert!((body.b + 0.2 * body.b * body.b - 1.0).abs() < 1e-8); // v + δt c v² = v0
/// ```
pub trait LaggedTerms {
    /// How far the lagged terms are from those at velocities `v`, as a multiple of the tolerance: up to 1 they have converged.
    /// `v` is to be a solution with all constraints on the body.
    fn residual(&mut self, v: &[f64]) -> f64;
    /// Re-evaluates the lagged terms at the velocities of the last [`LaggedTerms::residual`], and b with them.
    fn update(&mut self);
    /// Re-evaluates the lagged terms at the free motion A⁻¹b where that is worth it, and b with them; for bodies without constraints in
    /// this step. Returns the free motion with the new b, to the accuracy of contact solvers, if the body solved for it.
    ///
    /// # Errors
    /// An A that is not positive definite to round-off.
    fn update_in_free_motion(&mut self) -> Result<Option<&[f64]>, BodyError>;
}
