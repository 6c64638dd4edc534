//! One constraint: a convex cost of a velocity, its impulse and its Hessian.

use nalgebra::{SMatrix, SVector};

/// A convex cost ℓ(v_c) of an M-component constraint velocity: the whole interface of a constraint.
///
/// v_c = J v + b, in m/s or rad/s; M = 3 for a contact point (world axes), M = 1 for a scalar row. The three
/// quantities must be consistent: γ = −∂ℓ/∂v_c and G = −∂γ/∂v_c = ∂²ℓ/∂v_c² ⪰ 0, ℓ convex and finite everywhere.
/// `conformance::check_potential` checks them.
///
/// Source: Castro, Permenter, Han (2022); Han, Masterjohn, Castro (2023), eqs. (9)-(17).
///
/// ```
/// use nalgebra::{Matrix1, Vector1};
/// use pliant_contact_sap::Potential;
///
/// /// A linear damper of strength c δt: ℓ = ½ c δt v².
/// struct Damper { c_dt: f64 }
///
/// impl Potential<1> for Damper {
///     fn cost(&self, v: &Vector1<f64>) -> f64 { 0.5 * self.c_dt * v.x * v.x }
///     fn impulse(&self, v: &Vector1<f64>) -> Vector1<f64> { -self.c_dt * v }
///     fn hessian(&self, _: &Vector1<f64>) -> Matrix1<f64> { Matrix1::new(self.c_dt) }
/// }
/// assert_eq!(Damper { c_dt: 2.0 }.impulse(&Vector1::new(3.0)).x, -6.0);
/// ```
pub trait Potential<const M: usize>: Send + Sync {
    /// ℓ(v_c), J.
    fn cost(&self, v_c: &SVector<f64, M>) -> f64;
    /// γ = −∂ℓ/∂v_c, N·s (or N·m·s for a row that is an angle).
    fn impulse(&self, v_c: &SVector<f64, M>) -> SVector<f64, M>;
    /// G = ∂²ℓ/∂v_c², symmetric positive semidefinite, kg (or kg·m²). At a kink, either one-sided value is allowed.
    fn hessian(&self, v_c: &SVector<f64, M>) -> SMatrix<f64, M, M>;
}
