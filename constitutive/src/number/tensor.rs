//! 3×3 matrices of any [`Number`].

use std::ops::{Add, Mul, Sub};

use nalgebra::{Matrix3, Vector3};

use super::{Mask, Number};
use crate::Real;

/// A 3×3 matrix of any [`Number`]. Its operations are inlined into the kernel that uses them, and with it compiled for the instructions of
/// the processor.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::Tensor;
///
/// let m = Matrix3::new(2.0, 1.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 4.0);
/// let tensor = Tensor::from(&m);
/// assert_eq!((tensor.at(0, 1), tensor.trace(), tensor.determinant()), (1.0, 9.0, 24.0));
/// // cof M = det(M) M⁻ᵀ.
/// let product: Matrix3<f64> = (tensor.cofactor().transpose() * tensor).into();
/// assert_eq!(product, Matrix3::from_diagonal_element(24.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tensor<N> {
    /// Its columns.
    pub columns: [[N; 3]; 3],
}

impl<N: Number> Tensor<N> {
    /// From its entries by row and column.
    #[inline(always)]
    #[must_use]
    pub fn from_fn(mut entry: impl FnMut(usize, usize) -> N) -> Self {
        Self {
            columns: [
                [entry(0, 0), entry(1, 0), entry(2, 0)],
                [entry(0, 1), entry(1, 1), entry(2, 1)],
                [entry(0, 2), entry(1, 2), entry(2, 2)],
            ],
        }
    }

    /// x I.
    #[inline(always)]
    #[must_use]
    pub fn diagonal(x: N) -> Self {
        let zero = x.like(0.0);
        Self::from_fn(
            #[inline(always)]
            |i, j| if i == j { x } else { zero },
        )
    }

    /// The entry at row i and column j.
    #[inline(always)]
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> N {
        self.columns[j][i]
    }

    /// Each entry by `f`.
    #[inline(always)]
    #[must_use]
    pub fn map(&self, f: impl Fn(N) -> N) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i, j| f(self.at(i, j)),
        )
    }

    /// The transpose.
    #[inline(always)]
    #[must_use]
    pub fn transpose(&self) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i, j| self.at(j, i),
        )
    }

    /// The trace.
    #[inline(always)]
    #[must_use]
    pub fn trace(&self) -> N {
        self.at(0, 0) + self.at(1, 1) + self.at(2, 2)
    }

    /// Σ a_ij b_ij.
    #[inline(always)]
    #[must_use]
    pub fn dot(&self, other: &Self) -> N {
        let [a, b, c] = &self.columns;
        let [x, y, z] = &other.columns;
        dot(a, x) + dot(b, y) + dot(c, z)
    }

    /// cof M = det(M) M⁻ᵀ.
    #[inline(always)]
    #[must_use]
    pub fn cofactor(&self) -> Self {
        let [a, b, c] = &self.columns;
        Self {
            columns: [cross(b, c), cross(c, a), cross(a, b)],
        }
    }

    /// The determinant.
    #[inline(always)]
    #[must_use]
    pub fn determinant(&self) -> N {
        let [a, b, c] = &self.columns;
        dot(a, &cross(b, c))
    }

    /// (M + Mᵀ)/2.
    #[inline(always)]
    #[must_use]
    pub fn symmetric_part(&self) -> Self {
        let half = self.at(0, 0).like(0.5);
        (*self + self.transpose()) * half
    }

    /// M − tr(M)/3 I.
    #[inline(always)]
    #[must_use]
    pub fn deviator(&self) -> Self {
        let mean = self.trace() / self.at(0, 0).like(3.0);
        self.plus_diagonal(-mean)
    }

    /// M + x I.
    #[inline(always)]
    #[must_use]
    pub fn plus_diagonal(&self, x: N) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i, j| match i == j {
                true => self.at(i, j) + x,
                false => self.at(i, j),
            },
        )
    }

    /// The axial vector w of the skew part: (M − Mᵀ)/2 x = w × x.
    #[inline(always)]
    #[must_use]
    pub fn axial_vector(&self) -> [N; 3] {
        let half = self.at(0, 0).like(0.5);
        [
            (self.at(2, 1) - self.at(1, 2)) * half,
            (self.at(0, 2) - self.at(2, 0)) * half,
            (self.at(1, 0) - self.at(0, 1)) * half,
        ]
    }

    /// The skew matrix of w × x.
    #[inline(always)]
    #[must_use]
    pub fn cross_matrix(w: &[N; 3]) -> Self {
        let o = w[0].like(0.0);
        Self {
            columns: [[o, w[2], -w[1]], [-w[2], o, w[0]], [w[1], -w[0], o]],
        }
    }

    /// M x.
    #[inline(always)]
    #[must_use]
    pub fn times_vector(&self, x: &[N; 3]) -> [N; 3] {
        let [a, b, c] = &self.columns;
        [
            c[0].mul_add(x[2], b[0].mul_add(x[1], a[0] * x[0])),
            c[1].mul_add(x[2], b[1].mul_add(x[1], a[1] * x[0])),
            c[2].mul_add(x[2], b[2].mul_add(x[1], a[2] * x[0])),
        ]
    }

    /// Mᵀ K.
    #[inline(always)]
    #[must_use]
    pub fn transposed_product(&self, other: &Self) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i, j| dot(&self.columns[i], &other.columns[j]),
        )
    }

    /// `yes` where `mask` is true, `no` elsewhere.
    #[inline(always)]
    #[must_use]
    pub fn select(mask: N::Mask, yes: &Self, no: &Self) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i, j| N::select(mask, yes.at(i, j), no.at(i, j)),
        )
    }

    /// The matrix of a lane.
    #[inline(always)]
    #[must_use]
    pub fn lane(&self, lane: usize) -> Matrix3<N::Scalar> {
        Matrix3::from_fn(|i, j| self.at(i, j).lane(lane))
    }

    /// The matrix with `f` of it in the lanes where `mask` is true: for rare cases that have branches.
    #[inline(always)]
    #[must_use]
    pub fn replace_lanes(&self, mask: N::Mask, f: impl Fn(usize) -> Matrix3<N::Scalar>) -> Self {
        let mut out = *self;
        for lane in (0..N::LANES).filter(|lane| mask.lane(*lane)) {
            let new = f(lane);
            out = Self::from_fn(
                #[inline(always)]
                |i, j| {
                    let x = out.at(i, j);
                    x.with_lanes(|k| if k == lane { new[(i, j)] } else { x.lane(k) })
                },
            );
        }
        out
    }
}

