//! F = U diag(σ) Vᵀ with rotations U, V and at most one negative stretch.

use nalgebra::{Matrix3, Vector3};

use crate::number::{cross, dot, norm};
use crate::tensor::JacobiRotation;
use crate::{Mask, Number, Real, SideBySide, Tensor, side_by_side};

/// The signed singular value decomposition F = U diag(σ) Vᵀ of a deformation gradient: U and V are rotations, the principal
/// stretches σ descend in size, and only the last may be negative, which it is if F is inverted.
///
/// By one-sided Jacobi rotations of the columns of F, which find small stretches to as many digits as large ones. Sources:
/// Hestenes (1958), "Inversion of matrices by biorthogonalization"; the sign convention is that of Irving, Teran, Fedkiw
/// (2004), "Invertible finite elements".
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_constitutive::SignedSvd;
///
/// // Stretched along y, turned inside out along z: the smallest stretch has the sign of det F.
/// let F: Matrix3<f64> = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, -0.5));
/// let svd = SignedSvd::of(&F);
/// assert!((svd.stretches - Vector3::new(2.0, 1.0, -0.5)).norm() < 1e-15);
/// assert!((svd.U.determinant() - 1.0).abs() < 1e-15); // a rotation
/// assert!((svd.rebuild(&svd.stretches) - F).norm() < 1e-15);
/// ```
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
        let found = SignedSvds::of(&Tensor::from(F));
        Self {
            U: found.U.into(),
            stretches: found.stretches.into(),
            V: found.V.into(),
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

impl SignedSvd {
    /// Overwrites `out` with the decompositions of matrices, of which as many as a register holds are computed side by side. A decomposition does not
    /// depend on the other matrices; it differs from that of [`SignedSvd::of`] by round-off.
    ///
    /// # Panics
    /// If there are fewer matrices than items of `out`.
    pub fn of_all(F: &[Matrix3<f64>], out: &mut [Self]) {
        assert!(F.len() >= out.len(), "every decomposition has a matrix");
        side_by_side(All { F, out });
    }
}

struct All<'a> {
    F: &'a [Matrix3<f64>],
    out: &'a mut [SignedSvd],
}

impl SideBySide for All<'_> {
    #[inline(always)]
    fn run<N: Number<Scalar = f64>>(self, zero: N) {
        let chunks = self.F.chunks(N::LANES);
        for (F, out) in chunks.zip(self.out.chunks_mut(N::LANES)) {
            let last = F.len() - 1;
            let several = Tensor::from_fn(
                #[inline(always)]
                |i, j| zero.with_lanes(|lane| F[lane.min(last)][(i, j)]),
            );
            let found = SignedSvds::of(&several);
            for (lane, out) in out.iter_mut().enumerate() {
                *out = SignedSvd {
                    U: found.U.lane(lane),
                    stretches: found.stretches.map(|s| s.lane(lane)).into(),
                    V: found.V.lane(lane),
                };
            }
        }
    }
}

/// The [`SignedSvd`] of one matrix or of several.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_constitutive::{SignedSvds, Tensor};
///
/// // Of one point, here: a tensor of f64.
/// let F = Tensor::from(&Matrix3::<f64>::from_diagonal(&Vector3::new(0.5, 3.0, 1.0)));
/// let svd = SignedSvds::of(&F);
/// assert_eq!(svd.stretches, [3.0, 1.0, 0.5]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SignedSvds<N> {
    /// U, a rotation.
    pub U: Tensor<N>,
    /// σ, the principal stretches.
    pub stretches: [N; 3],
    /// V, a rotation.
    pub V: Tensor<N>,
}

