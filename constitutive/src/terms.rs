//! Terms that several laws share.

use nalgebra::{Matrix3, Vector3};

use crate::{Real, Spectrum, principal_pair};

/// σ_i + σ_j, at least 1e-6: of two stretches that cancel, deep in inversion, the rotation between them is not defined, and the
/// energy of laws by the rotation has a kink.
fn pair_sum<T: Real>(s: &Vector3<T>, k: usize) -> T {
    let (i, j) = principal_pair(k);
    (s[i] + s[j]).max(T::of(1e-6))
}

/// c‖F − R‖² = c Σ(σ_i − 1)².
#[derive(Clone, Copy)]
pub(crate) struct RotationDistance<T>(pub(crate) T);

impl<T: Real> RotationDistance<T> {
    pub(crate) fn energy(self, s: &Vector3<T>) -> T {
        self.0 * s.add_scalar(-T::one()).norm_squared()
    }

    pub(crate) fn stresses(self, s: &Vector3<T>) -> Vector3<T> {
        s.add_scalar(-T::one()) * (T::of(2.0) * self.0)
    }

    pub(crate) fn spectrum(self, s: &Vector3<T>) -> Spectrum<T> {
        let mut spectrum = Spectrum::uniform(T::of(2.0) * self.0);
        for k in 0..3 {
            // 2c(σ_i − 1 + σ_j − 1)/(σ_i + σ_j).
            spectrum.antisymmetric[k] -= T::of(4.0) * self.0 / pair_sum(s, k);
        }
        spectrum
    }
}

/// c/2 (tr S − 3)² = c/2 (Σσ_i − 3)².
#[derive(Clone, Copy)]
pub(crate) struct TraceTerm<T>(pub(crate) T);

impl<T: Real> TraceTerm<T> {
    fn excess(s: &Vector3<T>) -> T {
        s.sum() - T::of(3.0)
    }

    pub(crate) fn energy(self, s: &Vector3<T>) -> T {
        let excess = Self::excess(s);
        T::of(0.5) * self.0 * excess * excess
    }

    pub(crate) fn stresses(self, s: &Vector3<T>) -> Vector3<T> {
        Vector3::repeat(self.0 * Self::excess(s))
    }

    pub(crate) fn spectrum(self, s: &Vector3<T>) -> Spectrum<T> {
        let stress = self.0 * Self::excess(s);
        Spectrum {
            stretching: Matrix3::repeat(self.0),
            symmetric: Vector3::zeros(),
            antisymmetric: Vector3::from_fn(|k, _| T::of(2.0) * stress / pair_sum(s, k)),
        }
    }
}

/// A function f of J = σ₁σ₂σ₃, by its derivatives there.
#[derive(Clone, Copy)]
pub(crate) struct VolumeTerm<T> {
    /// f′(J).
    pub(crate) first: T,
    /// f″(J).
    pub(crate) second: T,
}

impl<T: Real> VolumeTerm<T> {
    pub(crate) fn stresses(&self, s: &Vector3<T>) -> Vector3<T> {
        areas(s) * self.first
    }

    pub(crate) fn spectrum(&self, s: &Vector3<T>) -> Spectrum<T> {
        let areas = areas(s);
        let mut stretching = areas * areas.transpose() * self.second;
        for k in 0..3 {
            let (i, j) = principal_pair(k);
            stretching[(i, j)] += self.first * s[k];
            stretching[(j, i)] += self.first * s[k];
        }
        Spectrum {
            stretching,
            symmetric: s * -self.first,
            antisymmetric: s * self.first,
        }
    }
}

/// ∂J/∂σ.
pub(crate) fn areas<T: Real>(s: &Vector3<T>) -> Vector3<T> {
    Vector3::new(s.y * s.z, s.z * s.x, s.x * s.y)
}
