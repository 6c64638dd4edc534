//! Parameters of a compliant body.

use serde::{Deserialize, Serialize};

use crate::GeometryError;

/// Hydroelastic parameters of a shape.
///
/// ```
/// use pliant_hydroelastic::Compliance;
///
/// let compliance = Compliance { hydroelastic_modulus: -1.0, ..Compliance::default() };
/// let error = compliance.validate().unwrap_err();
/// assert!(error.to_string().contains("hydroelastic_modulus (Pa)"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Compliance {
    /// E, Pa: the pressure at the deepest point of the body. A flat body of thickness H on rigid ground sinks by f H/(E
    /// A) under a force f on its area A. Positive and finite.
    pub hydroelastic_modulus: f64,
    /// δ, m: how far the field extends outside the surface, with negative pressure. Contact is then found before it
    /// closes, so that flat faces at rest keep their contacts. Finite and not negative.
    pub margin: f64,
    /// Target edge length on curved surfaces, m; positive and finite. Flat sides need no more than their corners.
    pub mesh_resolution_hint: f64,
    /// Thickness of a compliant half space, m; unused by other shapes. Positive and finite.
    pub slab_thickness: Option<f64>,
}

impl Default for Compliance {
    fn default() -> Self {
        Self {
            hydroelastic_modulus: 1.0e7, // hard rubber: 1 kg on 1 cm² of a 2 cm thick piece sinks by 0.1 mm
            margin: 1.0e-4,              // g Δt² is 1e-5 m at a step of 1 ms
            mesh_resolution_hint: 0.02,
            slab_thickness: None,
        }
    }
}

impl Compliance {
    /// Checks all ranges.
    ///
    /// # Errors
    /// [`GeometryError::Material`] with the first parameter that is out of its range.
    pub fn validate(&self) -> Result<(), GeometryError> {
        let refuse = |parameter, value, allowed| {
            Err(GeometryError::Material {
                parameter,
                value,
                allowed,
            })
        };
        let positive = |x: f64| x.is_finite() && x > 0.0;
        for (parameter, value) in [
            ("hydroelastic_modulus (Pa)", self.hydroelastic_modulus),
            ("mesh_resolution_hint (m)", self.mesh_resolution_hint),
            ("slab_thickness (m)", self.slab_thickness.unwrap_or(1.0)),
        ] {
            if !positive(value) {
                return refuse(parameter, value, "must be finite and positive");
            }
        }
        if !self.margin.is_finite() || self.margin < 0.0 {
            return refuse(
                "hydroelastic_margin (m)",
                self.margin,
                "must be finite and not negative",
            );
        }
        Ok(())
    }
}
