//! The balance of momentum m(v) = Jᵀγ of a body whose A and b do not say all of it.

use crate::error::BodyError;

/// ∂m/∂v at one velocity: overwrites its second argument, y, with (∂m/∂v) x of its first.
pub type BalanceTangent<'a> = Box<dyn FnMut(&[f64], &mut [f64]) + 'a>;

/// m and its derivative, evaluated without the matrix A.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{BodyStep, Control, DeformableModel, StepInput};
///
/// let (net, control) = (MassSpringNet::default(), Control::default());
/// let mut step = net.new_step();
/// step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::new(0.0, 0.0, -9.81), &control))?;
/// let balance = step.as_balance().expect("a net has one");
/// let mut m = vec![0.0; 300];
/// balance.residual(&[0.0; 300], &mut m)?;
/// // At rest each node of 0.5 g lacks the impulse of its weight: m = −δt m g.
/// assert!((m[2] - 0.01 * 5e-4 * 9.81).abs() < 1e-15);
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
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
    /// Overwrites `out` with δt times gravity and loads, N·s, zero for held velocities. At rest elastic forces take them up and leave m near zero, so they
    /// tell how small a residual is. A body that does not implement it has none.
    fn external_impulse(&self, out: &mut [f64]) {
        out.fill(0.0);
    }
}

/// A balance of momentum that is the gradient of a potential E(v) and not linear in v.
///
/// A stepper that solves the implicit equations in full repeats [`BodyStep::linearise`](super::BodyStep::linearise) at the velocities
/// found, with a line search on E.
///
/// ```
/// use pliant_contact_sap::{BalanceTangent, BodyError, MomentumBalance, NonlinearBalance};
///
/// /// 1 kg at x = 0 on a hardening spring k x³, backward Euler: m(v) = v − v0 + δt k (δt v)³.
/// struct Bead { v0: f64, dt: f64, k: f64 }
/// impl MomentumBalance for Bead {
///     fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
///         out[0] = v[0] - self.v0 + self.dt * self.k * (self.dt * v[0]).powi(3);
///         Ok(())
///     }
///     fn tangent(&self, v: &[f64]) -> Result<BalanceTangent<'_>, BodyError> {
///         let slope = 1.0 + 3.0 * self.k * self.dt.powi(4) * v[0] * v[0];
///         Ok(Box::new(move |x, y| y[0] = slope * x[0]))
///     }
/// }
/// impl NonlinearBalance for Bead {
///     fn potential(&self, v: &[f64]) -> Result<f64, BodyError> {
///         Ok(0.5 * (v[0] - self.v0).powi(2) + 0.25 * self.k * (self.dt * v[0]).powi(4))
///     }
/// }
/// // ∇E = m, by a difference.
/// let (bead, h, mut m) = (Bead { v0: 1.0, dt: 0.1, k: 1e4 }, 1e-6, [0.0]);
/// bead.residual(&[0.7], &mut m)?;
/// let slope = (bead.potential(&[0.7 + h])? - bead.potential(&[0.7 - h])?) / (2.0 * h);
/// assert!((slope - m[0]).abs() < 1e-8);
/// # Ok::<(), BodyError>(())
/// ```
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
///
/// ```
/// use pliant_contact_sap::{BodyError, StartLinearisation};
///
/// /// 1 kg at x = 0 on a hardening spring k x³, backward Euler: m(v) = v − v0 + δt k (δt v)³.
/// struct Bead { v0: f64, dt: f64, k: f64, a: f64, b: f64 }
/// # impl Bead {
/// #     fn linearise(&mut self, v: f64) {
/// #         let m = v - self.v0 + self.dt * self.k * (self.dt * v).powi(3);
/// #         self.a = 1.0 + 3.0 * self.k * self.dt.powi(4) * v * v;
/// #         self.b = self.a * v - m;
/// #     }
/// # }
/// impl StartLinearisation for Bead {
///     /// Linearises where m(v) = 0: by Newton's method, v = A⁻¹b of the last linearisation.
///     fn linearise_start(&mut self, v: &mut Vec<f64>) -> Result<(), BodyError> {
///         *v = vec![self.v0];
///         for _ in 0..20 {
///             self.linearise(v[0]);
///             v[0] = self.b / self.a;
///         }
///         Ok(())
///     }
///     fn solves_free_motion(&self) -> bool { true }
/// }
/// let mut bead = Bead { v0: 1.0, dt: 0.1, k: 1e4, a: 0.0, b: 0.0 };
/// let mut v = Vec::new();
/// bead.linearise_start(&mut v)?;
/// assert!((v[0] + v[0].powi(3) - 1.0).abs() < 1e-12); // δt⁴ k = 1
/// # Ok::<(), BodyError>(())
/// ```
pub trait StartLinearisation {
    /// Computes A and b, then offered by [`BodyStep::dynamics`](super::BodyStep::dynamics). `v` is overwritten with the velocities at
    /// which A x − b is m(x) up to terms of second order in δt.
    ///
    /// # Errors
    /// As [`BodyStep::linearise`](super::BodyStep::linearise).
    fn linearise_start(&mut self, v: &mut Vec<f64>) -> Result<(), BodyError>;
    /// Whether that solves for the free motion. Steppers that need A alone then linearise about the start velocities, which costs no solution.
    fn solves_free_motion(&self) -> bool {
        false
    }
}
