//! Elasticity in Hencky's logarithmic strain, the base of sand and of the logarithmic von Mises solid.

use nalgebra::{Matrix3, Vector3};

use super::Moduli;
use super::principal::{PAIRS, PrincipalLaw, STRETCH_MIN};
use crate::scalar::Real;

/// ψ = μ|ε|² + (λ/2) tr(ε)², ε = ln σ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hencky {
    pub(crate) moduli: Moduli,
}

impl Hencky {
    /// μ, λ.
    pub(crate) fn constants<T: Real>(&self) -> (T, T) {
        (T::of(self.moduli.mu), T::of(self.moduli.lambda))
    }
}

/// ln σ, cut off at the logarithm of [`STRETCH_MIN`], where a return mapping must go on all the same.
pub(crate) fn clamped_log<T: Real>(s: &Vector3<T>) -> Vector3<T> {
    s.map(|s| s.max(T::of(STRETCH_MIN)).ln())
}

impl<T: Real> PrincipalLaw<T> for Hencky {
    fn density(&self, s: &Vector3<T>) -> T {
        // Descending: the last is the one that may be negative.
        if !(s[2] > T::zero()) {
            return T::one() / T::zero();
        }
        let (mu, lambda) = self.constants();
        let e = s.map(|s| s.ln());
        let trace = e.sum();
        mu * e.norm_squared() + T::of(0.5) * lambda * trace * trace
    }

    fn slopes(&self, s: &Vector3<T>) -> Vector3<T> {
        let (mu, lambda) = self.constants::<T>();
        let e = s.map(|s| s.ln());
        let trace = e.sum();
        Vector3::from_fn(|i, _| (T::of(2.0) * mu * e[i] + lambda * trace) / s[i])
    }

    fn curvature(&self, s: &Vector3<T>) -> Matrix3<T> {
        let (mu, lambda) = self.constants::<T>();
        let e = s.map(|s| s.ln());
        let trace = e.sum();
        let two = T::of(2.0);
        Matrix3::from_fn(|i, j| {
            let own = if i == j {
                two * mu - (two * mu * e[i] + lambda * trace)
            } else {
                T::zero()
            };
            (own + lambda) / (s[i] * s[j])
        })
    }

    fn quotients(&self, s: &Vector3<T>) -> [T; 3] {
        let (mu, lambda) = self.constants::<T>();
        let e = s.map(|s| s.ln());
        let trace = e.sum();
        PAIRS.map(|(i, j, _)| {
            // (ε_i/σ_i − ε_j/σ_j)/(σ_i − σ_j) = (σ_j (ε_i − ε_j)/(σ_i − σ_j) − ε_j)/(σ_i σ_j)
            let x = (s[i] - s[j]) / s[j];
            let ratio = if x.abs() < T::of(1e-4) {
                T::one() - x * T::of(0.5) + x * x / T::of(3.0)
            } else {
                x.ln_1p() / x
            };
            (T::of(2.0) * mu * (ratio - e[j]) - lambda * trace) / (s[i] * s[j])
        })
    }
}
