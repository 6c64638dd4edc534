//! Implicit PD control with an effort limit.

use nalgebra::{Matrix1, Vector1};

use super::parameters::{NEAR_RIGID_ROW, near_rigid_regularisation};
use crate::potential::Potential;

/// γ = δt clamp(u(v), ±e), u(v) = −Kp(q0 + δt v − q_d) − Kd(v − v_d) + u_ff.
///
/// ```text
/// ℓ = δt C(u)/(δtKp + Kd),   C(x) = ½x² for |x| ≤ e, otherwise e(|x| − e/2)
/// ```
///
/// Stable for any gains: they are part of the minimisation. Saturates at e exactly.
/// Source: Castro, Permenter, Han (2022), section V; Drake's PD controllers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PdActuator {
    time_step_s: f64,
    /// u at v = 0, N·m or N.
    effort_at_rest: f64,
    /// δtKp + Kd.
    gain: f64,
    effort_limit: f64,
}

impl PdActuator {
    /// `position_error` = q0 − q_d (rad or m), targets and gains in SI, `effort_limit` may be infinite, `w` the inverse
    /// inertia of the joint.
    ///
    /// Gains stiffer than the step can resolve are lowered together, keeping Kd/Kp, to the near-rigid limit.
    #[must_use]
    pub fn new(time_step_s: f64, gains: PdGains, command: PdCommand, w: f64) -> Self {
        let PdGains {
            proportional,
            derivative,
            effort_limit,
        } = gains;
        let asked = time_step_s * proportional + derivative;
        let most = 1.0 / (time_step_s * near_rigid_regularisation(NEAR_RIGID_ROW, w));
        let scale = if asked > most { most / asked } else { 1.0 };
        Self {
            time_step_s,
            effort_at_rest: scale
                * (derivative * command.velocity - proportional * command.position_error)
                + command.feed_forward,
            gain: scale * asked,
            effort_limit,
        }
    }
}

/// Gains and limit of a PD actuator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PdGains {
    /// Kp, N·m/rad or N/m, not negative.
    pub proportional: f64,
    /// Kd, N·m·s/rad or N·s/m, not negative.
    pub derivative: f64,
    /// e, N·m or N; may be infinite.
    pub effort_limit: f64,
}

/// What a PD actuator is asked for in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PdCommand {
    /// q0 − q_d, rad or m.
    pub position_error: f64,
    /// v_d, rad/s or m/s.
    pub velocity: f64,
    /// u_ff, N·m or N.
    pub feed_forward: f64,
}

impl Potential<1> for PdActuator {
    #[inline]
    fn cost(&self, v_c: &Vector1<f64>) -> f64 {
        let gamma = self.impulse(v_c).x;
        if self.gain == 0.0 {
            return -gamma * v_c.x;
        }
        let u = self.effort_at_rest - self.gain * v_c.x;
        let bounded = gamma / self.time_step_s;
        self.time_step_s * bounded * (u - 0.5 * bounded) / self.gain
    }

    #[inline]
    fn impulse(&self, v_c: &Vector1<f64>) -> Vector1<f64> {
        let u = self.effort_at_rest - self.gain * v_c.x;
        Vector1::new(self.time_step_s * u.clamp(-self.effort_limit, self.effort_limit))
    }

    #[inline]
    fn hessian(&self, v_c: &Vector1<f64>) -> Matrix1<f64> {
        let u = self.effort_at_rest - self.gain * v_c.x;
        let inside = u.abs() < self.effort_limit;
        Matrix1::new(if inside {
            self.time_step_s * self.gain
        } else {
            0.0
        })
    }
}
