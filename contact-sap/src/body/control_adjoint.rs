//! What gradients of a step need to know of a body.

/// The velocities that a step solves for, and how b depends on efforts, of bodies that hold some of their velocities or accept efforts.
///
/// The gradient of a function L(v) with respect to efforts τ is (∂b/∂τ)ᵀλ with H λ = ∂L/∂v. Bodies that do not offer it solve for all
/// velocities of their state and have no efforts.
///
/// ```
/// use pliant_contact_sap::ControlAdjoint;
///
/// /// An arm of three joints of which the second is held, in steps of 10 ms: b_i contains δt τ_i.
/// struct Arm;
/// impl ControlAdjoint for Arm {
///     fn n_velocities(&self) -> usize { 3 }
///     fn solved_entries(&self, full: &[f64], out: &mut Vec<f64>) {
///         out.clear();
///         out.extend([full[0], full[2]]);
///     }
///     fn effort_gradient(&self, lambda: &[f64], out: &mut Vec<f64>) {
///         out.clear();
///         out.extend([0.01 * lambda[0], 0.0, 0.01 * lambda[1]]);
///     }
/// }
/// // L = the velocity of the last joint: ∂L/∂v = (0, 0, 1), and λ = H⁻¹ ∂L/∂v with H = diag(0.5, 0.1) here.
/// let (mut dl_dv, mut gradient) = (Vec::new(), Vec::new());
/// Arm.solved_entries(&[0.0, 0.0, 1.0], &mut dl_dv);
/// let lambda = [dl_dv[0] / 0.5, dl_dv[1] / 0.1];
/// Arm.effort_gradient(&lambda, &mut gradient);
/// assert_eq!(gradient, [0.0, 0.0, 0.1]); // δt/I: rad/s for each N·m
/// ```
pub trait ControlAdjoint {
    /// Number of velocities of the state, held ones included.
    fn n_velocities(&self) -> usize;
    /// The entries of `full`, one for each velocity of the state, whose velocities the step solves for. `out` is overwritten and its
    /// memory reused.
    fn solved_entries(&self, full: &[f64], out: &mut Vec<f64>);
    /// (∂b/∂τ)ᵀλ for the solved velocities `lambda`: one entry for each velocity of the state, zero for those that are held, whose effort
    /// is at its limit, or that have an actuator, which is a constraint and no part of b. `out` is overwritten and its memory reused.
    fn effort_gradient(&self, lambda: &[f64], out: &mut Vec<f64>) {
        let _ = lambda;
        out.clear();
    }
}
