//! Elastic constants of an isotropic solid.

use crate::{Hooke, ParameterError, Real};

/// The Lamé parameters μ and λ of a stable isotropic solid, Pa: μ > 0 and bulk modulus K = λ + 2μ/3 > 0, which is E > 0 and
/// −1 < ν < 0.5.
///
/// Every constructor checks this range, so a law that takes a `Lame` need not.
///
/// ```
/// use pliant_constitutive::Lame;
///
/// // Both parameters of a solid with ν = 1/4 are equal.
/// let lame = Lame::from_young_poisson(1e5, 0.25)?;
/// assert!((lame.mu() - 4e4).abs() < 1e-9 && (lame.lambda() - 4e4).abs() < 1e-9);
/// assert!(Lame::from_young_poisson(1e5, 0.5).is_err());
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    mu: f64,
    lambda: f64,
}

impl Lame {
    /// From the Lamé parameters themselves, Pa.
    ///
    /// # Errors
    /// [`ParameterError`] of `mu` unless μ is positive and finite, of `lambda` unless λ is finite and above −2μ/3.
    pub fn new(mu: f64, lambda: f64) -> Result<Self, ParameterError> {
        ParameterError::require_positive("mu", mu)?;
        ParameterError::require(
            lambda > -2.0 / 3.0 * mu && lambda.is_finite(),
            "lambda",
            lambda,
            "Pa must be finite and above -2/3 mu: the bulk modulus lambda + 2/3 mu is positive",
        )?;
        Ok(Self { mu, lambda })
    }

    /// From Young's modulus E, Pa, and Poisson's ratio ν.
    ///
    /// ```text
    /// μ = E / (2(1 + ν))        λ = Eν / ((1 + ν)(1 − 2ν))
    /// ```
    ///
    /// λ → ∞ as ν → 0.5. Source: Bonet, Gil, Wood (2021), "Nonlinear solid mechanics for finite element analysis".
    ///
    /// # Errors
    /// [`ParameterError`] of `youngs_modulus` unless E is positive and finite, of `poissons_ratio` unless −1 < ν < 0.5.
    pub fn from_young_poisson(
        youngs_modulus: f64,
        poissons_ratio: f64,
    ) -> Result<Self, ParameterError> {
        let E = ParameterError::require(
            youngs_modulus > 0.0 && youngs_modulus.is_finite(),
            "youngs_modulus",
            youngs_modulus,
            "Pa must be positive and finite; soft silicone has 7e4, rubber 3e6, steel 2e11",
        )?;
        let nu = ParameterError::require(
            poissons_ratio > -1.0 && poissons_ratio < 0.5,
            "poissons_ratio",
            poissons_ratio,
            "must lie in (-1, 0.5); for a nearly incompressible solid use 0.49",
        )?;
        Ok(Self {
            mu: E / (2.0 * (1.0 + nu)),
            lambda: E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
        })
    }

    /// From the shear modulus μ and the bulk modulus K = λ + 2μ/3, Pa.
    ///
    /// # Errors
    /// [`ParameterError`] of `shear_modulus` or `bulk_modulus` unless both are positive and finite.
    pub fn from_shear_bulk(shear_modulus: f64, bulk_modulus: f64) -> Result<Self, ParameterError> {
        ParameterError::require_positive("shear_modulus", shear_modulus)?;
        ParameterError::require_positive("bulk_modulus", bulk_modulus)?;
        Ok(Self {
            mu: shear_modulus,
            lambda: bulk_modulus - 2.0 / 3.0 * shear_modulus,
        })
    }

    /// μ, the shear modulus, Pa.
    #[must_use]
    #[inline]
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// λ, Pa; negative for ν < 0.
    #[must_use]
    #[inline]
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// The parameters μ and λ = 0, of a solid with ν = 0.
    #[must_use]
    pub fn with_zero_lambda(&self) -> Self {
        Self {
            lambda: 0.0,
            ..*self
        }
    }

    /// E = μ(3λ + 2μ)/(λ + μ), Pa.
    #[must_use]
    pub fn youngs_modulus(&self) -> f64 {
        self.mu * (3.0 * self.lambda + 2.0 * self.mu) / (self.lambda + self.mu)
    }

    /// ν = λ/(2(λ + μ)).
    #[must_use]
    pub fn poissons_ratio(&self) -> f64 {
        self.lambda / (2.0 * (self.lambda + self.mu))
    }

    /// K = λ + 2μ/3, Pa.
    #[must_use]
    pub fn bulk_modulus(&self) -> f64 {
        self.lambda + 2.0 / 3.0 * self.mu
    }

    /// λ + 2μ, the modulus of longitudinal waves (ρc²), Pa.
    #[must_use]
    pub fn wave_modulus(&self) -> f64 {
        self.lambda + 2.0 * self.mu
    }

    /// Hooke's law with these parameters, in the precision of `T`.
    #[must_use]
    #[inline]
    pub fn hooke<T: Real>(&self) -> Hooke<T> {
        Hooke {
            mu: T::of(self.mu),
            lambda: T::of(self.lambda),
        }
    }

    /// The same parameters, for a law that is bounded below only with λ ≥ 0; `allowed` says so and why.
    pub(crate) fn require_nonnegative_lambda(
        self,
        allowed: &'static str,
    ) -> Result<Self, ParameterError> {
        let nu = self.poissons_ratio();
        ParameterError::require(self.lambda >= 0.0, "poissons_ratio", nu, allowed)?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_inverse_to_each_other_over_the_whole_range() {
        for (E, nu) in [
            (1e5, 0.4),
            (2e10, 0.3),
            (7.0, -0.8),
            (1e6, -0.999),
            (1e6, 0.49),
            (1e6, 0.0),
        ] {
            let lame = Lame::from_young_poisson(E, nu).unwrap();
            assert!((lame.youngs_modulus() / E - 1.0).abs() < 1e-12);
            assert!((lame.poissons_ratio() - nu).abs() < 1e-12);
            assert_eq!(Lame::new(lame.mu(), lame.lambda()), Ok(lame));
            let again = Lame::from_shear_bulk(lame.mu(), lame.bulk_modulus()).unwrap();
            assert!((again.lambda - lame.lambda).abs() < 1e-12 * E.max(lame.lambda.abs()));
        }
    }

    #[test]
    fn unstable_solids_are_rejected_by_parameter() {
        for nu in [0.5, -1.0, 0.7, f64::NAN] {
            let error = Lame::from_young_poisson(1e5, nu).unwrap_err();
            assert_eq!(error.parameter, "poissons_ratio");
            assert!(error.to_string().contains("(-1, 0.5)"), "{error}");
        }
        for E in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            let error = Lame::from_young_poisson(E, 0.3).unwrap_err();
            assert_eq!(error.parameter, "youngs_modulus");
        }
        assert_eq!(Lame::new(0.0, 1.0).unwrap_err().parameter, "mu");
        assert_eq!(Lame::new(1.0, -0.7).unwrap_err().parameter, "lambda");
        let error = Lame::from_shear_bulk(1.0, f64::NAN).unwrap_err();
        assert_eq!(error.parameter, "bulk_modulus");
    }
}
