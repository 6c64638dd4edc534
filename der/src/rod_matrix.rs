//! The matrix of a rod: a band of half-width 10, with a border of eight rows for closed rods.
//!
//! Unknowns are ordered (x₀, γ⁰, x₁, γ¹, …). A joint couples the eleven consecutive unknowns (x, γ, x, γ, x), so column c
//! of node i = c/4 reaches down to row 4i + 10. In a closed rod the last two nodes and their edges form the border.

mod factor;

pub(crate) use factor::{Pivots, RodFactor};

/// Rows below the diagonal that a column reaches.
const HALF_BAND: usize = 10;
/// Stored values of a column: the diagonal, ten below it, one for alignment.
const STRIDE: usize = 12;
/// Number of rows, from the node's first, in which its four columns have entries.
pub(crate) const REACH: usize = HALF_BAND + 1;
/// Unknowns of the border of a closed rod: two nodes and their edges.
const BORDER: usize = 8;

/// A symmetric matrix on the unknowns of a rod.
#[derive(Clone, Debug, Default)]
pub(crate) struct RodMatrix {
    n: usize,
    n_band: usize,
    /// Lower band by columns, `STRIDE` values each; then the border by rows of n values each.
    values: Vec<f64>,
}

/// [`RodMatrix::apply`], dispatched to the widest SIMD instructions of the processor.
struct Applying<'a>(&'a RodMatrix, &'a [f64], &'a mut [f64]);

impl pulp::WithSimd for Applying<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.0.apply_here(self.1, self.2);
    }
}

impl RodMatrix {
    pub(crate) fn open(n: usize) -> Self {
        Self {
            n,
            n_band: n,
            values: vec![0.0; STRIDE * n],
        }
    }

    pub(crate) fn closed(n: usize) -> Self {
        let n_band = n - BORDER;
        Self {
            n,
            n_band,
            values: vec![0.0; STRIDE * n_band + BORDER * n],
        }
    }

    /// Unknowns within the band: all of an open rod.
    pub(crate) fn n_band(&self) -> usize {
        self.n_band
    }

    pub(crate) fn n(&self) -> usize {
        self.n
    }

    fn border(&self) -> &[f64] {
        &self.values[STRIDE * self.n_band..]
    }

    /// Index in storage of entry (row, column), row ≥ column.
    pub(crate) fn index(&self, row: usize, column: usize) -> usize {
        debug_assert!(row >= column, "the lower triangle");
        if row < self.n_band {
            debug_assert!(row - column <= HALF_BAND, "within the band");
            STRIDE * column + row - column
        } else {
            STRIDE * self.n_band + (row - self.n_band) * self.n + column
        }
    }

    pub(crate) fn get(&self, row: usize, column: usize) -> f64 {
        self.values[self.index(row.max(column), row.min(column))]
    }

    pub(crate) fn fill(&mut self, value: f64) {
        self.values.fill(value);
    }

    /// Applies `change` to the band's columns from `column` on, and to the border.
    pub(crate) fn map_columns_from(&mut self, column: usize, change: impl Fn(f64) -> f64) {
        let rest = &mut self.values[STRIDE * column..];
        rest.iter_mut().for_each(|value| *value = change(*value));
    }

    /// Adds `scale` times a diagonal matrix.
    pub(crate) fn add_diagonal(&mut self, scale: f64, diagonal: &[f64]) {
        let (inner, outer) = diagonal.split_at(self.n_band);
        for (column, d) in self.values.chunks_exact_mut(STRIDE).zip(inner) {
            column[0] += scale * d;
        }
        for (k, d) in outer.iter().enumerate() {
            let i = self.n_band + k;
            self.add(i, i, scale * d);
        }
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The ten values below the diagonal and the diagonal of a column within the band.
    pub(crate) fn band_column_mut(&mut self, column: usize) -> &mut [f64; STRIDE] {
        let start = STRIDE * column;
        (&mut self.values[start..start + STRIDE])
            .try_into()
            .expect("a column has this many values")
    }

    /// Adds to entry (row, column) and to its transpose.
    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        let (row, column) = (row.max(column), row.min(column));
        let index = self.index(row, column);
        self.values[index] += value;
    }

    /// Calls `each` once for every (row, column) of the lower triangle in the sparsity pattern of a rod.
    pub(crate) fn for_each_coupling(&self, mut each: impl FnMut(usize, usize)) {
        let n = self.n;
        let is_closed = self.n_band < n;
        let mut wrapped = std::collections::BTreeSet::new();
        for column in 0..n {
            let last = 4 * (column / 4) + HALF_BAND;
            for row in column..=last {
                if row < n {
                    each(row, column);
                } else if is_closed {
                    let (a, b) = (row % n, column);
                    // In small closed rods, two unknowns may be coupled in both directions.
                    let near = b <= 4 * (a / 4) + HALF_BAND;
                    if !near {
                        wrapped.insert((b, a));
                    }
                }
            }
        }
        for (row, column) in wrapped {
            each(row, column);
        }
    }

    /// y = A x.
    pub(crate) fn apply(&self, x: &[f64], y: &mut [f64]) {
        pulp::Arch::new().dispatch(Applying(self, x, y));
    }

    #[inline(always)]
    fn apply_here(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        let (band, first) = (
            &self.values[..STRIDE * self.n_band],
            self.apply_blocks(x, y),
        );
        for (j, column) in band.chunks_exact(STRIDE).enumerate().skip(first) {
            let below = HALF_BAND.min(self.n_band - 1 - j);
            let mut sum = column[0] * x[j];
            for k in 1..=below {
                y[j + k] += column[k] * x[j];
                sum += column[k] * x[j + k];
            }
            y[j] += sum;
        }
        // The border reaches the first two nodes and the last two of the band.
        let (head, tail) = (BORDER.min(self.n_band), self.n_band.saturating_sub(BORDER));
        for (b, row) in self.border().chunks_exact(self.n.max(1)).enumerate() {
            let i = self.n_band + b;
            let mut sum = 0.0;
            for j in (0..head).chain(head.max(tail)..i) {
                sum += row[j] * x[j];
                y[j] += row[j] * x[i];
            }
            y[i] += sum + row[i] * x[i];
        }
    }

