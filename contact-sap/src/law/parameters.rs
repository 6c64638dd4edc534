//! Parameters of contact laws: compliance, friction and effective inertia.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};

use super::normal_force::NormalForce;
use super::validity::{Fault, at_least_zero, at_least_zero_or_infinite, finite, positive};
use crate::error::SolveError;
use crate::time_step::TimeStep;

/// β of contacts: stiffness is capped where the contact oscillates with the period β δt.
///
/// Under r times the weight of the lighter body, a capped contact is compressed by about r g (β δt/2π)²: for r = 1e6 and 1 ms
/// 2.5 mm, with the published β = 1 a quarter of a metre. The stiffer cap costs a fifth (lagged) to a third (SAP) more Newton
/// iterations on random problems of up to 1e14 N/m, and three quarters more in large islands.
pub const NEAR_RIGID_CONTACT: f64 = 0.1;
/// β of contacts of the similar model. Newton's steps along its curved cone get shorter with stiffness: with 1 the worst of
/// 10,000 random problems takes fewer than 70 iterations, with 0.1 more than 250.
pub const NEAR_RIGID_SIMILAR: f64 = 1.0;
/// β of limits, constraints and actuators.
pub const NEAR_RIGID_ROW: f64 = 0.1;
/// σ: in stiction, a contact creeps no faster than σ w γ_t.
pub const STICTION_REGULARISATION: f64 = 1e-3;

/// R_nr = β² w/(4π²), 1/kg: the smallest regularisation that a step can resolve for an inverse inertia `w` (1/kg).
///
/// A mass 1/w on the stiffness 1/(δt² R) oscillates with the period β δt. Stiffer constraints would only worsen the
/// condition number of the problem. Source: Castro, Permenter, Han (2022), section V-A.
#[must_use]
pub fn near_rigid_regularisation(beta: f64, w: f64) -> f64 {
    beta * beta * w / (4.0 * PI * PI)
}

/// Dissipation model of a contact.
///
/// ```
/// use pliant_contact_sap::{ContactParameters, Dissipation, NEAR_RIGID_CONTACT};
///
/// # let contact = ContactParameters {
/// #     time_step: 1e-3.into(), signed_distance: -1e-3, start_velocity: 0.0, stiffness: 1e5, friction: 0.5,
/// #     dissipation: Dissipation::HuntCrossley(0.0), stiction_speed: 1e-4, inverse_inertia: 1.0,
/// #     near_rigid: NEAR_RIGID_CONTACT,
/// # };
/// // 1 mm deep and approaching at 0.1 m/s: after a step of 1 ms the elastic force is 100 kN/m · 1.1 mm = 110 N.
/// let force = |dissipation| ContactParameters { dissipation, ..contact }.normal_force().impulse(-0.1) / 1e-3;
/// assert!((force(Dissipation::HuntCrossley(2.0)) - 132.0).abs() < 1e-9); // 110 N · (1 + 2 · 0.1)
/// assert!((force(Dissipation::RelaxationTime(2e-3)) - 130.0).abs() < 1e-9); // 110 N + k τ · 0.1 m/s
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dissipation {
    /// Hunt-Crossley: force × (1 − d v_n). d in s/m; 1/d bounds the rebound speed.
    HuntCrossley(f64),
    /// Kelvin-Voigt with relaxation time τ in s.
    RelaxationTime(f64),
}

