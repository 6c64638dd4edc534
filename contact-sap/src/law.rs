//! The laws of contact, limits, actuators and constraints: each a convex [`Potential`].
//!
//! Inner loops match on [`ContactLaw`] and [`RowLaw`]; the variant `Custom` holds any other law.

mod along_line;
mod bilateral;
mod lagged;
mod limit;
mod local_impulse;
mod majorant;
mod normal_force;
mod parameters;
mod pd_actuator;
mod play;
mod sap;
mod similar;
mod smooth_norm;
mod validity;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use nalgebra::{Matrix1, Matrix3, Vector1, Vector3};

pub(crate) use along_line::ContactLine;
pub use bilateral::Bilateral;
pub use lagged::Lagged;
pub use limit::Limit;
pub use majorant::Majorant;
pub use normal_force::NormalForce;
pub use parameters::{
    ContactParameters, Dissipation, FrictionLimit, NEAR_RIGID_CONTACT, NEAR_RIGID_ROW,
    NEAR_RIGID_SIMILAR, NormalPrediction, STICTION_REGULARISATION, SlipPrediction,
    near_rigid_regularisation,
};
pub use pd_actuator::{PdActuator, PdCommand, PdGains, PdSensitivity};
pub use play::Play;
pub use sap::Sap;
pub use similar::Similar;
pub use smooth_norm::SmoothNorm;

use crate::error::SolveError;
use crate::potential::Potential;

/// The law of a contact point; v_c in world axes.
///
/// ```
/// use std::sync::Arc;
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_contact_sap::{ContactLaw, Potential};
///
/// /// A film of oil: ℓ = ½ c δt ‖v_c‖².
/// struct Film { c_dt: f64 }
/// impl Potential<3> for Film {
///     fn cost(&self, v: &Vector3<f64>) -> f64 { 0.5 * self.c_dt * v.norm_squared() }
///     fn impulse(&self, v: &Vector3<f64>) -> Vector3<f64> { -self.c_dt * v }
///     fn hessian(&self, _: &Vector3<f64>) -> Matrix3<f64> { Matrix3::identity() * self.c_dt }
/// }
/// let law = ContactLaw::Custom(Arc::new(Film { c_dt: 0.1 }));
/// assert_eq!(law.impulse(&Vector3::x()), -0.1 * Vector3::x());
/// ```
#[derive(Clone)]
pub enum ContactLaw {
    /// Friction limit fixed at the start of the solve.
    Lagged(Lagged),
    /// Friction coupled to the normal impulse, by a cone of similar shape.
    Similar(Similar),
    /// Projection onto the friction cone.
    Sap(Sap),
    /// Any other law.
    Custom(Arc<dyn Potential<3>>),
}

/// The law of a scalar row.
///
/// ```
/// use nalgebra::Vector1;
/// use pliant_contact_sap::{Bilateral, Potential, RowLaw};
///
/// // Dry friction of at most 0.2 N·m·s in a step.
/// let law = RowLaw::Bilateral(Bilateral::dry_friction(0.2, 1e-3));
/// assert_eq!(law.impulse(&Vector1::new(3.0)).x, -0.2);
/// let error = RowLaw::Bilateral(Bilateral::dry_friction(-1.0, 1e-3)).validate(|| "joint `lid`".into());
/// assert!(error.unwrap_err().to_string().contains("joint `lid`"));
/// ```
#[derive(Clone)]
pub enum RowLaw {
    /// One-sided.
    Limit(Limit),
    /// Two stops with play between them.
    Play(Play),
    /// Two-sided, with saturation: constraints, couplers, dry friction.
    Bilateral(Bilateral),
    /// PD control with an effort limit.
    PdActuator(PdActuator),
    /// Any other law.
    Custom(Arc<dyn Potential<1>>),
}

impl ContactLaw {
    /// Checks every number, so that the law is finite, convex and inside its cone. Custom laws are not checked.
    ///
    /// # Errors
    /// [`SolveError::Parameter`] for the first parameter out of range; `constraint` names the contact.
    pub fn validate(&self, constraint: impl FnOnce() -> String) -> Result<(), SolveError> {
        match self {
            ContactLaw::Lagged(law) => law.validate(),
            ContactLaw::Similar(law) => law.validate(),
            ContactLaw::Sap(law) => law.validate(),
            ContactLaw::Custom(_) => Ok(()),
        }
        .map_err(|fault| fault.of(constraint()))
    }
}

