//! The SAP contact model: the impulse is a projection onto the friction cone.

use nalgebra::{Matrix3, Vector3};

use super::along_line::LinePoint;
use super::parameters::{ContactParameters, STICTION_REGULARISATION, near_rigid_regularisation};
use super::validity::{Fault, at_least_zero, finite, positive, unit};
use crate::potential::Potential;

/// ℓ = ½ γᵀRγ with γ = P(y) the projection of y = R⁻¹(v̂ − v_c) onto the cone ‖γ_t‖ ≤ μγ_n in the norm of R.
///
/// R = diag(R_t, R_t, R_n), R_t = σw, R_n = max(β²w/4π², 1/(δt k(θ_vq δt + τ))), v̂ the
/// [`release_velocity`](ContactParameters::release_velocity). Dissipation is linear; a Hunt-Crossley coefficient is treated as τ = 0.
/// Sliding bodies hover by μ(θ_vq δt + τ)‖v_t‖ unless the stepper adds
/// [`approach_of_slip`](ContactParameters::approach_of_slip) to v_n.
///
/// Source: Castro, Permenter, Han (2022), section IV and appendix.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::{ContactParameters, Dissipation, NEAR_RIGID_CONTACT, Potential, Sap};
///
/// # let contact = ContactParameters {
/// #     time_step: 1e-3.into(), signed_distance: -1e-4, start_velocity: 0.0, stiffness: 1e4, friction: 0.5,
/// #     dissipation: Dissipation::RelaxationTime(0.0), stiction_speed: 1e-4, inverse_inertia: 1.0,
/// #     near_rigid: NEAR_RIGID_CONTACT,
/// # };
/// // Slip of 0.2 m/s: the impulse is on the cone, ‖γ_t‖ = μ γ_n.
/// let gamma = Sap::new(&contact, Vector3::z()).impulse(&Vector3::new(0.2, 0.0, 0.0));
/// assert!(gamma.z > 0.0 && (gamma.x + 0.5 * gamma.z).abs() < 1e-15);
/// // It is larger than δt k·0.1 mm without slip: a sliding body rises until it hovers by μ δt ‖v_t‖.
/// assert!(gamma.z > 1e-3);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sap {
    normal: Vector3<f64>,
    /// v̂_n, m/s; −∞ for a contact without stiffness.
    stabilisation: f64,
    r_n: f64,
    r_t: f64,
    friction: f64,
}

/// Region of y relative to the cone.
enum Region {
    Stiction,
    /// (γ_n, t̂, ‖y_t‖)
    Sliding(f64, Vector3<f64>, f64),
    NoContact,
}

impl Sap {
    /// With unit normal `normal_W` (from B into A, world axes).
    #[must_use]
    pub fn new(p: &ContactParameters, normal_W: Vector3<f64>) -> Self {
        let w = p.inverse_inertia;
        let lead = p.time_step.positions_s() + p.relaxation_time();
        let compliance = 1.0 / (p.time_step.length_s * p.stiffness * lead);
        let near_rigid = near_rigid_regularisation(p.near_rigid, w);
        // As k → 0 the impulse vanishes; R_n = ∞ itself would make the cost ∞·0.
        let (r_n, stabilisation) = if compliance == f64::INFINITY {
            (near_rigid, f64::NEG_INFINITY)
        } else if compliance >= 0.0 && compliance < near_rigid {
            (near_rigid, p.release_velocity())
        } else {
            (compliance, p.release_velocity())
        };
        Self {
            normal: normal_W,
            stabilisation,
            r_n,
            r_t: STICTION_REGULARISATION * w,
            friction: p.friction,
        }
    }

