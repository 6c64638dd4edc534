//! Implicit PD control with an effort limit.

use nalgebra::{Matrix1, Vector1};

use super::parameters::{NEAR_RIGID_ROW, near_rigid_regularisation};
use super::validity::{Fault, at_least_zero, at_least_zero_or_infinite, finite, positive};
use crate::error::SolveError;
use crate::potential::Potential;
use crate::time_step::TimeStep;

/// γ = δt clamp(u(v), ±e), u(v) = −Kp(q0 + θ_vq δt v − q_d) − Kd(v − v_d) + u_ff; θ_vq = 1 except in a midpoint step, where
/// q0 is the start position [`coasted`](TimeStep::coasted).
///
/// ```text
/// ℓ = δt (C(u(v)) − C(u(0)))/(θ_vq δtKp + Kd),   C(x) = ½x² for |x| ≤ e, otherwise e(|x| − e/2)
///   = −δt v ū,   ū the mean of clamp(u, ±e) between u(0) and u(v)
/// ```
///
/// Stable for any gains, which are part of the minimisation. Saturates at e exactly. The second form does not divide by the
/// gain, so it has no cancellation for small gains; ℓ(0) = 0.
/// Source: Castro, Permenter, Han (2022), section V; Drake's PD controllers.
///
/// ```
/// use nalgebra::Vector1;
/// use pliant_contact_sap::{PdActuator, PdCommand, PdGains, Potential};
///
/// let gains = PdGains { proportional: 1e5, derivative: 100.0, effort_limit: 20.0 };
/// let command = PdCommand { position_error: 0.3, ..PdCommand::default() };
/// let law = PdActuator::new(0.01, gains, command, 1.0);
/// // 0.3 rad beyond the target: 30 kN·m are wanted, 20 N·m are given, and a saturated actuator has no stiffness.
/// assert_eq!(law.impulse(&Vector1::new(0.0)).x, 0.01 * -20.0);
/// assert_eq!(law.hessian(&Vector1::new(0.0)).x, 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PdActuator {
    time_step_s: f64,
    /// u at v = 0, N·m or N.
    effort_at_rest: f64,
    /// θ_vq δtKp + Kd.
    gain: f64,
    /// Kp and Kd in use.
    proportional: f64,
    derivative: f64,
    /// Smallest and largest effort.
    effort_range: [f64; 2],
}

/// Gains and limit of a PD actuator.
///
/// ```
/// use pliant_contact_sap::PdGains;
///
/// let gains = PdGains { proportional: -1.0, derivative: 0.0, effort_limit: f64::INFINITY };
/// let error = gains.validate(|| "elbow".into()).unwrap_err();
/// assert!(error.to_string().contains("elbow"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PdGains {
    /// Kp, N·m/rad or N/m, finite, not negative.
    pub proportional: f64,
    /// Kd, N·m·s/rad or N·s/m, finite, not negative.
    pub derivative: f64,
    /// e, N·m or N; may be infinite.
    pub effort_limit: f64,
}

impl PdGains {
    /// Checks every number.
    ///
    /// # Errors
    /// [`SolveError::Parameter`] for the first parameter out of range; `actuator` names the actuator.
    pub fn validate(&self, actuator: impl FnOnce() -> String) -> Result<(), SolveError> {
        self.check().map_err(|fault| fault.of(actuator()))
    }

    fn check(&self) -> Result<(), Fault> {
        at_least_zero("proportional gain", self.proportional)?;
        at_least_zero("derivative gain", self.derivative)?;
        at_least_zero_or_infinite("effort limit", self.effort_limit)
    }
}

/// The command of a PD actuator for one step.
///
/// ```
/// use nalgebra::Vector1;
/// use pliant_contact_sap::{PdActuator, PdCommand, PdGains, Potential};
///
/// // A shoulder 0.1 rad short of its target, with 3 N·m of gravity compensation: u = Kp · 0.1 + 3 at rest.
/// let gains = PdGains { proportional: 100.0, derivative: 5.0, effort_limit: 50.0 };
/// let command = PdCommand { position_error: -0.1, velocity: 0.0, feed_forward: 3.0 };
/// let law = PdActuator::new(0.01, gains, command, 1.0);
/// assert!((law.impulse(&Vector1::new(0.0)).x - 0.01 * 13.0).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PdCommand {
    /// q0 − q_d, rad or m; where θ_vq < 1, q0 [`coasted`](TimeStep::coasted).
    pub position_error: f64,
    /// v_d, rad/s or m/s.
    pub velocity: f64,
    /// u_ff, N·m or N.
    pub feed_forward: f64,
}

