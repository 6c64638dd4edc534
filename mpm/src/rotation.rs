//! Polar and singular value decompositions of 3×3 matrices, made for deformation gradients.

use nalgebra::{Matrix3, Vector3};

use crate::scalar::Real;

/// Newton steps on the polar decomposition; seven suffice for condition numbers up to 10⁶.
const NEWTON_STEPS_MAX: usize = 12;

/// The rotation nearest to `f`: R of F = R S, with det R = +1 for every F.
///
/// Scaled Newton iteration R ← (γR + R⁻ᵀ/γ)/2, γ = √(|R⁻ᵀ|/|R|) (Higham 1986), which needs det F > 0; other matrices take
/// the way over their singular values. Error a few units of round-off times the condition number.
pub fn polar_rotation<T: Real>(f: &Matrix3<T>) -> Matrix3<T> {
    let size = f.norm();
    let determinant = f.determinant();
    // The smallest singular value is at least det/|F|²; below, Newton loses digits.
    if !(determinant > T::of(1e-6) * size * size * size) {
        let svd = Svd::of(f);
        return svd.u * svd.v.transpose();
    }
    let half = T::of(0.5);
    let mut r = *f;
    for _ in 0..NEWTON_STEPS_MAX {
        let cofactor = cofactor(&r);
        // det r from its first column and cofactors.
        let determinant = r.column(0).dot(&cofactor.column(0));
        let inverse = T::one() / determinant;
        let gamma = (cofactor.norm() * inverse / r.norm()).sqrt();
        let next = r * (half * gamma) + cofactor * (half * inverse / gamma);
        let change = (next - r).norm_squared();
        r = next;
        // Quadratic convergence: the next change is of the order of this one squared.
        if change < T::default_epsilon() {
            break;
        }
    }
    r
}

/// cof F = det(F) F⁻ᵀ.
#[inline(always)]
pub(crate) fn cofactor<T: Real>(f: &Matrix3<T>) -> Matrix3<T> {
    let (a, b, c) = (f.column(0), f.column(1), f.column(2));
    Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)])
}

/// (M + Mᵀ)/2.
#[inline(always)]
pub(crate) fn sym<T: Real>(m: &Matrix3<T>) -> Matrix3<T> {
    (m + m.transpose()) * T::of(0.5)
}

/// M − tr(M)/3 I.
#[inline(always)]
pub(crate) fn deviator<T: Real>(m: &Matrix3<T>) -> Matrix3<T> {
    m - Matrix3::from_diagonal_element(m.trace() / T::of(3.0))
}

/// F = U diag(σ) Vᵀ with det U = det V = +1: σ descend in size, the last carries the sign of det F.
#[derive(Clone, Copy, Debug)]
pub struct Svd<T> {
    /// U.
    pub u: Matrix3<T>,
    /// σ.
    pub sigma: Vector3<T>,
    /// V.
    pub v: Matrix3<T>,
}

impl<T: Real> Svd<T> {
    /// By one-sided Jacobi rotations, which find small singular values as precisely as large ones.
    pub fn of(f: &Matrix3<T>) -> Self {
        let (mut a, mut v) = (*f, Matrix3::identity());
        let tolerance = T::default_epsilon();
        for _ in 0..16 {
            let mut turned = false;
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                turned |= orthogonalise(&mut a, &mut v, p, q, tolerance);
            }
            if !turned {
                break;
            }
        }
        let mut sigma = Vector3::from_fn(|k, _| a.column(k).norm());
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if sigma[p] < sigma[q] {
                sigma.swap_rows(p, q);
                a.swap_columns(p, q);
                v.swap_columns(p, q);
                // A swap is a reflection; turning one column round makes it a rotation.
                a.column_mut(q).neg_mut();
                v.column_mut(q).neg_mut();
            }
        }
        let first = unit_or(a.column(0).into(), Vector3::x());
        // What is left of the second column after round-off against the first.
        let second: Vector3<T> = a.column(1).into();
        let second = second - first * first.dot(&second);
        let second = unit_or(second, any_normal(&first));
        let third = first.cross(&second);
        let signed = third.dot(&a.column(2));
        sigma[2] = if signed < T::zero() {
            -sigma[2]
        } else {
            sigma[2]
        };
        Self {
            u: Matrix3::from_columns(&[first, second, third]),
            sigma,
            v,
        }
    }

    /// U diag(s) Vᵀ.
    pub fn rebuild(&self, s: &Vector3<T>) -> Matrix3<T> {
        self.u * Matrix3::from_diagonal(s) * self.v.transpose()
    }
}

