//! The world's contact model in the substeps.

use nalgebra::Vector3;
use pliant_contact_sap::{ContactLaw, ContactParameters, FrictionLimit};
use pliant_mpm::SubstepLaws;

use crate::contact_model::{ContactInputs, ContactModel, FrictionBound};

/// A contact model for the contacts of particles.
///
/// Friction bounds that the model iterates within a step are iterated within every substep. Friction memory is left out, since a contact that
/// creeps by h v_s in a substep creeps no faster with short substeps.
#[derive(Debug)]
pub(super) struct ModelLaws<'a>(pub(super) &'a dyn ContactModel);

impl SubstepLaws for ModelLaws<'_> {
    fn law(
        &self,
        parameters: &ContactParameters,
        normal_W: Vector3<f64>,
        normal_impulse: f64,
    ) -> ContactLaw {
        self.0.law(&ContactInputs {
            parameters: *parameters,
            normal_W,
            normal_impulse,
            slip_inertia: parameters.inverse_inertia,
        })
    }

    fn has_iterated_bound(&self) -> bool {
        self.0.friction_bound() == FrictionBound::Iterated
    }

    fn friction_limit(&self) -> FrictionLimit {
        match self.0.friction_bound() {
            FrictionBound::Predicted(rule) => rule,
            FrictionBound::Iterated => FrictionLimit::LocalImplicit,
        }
    }

    fn has_sliding_gap(&self) -> bool {
        self.0.has_sliding_gap()
    }

    fn range_m(&self) -> f64 {
        self.0.range_m().unwrap_or(0.0)
    }
}
