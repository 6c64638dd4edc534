//! What gradients of a step need to know of a body.

/// The velocities that a step solves for, and how b depends on efforts, of bodies that hold some of their velocities or accept efforts.
///
/// The gradient of a function L(v) with respect to efforts τ is (∂b/∂τ)ᵀλ with H λ = ∂L/∂v. Bodies that do not offer it solve for all
/// velocities of their state and have no efforts.
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
