//! Isotropic laws in principal stretches: ψ(σ₁, σ₂, σ₃), with stress and tangent of any such law in one place.
//!
//! With F = U diag(σ) Vᵀ the stress is P = U diag(ψ_i) Vᵀ, and the second derivative has these eigen-pairs (Smith, de Goes,
//! Kim 2019): the 3×3 matrix ψ_ij on stretches, and for each pair of axes
//!
//! ```text
//! twist  U (E_ij − E_ji)/√2 Vᵀ   (ψ_i + ψ_j)/(σ_i + σ_j)
//! flip   U (E_ij + E_ji)/√2 Vᵀ   (ψ_i − ψ_j)/(σ_i − σ_j)
//! ```

use nalgebra::{Matrix3, SMatrix, SVector, Vector3};

use super::{Definiteness, Strain, Tangent};
use crate::rotation::{Svd, symmetric_eigen};
use crate::scalar::Real;

/// The pairs of axes, and the third one.
pub(crate) const PAIRS: [(usize, usize, usize); 3] = [(0, 1, 2), (1, 2, 0), (2, 0, 1)];

/// A law in principal stretches.
pub(crate) trait PrincipalLaw<T: Real> {
    /// ψ; infinite where the law is not defined.
    fn density(&self, s: &Vector3<T>) -> T;
    /// ψ_i.
    fn slopes(&self, s: &Vector3<T>) -> Vector3<T>;
    /// ψ_ij.
    fn curvature(&self, s: &Vector3<T>) -> Matrix3<T>;
    /// (ψ_i − ψ_j)/(σ_i − σ_j) of each of [`PAIRS`], in a form that has no zero below.
    fn quotients(&self, s: &Vector3<T>) -> [T; 3];
}

/// Stretches below this are beyond any law: what contact squeezes further within a step is left at it.
pub(crate) const STRETCH_MIN: f64 = 0.05;

/// F with no stretch below [`STRETCH_MIN`].
pub(crate) fn uncrushed<T: Real>(f: &Matrix3<T>) -> Matrix3<T> {
    let least = T::of(STRETCH_MIN);
    // σ₃ = det F/(σ₁σ₂), and 2σ₁σ₂ is at most |F|².
    if f.determinant() >= least * T::of(0.5) * f.norm_squared() {
        return *f;
    }
    let svd = Svd::of(f);
    if svd.sigma[2] >= least {
        return *f;
    }
    svd.rebuild(&svd.sigma.map(|s| s.max(least)))
}

fn trial<T: Real>(strain: &Strain<T>, g: &Matrix3<T>) -> Svd<T> {
    Svd::of(&(strain.f + g * strain.f))
}

pub(crate) fn energy<T: Real>(law: &impl PrincipalLaw<T>, strain: &Strain<T>, g: &Matrix3<T>) -> T {
    law.density(&trial(strain, g).sigma)
}

pub(crate) fn stress<T: Real>(
    law: &impl PrincipalLaw<T>,
    strain: &Strain<T>,
    g: &Matrix3<T>,
) -> Matrix3<T> {
    let svd = trial(strain, g);
    svd.rebuild(&law.slopes(&svd.sigma)) * strain.f.transpose()
}

pub(crate) fn tangent<T: Real>(
    law: &impl PrincipalLaw<T>,
    strain: &Strain<T>,
    g: &Matrix3<T>,
    definiteness: Definiteness,
) -> Tangent<T> {
    let Svd { u, sigma, v } = trial(strain, g);
    let vf = v.transpose() * strain.f.transpose();
    let mut h = SMatrix::<T, 9, 9>::zeros();
    let mut add = |value: T, direction: Matrix3<T>| {
        let value = match definiteness {
            Definiteness::Exact => value,
            Definiteness::Projected | Definiteness::Touching => value.max(T::zero()),
        };
        let dyad = u * direction * vf;
        let q = SVector::<T, 9>::from_column_slice(dyad.as_slice());
        h.ger(value, &q, &q, T::one());
    };
    let (values, vectors) = symmetric_eigen(&law.curvature(&sigma));
    for k in 0..3 {
        let stretch: Vector3<T> = vectors.column(k).into();
        add(values[k], Matrix3::from_diagonal(&stretch));
    }
    let slopes = law.slopes(&sigma);
    let root = T::of(std::f64::consts::FRAC_1_SQRT_2);
    let tiny = T::of(1e-9);
    for (flip, (i, j, _)) in law.quotients(&sigma).into_iter().zip(PAIRS) {
        let sum = sigma[i] + sigma[j];
        // An inverted particle may have σ_i + σ_j = 0, where the twist is a kink of the energy.
        let twist = (slopes[i] + slopes[j]) / sum.max(tiny);
        for (value, sign) in [(twist, -root), (flip, root)] {
            let mut direction = Matrix3::zeros();
            direction[(i, j)] = root;
            direction[(j, i)] = sign;
            add(value, direction);
        }
    }
    Tangent::General(Box::new(h))
}
