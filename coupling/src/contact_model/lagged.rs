//! The lagged model: friction bounds fixed in each solve.

use nalgebra::Vector3;
use pliant_contact_sap::{ContactLaw, FrictionLimit, Lagged};

use super::bristle::{in_plane, regularised_bristle_rate};
use super::{ContactInputs, ContactModel, FrictionBound};

/// Friction bound fixed in each solve; sliding bodies have no gap. The default.
///
/// The law is [`Lagged`]. Bounds of [`FrictionLimit::LocalImplicit`] are iterated; those of [`FrictionLimit::Lagged`] are fixed, as published.
///
/// ```
/// use pliant_contact_sap::FrictionLimit;
/// use pliant_coupling::{ContactModel, FrictionBound, LaggedModel};
///
/// assert_eq!(LaggedModel::default().friction_bound(), FrictionBound::Iterated);
/// let published = LaggedModel { friction_limit: FrictionLimit::Lagged };
/// assert_eq!(published.friction_bound(), FrictionBound::Predicted(FrictionLimit::Lagged));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaggedModel {
    /// How n0 is predicted.
    pub friction_limit: FrictionLimit,
}

/// ε, m/s.
fn slip_softening(contact: &ContactInputs) -> f64 {
    let p = &contact.parameters;
    p.slip_softening_of(contact.slip_inertia, contact.normal_impulse)
}

impl ContactModel for LaggedModel {
    fn law(&self, contact: &ContactInputs) -> ContactLaw {
        let law = Lagged::new(
            &contact.parameters,
            contact.normal_W,
            contact.normal_impulse,
        );
        ContactLaw::Lagged(law.with_slip_inertia(contact.slip_inertia, contact.normal_impulse))
    }

    fn friction_bound(&self) -> FrictionBound {
        match self.friction_limit {
            FrictionLimit::LocalImplicit => FrictionBound::Iterated,
            FrictionLimit::Lagged => FrictionBound::Predicted(FrictionLimit::Lagged),
        }
    }

    fn bristle_rate(&self, contact: &ContactInputs, gamma: &Vector3<f64>) -> Option<Vector3<f64>> {
        let (_, gamma_t) = in_plane(gamma, &contact.normal_W);
        let limit = contact.parameters.friction * contact.normal_impulse;
        (limit > 0.0).then(|| regularised_bristle_rate(limit, slip_softening(contact), &gamma_t))
    }
}