/// Derivatives of the impulse of a PD actuator by its command.
///
/// ```
/// use nalgebra::Vector1;
/// use pliant_contact_sap::{PdActuator, PdCommand, PdGains, Potential};
///
/// let gains = PdGains { proportional: 100.0, derivative: 5.0, effort_limit: 20.0 };
/// let law = |position_error| PdActuator::new(0.01, gains, PdCommand { position_error, ..PdCommand::default() }, 1.0);
/// // A target 0.1 rad further ahead: the impulse at rest rises by ∂γ/∂q_d · 0.1 = δt Kp · 0.1.
/// let sensitivity = law(0.0).sensitivity(0.0);
/// let rise = law(-0.1).impulse(&Vector1::new(0.0)).x - law(0.0).impulse(&Vector1::new(0.0)).x;
/// assert!((sensitivity.position - 1.0).abs() < 1e-15 && (rise - 0.1).abs() < 1e-15);
/// assert_eq!(law(-1.0).sensitivity(0.0).position, 0.0); // 100 N·m are wanted, the actuator is saturated
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PdSensitivity {
    /// ∂γ/∂q_d, N·m·s/rad or N·s/m.
    pub position: f64,
    /// ∂γ/∂v_d, N·m·s²/rad or kg.
    pub velocity: f64,
    /// ∂γ/∂u_ff, s.
    pub feed_forward: f64,
}

impl PdActuator {
    /// `position_error` = q0 − q_d (rad or m), targets and gains in SI, `effort_limit` may be infinite, `w` the inverse
    /// inertia of the joint.
    ///
    /// Gains beyond the near-rigid limit δt(θ_vq δtKp + Kd) = 4π²/(β²w) are scaled down to it, with the ratio Kd/Kp unchanged.
    /// Feed-forward is unchanged.
    #[must_use]
    pub fn new(time_step: impl Into<TimeStep>, gains: PdGains, command: PdCommand, w: f64) -> Self {
        let time_step = time_step.into();
        let time_step_s = time_step.length_s;
        let PdGains {
            proportional,
            derivative,
            effort_limit,
        } = gains;
        let requested = time_step.positions_s() * proportional + derivative;
        let most = 1.0 / (time_step_s * near_rigid_regularisation(NEAR_RIGID_ROW, w));
        let scale = if requested > most {
            most / requested
        } else {
            1.0
        };
        Self {
            time_step_s,
            effort_at_rest: scale
                * (derivative * command.velocity - proportional * command.position_error)
                + command.feed_forward,
            gain: scale * requested,
            proportional: scale * proportional,
            derivative: scale * derivative,
            effort_range: [-effort_limit, effort_limit],
        }
    }

    /// The same actuator, if it can only push towards larger positions.
    ///
    /// ```
    /// use nalgebra::Vector1;
    /// use pliant_contact_sap::{PdActuator, PdCommand, PdGains, Potential};
    ///
    /// let gains = PdGains { proportional: 100.0, derivative: 0.0, effort_limit: 50.0 };
    /// let effort = |position_error| {
    ///     let command = PdCommand { position_error, ..PdCommand::default() };
    ///     PdActuator::new(0.01, gains, command, 1.0).pushing_up().impulse(&Vector1::new(0.0)).x / 0.01
    /// };
    /// assert!((effort(-0.1) - 10.0).abs() < 1e-12);
    /// assert_eq!(effort(0.1), 0.0);
    /// ```
    #[must_use]
    pub fn pushing_up(mut self) -> Self {
        self.effort_range[0] = 0.0;
        self
    }

    /// The same actuator, if it can only push towards smaller positions.
    #[must_use]
    pub fn pushing_down(mut self) -> Self {
        self.effort_range[1] = 0.0;
        self
    }

    /// Derivatives of the impulse at the joint velocity `v` by targets and feed-forward; zero where the effort is at its limit.
    #[must_use]
    pub fn sensitivity(&self, v: f64) -> PdSensitivity {
        if !self.is_inside(self.effort_at_rest - self.gain * v) {
            return PdSensitivity::default();
        }
        PdSensitivity {
            position: self.time_step_s * self.proportional,
            velocity: self.time_step_s * self.derivative,
            feed_forward: self.time_step_s,
        }
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        positive("time step (s)", self.time_step_s)?;
        at_least_zero("gain θ_vq δtKp + Kd", self.gain)?;
        finite(
            "effort at v = 0, from targets and feed-forward",
            self.effort_at_rest,
        )?;
        let [least, most] = self.effort_range;
        at_least_zero_or_infinite("effort limit", -least)?;
        at_least_zero_or_infinite("effort limit", most)
    }

    /// Whether an effort is not saturated.
    #[inline]
    fn is_inside(&self, u: f64) -> bool {
        let [least, most] = self.effort_range;
        least < u && u < most
    }

