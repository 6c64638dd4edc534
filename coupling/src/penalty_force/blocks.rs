//! Dense blocks on the diagonal of a matrix over all velocities: the metric D = LLᵀ of the norm, and the preconditioner.

use pliant_contact_sap::BodyStep;

/// Square blocks that cover every velocity once.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    list: Vec<Block>,
    /// Column-major, one block after the other.
    values: Vec<f64>,
    block_of: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    first: usize,
    size: usize,
    offset: usize,
}

impl Blocks {
    /// The diagonal blocks of A of all bodies.
    pub(super) fn gather(&mut self, steps: &[Box<dyn BodyStep>], offsets: &[usize]) {
        self.list.clear();
        self.values.clear();
        self.block_of.clear();
        for (step, offset) in steps.iter().zip(offsets) {
            let dynamics = step.dynamics();
            dynamics
                .diagonal_blocks()
                .for_each(dynamics.n_dofs(), |block| {
                    if block.size == 0 {
                        return; // a body that is held as a whole
                    }
                    self.block_of
                        .extend((0..block.size).map(|_| self.list.len()));
                    self.list.push(Block {
                        first: offset + block.first_dof,
                        size: block.size,
                        offset: self.values.len(),
                    });
                    self.values.extend_from_slice(block.values);
                });
        }
    }

    /// Whether two velocities are in one block.
    pub(super) fn is_one_block(&self, row: usize, column: usize) -> bool {
        self.block_of[row] == self.block_of[column]
    }

    /// Adds to an entry, if both velocities are in one block.
    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        if self.is_one_block(row, column) {
            let block = self.list[self.block_of[row]];
            self.values
                [block.offset + (row - block.first) + block.size * (column - block.first)] += value;
        }
    }

    /// Replaces every block by its Cholesky factor L; false if one is not positive definite.
    pub(super) fn factor_cholesky(&mut self) -> bool {
        self.list.iter().all(|block| {
            let n = block.size;
            let a = &mut self.values[block.offset..block.offset + n * n];
            for j in 0..n {
                for k in 0..j {
                    let l_jk = a[j + n * k];
                    for i in j..n {
                        a[i + n * j] -= a[i + n * k] * l_jk;
                    }
                }
                let pivot = a[j + n * j];
                if !(pivot > 0.0 && pivot.is_finite()) {
                    return false;
                }
                let root = pivot.sqrt();
                (j..n).for_each(|i| a[i + n * j] /= root);
            }
            true
        })
    }

    /// x ← L⁻¹x.
    pub(super) fn solve_lower(&self, x: &mut [f64]) {
        for block in &self.list {
            let n = block.size;
            let l = &self.values[block.offset..block.offset + n * n];
            let x = &mut x[block.first..block.first + n];
            for j in 0..n {
                x[j] /= l[j + n * j];
                for i in j + 1..n {
                    x[i] -= l[i + n * j] * x[j];
                }
            }
        }
    }

    /// x ← L x.
    pub(super) fn multiply_lower(&self, x: &mut [f64]) {
        for block in &self.list {
            let n = block.size;
            let l = &self.values[block.offset..block.offset + n * n];
            let x = &mut x[block.first..block.first + n];
            for i in (0..n).rev() {
                x[i] = (0..=i).map(|j| l[i + n * j] * x[j]).sum();
            }
        }
    }

    /// x ← Lᵀx.
    pub(super) fn multiply_transposed(&self, x: &mut [f64]) {
        for block in &self.list {
            let n = block.size;
            let l = &self.values[block.offset..block.offset + n * n];
            let x = &mut x[block.first..block.first + n];
            for j in 0..n {
                x[j] = (j..n).map(|i| l[i + n * j] * x[i]).sum();
            }
        }
    }

    /// Replaces every block by its inverse, by elimination with partial pivoting; a singular one by that of its diagonal.
    pub(super) fn invert(&mut self) {
        let mut work = Vec::new();
        for block in &self.list {
            let n = block.size;
            let a = &mut self.values[block.offset..block.offset + n * n];
            work.clear();
            work.extend_from_slice(a);
            if !invert_in_place(&mut work, a, n) {
                let diagonal: Vec<f64> = (0..n).map(|i| work[i + n * i]).collect();
                a.fill(0.0);
                for (i, d) in diagonal.iter().enumerate() {
                    a[i + n * i] = if d.abs() > 0.0 { 1.0 / d } else { 1.0 };
                }
            }
        }
    }

    /// x ← (blocks) x.
    pub(super) fn multiply(&self, x: &mut [f64], scratch: &mut Vec<f64>) {
        for block in &self.list {
            let n = block.size;
            let a = &self.values[block.offset..block.offset + n * n];
            let x = &mut x[block.first..block.first + n];
            scratch.clear();
            scratch.extend_from_slice(x);
            x.fill(0.0);
            for (column, s) in a.chunks_exact(n).zip(scratch.iter()) {
                x.iter_mut().zip(column).for_each(|(x, a)| *x += a * s);
            }
        }
    }
}

