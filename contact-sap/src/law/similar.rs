//! The similar contact model: friction coupled to the normal impulse of the same step.

use nalgebra::{Matrix3, Vector3};

use super::along_line::LinePoint;
use super::normal_force::NormalForce;
use super::parameters::ContactParameters;
use super::smooth_norm::SmoothNorm;
use super::validity::{Fault, at_least_zero, positive, unit};
use crate::potential::Potential;

/// ℓ = ∫ n dz, z = v_n − μ s(v_t).
///
/// ```text
/// γ = n(z)(n̂ − μ t̂),    G = −n'(z)(n̂ − μ t̂)(n̂ − μ t̂)ᵀ + μ n(z)(P − t̂ t̂ᵀ)/S
/// ```
///
/// Coulomb's law holds in the step where contact starts, at the price of a gap μ‖v_t‖δt under sliding bodies, unless the stepper adds
/// [`approach_of_slip`](ContactParameters::approach_of_slip) to v_n.
///
/// Source: Castro, Han, Masterjohn (2023), "Irrotational Contact Fields", section IV.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::{ContactParameters, Dissipation, NEAR_RIGID_SIMILAR, Potential, Similar};
///
/// # let contact = ContactParameters {
/// #     time_step: 1e-3.into(), signed_distance: -1e-4, start_velocity: 0.0, stiffness: 1e4, friction: 0.5,
/// #     dissipation: Dissipation::HuntCrossley(0.0), stiction_speed: 1e-4, inverse_inertia: 1.0,
/// #     near_rigid: NEAR_RIGID_SIMILAR,
/// # };
/// let law = Similar::new(&contact, Vector3::z(), 1e-3);
/// // Friction is μ times the normal impulse of the same step, and slip v_t acts on it like an approach at μ‖v_t‖.
/// let (resting, sliding) = (law.impulse(&Vector3::zeros()), law.impulse(&Vector3::new(0.2, 0.0, 0.1)));
/// assert!((sliding.x + 0.5 * sliding.z).abs() < 1e-6 * sliding.z);
/// assert!((sliding.z / resting.z - 1.0).abs() < 1e-3); // 0.1 − 0.5 · 0.2 = 0
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Similar {
    normal: Vector3<f64>,
    normal_force: NormalForce,
    friction: f64,
    slip_softening: f64,
}

impl Similar {
    /// With unit normal `normal_W` (from B into A, world axes); n0 = `normal_impulse` (N·s) only sets the softening.
    #[must_use]
    pub fn new(p: &ContactParameters, normal_W: Vector3<f64>, normal_impulse: f64) -> Self {
        Self {
            normal: normal_W,
            normal_force: p.normal_force(),
            friction: p.friction,
            slip_softening: p.slip_softening(normal_impulse),
        }
    }

    /// The same contact with `share` of its stiffness.
    pub(super) fn with_stiffness_times(self, share: f64) -> Self {
        Self {
            normal_force: self.normal_force.with_stiffness_times(share),
            ..self
        }
    }

    /// The softened slip at `v_c`.
    #[inline]
    pub(crate) fn slip(&self, v_c: &Vector3<f64>) -> SmoothNorm {
        let v_t = v_c - self.normal * self.normal.dot(v_c);
        SmoothNorm::new(&v_t, self.slip_softening)
    }

    /// G with the primal-dual tangent of friction, for the direction estimate `y` (in the contact plane, ‖y‖ ≤ 1) and the
    /// normal impulse `load` ≥ 0 (N·s) that curves the cone.
    #[inline]
    pub(crate) fn primal_dual_hessian(
        &self,
        v_c: &Vector3<f64>,
        y: &Vector3<f64>,
        load: f64,
    ) -> Matrix3<f64> {
        let slip = self.slip(v_c);
        let curvature = slip.primal_dual_hessian(&self.normal, y);
        self.hessian_with(v_c, &slip, curvature, load)
    }

    /// n at v_c, N·s, and its linearisation n + ∂n/∂v_c Δv_c.
    #[inline]
    pub(crate) fn normal_impulses(&self, v_c: &Vector3<f64>, dv_c: &Vector3<f64>) -> (f64, f64) {
        let slip = self.slip(v_c);
        let z = self.z(v_c, &slip);
        let dz = self.normal.dot(dv_c) - self.friction * slip.direction.dot(dv_c);
        let n = self.normal_force.impulse(z);
        (n, n - self.normal_force.stiffness(z) * dz)
    }

    #[inline]
    fn z(&self, v_c: &Vector3<f64>, slip: &SmoothNorm) -> f64 {
        self.normal.dot(v_c) - self.friction * slip.value()
    }

    #[inline]
    fn hessian_with(
        &self,
        v_c: &Vector3<f64>,
        slip: &SmoothNorm,
        curvature: Matrix3<f64>,
        load: f64,
    ) -> Matrix3<f64> {
        let z = self.z(v_c, slip);
        let e = self.normal - slip.direction * self.friction;
        e * e.transpose() * self.normal_force.stiffness(z) + curvature * (self.friction * load)
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        unit("normal's length", self.normal.norm())?;
        self.normal_force.validate()?;
        at_least_zero("friction coefficient", self.friction)?;
        positive("slip softening (m/s)", self.slip_softening)
    }

    /// ∂ℓ/∂α and ∂²ℓ/∂α² on a search line.
    #[inline]
    pub(super) fn slope_along(&self, at: &LinePoint) -> (f64, f64) {
        let length = (at.slip_squared + self.slip_softening * self.slip_softening).sqrt();
        let slip_rate = at.slip_slope / length;
        let z = at.v_n - self.friction * at.slip_squared / (length + self.slip_softening);
        let dz = at.dv_n - self.friction * slip_rate;
        let n = self.normal_force.impulse(z);
        let slip_curvature = (at.slip_curvature - slip_rate * slip_rate) / length;
        let curvature =
            self.normal_force.stiffness(z) * dz * dz + n * self.friction * slip_curvature;
        (-n * dz, curvature)
    }

    /// Unit normal, world axes.
    #[must_use]
    pub fn normal(&self) -> &Vector3<f64> {
        &self.normal
    }
}

impl Potential<3> for Similar {
    #[inline]
    fn cost(&self, v_c: &Vector3<f64>) -> f64 {
        self.normal_force.energy(self.z(v_c, &self.slip(v_c)))
    }

    #[inline]
    fn impulse(&self, v_c: &Vector3<f64>) -> Vector3<f64> {
        let slip = self.slip(v_c);
        let n = self.normal_force.impulse(self.z(v_c, &slip));
        (self.normal - slip.direction * self.friction) * n
    }

    #[inline]
    fn hessian(&self, v_c: &Vector3<f64>) -> Matrix3<f64> {
        let slip = self.slip(v_c);
        let curvature = slip.hessian(&self.normal);
        let load = self.normal_force.impulse(self.z(v_c, &slip));
        self.hessian_with(v_c, &slip, curvature, load)
    }
}
