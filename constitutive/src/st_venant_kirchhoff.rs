//! Hooke's law between the second Piola stress and the Green-Lagrange strain.

use nalgebra::Vector3;

use crate::{Hooke, Lame, PrincipalLaw, Real, Spectrum, principal_pair};

/// St. Venant-Kirchhoff elasticity: ψ = μ‖E‖² + λ/2 tr²E with the Green-Lagrange strain E = ½(FᵀF − I).
///
/// Quartic in F; loses its stiffness below about 0.58 of the rest length and does not resist inversion. For comparison with
/// textbooks and for thin structures under tension.
///
/// Source: Bonet, Gil, Wood (2021), "Nonlinear solid mechanics for finite element analysis", section 6.3.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_constitutive::{Lame, PrincipalLaw, Spectrum, StVenantKirchhoff};
///
/// // Compressed to 1/√3 of its length, it has no stiffness along that axis.
/// let law = StVenantKirchhoff::new(Lame::new(1e6, 1e6)?);
/// let spectrum: Spectrum<f64> = law.spectrum(&Vector3::new(1.0 / 3f64.sqrt(), 1.0, 1.0));
/// assert!(spectrum.stretching[(0, 0)].abs() < 1e-8);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StVenantKirchhoff {
    lame: Lame,
}

impl StVenantKirchhoff {
    /// The law with these parameters.
    #[must_use]
    pub fn new(lame: Lame) -> Self {
        Self { lame }
    }
}

/// Principal values of E.
fn green_lagrange<T: Real>(s: &Vector3<T>) -> Vector3<T> {
    s.map(|s| T::of(0.5) * (s - T::one()) * (s + T::one()))
}

impl<T: Real> PrincipalLaw<T> for StVenantKirchhoff {
    fn energy(&self, s: &Vector3<T>) -> T {
        let Hooke { mu, lambda } = self.lame.hooke::<T>();
        let strain = green_lagrange(s);
        let trace = strain.sum();
        mu * strain.norm_squared() + T::of(0.5) * lambda * trace * trace
    }

    fn stresses(&self, s: &Vector3<T>) -> Vector3<T> {
        let Hooke { mu, lambda } = self.lame.hooke::<T>();
        let strain = green_lagrange(s);
        let pressure = lambda * strain.sum();
        s.zip_map(&strain, |s, e| s * (T::of(2.0) * mu * e + pressure))
    }

    fn spectrum(&self, s: &Vector3<T>) -> Spectrum<T> {
        let Hooke { mu, lambda } = self.lame.hooke::<T>();
        let strain = green_lagrange(s);
        let pressure = lambda * strain.sum();
        let mut stretching = s * s.transpose() * lambda;
        for k in 0..3 {
            stretching[(k, k)] += T::of(2.0) * mu * (strain[k] + s[k] * s[k]) + pressure;
        }
        // σ_i³ ∓ σ_j³ = (σ_i ∓ σ_j)(σ_i² ± σ_iσ_j + σ_j²).
        let pair = |k: usize, sign: T| {
            let (i, j) = principal_pair(k);
            pressure + mu * (s[i] * s[i] + sign * s[i] * s[j] + s[j] * s[j] - T::one())
        };
        Spectrum {
            stretching,
            symmetric: Vector3::from_fn(|k, _| pair(k, T::one())),
            antisymmetric: Vector3::from_fn(|k, _| pair(k, -T::one())),
        }
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn with_zero_lambda(&self) -> Option<Self> {
        let lame = self.lame.with_zero_lambda();
        Some(Self { lame })
    }
}