    /// Products of the columns whose rows all lie within `x`, node by node; returns the first remaining column.
    ///
    /// The four columns of a node, eleven values apart, are its rows with zeros above the diagonal.
    #[inline(always)]
    fn apply_blocks(&self, x: &[f64], y: &mut [f64]) -> usize {
        let (blocks, _) = self.values[..STRIDE * self.n_band].as_chunks::<{ 4 * STRIDE }>();
        let n_blocks = blocks.len().min((self.n + 4).saturating_sub(STRIDE) / 4);
        for (i, block) in blocks[..n_blocks].iter().enumerate() {
            let rows = 4 * i..4 * i + STRIDE;
            let (Some(x), Some(y)) = (
                x[rows.clone()].first_chunk::<STRIDE>(),
                y[rows].first_chunk_mut::<STRIDE>(),
            ) else {
                return 4 * i;
            };
            let mut below = *y;
            let mut across = [0.0; 4];
            for c in 0..4 {
                let mut sums = [0.0; 4];
                for r in 0..STRIDE {
                    let a = block[REACH * c + r];
                    below[r] += a * x[c];
                    sums[r % 4] += a * x[r];
                }
                across[c] = (sums[0] + sums[1]) + (sums[2] + sums[3]) - block[STRIDE * c] * x[c];
            }
            *y = below;
            for c in 0..4 {
                y[c] += across[c];
            }
        }
        4 * n_blocks
    }

    /// Zeroes row and column `i`, and sets the diagonal entry.
    pub(crate) fn decouple(&mut self, i: usize, diagonal: f64) {
        if i < self.n_band {
            self.values[STRIDE * i..STRIDE * (i + 1)].fill(0.0);
            for k in 1..=HALF_BAND.min(i) {
                self.values[STRIDE * (i - k) + k] = 0.0;
            }
            let (start, n) = (STRIDE * self.n_band, self.n);
            for row in self.values[start..].chunks_exact_mut(n) {
                row[i] = 0.0;
            }
        } else {
            let (start, n) = (STRIDE * self.n_band, self.n);
            for (b, row) in self.values[start..].chunks_exact_mut(n).enumerate() {
                if self.n_band + b == i {
                    row.fill(0.0);
                } else {
                    row[i] = 0.0;
                }
            }
        }
        let index = self.index(i, i);
        self.values[index] = diagonal;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn random(mut a: RodMatrix, diagonal: f64) -> (RodMatrix, DMatrix<f64>) {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let n = a.n();
        let mut dense = DMatrix::zeros(n, n);
        let mut couplings = Vec::new();
        a.for_each_coupling(|r, c| couplings.push((r, c)));
        for (r, c) in couplings {
            let value = if r == c {
                diagonal + rng.random_range(0.0..1.0)
            } else {
                rng.random_range(-1.0..1.0)
            };
            a.add(r, c, value);
            dense[(r, c)] = value;
            dense[(c, r)] = value;
        }
        (a, dense)
    }

    #[track_caller]
    fn check(a: RodMatrix) {
        let n = a.n();
        let (a, dense) = random(a, 20.0);
        let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let mut y = vec![0.0; n];
        a.apply(&x, &mut y);
        let expected = &dense * DVector::from_column_slice(&x);
        assert!((DVector::from_column_slice(&y) - expected).norm() < 1e-11);
        let mut factor = RodFactor::default();
        assert_eq!(factor.factor(&a, Pivots::Positive), Ok(0));
        factor.solve(&mut y);
        let error = x
            .iter()
            .zip(&y)
            .map(|(x, y)| (x - y).abs())
            .fold(0.0, f64::max);
        assert!(error < 1e-12, "{error}");
    }

    #[test]
    fn products_and_solutions_agree_with_a_dense_matrix() {
        for n_nodes in [3, 4, 9, 20] {
            check(RodMatrix::open(4 * n_nodes - 1));
            check(RodMatrix::closed(4 * n_nodes));
        }
    }

    #[test]
    fn negative_pivots_count_negative_eigenvalues() {
        for a in [
            RodMatrix::open(39),
            RodMatrix::closed(40),
            RodMatrix::closed(12),
        ] {
            let (a, dense) = random(a, 0.5);
            let eigenvalues = dense.symmetric_eigenvalues();
            let expected = eigenvalues.iter().filter(|x| **x < 0.0).count();
            let mut factor = RodFactor::default();
            assert_eq!(factor.factor(&a, Pivots::Counted), Ok(expected));
            assert!(expected > 0 && factor.factor(&a, Pivots::Positive).is_err());
        }
    }

    #[test]
    fn decoupling_an_unknown_zeroes_its_row_and_column() {
        for a in [RodMatrix::open(39), RodMatrix::closed(40)] {
            let (mut a, mut dense) = random(a, 20.0);
            for i in [0, 17, 38] {
                a.decouple(i, 3.0);
                dense.row_mut(i).fill(0.0);
                dense.column_mut(i).fill(0.0);
                dense[(i, i)] = 3.0;
            }
            let n = a.n();
            let x: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
            let mut y = vec![0.0; n];
            a.apply(&x, &mut y);
            let expected = &dense * DVector::from_column_slice(&x);
            assert!((DVector::from_column_slice(&y) - expected).norm() < 1e-12);
        }
    }
}
