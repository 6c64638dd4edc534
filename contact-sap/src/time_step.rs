//! Length and integration scheme of a time step.

use serde::{Deserialize, Serialize};

/// A scheme of the θ-family, which takes (q0, v0) to (q, v); one for all bodies.
///
/// ```text
/// M (v − v0) = δt k(q^θ, v^θ) + J(q0)ᵀγ        q^θ = θ q + (1 − θ) q0,   v^θ = θ v + (1 − θ) v0
/// q = q0 + δt v^vq                             v^vq = θ_vq v + (1 − θ_vq) v0
/// ```
///
/// Forces inside a body (elasticity, springs, dampers) act at q^θ, v^θ. Constraints (contacts, limits, bilateral rows, actuators)
/// act at the end of the step for any θ: their distances are those at q, g(v) = g0 + δt (θ_vq v_c + (1 − θ_vq) v_c0),
/// with the same θ_vq for all bodies, so that a relative velocity gives the same change of distance on both sides. Prescribed
/// velocities hold for the whole step.
///
/// | | θ | θ_vq | order in free motion | |
/// |---|---|---|---|---|
/// | `BackwardEuler` | 1 | 1 | 1 | dissipates; the default |
/// | `Midpoint` | ½ | ½ | 2 | keeps energy well |
/// | `Symplectic` | 0 | 1 | 1 | keeps energy well; explicit: stable while δt < 2/ω of springs, δt < 2m/d of dampers |
///
/// With constraint forces every scheme is of order 1. All have the same equilibria. In a midpoint step, half of the start
/// velocity moves positions before a constraint can act on it: an impact penetrates by up to ½δt‖v_n0‖, a stiff contact without
/// dissipation rebounds elastically, and an actuator of large stiffness Kp oscillates from step to step unless its damping Kd
/// is at least about ½δt Kp.
///
/// Source: Han, Masterjohn, Castro (2023), section IV-B, eqs. 1-4; that constraints act at the end of the step is
/// Castro, Permenter, Han (2022), section III.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{BodyError, BodyState, Control, DeformableModel, Integration, StepInput, TimeStep};
///
/// // A net that is let go at z = 0.5 m: after 10 ms it has fallen by ½ g δt² = 0.49 mm.
/// let net = MassSpringNet::default();
/// let fallen = |integration| -> Result<f64, BodyError> {
///     let (control, mut step, mut next) = (Control::default(), net.new_step(), BodyState::default());
///     let time_step = TimeStep { length_s: 0.01, integration };
///     step.begin(&net.default_state(), &StepInput::new(time_step, Vector3::new(0.0, 0.0, -9.81), &control))?;
///     let v = [0.0, 0.0, -0.0981].repeat(100);
///     assert!(step.advance(&v, &mut next)?.warnings.is_empty());
///     Ok(0.5 - next.q[2])
/// };
/// assert!((fallen(Integration::Midpoint)? - 0.5 * 9.81e-4).abs() < 1e-12); // exact
/// assert!((fallen(Integration::BackwardEuler)? - 9.81e-4).abs() < 1e-12); // δt times the end velocity
/// # Ok::<(), BodyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Integration {
    /// θ = θ_vq = 1.
    #[default]
    BackwardEuler,
    /// θ = θ_vq = ½.
    Midpoint,
    /// Symplectic Euler: θ = 0, θ_vq = 1.
    Symplectic,
}

impl Integration {
    /// All schemes.
    pub const ALL: [Self; 3] = [Self::BackwardEuler, Self::Midpoint, Self::Symplectic];

    /// θ: weight of the end of the step in the forces.
    #[must_use]
    pub fn theta(self) -> f64 {
        match self {
            Self::BackwardEuler => 1.0,
            Self::Midpoint => 0.5,
            Self::Symplectic => 0.0,
        }
    }

    /// θ_vq: weight of the end velocity in the motion.
    #[must_use]
    pub fn theta_vq(self) -> f64 {
        match self {
            Self::BackwardEuler | Self::Symplectic => 1.0,
            Self::Midpoint => 0.5,
        }
    }
}