    /// The same contact with `share` of its stiffness.
    pub(super) fn with_stiffness_times(self, share: f64) -> Self {
        Self {
            r_n: self.r_n / share,
            ..self
        }
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        unit("normal's length", self.normal.norm())?;
        positive("normal regularisation, from stiffness (1/kg)", self.r_n)?;
        positive(
            "tangential regularisation, from inverse inertia (1/kg)",
            self.r_t,
        )?;
        if self.stabilisation != f64::NEG_INFINITY {
            finite(
                "stabilisation velocity, from signed distance (m/s)",
                self.stabilisation,
            )?;
        }
        at_least_zero("friction coefficient", self.friction)
    }

    /// Unit normal, world axes.
    #[must_use]
    pub fn normal(&self) -> &Vector3<f64> {
        &self.normal
    }

    /// R⁻¹, which no Hessian of this law exceeds, kg.
    pub(super) fn stiffest_hessian(&self) -> Matrix3<f64> {
        let n = &self.normal;
        let plane = Matrix3::identity() - n * n.transpose();
        n * n.transpose() / self.r_n + plane / self.r_t
    }

    /// ∂ℓ/∂α and ∂²ℓ/∂α² on a search line.
    #[inline]
    pub(super) fn slope_along(&self, at: &LinePoint) -> (f64, f64) {
        let y_n = (self.stabilisation - at.v_n) / self.r_n;
        let speed = at.slip_squared.sqrt();
        let y_r = speed / self.r_t;
        let (mu_hat, f) = self.cone_factors();
        if y_r < self.friction * y_n {
            let slope = at.slip_slope / self.r_t - y_n * at.dv_n;
            let curvature = at.dv_n * at.dv_n / self.r_n + at.slip_curvature / self.r_t;
            (slope, curvature)
        } else if y_n > -mu_hat * y_r {
            let gamma_n = f * (y_n + mu_hat * y_r);
            let slip_rate = if speed > 0.0 {
                at.slip_slope / speed
            } else {
                0.0
            };
            // Slip y_t opposes v_t, so e·Δv_c = Δv_n − μ ∂‖v_t‖/∂α.
            let along = at.dv_n - self.friction * slip_rate;
            let mut curvature = f / self.r_n * along * along;
            if speed > 0.0 {
                let across = at.slip_curvature - slip_rate * slip_rate;
                curvature += self.friction * gamma_n * across / speed;
            }
            (-gamma_n * along, curvature)
        } else {
            (0.0, 0.0)
        }
    }

    /// G with the normal impulse `load` ≥ 0 (N·s) in place of γ_n in the curvature of the cone.
    pub(crate) fn primal_dual_hessian(&self, v_c: &Vector3<f64>, load: f64) -> Matrix3<f64> {
        self.hessian_with(v_c, Some(load))
    }

    /// γ_n at v_c, N·s, and its linearisation γ_n + ∂γ_n/∂v_c Δv_c.
    pub(crate) fn normal_impulses(&self, v_c: &Vector3<f64>, dv_c: &Vector3<f64>) -> (f64, f64) {
        let (y_n, y_t) = self.unprojected(v_c);
        let dv_n = self.normal.dot(dv_c);
        match self.region(y_n, &y_t) {
            Region::Stiction => (y_n, y_n - dv_n / self.r_n),
            Region::Sliding(gamma_n, t, _) => {
                let (_, f) = self.cone_factors();
                let along = dv_n + self.friction * t.dot(dv_c);
                (gamma_n, gamma_n - f / self.r_n * along)
            }
            Region::NoContact => (0.0, 0.0),
        }
    }

    /// G; `load` replaces γ_n in the curvature of the cone.
    fn hessian_with(&self, v_c: &Vector3<f64>, load: Option<f64>) -> Matrix3<f64> {
        let (y_n, y_t) = self.unprojected(v_c);
        let n = &self.normal;
        let nn = n * n.transpose();
        match self.region(y_n, &y_t) {
            Region::Stiction => nn / self.r_n + (Matrix3::identity() - nn) / self.r_t,
            Region::Sliding(gamma_n, t, y_r) => {
                // γ = γ_n (n̂ + μ t̂), and R_t/R_n = μ̂/μ makes the derivative symmetric:
                // G = (f/R_n)(n̂ + μ t̂)(n̂ + μ t̂)ᵀ + (μ γ_n/(y_r R_t))(P − t̂ t̂ᵀ).
                let (_, f) = self.cone_factors();
                let e = n + t * self.friction;
                let mut g = e * e.transpose() * (f / self.r_n);
                if y_r > 0.0 {
                    let across = Matrix3::identity() - nn - t * t.transpose();
                    let load = load.unwrap_or(gamma_n);
                    g += across * (self.friction * load / (y_r * self.r_t));
                }
                g
            }
            Region::NoContact => Matrix3::zeros(),
        }
    }