/// a·b.
#[inline(always)]
pub(crate) fn dot<N: Number>(a: &[N; 3], b: &[N; 3]) -> N {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]))
}

/// |x|.
#[inline(always)]
pub(crate) fn norm<N: Number>(x: &[N; 3]) -> N {
    dot(x, x).root()
}

/// a × b.
#[inline(always)]
pub(crate) fn cross<N: Number>(a: &[N; 3], b: &[N; 3]) -> [N; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

impl<T: Real> From<&Matrix3<T>> for Tensor<T> {
    #[inline(always)]
    fn from(m: &Matrix3<T>) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i, j| m[(i, j)],
        )
    }
}

impl<T: Real> From<Tensor<T>> for Matrix3<T> {
    #[inline(always)]
    fn from(m: Tensor<T>) -> Self {
        Self::from_columns(&m.columns.map(Vector3::from))
    }
}

impl<N: Number> Add for Tensor<N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i, j| self.at(i, j) + other.at(i, j),
        )
    }
}

impl<N: Number> Sub for Tensor<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::from_fn(
            #[inline(always)]
            |i, j| self.at(i, j) - other.at(i, j),
        )
    }
}

impl<N: Number> Mul for Tensor<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self {
            columns: [
                self.times_vector(&other.columns[0]),
                self.times_vector(&other.columns[1]),
                self.times_vector(&other.columns[2]),
            ],
        }
    }
}

impl<N: Number> Mul<N> for Tensor<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, x: N) -> Self {
        self.map(
            #[inline(always)]
            |entry| entry * x,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::matrix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn operations_are_those_of_matrices(A in matrix(), B in matrix()) {
            let (a, b) = (Tensor::from(&A), Tensor::from(&B));
            let pairs = [
                (a * b, A * B),
                (a + b, A + B),
                (a - b, A - B),
                (a * 0.3, A * 0.3),
                (a.transpose(), A.transpose()),
                (a.transposed_product(&b), A.transpose() * B),
                (a.cofactor().transposed_product(&a), Matrix3::identity() * A.determinant()),
                (a.deviator(), A - Matrix3::from_diagonal_element(A.trace() / 3.0)),
                (a.symmetric_part(), (A + A.transpose()) * 0.5),
                (Tensor::cross_matrix(&a.axial_vector()), (A - A.transpose()) * 0.5),
                (a.plus_diagonal(0.7), A + Matrix3::from_diagonal_element(0.7)),
                (Tensor::diagonal(0.7), Matrix3::from_diagonal_element(0.7)),
                (a.replace_lanes(true, |_| B), B),
                (a.replace_lanes(false, |_| B), A),
            ];
            for (found, expected) in pairs {
                prop_assert!((Matrix3::from(found) - expected).norm() < 1e-14);
            }
            prop_assert!((a.determinant() - A.determinant()).abs() < 1e-14);
            prop_assert!((a.trace() - A.trace()).abs() < 1e-15);
            prop_assert!((a.dot(&b) - A.dot(&B)).abs() < 1e-13);
            prop_assert_eq!(a.lane(0), A);
        }
    }
}
