//! Implements [`Law`] for the isotropic laws of `pliant-constitutive`.
//!
//! With F = (I + G)F₀ the stress is ∂ψ/∂G = P F₀ᵀ, and the tangent has the modes of ∂P/∂F ([`Spectrum`](pliant_constitutive::Spectrum)), multiplied by F₀ᵀ.

use nalgebra::{Matrix3, SMatrix, SVector};
use pliant_constitutive::{
    Domain, FixedCorotated, Mask, NeoHookean, Number, PrincipalLaw, Real, SignedSvd, Tensor,
    principal_pair,
};

use super::lane_law::is_flat;
use super::{
    Definiteness, EnergyForm, Lagged, LaneLaw, LaneMaterial, LaneStrain, Law, Material, ShaderLaw,
    Strain, Tangent,
};

/// Smallest principal stretch after a step of laws that are infinite at J = 0; contact may compress a particle further within the step.
pub(super) const STRETCH_MIN: f64 = 0.05;

/// (I + G)F₀.
fn deformed<T: Real>(strain: &Strain<T>, g: &Matrix3<T>) -> Matrix3<T> {
    strain.f + g * strain.f
}

/// ψ(G).
pub(super) fn energy<T: Real>(law: &impl PrincipalLaw<T>, strain: &Strain<T>, g: &Matrix3<T>) -> T {
    law.strain_energy(&deformed(strain, g))
}

/// ∂ψ/∂G = P F₀ᵀ.
pub(super) fn stress<T: Real>(
    law: &impl PrincipalLaw<T>,
    strain: &Strain<T>,
    g: &Matrix3<T>,
) -> Matrix3<T> {
    law.piola_stress(&deformed(strain, g)) * strain.f.transpose()
}

/// ∂²ψ/∂G² = Σ S_kl q_k q_lᵀ + Σ λ q qᵀ over the stretching of F and its six shear modes, with q = vec(Q F₀ᵀ) of each mode Q.
pub(super) fn tangent<T: Real>(
    law: &impl PrincipalLaw<T>,
    strain: &Strain<T>,
    g: &Matrix3<T>,
    definiteness: Definiteness,
) -> Tangent<T> {
    let SignedSvd { U, stretches, V } = SignedSvd::of(&deformed(strain, g));
    let spectrum = match definiteness {
        Definiteness::Exact => law.spectrum(&stretches),
        Definiteness::Projected | Definiteness::Touching => law.spectrum(&stretches).semidefinite(),
    };
    let right = V.transpose() * strain.f.transpose();
    // vec(u r) of column i of U and row j.
    let mode = |i: usize, j: usize| {
        let dyad = U.column(i) * right.row(j);
        SVector::<T, 9>::from_column_slice(dyad.as_slice())
    };
    let mut h = SMatrix::<T, 9, 9>::zeros();
    let stretching = [0, 1, 2].map(|k| mode(k, k));
    for k in 0..3 {
        let mut row = SVector::<T, 9>::zeros();
        for (l, mode) in stretching.iter().enumerate() {
            row += mode * spectrum.stretching[(k, l)];
        }
        h.ger(T::one(), &stretching[k], &row, T::one());
    }
    let half = T::of(0.5);
    for k in 0..3 {
        let (i, j) = principal_pair(k);
        let (a, b) = (mode(i, j), mode(j, i));
        let (sum, difference) = (a + b, a - b);
        h.ger(half * spectrum.symmetric[k], &sum, &sum, T::one());
        let antisymmetric = half * spectrum.antisymmetric[k];
        h.ger(antisymmetric, &difference, &difference, T::one());
    }
    Tangent::General(Box::new(h))
}

/// F with no stretch below [`STRETCH_MIN`].
pub(super) fn with_least_stretch<T: Real>(f: &Matrix3<T>) -> Matrix3<T> {
    with_least_stretches(&Tensor::from(f)).into()
}

/// [`with_least_stretch`] of one particle or of several.
#[inline(always)]
pub(super) fn with_least_stretches<N: Number>(f: &Tensor<N>) -> Tensor<N> {
    // σ₃ = det F/(σ₁σ₂), and 2σ₁σ₂ is at most ‖F‖².
    let size = f.dot(f);
    let is_flat = f.determinant().below(size * size.like(STRETCH_MIN * 0.5));
    if !is_flat.any() {
        return *f;
    }
    f.replace_lanes(is_flat, |lane| {
        let f = f.lane(lane);
        let least = N::Scalar::of(STRETCH_MIN);
        let svd = SignedSvd::of(&f);
        if svd.stretches[2] >= least {
            return f;
        }
        svd.rebuild(&svd.stretches.map(|s| s.larger(least)))
    })
}

