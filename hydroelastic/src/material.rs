//! Contact parameters of surfaces and of pairs of surfaces.

use serde::{Deserialize, Serialize};

use crate::{GeometryError, PointStiffness};

/// Point contact parameters of one body's surface.
///
/// A rigid surface has `stiffness = f64::INFINITY`: in a pair only the partner's stiffness and dissipation remain.
///
/// ```
/// use pliant_hydroelastic::ContactMaterial;
///
/// // Rubber of 10 kN/m and μ = 1 on a rigid floor of μ = 0.5.
/// let rubber = ContactMaterial { stiffness: 1e4, friction: 1.0, ..ContactMaterial::default() };
/// let floor = ContactMaterial { stiffness: f64::INFINITY, friction: 0.5, ..ContactMaterial::default() };
/// let pair = rubber.combined_with(&floor);
/// assert_eq!(pair.stiffness, 1e4);
/// assert!((pair.friction - 2.0 / 3.0).abs() < 1e-15); // 2μ₁μ₂/(μ₁ + μ₂)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContactMaterial {
    /// k, N/m per contact point: force per depth. Positive; infinite for a rigid surface.
    pub stiffness: f64,
    /// d of Hunt and Crossley, s/m: the elastic force is multiplied by 1 − d v_n. 1/d bounds the rebound speed.
    pub dissipation: f64,
    /// τ, s: linear (Kelvin–Voigt) relaxation time, used by models without Hunt–Crossley dissipation.
    pub relaxation_time_s: f64,
    /// μ, dimensionless Coulomb coefficient.
    pub friction: f64,
}

impl Default for ContactMaterial {
    fn default() -> Self {
        Self {
            stiffness: 1.0e6,       // 10 kg on one point sink by 0.1 mm
            dissipation: 50.0,      // rebound below 2 cm/s: practically inelastic
            relaxation_time_s: 0.1, // overdamped for any usual time step
            friction: 0.5,
        }
    }
}

/// The parameters of a contact between two given surfaces: those of [`ContactMaterial::combined_with`], or given for the pair.
///
/// ```
/// use pliant_hydroelastic::{ContactMaterial, PairMaterial};
///
/// let gel = ContactMaterial { stiffness: 1e4, dissipation: 10.0, friction: 0.6, relaxation_time_s: 0.1 };
/// let wood = ContactMaterial { stiffness: 3e4, dissipation: 50.0, friction: 0.3, relaxation_time_s: 0.0 };
/// let PairMaterial { stiffness, dissipation, relaxation_time_s, friction } = gel.combined_with(&wood);
/// assert_eq!(stiffness, 7.5e3); // springs in series
/// assert_eq!(dissipation, 20.0); // (3 · 10 + 50)/4: the gel takes up three quarters of the approach
/// assert_eq!(relaxation_time_s, 0.1);
/// assert!((friction - 0.4).abs() < 1e-15); // harmonic mean
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairMaterial {
    /// k, N/m per contact point of share one; infinite when both surfaces are rigid.
    pub stiffness: f64,
    /// d of Hunt and Crossley, s/m.
    pub dissipation: f64,
    /// τ, s: linear relaxation time.
    pub relaxation_time_s: f64,
    /// μ, dimensionless Coulomb coefficient of the pair.
    pub friction: f64,
}

