//! The dense kernel of a factorisation: eliminates the first columns of a symmetric front.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

use crate::hessian::Real;

/// Fronts with at least this many pivots go to faer's blocked kernels; below, strips are faster (measured: four times at 72,
/// equal near 250).
const BLOCKED_PIVOTS_MIN: usize = 256;

/// With at least this many pivots, and rows below them, what is left is updated by faer's product: strips would stream it through
/// memory once for every six pivots.
const BLOCKED_UPDATE_MIN: (usize, usize) = (32, 128);

/// Columns that are eliminated at once: as many as the registers hold.
const STRIP: usize = 6;

/// Memory of the blocked kernels.
pub(crate) struct FrontMemory {
    buffer: MemBuffer,
    pivots: usize,
}

impl Default for FrontMemory {
    fn default() -> Self {
        Self {
            buffer: MemBuffer::new(faer::dyn_stack::StackReq::EMPTY),
            pivots: 0,
        }
    }
}

impl FrontMemory {
    /// Makes room for fronts of up to this many pivots.
    pub(crate) fn reserve<T: Real>(&mut self, pivots: usize) {
        if pivots >= BLOCKED_PIVOTS_MIN && pivots > self.pivots {
            self.buffer = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<T>(
                pivots,
                Par::Seq,
                Default::default(),
            ));
            self.pivots = pivots;
        }
    }
}

/// Eliminates `k` pivots of an m×m front: `panel` is its first k columns, m×k, and becomes those of L; `rest` is what lies
/// right of them, (m−k)×(m−k), and becomes the Schur complement. Both column-major, lower triangles.
///
/// # Errors
/// The first pivot that is not positive.
pub(crate) fn eliminate<T: Real>(
    panel: &mut [T],
    rest: &mut [T],
    m: usize,
    k: usize,
    memory: &mut FrontMemory,
) -> Result<(), usize> {
    if k >= BLOCKED_PIVOTS_MIN {
        return eliminate_blocked(panel, rest, m, k, memory);
    }
    if k >= BLOCKED_UPDATE_MIN.0 && m - k >= BLOCKED_UPDATE_MIN.1 {
        pulp::Arch::new().dispatch(Strips {
            panel: &mut *panel,
            rest: &mut [],
            m,
            k,
        })?;
        let below = MatMut::from_column_major_slice_mut(panel, m, k)
            .split_at_row_mut(k)
            .1;
        update(below.as_ref(), rest);
        return Ok(());
    }
    pulp::Arch::new().dispatch(Strips { panel, rest, m, k })
}

/// rest −= L_below L_belowᵀ, lower triangles.
fn update<T: Real>(below: MatRef<'_, T>, rest: &mut [T]) {
    let n = below.nrows();
    triangular::matmul(
        MatMut::from_column_major_slice_mut(rest, n, n),
        BlockStructure::TriangularLower,
        Accum::Add,
        below,
        BlockStructure::Rectangular,
        below.transpose(),
        BlockStructure::Rectangular,
        -T::ONE,
        Par::Seq,
    );
}

/// [`eliminate_in_strips`], compiled for the widest registers that the processor has.
struct Strips<'a, T> {
    panel: &'a mut [T],
    rest: &'a mut [T],
    m: usize,
    k: usize,
}

impl<T: Real> pulp::WithSimd for Strips<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Self::Output {
        eliminate_in_strips(self.panel, self.rest, self.m, self.k)
    }
}

fn eliminate_blocked<T: Real>(
    panel: &mut [T],
    rest: &mut [T],
    m: usize,
    k: usize,
    memory: &mut FrontMemory,
) -> Result<(), usize> {
    let panel = MatMut::from_column_major_slice_mut(panel, m, k);
    let (mut top, mut below) = panel.split_at_row_mut(k);
    let factor = llt::factor::cholesky_in_place(
        top.as_mut(),
        Default::default(),
        Par::Seq,
        MemStack::new(&mut memory.buffer),
        Default::default(),
    );
    if let Err(llt::factor::LltError::NonPositivePivot { index }) = factor {
        return Err(index);
    }
    if m > k {
        solve_lower_triangular_in_place(top.as_ref(), below.as_mut().transpose_mut(), Par::Seq);
        update(below.as_ref(), rest);
    }
    Ok(())
}

/// An empty `rest` is left to somebody else.
#[inline(always)]
fn eliminate_in_strips<T: Real>(
    panel: &mut [T],
    rest: &mut [T],
    m: usize,
    k: usize,
) -> Result<(), usize> {
    let mut first = 0;
    let n_rest = if rest.is_empty() { 0 } else { m - k };
    while first < k {
        let width = STRIP.min(k - first);
        let (strip, right) = panel[first * m..].split_at_mut(width * m);
        factor_strip(strip, m, first, width).map_err(|j| first + j)?;
        let done = first + width;
        for (t, column) in right.chunks_exact_mut(m).take(k - done).enumerate() {
            subtract_strip(strip, m, width, done + t, &mut column[done + t..]);
        }
        if n_rest > 0 {
            for (t, column) in rest.chunks_exact_mut(n_rest).enumerate() {
                subtract_strip(strip, m, width, k + t, &mut column[t..]);
            }
        }
        first = done;
    }
    Ok(())
}

