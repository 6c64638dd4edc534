//! Neo-Hookean rubber that bears inversion.

use nalgebra::{Matrix3, Vector3};

use super::{Lame, PrincipalLaw, Spectrum};
use crate::error::FemError;

/// Ψ = μ/2 (I_C − 3) + Λ/2 (J − 1 − μ/Λ)² − μ²/(2Λ), Λ = λ + μ.
///
/// With Λ in place of λ the law agrees with Hooke's at small strain. Smooth and finite for every F, free of stress at rest.
///
/// Source: Smith, de Goes, Kim (2018), "Stable neo-Hookean flesh simulation", without its regularised origin barrier;
/// Kim and Eberle (2020), "Dynamic deformables".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StableNeoHookean {
    lame: Lame,
}

impl StableNeoHookean {
    /// # Errors
    /// [`FemError::Parameter`] of [`Lame::validate`].
    pub fn new(lame: Lame) -> Result<Self, FemError> {
        lame.validate()?;
        Ok(Self { lame })
    }

    /// Λ and ∂Ψ/∂J = Λ(J − 1) − μ.
    fn volume(&self, s: &Vector3<f64>) -> (f64, f64) {
        let stiffness = self.lame.lambda + self.lame.mu;
        (stiffness, stiffness * (s.product() - 1.0) - self.lame.mu)
    }
}

impl PrincipalLaw for StableNeoHookean {
    fn energy(&self, s: &Vector3<f64>) -> f64 {
        let (stiffness, _) = self.volume(s);
        let dilation = s.product() - 1.0;
        // The square written out: −μ(J − 1) + Λ/2 (J − 1)² has no constant to cancel.
        0.5 * self.lame.mu * (s.norm_squared() - 3.0) - self.lame.mu * dilation
            + 0.5 * stiffness * dilation * dilation
    }

    fn stresses(&self, s: &Vector3<f64>) -> Vector3<f64> {
        let (_, pressure) = self.volume(s);
        s * self.lame.mu + areas(s) * pressure
    }

    fn spectrum(&self, s: &Vector3<f64>) -> Spectrum {
        let mu = self.lame.mu;
        let (stiffness, pressure) = self.volume(s);
        Spectrum {
            stretching: Matrix3::from_diagonal_element(mu)
                + volume_stretching(s, stiffness, pressure),
            symmetric: s.map(|s| mu - pressure * s),
            antisymmetric: s.map(|s| mu + pressure * s),
        }
    }

    fn lame(&self) -> Lame {
        self.lame
    }
}

/// ∂J/∂σ.
pub(super) fn areas(s: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(s.y * s.z, s.z * s.x, s.x * s.y)
}

/// ∂²f(J)/∂σ_i∂σ_j with f'' = `stiffness` and f' = `pressure`.
pub(super) fn volume_stretching(s: &Vector3<f64>, stiffness: f64, pressure: f64) -> Matrix3<f64> {
    let areas = areas(s);
    let mut stretching = areas * areas.transpose() * stiffness;
    for k in 0..3 {
        let (i, j) = Spectrum::pair(k);
        stretching[(i, j)] += pressure * s[k];
        stretching[(j, i)] += pressure * s[k];
    }
    stretching
}
