//! Two-sided rows with saturation: constraints, couplers, breakable links, dry friction.

use nalgebra::{Matrix1, Vector1};

use super::parameters::{NEAR_RIGID_ROW, near_rigid_regularisation};
use super::validity::{Fault, at_least_zero, finite, ordered};
use crate::potential::Potential;
use crate::time_step::TimeStep;

/// γ = clamp((v̂ − v_c)/R, γ_l, γ_u): a spring and damper whose impulse saturates at its bounds.
///
/// ```text
/// ℓ = ½Rγ² inside;   ℓ = −γ_b (v_c − v̂) − ½Rγ_b² where the bound γ_b is active
/// ```
///
/// Source: Castro, Permenter, Han (2022), section V, with the constant that keeps ℓ continuous at the bounds.
///
/// ```
/// use nalgebra::Vector1;
/// use pliant_contact_sap::{Bilateral, Potential};
///
/// // A spring of 1 kN/m, stretched by 1 mm, in a step of 10 ms: γ = −δt k g. It tears at 5 mN·s.
/// let spring = Bilateral::spring(0.01, 1e-3, 1e3, 0.0, 1.0);
/// assert!((spring.impulse(&Vector1::new(0.0)).x + 0.01).abs() < 1e-15);
/// assert_eq!(spring.saturated(-0.005, 0.005).impulse(&Vector1::new(0.0)).x, -0.005);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bilateral {
    /// 1/R, kg; zero for a spring without stiffness.
    conductance: f64,
    stabilisation: f64,
    lower: f64,
    upper: f64,
}

impl Bilateral {
    /// Near-rigid constraint: error g = `error` at the start of the step (m or rad) with rate v_c, inverse inertia `w` of the row.
    /// Where θ_vq < 1, g is the error [`coasted`](TimeStep::coasted).
    ///
    /// R = β²w/4π² and v̂ = −g/(2δt): the error is corrected over two steps, which adds no energy. Correction within one step
    /// would make a midpoint step oscillate: v = −v0 from g0 = 0. With w = 0 nothing can move, and there is no impulse.
    #[must_use]
    pub fn near_rigid(time_step: impl Into<TimeStep>, error: f64, w: f64) -> Self {
        Self {
            conductance: match w == 0.0 {
                true => 0.0,
                false => 1.0 / near_rigid_regularisation(NEAR_RIGID_ROW, w),
            },
            stabilisation: -error / (2.0 * time_step.into().length_s),
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        }
    }

    /// Spring of stiffness `k` (N/m, may be infinite) and relaxation time `tau_s`, never stiffer than the near-rigid constraint:
    /// γ = −δt k (g + (θ_vq δt + τ) v_c) with g as in [`near_rigid`](Self::near_rigid).
    #[must_use]
    pub fn spring(time_step: impl Into<TimeStep>, error: f64, k: f64, tau_s: f64, w: f64) -> Self {
        let time_step = time_step.into();
        let near_rigid = Self::near_rigid(time_step, error, w);
        let lead = time_step.positions_s() + tau_s;
        let conductance = time_step.length_s * lead * k;
        if conductance > near_rigid.conductance {
            return near_rigid;
        }
        Self {
            conductance,
            stabilisation: -error / lead,
            ..near_rigid
        }
    }

    /// Dry friction: γ = clamp(−v_c/R, ±`impulse_limit`), N·s or N·m·s; R is `regularisation`, 1/kg or 1/(kg·m²), for
    /// instance 1e-3 w: a joint that sticks then creeps at a thousandth of the speed its load would give it in a step.
    #[must_use]
    pub fn dry_friction(impulse_limit: f64, regularisation: f64) -> Self {
        Self {
            conductance: 1.0 / regularisation,
            stabilisation: 0.0,
            lower: -impulse_limit,
            upper: impulse_limit,
        }
    }

    /// The same row, saturated at the impulses `lower` and `upper` (N·s).
    #[must_use]
    pub fn saturated(self, lower: f64, upper: f64) -> Self {
        Self {
            lower,
            upper,
            ..self
        }
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        at_least_zero(
            "1/regularisation, from stiffness or inertia (kg)",
            self.conductance,
        )?;
        finite(
            "stabilisation velocity, from error and time step",
            self.stabilisation,
        )?;
        ordered("lower impulse bound (N·s)", self.lower, self.upper)
    }

    #[inline]
    fn unclamped(&self, v_c: f64) -> f64 {
        (self.stabilisation - v_c) * self.conductance
    }

    /// Not f64::clamp, which panics for invalid bounds, as this may run before validation.
    #[inline]
    fn clamp(&self, y: f64) -> f64 {
        if y < self.lower {
            self.lower
        } else if y > self.upper {
            self.upper
        } else {
            y
        }
    }
}

