//! Elasticity in Hencky's logarithmic strain.

use nalgebra::{Matrix3, Vector3};

use crate::{
    Domain, Hooke, Lame, Number, PrincipalLaw, Real, SignedSvds, Spectrum, Tensor, principal_pair,
};

/// Hencky elasticity: ψ = μ‖ε‖² + λ/2 tr²ε with the logarithmic strain ε = ln σ, infinite towards J = 0.
///
/// The principal Kirchhoff stresses are linear in ε, τ_i = 2με_i + λ tr ε, which makes return mappings closed forms. Grows slower
/// than linearly under large extension, where it is not convex.
///
/// Source: Hencky (1928); Simo and Hughes (1998), "Computational inelasticity", chapter 9.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::{Hencky, Lame, PrincipalLaw};
///
/// // μ = λ = 1 MPa, every length times e^0.1: ε = 0.1 I and τ = (2μ + 3λ) · 0.1 I.
/// let law = Hencky::new(Lame::new(1e6, 1e6)?);
/// let tau: Matrix3<f64> = law.kirchhoff_stress(&Matrix3::from_diagonal_element(0.1_f64.exp()));
/// assert!((tau - Matrix3::from_diagonal_element(5e5)).norm() < 1e-6);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hencky {
    lame: Lame,
}

impl Hencky {
    /// The law with these parameters.
    #[must_use]
    pub fn new(lame: Lame) -> Self {
        Self { lame }
    }

    /// The Kirchhoff stress τ = U diag(2με + λ tr ε) Uᵀ of one decomposition or of several, Pa, with ε = ln σ.
    #[must_use]
    #[inline(always)]
    pub fn kirchhoff_stresses<N: Number>(&self, svd: &SignedSvds<N>) -> Tensor<N> {
        let [a, b, c] = svd.stretches;
        let strain = [a.logarithm(), b.logarithm(), c.logarithm()];
        let two_mu = a.like(2.0 * self.lame.mu());
        let pressure = a.like(self.lame.lambda()) * (strain[0] + strain[1] + strain[2]);
        let scaled = Tensor::from_fn(
            #[inline(always)]
            |i, j| svd.U.at(i, j) * strain[j].mul_add(two_mu, pressure),
        );
        scaled * svd.U.transpose()
    }

    /// The principal Kirchhoff stresses τ.
    fn kirchhoff<T: Real>(hooke: &Hooke<T>, s: &Vector3<T>) -> Vector3<T> {
        let strain = s.map(|s| s.ln());
        let pressure = hooke.lambda * strain.sum();
        strain.map(|e| T::of(2.0) * hooke.mu * e + pressure)
    }
}

impl<T: Real> PrincipalLaw<T> for Hencky {
    fn energy(&self, s: &Vector3<T>) -> T {
        // They descend: only the last may be negative.
        if !(s[2] > T::zero()) {
            return T::one() / T::zero();
        }
        let hooke = self.lame.hooke::<T>();
        let strain = s.map(|s| s.ln());
        let trace = strain.sum();
        hooke.mu * strain.norm_squared() + T::of(0.5) * hooke.lambda * trace * trace
    }

    fn stresses(&self, s: &Vector3<T>) -> Vector3<T> {
        Self::kirchhoff(&self.lame.hooke(), s).component_div(s)
    }

    fn spectrum(&self, s: &Vector3<T>) -> Spectrum<T> {
        let hooke = self.lame.hooke::<T>();
        let tau = Self::kirchhoff(&hooke, s);
        let two_mu = T::of(2.0) * hooke.mu;
        let stretching = Matrix3::from_fn(|i, j| {
            let own = if i == j { two_mu - tau[i] } else { T::zero() };
            (own + hooke.lambda) / (s[i] * s[j])
        });
        let symmetric = Vector3::from_fn(|k, _| {
            let (i, j) = principal_pair(k);
            // (τ_i/σ_i − τ_j/σ_j)/(σ_i − σ_j) = (2μ σ_j (ε_i − ε_j)/(σ_i − σ_j) − τ_j)/(σ_i σ_j).
            (two_mu * logarithmic_slope(s[i], s[j]) - tau[j]) / (s[i] * s[j])
        });
        let stresses = tau.component_div(s);
        let antisymmetric = Vector3::from_fn(|k, _| {
            let (i, j) = principal_pair(k);
            (stresses[i] + stresses[j]) / (s[i] + s[j])
        });
        Spectrum {
            stretching,
            symmetric,
            antisymmetric,
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
}

/// b (ln a − ln b)/(a − b) = ln(1 + x)/x with x = (a − b)/b, by its series near x = 0.
fn logarithmic_slope<T: Real>(a: T, b: T) -> T {
    let x = (a - b) / b;
    if x.abs() < T::of(1e-4) {
        T::one() - x * T::of(0.5) + x * x / T::of(3.0)
    } else {
        x.ln_1p() / x
    }
}
