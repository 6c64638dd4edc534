//! The SAP model: the impulse is a projection onto the friction cone.

use nalgebra::Vector3;
use pliant_contact_sap::{ContactLaw, STICTION_REGULARISATION, Sap};

use super::bristle::{bounded_bristle_rate, in_plane};
use super::{ContactInputs, ContactModel, DissipationRule};

/// Projection onto the friction cone with linear dissipation.
///
/// The law is [`Sap`].
///
/// ```
/// use pliant_coupling::{ContactModel, DissipationRule, SapModel};
///
/// // Dissipation is linear whatever the settings choose.
/// assert_eq!(SapModel.dissipation(DissipationRule::HuntCrossley), DissipationRule::RelaxationTime);
/// assert!(SapModel.has_sliding_gap());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SapModel;

impl ContactModel for SapModel {
    fn law(&self, contact: &ContactInputs) -> ContactLaw {
        ContactLaw::Sap(Sap::new(&contact.parameters, contact.normal_W))
    }

    /// −σ w γ_t, the slip in stiction.
    fn bristle_rate(&self, contact: &ContactInputs, gamma: &Vector3<f64>) -> Option<Vector3<f64>> {
        let p = &contact.parameters;
        let (gamma_n, gamma_t) = in_plane(gamma, &contact.normal_W);
        let limit = p.friction * gamma_n;
        let slip = -gamma_t * (STICTION_REGULARISATION * p.inverse_inertia);
        let softening = p.slip_softening(contact.normal_impulse);
        (limit > 0.0).then(|| bounded_bristle_rate(slip, softening))
    }

    fn has_sliding_gap(&self) -> bool {
        true
    }

    fn dissipation(&self, _: DissipationRule) -> DissipationRule {
        DissipationRule::RelaxationTime
    }
}
