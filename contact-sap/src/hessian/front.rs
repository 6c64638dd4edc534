//! The dense kernel of a factorisation: eliminates the first columns of a symmetric front.

mod strips;

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};

use crate::hessian::Real;
use strips::Strips;

/// A pivot that was not positive, by velocity of the island.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedPivot {
    pub(crate) dof: usize,
}

/// Fronts with at least this many pivots and rows below them are eliminated by blocks, with parallel matrix products. At this
/// size blocks are as fast as strips on one thread.
const BLOCKED_MIN: (usize, usize) = (64, 256);

/// Fronts with at least this many pivots are eliminated by blocks for any number of rows below.
const BLOCKED_PIVOTS_MIN: usize = 160;

/// Columns of a block; the fastest of 24 to 192.
const BLOCK: usize = 48;

/// Products of fewer multiplications, some 30 µs, run on one thread.
const PARALLEL_WORK_MIN: usize = 1_000_000;

/// Eliminates `k` pivots of an m×m front.
///
/// `panel`, the first k columns, m×k, is overwritten with those of L. `rest`, (m−k)×(m−k), is overwritten with the update
/// −L_b L_bᵀ of the rows L_b below the pivots. Both are column-major; only lower triangles are used.
///
/// # Errors
/// The index of the first pivot that is not positive.
pub(crate) fn eliminate<T: Real>(
    panel: &mut [T],
    rest: &mut [T],
    m: usize,
    k: usize,
) -> Result<(), usize> {
    let (pivots_min, below_min) = BLOCKED_MIN;
    if k < pivots_min || (m - k < below_min && k < BLOCKED_PIVOTS_MIN) {
        return pulp::Arch::new().dispatch(Strips {
            panel,
            rest,
            m,
            first: 0,
            k,
        });
    }
    let mut first = 0;
    while first < k {
        let width = match k - first {
            left if left < BLOCK + BLOCK / 2 => left,
            _ => BLOCK,
        };
        let (block, right) = panel[first * m..].split_at_mut(width * m);
        let strips = Strips {
            panel: &mut *block,
            rest: &mut [],
            m,
            first,
            k: width,
        };
        pulp::Arch::new().dispatch(strips).map_err(|j| first + j)?;
        first += width;
        let right = MatMut::from_column_major_slice_mut(right, m, k - first);
        let below = MatRef::from_column_major_slice(block, m, width);
        subtract_products(
            right.subrows_mut(first, m - first),
            Accum::Add,
            below.subrows(first, m - first),
        );
    }
    let rest = MatMut::from_column_major_slice_mut(rest, m - k, m - k);
    let below = MatRef::from_column_major_slice(panel, m, k);
    subtract_products(rest, Accum::Replace, below.subrows(k, m - k));
    Ok(())
}

/// C ← C − L Lᵀ, or −L Lᵀ, in the lower triangle of C, whose first columns are `columns`. Large products are split into groups
/// of columns and run in parallel. The groups depend on sizes alone, so results do not depend on the number of threads.
fn subtract_products<T: Real>(columns: MatMut<'_, T>, accum: Accum, l: MatRef<'_, T>) {
    let n = columns.ncols();
    if n < 2 * BLOCK {
        return subtract_product(columns, accum, l);
    }
    let left = n / 2 / BLOCK * BLOCK;
    let work = n * l.nrows() * l.ncols() / 2;
    let (left_columns, right_columns) = columns.split_at_col_mut(left);
    let right_columns = right_columns.split_at_row_mut(left).1;
    let of_left = || subtract_products(left_columns, accum, l);
    let of_right = || subtract_products(right_columns, accum, l.split_at_row(left).1);
    if work < PARALLEL_WORK_MIN {
        of_left();
        of_right();
    } else {
        rayon::join(of_left, of_right);
    }
}

/// [`subtract_products`] without groups: one triangular and one rectangular product.
fn subtract_product<T: Real>(columns: MatMut<'_, T>, accum: Accum, l: MatRef<'_, T>) {
    let n = columns.ncols();
    let (diagonal, below) = columns.split_at_row_mut(n);
    let (of_diagonal, of_below) = l.split_at_row(n);
    let whole = BlockStructure::Rectangular;
    triangular::matmul(
        diagonal,
        BlockStructure::TriangularLower,
        accum,
        of_diagonal,
        whole,
        of_diagonal.transpose(),
        whole,
        -T::ONE,
        Par::Seq,
    );
    matmul(
        below,
        accum,
        of_below,
        of_diagonal.transpose(),
        -T::ONE,
        Par::Seq,
    );
}

/// x ← L⁻¹x for the k pivots of a panel, and `below` −= L_below x.
#[inline(always)]
pub(crate) fn forward<T: Real>(panel: &[T], m: usize, k: usize, x: &mut [T], below: &mut [T]) {
    for (j, column) in panel.chunks_exact(m).take(k).enumerate() {
        let x_j = x[j] / column[j];
        x[j] = x_j;
        for (x, l) in x[j + 1..k].iter_mut().zip(&column[j + 1..k]) {
            *x -= *l * x_j;
        }
        for (x, l) in below.iter_mut().zip(&column[k..]) {
            *x -= *l * x_j;
        }
    }
}

/// x ← L⁻ᵀ(x − L_belowᵀ below) for the k pivots of a panel.
#[inline(always)]
pub(crate) fn backward<T: Real>(panel: &[T], m: usize, k: usize, x: &mut [T], below: &[T]) {
    for (j, column) in panel.chunks_exact(m).enumerate().take(k).rev() {
        let own = dot(&x[j + 1..k], &column[j + 1..k]);
        x[j] = (x[j] - own - dot(below, &column[k..])) / column[j];
    }
}