impl ContactLaw {
    /// The same contact with `share` of its stiffness; custom laws are unchanged.
    pub(crate) fn with_stiffness_times(&self, share: f64) -> Self {
        match self {
            ContactLaw::Lagged(law) => ContactLaw::Lagged(law.with_stiffness_times(share)),
            ContactLaw::Similar(law) => ContactLaw::Similar(law.with_stiffness_times(share)),
            ContactLaw::Sap(law) => ContactLaw::Sap(law.with_stiffness_times(share)),
            ContactLaw::Custom(law) => ContactLaw::Custom(Arc::clone(law)),
        }
    }
}

impl RowLaw {
    /// Checks every number, so that the law is finite and convex. Custom laws are not checked.
    ///
    /// # Errors
    /// [`SolveError::Parameter`] for the first parameter out of range; `constraint` names the row.
    pub fn validate(&self, constraint: impl FnOnce() -> String) -> Result<(), SolveError> {
        match self {
            RowLaw::Limit(law) => law.validate(),
            RowLaw::Play(law) => law.validate(),
            RowLaw::Bilateral(law) => law.validate(),
            RowLaw::PdActuator(law) => law.validate(),
            RowLaw::Custom(_) => Ok(()),
        }
        .map_err(|fault| fault.of(constraint()))
    }
}

impl Potential<3> for ContactLaw {
    #[inline]
    fn cost(&self, v_c: &Vector3<f64>) -> f64 {
        match self {
            ContactLaw::Lagged(law) => law.cost(v_c),
            ContactLaw::Similar(law) => law.cost(v_c),
            ContactLaw::Sap(law) => law.cost(v_c),
            ContactLaw::Custom(law) => law.cost(v_c),
        }
    }

    #[inline]
    fn impulse(&self, v_c: &Vector3<f64>) -> Vector3<f64> {
        match self {
            ContactLaw::Lagged(law) => law.impulse(v_c),
            ContactLaw::Similar(law) => law.impulse(v_c),
            ContactLaw::Sap(law) => law.impulse(v_c),
            ContactLaw::Custom(law) => law.impulse(v_c),
        }
    }

    #[inline]
    fn hessian(&self, v_c: &Vector3<f64>) -> Matrix3<f64> {
        match self {
            ContactLaw::Lagged(law) => law.hessian(v_c),
            ContactLaw::Similar(law) => law.hessian(v_c),
            ContactLaw::Sap(law) => law.hessian(v_c),
            ContactLaw::Custom(law) => law.hessian(v_c),
        }
    }
}

impl Potential<1> for RowLaw {
    #[inline]
    fn cost(&self, v_c: &Vector1<f64>) -> f64 {
        match self {
            RowLaw::Limit(law) => law.cost(v_c),
            RowLaw::Play(law) => law.cost(v_c),
            RowLaw::Bilateral(law) => law.cost(v_c),
            RowLaw::PdActuator(law) => law.cost(v_c),
            RowLaw::Custom(law) => law.cost(v_c),
        }
    }

    #[inline]
    fn impulse(&self, v_c: &Vector1<f64>) -> Vector1<f64> {
        match self {
            RowLaw::Limit(law) => law.impulse(v_c),
            RowLaw::Play(law) => law.impulse(v_c),
            RowLaw::Bilateral(law) => law.impulse(v_c),
            RowLaw::PdActuator(law) => law.impulse(v_c),
            RowLaw::Custom(law) => law.impulse(v_c),
        }
    }

    #[inline]
    fn hessian(&self, v_c: &Vector1<f64>) -> Matrix1<f64> {
        match self {
            RowLaw::Limit(law) => law.hessian(v_c),
            RowLaw::Play(law) => law.hessian(v_c),
            RowLaw::Bilateral(law) => law.hessian(v_c),
            RowLaw::PdActuator(law) => law.hessian(v_c),
            RowLaw::Custom(law) => law.hessian(v_c),
        }
    }
}

impl fmt::Debug for ContactLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContactLaw::Lagged(law) => law.fmt(f),
            ContactLaw::Similar(law) => law.fmt(f),
            ContactLaw::Sap(law) => law.fmt(f),
            ContactLaw::Custom(_) => f.write_str("Custom"),
        }
    }
}

impl fmt::Debug for RowLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowLaw::Limit(law) => law.fmt(f),
            RowLaw::Play(law) => law.fmt(f),
            RowLaw::Bilateral(law) => law.fmt(f),
            RowLaw::PdActuator(law) => law.fmt(f),
            RowLaw::Custom(_) => f.write_str("Custom"),
        }
    }
}
