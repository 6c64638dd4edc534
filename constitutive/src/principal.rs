//! Isotropic laws as functions of the principal stretches.

use std::fmt::Debug;
use std::ops::{Add, Mul};

use nalgebra::{Matrix3, Vector3};

use crate::{Lame, Real, SignedSvd, symmetric_eigen};

/// An isotropic hyperelastic law Ψ(F) = ψ(σ₁, σ₂, σ₃) of the signed principal stretches of F = U diag(σ) Vᵀ
/// ([`SignedSvd`]), per volume at rest.
///
/// ψ is symmetric in its arguments and zero, with zero stress, at σ = (1, 1, 1). Its derivatives give the first Piola stress
/// P = U diag(∂ψ/∂σ) Vᵀ and, by the [`Spectrum`], the nine eigenvalues of ∂P/∂F in closed form.
///
/// Source: Smith, de Goes, Kim (2019), "Analytic eigensystems for isotropic distortion energies".
///
/// ```
/// use nalgebra::{Matrix3, Rotation3, Vector3};
/// use pliant_constitutive::{Lame, PrincipalLaw, StableNeoHookean};
///
/// let law = StableNeoHookean::new(Lame::from_young_poisson(1e6, 0.45)?);
/// let F: Matrix3<f64> = Matrix3::new(1.2, 0.3, 0.0, 0.0, 0.9, 0.1, 0.0, 0.0, 1.1);
/// // A rotation turns the stress and leaves the energy as it is.
/// let R = Rotation3::from_scaled_axis(Vector3::new(0.3, -0.5, 1.0)).into_inner();
/// assert!((law.strain_energy(&(R * F)) / law.strain_energy(&F) - 1.0).abs() < 1e-12);
/// assert!((law.piola_stress(&(R * F)) - R * law.piola_stress(&F)).norm() < 1e-6);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
pub trait PrincipalLaw<T: Real = f64>: Send + Sync + Debug {
    /// ψ, J/m³; infinite outside of the law's [`Domain`].
    fn energy(&self, stretches: &Vector3<T>) -> T;
    /// ∂ψ/∂σ, Pa.
    fn stresses(&self, stretches: &Vector3<T>) -> Vector3<T>;
    /// The second derivative.
    fn spectrum(&self, stretches: &Vector3<T>) -> Spectrum<T>;
    /// The parameters of Hooke's law at small strain.
    fn lame(&self) -> Lame;
    /// The same law with λ = 0, which has no stiffness against changes of volume beyond that of shear. The difference of the two is the
    /// volumetric part, which elements without volumetric locking average over several tetrahedra. None: the law has no such part.
    fn with_zero_lambda(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
    /// Where the law is defined.
    fn domain(&self) -> Domain {
        Domain::Everywhere
    }
    /// Ψ(F), J/m³.
    fn strain_energy(&self, F: &Matrix3<T>) -> T {
        self.energy(&SignedSvd::of(F).stretches)
    }
    /// P = ∂Ψ/∂F, the first Piola stress, Pa.
    fn piola_stress(&self, F: &Matrix3<T>) -> Matrix3<T> {
        let svd = SignedSvd::of(F);
        svd.rebuild(&self.stresses(&svd.stretches))
    }
    /// τ = P Fᵀ, the Kirchhoff stress, Pa.
    fn kirchhoff_stress(&self, F: &Matrix3<T>) -> Matrix3<T> {
        self.piola_stress(F) * F.transpose()
    }
}

/// Where a law is defined.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_constitutive::{Domain, Lame, NeoHookean, PrincipalLaw, StableNeoHookean};
///
/// // An element that is turned inside out has no energy in one law and a finite one in the other.
/// let (lame, inverted) = (Lame::new(1e6, 3e6)?, Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, -0.5)));
/// let barrier = NeoHookean::new(lame)?;
/// assert_eq!(PrincipalLaw::<f64>::domain(&barrier), Domain::PositiveVolume);
/// assert_eq!(barrier.strain_energy(&inverted), f64::INFINITY);
/// let stable = StableNeoHookean::new(lame);
/// assert_eq!(PrincipalLaw::<f64>::domain(&stable), Domain::Everywhere);
/// assert!(stable.strain_energy(&inverted) < 1e8);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// For every F, inverted ones too.
    Everywhere,
    /// For det F > 0; the energy grows without bound towards det F = 0.
    PositiveVolume,
}