/// How the friction bound μ n0 of the lagged model is predicted.
///
/// ```
/// use pliant_contact_sap::*;
///
/// # let contact = ContactParameters {
/// #     time_step: 0.01.into(), signed_distance: 0.0, start_velocity: -1.0, stiffness: 1e6, friction: 0.5,
/// #     dissipation: Dissipation::HuntCrossley(0.0), stiction_speed: 1e-4, inverse_inertia: 0.5,
/// #     near_rigid: NEAR_RIGID_CONTACT,
/// # };
/// // 2 kg arrive at the floor at 1 m/s: the impulse that stops them is 2 N·s, and less than that on a soft floor.
/// let predicted = NormalPrediction { free: -1.0, constrained: None, row_sum: 0.5 };
/// let local = contact.friction_limit(FrictionLimit::LocalImplicit, &predicted);
/// assert!(local > 1.9 && local < 2.0);
/// // The law at the velocity before the impact: δt k δt · 1 m/s = 100 N·s, with k = 1 MN/m and δt = 10 ms.
/// let lagged = contact.friction_limit(FrictionLimit::Lagged, &predicted);
/// assert!((lagged - 100.0).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionLimit {
    /// n0 from a local implicit solve of the contact; also correct in the step of an impact.
    #[default]
    LocalImplicit,
    /// n0 = n(v_n at the start of the step), as published. Overestimates friction in impacts.
    Lagged,
}

/// Normal velocities for predicting the friction bound.
///
/// ```
/// use pliant_contact_sap::*;
///
/// // 2 kg at rest on the floor: its weight m g compresses the contact by φ0 = −m g/k.
/// let (m, g, dt, k) = (2.0, 9.81, 0.01, 1e5);
/// let contact = ContactParameters {
///     signed_distance: -m * g / k,
/// #   time_step: dt.into(), start_velocity: 0.0, stiffness: k, friction: 0.5,
/// #   dissipation: Dissipation::HuntCrossley(0.0), stiction_speed: 1e-4, inverse_inertia: 1.0 / m,
///     // and the rest
/// #   near_rigid: NEAR_RIGID_CONTACT,
/// };
/// // Without contact it would fall at g δt; in the last step the contact changed its velocity by as much.
/// let predicted = NormalPrediction { free: -g * dt, constrained: Some(g * dt), row_sum: 1.0 / m };
/// let n0 = contact.friction_limit(FrictionLimit::LocalImplicit, &predicted);
/// assert!((n0 - m * g * dt).abs() < 1e-12); // N·s
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalPrediction {
    /// v_n of the free motion, without any constraint, m/s.
    pub free: f64,
    /// Change of v_n by the constraints of the last step: J_n(v − v*) of that step, m/s. Zero for bodies without constraints;
    /// `None` if unknown (the first step, bodies whose velocities are new every step).
    pub constrained: Option<f64>,
    /// Σ_j |W_ij| over the contacts of the same pair, 1/kg: the inverse effective mass if all have the same impulse.
    pub row_sum: f64,
}

/// Motion and inertia for [`ContactParameters::approach_of_slip`].
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_contact_sap::*;
///
/// // A puck slides at 2 m/s.
/// let v = Vector3::new(2.0, 0.0, 0.0);
/// let slip = SlipPrediction { start: v, free: v, delassus: Matrix3::identity(), row_sum: 1.0 };
/// # let puck = ContactParameters {
/// #     time_step: 1e-3.into(), signed_distance: -1e-5, start_velocity: 0.0, stiffness: 1e6, friction: 0.5,
/// #     dissipation: Dissipation::RelaxationTime(0.2), stiction_speed: 1e-4, inverse_inertia: 1.0,
/// #     near_rigid: NEAR_RIGID_CONTACT,
/// # };
/// assert_eq!(puck.approach_of_slip(&Vector3::z(), &slip, 0.01), 0.5 * 2.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlipPrediction {
    /// v_c at the start of the step, m/s.
    pub start: Vector3<f64>,
    /// v_c of the free motion, m/s.
    pub free: Vector3<f64>,
    /// W of the contact, 1/kg.
    pub delassus: Matrix3<f64>,
    /// As in [`NormalPrediction::row_sum`], 1/kg.
    pub row_sum: f64,
}