/// Implements [`LaneLaw`] for hyperelastic laws with `kirchhoff_stresses` of F.
macro_rules! in_lanes {
    ($law:ty) => {
        impl LaneLaw for $law {
            #[inline(always)]
            fn lane_kirchhoff<N: Number>(
                &self,
                strain: &LaneStrain<N>,
                _: &Tensor<N>,
            ) -> Tensor<N> {
                self.kirchhoff_stresses(&strain.f)
            }
            #[inline(always)]
            fn lane_advance<N: Number>(
                &self,
                strain: &LaneStrain<N>,
                g: &Tensor<N>,
            ) -> (LaneStrain<N>, N::Mask) {
                let f = strain.deformed(g);
                let kept = match PrincipalLaw::<f64>::domain(self) {
                    Domain::Everywhere => f,
                    Domain::PositiveVolume => with_least_stretches(&f),
                };
                (LaneStrain { f: kept, ..*strain }, is_flat(&f))
            }
        }
    };
}
in_lanes!(NeoHookean);
in_lanes!(FixedCorotated);

/// ln σ, bounded below by the logarithm of [`STRETCH_MIN`], so that return mappings are defined for every F.
#[inline(always)]
pub(super) fn clamped_log<N: Number>(stretches: &[N; 3]) -> [N; 3] {
    let least = stretches[0].like(STRETCH_MIN);
    let [a, b, c] = stretches;
    [
        a.larger(least).logarithm(),
        b.larger(least).logarithm(),
        c.larger(least).logarithm(),
    ]
}

/// Implements [`Law`] for every principal law of one scalar. A generic implementation over `T` would overlap with those of the other
/// materials by the rules of coherence.
macro_rules! principal_laws_are_laws {
    ($T:ty) => {
        impl<L: PrincipalLaw<$T>> Law<$T> for L {
            fn energy(&self, strain: &Strain<$T>, _: &Lagged<$T>, g: &Matrix3<$T>) -> $T {
                energy(self, strain, g)
            }
            fn stress(&self, strain: &Strain<$T>, _: &Lagged<$T>, g: &Matrix3<$T>) -> Matrix3<$T> {
                stress(self, strain, g)
            }
            fn tangent(
                &self,
                strain: &Strain<$T>,
                _: &Lagged<$T>,
                g: &Matrix3<$T>,
                definiteness: Definiteness,
            ) -> Tangent<$T> {
                tangent(self, strain, g, definiteness)
            }
            /// Stretches are bounded below by `STRETCH_MIN` where the law is infinite at J = 0.
            fn advance(&self, strain: &Strain<$T>, _: &Lagged<$T>, g: &Matrix3<$T>) -> Strain<$T> {
                let f = deformed(strain, g);
                let f = match self.domain() {
                    Domain::Everywhere => f,
                    Domain::PositiveVolume => with_least_stretch(&f),
                };
                Strain { f, ..*strain }
            }
            #[inline]
            fn kirchhoff(&self, strain: &Strain<$T>, _: &Lagged<$T>) -> Matrix3<$T> {
                self.kirchhoff_stress(&strain.f)
            }
        }
    };
}
principal_laws_are_laws!(f32);
principal_laws_are_laws!(f64);

impl Material for NeoHookean {
    fn name(&self) -> &'static str {
        "neo_hookean"
    }
    fn energy_form(&self) -> EnergyForm {
        EnergyForm::General
    }
    fn shader_law(&self) -> Option<ShaderLaw> {
        Some(ShaderLaw::NeoHookean(PrincipalLaw::<f64>::lame(self)))
    }
    fn wave_modulus(&self) -> f64 {
        PrincipalLaw::<f64>::lame(self).wave_modulus()
    }
    fn in_lanes(&self) -> Option<&dyn LaneMaterial> {
        Some(self)
    }
}

impl Material for FixedCorotated {
    fn name(&self) -> &'static str {
        "fixed_corotated"
    }
    fn energy_form(&self) -> EnergyForm {
        EnergyForm::General
    }
    fn shader_law(&self) -> Option<ShaderLaw> {
        Some(ShaderLaw::FixedCorotated(PrincipalLaw::<f64>::lame(self)))
    }
    fn wave_modulus(&self) -> f64 {
        PrincipalLaw::<f64>::lame(self).wave_modulus()
    }
    fn in_lanes(&self) -> Option<&dyn LaneMaterial> {
        Some(self)
    }
}
