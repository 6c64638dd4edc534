//! The traditional corotational law.

use nalgebra::{Matrix3, Vector3};

use super::{Lame, PrincipalLaw, Spectrum};
use crate::error::FemError;

/// Ψ = μ‖S − I‖² + λ/2 tr²(S − I), F = RS.
///
/// Its derivative is exact, that of R included, and may be indefinite. Two stretches that cancel (σ_i + σ_j = 0, deep in
/// inversion) have no rotation between them: the stiffness there is held at that of σ_i + σ_j = 1e-6.
///
/// Source: McAdams et al. (2011), "Efficient elasticity for character skinning with contact and collisions".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corotational {
    lame: Lame,
}

impl Corotational {
    /// # Errors
    /// [`FemError::Parameter`] of [`Lame::validate`].
    pub fn new(lame: Lame) -> Result<Self, FemError> {
        lame.validate()?;
        Ok(Self { lame })
    }
}

impl PrincipalLaw for Corotational {
    fn energy(&self, s: &Vector3<f64>) -> f64 {
        let trace = s.sum() - 3.0;
        self.lame.mu * s.add_scalar(-1.0).norm_squared() + 0.5 * self.lame.lambda * trace * trace
    }

    fn stresses(&self, s: &Vector3<f64>) -> Vector3<f64> {
        let pressure = self.lame.lambda * (s.sum() - 3.0);
        s.map(|s| 2.0 * self.lame.mu * (s - 1.0) + pressure)
    }

    fn spectrum(&self, s: &Vector3<f64>) -> Spectrum {
        let Lame { mu, lambda } = self.lame;
        // ψ_i + ψ_j = 2μ(σ_i + σ_j) + 2(λ tr − 2μ).
        let turning = 2.0 * (lambda * (s.sum() - 3.0) - 2.0 * mu);
        Spectrum {
            stretching: Matrix3::from_diagonal_element(2.0 * mu) + Matrix3::repeat(lambda),
            symmetric: Vector3::repeat(2.0 * mu),
            antisymmetric: Vector3::from_fn(|k, _| {
                let (i, j) = Spectrum::pair(k);
                2.0 * mu + turning / (s[i] + s[j]).max(1e-6)
            }),
        }
    }

    fn lame(&self) -> Lame {
        self.lame
    }
}
