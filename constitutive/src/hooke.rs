//! Hooke's law of isotropic linear elasticity.

use nalgebra::{Matrix3, Vector3};

use crate::{Number, Real, Tensor};

/// The isotropic elasticity tensor C: C:ε = 2με + λ tr(ε) I.
///
/// The parameters are not checked: a fluid has μ = 0. Those of a solid come from [`Lame::hooke`](crate::Lame::hooke).
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_constitutive::Hooke;
///
/// // Uniaxial strain of 1 %: σ_xx = (2μ + λ) ε, σ_yy = λ ε.
/// let hooke = Hooke { mu: 1e6, lambda: 2e6 };
/// let stress = hooke.stress(&Matrix3::from_diagonal(&Vector3::new(0.01, 0.0, 0.0)));
/// assert!((stress.diagonal() - Vector3::new(4e4, 2e4, 2e4)).norm() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hooke<T = f64> {
    /// μ, Pa.
    pub mu: T,
    /// λ, Pa.
    pub lambda: T,
}

impl<T: Real> Hooke<T> {
    /// C:ε of a symmetric strain, Pa.
    #[must_use]
    #[inline]
    pub fn stress(&self, strain: &Matrix3<T>) -> Matrix3<T> {
        self.stresses(&Tensor::from(strain)).into()
    }

    /// C:ε of one strain or of several, Pa.
    #[must_use]
    #[inline(always)]
    pub fn stresses<N: Number>(&self, strain: &Tensor<N>) -> Tensor<N> {
        let trace = strain.trace();
        let stiffness = trace.like(2.0 * self.mu.wide());
        (*strain * stiffness).plus_diagonal(trace.like(self.lambda.wide()) * trace)
    }

    /// ½ε:C:ε = μ‖ε‖² + λ/2 tr²ε of a symmetric strain, J/m³.
    #[must_use]
    #[inline]
    pub fn energy_density(&self, strain: &Matrix3<T>) -> T {
        let trace = strain.trace();
        self.mu * strain.norm_squared() + T::of(0.5) * self.lambda * trace * trace
    }

    /// The stiffness block of two nodes with shape gradients a (row) and b (column), 1/m, per volume:
    /// K_ab = μ(a·b I + b aᵀ) + λ a bᵀ, N/m⁴.
    ///
    /// It is the derivative of (C:ε) a by u for ∇u = u bᵀ.
    #[must_use]
    #[inline]
    pub fn block(&self, a: &Vector3<T>, b: &Vector3<T>) -> Matrix3<T> {
        let on_diagonal = self.mu * a.dot(b);
        let mut block = Matrix3::zeros();
        for c in 0..3 {
            let (x, y) = (self.mu * a[c], self.lambda * b[c]);
            for r in 0..3 {
                block[(r, c)] = x * b[r] + y * a[r];
            }
            block[(c, c)] += on_diagonal;
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symmetric_part;

    #[test]
    fn stress_is_the_derivative_of_the_energy_and_a_block_that_of_the_nodal_force() {
        let hooke = Hooke::<f64> {
            mu: 2.0,
            lambda: -1.0,
        };
        let e = Matrix3::new(0.1, 0.2, -0.3, 0.2, 0.5, 0.7, -0.3, 0.7, -0.4);
        assert!((0.5 * hooke.stress(&e).dot(&e) - hooke.energy_density(&e)).abs() < 1e-15);
        let (a, b) = (Vector3::new(1.0, -2.0, 0.5), Vector3::new(0.3, 0.1, 2.0));
        let u = Vector3::new(-0.7, 0.4, 1.1);
        let force = hooke.stress(&symmetric_part(&(u * b.transpose()))) * a;
        assert!((hooke.block(&a, &b) * u - force).norm() < 1e-14);
    }
}
