//! Hooke's law between the second Piola stress and Green's strain.

use nalgebra::{Matrix3, Vector3};

use super::{Lame, PrincipalLaw, Spectrum};
use crate::error::FemError;

/// Ψ = μ‖E‖² + λ/2 tr²E with Green's strain E = ½(FᵀF − I).
///
/// Invariant under rotation and quartic in F; loses its stiffness below about 0.58 of the rest length and does not
/// resist inversion. For comparison with textbooks and for thin structures under tension.
///
/// Source: Bonet, Gil, Wood (2021), section 6.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StVenantKirchhoff {
    lame: Lame,
}

impl StVenantKirchhoff {
    /// # Errors
    /// [`FemError::Parameter`] of [`Lame::validate`].
    pub fn new(lame: Lame) -> Result<Self, FemError> {
        lame.validate()?;
        Ok(Self { lame })
    }

    fn green(s: &Vector3<f64>) -> Vector3<f64> {
        s.map(|s| 0.5 * (s - 1.0) * (s + 1.0))
    }
}

impl PrincipalLaw for StVenantKirchhoff {
    fn energy(&self, s: &Vector3<f64>) -> f64 {
        let green = Self::green(s);
        let trace = green.sum();
        self.lame.mu * green.norm_squared() + 0.5 * self.lame.lambda * trace * trace
    }

    fn stresses(&self, s: &Vector3<f64>) -> Vector3<f64> {
        let green = Self::green(s);
        let pressure = self.lame.lambda * green.sum();
        s.zip_map(&green, |s, e| s * (2.0 * self.lame.mu * e + pressure))
    }

    fn spectrum(&self, s: &Vector3<f64>) -> Spectrum {
        let Lame { mu, lambda } = self.lame;
        let green = Self::green(s);
        let pressure = lambda * green.sum();
        let mut stretching = s * s.transpose() * lambda;
        for k in 0..3 {
            stretching[(k, k)] += 2.0 * mu * (green[k] + s[k] * s[k]) + pressure;
        }
        // σ_i³ ∓ σ_j³ = (σ_i ∓ σ_j)(σ_i² ± σ_iσ_j + σ_j²).
        let pair = |k: usize, sign: f64| {
            let (i, j) = Spectrum::pair(k);
            pressure + mu * (s[i] * s[i] + sign * s[i] * s[j] + s[j] * s[j] - 1.0)
        };
        Spectrum {
            stretching: Matrix3::from(stretching),
            symmetric: Vector3::from_fn(|k, _| pair(k, 1.0)),
            antisymmetric: Vector3::from_fn(|k, _| pair(k, -1.0)),
        }
    }

    fn lame(&self) -> Lame {
        self.lame
    }
}
