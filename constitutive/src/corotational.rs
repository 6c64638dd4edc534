//! Corotational elasticity, with the trace of the stretch.

use nalgebra::{Matrix3, Vector3};

use crate::terms::{RotationDistance, TraceTerm};
use crate::{Hooke, Lame, PrincipalLaw, Real, Spectrum, polar_rotation};

/// Corotational linear elasticity: ψ = μ‖S − I‖² + λ/2 tr²(S − I), F = RS.
///
/// Hooke's law in the frame of the rotation R(F); the derivatives are exact, that of R included, and may be indefinite. Finite
/// for inverted F. Where two stretches cancel (σ_i + σ_j = 0, deep in inversion) the energy has a kink: the stiffness there is that
/// of σ_i + σ_j = 1e-6.
///
/// [`FixedCorotated`](crate::FixedCorotated) has another volume term. The linear corotated law, whose rotation is lagged, is Hooke's
/// law of [`corotated_stretch`](crate::corotated_stretch).
///
/// Source: McAdams et al. (2011), "Efficient elasticity for character skinning with contact and collisions".
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_constitutive::{Corotational, Lame, PrincipalLaw};
///
/// // μ = λ = 1 MPa, 10 % of stretch along x: Hooke's stress (2μ + λ) · 0.1, however large the strain.
/// let law = Corotational::new(Lame::new(1e6, 1e6)?);
/// let F = Matrix3::from_diagonal(&Vector3::new(1.1, 1.0, 1.0));
/// let P: Matrix3<f64> = law.piola_stress(&F);
/// assert!((P[(0, 0)] - 3e5).abs() < 1e-6 && (P[(1, 1)] - 1e5).abs() < 1e-6);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corotational {
    lame: Lame,
}

impl Corotational {
    /// The law with these parameters.
    #[must_use]
    pub fn new(lame: Lame) -> Self {
        Self { lame }
    }

    fn terms<T: Real>(&self) -> (RotationDistance<T>, TraceTerm<T>) {
        let hooke = self.lame.hooke();
        (RotationDistance(hooke.mu), TraceTerm(hooke.lambda))
    }
}

impl<T: Real> PrincipalLaw<T> for Corotational {
    fn energy(&self, s: &Vector3<T>) -> T {
        let (distance, trace) = self.terms();
        distance.energy(s) + trace.energy(s)
    }

    fn stresses(&self, s: &Vector3<T>) -> Vector3<T> {
        let (distance, trace) = self.terms();
        distance.stresses(s) + trace.stresses(s)
    }

    fn spectrum(&self, s: &Vector3<T>) -> Spectrum<T> {
        let (distance, trace) = self.terms();
        distance.spectrum(s) + trace.spectrum(s)
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn with_zero_lambda(&self) -> Option<Self> {
        let lame = self.lame.with_zero_lambda();
        Some(Self { lame })
    }

    /// 2μ(F − R) + λ tr(RᵀF − I) R, without principal stretches.
    fn piola_stress(&self, F: &Matrix3<T>) -> Matrix3<T> {
        let Hooke::<T> { mu, lambda } = self.lame.hooke();
        let R = polar_rotation(F);
        (F - R) * (mu + mu) + R * (lambda * (R.dot(F) - T::of(3.0)))
    }
}