/// Overwrites `inverse` with that of `a`, n×n column-major; `a` is destroyed. False, with `a` restored, if it is singular.
fn invert_in_place(a: &mut [f64], inverse: &mut [f64], n: usize) -> bool {
    let before = a.to_vec();
    inverse.fill(0.0);
    (0..n).for_each(|i| inverse[i + n * i] = 1.0);
    for j in 0..n {
        let pivot = (j..n).fold(j, |best, i| {
            if a[i + n * j].abs() > a[best + n * j].abs() {
                i
            } else {
                best
            }
        });
        let value = a[pivot + n * j];
        if !(value.abs() > 0.0 && value.is_finite()) {
            a.copy_from_slice(&before);
            return false;
        }
        for k in 0..n {
            a.swap(j + n * k, pivot + n * k);
            inverse.swap(j + n * k, pivot + n * k);
        }
        for k in 0..n {
            a[j + n * k] /= value;
            inverse[j + n * k] /= value;
        }
        for i in (0..n).filter(|&i| i != j) {
            let factor = a[i + n * j];
            for k in 0..n {
                a[i + n * k] -= factor * a[j + n * k];
                inverse[i + n * k] -= factor * inverse[j + n * k];
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;

    fn blocks(matrices: &[DMatrix<f64>]) -> Blocks {
        let mut out = Blocks::default();
        for (k, matrix) in matrices.iter().enumerate() {
            let n = matrix.nrows();
            out.list.push(Block {
                first: out.block_of.len(),
                size: n,
                offset: out.values.len(),
            });
            out.values.extend_from_slice(matrix.as_slice());
            out.block_of.extend((0..n).map(|_| k));
        }
        out
    }

    fn sample(n: usize, seed: f64) -> DMatrix<f64> {
        DMatrix::from_fn(n, n, |i, j| {
            (seed + 3.7 * i as f64 + 1.3 * (j * j) as f64 + 0.9 * (i * j) as f64).sin()
        })
    }

    #[test]
    fn inverses_and_factors_are_those_of_dense_matrices() {
        let general = [sample(3, 0.2), sample(6, 1.1)];
        let definite = general
            .clone()
            .map(|m| &m * m.transpose() + DMatrix::identity(m.nrows(), m.nrows()));
        let x = DVector::from_fn(9, |i, _| (1.7 * i as f64).cos());

        let mut inverse = blocks(&general);
        inverse.invert();
        let mut y = x.as_slice().to_vec();
        inverse.multiply(&mut y, &mut Vec::new());
        let back = [&general[0] * DVector::from_column_slice(&y[..3])];
        assert!((&back[0] - x.rows(0, 3)).norm() < 1e-12);
        let second = &general[1] * DVector::from_column_slice(&y[3..]);
        assert!((second - x.rows(3, 6)).norm() < 1e-10);

        let mut lower = blocks(&definite);
        assert!(lower.factor_cholesky());
        // |Lᵀx|² = xᵀDx.
        let mut y = x.as_slice().to_vec();
        lower.multiply_transposed(&mut y);
        let [a, b] = [(0, 3), (3, 6)].map(|(first, n)| x.rows(first, n).into_owned());
        let expected = a.dot(&(&definite[0] * &a)) + b.dot(&(&definite[1] * &b));
        let found: f64 = y.iter().map(|y| y * y).sum();
        assert!((found - expected).abs() < 1e-12 * expected);
        let mut y = x.as_slice().to_vec();
        lower.solve_lower(&mut y);
        // |L⁻¹x|² = xᵀD⁻¹x.
        let expected = [(0, 3), (3, 6)]
            .iter()
            .zip(&definite)
            .map(|(&(first, n), d)| {
                let part = x.rows(first, n).into_owned();
                part.dot(&d.clone().lu().solve(&part).unwrap())
            });
        let squared: f64 = y.iter().map(|y| y * y).sum();
        assert!((squared - expected.sum::<f64>()).abs() < 1e-12 * squared);
        lower.multiply_lower(&mut y);
        assert!((DVector::from_vec(y) - x).norm() < 1e-13);
    }

    #[test]
    fn a_matrix_that_is_not_definite_is_refused() {
        assert!(!blocks(&[DMatrix::from_diagonal_element(2, 2, -1.0)]).factor_cholesky());
    }
}
