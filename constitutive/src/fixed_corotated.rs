//! Fixed corotated elasticity, with the determinant of F.

use nalgebra::{Matrix3, Vector3};

use crate::terms::{RotationDistance, VolumeTerm};
use crate::{
    Hooke, Lame, Number, ParameterError, PrincipalLaw, Real, Spectrum, Tensor, cofactor,
    polar_rotation, polar_rotations,
};

/// Fixed corotated elasticity: ψ = μ‖F − R‖² + λ/2 (J − 1)².
///
/// Finite for inverted F, which it pushes back. Its volume term is that of J where [`Corotational`](crate::Corotational) has the
/// trace of the stretch; at small strain both are Hooke's law. The same kink where two stretches cancel.
///
/// Source: Stomakhin, Howes, Schroeder, Teran (2012), "Energetically consistent invertible elasticity".
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_constitutive::{FixedCorotated, Lame, PrincipalLaw};
///
/// // Turned inside out along z, μ = λ = 1 MPa: ψ = μ (−1 − 1)² + λ/2 (−1 − 1)², finite.
/// let law = FixedCorotated::new(Lame::new(1e6, 1e6)?)?;
/// let inverted: Matrix3<f64> = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, -1.0));
/// assert!((law.strain_energy(&inverted) - 6e6).abs() < 1e-3);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedCorotated {
    lame: Lame,
}

impl FixedCorotated {
    /// The law with these parameters.
    ///
    /// # Errors
    /// [`ParameterError`] of `poissons_ratio` if λ < 0: the energy would fall without bound as J grows.
    pub fn new(lame: Lame) -> Result<Self, ParameterError> {
        let lame = lame.require_nonnegative_lambda(
            "must lie in [0, 0.5) for the fixed corotated law, whose energy is unbounded below for lambda < 0",
        )?;
        Ok(Self { lame })
    }

    /// τ = 2μ(F − R)Fᵀ + λ J(J − 1) I of one matrix or of several, Pa, by the polar decomposition F = R S.
    #[must_use]
    #[inline(always)]
    pub fn kirchhoff_stresses<N: Number>(&self, F: &Tensor<N>) -> Tensor<N> {
        let J = F.determinant();
        let (mu, lambda) = (J.like(self.lame.mu()), J.like(self.lame.lambda()));
        let stretched = (*F - polar_rotations(F)) * F.transpose();
        (stretched * (mu + mu)).plus_diagonal(lambda * J * (J - J.like(1.0)))
    }

    fn volume<T: Real>(Hooke { lambda, .. }: &Hooke<T>, s: &Vector3<T>) -> VolumeTerm<T> {
        VolumeTerm {
            first: *lambda * (s.product() - T::one()),
            second: *lambda,
        }
    }
}

impl<T: Real> PrincipalLaw<T> for FixedCorotated {
    fn energy(&self, s: &Vector3<T>) -> T {
        let hooke = self.lame.hooke();
        let dilation = s.product() - T::one();
        RotationDistance(hooke.mu).energy(s) + T::of(0.5) * hooke.lambda * dilation * dilation
    }

    fn stresses(&self, s: &Vector3<T>) -> Vector3<T> {
        let hooke = self.lame.hooke();
        RotationDistance(hooke.mu).stresses(s) + Self::volume(&hooke, s).stresses(s)
    }

    fn spectrum(&self, s: &Vector3<T>) -> Spectrum<T> {
        let hooke = self.lame.hooke();
        RotationDistance(hooke.mu).spectrum(s) + Self::volume(&hooke, s).spectrum(s)
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn with_zero_lambda(&self) -> Option<Self> {
        let lame = self.lame.with_zero_lambda();
        Some(Self { lame })
    }

    /// 2μ(F − R) + λ(J − 1) cof F, without principal stretches.
    fn piola_stress(&self, F: &Matrix3<T>) -> Matrix3<T> {
        let Hooke::<T> { mu, lambda } = self.lame.hooke();
        (F - polar_rotation(F)) * (mu + mu) + cofactor(F) * (lambda * (F.determinant() - T::one()))
    }

    /// Without principal stretches.
    fn kirchhoff_stress(&self, F: &Matrix3<T>) -> Matrix3<T> {
        self.kirchhoff_stresses(&Tensor::from(F)).into()
    }
}
