//! The lagged contact model: regularised Coulomb friction with a friction bound fixed at the start of the solve.

use nalgebra::{Matrix3, Vector3};

use super::along_line::LinePoint;
use super::normal_force::NormalForce;
use super::parameters::{ContactParameters, STICTION_REGULARISATION};
use super::smooth_norm::SmoothNorm;
use super::validity::{Fault, at_least_zero, positive, unit};
use crate::potential::Potential;

/// ℓ = ∫ n + μ n0 s(v_t): normal and tangential parts are decoupled by the fixed bound μ n0.
///
/// ```text
/// γ = n(v_n) n̂ − μ n0 t̂,    G = −n' n̂ n̂ᵀ + μ n0 (P − t̂ t̂ᵀ)/S
/// ```
///
/// Coulomb friction has no potential because γ_t depends on γ_n but not the reverse. A fixed n0 removes that dependence at an
/// error of O(δt), and sliding bodies do not hover.
///
/// Source: Castro, Han, Masterjohn (2023), "Irrotational Contact Fields", section IV.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::{ContactParameters, Dissipation, Lagged, NEAR_RIGID_CONTACT, Potential};
///
/// # let contact = ContactParameters {
/// #     time_step: 1e-3.into(), signed_distance: -1e-4, start_velocity: 0.0, stiffness: 1e4, friction: 0.5,
/// #     dissipation: Dissipation::HuntCrossley(0.0), stiction_speed: 1e-4, inverse_inertia: 1.0,
/// #     near_rigid: NEAR_RIGID_CONTACT,
/// # };
/// // 0.1 mm of penetration at 10 kN/m for 1 ms: 1 mN·s. The bound of friction is fixed: μ n0 = 0.5 · 2 mN·s.
/// let law = Lagged::new(&contact, Vector3::z(), 2e-3);
/// let gamma = law.impulse(&Vector3::new(1.0, 0.0, 0.0));
/// assert!((gamma.z - 1e-3).abs() < 1e-15);
/// assert!((gamma.x + 1e-3).abs() < 1e-10); // against the slip of 1 m/s
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lagged {
    pub(super) normal: Vector3<f64>,
    pub(super) normal_force: NormalForce,
    friction: f64,
    /// v_s, m/s.
    stiction_speed: f64,
    /// μ σ w, 1/kg: ε = max(v_s, μ σ w n0).
    softening_per_impulse: f64,
    /// μ n0, N·s.
    pub(super) friction_limit: f64,
    pub(super) slip_softening: f64,
}

impl Lagged {
    /// With unit normal `normal_W` (from B into A, world axes) and n0 = `normal_impulse` (N·s).
    #[must_use]
    pub fn new(p: &ContactParameters, normal_W: Vector3<f64>, normal_impulse: f64) -> Self {
        let mut law = Self {
            normal: normal_W,
            normal_force: p.normal_force(),
            friction: p.friction,
            stiction_speed: p.stiction_speed,
            softening_per_impulse: p.friction * STICTION_REGULARISATION * p.inverse_inertia,
            friction_limit: 0.0,
            slip_softening: 0.0,
        };
        law.set_normal_impulse(normal_impulse);
        law
    }

    /// Sets n0, N·s, of the friction bound μ n0.
    #[inline]
    pub fn set_normal_impulse(&mut self, n0: f64) {
        self.friction_limit = self.friction * n0;
        self.slip_softening = self.stiction_speed.max(self.softening_per_impulse * n0);
    }

    /// The same with the slip softened for the inverse inertia `w`, 1/kg, with n0 = `normal_impulse`, N·s: see
    /// [`slip_softening_of`](ContactParameters::slip_softening_of).
    #[must_use]
    pub fn with_slip_inertia(mut self, w: f64, normal_impulse: f64) -> Self {
        self.softening_per_impulse = self.friction * STICTION_REGULARISATION * w;
        self.set_normal_impulse(normal_impulse);
        self
    }

    /// The same contact with `share` of its stiffness.
    pub(super) fn with_stiffness_times(self, share: f64) -> Self {
        Self {
            normal_force: self.normal_force.with_stiffness_times(share),
            ..self
        }
    }

    /// Whether the normal impulse is zero at `v_c`.
    #[inline]
    pub(crate) fn is_open(&self, v_c: &Vector3<f64>) -> bool {
        self.normal.dot(v_c) >= self.normal_force.release_velocity()
    }

    /// Whether it overlaps at the start of the step.
    pub(crate) fn overlaps(&self) -> bool {
        self.normal_force.release_velocity() > 0.0
    }

