//! From what is measured to what is computed with.

use crate::error::FemError;

/// Lamé's parameters of an isotropic solid, both in Pa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    /// μ, the shear modulus; positive.
    pub mu: f64,
    /// λ; above −2μ/3.
    pub lambda: f64,
}

/// Lamé's parameters of an isotropic solid.
///
/// ```text
/// μ = E / (2(1 + ν))        λ = Eν / ((1 + ν)(1 − 2ν))
/// ```
///
/// `youngs_modulus` E: Pa, positive. `poissons_ratio` ν: dimensionless, −1 < ν < 0.5. λ → ∞ as ν → 0.5; linear
/// tetrahedra lock well before that: beyond 0.45 they are too stiff in bending, beyond 0.49 hardly of use.
///
/// # Errors
/// [`FemError::YoungsModulus`] unless E is finite and positive; [`FemError::PoissonsRatio`] outside (−1, 0.5).
///
/// # Source
/// Textbook; e.g. Bonet, Gil, Wood (2021), "Nonlinear solid mechanics for finite element analysis".
///
/// ```
/// // ν = 1/4 is the Cauchy solid: both parameters agree.
/// let lame = pliant_fem::lame_parameters(1.0e5, 0.25)?;
/// assert!((lame.mu - 4.0e4).abs() < 1e-9 && (lame.lambda - 4.0e4).abs() < 1e-9);
/// # Ok::<(), pliant_fem::FemError>(())
/// ```
pub fn lame_parameters(youngs_modulus: f64, poissons_ratio: f64) -> Result<Lame, FemError> {
    if !(youngs_modulus > 0.0 && youngs_modulus.is_finite()) {
        return Err(FemError::YoungsModulus(youngs_modulus));
    }
    if !(poissons_ratio > -1.0 && poissons_ratio < 0.5) {
        return Err(FemError::PoissonsRatio(poissons_ratio));
    }
    let (E, nu) = (youngs_modulus, poissons_ratio);
    Ok(Lame {
        mu: E / (2.0 * (1.0 + nu)),
        lambda: E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
    })
}

impl Lame {
    /// From the shear modulus μ and the bulk modulus K = λ + 2μ/3, Pa.
    ///
    /// # Errors
    /// [`FemError::Parameter`] unless both are positive and finite.
    pub fn from_shear_and_bulk(shear_modulus: f64, bulk_modulus: f64) -> Result<Self, FemError> {
        FemError::require_positive("shear_modulus (Pa)", shear_modulus)?;
        FemError::require_positive("bulk_modulus (Pa)", bulk_modulus)?;
        Ok(Self {
            mu: shear_modulus,
            lambda: bulk_modulus - 2.0 / 3.0 * shear_modulus,
        })
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

    /// C:ε = 2με + λ tr(ε) I of a symmetric strain, Pa.
    #[must_use]
    pub fn stress(&self, strain: &nalgebra::Matrix3<f64>) -> nalgebra::Matrix3<f64> {
        let mut stress = strain * (2.0 * self.mu);
        let pressure = self.lambda * strain.trace();
        for k in 0..3 {
            stress[(k, k)] += pressure;
        }
        stress
    }

    /// ½ε:C:ε, J/m³.
    #[must_use]
    pub fn energy_density(&self, strain: &nalgebra::Matrix3<f64>) -> f64 {
        let trace = strain.trace();
        self.mu * strain.norm_squared() + 0.5 * self.lambda * trace * trace
    }

    /// Refuses what no solid can be: every law of this crate asks.
    ///
    /// # Errors
    /// [`FemError::Parameter`] unless μ > 0 and λ > −2μ/3, both finite.
    pub fn validate(&self) -> Result<(), FemError> {
        FemError::require_positive("mu (Pa)", self.mu)?;
        FemError::require_positive("bulk modulus lambda + 2/3 mu (Pa)", self.bulk_modulus())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moduli_survive_the_way_there_and_back() {
        for (E, nu) in [
            (1e5, 0.4),
            (2e10, 0.3),
            (7.0, -0.8),
            (1e6, 0.49),
            (1e6, 0.0),
        ] {
            let lame = lame_parameters(E, nu).unwrap();
            lame.validate().unwrap();
            assert!((lame.youngs_modulus() / E - 1.0).abs() < 1e-12);
            assert!((lame.poissons_ratio() - nu).abs() < 1e-12);
            let again = Lame::from_shear_and_bulk(lame.mu, lame.bulk_modulus()).unwrap();
            assert!((again.lambda - lame.lambda).abs() < 1e-12 * E.max(lame.lambda.abs()));
        }
    }

    #[test]
    fn impossible_solids_are_refused_by_value() {
        for nu in [0.5, -1.0, 0.7, f64::NAN] {
            assert!(matches!(
                lame_parameters(1e5, nu),
                Err(FemError::PoissonsRatio(_))
            ));
        }
        for E in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert!(matches!(
                lame_parameters(E, 0.3),
                Err(FemError::YoungsModulus(_))
            ));
        }
        let text = lame_parameters(1e5, 0.5).unwrap_err().to_string();
        assert!(text.contains("0.5") && text.contains("(-1, 0.5)") && text.contains("0.49"));
        assert!(
            Lame {
                mu: 1.0,
                lambda: -0.7
            }
            .validate()
            .is_err()
        );
    }
}