impl SlipPrediction {
    /// ‖v_t‖ after the friction μ n0 of all contacts of the pair, m/s, which opposes the free slip.
    fn end(&self, normal_W: &Vector3<f64>, friction: f64, n0: f64) -> f64 {
        let free = in_plane(normal_W, &self.free);
        let (speed, response) = (free.norm(), normal_W.dot(&(self.delassus * normal_W)));
        if speed == 0.0 || n0 == 0.0 || response == 0.0 {
            return speed;
        }
        // The row sum is of normal directions.
        let t = free / speed;
        let row_sum = self.row_sum * t.dot(&(self.delassus * t)) / response;
        (speed - friction * n0 * row_sum).max(0.0)
    }
}

fn in_plane(normal_W: &Vector3<f64>, v: &Vector3<f64>) -> Vector3<f64> {
    v - normal_W * normal_W.dot(v)
}

/// Parameters of one contact: materials, geometry and inertia.
///
/// ```
/// use std::f64::consts::TAU;
/// use pliant_contact_sap::{ContactParameters, Dissipation, NEAR_RIGID_CONTACT};
///
/// let contact = ContactParameters {
///     time_step: 1e-3.into(),
///     signed_distance: -1e-4,
///     start_velocity: 0.0,
///     stiffness: f64::INFINITY,
///     dissipation: Dissipation::HuntCrossley(0.0),
///     friction: 0.5,
///     stiction_speed: 1e-4,
///     inverse_inertia: 2.0, // a mass of 0.5 kg
///     near_rigid: NEAR_RIGID_CONTACT,
/// };
/// // The capped stiffness: 0.5 kg on it oscillates with a tenth of the time step, β = 0.1.
/// let period = TAU / (contact.capped_stiffness() * 2.0).sqrt();
/// assert!((period - 1e-4).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactParameters {
    /// δt and θ_vq.
    pub time_step: TimeStep,
    /// φ0 at the start of the step, m, negative in penetration.
    pub signed_distance: f64,
    /// v_n0 at the start of the step, m/s.
    pub start_velocity: f64,
    /// k, N/m; may be infinite.
    pub stiffness: f64,
    /// Dissipation.
    pub dissipation: Dissipation,
    /// μ ≥ 0.
    pub friction: f64,
    /// v_s: slip speed below which a contact sticks, m/s. With 1e-4 it creeps by 0.1 mm per second.
    pub stiction_speed: f64,
    /// w = ‖W‖/3, 1/kg, W = J A⁻¹Jᵀ the contact's 3×3 block of the Delassus operator.
    pub inverse_inertia: f64,
    /// β > 0: stiffness is capped where a mass 1/w would oscillate on it with the period β δt. [`NEAR_RIGID_CONTACT`], or
    /// [`NEAR_RIGID_SIMILAR`] for [`Similar`](super::Similar).
    pub near_rigid: f64,
}

impl ContactParameters {
    /// Checks every number.
    ///
    /// # Errors
    /// [`SolveError::Parameter`] for the first parameter out of range; `constraint` names the contact.
    pub fn validate(&self, constraint: impl FnOnce() -> String) -> Result<(), SolveError> {
        self.check().map_err(|fault| fault.of(constraint()))
    }

    fn check(&self) -> Result<(), Fault> {
        positive("time step (s)", self.time_step.length_s)?;
        finite("signed distance (m)", self.signed_distance)?;
        finite("normal velocity at the start (m/s)", self.start_velocity)?;
        at_least_zero_or_infinite("stiffness (N/m)", self.stiffness)?;
        match self.dissipation {
            Dissipation::HuntCrossley(d) => at_least_zero("Hunt-Crossley dissipation (s/m)", d)?,
            Dissipation::RelaxationTime(tau) => at_least_zero("relaxation time (s)", tau)?,
        }
        at_least_zero("friction coefficient", self.friction)?;
        positive("stiction speed (m/s)", self.stiction_speed)?;
        positive(
            "inverse inertia of the contact (1/kg)",
            self.inverse_inertia,
        )?;
        positive("near-rigid period (time steps)", self.near_rigid)
    }

