//! Rubber by two invariants and a bulk modulus.

use nalgebra::{Matrix3, Vector3};

use super::stable_neo_hookean::{areas, volume_stretching};
use super::{Lame, PrincipalLaw, Spectrum};
use crate::error::FemError;

/// Ψ = C₁(I_C − 3) + C₂(II_C − 3) + κ/2 (J − 1 − p)² − κp²/2, with κp = 2C₁ + 4C₂ so that rest is free of stress and
/// κ = K + (2C₁ − 4C₂)/3 so that K is the bulk modulus there.
///
/// I_C = tr FᵀF, II_C = ½(I_C² − tr(FᵀF)²). Smooth and finite for every F; μ = 2(C₁ + C₂).
///
/// Source: Mooney (1940), Rivlin (1948); the volume term shifted for stability at rest as in Kim and Eberle (2020).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MooneyRivlin {
    c1: f64,
    c2: f64,
    bulk_modulus: f64,
}

impl MooneyRivlin {
    /// From C₁, C₂ and the bulk modulus K at rest, all in Pa.
    ///
    /// # Errors
    /// [`FemError::Parameter`] unless C₁ > 0, C₂ ≥ 0, K > 0 and κ > 0.
    pub fn new(c1: f64, c2: f64, bulk_modulus: f64) -> Result<Self, FemError> {
        FemError::require_positive("c1 (Pa)", c1)?;
        FemError::require_at_least_zero("c2 (Pa)", c2)?;
        FemError::require_positive("bulk_modulus (Pa)", bulk_modulus)?;
        let kappa = bulk_modulus + (2.0 * c1 - 4.0 * c2) / 3.0;
        FemError::require_positive("kappa = bulk_modulus + (2 c1 - 4 c2)/3 (Pa)", kappa)?;
        Ok(Self {
            c1,
            c2,
            bulk_modulus,
        })
    }

    /// κ and ∂Ψ/∂J = κ(J − 1) − 2C₁ − 4C₂.
    fn volume(&self, s: &Vector3<f64>) -> (f64, f64) {
        let stiffness = self.bulk_modulus + (2.0 * self.c1 - 4.0 * self.c2) / 3.0;
        let dilation = s.product() - 1.0;
        (
            stiffness,
            stiffness * dilation - 2.0 * self.c1 - 4.0 * self.c2,
        )
    }
}

impl PrincipalLaw for MooneyRivlin {
    fn energy(&self, s: &Vector3<f64>) -> f64 {
        let (stiffness, _) = self.volume(s);
        let dilation = s.product() - 1.0;
        self.c1 * (s.norm_squared() - 3.0) + self.c2 * (areas(s).norm_squared() - 3.0)
            - (2.0 * self.c1 + 4.0 * self.c2) * dilation
            + 0.5 * stiffness * dilation * dilation
    }

    fn stresses(&self, s: &Vector3<f64>) -> Vector3<f64> {
        let (_, pressure) = self.volume(s);
        let square = s.norm_squared();
        let by_second = s.map(|s| s * (square - s * s));
        s * (2.0 * self.c1) + by_second * (2.0 * self.c2) + areas(s) * pressure
    }

    fn spectrum(&self, s: &Vector3<f64>) -> Spectrum {
        let (c1, c2) = (self.c1, self.c2);
        let (stiffness, pressure) = self.volume(s);
        let square = s.norm_squared();
        let mut stretching: Matrix3<f64> = volume_stretching(s, stiffness, pressure);
        for i in 0..3 {
            for j in 0..3 {
                stretching[(i, j)] += if i == j {
                    2.0 * c1 + 2.0 * c2 * (square - s[i] * s[i])
                } else {
                    4.0 * c2 * s[i] * s[j]
                };
            }
        }
        let pair = |k: usize, sign: f64| {
            let (i, j) = Spectrum::pair(k);
            2.0 * c1 + 2.0 * c2 * (s[k] * s[k] - sign * s[i] * s[j]) - sign * pressure * s[k]
        };
        Spectrum {
            stretching,
            symmetric: Vector3::from_fn(|k, _| pair(k, 1.0)),
            antisymmetric: Vector3::from_fn(|k, _| pair(k, -1.0)),
        }
    }

    fn lame(&self) -> Lame {
        let mu = 2.0 * (self.c1 + self.c2);
        Lame {
            mu,
            lambda: self.bulk_modulus - 2.0 / 3.0 * mu,
        }
    }
}
