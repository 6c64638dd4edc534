//! Second-order tensors as 3×3 matrices.

use nalgebra::{Matrix3, Vector3};

use crate::{Number, Real, Tensor};

/// cof F = det(F) F⁻ᵀ = ∂ det F / ∂F; defined for singular F, too.
#[must_use]
#[inline]
pub fn cofactor<T: Real>(F: &Matrix3<T>) -> Matrix3<T> {
    Tensor::from(F).cofactor().into()
}

/// sym M = (M + Mᵀ)/2.
#[must_use]
#[inline(always)]
pub fn symmetric_part<T: Real>(M: &Matrix3<T>) -> Matrix3<T> {
    Tensor::from(M).symmetric_part().into()
}

/// dev M = M − tr(M)/3 I.
#[must_use]
#[inline(always)]
pub fn deviator<T: Real>(M: &Matrix3<T>) -> Matrix3<T> {
    Tensor::from(M).deviator().into()
}

/// The axial vector w of the skew part of M: (M − Mᵀ)/2 x = w × x.
///
/// For a rotation by the angle θ about the unit vector n it is sin θ n.
#[must_use]
#[inline(always)]
pub fn axial_vector<T: Real>(M: &Matrix3<T>) -> Vector3<T> {
    Tensor::from(M).axial_vector().into()
}

/// Eigenvalues, in no order, and eigenvectors (columns) of a symmetric matrix, by cyclic Jacobi rotations.
#[must_use]
pub fn symmetric_eigen<T: Real>(M: &Matrix3<T>) -> (Vector3<T>, Matrix3<T>) {
    const SWEEPS_MAX: usize = 16;
    let (mut a, mut v) = (Tensor::from(M), Tensor::diagonal(T::one()));
    for _ in 0..SWEEPS_MAX {
        let off = a.at(0, 1).abs() + a.at(0, 2).abs() + a.at(1, 2).abs();
        if !(off > T::default_epsilon() * a.dot(&a).sqrt()) {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a.at(p, q) == T::zero() {
                continue;
            }
            let rotation = JacobiRotation::of(a.at(p, p), a.at(q, q), a.at(p, q));
            rotation.mix_columns(&mut a, p, q);
            a = a.transpose();
            rotation.mix_columns(&mut a, p, q);
            rotation.mix_columns(&mut v, p, q);
        }
    }
    let values = Vector3::from_fn(|k, _| a.at(k, k));
    (values, v.into())
}

/// The rotation of two axes that makes the symmetric matrix [pp pq; pq qq] diagonal.
#[derive(Clone, Copy)]
pub(crate) struct JacobiRotation<N> {
    cosine: N,
    sine: N,
}

impl<N: Number> JacobiRotation<N> {
    /// pq must not be zero.
    #[inline(always)]
    pub(crate) fn of(pp: N, qq: N, pq: N) -> Self {
        let one = pq.like(1.0);
        let tau = (qq - pp) / (pq.like(2.0) * pq);
        let sign = N::select(tau.below(pq.like(0.0)), -one, one);
        let tangent = sign / (sign * tau + tau.mul_add(tau, one).root());
        let cosine = one / tangent.mul_add(tangent, one).root();
        Self {
            cosine,
            sine: cosine * tangent,
        }
    }

    /// The same where `mask` is true, no rotation elsewhere.
    #[inline(always)]
    pub(crate) fn only_where(self, mask: N::Mask) -> Self {
        Self {
            cosine: N::select(mask, self.cosine, self.cosine.like(1.0)),
            sine: N::select(mask, self.sine, self.sine.like(0.0)),
        }
    }

    #[inline(always)]
    pub(crate) fn mix_columns(self, M: &mut Tensor<N>, p: usize, q: usize) {
        for k in 0..3 {
            let (x, y) = (M.at(k, p), M.at(k, q));
            M.columns[p][k] = self.cosine * x - self.sine * y;
            M.columns[q][k] = self.sine * x + self.cosine * y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::matrix;
    use nalgebra::Rotation3;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn eigenvectors_rebuild_the_matrix(M in matrix()) {
            let M = symmetric_part(&M);
            let (values, vectors) = symmetric_eigen(&M);
            let rebuilt = vectors * Matrix3::from_diagonal(&values) * vectors.transpose();
            prop_assert!((rebuilt - M).norm() < 1e-14 * (1.0 + M.norm()));
            let narrow = M.map(|x| x as f32);
            let (values, vectors) = symmetric_eigen(&narrow);
            let rebuilt = vectors * Matrix3::from_diagonal(&values) * vectors.transpose();
            prop_assert!((rebuilt - narrow).norm() < 5e-6 * (1.0 + narrow.norm()));
        }

        #[test]
        fn the_cofactor_is_the_derivative_of_the_determinant(F in matrix()) {
            let h = 1e-5;
            for k in 0..9 {
                let (mut up, mut down) = (F, F);
                up[k] += h;
                down[k] -= h;
                // The determinant is linear in each entry.
                let slope = (up.determinant() - down.determinant()) / (2.0 * h);
                prop_assert!((slope - cofactor(&F)[k]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn the_axial_vector_of_a_rotation_is_its_axis_times_the_sine_of_its_angle() {
        let w: Vector3<f64> = Vector3::new(0.2, -0.1, 0.3);
        let found = axial_vector(Rotation3::new(w).matrix());
        assert!((found - w.normalize() * w.norm().sin()).norm() < 1e-15);
    }
}
