//! F = U diag(σ) Vᵀ with rotations U, V and at most one negative stretch.

use nalgebra::{Matrix3, Vector3};

use crate::Real;
use crate::tensor::JacobiRotation;

/// The signed singular value decomposition F = U diag(σ) Vᵀ of a deformation gradient: U and V are rotations, the principal
/// stretches σ descend in size, and only the last may be negative, which it is if F is inverted.
///
/// By one-sided Jacobi rotations of the columns of F, which find small stretches to as many digits as large ones. Sources:
/// Hestenes (1958), "Inversion of matrices by biorthogonalization"; the sign convention is that of Irving, Teran, Fedkiw
/// (2004), "Invertible finite elements".
#[derive(Clone, Copy, Debug)]
pub struct SignedSvd<T = f64> {
    /// U, a rotation.
    pub U: Matrix3<T>,
    /// σ, the principal stretches.
    pub stretches: Vector3<T>,
    /// V, a rotation.
    pub V: Matrix3<T>,
}

impl<T: Real> SignedSvd<T> {
    /// The decomposition of F, singular or not.
    #[must_use]
    pub fn of(F: &Matrix3<T>) -> Self {
        const SWEEPS_MAX: usize = 16;
        let (mut A, mut V) = (*F, Matrix3::identity());
        for _ in 0..SWEEPS_MAX {
            let mut rotated = false;
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                rotated |= make_columns_orthogonal(&mut A, &mut V, p, q);
            }
            if !rotated {
                break;
            }
        }
        let mut stretches = Vector3::from_fn(|k, _| A.column(k).norm());
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if stretches[p] < stretches[q] {
                stretches.swap_rows(p, q);
                swap_columns_as_rotation(&mut A, p, q);
                swap_columns_as_rotation(&mut V, p, q);
            }
        }
        let first = unit_or(A.column(0).into(), Vector3::x());
        // The second column, without the round-off along the first.
        let second: Vector3<T> = A.column(1).into();
        let second = second - first * first.dot(&second);
        let second = unit_or(second, any_normal(&first));
        let third = first.cross(&second);
        if third.dot(&A.column(2)) < T::zero() {
            stretches[2] = -stretches[2];
        }
        Self {
            U: Matrix3::from_columns(&[first, second, third]),
            stretches,
            V,
        }
    }

    /// The rotation R = U Vᵀ of the polar decomposition F = R S.
    #[must_use]
    pub fn rotation(&self) -> Matrix3<T> {
        self.U * self.V.transpose()
    }

    /// U diag(s) Vᵀ.
    #[must_use]
    pub fn rebuild(&self, s: &Vector3<T>) -> Matrix3<T> {
        let mut scaled = self.U;
        for (mut column, s) in scaled.column_iter_mut().zip(s) {
            column *= *s;
        }
        scaled * self.V.transpose()
    }
}

/// Rotates columns p and q of A until they are orthogonal, and those of V with them; false if they were.
fn make_columns_orthogonal<T: Real>(
    A: &mut Matrix3<T>,
    V: &mut Matrix3<T>,
    p: usize,
    q: usize,
) -> bool {
    let tolerance = T::default_epsilon();
    let (pp, qq) = (A.column(p).norm_squared(), A.column(q).norm_squared());
    let pq = A.column(p).dot(&A.column(q));
    if !(pq * pq > tolerance * tolerance * pp * qq) {
        return false;
    }
    let rotation = JacobiRotation::of(pp, qq, pq);
    rotation.mix_columns(A, p, q);
    rotation.mix_columns(V, p, q);
    true
}

/// (x, y) → (y, −x), which keeps the determinant.
fn swap_columns_as_rotation<T: Real>(M: &mut Matrix3<T>, p: usize, q: usize) {
    M.swap_columns(p, q);
    M.column_mut(q).neg_mut();
}

fn unit_or<T: Real>(x: Vector3<T>, otherwise: Vector3<T>) -> Vector3<T> {
    let norm = x.norm();
    if norm > T::zero() {
        x / norm
    } else {
        otherwise
    }
}

fn any_normal<T: Real>(x: &Vector3<T>) -> Vector3<T> {
    let k = x.iamin();
    let axis = Vector3::from_fn(|i, _| if i == k { T::one() } else { T::zero() });
    unit_or(axis - x * x[k], axis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{DEGENERATE, gradient, matrix};
    use proptest::prelude::*;

    fn check<T: Real>(F: &Matrix3<T>) {
        let svd = SignedSvd::of(F);
        let round_off = T::of(50.0) * T::default_epsilon();
        let error = (svd.rebuild(&svd.stretches) - F).norm();
        assert!(error <= round_off * F.norm(), "{F}: {error}");
        for Q in [svd.U, svd.V] {
            assert!((Q.transpose() * Q - Matrix3::identity()).norm() < round_off);
            assert!((Q.determinant() - T::one()).abs() < round_off);
        }
        let s = svd.stretches;
        let slack = T::one() - round_off;
        assert!(s.x >= s.y * slack && s.y >= s.z.abs() * slack, "{s}");
    }

    proptest! {
        #[test]
        fn factors_rebuild_the_matrix(F in matrix()) {
            check::<f64>(&F);
            check::<f32>(&F.map(|x| x as f32));
        }
    }

    #[test]
    fn degenerate_gradients_have_a_decomposition() {
        for stretches in DEGENERATE {
            let F = gradient(stretches);
            check::<f64>(&F);
            check::<f32>(&F.map(|x| x as f32));
        }
        check::<f64>(&gradient([1e8, 1.0, 1e-8]));
    }

    #[test]
    fn small_stretches_keep_their_digits() {
        let F: Matrix3<f64> = Matrix3::new(1.0, 1.0, 0.0, 0.0, 1e-10, 0.0, 0.0, 0.0, 1.0);
        let found = SignedSvd::of(&F).stretches.z;
        // σ of [1 1; 0 ε] is ε/√2 for small ε.
        assert!((found * 2.0_f64.sqrt() / 1e-10 - 1.0).abs() < 1e-9);
    }
}
