//! Elastoplastic solids with a yield stress, such as metal or dough, in logarithmic strain.

use nalgebra::Matrix3;
use pliant_constitutive::{Hencky, Hooke, Lame, Real, SignedSvd};

use super::hyperelastic::{self, STRETCH_MIN, clamped_log};
use super::{Definiteness, EnergyForm, Lagged, Law, Material, Strain, Tangent};
use crate::error::{MpmError, positive};

/// Hencky elasticity with the von Mises yield surface |dev τ| ≤ √(2/3) σ_y; plastic flow preserves the volume exactly.
///
/// ```text
/// ε = ln σ,   if |2μ dev ε| > √(2/3) σ_y:   dev ε ← dev ε · √(2/3) σ_y / |2μ dev ε|
/// ```
///
/// `internal[0]` is the accumulated plastic strain √(2/3) Σ|Δε|. Source: Simo and Hughes (1998), "Computational
/// inelasticity", chapter 9; the form of Yu et al. (2025).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HenckyVonMises {
    lame: Lame,
    yield_stress: f64,
}

impl HenckyVonMises {
    /// `yield_stress`: σ_y in uniaxial tension, Pa; infinite for an elastic solid.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless the yield stress is positive.
    pub fn new(lame: Lame, yield_stress: f64) -> Result<Self, MpmError> {
        if yield_stress != f64::INFINITY {
            positive("Hencky von Mises", "yield_stress", yield_stress)?;
        }
        Ok(Self { lame, yield_stress })
    }
}

impl<T: Real> Law<T> for HenckyVonMises {
    fn energy(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> T {
        hyperelastic::energy(&Hencky::new(self.lame), strain, g)
    }
    fn stress(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
        hyperelastic::stress(&Hencky::new(self.lame), strain, g)
    }
    fn tangent(
        &self,
        strain: &Strain<T>,
        _: &Lagged<T>,
        g: &Matrix3<T>,
        definiteness: Definiteness,
    ) -> Tangent<T> {
        hyperelastic::tangent(&Hencky::new(self.lame), strain, g, definiteness)
    }

    fn advance(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Strain<T> {
        let f = strain.f + g * strain.f;
        let svd = SignedSvd::of(&f);
        let e = clamped_log(&svd.stretches);
        let mean = e.sum() / T::of(3.0);
        let deviator = e.add_scalar(-mean);
        let Hooke { mu, .. } = self.lame.hooke::<T>();
        let norm = deviator.norm();
        let bound = T::of((2.0_f64 / 3.0).sqrt() * self.yield_stress) / (T::of(2.0) * mu);
        if !(norm > bound) && svd.stretches[2] >= T::of(STRETCH_MIN) {
            return Strain { f, ..*strain };
        }
        let kept = if norm > bound { bound / norm } else { T::one() };
        let flowed = norm * (T::one() - kept) * T::of((2.0_f64 / 3.0).sqrt());
        let left = (deviator * kept).map(|e| (e + mean).exp());
        Strain {
            f: svd.rebuild(&left),
            internal: [strain.internal[0] + flowed, strain.internal[1]],
        }
    }
}

impl Material for HenckyVonMises {
    fn name(&self) -> &'static str {
        "hencky_von_mises"
    }
    fn energy_form(&self) -> EnergyForm {
        EnergyForm::General
    }
    fn wave_modulus(&self) -> f64 {
        self.lame.wave_modulus()
    }
    fn plastic_strain(&self, strain: &Strain<f64>) -> Option<f64> {
        (self.yield_stress < f64::INFINITY).then_some(strain.internal[0])
    }
}