    /// Not f64::clamp, which panics for invalid bounds, as this may run before validation.
    #[inline]
    fn clamp(&self, u: f64) -> f64 {
        let [least, most] = self.effort_range;
        if u < least {
            least
        } else if u > most {
            most
        } else {
            u
        }
    }

    /// Mean of clamp(u) between `u0` and `u1`.
    #[inline]
    fn mean_effort(&self, u0: f64, u1: f64) -> f64 {
        let (b0, b1) = (self.clamp(u0), self.clamp(u1));
        let (beyond_0, inside, beyond_1) = ((u0 - b0).abs(), (b1 - b0).abs(), (u1 - b1).abs());
        if (b0 == u0 && b1 == u1) || b0 == b1 {
            return 0.5 * (b0 + b1);
        }
        // Three parts of the interval from u0 to u1: beyond the bound at u0, inside, beyond the bound at u1.
        (b0 * beyond_0 + 0.5 * (b0 + b1) * inside + b1 * beyond_1) / (beyond_0 + inside + beyond_1)
    }
}

impl Potential<1> for PdActuator {
    #[inline]
    fn cost(&self, v_c: &Vector1<f64>) -> f64 {
        let u = self.effort_at_rest - self.gain * v_c.x;
        -self.time_step_s * v_c.x * self.mean_effort(self.effort_at_rest, u)
    }

    #[inline]
    fn impulse(&self, v_c: &Vector1<f64>) -> Vector1<f64> {
        let u = self.effort_at_rest - self.gain * v_c.x;
        Vector1::new(self.time_step_s * self.clamp(u))
    }