    /// τ, s; zero for Hunt-Crossley dissipation.
    pub(super) fn relaxation_time(&self) -> f64 {
        match self.dissipation {
            Dissipation::HuntCrossley(_) => 0.0,
            Dissipation::RelaxationTime(tau) => tau,
        }
    }

    /// φ0 + δt (1 − θ_vq) v_n0, m: the distance at the end of the step if v_n is zero from now on. In general it is
    /// this + θ_vq δt v_n.
    #[must_use]
    pub fn coasted_distance(&self) -> f64 {
        self.time_step
            .coasted(self.signed_distance, self.start_velocity)
    }

    /// v̂, m/s: contact ends the step without elastic force at this v_n, and without any impulse above it.
    ///
    /// It is −φ/(θ_vq δt + τ) in penetration and −φ/(θ_vq δt) before it, with φ the [`coasted_distance`](Self::coasted_distance): what
    /// approaches within the step is damped from touching on. The published v̂ has θ_vq δt + τ in both, and would brake a body that is a
    /// time τ away from contact.
    #[must_use]
    pub fn release_velocity(&self) -> f64 {
        let (distance, lead) = (self.coasted_distance(), self.time_step.positions_s());
        match distance > 0.0 {
            true => -distance / lead,
            false => -distance / (lead + self.relaxation_time()),
        }
    }

    /// μ‖v_t‖, m/s, with ‖v_t‖ the slip expected at the end of the step; `n0` is the normal impulse (N·s) that
    /// [`friction_limit`](Self::friction_limit) predicts.
    ///
    /// The normal impulses of the similar and the SAP model follow v_n − μ‖v_t‖: a body that slides would be lifted until it hovers by
    /// μ‖v_t‖(θ_vq δt + τ), and one that has not touched yet be braked at that distance. A stepper adds this velocity to v_n, so that steady
    /// sliding rests at the static depth and a free flight ends where the surfaces meet.
    ///
    /// In contact the slip at the start is taken, so that the law depends on nothing that acts within the step. A contact that begins, in
    /// this step or the last, expects the slip of the free motion, less what friction μ n0 takes of it.
    #[must_use]
    pub fn approach_of_slip(
        &self,
        normal_W: &Vector3<f64>,
        predicted: &SlipPrediction,
        n0: f64,
    ) -> f64 {
        let moved = self.time_step.length_s * self.start_velocity;
        let slip = match self.signed_distance < moved.min(0.0) {
            true => in_plane(normal_W, &predicted.start).norm(),
            false => predicted.end(normal_W, self.friction, n0),
        };
        self.friction * slip
    }

    /// The stiffness in use, N/m: k, capped where R = 1/(δt(θ_vq δt + τ)k) falls to the near-rigid β²w/4π².
    #[must_use]
    pub fn capped_stiffness(&self) -> f64 {
        let r = near_rigid_regularisation(self.near_rigid, self.inverse_inertia);
        let lead = self.time_step.positions_s() + self.relaxation_time();
        self.stiffness
            .min(1.0 / (self.time_step.length_s * lead * r))
    }

    /// n(v_n) = δt k (−φ(v_n) − τ v_n)₊ (1 − d v_n)₊ with the capped stiffness and φ at the end of the step. Before touching
    /// τ acts on v_n − v̂ only, the speed at which the step penetrates ([`release_velocity`](Self::release_velocity)).
    #[must_use]
    pub fn normal_force(&self) -> NormalForce {
        let k = self.capped_stiffness();
        let (dt, lead) = (self.time_step.length_s, self.time_step.positions_s());
        match self.dissipation {
            Dissipation::HuntCrossley(d) => {
                NormalForce::new(dt, -k * self.coasted_distance(), lead * k, d)
            }
            Dissipation::RelaxationTime(tau) => {
                let c = (lead + tau) * k;
                NormalForce::new(dt, self.release_velocity() * c, c, 0.0)
            }
        }
    }

