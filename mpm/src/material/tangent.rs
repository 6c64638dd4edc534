//! The tangent ∂²ψ/∂G² of one particle.

use nalgebra::{Matrix3, SMatrix, SVector, Vector3};
use pliant_constitutive::{Hooke, Real, symmetric_part};

/// Treatment of negative eigenvalues of a tangent.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::{Lame, StVenantKirchhoff};
/// use pliant_mpm::{Definiteness, Lagged, Law, Strain};
///
/// // Halved along x, a solid of St. Venant-Kirchhoff gives way: ∂²ψ/∂G_xx² = 2μ (E + σ²) σ² with σ = ½ and E = (σ² − 1)/2.
/// let law = StVenantKirchhoff::new(Lame::new(1.0, 0.0)?);
/// let halved = Strain { f: Matrix3::from_diagonal(&[0.5, 1.0, 1.0].into()), internal: [0.0; 2] };
/// let mut dg = Matrix3::zeros();
/// dg[(0, 0)] = 1.0;
/// let stiffness = |definiteness| -> f64 {
///     let tangent = law.tangent(&halved, &Lagged::default(), &Matrix3::zeros(), definiteness);
///     tangent.apply(&dg)[(0, 0)]
/// };
/// assert!((stiffness(Definiteness::Exact) - 2.0 * (-0.375 + 0.25) * 0.25).abs() < 1e-12);
/// assert!(stiffness(Definiteness::Projected).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definiteness {
    /// The exact derivative.
    Exact,
    /// Negative eigenvalues are set to zero: every Newton direction is one of descent.
    Projected,
    /// As [`Self::Projected`], and separated liquid has its stiffness at J = 1: contact, which the free motion does not include, may
    /// close it within the step.
    Touching,
}

/// ∂²ψ/∂G², Pa.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_constitutive::Hooke;
/// use pliant_mpm::Tangent;
///
/// // Hooke's law: δτ_xx = (2μ + λ) δG_xx, and the block of two nodes is the same derivative.
/// let tangent = Tangent::Isotropic { map: Matrix3::identity(), hooke: Hooke { mu: 2.0, lambda: 1.0 } };
/// let mut dg = Matrix3::zeros();
/// dg[(0, 0)] = 1.0;
/// assert_eq!(tangent.apply(&dg)[(0, 0)], 5.0);
/// assert_eq!(tangent.block(&Vector3::x(), &Vector3::x())[(0, 0)], 5.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Tangent<T: Real> {
    /// Isotropic linear elasticity in mapped gradients q = W∇w:
    ///
    /// ```text
    /// δτ = (2μ sym(δG Wᵀ) + λ tr(δG Wᵀ) I) W
    /// ```
    Isotropic {
        /// W: R₀Fᵀ of a corotated solid, the identity of a liquid.
        map: Matrix3<T>,
        /// μ and λ.
        hooke: Hooke<T>,
    },
    /// A 9×9 matrix that acts on vec G, column-major.
    General(Box<SMatrix<T, 9, 9>>),
}

impl<T: Real> Tangent<T> {
    /// δτ for a change δG.
    #[must_use]
    #[inline(always)]
    pub fn apply(&self, dg: &Matrix3<T>) -> Matrix3<T> {
        match self {
            Self::Isotropic { map, hooke } => {
                hooke.stress(&symmetric_part(&(dg * map.transpose()))) * map
            }
            Self::General(h) => {
                let dg = SVector::<T, 9>::from_column_slice(dg.as_slice());
                Matrix3::from_column_slice((h.as_ref() * dg).as_slice())
            }
        }
    }

    /// The 3×3 block of two nodes with gradients `a` (row) and `b` (column): ∂(δτ a)/∂u for δG = u bᵀ.
    #[must_use]
    #[inline]
    pub fn block(&self, a: &Vector3<T>, b: &Vector3<T>) -> Matrix3<T> {
        match self {
            Self::Isotropic { map, hooke } => hooke.block(&(map * a), &(map * b)),
            Self::General(h) => {
                let mut block = Matrix3::zeros();
                for c in 0..3 {
                    for d in 0..3 {
                        block += h.fixed_view::<3, 3>(3 * c, 3 * d) * (a[c] * b[d]);
                    }
                }
                block
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn blocks_are_what_the_product_does() {
        let mut random = Random::new(3);
        let mut number = move || 2.0 * random.unit() - 1.0;
        let map = Matrix3::from_fn(|_, _| number());
        let general = SMatrix::<f64, 9, 9>::from_fn(|_, _| number());
        let tangents = [
            Tangent::Isotropic {
                map,
                hooke: Hooke {
                    mu: 2.0,
                    lambda: 3.0,
                },
            },
            Tangent::General(Box::new(general + general.transpose())),
        ];
        for tangent in tangents {
            let [a, b, u] = [0; 3].map(|_| Vector3::from_fn(|_, _| number()));
            let by_product = tangent.apply(&(u * b.transpose())) * a;
            let by_block = tangent.block(&a, &b) * u;
            assert!((by_product - by_block).norm() < 1e-13, "{tangent:?}");
        }
    }
}
