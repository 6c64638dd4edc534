//! Neo-Hookean rubber with a barrier against inversion.

use nalgebra::{Matrix3, Vector3};

use crate::{
    Domain, Hooke, Lame, Number, ParameterError, PrincipalLaw, Real, Spectrum, Tensor, cofactor,
    principal_pair,
};

/// Neo-Hookean elasticity: ψ = μ/2 (I_C − 3) − μ ln J + λ/2 ln²J, infinite towards J = 0.
///
/// [`StableNeoHookean`](crate::StableNeoHookean) is finite there.
///
/// Source: Bonet, Gil, Wood (2021), "Nonlinear solid mechanics for finite element analysis", section 6.4.3.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::{Lame, NeoHookean, PrincipalLaw};
///
/// // Simple shear γ = 0.5: τ_xy = μγ, and the normal stresses differ by μγ² (Poynting).
/// let law = NeoHookean::new(Lame::new(1e6, 1e6)?)?;
/// let F = Matrix3::new(1.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
/// let tau: Matrix3<f64> = law.kirchhoff_stress(&F);
/// assert!((tau[(0, 1)] - 5e5).abs() < 1e-6);
/// assert!((tau[(0, 0)] - tau[(1, 1)] - 2.5e5).abs() < 1e-6);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeoHookean {
    lame: Lame,
}

impl NeoHookean {
    /// The law with these parameters.
    ///
    /// # Errors
    /// [`ParameterError`] of `poissons_ratio` if λ < 0: the energy would fall without bound towards J = 0.
    pub fn new(lame: Lame) -> Result<Self, ParameterError> {
        let lame = lame.require_nonnegative_lambda(
            "must lie in [0, 0.5) for the neo-Hookean law, which has no barrier against inversion for lambda < 0",
        )?;
        Ok(Self { lame })
    }

    /// τ = μ(FFᵀ − I) + λ ln J I of one matrix or of several, Pa.
    #[must_use]
    #[inline(always)]
    pub fn kirchhoff_stresses<N: Number>(&self, F: &Tensor<N>) -> Tensor<N> {
        let J = F.determinant();
        let (mu, lambda) = (J.like(self.lame.mu()), J.like(self.lame.lambda()));
        let transposed = F.transpose();
        let left = transposed.transposed_product(&transposed);
        (left * mu).plus_diagonal(lambda * J.logarithm() - mu)
    }

    /// μ, λ and λ ln J − μ.
    #[inline(always)]
    fn parameters<T: Real>(&self, J: T) -> (T, T, T) {
        let Hooke { mu, lambda } = self.lame.hooke::<T>();
        (mu, lambda, lambda * J.ln() - mu)
    }
}

impl<T: Real> PrincipalLaw<T> for NeoHookean {
    fn energy(&self, s: &Vector3<T>) -> T {
        let Hooke { mu, lambda } = self.lame.hooke::<T>();
        let J = s.product();
        if !(J > T::zero()) {
            return T::one() / T::zero();
        }
        let (half, log) = (T::of(0.5), J.ln());
        half * mu * (s.norm_squared() - T::of(3.0)) - mu * log + half * lambda * log * log
    }

    fn stresses(&self, s: &Vector3<T>) -> Vector3<T> {
        let (mu, _, c) = self.parameters(s.product());
        s.map(|s| mu * s + c / s)
    }

    fn spectrum(&self, s: &Vector3<T>) -> Spectrum<T> {
        let (mu, lambda, c) = self.parameters(s.product());
        let inverse = s.map(|s| T::one() / s);
        let mut stretching = inverse * inverse.transpose() * lambda;
        for k in 0..3 {
            stretching[(k, k)] += mu - c * inverse[k] * inverse[k];
        }
        let pair = Vector3::from_fn(|k, _| {
            let (i, j) = principal_pair(k);
            c * inverse[i] * inverse[j]
        });
        Spectrum {
            stretching,
            symmetric: pair.map(|x| mu - x),
            antisymmetric: pair.map(|x| mu + x),
        }
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn with_zero_lambda(&self) -> Option<Self> {
        let lame = self.lame.with_zero_lambda();
        Some(Self { lame })
    }

    fn domain(&self) -> Domain {
        Domain::PositiveVolume
    }

    /// μF + (λ ln J − μ)F⁻ᵀ, without principal stretches.
    #[inline]
    fn piola_stress(&self, F: &Matrix3<T>) -> Matrix3<T> {
        let J = F.determinant();
        let (mu, _, c) = self.parameters(J);
        F * mu + cofactor(F) * (c / J)
    }

    /// Without principal stretches.
    #[inline]
    fn kirchhoff_stress(&self, F: &Matrix3<T>) -> Matrix3<T> {
        self.kirchhoff_stresses(&Tensor::from(F)).into()
    }
}
