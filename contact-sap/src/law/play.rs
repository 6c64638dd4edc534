//! Two stops with play between them: gears and coupled joints with backlash.

use nalgebra::{Matrix1, Vector1};

use super::limit::closing_speed;
use super::parameters::{NEAR_RIGID_ROW, near_rigid_regularisation};
use super::validity::{Fault, finite, ordered, positive};
use crate::potential::Potential;
use crate::time_step::TimeStep;

/// γ = ((v̂_l − v_c)/R)₊ − ((v_c − v̂_u)/R)₊, ℓ = ½Rγ²: keeps a coordinate g, whose rate is v_c, between two stops, and lets it move
/// freely between them. Each stop is a [`Limit`](crate::Limit); as v̂_l ≤ v̂_u, only one of them acts.
///
/// ```
/// use nalgebra::Vector1;
/// use pliant_contact_sap::{Play, Potential};
///
/// // A gear in the middle of a play of 2 mrad may turn by 1 mrad either way in a step of 10 ms: 0.1 rad/s.
/// let gear = Play::near_rigid(0.01, 0.0, 2e-3, 1.0);
/// assert_eq!(gear.impulse(&Vector1::new(0.099)).x, 0.0);
/// assert!(gear.impulse(&Vector1::new(0.101)).x < 0.0);
/// assert!(gear.impulse(&Vector1::new(-0.101)).x > 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Play {
    regularisation: f64,
    /// v̂_l and v̂_u, m/s or rad/s.
    stops: [f64; 2],
}

impl Play {
    /// Near-rigid stops at −`width`/2 and `width`/2 of the coordinate, which is `offset` = g at the start of the step, m or rad; `w` is the
    /// inverse inertia of the row. Where θ_vq < 1, g is the coordinate [`coasted`](TimeStep::coasted).
    #[must_use]
    pub fn near_rigid(time_step: impl Into<TimeStep>, offset: f64, width: f64, w: f64) -> Self {
        let time_step = time_step.into();
        let [lower, upper] = [0.5 * width + offset, 0.5 * width - offset];
        Self {
            regularisation: near_rigid_regularisation(NEAR_RIGID_ROW, w),
            stops: [
                -closing_speed(time_step, lower),
                closing_speed(time_step, upper),
            ],
        }
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        positive(
            "regularisation, from inverse inertia (1/kg)",
            self.regularisation,
        )?;
        let [lower, upper] = self.stops;
        finite("lower stop, from offset, width and time step", lower)?;
        finite("upper stop, from offset, width and time step", upper)?;
        ordered("lower stop (m/s)", lower, upper)
    }

    /// How much faster than allowed: positive beyond the upper stop, negative beyond the lower one.
    #[inline]
    fn excess(&self, v_c: f64) -> f64 {
        let [lower, upper] = self.stops;
        (v_c - upper).max(0.0) + (v_c - lower).min(0.0)
    }
}

impl Potential<1> for Play {
    #[inline]
    fn cost(&self, v_c: &Vector1<f64>) -> f64 {
        let excess = self.excess(v_c.x);
        0.5 * excess * excess / self.regularisation
    }

    #[inline]
    fn impulse(&self, v_c: &Vector1<f64>) -> Vector1<f64> {
        Vector1::new(-self.excess(v_c.x) / self.regularisation)
    }

    #[inline]
    fn hessian(&self, v_c: &Vector1<f64>) -> Matrix1<f64> {
        let is_free = self.excess(v_c.x) == 0.0;
        Matrix1::new(if is_free {
            0.0
        } else {
            1.0 / self.regularisation
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::check_potential;
    use crate::law::Limit;

    const DT: f64 = 0.01;

    #[test]
    fn impulse_and_hessian_are_derivatives_of_the_cost_in_every_region() {
        for (offset, width) in [(0.0, 0.02), (0.009, 0.02), (-0.03, 0.02), (0.004, 0.0)] {
            let law = Play::near_rigid(DT, offset, width, 2.0);
            law.validate().unwrap();
            let [lower, upper] = law.stops;
            let at = [-5.0, lower - 1e-6, lower, upper, upper + 1e-6, 3.0];
            check_potential(&law, &at.map(Vector1::new)).unwrap();
        }
    }

    #[test]
    fn each_stop_is_a_limit() {
        let (w, width) = (0.7, 0.02);
        for offset in [-0.02, -0.005, 0.0, 0.01, 0.013] {
            let play = Play::near_rigid(DT, offset, width, w);
            let lower = Limit::near_rigid(DT, offset + 0.5 * width, w);
            let upper = Limit::near_rigid(DT, 0.5 * width - offset, w);
            for v in [-4.0, -0.3, 0.0, 0.3, 4.0] {
                let at = |v| Vector1::new(v);
                let expected = lower.impulse(&at(v)).x - upper.impulse(&at(-v)).x;
                assert!((play.impulse(&at(v)).x - expected).abs() <= 1e-12 * expected.abs());
            }
        }
    }

    #[test]
    fn bad_numbers_are_rejected() {
        for (offset, width, w) in [
            (f64::NAN, 0.1, 1.0),
            (0.0, f64::INFINITY, 1.0),
            (0.0, -0.1, 1.0),
            (0.0, 0.1, 0.0),
        ] {
            assert!(Play::near_rigid(DT, offset, width, w).validate().is_err());
        }
    }
}