/// Σ a_i b_i in eight independent sums.
#[inline(always)]
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut lanes = [T::ZERO; 8];
    let (a8, a_rest) = a.as_chunks::<8>();
    let (b8, b_rest) = b.as_chunks::<8>();
    for (a, b) in a8.iter().zip(b8) {
        for l in 0..8 {
            lanes[l] += a[l] * b[l];
        }
    }
    let mut rest = T::ZERO;
    for (a, b) in a_rest.iter().zip(b_rest) {
        rest += *a * *b;
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (b + f)) + ((c + g) + (d + h)) + rest
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use pulp::WithSimd;

    use super::*;

    #[track_caller]
    fn check(m: usize, k: usize) {
        let root = DMatrix::from_fn(m, m, |i, j| ((i * 5 + j * 11) as f64).sin());
        let a = &root * root.transpose() + DMatrix::identity(m, m);
        let mut panel = a.columns(0, k).clone_owned().as_slice().to_vec();
        let mut rest = DMatrix::from_element(m - k, m - k, f64::NAN);
        eliminate(&mut panel, rest.as_mut_slice(), m, k).expect("SPD");

        let pivots = a.view((0, 0), (k, k)).clone_owned();
        let border = a.view((k, 0), (m - k, k)).clone_owned();
        let inverse = pivots.clone().try_inverse().expect("SPD");
        let explained = &border * &inverse * border.transpose();
        let difference = (rest + explained).lower_triangle();
        assert!(difference.norm() < 1e-10 * a.norm(), "{m} {k}");

        // L Lᵀx = a's columns: forward and backward undo it.
        let x: Vec<f64> = (0..m).map(|i| (i as f64).cos()).collect();
        let below = &x[k..];
        let mut y = &pivots * DMatrix::from_column_slice(k, 1, &x[..k])
            + border.transpose() * DMatrix::from_column_slice(m - k, 1, below);
        let mut unused = vec![0.0; m - k];
        forward(&panel, m, k, y.as_mut_slice(), &mut unused);
        backward(&panel, m, k, y.as_mut_slice(), below);
        for i in 0..k {
            assert!((y[i] - x[i]).abs() < 1e-9, "{m} {k}");
        }
    }

    #[test]
    fn a_front_is_reduced_to_its_schur_complement() {
        let sizes = [(1, 1), (3, 3), (6, 6), (12, 6), (13, 5), (40, 17), (30, 30)];
        let (k, below) = BLOCKED_MIN;
        let about = [(k + below, k), (k + below - 1, k), (k + below + 7, k + 5)];
        for (m, k) in sizes.into_iter().chain(about) {
            check(m, k);
        }
    }

    #[test]
    fn every_small_front_is_reduced_in_both_precisions_on_any_processor() {
        fn relative_error<T: Real + Into<f64>>(
            of: impl Fn(Strips<'_, T>),
            m: usize,
            k: usize,
        ) -> f64 {
            let root = DMatrix::from_fn(m, m, |i, j| ((i * 5 + j * 11) as f64).sin());
            let a = &root * root.transpose() + DMatrix::identity(m, m);
            let numbers = |part: DMatrix<f64>| part.iter().map(|x| T::of(*x)).collect::<Vec<T>>();
            let mut panel = numbers(a.columns(0, k).into());
            let mut rest = vec![T::of(f64::NAN); (m - k) * (m - k)];
            of(Strips {
                panel: &mut panel,
                rest: &mut rest,
                m,
                first: 0,
                k,
            });
            // L Lᵀ reproduces the columns of the pivots, and `rest` is minus the product of the rows below.
            let l = DMatrix::from_fn(
                m,
                k,
                |i, j| if i < j { 0.0 } else { panel[j * m + i].into() },
            );
            let mut back = &l * l.transpose();
            for (j, i) in (k..m).flat_map(|j| (j..m).map(move |i| (j, i))) {
                back[(i, j)] += rest[(j - k) * (m - k) + i - k].into();
            }
            let columns_of_pivots = a.columns(0, k);
            back.columns_mut(0, k)
                .zip_apply(&columns_of_pivots, |x, a| *x -= a);
            back.lower_triangle().norm() / a.norm()
        }
        for (m, k) in (1..=26).flat_map(|m| (1..=m).map(move |k| (m, k))) {
            let widest = |strips: Strips<'_, f64>| pulp::Arch::new().dispatch(strips).expect("SPD");
            assert!(relative_error(widest, m, k) < 1e-14, "{m} {k}");
            let scalar = |s: Strips<'_, f64>| s.with_simd(pulp::Scalar::new()).expect("SPD");
            assert!(relative_error(scalar, m, k) < 1e-14, "{m} {k}");
            let single = |strips: Strips<'_, f32>| pulp::Arch::new().dispatch(strips).expect("SPD");
            assert!(relative_error(single, m, k) < 1e-6, "{m} {k}");
        }
    }

    #[test]
    fn blocked_and_small_kernels_agree_with_the_schur_complement() {
        check(BLOCKED_PIVOTS_MIN + 30, BLOCKED_PIVOTS_MIN - 1);
        check(BLOCKED_PIVOTS_MIN + 30, BLOCKED_PIVOTS_MIN);
        // Products of several groups of columns, within the pivots and right of them.
        check(7 * BLOCK + 5, 3 * BLOCK + 3);
        check(7 * BLOCK + 5, BLOCK);
    }

    #[test]
    fn the_first_bad_pivot_is_reported() {
        for (n, bad) in [(9, 7), (3 * BLOCK, 2 * BLOCK + 8)] {
            let mut a = DMatrix::<f64>::identity(n, n);
            a[(bad, bad)] = -1.0;
            assert_eq!(eliminate(a.as_mut_slice(), &mut [], n, n), Err(bad));
        }
    }
}