/// The second derivative of an isotropic law in the frame of its principal stretches, Pa.
///
/// Entry k of the vectors belongs to the pair (i, j) of [`principal_pair`]. The eigenvalues of ∂P/∂F are those of
/// `stretching`, for eigenmatrices U diag(e) Vᵀ, and the entries of the two vectors, for U(E_ij ± E_ji)Vᵀ/√2.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_constitutive::{Lame, NeoHookean, PrincipalLaw, Spectrum};
///
/// // At rest, Hooke's law: 2μ + λ along an axis, λ across, 2μ against shear, none against rotation.
/// let law = NeoHookean::new(Lame::new(1e6, 3e6)?)?;
/// let at_rest: Spectrum<f64> = law.spectrum(&Vector3::repeat(1.0));
/// assert_eq!((at_rest.stretching[(0, 0)], at_rest.stretching[(0, 1)]), (5e6, 3e6));
/// assert_eq!(at_rest.symmetric, Vector3::repeat(2e6));
/// assert_eq!(at_rest.antisymmetric, Vector3::zeros());
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spectrum<T = f64> {
    /// ψ_ij = ∂²ψ/∂σ_i∂σ_j.
    pub stretching: Matrix3<T>,
    /// (ψ_i − ψ_j)/(σ_i − σ_j), the stiffness against symmetric shear; in a form without 0/0 at equal stretches.
    pub symmetric: Vector3<T>,
    /// (ψ_i + ψ_j)/(σ_i + σ_j), the stiffness against rotating U relative to V.
    pub antisymmetric: Vector3<T>,
}

/// The pair (i, j) of stretches other than k, in cyclic order.
#[must_use]
#[inline]
pub const fn principal_pair(k: usize) -> (usize, usize) {
    ((k + 1) % 3, (k + 2) % 3)
}

impl<T: Real> Spectrum<T> {
    /// The second derivative of c‖F‖²/2: stiffness c in all nine directions.
    #[must_use]
    pub fn uniform(stiffness: T) -> Self {
        Self {
            stretching: Matrix3::from_diagonal_element(stiffness),
            symmetric: Vector3::repeat(stiffness),
            antisymmetric: Vector3::repeat(stiffness),
        }
    }

    /// The same with negative eigenvalues set to zero.
    #[must_use]
    pub fn semidefinite(&self) -> Self {
        let at_least_zero = |x: T| x.max(T::zero());
        Self {
            stretching: without_negative_eigenvalues(&self.stretching),
            symmetric: self.symmetric.map(at_least_zero),
            antisymmetric: self.antisymmetric.map(at_least_zero),
        }
    }
}

/// The second derivative of a sum of laws.
impl<T: Real> Add for Spectrum<T> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            stretching: self.stretching + other.stretching,
            symmetric: self.symmetric + other.symmetric,
            antisymmetric: self.antisymmetric + other.antisymmetric,
        }
    }
}

/// The second derivative of a multiple of a law.
impl<T: Real> Mul<T> for Spectrum<T> {
    type Output = Self;

    fn mul(self, factor: T) -> Self {
        Self {
            stretching: self.stretching * factor,
            symmetric: self.symmetric * factor,
            antisymmetric: self.antisymmetric * factor,
        }
    }
}

fn without_negative_eigenvalues<T: Real>(M: &Matrix3<T>) -> Matrix3<T> {
    // Sylvester's criterion; most strains pass it.
    let minor = M[(0, 0)] * M[(1, 1)] - M[(0, 1)] * M[(0, 1)];
    if M[(0, 0)] > T::zero() && minor > T::zero() && M.determinant() > T::zero() {
        return *M;
    }
    let (values, vectors) = symmetric_eigen(M);
    if values.min() >= T::zero() {
        return *M;
    }
    let kept = values.map(|x| x.max(T::zero()));
    vectors * Matrix3::from_diagonal(&kept) * vectors.transpose()
}