    /// The tangent of its impulse at the release velocity, extended to `v_c`: its value, N·s, and its slope, kg.
    #[inline]
    pub(crate) fn held_closed(&self, v_c: &Vector3<f64>) -> (f64, f64) {
        let stiffness = self.normal_force.stiffness_at_release();
        let release = self.normal_force.release_velocity();
        (stiffness * (release - self.normal.dot(v_c)), stiffness)
    }

    /// The softened slip at `v_c`.
    #[inline]
    pub(crate) fn slip(&self, v_c: &Vector3<f64>) -> SmoothNorm {
        let v_t = v_c - self.normal * self.normal.dot(v_c);
        SmoothNorm::new(&v_t, self.slip_softening)
    }

    /// G with the primal-dual tangent of friction, for the direction estimate `y` (in the contact plane, ‖y‖ ≤ 1).
    #[must_use]
    #[inline]
    pub fn primal_dual_hessian(&self, v_c: &Vector3<f64>, y: &Vector3<f64>) -> Matrix3<f64> {
        let n = &self.normal;
        let k = self.normal_force.stiffness(n.dot(v_c));
        let friction = self.slip(v_c).primal_dual_hessian(n, y);
        n * n.transpose() * k + friction * self.friction_limit
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        unit("normal's length", self.normal.norm())?;
        self.normal_force.validate()?;
        at_least_zero("friction coefficient", self.friction)?;
        at_least_zero("friction limit μ n0 (N·s)", self.friction_limit)?;
        positive("slip softening (m/s)", self.slip_softening)
    }

    /// ∂ℓ/∂α and ∂²ℓ/∂α² on a search line.
    #[inline]
    pub(super) fn slope_along(&self, at: &LinePoint) -> (f64, f64) {
        let softened = at.slip_squared + self.slip_softening * self.slip_softening;
        let by_length = 1.0 / softened.sqrt();
        let slip_rate = at.slip_slope * by_length;
        let slope = self.friction_limit * slip_rate - self.normal_force.impulse(at.v_n) * at.dv_n;
        let curvature = self.normal_force.stiffness(at.v_n) * at.dv_n * at.dv_n
            + self.friction_limit * (at.slip_curvature - slip_rate * slip_rate) * by_length;
        (slope, curvature)
    }

    /// Dual estimate of the direction of slip, −γ_t/(μ n0) in the unit ball, of the impulse `gamma`.
    #[must_use]
    pub fn slip_estimate(&self, gamma: &Vector3<f64>) -> Vector3<f64> {
        if self.friction_limit == 0.0 {
            return Vector3::zeros();
        }
        let along = self.normal * self.normal.dot(gamma);
        clipped((along - gamma) / self.friction_limit)
    }

    /// The dual estimate after the step `dv` from `v_c`, from the estimate `y` before: y + (P Δv − y (t̂·Δv))/S − (y − t̂), in the unit ball.
    #[must_use]
    pub fn next_slip_estimate(
        &self,
        v_c: &Vector3<f64>,
        dv: &Vector3<f64>,
        y: &Vector3<f64>,
    ) -> Vector3<f64> {
        let slip = self.slip(v_c);
        let n = &self.normal;
        let t = &slip.direction;
        clipped((dv - n * n.dot(dv) - y * t.dot(dv)) / slip.length + t)
    }

    /// Unit normal, world axes.
    #[must_use]
    pub fn normal(&self) -> &Vector3<f64> {
        &self.normal
    }
}

/// A vector in the unit ball.
fn clipped(y: Vector3<f64>) -> Vector3<f64> {
    y / y.norm().max(1.0)
}

impl Potential<3> for Lagged {
    #[inline]
    fn cost(&self, v_c: &Vector3<f64>) -> f64 {
        self.normal_force.energy(self.normal.dot(v_c))
            + self.friction_limit * self.slip(v_c).value()
    }

    #[inline]
    fn impulse(&self, v_c: &Vector3<f64>) -> Vector3<f64> {
        self.normal * self.normal_force.impulse(self.normal.dot(v_c))
            - self.slip(v_c).direction * self.friction_limit
    }

    #[inline]
    fn hessian(&self, v_c: &Vector3<f64>) -> Matrix3<f64> {
        let n = &self.normal;
        let k = self.normal_force.stiffness(n.dot(v_c));
        n * n.transpose() * k + self.slip(v_c).hessian(n) * self.friction_limit
    }
}
