//! Models of contact: from the parameters of a contact to its law.

mod bristle;
mod energy;
mod lagged;
mod sap;
mod similar;

use std::fmt::Debug;

use nalgebra::Vector3;
use pliant_contact_sap::{ContactLaw, ContactParameters, FrictionLimit, NEAR_RIGID_CONTACT};

pub use energy::EnergyModel;
pub use lagged::LaggedModel;
pub use sap::SapModel;
pub use similar::SimilarModel;

/// One contact of a step, as its law depends on it.
#[derive(Clone, Copy, Debug)]
pub struct ContactInputs {
    /// Materials, geometry and inertia.
    pub parameters: ContactParameters,
    /// Unit normal from B into A, world axes.
    pub normal_W: Vector3<f64>,
    /// n0, N·s: the normal impulse of the friction bound μ n0.
    pub normal_impulse: f64,
    /// w of slip, 1/kg: at most that of the parameters. Less where a direction of slip has a larger inertia, as along a filament.
    pub slip_inertia: f64,
}

/// Where n0 of the friction bound μ n0 comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrictionBound {
    /// Predicted by this rule and fixed for the step.
    Predicted(FrictionLimit),
    /// Predicted by [`FrictionLimit::LocalImplicit`], then iterated until it agrees with the normal impulses of the solution.
    Iterated,
}

/// Which of a material's two dissipation parameters is used. [`SapModel`] uses the second only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DissipationRule {
    /// Hunt-Crossley, s/m.
    #[default]
    HuntCrossley,
    /// Linear (Kelvin-Voigt) relaxation time, s.
    RelaxationTime,
}

/// A convex model of contact: the law of each contact, and what the stepper has to provide for it.
///
/// Only [`law`](Self::law) is required. The other methods default to a model of short range without lagged quantities.
///
/// ```
/// use std::sync::Arc;
/// use pliant_contact_sap::{ContactLaw, Sap};
/// use pliant_coupling::{ContactInputs, ContactModel, ContactSettings};
///
/// /// The cone of SAP without friction memory.
/// #[derive(Debug)]
/// struct Cone;
///
/// impl ContactModel for Cone {
///     fn law(&self, contact: &ContactInputs) -> ContactLaw {
///         ContactLaw::Sap(Sap::new(&contact.parameters, contact.normal_W))
///     }
/// }
/// let settings = ContactSettings { model: Arc::new(Cone), ..ContactSettings::default() };
/// assert!(settings.validate().is_ok());
/// ```
pub trait ContactModel: Debug + Send + Sync {
    /// The law of a contact.
    fn law(&self, contact: &ContactInputs) -> ContactLaw;

    /// How n0 of the contacts is found.
    fn friction_bound(&self) -> FrictionBound {
        FrictionBound::Predicted(FrictionLimit::LocalImplicit)
    }

    /// r/δt, m/s, world axes: slip at which the law has the friction of the impulse `gamma` (N·s). The friction memory keeps r as bristle
    /// deflection and adds r/δt to the slip of the next step, so the length must be bounded.
    ///
    /// `None`: the contact has no friction memory, as by default.
    fn bristle_rate(
        &self,
        _contact: &ContactInputs,
        _gamma: &Vector3<f64>,
    ) -> Option<Vector3<f64>> {
        None
    }

    /// Whether sliding bodies have a gap of μ‖v_t‖ times a time. Speculative contacts are then frictionless, since the gap would act at
    /// a distance.
    fn has_sliding_gap(&self) -> bool {
        false
    }

    /// Distance from which on a pair repels, m; positive. Such a model does not follow swept paths.
    ///
    /// `None`: contacts act where surfaces touch, as by default.
    fn range_m(&self) -> Option<f64> {
        None
    }

    /// The dissipation parameter in use where the settings choose `rule`.
    fn dissipation(&self, rule: DissipationRule) -> DissipationRule {
        rule
    }

    /// β where the settings give none; see [`ContactParameters::near_rigid`].
    fn near_rigid_period(&self) -> f64 {
        NEAR_RIGID_CONTACT
    }
}
