//! LDLᵀ factors of the matrix of a rod, in O(n): the band four columns at a time, then the border of a closed rod.

use super::{BORDER, REACH, RodMatrix, STRIDE};

/// Values of the four columns of a node.
const BLOCK: usize = 4 * STRIDE;

/// LDLᵀ of a [`RodMatrix`], without pivoting.
#[derive(Clone, Debug, Default)]
pub(crate) struct RodFactor {
    n: usize,
    n_band: usize,
    /// Unit lower band by columns, with 1/d on the diagonal, padded to blocks of four columns.
    band: Vec<f64>,
    /// L⁻¹ of the border's rows, column by column.
    border: Vec<[f64; BORDER]>,
    /// LDLᵀ of the border's Schur complement, row-major, 1/d on the diagonal.
    corner: [[f64; BORDER]; BORDER],
}

/// What to do with a pivot that is not positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pivots {
    /// Stop: the matrix is not positive definite.
    Positive,
    /// Count it: by Sylvester's law of inertia there are as many negative eigenvalues.
    Counted,
}

/// [`RodFactor::factor`], dispatched to the widest SIMD instructions of the processor. A closure would not be compiled for
/// them.
struct Factoring<'a>(&'a mut RodFactor, &'a RodMatrix, Pivots);

impl pulp::WithSimd for Factoring<'_> {
    type Output = Result<usize, usize>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Self::Output {
        self.0.factor_here(self.1, self.2)
    }
}

/// [`RodFactor::solve`], likewise.
struct Solving<'a>(&'a RodFactor, &'a mut [f64]);

impl pulp::WithSimd for Solving<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.0.solve_here(self.1);
    }
}

impl RodFactor {
    /// Factors `a`; returns the number of negative pivots, or the first row whose pivot is not positive.
    pub(crate) fn factor(&mut self, a: &RodMatrix, pivots: Pivots) -> Result<usize, usize> {
        // The order of operations, hence every bit, does not depend on the width of the registers.
        pulp::Arch::new().dispatch(Factoring(self, a, pivots))
    }

    #[inline(always)]
    fn factor_here(&mut self, a: &RodMatrix, pivots: Pivots) -> Result<usize, usize> {
        (self.n, self.n_band) = (a.n, a.n_band);
        self.band.resize(STRIDE * 4 * a.n_band.div_ceil(4), 0.0);
        let (sources, last) = a.values[..STRIDE * a.n_band].as_chunks::<BLOCK>();
        let (blocks, _) = self.band.as_chunks_mut::<BLOCK>();
        let mut negative = 0;
        let (mut pending, mut next) = (&mut [[0.0; 8]; 8], &mut [[0.0; 8]; 8]);
        for (i, (block, source)) in blocks.iter_mut().zip(sources).enumerate() {
            negative +=
                eliminate(source, block, pending, next, pivots).map_err(|row| 4 * i + row)?;
            std::mem::swap(&mut pending, &mut next);
        }
        if !last.is_empty() {
            // Padded with the identity.
            let mut source = [0.0; BLOCK];
            source[..last.len()].copy_from_slice(last);
            for column in source[last.len()..].chunks_exact_mut(STRIDE) {
                column[0] = 1.0;
            }
            let i = sources.len();
            negative += eliminate(&source, &mut blocks[i], pending, next, pivots)
                .map_err(|row| 4 * i + row)?;
        }
        let n_border = a.n - a.n_band;
        if n_border > 0 {
            negative += self.factor_border(a, pivots)?;
        }
        Ok(negative)
    }

    #[inline(always)]
    fn factor_border(&mut self, a: &RodMatrix, pivots: Pivots) -> Result<usize, usize> {
        let (n, n_band) = (a.n, a.n_band);
        let (rows, border) = (a.border(), &mut self.border);
        border.resize(n_band, [0.0; BORDER]);
        for (j, column) in border.iter_mut().enumerate() {
            for r in 0..BORDER {
                column[r] = rows[r * n + j];
            }
        }
        for r in 0..BORDER {
            for c in 0..BORDER {
                let (row, column) = (r.max(c), r.min(c));
                self.corner[r][c] = rows[row * n + n_band + column];
            }
        }
        // All rows of the border at once, as lanes; the corner becomes the Schur complement.
        let mut pending = [[0.0; BORDER]; STRIDE];
        for (block, columns) in self.band.chunks_exact(BLOCK).zip(border.chunks_mut(4)) {
            for c in 0..columns.len() {
                let mut y = columns[c];
                for k in 0..BORDER {
                    y[k] += pending[c][k];
                }
                columns[c] = y;
                let column = &block[STRIDE * c..STRIDE * (c + 1)];
                for r in c + 1..REACH {
                    for k in 0..BORDER {
                        pending[r][k] -= column[r - c] * y[k];
                    }
                }
                for r in 0..BORDER {
                    let scaled = y[r] * column[0];
                    for k in 0..BORDER {
                        self.corner[r][k] -= scaled * y[k];
                    }
                }
            }
            pending.copy_within(4.., 0);
            pending[STRIDE - 4..].fill([0.0; BORDER]);
        }
        let mut negative = 0;
        for j in 0..BORDER {
            let d = self.corner[j][j];
            if pivots == Pivots::Positive && (d.is_nan() || d <= 0.0) {
                return Err(n_band + j);
            }
            negative += usize::from(d < 0.0);
            let inverse = 1.0 / d;
            for r in j + 1..BORDER {
                let l = self.corner[r][j] * inverse;
                for c in j + 1..=r {
                    let above = self.corner[c][j];
                    self.corner[r][c] -= l * above;
                }
            }
            for r in j + 1..BORDER {
                self.corner[r][j] *= inverse;
            }
            self.corner[j][j] = inverse;
        }
        Ok(negative)
    }