    #[inline]
    fn hessian(&self, v_c: &Vector1<f64>) -> Matrix1<f64> {
        let u = self.effort_at_rest - self.gain * v_c.x;
        Matrix1::new(if self.is_inside(u) {
            self.time_step_s * self.gain
        } else {
            0.0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::check_potential;

    const DT: f64 = 0.01;

    fn gains(proportional: f64, derivative: f64, effort_limit: f64) -> PdGains {
        PdGains {
            proportional,
            derivative,
            effort_limit,
        }
    }

    fn command(position_error: f64, velocity: f64, feed_forward: f64) -> PdCommand {
        PdCommand {
            position_error,
            velocity,
            feed_forward,
        }
    }

    #[track_caller]
    fn check(gains: PdGains, command: PdCommand) {
        gains.validate(String::new).unwrap();
        let law = PdActuator::new(DT, gains, command, 1.0);
        for law in [law, law.pushing_up(), law.pushing_down()] {
            check_law(&law);
        }
    }

    #[track_caller]
    fn check_law(law: &PdActuator) {
        law.validate().unwrap();
        let mut at: Vec<_> = [-20.0, -1.0, 0.0, 1e-9, 0.3, 50.0]
            .map(Vector1::new)
            .to_vec();
        let [least, most] = law.effort_range;
        for e in [least, 0.0, most] {
            let border = (law.effort_at_rest - e) / law.gain;
            if border.is_finite() {
                at.extend([border - 1e-6, border, border + 1e-6].map(Vector1::new));
            }
        }
        check_potential(law, &at).unwrap();
        // Exactly saturated, never beyond.
        let within = DT * least..=DT * most;
        assert!(at.iter().all(|v| within.contains(&law.impulse(v).x)));
    }

    #[test]
    fn impulse_and_hessian_are_derivatives_of_the_cost_in_every_region() {
        check(gains(100.0, 5.0, f64::INFINITY), command(0.2, 0.1, 3.0));
        check(gains(100.0, 5.0, 10.0), command(0.2, 0.1, 3.0));
        check(gains(100.0, 5.0, 10.0), command(7.0, 0.0, 0.0)); // saturated at rest
        check(gains(1e12, 1e3, 10.0), command(0.3, 0.0, 0.0)); // capped
        check(gains(0.0, 0.0, 10.0), command(0.3, 1.0, 4.0)); // feed-forward only
        check(gains(0.0, 0.0, 10.0), command(0.3, 1.0, 40.0)); // saturated feed-forward
        check(gains(0.0, 1e-9, 10.0), command(0.0, 0.0, 4.0)); // weak gain, large effort
        check(gains(100.0, 5.0, 0.0), command(0.2, 0.0, 0.0)); // powerless
    }

    #[test]
    fn effort_saturates_exactly_at_its_limit() {
        let law = PdActuator::new(DT, gains(1e7, 1.0, 87.0), command(-0.5, 0.0, 0.0), 2.0);
        assert_eq!(law.impulse(&Vector1::new(0.0)).x, DT * 87.0);
        assert_eq!(law.impulse(&Vector1::new(1e5)).x, -DT * 87.0);
        assert_eq!(law.hessian(&Vector1::new(0.0)).x, 0.0);
    }

    #[test]
    fn an_unsaturated_actuator_is_implicit_euler() {
        let (kp, kd, e, v_d, u_ff, m, v0) = (40.0, 3.0, -0.2, 0.7, 1.1, 2.0, 0.4);
        let law = PdActuator::new(DT, gains(kp, kd, 1e3), command(e, v_d, u_ff), 1.0 / m);
        let v = (m * v0 + DT * (-kp * e + kd * v_d + u_ff)) / (m + DT * (DT * kp + kd));
        let gamma = law.impulse(&Vector1::new(v)).x;
        assert!((m * (v - v0) - gamma).abs() < 1e-14);
    }

    #[test]
    fn capped_gains_keep_their_ratio_and_feed_forward_its_value() {
        let w = 0.5;
        let (kp, kd) = (1e9, 4e8);
        let law = |p, v, u| PdActuator::new(DT, gains(kp, kd, f64::INFINITY), command(p, v, u), w);
        let most = 1.0 / near_rigid_regularisation(NEAR_RIGID_ROW, w);
        let at_rest = Vector1::new(0.0);
        assert!((law(0.0, 0.0, 0.0).hessian(&at_rest).x / most - 1.0).abs() < 1e-14);
        let kp_in_use = -law(1.0, 0.0, 0.0).impulse(&at_rest).x / DT;
        let kd_in_use = law(0.0, 1.0, 0.0).impulse(&at_rest).x / DT;
        assert!((kd_in_use / kp_in_use - kd / kp).abs() < 1e-14);
        assert!((DT * (DT * kp_in_use + kd_in_use) / most - 1.0).abs() < 1e-14);
        assert_eq!(law(0.0, 0.0, 7.0).impulse(&at_rest).x, DT * 7.0);
    }

    #[test]
    fn sensitivities_are_derivatives_by_the_command() {
        // Free, capped and saturated.
        for (gains, v) in [
            (gains(100.0, 5.0, 20.0), 0.3),
            (gains(1e9, 4e8, f64::INFINITY), 0.1),
            (gains(100.0, 5.0, 2.0), 5.0),
        ] {
            let impulse = |error, velocity, effort| {
                let law = PdActuator::new(DT, gains, command(error, velocity, effort), 0.5);
                law.impulse(&Vector1::new(v)).x
            };
            let h = 1e-4;
            let found = PdActuator::new(DT, gains, command(0.02, 0.1, 1.0), 0.5).sensitivity(v);
            let by_position = impulse(0.02 - h, 0.1, 1.0) - impulse(0.02 + h, 0.1, 1.0);
            let by_velocity = impulse(0.02, 0.1 + h, 1.0) - impulse(0.02, 0.1 - h, 1.0);
            let by_effort = impulse(0.02, 0.1, 1.0 + h) - impulse(0.02, 0.1, 1.0 - h);
            for (found, rise) in [
                (found.position, by_position),
                (found.velocity, by_velocity),
                (found.feed_forward, by_effort),
            ] {
                let quotient = rise / (2.0 * h);
                assert!(
                    (found - quotient).abs() <= 1e-6 * (1.0 + quotient.abs()),
                    "{found} {quotient}"
                );
            }
        }
        let saturated = PdActuator::new(DT, gains(100.0, 5.0, 2.0), command(0.0, 0.0, 0.0), 0.5);
        assert_eq!(saturated.sensitivity(5.0), PdSensitivity::default());
    }

    #[test]
    fn bad_numbers_are_rejected_without_a_panic() {
        for (g, c) in [
            (gains(f64::NAN, 0.0, 1.0), command(0.0, 0.0, 0.0)),
            (gains(0.0, -1.0, 1.0), command(0.0, 0.0, 0.0)),
            (gains(1.0, 1.0, -1.0), command(0.0, 0.0, 0.0)),
            (gains(1.0, 1.0, f64::NAN), command(0.0, 0.0, 0.0)),
            (gains(f64::INFINITY, 1.0, 1.0), command(0.0, 0.0, 0.0)),
            (gains(1.0, 1.0, 1.0), command(f64::NAN, 0.0, 0.0)),
            (gains(1.0, 1.0, 1.0), command(0.0, 0.0, f64::INFINITY)),
        ] {
            let law = PdActuator::new(DT, g, c, 1.0);
            assert!(law.validate().is_err(), "{law:?}");
            let _ = law.impulse(&Vector1::new(0.3));
        }
        assert!(gains(-1.0, 0.0, 1.0).validate(|| "joint".into()).is_err());
    }
}