impl Potential<1> for Bilateral {
    #[inline]
    fn cost(&self, v_c: &Vector1<f64>) -> f64 {
        // ½Rγ² inside the bounds, linear beyond.
        let gamma = self.clamp(self.unclamped(v_c.x));
        let stored = if self.conductance == 0.0 {
            0.0
        } else {
            0.5 * gamma * gamma / self.conductance
        };
        gamma * (self.stabilisation - v_c.x) - stored
    }

    #[inline]
    fn impulse(&self, v_c: &Vector1<f64>) -> Vector1<f64> {
        Vector1::new(self.clamp(self.unclamped(v_c.x)))
    }

    #[inline]
    fn hessian(&self, v_c: &Vector1<f64>) -> Matrix1<f64> {
        let y = self.unclamped(v_c.x);
        let inside = y > self.lower && y < self.upper;
        Matrix1::new(if inside { self.conductance } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::check_potential;

    #[track_caller]
    fn check(law: Bilateral) {
        law.validate().unwrap();
        let mut at: Vec<_> = [-40.0, -1.0, 0.0, 1e-9, 0.7, 30.0]
            .map(Vector1::new)
            .to_vec();
        at.push(Vector1::new(law.stabilisation));
        for bound in [law.lower, law.upper].map(|b| law.stabilisation - b / law.conductance) {
            if bound.is_finite() {
                at.extend([bound - 1e-6, bound, bound + 1e-6].map(Vector1::new));
            }
        }
        check_potential(&law, &at).unwrap();
        if law.lower <= 0.0 && law.upper >= 0.0 {
            // Round-off of γ(v̂ − v) − ½Rγ², whose terms are at most 2:1.
            assert!(at.iter().all(|v| law.cost(v) >= 0.0));
        }
    }

    #[test]
    fn impulse_and_hessian_are_derivatives_of_the_cost_inside_and_beyond_the_bounds() {
        check(Bilateral::near_rigid(1e-3, 0.01, 2.0));
        check(Bilateral::spring(1e-2, -0.3, 500.0, 0.1, 1.0));
        check(Bilateral::spring(1e-2, -0.3, 500.0, 0.0, 1.0).saturated(-2.0, 0.5));
        check(Bilateral::spring(1e-2, -0.3, 500.0, 0.0, 1.0).saturated(0.0, f64::INFINITY));
        check(Bilateral::dry_friction(0.2, 1e-3));
        check(Bilateral::dry_friction(0.0, 1e-3));
        check(Bilateral::spring(1e-2, 0.3, 0.0, 0.0, 1.0));
        check(Bilateral::spring(1e-2, 0.3, 0.0, 0.0, 1.0).saturated(1.0, 2.0));
    }

    #[test]
    fn a_spring_is_implicit_euler() {
        // m(v − v0) = δt(−k(g0 + δt v) − c v), c = τk.
        let (dt, m, k, tau, g0, v0) = (0.01, 2.0, 300.0, 0.05, 0.1, 1.5);
        let law = Bilateral::spring(dt, g0, k, tau, 1.0 / m);
        let v = (m * v0 - dt * k * g0) / (m + dt * (dt + tau) * k);
        let gamma = law.impulse(&Vector1::new(v)).x;
        assert!((m * (v - v0) - gamma).abs() < 1e-14);
    }

    #[test]
    fn springs_stiffer_than_near_rigid_become_near_rigid_constraints() {
        let constraint = Bilateral::near_rigid(1e-3, 0.01, 2.0);
        assert_eq!(
            Bilateral::spring(1e-3, 0.01, f64::INFINITY, 0.2, 2.0),
            constraint
        );
        assert_eq!(Bilateral::spring(1e-3, 0.01, 1e30, 0.0, 2.0), constraint);
    }

    #[test]
    fn what_cannot_move_takes_no_impulse() {
        for law in [
            Bilateral::near_rigid(1e-3, 0.01, 0.0),
            Bilateral::spring(1e-3, 0.01, 1e5, 0.0, 0.0),
            Bilateral::spring(1e-3, 0.01, f64::INFINITY, 0.0, 0.0),
        ] {
            law.validate().unwrap();
            assert_eq!(law.impulse(&Vector1::new(0.3)).x, 0.0);
            assert_eq!(law.cost(&Vector1::new(0.3)), 0.0);
        }
    }

    #[test]
    fn bad_numbers_are_rejected_without_a_panic() {
        let spring = |k, tau, w| Bilateral::spring(1e-3, 0.01, k, tau, w);
        let rejected = [
            spring(-5.0, 0.0, 1.0),
            spring(f64::NAN, 0.0, 1.0),
            spring(10.0, f64::NAN, 1.0),
            Bilateral::dry_friction(-0.1, 1e-3),
            Bilateral::dry_friction(f64::NAN, 1e-3),
            Bilateral::dry_friction(0.1, 0.0),
            Bilateral::near_rigid(1e-3, f64::INFINITY, 1.0),
            spring(10.0, 0.0, 1.0).saturated(2.0, 1.0),
        ];
        for law in rejected {
            assert!(law.validate().is_err(), "{law:?}");
            let _ = law.impulse(&Vector1::new(0.3));
        }
    }
}
