//! The contact parameters of one pair.

use pliant_hydroelastic::{ContactChoice, PairMaterial};

/// Contact parameters of one pair of geometries. Those that are `None` follow from both materials and the world's settings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairRule {
    /// k, N/m per contact point; a patch has its own.
    pub stiffness: Option<f64>,
    /// d, s/m.
    pub dissipation: Option<f64>,
    /// τ, s.
    pub relaxation_time_s: Option<f64>,
    /// μ.
    pub friction: Option<f64>,
    /// μ_s of static friction, not less than μ, which is then that of sliding; used by penalty forces alone. μ if `None`.
    pub static_friction: Option<f64>,
    /// Points or a patch.
    pub choice: Option<ContactChoice>,
}

impl PairRule {
    /// All parameters of the contact given, points or patch left open.
    #[must_use]
    pub fn material(material: PairMaterial) -> Self {
        Self {
            stiffness: Some(material.stiffness),
            dissipation: Some(material.dissipation),
            relaxation_time_s: Some(material.relaxation_time_s),
            friction: Some(material.friction),
            static_friction: None,
            choice: None,
        }
    }

    /// `combined` where the rule says nothing.
    pub(crate) fn over(&self, combined: &PairMaterial) -> PairMaterial {
        PairMaterial {
            stiffness: self.stiffness.unwrap_or(combined.stiffness),
            dissipation: self.dissipation.unwrap_or(combined.dissipation),
            relaxation_time_s: self.relaxation_time_s.unwrap_or(combined.relaxation_time_s),
            friction: self.friction.unwrap_or(combined.friction),
        }
    }
}
