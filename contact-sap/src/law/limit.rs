//! One-sided limits: joint limits, ropes.

use nalgebra::{Matrix1, Vector1};

use super::parameters::{NEAR_RIGID_ROW, near_rigid_regularisation};
use super::validity::{Fault, finite, positive};
use crate::potential::Potential;
use crate::time_step::TimeStep;

/// γ = ((v̂ − v_c)/R)₊, ℓ = ½Rγ²: keeps a distance g ≥ 0 whose rate is v_c.
///
/// Source: Castro, Permenter, Han (2022), section V.
///
/// ```
/// use nalgebra::Vector1;
/// use pliant_contact_sap::{Limit, Potential};
///
/// // A joint 1 mrad before its stop may close the gap within the step of 10 ms: 0.1 rad/s, no faster.
/// let limit = Limit::near_rigid(0.01, 1e-3, 2.0);
/// assert_eq!(limit.impulse(&Vector1::new(-0.099)).x, 0.0);
/// assert!(limit.impulse(&Vector1::new(-0.101)).x > 0.0);
/// // 1 mrad beyond it, it is pushed back at half of that speed.
/// let violated = Limit::near_rigid(0.01, -1e-3, 2.0);
/// assert!(violated.impulse(&Vector1::new(0.049)).x > 0.0);
/// assert_eq!(violated.impulse(&Vector1::new(0.051)).x, 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    regularisation: f64,
    /// v̂, m/s or rad/s.
    stabilisation: f64,
}

impl Limit {
    /// Near-rigid limit of a distance `gap` = g at the start of the step (m or rad, negative when violated), for an inverse
    /// inertia `w` of its row. Where θ_vq < 1, g is the distance [`coasted`](TimeStep::coasted).
    ///
    /// A gap may close within the step, v̂ = −g/(θ_vq δt). A violation is corrected over two steps, v̂ = −g/(2δt), which adds
    /// no energy. The published v̂ = −g/(δt + τ), τ = δt, also brakes a joint that is still a step away from its limit.
    #[must_use]
    pub fn near_rigid(time_step: impl Into<TimeStep>, gap: f64, w: f64) -> Self {
        let time_step = time_step.into();
        Self {
            regularisation: near_rigid_regularisation(NEAR_RIGID_ROW, w),
            stabilisation: -closing_speed(time_step, gap),
        }
    }

    /// From R (1/kg, positive) and v̂ directly.
    #[must_use]
    pub fn new(regularisation: f64, stabilisation: f64) -> Self {
        Self {
            regularisation,
            stabilisation,
        }
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        positive(
            "regularisation, from inverse inertia (1/kg)",
            self.regularisation,
        )?;
        finite(
            "stabilisation velocity, from gap and time step",
            self.stabilisation,
        )
    }
}

/// Speed at which a gap may close: it is closed within the step if it is open, and opened over two steps if it is violated.
pub(super) fn closing_speed(time_step: TimeStep, gap: f64) -> f64 {
    if gap > 0.0 {
        gap / time_step.positions_s()
    } else {
        gap / (2.0 * time_step.length_s)
    }
}

impl Potential<1> for Limit {
    #[inline]
    fn cost(&self, v_c: &Vector1<f64>) -> f64 {
        let gamma = self.impulse(v_c).x;
        0.5 * self.regularisation * gamma * gamma
    }

    #[inline]
    fn impulse(&self, v_c: &Vector1<f64>) -> Vector1<f64> {
        if v_c.x >= self.stabilisation {
            return Vector1::zeros();
        }
        Vector1::new((self.stabilisation - v_c.x) / self.regularisation)
    }

    #[inline]
    fn hessian(&self, v_c: &Vector1<f64>) -> Matrix1<f64> {
        let active = v_c.x < self.stabilisation;
        Matrix1::new(if active {
            1.0 / self.regularisation
        } else {
            0.0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::check_potential;

    #[test]
    fn impulse_and_hessian_are_derivatives_of_the_cost_on_either_side() {
        for v_hat in [-3.0, 0.0, 1e-3] {
            let law = Limit::new(1e-3, v_hat);
            let at = [-5.0, v_hat - 1e-9, v_hat, v_hat + 1e-9, 2.0, 0.0];
            check_potential(&law, &at.map(Vector1::new)).unwrap();
        }
    }

    /// One body of inverse mass `w`, free velocity `v`, at `gap` from its limit: the velocity after the step.
    fn step(gap: f64, v: f64, w: f64, dt: f64) -> f64 {
        let law = Limit::near_rigid(dt, gap, w);
        let g = law.hessian(&Vector1::new(f64::NEG_INFINITY)).x;
        let v_hat = law.stabilisation;
        if v >= v_hat {
            return v;
        }
        // v − v_free = w γ, γ = g (v̂ − v).
        (v + w * g * v_hat) / (1.0 + w * g)
    }

    #[test]
    fn a_gap_closes_without_being_braked_and_then_holds() {
        let (w, dt) = (0.3, 0.01);
        assert_eq!(
            step(0.1, -5.0, w, dt),
            -5.0,
            "the limit is half a step away"
        );
        // R/w = β²/4π²: the share of the velocity that remains.
        let leak = NEAR_RIGID_ROW.powi(2) / (4.0 * std::f64::consts::PI.powi(2));
        let v = step(0.02, -5.0, w, dt);
        assert!((v + 2.0).abs() <= 3.0 * leak, "arrives at the limit: {v}");
        let v = step(0.0, -5.0, w, dt);
        assert!(v <= 0.0 && v >= -5.0 * leak, "stopped: {v}");
    }

    #[test]
    fn a_violation_is_corrected_over_two_steps() {
        let dt = 0.01;
        let v = step(-0.02, 0.0, 3.0, dt);
        assert!((v - 1.0).abs() < 3e-4, "{v}");
    }

    #[test]
    fn stiffness_follows_the_inertia_over_twelve_decades() {
        for w in [1e-6, 1.0, 1e6] {
            let v = step(0.0, -1.0, w, 1e-3);
            assert!((v / -2.53e-4 - 1.0).abs() < 1e-2, "{v}");
        }
    }

    #[test]
    fn limits_without_inertia_or_with_nan_are_rejected() {
        assert!(Limit::near_rigid(1e-3, 0.0, 0.0).validate().is_err());
        assert!(Limit::near_rigid(1e-3, f64::NAN, 1.0).validate().is_err());
        assert!(Limit::near_rigid(0.0, 0.1, 1.0).validate().is_err());
        assert!(Limit::near_rigid(1e-3, 0.1, 1.0).validate().is_ok());
    }
}
