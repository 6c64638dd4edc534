//! What a contact law is made from: compliance, friction, and the inertia behind the contact.

use std::f64::consts::PI;

use super::normal_force::NormalForce;
use crate::error::SolveError;

/// β of contacts: stiffness is capped where the contact's own oscillation has the period β δt.
pub const NEAR_RIGID_CONTACT: f64 = 1.0;
/// β of limits, ties and actuators, which are kept ten times stiffer than contacts.
pub const NEAR_RIGID_ROW: f64 = 0.1;
/// σ: in stiction, a contact creeps no faster than σ w γ_t.
pub(crate) const STICTION_REGULARISATION: f64 = 1e-3;

/// R_nr = β² w/(4π²), 1/kg: the smallest regularisation that a step can resolve for an inverse inertia `w` (1/kg).
///
/// A mass 1/w on the stiffness 1/(δt² R) swings with the period β δt. Stiffer constraints would only spoil the
/// condition of the problem. Source: Castro, Permenter, Han (2022), section V-A.
#[must_use]
pub fn near_rigid_regularisation(beta: f64, w: f64) -> f64 {
    beta * beta * w / (4.0 * PI * PI)
}

/// How a contact loses energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dissipation {
    /// Hunt-Crossley: force × (1 − d v_n). d in s/m; 1/d bounds the rebound speed.
    HuntCrossley(f64),
    /// Kelvin-Voigt with relaxation time τ in s.
    RelaxationTime(f64),
}

/// How the friction limit μ n0 of the lagged model is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionLimit {
    /// From the contact solved alone and implicitly; right in the step of an impact, too.
    #[default]
    LocalImplicit,
    /// n0 = n(v_n at the start of the step), as published. Sticks in impacts.
    Lagged,
}

/// Normal velocities from which the friction limit is predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalPrediction {
    /// v_n at the start of the step, m/s.
    pub start: f64,
    /// v_n of the free motion, without any contact, m/s.
    pub free: f64,
    /// Σ_j |W_ij| over the contacts of the same pair, 1/kg: how fast the contact gives way when all push alike.
    pub row_sum: f64,
}

/// A contact between two materials, once geometry and inertia are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactParameters {
    /// δt, s.
    pub time_step_s: f64,
    /// φ0 at the start of the step, m, negative in penetration.
    pub signed_distance: f64,
    /// k, N/m; may be infinite.
    pub stiffness: f64,
    /// Dissipation.
    pub dissipation: Dissipation,
    /// μ ≥ 0.
    pub friction: f64,
    /// v_s: slip below which friction counts as stiction, m/s. 1e-4: 0.1 mm of creep in a second.
    pub stiction_speed: f64,
    /// w = ‖W‖/3, 1/kg, W = J A⁻¹Jᵀ the contact's 3×3 block of the Delassus operator.
    pub inverse_inertia: f64,
}

impl ContactParameters {
    /// Checks every number.
    ///
    /// # Errors
    /// [`SolveError::Parameter`] naming the first that is out of range; `constraint` says which contact it is.
    pub fn validate(&self, constraint: impl Fn() -> String) -> Result<(), SolveError> {
        let check = |ok: bool, parameter, value, allowed| {
            if ok {
                return Ok(());
            }
            Err(SolveError::Parameter {
                constraint: constraint(),
                parameter,
                value,
                allowed,
            })
        };
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let non_negative = |x: f64| x >= 0.0 && x.is_finite();
        check(
            positive(self.time_step_s),
            "time step",
            self.time_step_s,
            "must be positive and finite",
        )?;
        check(
            self.signed_distance.is_finite(),
            "signed distance",
            self.signed_distance,
            "must be finite",
        )?;
        check(
            self.stiffness >= 0.0,
            "stiffness",
            self.stiffness,
            "must not be negative",
        )?;
        let (name, value) = match self.dissipation {
            Dissipation::HuntCrossley(d) => ("Hunt-Crossley dissipation", d),
            Dissipation::RelaxationTime(tau) => ("relaxation time", tau),
        };
        check(
            non_negative(value),
            name,
            value,
            "must be finite and not negative",
        )?;
        check(
            non_negative(self.friction),
            "friction coefficient",
            self.friction,
            "must be finite and not negative",
        )?;
        check(
            positive(self.stiction_speed),
            "stiction speed",
            self.stiction_speed,
            "must be positive and finite",
        )?;
        check(
            positive(self.inverse_inertia),
            "inverse inertia",
            self.inverse_inertia,
            "must be positive: a contact needs a body that can move",
        )
    }

    /// The stiffness in use, N/m: k, capped at the near-rigid 4π²/(β² δt² w).
    #[must_use]
    pub fn capped_stiffness(&self) -> f64 {
        let r = near_rigid_regularisation(NEAR_RIGID_CONTACT, self.inverse_inertia);
        self.stiffness
            .min(1.0 / (self.time_step_s * self.time_step_s * r))
    }

    /// n(v_n) with the capped stiffness.
    #[must_use]
    pub fn normal_force(&self) -> NormalForce {
        let k = self.capped_stiffness();
        let (slope, dissipation) = match self.dissipation {
            Dissipation::HuntCrossley(d) => (self.time_step_s * k, d),
            Dissipation::RelaxationTime(tau) => ((self.time_step_s + tau) * k, 0.0),
        };
        NormalForce {
            time_step_s: self.time_step_s,
            elastic_force: -k * self.signed_distance,
            slope,
            dissipation,
        }
    }

    /// ε of the softened slip, m/s: max(v_s, μ σ w n0). The second argument keeps heavy loads from over-stiff friction.
    #[must_use]
    pub fn slip_softening(&self, n0: f64) -> f64 {
        let r_t = STICTION_REGULARISATION * self.inverse_inertia;
        self.stiction_speed.max(self.friction * r_t * n0)
    }

    /// n0, N·s: the normal impulse that bounds friction during the solve.
    ///
    /// [`FrictionLimit::LocalImplicit`] solves v_n − v_ref = w (n(v_n) − n_prev) for this contact alone, with w the
    /// row sum over its pair. n_prev is the impulse the law itself gave at the end of the last step,
    /// δt (−kφ0)₊(1 − d v_n0)₊, and v_ref the start velocity; a contact that carried nothing yet starts from the free
    /// motion. So a resting contact keeps its load whatever bodies stand on it, and an impact is limited by its
    /// momentum.
    #[must_use]
    pub fn friction_limit(&self, rule: FrictionLimit, predicted: &NormalPrediction) -> f64 {
        let law = self.normal_force();
        match rule {
            FrictionLimit::Lagged => law.impulse(predicted.start),
            FrictionLimit::LocalImplicit => {
                let carried = NormalForce { slope: 0.0, ..law }.impulse(predicted.start);
                let v_ref = if carried > 0.0 {
                    predicted.start
                } else {
                    predicted.free
                };
                law.implicit_impulse(predicted.row_sum, v_ref, carried)
            }
        }
    }
}