impl<N: Number> SignedSvds<N> {
    /// The decomposition of F, singular or not.
    #[must_use]
    #[inline(always)]
    pub fn of(F: &Tensor<N>) -> Self {
        const SWEEPS_MAX: usize = 16;
        let zero = F.at(0, 0).like(0.0);
        let (mut A, mut V) = (*F, Tensor::diagonal(zero.like(1.0)));
        for _ in 0..SWEEPS_MAX {
            let rotated = make_columns_orthogonal(&mut A, &mut V, 0, 1)
                | make_columns_orthogonal(&mut A, &mut V, 0, 2)
                | make_columns_orthogonal(&mut A, &mut V, 1, 2);
            if !rotated {
                break;
            }
        }
        let [a, b, c] = &A.columns;
        let mut stretches = [norm(a), norm(b), norm(c)];
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (x, y) = (stretches[p], stretches[q]);
            let ascends = x.below(y);
            stretches[p] = N::select(ascends, y, x);
            stretches[q] = N::select(ascends, x, y);
            swap_columns_as_rotation(ascends, &mut A, p, q);
            swap_columns_as_rotation(ascends, &mut V, p, q);
        }
        let one = zero.like(1.0);
        let first = unit_or(&A.columns[0], &[one, zero, zero]);
        // The second column, without the round-off along the first.
        let second = A.columns[1];
        let along = dot(&first, &second);
        let second = [
            second[0] - first[0] * along,
            second[1] - first[1] * along,
            second[2] - first[2] * along,
        ];
        let second = unit_or(&second, &any_normal(&first));
        let third = cross(&first, &second);
        let is_inverted = dot(&third, &A.columns[2]).below(zero);
        stretches[2] = N::select(is_inverted, -stretches[2], stretches[2]);
        Self {
            U: Tensor {
                columns: [first, second, third],
            },
            stretches,
            V,
        }
    }

    /// U diag(s) Vᵀ.
    #[must_use]
    #[inline(always)]
    pub fn rebuild(&self, s: &[N; 3]) -> Tensor<N> {
        let scaled = Tensor::from_fn(
            #[inline(always)]
            |i, j| self.U.at(i, j) * s[j],
        );
        scaled * self.V.transpose()
    }
}

/// Rotates columns p and q of A until they are orthogonal, and those of V with them; false if all were.
#[inline(always)]
fn make_columns_orthogonal<N: Number>(
    A: &mut Tensor<N>,
    V: &mut Tensor<N>,
    p: usize,
    q: usize,
) -> bool {
    let (x, y) = (&A.columns[p], &A.columns[q]);
    let (pp, qq, pq) = (dot(x, x), dot(y, y), dot(x, y));
    let tolerance = pp.round_off();
    let slanted = (tolerance * tolerance * pp * qq).below(pq * pq);
    if !slanted.any() {
        return false;
    }
    let rotation = JacobiRotation::of(pp, qq, pq).only_where(slanted);
    rotation.mix_columns(A, p, q);
    rotation.mix_columns(V, p, q);
    true
}

/// (x, y) → (y, −x) where `mask` is true, which keeps the determinant.
#[inline(always)]
fn swap_columns_as_rotation<N: Number>(mask: N::Mask, M: &mut Tensor<N>, p: usize, q: usize) {
    for k in 0..3 {
        let (x, y) = (M.at(k, p), M.at(k, q));
        M.columns[p][k] = N::select(mask, y, x);
        M.columns[q][k] = N::select(mask, -x, y);
    }
}

/// x/|x|, `otherwise` where x is zero.
#[inline(always)]
fn unit_or<N: Number>(x: &[N; 3], otherwise: &[N; 3]) -> [N; 3] {
    let length = norm(x);
    let has_length = length.like(0.0).below(length);
    [
        N::select(has_length, x[0] / length, otherwise[0]),
        N::select(has_length, x[1] / length, otherwise[1]),
        N::select(has_length, x[2] / length, otherwise[2]),
    ]
}

/// A unit vector normal to the unit vector x: its cross product with the axis of its least component.
#[inline(always)]
fn any_normal<N: Number>(x: &[N; 3]) -> [N; 3] {
    let (zero, one) = (x[0].like(0.0), x[0].like(1.0));
    let square = [x[0] * x[0], x[1] * x[1], x[2] * x[2]];
    let first = square[0].below(square[1]).and(square[0].below(square[2]));
    let second = square[1].below(square[2]).and(first.not());
    let third = first.or(second).not();
    let axis = [
        N::select(first, one, zero),
        N::select(second, one, zero),
        N::select(third, one, zero),
    ];
    let normal = cross(x, &axis);
    let size = norm(&normal);
    [normal[0] / size, normal[1] / size, normal[2] / size]
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

    proptest! {
        #[test]
        fn decompositions_side_by_side_are_those_of_single_matrices(
            many in proptest::collection::vec(matrix(), 1..11),
        ) {
            let mut together: Vec<SignedSvd> = many.iter().map(SignedSvd::of).collect();
            SignedSvd::of_all(&many, &mut together);
            for (F, found) in many.iter().zip(&together) {
                let alone = SignedSvd::of(F);
                let off = (found.stretches - alone.stretches).norm();
                prop_assert!(off <= 1e-13 * F.norm(), "{}", off);
                let rebuilt = (found.rebuild(&found.stretches) - F).norm();
                prop_assert!(rebuilt <= 1e-13 * F.norm(), "{}", rebuilt);
                // The neighbours do not matter.
                let mut again = [alone];
                SignedSvd::of_all(std::slice::from_ref(F), &mut again);
                prop_assert_eq!(again[0].U, found.U);
                prop_assert_eq!(again[0].V, found.V);
            }
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