/// Length and scheme of a time step. Conversion from a number gives backward Euler.
///
/// ```
/// use pliant_contact_sap::{Integration, TimeStep};
///
/// let step = TimeStep { length_s: 0.01, integration: Integration::Midpoint };
/// // 1 m/s at the start and 3 m/s at the end: a displacement of 2 cm, of which 0.5 cm is due to the start velocity.
/// assert_eq!(step.mean_velocity(1.0, 3.0), 2.0);
/// assert_eq!(step.coasted(0.0, 1.0), 0.005);
/// assert_eq!(TimeStep::from(0.01).coasted(0.0, 1.0), 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeStep {
    /// δt, s, positive.
    pub length_s: f64,
    /// θ and θ_vq.
    pub integration: Integration,
}

impl From<f64> for TimeStep {
    /// A step of backward Euler of this length, s.
    fn from(length_s: f64) -> Self {
        Self {
            length_s,
            integration: Integration::BackwardEuler,
        }
    }
}

impl TimeStep {
    /// θδt, s: derivative of impulses of dampers (springs) by their end velocity (position), per unit of damping (stiffness).
    #[must_use]
    pub fn forces_s(&self) -> f64 {
        self.integration.theta() * self.length_s
    }

    /// θ_vq δt, s: derivative of the end position by the end velocity.
    #[must_use]
    pub fn positions_s(&self) -> f64 {
        self.integration.theta_vq() * self.length_s
    }

    /// v^vq, the velocity that moves positions over the step; exactly `end` for θ_vq = 1.
    #[must_use]
    #[inline]
    pub fn mean_velocity(&self, start: f64, end: f64) -> f64 {
        match self.integration {
            Integration::BackwardEuler | Integration::Symplectic => end,
            Integration::Midpoint => 0.5 * (start + end),
        }
    }

    /// v^θ, the velocity at which dampers act; exactly `end` for θ = 1, exactly `start` for θ = 0.
    #[must_use]
    #[inline]
    pub fn force_velocity(&self, start: f64, end: f64) -> f64 {
        match self.integration {
            Integration::BackwardEuler => end,
            Integration::Midpoint => 0.5 * (start + end),
            Integration::Symplectic => start,
        }
    }

    /// [`mean_velocity`](Self::mean_velocity) of all entries; `out` is overwritten and its memory reused.
    pub fn mean_velocities(&self, start: &[f64], end: &[f64], out: &mut Vec<f64>) {
        out.clear();
        let both = start.iter().zip(end);
        out.extend(both.map(|(v0, v)| self.mean_velocity(*v0, *v)));
    }

    /// g0 + δt (1 − θ_vq) ġ0: the end distance from g0 with rate ġ0 if the end rate is zero. In general
    /// g = this + θ_vq δt ġ with the end rate ġ; exactly `distance` for θ_vq = 1.
    #[must_use]
    #[inline]
    pub fn coasted(&self, distance: f64, rate: f64) -> f64 {
        match self.integration {
            Integration::BackwardEuler | Integration::Symplectic => distance,
            Integration::Midpoint => distance + 0.5 * self.length_s * rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coasting_and_the_end_velocity_add_up_to_the_displacement() {
        for integration in Integration::ALL {
            let step = TimeStep {
                length_s: 0.01,
                integration,
            };
            let (g0, v0, v) = (0.3, -2.0, 1.5);
            let by_mean = g0 + step.length_s * step.mean_velocity(v0, v);
            let by_coasting = step.coasted(g0, v0) + step.positions_s() * v;
            assert!((by_mean - by_coasting).abs() < 4.0 * f64::EPSILON);
            let theta = integration.theta();
            let at_theta = theta * v + (1.0 - theta) * v0;
            assert_eq!(step.force_velocity(v0, v), at_theta);
            let theta_vq = integration.theta_vq();
            let plain = g0 + step.length_s * (theta_vq * v + (1.0 - theta_vq) * v0);
            assert!((by_mean - plain).abs() < 4.0 * f64::EPSILON);
        }
    }

    #[test]
    fn backward_euler_adds_no_rounding() {
        let step = TimeStep::from(1e-3);
        assert_eq!(step.integration, Integration::default());
        assert_eq!(step.coasted(0.1, f64::MAX), 0.1);
        assert_eq!(step.mean_velocity(f64::NAN, 0.7), 0.7);
        assert_eq!(step.force_velocity(f64::NAN, 0.7), 0.7);
        assert_eq!((step.forces_s(), step.positions_s()), (1e-3, 1e-3));
    }
}
