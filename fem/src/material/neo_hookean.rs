//! Neo-Hookean rubber with a barrier against inversion.

use nalgebra::{Matrix3, Vector3};

use super::{Domain, Lame, PrincipalLaw, Spectrum};
use crate::error::FemError;

/// Ψ = μ/2 (I_C − 3) − μ ln J + λ/2 ln²J: infinite towards J = 0.
///
/// An element that a step inverts is an error naming it: take a smaller step, or [`StableNeoHookean`](super::StableNeoHookean).
///
/// Source: Bonet, Gil, Wood (2021), section 6.4.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeoHookean {
    lame: Lame,
}

impl NeoHookean {
    /// # Errors
    /// [`FemError::Parameter`] of [`Lame::validate`].
    pub fn new(lame: Lame) -> Result<Self, FemError> {
        lame.validate()?;
        Ok(Self { lame })
    }
}

impl PrincipalLaw for NeoHookean {
    fn energy(&self, s: &Vector3<f64>) -> f64 {
        let Lame { mu, lambda } = self.lame;
        let J = s.product();
        if J <= 0.0 {
            return f64::INFINITY;
        }
        let log = J.ln();
        0.5 * mu * (s.norm_squared() - 3.0) - mu * log + 0.5 * lambda * log * log
    }

    fn stresses(&self, s: &Vector3<f64>) -> Vector3<f64> {
        let Lame { mu, lambda } = self.lame;
        let pull = lambda * s.product().ln() - mu;
        s.map(|s| mu * s + pull / s)
    }

    fn spectrum(&self, s: &Vector3<f64>) -> Spectrum {
        let Lame { mu, lambda } = self.lame;
        let pull = lambda * s.product().ln() - mu;
        let inverse = s.map(|s| 1.0 / s);
        let mut stretching = inverse * inverse.transpose() * lambda;
        for k in 0..3 {
            stretching[(k, k)] += mu - pull * inverse[k] * inverse[k];
        }
        let pair = |k: usize| {
            let (i, j) = Spectrum::pair(k);
            inverse[i] * inverse[j]
        };
        Spectrum {
            stretching: Matrix3::from(stretching),
            symmetric: Vector3::from_fn(|k, _| mu - pull * pair(k)),
            antisymmetric: Vector3::from_fn(|k, _| mu + pull * pair(k)),
        }
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn domain(&self) -> Domain {
        Domain::PositiveVolume
    }
}