    /// (y_n, y_t).
    #[inline]
    fn unprojected(&self, v_c: &Vector3<f64>) -> (f64, Vector3<f64>) {
        let v_n = self.normal.dot(v_c);
        let y_n = (self.stabilisation - v_n) / self.r_n;
        let y_t = (self.normal * v_n - v_c) / self.r_t;
        // Projected twice: without slip y_t is round-off, and t̂ must be orthogonal to the normal.
        (y_n, y_t - self.normal * self.normal.dot(&y_t))
    }

    /// μ̂ = μR_t/R_n and f = 1/(1 + μ²R_t/R_n).
    #[inline]
    fn cone_factors(&self) -> (f64, f64) {
        let mu_hat = self.friction * self.r_t / self.r_n;
        (mu_hat, 1.0 / (1.0 + self.friction * mu_hat))
    }

    #[inline]
    fn region(&self, y_n: f64, y_t: &Vector3<f64>) -> Region {
        let y_r = y_t.norm();
        let (mu_hat, f) = self.cone_factors();
        // Strict, so that the sliding formula, which has the right limit, is used without friction.
        if y_r < self.friction * y_n {
            Region::Stiction
        } else if y_n > -mu_hat * y_r {
            let t = if y_r > 0.0 {
                y_t / y_r
            } else {
                Vector3::zeros()
            };
            Region::Sliding(f * (y_n + mu_hat * y_r), t, y_r)
        } else {
            Region::NoContact
        }
    }
}

impl Potential<3> for Sap {
    fn cost(&self, v_c: &Vector3<f64>) -> f64 {
        let (y_n, y_t) = self.unprojected(v_c);
        match self.region(y_n, &y_t) {
            Region::Stiction => 0.5 * (self.r_n * y_n * y_n + self.r_t * y_t.norm_squared()),
            Region::Sliding(gamma_n, t, _) => {
                // ‖t̂‖ is 1, or 0 without any slip.
                let r_t = self.r_t * self.friction * self.friction * t.norm_squared();
                0.5 * gamma_n * gamma_n * (self.r_n + r_t)
            }
            Region::NoContact => 0.0,
        }
    }

    fn impulse(&self, v_c: &Vector3<f64>) -> Vector3<f64> {
        let (y_n, y_t) = self.unprojected(v_c);
        match self.region(y_n, &y_t) {
            Region::Stiction => self.normal * y_n + y_t,
            Region::Sliding(gamma_n, t, _) => (self.normal + t * self.friction) * gamma_n,
            Region::NoContact => Vector3::zeros(),
        }
    }

