//! Terms of the balance of momentum that lag behind the solution.

use crate::error::BodyError;

/// Terms of b evaluated at a predicted motion and corrected by fixed-point (Picard) iteration, such as the rotation that a rest shape
/// has at the end of the step. A does not depend on them.
///
/// Offered by finite elements and material points of the linear corotated law, whose rest strain follows their rotation.
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