/// Turns columns p and q of `a` until they are orthogonal, and V with them. False if they were.
fn orthogonalise<T: Real>(
    a: &mut Matrix3<T>,
    v: &mut Matrix3<T>,
    p: usize,
    q: usize,
    tolerance: T,
) -> bool {
    let (pp, qq) = (a.column(p).norm_squared(), a.column(q).norm_squared());
    let pq = a.column(p).dot(&a.column(q));
    if !(pq * pq > tolerance * tolerance * pp * qq) {
        return false;
    }
    let two = T::of(2.0);
    let tau = (qq - pp) / (two * pq);
    let sign = if tau < T::zero() { -T::one() } else { T::one() };
    let t = sign / (sign * tau + (T::one() + tau * tau).sqrt());
    let c = T::one() / (T::one() + t * t).sqrt();
    let s = c * t;
    for m in [a, v] {
        for row in 0..3 {
            let (x, y) = (m[(row, p)], m[(row, q)]);
            m[(row, p)] = c * x - s * y;
            m[(row, q)] = s * x + c * y;
        }
    }
    true
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

/// Eigenvalues and eigenvectors of a symmetric 3×3 matrix, by Jacobi rotations.
pub(crate) fn symmetric_eigen<T: Real>(m: &Matrix3<T>) -> (Vector3<T>, Matrix3<T>) {
    let (mut a, mut v) = (*m, Matrix3::identity());
    for _ in 0..16 {
        let off = a[(0, 1)].abs() + a[(0, 2)].abs() + a[(1, 2)].abs();
        if !(off > T::default_epsilon() * T::of(0.01) * a.norm()) {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[(p, q)] == T::zero() {
                continue;
            }
            let tau = (a[(q, q)] - a[(p, p)]) / (T::of(2.0) * a[(p, q)]);
            let sign = if tau < T::zero() { -T::one() } else { T::one() };
            let t = sign / (sign * tau + (T::one() + tau * tau).sqrt());
            let c = T::one() / (T::one() + t * t).sqrt();
            let s = c * t;
            for k in 0..3 {
                let (x, y) = (a[(k, p)], a[(k, q)]);
                a[(k, p)] = c * x - s * y;
                a[(k, q)] = s * x + c * y;
            }
            for k in 0..3 {
                let (x, y) = (a[(p, k)], a[(q, k)]);
                a[(p, k)] = c * x - s * y;
                a[(q, k)] = s * x + c * y;
                let (x, y) = (v[(k, p)], v[(k, q)]);
                v[(k, p)] = c * x - s * y;
                v[(k, q)] = s * x + c * y;
            }
        }
    }
    (a.diagonal(), v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Rotation3;
    use proptest::prelude::*;

    fn matrix() -> impl Strategy<Value = Matrix3<f64>> {
        prop::array::uniform9(-2.0..2.0f64).prop_map(|a| Matrix3::from_row_slice(&a))
    }

    proptest! {
        #[test]
        fn singular_values_rebuild_the_matrix(f in matrix()) {
            let svd = Svd::of(&f);
            prop_assert!((svd.rebuild(&svd.sigma) - f).norm() < 1e-14 * (1.0 + f.norm()));
            for r in [svd.u, svd.v] {
                prop_assert!((r.transpose() * r - Matrix3::identity()).norm() < 1e-14);
                prop_assert!((r.determinant() - 1.0).abs() < 1e-14);
            }
            prop_assert!(svd.sigma[0] >= svd.sigma[1] && svd.sigma[1] >= svd.sigma[2].abs());
        }

        #[test]
        fn polar_leaves_a_symmetric_stretch(f in matrix()) {
            let r = polar_rotation(&f);
            let s = r.transpose() * f;
            let condition = f.norm() / Svd::of(&f).sigma[2].abs().max(1e-300);
            prop_assume!(condition < 1e6);
            prop_assert!((r.transpose() * r - Matrix3::identity()).norm() < 1e-13);
            prop_assert!((r.determinant() - 1.0).abs() < 1e-13);
            prop_assert!((s - s.transpose()).norm() < 1e-14 * condition * f.norm());
        }

        #[test]
        fn eigenvectors_rebuild_the_matrix(f in matrix()) {
            let m = sym(&f);
            let (values, vectors) = symmetric_eigen(&m);
            let rebuilt = vectors * Matrix3::from_diagonal(&values) * vectors.transpose();
            prop_assert!((rebuilt - m).norm() < 1e-14 * (1.0 + m.norm()));
        }
    }

    #[test]
    fn degenerate_matrices_have_rotations_too() {
        let turn = Rotation3::<f64>::from_euler_angles(0.3, -2.0, 1.1).into_inner();
        let flat = turn * Matrix3::from_diagonal(&Vector3::new(1.0, 0.5, 0.0));
        let line = turn * Matrix3::from_diagonal(&Vector3::new(1.0, 0.0, 0.0));
        let inverted = turn * Matrix3::from_diagonal(&Vector3::new(1.0, 0.9, -0.2));
        for f in [flat, line, inverted, Matrix3::zeros(), -Matrix3::identity()] {
            let r = polar_rotation(&f);
            assert!((r.transpose() * r - Matrix3::identity()).norm() < 1e-14);
            assert!((r.determinant() - 1.0).abs() < 1e-14);
        }
        assert!((polar_rotation(&flat) - turn).norm() < 1e-14);
        assert!((polar_rotation(&inverted) - turn).norm() < 1e-14);
        // A small singular value keeps its digits.
        let thin = turn * Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 1e-9));
        assert!((Svd::of(&thin).sigma[2] - 1e-9).abs() < 1e-15);
    }
}