    /// x = L⁻¹x for the band.
    #[inline(always)]
    fn solve_lower(&self, x: &mut [f64]) {
        // Updates of the next rows by the columns so far.
        let mut pending = [0.0; STRIDE];
        for (block, x) in self.band.chunks_exact(BLOCK).zip(x.chunks_mut(4)) {
            for (x, pending) in x.iter_mut().zip(&pending) {
                *x += pending;
            }
            let mut y = [0.0; 4];
            y[..x.len()].copy_from_slice(x);
            for c in 0..4 {
                let column = &block[STRIDE * c..STRIDE * (c + 1)];
                for r in c + 1..4 {
                    y[r] -= column[r - c] * y[c];
                }
                for r in 4..REACH {
                    pending[r] -= column[r - c] * y[c];
                }
            }
            x.copy_from_slice(&y[..x.len()]);
            pending.copy_within(4.., 0);
            pending[STRIDE - 4..].fill(0.0);
        }
    }

    /// x = L⁻ᵀx for the band.
    #[inline(always)]
    fn solve_upper(&self, x: &mut [f64]) {
        // The solution below the current block.
        let mut below = [0.0; REACH - 4];
        let (blocks, _) = self.band.as_chunks::<BLOCK>();
        for (block, x) in blocks.iter().zip(x.chunks_mut(4)).rev() {
            let mut y = [0.0; 4];
            y[..x.len()].copy_from_slice(x);
            // Four independent sums; only the 4×4 triangle is sequential.
            for (r, below) in below.iter().enumerate() {
                for c in 0..4 {
                    y[c] -= block[STRIDE * c + r + 4 - c] * below;
                }
            }
            for c in (0..3).rev() {
                for r in c + 1..4 {
                    y[c] -= block[STRIDE * c + r - c] * y[r];
                }
            }
            x.copy_from_slice(&y[..x.len()]);
            below.copy_within(..REACH - 8, 4);
            below[..4].copy_from_slice(&y);
        }
    }

    /// x = A⁻¹x.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        pulp::Arch::new().dispatch(Solving(self, x));
    }

    #[inline(always)]
    fn solve_here(&self, x: &mut [f64]) {
        let n_band = self.n_band;
        let (inner, outer) = x.split_at_mut(n_band);
        self.solve_lower(inner);
        for (column, x) in self.band.chunks_exact(STRIDE).zip(inner.iter_mut()) {
            *x *= column[0];
        }
        if !outer.is_empty() {
            let mut sums = [0.0; BORDER];
            for (column, y) in self.border.iter().zip(inner.iter()) {
                for k in 0..BORDER {
                    sums[k] += column[k] * y;
                }
            }
            for (x, sum) in outer.iter_mut().zip(sums) {
                *x -= sum;
            }
            for r in 0..BORDER {
                for c in 0..r {
                    outer[r] -= self.corner[r][c] * outer[c];
                }
            }
            for r in 0..BORDER {
                outer[r] *= self.corner[r][r];
            }
            for r in (0..BORDER).rev() {
                for below in r + 1..BORDER {
                    outer[r] -= self.corner[below][r] * outer[below];
                }
            }
            // `inner` holds D⁻¹L⁻¹b; the border contributes −D⁻¹ Wᵀ x.
            let columns = self.band.chunks_exact(STRIDE).zip(&self.border);
            for (y, (column, border)) in inner.iter_mut().zip(columns) {
                let product: f64 = border.iter().zip(outer.iter()).map(|(w, x)| w * x).sum();
                *y -= column[0] * product;
            }
        }
        self.solve_upper(inner);
    }
}

/// Updates by the columns so far of the next eight columns, first eight rows.
type Pending = [[f64; 8]; 8];

/// Eliminates the four columns of one node. `source` holds them; `block` receives L with 1/d. `pending` holds the updates
/// by earlier columns of this block and the next one; `next` becomes the same for the next block.
///
/// All four columns end at row 10 of the block, also after fill-in. Later columns are updated four products at a time, with
/// one load and store.
#[inline(always)]
fn eliminate(
    source: &[f64; BLOCK],
    block: &mut [f64; BLOCK],
    pending: &Pending,
    next: &mut Pending,
    pivots: Pivots,
) -> Result<usize, usize> {
    let mut columns = [[0.0; STRIDE]; 4];
    for c in 0..4 {
        columns[c][..8].copy_from_slice(&pending[c]);
        for r in c..REACH {
            columns[c][r] += source[STRIDE * c + r - c];
        }
    }
    let mut scaled = [[0.0; STRIDE]; 4];
    let mut negative = 0;
    for k in 0..4 {
        let column = columns[k];
        let d = column[k];
        match pivots {
            Pivots::Positive if d.is_nan() || d <= 0.0 => return Err(k),
            _ => negative += usize::from(d < 0.0),
        }
        let inverse = 1.0 / d;
        for r in 0..STRIDE {
            scaled[k][r] = column[r] * inverse;
        }
        for c in k + 1..4 {
            for r in 0..STRIDE {
                columns[c][r] -= scaled[k][c] * column[r];
            }
        }
        block[STRIDE * k] = inverse;
        block[STRIDE * k + 1..STRIDE * k + REACH - k].copy_from_slice(&scaled[k][k + 1..REACH]);
    }
    for c in 0..8 {
        // Rows above the diagonal are not used.
        let mut sum = [0.0; 8];
        if c < 4 {
            sum[..4].copy_from_slice(&pending[c + 4][4..]);
        }
        for k in 0..4 {
            let factor = scaled[k][c + 4];
            for r in 0..8 {
                sum[r] -= factor * columns[k][r + 4];
            }
        }
        next[c] = sum;
    }
    Ok(negative)
}
