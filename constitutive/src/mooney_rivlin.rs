//! Rubber by two invariants and a bulk modulus.

use nalgebra::Vector3;

use crate::terms::{VolumeTerm, areas};
use crate::{Lame, ParameterError, PrincipalLaw, Real, Spectrum, principal_pair};

/// Mooney-Rivlin elasticity: ψ = C₁(I_C − 3) + C₂(II_C − 3) + κ/2 (J − 1 − p)² − κp²/2.
///
/// κp = 2C₁ + 4C₂, so that rest is free of stress, and κ = K + (2C₁ − 4C₂)/3, so that K is the bulk modulus there.
/// I_C = tr FᵀF, II_C = ½(I_C² − tr(FᵀF)²). Smooth and finite for every F; μ = 2(C₁ + C₂).
///
/// Sources: Mooney (1940), "A theory of large elastic deformation"; Rivlin (1948); the volume term is shifted for stability at
/// rest as in Kim and Eberle (2020), "Dynamic deformables".
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::{MooneyRivlin, PrincipalLaw};
///
/// // The rubber of Sussman and Bathe (1987) in simple shear γ = 0.5: τ_xy = 2(C₁ + C₂)γ.
/// let rubber = MooneyRivlin::new(0.293e6, 0.177e6, 1410e6)?;
/// let F = Matrix3::new(1.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
/// let tau: Matrix3<f64> = rubber.kirchhoff_stress(&F);
/// assert!((tau[(0, 1)] / 0.47e6 - 1.0).abs() < 1e-9);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MooneyRivlin {
    c1: f64,
    c2: f64,
    /// κ.
    volume_stiffness: f64,
    lame: Lame,
}

/// C₁, C₂, κ.
struct Constants<T> {
    c1: T,
    c2: T,
    kappa: T,
}

impl<T: Real> Constants<T> {
    /// −f′(1) of the terms in J.
    fn shift(&self) -> T {
        T::of(2.0) * self.c1 + T::of(4.0) * self.c2
    }

    fn volume(&self, s: &Vector3<T>) -> VolumeTerm<T> {
        VolumeTerm {
            first: self.kappa * (s.product() - T::one()) - self.shift(),
            second: self.kappa,
        }
    }
}

impl MooneyRivlin {
    /// From C₁, C₂ and the bulk modulus K at rest, all in Pa.
    ///
    /// # Errors
    /// [`ParameterError`] of `c1`, `c2`, `bulk_modulus` or `kappa` unless C₁ > 0, C₂ ≥ 0, K > 0 and κ > 0.
    pub fn new(c1: f64, c2: f64, bulk_modulus: f64) -> Result<Self, ParameterError> {
        ParameterError::require_positive("c1", c1)?;
        let fits = c2 >= 0.0 && c2.is_finite();
        ParameterError::require(fits, "c2", c2, "Pa must be finite and not negative")?;
        let lame = Lame::from_shear_bulk(2.0 * (c1 + c2), bulk_modulus)?;
        let volume_stiffness = bulk_modulus + (2.0 * c1 - 4.0 * c2) / 3.0;
        ParameterError::require(
            volume_stiffness > 0.0,
            "kappa",
            volume_stiffness,
            "Pa must be positive: kappa = bulk_modulus + (2 c1 - 4 c2)/3",
        )?;
        Ok(Self {
            c1,
            c2,
            volume_stiffness,
            lame,
        })
    }

    fn constants<T: Real>(&self) -> Constants<T> {
        Constants {
            c1: T::of(self.c1),
            c2: T::of(self.c2),
            kappa: T::of(self.volume_stiffness),
        }
    }
}

impl<T: Real> PrincipalLaw<T> for MooneyRivlin {
    fn energy(&self, s: &Vector3<T>) -> T {
        let constants = self.constants::<T>();
        let (three, dilation) = (T::of(3.0), s.product() - T::one());
        constants.c1 * (s.norm_squared() - three) + constants.c2 * (areas(s).norm_squared() - three)
            - constants.shift() * dilation
            + T::of(0.5) * constants.kappa * dilation * dilation
    }

    fn stresses(&self, s: &Vector3<T>) -> Vector3<T> {
        let constants = self.constants::<T>();
        let (two, square) = (T::of(2.0), s.norm_squared());
        let second_invariant = s.map(|s| s * (square - s * s));
        s * (two * constants.c1)
            + second_invariant * (two * constants.c2)
            + constants.volume(s).stresses(s)
    }

    fn spectrum(&self, s: &Vector3<T>) -> Spectrum<T> {
        let constants = self.constants::<T>();
        let two_c2 = T::of(2.0) * constants.c2;
        let square = s.norm_squared();
        let mut spectrum =
            Spectrum::uniform(T::of(2.0) * constants.c1) + constants.volume(s).spectrum(s);
        for k in 0..3 {
            let (i, j) = principal_pair(k);
            let product = s[i] * s[j];
            spectrum.stretching[(k, k)] += two_c2 * (square - s[k] * s[k]);
            spectrum.stretching[(i, j)] += T::of(2.0) * two_c2 * product;
            spectrum.stretching[(j, i)] += T::of(2.0) * two_c2 * product;
            spectrum.symmetric[k] += two_c2 * (s[k] * s[k] - product);
            spectrum.antisymmetric[k] += two_c2 * (s[k] * s[k] + product);
        }
        spectrum
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    /// K = 2μ/3, with which κ = 2C₁.
    fn with_zero_lambda(&self) -> Option<Self> {
        Some(Self {
            volume_stiffness: 2.0 * self.c1,
            lame: self.lame.with_zero_lambda(),
            ..*self
        })
    }
}
