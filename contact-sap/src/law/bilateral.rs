//! Two-sided rows with saturation: ties, couplers, breakable links, dry friction.

use nalgebra::{Matrix1, Vector1};

use super::parameters::{NEAR_RIGID_ROW, near_rigid_regularisation};
use crate::potential::Potential;

/// γ = clamp((v̂ − v_c)/R, γ_l, γ_u): a spring and damper that gives way at its bounds.
///
/// ```text
/// ℓ = ½Rγ² inside;   ℓ = −γ_b (v_c − v̂) − ½Rγ_b² where the bound γ_b is active
/// ```
///
/// Source: Castro, Permenter, Han (2022), section V, with the constant that keeps ℓ continuous at the bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bilateral {
    regularisation: f64,
    stabilisation: f64,
    lower: f64,
    upper: f64,
}

impl Bilateral {
    /// Near-rigid tie: error g = `error` at the start of the step (m or rad) with rate v_c, inverse inertia `w` of the row.
    #[must_use]
    pub fn near_rigid(time_step_s: f64, error: f64, w: f64) -> Self {
        Self {
            regularisation: near_rigid_regularisation(NEAR_RIGID_ROW, w),
            stabilisation: -error / (2.0 * time_step_s),
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        }
    }

    /// Spring of stiffness `k` (N/m) and relaxation time `tau_s`, never stiffer than the near-rigid tie.
    #[must_use]
    pub fn spring(time_step_s: f64, error: f64, k: f64, tau_s: f64, w: f64) -> Self {
        let near_rigid = near_rigid_regularisation(NEAR_RIGID_ROW, w);
        let r = 1.0 / (time_step_s * (time_step_s + tau_s) * k);
        if r < near_rigid {
            return Self::near_rigid(time_step_s, error, w);
        }
        Self {
            regularisation: r,
            stabilisation: -error / (time_step_s + tau_s),
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        }
    }

    /// Dry friction: γ = clamp(−v_c/R, ±`impulse_limit`), N·s or N·m·s; R is `regularisation`, 1/kg or 1/(kg·m²).
    #[must_use]
    pub fn dry_friction(impulse_limit: f64, regularisation: f64) -> Self {
        Self {
            regularisation,
            stabilisation: 0.0,
            lower: -impulse_limit,
            upper: impulse_limit,
        }
    }

    /// The same row, giving way at impulses outside `lower..=upper` (N·s).
    #[must_use]
    pub fn saturated(self, lower: f64, upper: f64) -> Self {
        Self {
            lower,
            upper,
            ..self
        }
    }

    #[inline]
    fn unclamped(&self, v_c: f64) -> f64 {
        (self.stabilisation - v_c) / self.regularisation
    }
}

impl Potential<1> for Bilateral {
    #[inline]
    fn cost(&self, v_c: &Vector1<f64>) -> f64 {
        let y = self.unclamped(v_c.x);
        let gamma = y.clamp(self.lower, self.upper);
        // With γ = y this is ½Rγ², beyond a bound it is linear.
        self.regularisation * gamma * (y - 0.5 * gamma)
    }

    #[inline]
    fn impulse(&self, v_c: &Vector1<f64>) -> Vector1<f64> {
        Vector1::new(self.unclamped(v_c.x).clamp(self.lower, self.upper))
    }

    #[inline]
    fn hessian(&self, v_c: &Vector1<f64>) -> Matrix1<f64> {
        let y = self.unclamped(v_c.x);
        let inside = y > self.lower && y < self.upper;
        Matrix1::new(if inside {
            1.0 / self.regularisation
        } else {
            0.0
        })
    }
}
