//! The similar model: friction coupled to the normal impulse.

use nalgebra::Vector3;
use pliant_contact_sap::{ContactLaw, NEAR_RIGID_SIMILAR, Similar};

use super::bristle::{in_plane, regularised_bristle_rate};
use super::{ContactInputs, ContactModel};

/// Friction coupled to the normal impulse by a cone of similar shape.
///
/// The law is [`Similar`].
///
/// ```
/// use pliant_contact_sap::NEAR_RIGID_SIMILAR;
/// use pliant_coupling::{ContactModel, SimilarModel};
///
/// assert!(SimilarModel.has_sliding_gap());
/// assert_eq!(SimilarModel.near_rigid_period(), NEAR_RIGID_SIMILAR);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimilarModel;

impl ContactModel for SimilarModel {
    fn law(&self, contact: &ContactInputs) -> ContactLaw {
        ContactLaw::Similar(Similar::new(
            &contact.parameters,
            contact.normal_W,
            contact.normal_impulse,
        ))
    }

    fn bristle_rate(&self, contact: &ContactInputs, gamma: &Vector3<f64>) -> Option<Vector3<f64>> {
        let p = &contact.parameters;
        let (gamma_n, gamma_t) = in_plane(gamma, &contact.normal_W);
        let limit = p.friction * gamma_n;
        let softening = p.slip_softening(contact.normal_impulse);
        (limit > 0.0).then(|| regularised_bristle_rate(limit, softening, &gamma_t))
    }

    fn has_sliding_gap(&self) -> bool {
        true
    }

    fn near_rigid_period(&self) -> f64 {
        NEAR_RIGID_SIMILAR
    }
}
