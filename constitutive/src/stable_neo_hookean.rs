//! Neo-Hookean rubber that is finite at inversion.

use nalgebra::Vector3;

use crate::terms::VolumeTerm;
use crate::{Hooke, Lame, PrincipalLaw, Real, Spectrum};

/// Stable neo-Hookean elasticity: ψ = μ/2 (I_C − 3) + Λ/2 (J − 1 − μ/Λ)² − μ²/(2Λ), Λ = λ + μ.
///
/// With Λ in place of λ the law agrees with Hooke's at small strain. Smooth and finite for every F, free of stress at rest.
///
/// Sources: Smith, de Goes, Kim (2018), "Stable neo-Hookean flesh simulation", without its regularised origin barrier; Kim and
/// Eberle (2020), "Dynamic deformables".
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::{Lame, NeoHookean, PrincipalLaw, StableNeoHookean};
///
/// // Collapsed to a point, μ = λ = 1 MPa: −3μ/2 + μ + (λ + μ)/2 = ½ MJ/m³, where other rubber has a barrier.
/// let lame = Lame::new(1e6, 1e6)?;
/// let point: Matrix3<f64> = Matrix3::zeros();
/// assert!((StableNeoHookean::new(lame).strain_energy(&point) - 5e5).abs() < 1e-6);
/// assert_eq!(NeoHookean::new(lame)?.strain_energy(&point), f64::INFINITY);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StableNeoHookean {
    lame: Lame,
}

impl StableNeoHookean {
    /// The law with these parameters.
    #[must_use]
    pub fn new(lame: Lame) -> Self {
        Self { lame }
    }

    /// Derivatives of the terms in J.
    fn volume<T: Real>(Hooke { mu, lambda }: &Hooke<T>, s: &Vector3<T>) -> VolumeTerm<T> {
        let second = *lambda + *mu;
        VolumeTerm {
            first: second * (s.product() - T::one()) - *mu,
            second,
        }
    }
}

impl<T: Real> PrincipalLaw<T> for StableNeoHookean {
    fn energy(&self, s: &Vector3<T>) -> T {
        let Hooke { mu, lambda } = self.lame.hooke::<T>();
        let (half, dilation) = (T::of(0.5), s.product() - T::one());
        // The square multiplied out: −μ(J − 1) + Λ/2 (J − 1)² has no constant to cancel.
        half * mu * (s.norm_squared() - T::of(3.0)) - mu * dilation
            + half * (lambda + mu) * dilation * dilation
    }

    fn stresses(&self, s: &Vector3<T>) -> Vector3<T> {
        let hooke = self.lame.hooke();
        s * hooke.mu + Self::volume(&hooke, s).stresses(s)
    }

    fn spectrum(&self, s: &Vector3<T>) -> Spectrum<T> {
        let hooke = self.lame.hooke();
        Spectrum::uniform(hooke.mu) + Self::volume(&hooke, s).spectrum(s)
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn with_zero_lambda(&self) -> Option<Self> {
        let lame = self.lame.with_zero_lambda();
        Some(Self { lame })
    }
}
