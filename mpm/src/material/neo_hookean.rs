//! Neo-Hookean elasticity: cannot be squeezed to nothing.

use nalgebra::{Matrix3, Vector3};

use super::principal::{self, PAIRS, PrincipalLaw};
use super::{Definiteness, EnergyForm, Lagged, Law, Material, Moduli, Strain, Tangent};
use crate::error::MpmError;
use crate::scalar::Real;

/// ψ = (μ/2)(|F|² − 3) − μ ln J + (λ/2) ln²J, infinite for J ≤ 0; τ = μ(FFᵀ − I) + λ ln J I.
///
/// Source: Bonet and Wood (2008), "Nonlinear continuum mechanics for finite element analysis", eq. 6.27.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeoHookean {
    moduli: Moduli,
}

impl NeoHookean {
    /// # Errors
    /// [`MpmError::Parameter`], see [`Moduli::new`].
    pub fn new(youngs_modulus: f64, poissons_ratio: f64) -> Result<Self, MpmError> {
        let moduli = Moduli::new("neo-Hookean", youngs_modulus, poissons_ratio)?;
        Ok(Self { moduli })
    }

    fn constants<T: Real>(&self) -> (T, T) {
        (T::of(self.moduli.mu), T::of(self.moduli.lambda))
    }
}

impl<T: Real> PrincipalLaw<T> for NeoHookean {
    fn density(&self, s: &Vector3<T>) -> T {
        let (mu, lambda) = self.constants();
        let volume = s[0] * s[1] * s[2];
        if !(volume > T::zero()) {
            return T::one() / T::zero();
        }
        let log = volume.ln();
        let half = T::of(0.5);
        half * mu * (s.norm_squared() - T::of(3.0)) - mu * log + half * lambda * log * log
    }

    fn slopes(&self, s: &Vector3<T>) -> Vector3<T> {
        let (mu, lambda) = self.constants::<T>();
        let log = (s[0] * s[1] * s[2]).ln();
        s * mu + s.map(|s| (lambda * log - mu) / s)
    }

    fn curvature(&self, s: &Vector3<T>) -> Matrix3<T> {
        let (mu, lambda) = self.constants::<T>();
        let log = (s[0] * s[1] * s[2]).ln();
        Matrix3::from_fn(|i, j| {
            let own = if i == j {
                mu + (mu - lambda * log) / (s[i] * s[i])
            } else {
                T::zero()
            };
            own + lambda / (s[i] * s[j])
        })
    }

    fn quotients(&self, s: &Vector3<T>) -> [T; 3] {
        let (mu, lambda) = self.constants::<T>();
        let log = (s[0] * s[1] * s[2]).ln();
        PAIRS.map(|(i, j, _)| mu + (mu - lambda * log) / (s[i] * s[j]))
    }
}

impl<T: Real> Law<T> for NeoHookean {
    fn energy(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> T {
        principal::energy(self, strain, g)
    }
    fn stress(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
        // P Fᵀ without singular values: (μF + (λ ln J − μ)F⁻ᵀ) F₀ᵀ.
        let (mu, lambda) = self.constants::<T>();
        let f = strain.f + g * strain.f;
        let volume = f.determinant();
        let push = (lambda * volume.ln() - mu) / volume;
        (f * mu + crate::rotation::cofactor(&f) * push) * strain.f.transpose()
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
    fn advance(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Strain<T> {
        Strain {
            f: principal::uncrushed(&(strain.f + g * strain.f)),
            ..*strain
        }
    }
    #[inline]
    fn kirchhoff(&self, strain: &Strain<T>, _: &Lagged<T>) -> Matrix3<T> {
        let (mu, lambda) = self.constants::<T>();
        let push = lambda * strain.f.determinant().ln() - mu;
        strain.f * strain.f.transpose() * mu + Matrix3::from_diagonal_element(push)
    }
}

impl Material for NeoHookean {
    fn name(&self) -> &'static str {
        "neo_hookean"
    }
    fn energy_form(&self) -> EnergyForm {
        EnergyForm::General
    }
    fn wave_modulus(&self) -> f64 {
        self.moduli.wave_modulus()
    }
}
