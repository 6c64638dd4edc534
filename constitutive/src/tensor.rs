//! Second-order tensors as 3×3 matrices.

use nalgebra::{Matrix3, Vector3};

use crate::Real;

/// cof F = det(F) F⁻ᵀ = ∂ det F / ∂F; defined for singular F, too.
#[must_use]
#[inline]
pub fn cofactor<T: Real>(F: &Matrix3<T>) -> Matrix3<T> {
    let (a, b, c) = (F.column(0), F.column(1), F.column(2));
    Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)])
}

/// sym M = (M + Mᵀ)/2.
#[must_use]
#[inline(always)]
pub fn symmetric_part<T: Real>(M: &Matrix3<T>) -> Matrix3<T> {
    (M + M.transpose()) * T::of(0.5)
}

/// dev M = M − tr(M)/3 I.
#[must_use]
#[inline(always)]
pub fn deviator<T: Real>(M: &Matrix3<T>) -> Matrix3<T> {
    M - Matrix3::from_diagonal_element(M.trace() / T::of(3.0))
}

/// The axial vector w of the skew part of M: (M − Mᵀ)/2 x = w × x.
///
/// For a rotation by the angle θ about the unit vector n it is sin θ n.
#[must_use]
#[inline(always)]
pub fn axial_vector<T: Real>(M: &Matrix3<T>) -> Vector3<T> {
    Vector3::new(
        M[(2, 1)] - M[(1, 2)],
        M[(0, 2)] - M[(2, 0)],
        M[(1, 0)] - M[(0, 1)],
    ) * T::of(0.5)
}

/// Eigenvalues, in no order, and eigenvectors (columns) of a symmetric matrix, by cyclic Jacobi rotations.
#[must_use]
pub fn symmetric_eigen<T: Real>(M: &Matrix3<T>) -> (Vector3<T>, Matrix3<T>) {
    const SWEEPS_MAX: usize = 16;
    let (mut a, mut v) = (*M, Matrix3::identity());
    for _ in 0..SWEEPS_MAX {
        let off = a[(0, 1)].abs() + a[(0, 2)].abs() + a[(1, 2)].abs();
        if !(off > T::default_epsilon() * T::of(0.01) * a.norm()) {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[(p, q)] == T::zero() {
                continue;
            }
            let rotation = JacobiRotation::of(a[(p, p)], a[(q, q)], a[(p, q)]);
            rotation.mix_columns(&mut a, p, q);
            rotation.mix_rows(&mut a, p, q);
            rotation.mix_columns(&mut v, p, q);
        }
    }
    (a.diagonal(), v)
}

/// The rotation of two axes that makes the symmetric matrix [pp pq; pq qq] diagonal.
#[derive(Clone, Copy)]
pub(crate) struct JacobiRotation<T> {
    cosine: T,
    sine: T,
}

impl<T: Real> JacobiRotation<T> {
    /// pq must not be zero.
    #[inline(always)]
    pub(crate) fn of(pp: T, qq: T, pq: T) -> Self {
        let tau = (qq - pp) / (T::of(2.0) * pq);
        let sign = if tau < T::zero() { -T::one() } else { T::one() };
        let tangent = sign / (sign * tau + (T::one() + tau * tau).sqrt());
        let cosine = T::one() / (T::one() + tangent * tangent).sqrt();
        Self {
            cosine,
            sine: cosine * tangent,
        }
    }

    #[inline(always)]
    pub(crate) fn mix_columns(self, M: &mut Matrix3<T>, p: usize, q: usize) {
        for k in 0..3 {
            let (x, y) = (M[(k, p)], M[(k, q)]);
            M[(k, p)] = self.cosine * x - self.sine * y;
            M[(k, q)] = self.sine * x + self.cosine * y;
        }
    }

    #[inline(always)]
    fn mix_rows(self, M: &mut Matrix3<T>, p: usize, q: usize) {
        for k in 0..3 {
            let (x, y) = (M[(p, k)], M[(q, k)]);
            M[(p, k)] = self.cosine * x - self.sine * y;
            M[(q, k)] = self.sine * x + self.cosine * y;
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
