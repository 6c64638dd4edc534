//! Fixed corotated elasticity: resists inversion without breaking at it.

use nalgebra::{Matrix3, Vector3};

use super::principal::{self, PAIRS, PrincipalLaw};
use super::{Definiteness, EnergyForm, Lagged, Law, Material, Moduli, Strain, Tangent};
use crate::error::MpmError;
use crate::scalar::Real;

/// ψ = μ|F − R|² + (λ/2)(J − 1)².
///
/// Rotation-free at any angle, finite for inverted particles, which it pushes back. Source: Stomakhin, Howes, Schroeder,
/// Teran (2012), "Energetically consistent invertible elasticity".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corotated {
    moduli: Moduli,
}

impl Corotated {
    /// # Errors
    /// [`MpmError::Parameter`], see [`Moduli::new`].
    pub fn new(youngs_modulus: f64, poissons_ratio: f64) -> Result<Self, MpmError> {
        let moduli = Moduli::new("corotated", youngs_modulus, poissons_ratio)?;
        Ok(Self { moduli })
    }
}

impl<T: Real> PrincipalLaw<T> for Corotated {
    fn density(&self, s: &Vector3<T>) -> T {
        let (mu, lambda) = (T::of(self.moduli.mu), T::of(self.moduli.lambda));
        let volume = s[0] * s[1] * s[2] - T::one();
        mu * s.add_scalar(-T::one()).norm_squared() + T::of(0.5) * lambda * volume * volume
    }

    fn slopes(&self, s: &Vector3<T>) -> Vector3<T> {
        let (mu, lambda) = (T::of(self.moduli.mu), T::of(self.moduli.lambda));
        let pull = lambda * (s[0] * s[1] * s[2] - T::one());
        let others = Vector3::new(s[1] * s[2], s[2] * s[0], s[0] * s[1]);
        s.add_scalar(-T::one()) * (T::of(2.0) * mu) + others * pull
    }

    fn curvature(&self, s: &Vector3<T>) -> Matrix3<T> {
        let (mu, lambda) = (T::of(self.moduli.mu), T::of(self.moduli.lambda));
        let pull = lambda * (s[0] * s[1] * s[2] - T::one());
        let others = Vector3::new(s[1] * s[2], s[2] * s[0], s[0] * s[1]);
        let mut c = others * others.transpose() * lambda;
        for (i, j, k) in PAIRS {
            c[(i, i)] += T::of(2.0) * mu;
            c[(i, j)] += pull * s[k];
            c[(j, i)] += pull * s[k];
        }
        c
    }

    fn quotients(&self, s: &Vector3<T>) -> [T; 3] {
        let (mu, lambda) = (T::of(self.moduli.mu), T::of(self.moduli.lambda));
        let pull = lambda * (s[0] * s[1] * s[2] - T::one());
        PAIRS.map(|(_, _, k)| T::of(2.0) * mu - pull * s[k])
    }
}

impl<T: Real> Law<T> for Corotated {
    fn energy(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> T {
        principal::energy(self, strain, g)
    }
    fn stress(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
        principal::stress(self, strain, g)
    }
    fn tangent(
        &self,
        strain: &Strain<T>,
        _: &Lagged<T>,
        g: &Matrix3<T>,
        definiteness: Definiteness,
    ) -> Tangent<T> {
        principal::tangent(self, strain, g, definiteness)
    }
}

impl Material for Corotated {
    fn name(&self) -> &'static str {
        "corotated"
    }
    fn energy_form(&self) -> EnergyForm {
        EnergyForm::General
    }
    fn wave_modulus(&self) -> f64 {
        self.moduli.wave_modulus()
    }
}
