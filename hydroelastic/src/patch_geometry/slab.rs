//! Pressure of a compliant half space.

use crate::GeometryError;
use crate::field::Compliance;

/// A compliant half space z ≤ 0 with pressure p = E·(−z)/thickness, negative above the surface.
///
/// ```
/// use pliant_hydroelastic::{Compliance, Slab};
///
/// // A mat of 2 cm and 1 MPa: the pressure rises by 50 MPa per metre of depth.
/// let mat = Compliance { hydroelastic_modulus: 1e6, slab_thickness: Some(0.02), ..Compliance::default() };
/// assert_eq!(Slab::new(&mat)?.stiffness(), 5e7);
/// assert!(Slab::new(&Compliance { slab_thickness: None, ..mat }).is_err());
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slab {
    stiffness: f64,
    thickness: f64,
    margin: f64,
}

impl Slab {
    /// A slab of the given compliance.
    ///
    /// # Errors
    /// [`GeometryError::Material`] for parameters out of range, or without a thickness.
    pub fn new(compliance: &Compliance) -> Result<Self, GeometryError> {
        compliance.validate()?;
        let Some(thickness) = compliance.slab_thickness else {
            return Err(GeometryError::Material {
                parameter: "slab_thickness (m)",
                value: f64::NAN,
                allowed: "must be specified for a compliant half space: the pressure reaches the modulus at this depth",
            });
        };
        Ok(Self {
            stiffness: compliance.hydroelastic_modulus / thickness,
            thickness,
            margin: compliance.margin,
        })
    }

    /// Rise of the pressure with the depth, −∂p/∂z = E/thickness, Pa/m.
    #[must_use]
    pub fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// Thickness of the compliant layer, m: the depth at which the pressure reaches the modulus.
    #[must_use]
    pub fn thickness(&self) -> f64 {
        self.thickness
    }

    /// How far the field extends above the surface, with negative pressure, m.
    #[must_use]
    pub fn margin(&self) -> f64 {
        self.margin
    }
}
