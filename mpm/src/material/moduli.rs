//! Elastic constants.

use crate::error::{MpmError, positive, within};

/// Lamé's parameters of an isotropic solid, Pa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moduli {
    /// μ, the shear modulus.
    pub mu: f64,
    /// λ.
    pub lambda: f64,
}

impl Moduli {
    /// μ = E/(2(1 + ν)), λ = Eν/((1 + ν)(1 − 2ν)).
    ///
    /// `what` names the material in the error; E in Pa; 0 ≤ ν < ½, because the laws of this crate are convex for λ ≥ 0.
    ///
    /// # Errors
    /// [`MpmError::Parameter`].
    pub fn new(what: &str, youngs_modulus: f64, poissons_ratio: f64) -> Result<Self, MpmError> {
        let e = positive(what, "youngs_modulus", youngs_modulus)?;
        let nu = within(
            what,
            "poissons_ratio",
            poissons_ratio,
            (0.0..0.5).contains(&poissons_ratio),
            "must lie in [0, 0.5); for a nearly incompressible solid use 0.49",
        )?;
        Ok(Self {
            mu: e / (2.0 * (1.0 + nu)),
            lambda: e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
        })
    }

    /// λ + 2μ, the modulus of longitudinal waves, Pa.
    #[must_use]
    pub fn wave_modulus(&self) -> f64 {
        self.lambda + 2.0 * self.mu
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cauchy_solid_has_equal_moduli() {
        let moduli = Moduli::new("cube", 1e5, 0.25).unwrap();
        assert!((moduli.mu - 4e4).abs() < 1e-9 && (moduli.lambda - 4e4).abs() < 1e-9);
    }

    #[test]
    fn impossible_constants_are_refused_by_name() {
        for (e, nu, parameter) in [
            (0.0, 0.3, "youngs"),
            (f64::NAN, 0.3, "youngs"),
            (1e5, 0.5, "poissons"),
            (1e5, -0.1, "poissons"),
        ] {
            let error = Moduli::new("dough", e, nu).unwrap_err().to_string();
            assert!(
                error.contains(parameter) && error.contains("dough"),
                "{error}"
            );
        }
    }
}
