//! F = U Σ Vᵀ with rotations U, V and at most one negative stretch.

use nalgebra::{Matrix3, Vector3};

/// F = U Σ Vᵀ: U and V are rotations, the stretches descend, and only the last may be negative (F inverted).
///
/// One-sided Jacobi rotations of the columns of F: small stretches keep their digits, which the eigenvalues of FᵀF would
/// lose. Source: Hestenes (1958); the sign convention is that of Irving, Teran, Fedkiw (2004).
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignedSvd {
    pub(crate) U: Matrix3<f64>,
    pub(crate) stretches: Vector3<f64>,
    pub(crate) V: Matrix3<f64>,
}

impl SignedSvd {
    pub(crate) fn of(F: &Matrix3<f64>) -> Self {
        const SWEEPS_MAX: usize = 30;
        let (mut A, mut V) = (*F, Matrix3::identity());
        for _ in 0..SWEEPS_MAX {
            let mut turned = false;
            for (i, j) in [(0, 1), (0, 2), (1, 2)] {
                turned |= make_columns_orthogonal(&mut A, &mut V, i, j);
            }
            if !turned {
                break;
            }
        }
        for (i, j) in [(0, 1), (1, 2), (0, 1)] {
            if A.column(i).norm_squared() < A.column(j).norm_squared() {
                swap_keeping_turn(&mut A, i, j);
                swap_keeping_turn(&mut V, i, j);
            }
        }
        let mut stretches = Vector3::from_fn(|k, _| A.column(k).norm());
        let first = direction(&A, 0, stretches.x).unwrap_or_else(Vector3::x);
        let second = direction(&A, 1, stretches.y)
            .map(|u| (u - first * first.dot(&u)).normalize())
            .filter(|u| u.x.is_finite())
            .unwrap_or_else(|| some_normal(&first));
        let third = first.cross(&second);
        stretches.z = third.dot(&A.column(2));
        Self {
            U: Matrix3::from_columns(&[first, second, third]),
            stretches,
            V,
        }
    }

    /// R of F = R S.
    pub(crate) fn rotation(&self) -> Matrix3<f64> {
        self.U * self.V.transpose()
    }
}

/// Rotates columns i and j of A until they are orthogonal, and those of V along; false if they were.
fn make_columns_orthogonal(A: &mut Matrix3<f64>, V: &mut Matrix3<f64>, i: usize, j: usize) -> bool {
    let (a, b) = (A.column(i).norm_squared(), A.column(j).norm_squared());
    let c = A.column(i).dot(&A.column(j));
    if c.is_nan() || c.abs() <= 0.5 * f64::EPSILON * (a * b).sqrt() {
        return false;
    }
    let zeta = (b - a) / (2.0 * c);
    let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = cosine * tangent;
    for M in [A, V] {
        for row in 0..3 {
            let (x, y) = (M[(row, i)], M[(row, j)]);
            M[(row, i)] = cosine * x - sine * y;
            M[(row, j)] = sine * x + cosine * y;
        }
    }
    true
}

/// (x, y) → (y, −x): the determinant stays.
fn swap_keeping_turn(M: &mut Matrix3<f64>, i: usize, j: usize) {
    M.swap_columns(i, j);
    M.column_mut(j).neg_mut();
}

fn direction(A: &Matrix3<f64>, column: usize, length: f64) -> Option<Vector3<f64>> {
    (length > 0.0).then(|| A.column(column) / length)
}

fn some_normal(u: &Vector3<f64>) -> Vector3<f64> {
    let axis = if u.x.abs() < 0.6 {
        Vector3::x()
    } else {
        Vector3::y()
    };
    u.cross(&axis).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Rotation3;

    #[track_caller]
    fn check(stretches: [f64; 3]) {
        let turn = |a, b, c| *Rotation3::new(Vector3::new(a, b, c)).matrix();
        let F = turn(0.3, 1.2, -0.4)
            * Matrix3::from_diagonal(&stretches.into())
            * turn(-2.0, 0.1, 0.8).transpose();
        let svd = SignedSvd::of(&F);
        let again = svd.U * Matrix3::from_diagonal(&svd.stretches) * svd.V.transpose();
        let size = F.norm();
        assert!(
            (again - F).norm() <= 1e-14 * size,
            "{stretches:?}: {}",
            again - F
        );
        for Q in [svd.U, svd.V] {
            assert!((Q.transpose() * Q - Matrix3::identity()).norm() < 1e-14);
            assert!((Q.determinant() - 1.0).abs() < 1e-14);
        }
        let s = svd.stretches;
        assert!(s.x >= s.y && s.y >= s.z.abs() * (1.0 - 1e-14), "{s}");
    }

    #[test]
    fn any_gradient_is_taken_apart() {
        for stretches in [
            [1.0, 1.0, 1.0],
            [2.0, 2.0, 1.0],
            [2.0, 1.0, 1.0],
            [3.0, 1.0, -0.5],
            [1.0, 1.0, -1.0],
            [1e8, 1.0, 1e-8],
            [1.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0],
            [1.0, 1.0 + 1e-15, 1.0 - 1e-15],
        ] {
            check(stretches);
        }
    }

    #[test]
    fn small_stretches_keep_their_digits() {
        let F = Matrix3::new(1.0, 1.0, 0.0, 0.0, 1e-10, 0.0, 0.0, 0.0, 1.0);
        let found = SignedSvd::of(&F).stretches.z;
        // σ of [1 1; 0 ε] is ε/√2 for small ε.
        assert!(
            (found * 2.0_f64.sqrt() / 1e-10 - 1.0).abs() < 1e-9,
            "{found:e}"
        );
    }
}