    /// ε of the softened slip, m/s: max(v_s, μ σ w n0). The second term limits the stiffness of friction under heavy loads.
    #[must_use]
    pub fn slip_softening(&self, n0: f64) -> f64 {
        self.slip_softening_of(self.inverse_inertia, n0)
    }

    /// [`slip_softening`](Self::slip_softening) for another w (1/kg) than that of the contact. The inertia of a filament's spin
    /// is a thousandth of that along its axis, so friction along the axis must not be softened by the w of the spin.
    #[must_use]
    pub fn slip_softening_of(&self, w: f64, n0: f64) -> f64 {
        let r_t = STICTION_REGULARISATION * w;
        self.stiction_speed.max(self.friction * r_t * n0)
    }

    /// n_prev, N·s: the impulse of the law at the end of the last step, for a contact that was closed at the start of that
    /// step; otherwise zero.
    ///
    /// It follows from φ0 and v_n: δt(−kφ0 − kτv_n)₊(1 − d v_n)₊ is the impulse at the end of a step
    /// that arrives at φ0 with v_n = v_n0. φ0 − δt v_n was the distance when that step began (with θ_vq < 1 about that).
    #[must_use]
    pub fn carried_impulse(&self) -> f64 {
        let (dt, v_n) = (self.time_step.length_s, self.start_velocity);
        if self.signed_distance >= dt * v_n {
            return 0.0;
        }
        let k = self.capped_stiffness();
        let (damping, factor) = match self.dissipation {
            Dissipation::HuntCrossley(d) => (0.0, 1.0 - d * v_n),
            Dissipation::RelaxationTime(tau) => (k * tau * v_n, 1.0),
        };
        dt * (-k * self.signed_distance - damping).max(0.0) * factor.max(0.0)
    }

    /// n0, N·s: the normal impulse of the friction bound μ n0.
    ///
    /// [`FrictionLimit::LocalImplicit`] solves this contact implicitly, with the other impulses of the last step:
    ///
    /// ```text
    /// v − v_ref = w (n(v) − n_prev),      v_ref = J_n(v* + c),      c = v_prev − v*_prev
    /// ```
    ///
    /// Over a step A(v − v*) = Σ Jᵀγ. Assume that all impulses repeat, except that this contact's changes from n_prev
    /// ([`carried_impulse`](Self::carried_impulse)) to n: then A(v − v* − c) = J_nᵀ(n − n_prev), and J_n A⁻¹ from the
    /// left gives the equation, w = J_n A⁻¹J_nᵀ. Contacts of one patch change together, hence their row sum for w.
    ///
    /// - At rest v* + c = v, so n = n_prev: the bottom contact of a stack keeps the load of the whole stack. Without c it
    ///   would have little more than the weight of its own body.
    /// - In an impact c = n_prev w is due to this contact alone and cancels: v − v* = w n(v), limited by momentum.
    /// - A new contact (n_prev = 0 by φ0) starts from v* alone: if c contains an impulse of this contact, it stems from an
    ///   approach that this step continues to stop.
    /// - Without `constrained`, a contact with n_prev > 0 is assumed to be at rest.
    ///
    /// Impacts of other bodies reach this prediction one step late. If n0 and γ_n of a solve differ much, set n0 = γ_n and
    /// solve again (friction bound iteration).
    #[must_use]
    pub fn friction_limit(&self, rule: FrictionLimit, predicted: &NormalPrediction) -> f64 {
        let law = self.normal_force();
        match rule {
            FrictionLimit::Lagged => law.impulse(self.start_velocity),
            FrictionLimit::LocalImplicit => {
                let carried = self.carried_impulse();
                let v_ref = match predicted.constrained {
                    _ if carried == 0.0 => predicted.free,
                    Some(c) => predicted.free + c,
                    None => self.start_velocity,
                };
                law.implicit_impulse(predicted.row_sum, v_ref, carried)
            }
        }
    }
}

#[cfg(test)]
mod tests;