impl ContactMaterial {
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
        if self.stiffness.is_nan() || self.stiffness <= 0.0 {
            return refuse(
                "stiffness (N/m)",
                self.stiffness,
                "must be positive (infinite means rigid)",
            );
        }
        for (name, value) in [
            ("dissipation (s/m)", self.dissipation),
            ("relaxation_time_s (s)", self.relaxation_time_s),
            ("friction", self.friction),
        ] {
            if !value.is_finite() || value < 0.0 {
                return refuse(name, value, "must be finite and not negative");
            }
        }
        Ok(())
    }

    /// The parameters of contact between this surface and another; symmetric.
    ///
    /// ```text
    /// k = k₁k₂/(k₁+k₂)    d = (k₂d₁ + k₁d₂)/(k₁+k₂)    τ = τ₁ + τ₂    μ = 2μ₁μ₂/(μ₁+μ₂)
    /// ```
    ///
    /// The crossed indices in d are intended: the softer surface deforms, so its d dominates. Two rigid surfaces have k
    /// = ∞ and the mean of both d; two frictionless ones μ = 0.
    ///
    /// # Source
    /// Springs in series; Castro et al. (2022) and the conventions of Drake.
    ///
    /// ```
    /// use pliant_hydroelastic::ContactMaterial;
    /// let soft = ContactMaterial { stiffness: 1.0e4, dissipation: 3.0, ..Default::default() };
    /// let rigid = ContactMaterial { stiffness: f64::INFINITY, dissipation: 100.0, ..Default::default() };
    /// let pair = soft.combined_with(&rigid);
    /// assert_eq!((pair.stiffness, pair.dissipation), (1.0e4, 3.0));
    /// ```
    pub fn combined_with(&self, other: &Self) -> PairMaterial {
        let compliance = (1.0 / self.stiffness, 1.0 / other.stiffness);
        let total = compliance.0 + compliance.1;
        let (share, stiffness) = if total > 0.0 {
            (compliance.0 / total, 1.0 / total)
        } else {
            (0.5, f64::INFINITY)
        };
        let roughness = self.friction + other.friction;
        PairMaterial {
            stiffness,
            dissipation: share * self.dissipation + (1.0 - share) * other.dissipation,
            relaxation_time_s: self.relaxation_time_s + other.relaxation_time_s,
            friction: if roughness > 0.0 {
                2.0 * self.friction * other.friction / roughness
            } else {
                0.0
            },
        }
    }

    /// d of a contact point between this surface (A) and another (B), s/m: the mean weighted by the fraction of the
    /// approach that each side takes up. In point contact it equals the d of [`combined_with`](Self::combined_with); at
    /// a patch point the pressure fields determine the weights.
    pub fn dissipation_at(&self, other: &Self, stiffness: &PointStiffness) -> f64 {
        match *stiffness {
            PointStiffness::Share(_) | PointStiffness::OfArea { .. } => {
                self.combined_with(other).dissipation
            }
            PointStiffness::OfPatch { fraction_A, .. } => {
                fraction_A * self.dissipation + (1.0 - fraction_A) * other.dissipation
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface(stiffness: f64, dissipation: f64, friction: f64) -> ContactMaterial {
        ContactMaterial {
            stiffness,
            dissipation,
            relaxation_time_s: 0.1,
            friction,
        }
    }

    #[test]
    fn springs_act_in_series_and_the_softer_one_dissipates() {
        let pair = surface(1.0e4, 10.0, 0.3).combined_with(&surface(3.0e4, 50.0, 0.6));
        assert!((pair.stiffness - 7.5e3).abs() < 1e-9);
        assert!((pair.dissipation - (3.0 * 10.0 + 50.0) / 4.0).abs() < 1e-12);
        assert!((pair.relaxation_time_s - 0.2).abs() < 1e-15);
        assert!((pair.friction - 0.4).abs() < 1e-15);
    }

    #[test]
    fn combination_does_not_depend_on_the_order() {
        let (a, b) = (surface(2.0e5, 1.0, 0.1), surface(f64::INFINITY, 7.0, 0.9));
        assert_eq!(a.combined_with(&b), b.combined_with(&a));
    }

    #[test]
    fn two_rigid_frictionless_surfaces_give_no_nan() {
        let rigid = surface(f64::INFINITY, 4.0, 0.0);
        let pair = rigid.combined_with(&surface(f64::INFINITY, 6.0, 0.0));
        assert_eq!(
            (pair.stiffness, pair.dissipation, pair.friction),
            (f64::INFINITY, 5.0, 0.0)
        );
    }

    #[test]
    fn at_a_point_of_a_patch_the_side_that_yields_dissipates() {
        let (a, b) = (surface(1.0e4, 10.0, 0.3), surface(f64::INFINITY, 50.0, 0.6));
        let patch = |fraction_A| PointStiffness::OfPatch {
            stiffness: 7.0,
            fraction_A,
            share: crate::PatchShare::default(),
        };
        assert_eq!(a.dissipation_at(&b, &patch(1.0)), 10.0);
        assert_eq!(a.dissipation_at(&b, &patch(0.25)), 40.0);
        assert_eq!(b.dissipation_at(&a, &patch(0.75)), 40.0);
        assert_eq!(a.dissipation_at(&b, &PointStiffness::Share(0.5)), 10.0);
    }

    #[test]
    fn bad_values_are_named() {
        let text = surface(-1.0, 0.0, 0.0).validate().unwrap_err().to_string();
        assert!(text.contains("stiffness (N/m) = -1"), "{text}");
        assert!(surface(1.0, f64::NAN, 0.0).validate().is_err());
        assert!(surface(1.0, 0.0, -0.1).validate().is_err());
        assert!(ContactMaterial::default().validate().is_ok());
    }
}