    fn hessian(&self, v_c: &Vector3<f64>) -> Matrix3<f64> {
        self.hessian_with(v_c, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use crate::conformance::check_potential;
    use crate::law::{Dissipation, NEAR_RIGID_CONTACT};

    const DT: f64 = 0.01;

    fn parameters(friction: f64, tau: f64) -> ContactParameters {
        ContactParameters {
            time_step: DT.into(),
            signed_distance: -1e-3,
            start_velocity: 0.0,
            stiffness: 1e4,
            dissipation: Dissipation::RelaxationTime(tau),
            friction,
            stiction_speed: 1e-4,
            inverse_inertia: 0.8,
            near_rigid: NEAR_RIGID_CONTACT,
        }
    }

    #[test]
    fn impulse_is_the_projection_onto_the_cone() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for mu in [0.0, 0.3, 1.0, 10.0] {
            let law = Sap::new(&parameters(mu, 0.02), Vector3::z());
            let r = Vector3::new(law.r_t, law.r_t, law.r_n);
            for _ in 0..300 {
                let y = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
                let v = Vector3::z() * law.stabilisation - r.component_mul(&y);
                let p = law.impulse(&v);
                // The variational inequality of a projection onto a convex cone, in the metric R.
                let residual = r.component_mul(&(y - p));
                let scale = 1e-14 * r.amax() * (y.norm() + p.norm()) * (1.0 + mu);
                assert!(p.xy().norm() <= mu * p.z + 1e-14 * p.norm());
                assert!(
                    residual.dot(&p).abs() <= scale * (1.0 + p.norm()),
                    "{residual:?} {p:?}"
                );
                assert!(
                    mu * residual.xy().norm() + residual.z <= scale,
                    "{residual:?} {p:?}"
                );
                // No other point of the cone is closer.
                let distance = |q: &Vector3<f64>| r.dot(&(q - y).component_mul(&(q - y)));
                for _ in 0..20 {
                    let n = rng.random_range(0.0..2.0);
                    let (angle, share) = (rng.random_range(0.0..6.3), rng.random_range(0.0..1.0));
                    let t = mu * n * share;
                    let q = Vector3::new(t * f64::cos(angle), t * f64::sin(angle), n);
                    assert!(distance(&p) <= distance(&q) + scale);
                }
            }
        }
    }

    #[test]
    fn derivatives_hold_on_the_borders_of_the_cone_and_at_its_apex() {
        for mu in [0.0, 0.5, 5.0] {
            let law = Sap::new(&parameters(mu, 0.02), Vector3::z());
            let (mu_hat, _) = law.cone_factors();
            let at = |y_t: f64, y_n: f64| {
                Vector3::new(-law.r_t * y_t, 0.0, law.stabilisation - law.r_n * y_n)
            };
            let mut samples = vec![at(0.0, 0.0), at(0.0, 1e-9), at(0.0, -1e-9), at(0.0, 1.0)];
            for nudge in [-1e-6, 0.0, 1e-6] {
                samples.push(at(mu * (1.0 + nudge), 1.0)); // stiction | sliding
                samples.push(at(1.0, -mu_hat * (1.0 + nudge))); // sliding | no contact
            }
            check_potential(&law, &samples).unwrap();
        }
    }

    #[test]
    fn sliding_bodies_hover_above_the_surface() {
        // Steady sliding under the load γ_n: φ0 = δt(μ‖v_t‖ − R_n γ_n/f), 1/R_n = δt k (δt + τ).
        let (mu, tau, slip) = (0.5, 0.05, 2.0);
        let p = parameters(mu, tau);
        let (_, f) = Sap::new(&p, Vector3::z()).cone_factors();
        let load = 0.3;
        let gap = DT * (mu * slip - load / (f * DT * p.stiffness * (DT + tau)));
        let law = Sap::new(
            &ContactParameters {
                signed_distance: gap,
                ..p
            },
            Vector3::z(),
        );
        let gamma = law.impulse(&Vector3::new(slip, 0.0, 0.0));
        assert!((gamma.z - load).abs() < 1e-12, "{gamma:?}");
        assert!((gamma.x + mu * load).abs() < 1e-12);
    }

    #[test]
    fn without_stiffness_there_is_no_impulse_and_no_nan() {
        let law = Sap::new(
            &ContactParameters {
                stiffness: 0.0,
                ..parameters(0.5, 0.0)
            },
            Vector3::z(),
        );
        let v = Vector3::new(0.2, 0.0, -1.0);
        assert_eq!((law.cost(&v), law.impulse(&v)), (0.0, Vector3::zeros()));
        assert_eq!(law.hessian(&v), Matrix3::zeros());
    }
}
