//! The SAP contact model: the impulse is a projection onto the friction cone.

use nalgebra::{Matrix3, Vector3};

use super::parameters::{
    ContactParameters, Dissipation, NEAR_RIGID_CONTACT, STICTION_REGULARISATION,
    near_rigid_regularisation,
};
use crate::potential::Potential;

/// ℓ = ½ γᵀRγ with γ = P(y) the projection of y = R⁻¹(v̂ − v_c) onto the cone ‖γ_t‖ ≤ μγ_n in the norm of R.
///
/// R = diag(R_t, R_t, R_n), v̂ = −φ0/(δt + τ) n̂. Dissipation is linear; a Hunt-Crossley coefficient is not this
/// model's and counts as τ = 0. Sliding bodies hover by μ(δt + τ)‖v_t‖.
///
/// Source: Castro, Permenter, Han (2022), section IV and appendix.
#[derive(Clone, Copy, Debug)]
pub struct Sap {
    normal: Vector3<f64>,
    /// v̂_n, m/s.
    stabilisation: f64,
    r_n: f64,
    r_t: f64,
    friction: f64,
}

/// Where y lies relative to the cone.
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
        let tau = match p.dissipation {
            Dissipation::HuntCrossley(_) => 0.0,
            Dissipation::RelaxationTime(tau) => tau,
        };
        let w = p.inverse_inertia;
        let dt = p.time_step_s;
        let compliance = 1.0 / (dt * p.stiffness * (dt + tau));
        Self {
            normal: normal_W,
            stabilisation: -p.signed_distance / (dt + tau),
            r_n: near_rigid_regularisation(NEAR_RIGID_CONTACT, w).max(compliance),
            r_t: STICTION_REGULARISATION * w,
            friction: p.friction,
        }
    }

    /// Unit normal, world axes.
    #[must_use]
    pub fn normal(&self) -> &Vector3<f64> {
        &self.normal
    }

    /// (y_n, y_t).
    #[inline]
    fn unprojected(&self, v_c: &Vector3<f64>) -> (f64, Vector3<f64>) {
        let v_n = self.normal.dot(v_c);
        let y_n = (self.stabilisation - v_n) / self.r_n;
        (y_n, (self.normal * v_n - v_c) / self.r_t)
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
        // Strict, so that without friction the sliding formula takes over with the right limit.
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
        let gamma = self.impulse(v_c);
        let n = self.normal.dot(&gamma);
        let t = gamma - self.normal * n;
        0.5 * (self.r_n * n * n + self.r_t * t.norm_squared())
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
                    g += across * (self.friction * gamma_n / (y_r * self.r_t));
                }
                g
            }
            Region::NoContact => Matrix3::zeros(),
        }
    }
}