/// Factors the columns of a strip, whose diagonal begins at row `first`.
#[inline(always)]
fn factor_strip<T: Real>(
    strip: &mut [T],
    m: usize,
    first: usize,
    width: usize,
) -> Result<(), usize> {
    for j in 0..width {
        let (head, tail) = strip[j * m..].split_at_mut(m);
        let pivot = head[first + j];
        if !pivot.is_pivot() {
            return Err(j);
        }
        let l_jj = pivot.root();
        let by_l_jj = T::ONE / l_jj;
        head[first + j] = l_jj;
        let below = &mut head[first + j + 1..];
        for x in below.iter_mut() {
            *x *= by_l_jj;
        }
        for (t, column) in tail.chunks_exact_mut(m).take(width - j - 1).enumerate() {
            let l = below[t];
            for (x, b) in column[first + j + 1 + t..].iter_mut().zip(&below[t..]) {
                *x -= *b * l;
            }
        }
    }
    Ok(())
}

/// column −= L_strip L_strip[row, :]ᵀ for the rows from `row` down.
#[inline(always)]
fn subtract_strip<T: Real>(strip: &[T], m: usize, width: usize, row: usize, column: &mut [T]) {
    let n = column.len();
    let at = |l: usize| &strip[l * m + row..][..n];
    if width == STRIP {
        let [a, b, c, d, e, f] = [at(0), at(1), at(2), at(3), at(4), at(5)];
        let [a0, b0, c0, d0, e0, f0] = [a[0], b[0], c[0], d[0], e[0], f[0]];
        for i in 0..n {
            let low = a[i] * a0 + b[i] * b0 + c[i] * c0;
            let high = d[i] * d0 + e[i] * e0 + f[i] * f0;
            column[i] -= low + high;
        }
        return;
    }
    let mut l = 0;
    while l + 3 <= width {
        let [a, b, c] = [at(l), at(l + 1), at(l + 2)];
        let [a0, b0, c0] = [a[0], b[0], c[0]];
        for i in 0..n {
            column[i] -= a[i] * a0 + b[i] * b0 + c[i] * c0;
        }
        l += 3;
    }
    while l < width {
        let a = at(l);
        let a0 = a[0];
        for i in 0..n {
            column[i] -= a[i] * a0;
        }
        l += 1;
    }
}

/// x ← L⁻¹x for the k pivots of a panel, and `below` −= what they explain of the rows under them.
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

/// Σ a_i b_i in eight lanes, so that it does not wait for each addition.
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

    use super::*;

    #[track_caller]
    fn check(m: usize, k: usize) {
        let root = DMatrix::from_fn(m, m, |i, j| ((i * 5 + j * 11) as f64).sin());
        let a = &root * root.transpose() + DMatrix::identity(m, m);
        let mut panel = a.columns(0, k).clone_owned().as_slice().to_vec();
        let mut rest = a.view((k, k), (m - k, m - k)).clone_owned();
        let mut memory = FrontMemory::default();
        memory.reserve::<f64>(k);
        eliminate(&mut panel, rest.as_mut_slice(), m, k, &mut memory).expect("SPD");

        let pivots = a.view((0, 0), (k, k)).clone_owned();
        let border = a.view((k, 0), (m - k, k)).clone_owned();
        let inverse = pivots.clone().try_inverse().expect("SPD");
        let schur = a.view((k, k), (m - k, m - k)) - &border * &inverse * border.transpose();
        let difference = (rest - schur).lower_triangle();
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
        let (k, below) = BLOCKED_UPDATE_MIN;
        let about = [(k + below, k), (k + below - 1, k), (k + below + 7, k + 5)];
        for (m, k) in sizes.into_iter().chain(about) {
            check(m, k);
        }
    }

    #[test]
    fn blocked_and_small_kernels_agree_with_the_schur_complement() {
        check(BLOCKED_PIVOTS_MIN + 30, BLOCKED_PIVOTS_MIN - 1);
        check(BLOCKED_PIVOTS_MIN + 30, BLOCKED_PIVOTS_MIN);
    }

    #[test]
    fn the_first_bad_pivot_is_named() {
        let mut a = DMatrix::<f64>::identity(9, 9);
        a[(7, 7)] = -1.0;
        let mut memory = FrontMemory::default();
        let found = eliminate(a.as_mut_slice(), &mut [], 9, 9, &mut memory);
        assert_eq!(found, Err(7));
    }
}
