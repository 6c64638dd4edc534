//! Cholesky factors of a sparse matrix that changes its values more often than its pattern (faer's, with the order of approximate minimum degree).
//!
//! The order of elimination depends on the pattern alone and is kept; callers hold the factors, in f64 or in f32 at half the time and memory.

use std::fmt;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::traits::RealField;
use faer::{Conj, MatMut, Par, Side};

/// The order of elimination of a pattern.
///
/// ```
/// use pliant_contact_sap::SparseCholesky;
///
/// // [4 2; 2 3] x = (2, −1).
/// let (starts, rows, values) = ([0, 2, 4], [0, 1, 0, 1], [4.0, 2.0, 2.0, 3.0]);
/// let (mut cholesky, mut factor) = (SparseCholesky::default(), Vec::<f64>::new());
/// cholesky.factorise((&starts, &rows), &values, &mut factor).expect("positive definite");
/// let mut x = [2.0, -1.0];
/// cholesky.solve(&factor, &mut x);
/// assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] + 1.0).abs() < 1e-15);
/// // [4 2; 2 0] has the same pattern, and a negative eigenvalue.
/// assert!(cholesky.factorise((&starts, &rows), &[4.0, 2.0, 2.0, 0.0], &mut factor).is_err());
/// ```
#[derive(Default)]
pub struct SparseCholesky {
    symbolic: Option<SymbolicCholesky<u32>>,
}

/// Precision of a factor.
///
/// ```
/// use pliant_contact_sap::{FactorScalar, NotPositiveDefinite, SparseCholesky};
///
/// /// x of [4 2; 2 3] x = (1, 1) with a factor in precision T; it is (1, 2)/8.
/// fn solve<T: FactorScalar>() -> Result<[T; 2], NotPositiveDefinite> {
///     let (mut cholesky, mut factor) = (SparseCholesky::default(), Vec::new());
///     cholesky.factorise((&[0, 2, 4], &[0, 1, 0, 1]), &[4.0, 2.0, 2.0, 3.0], &mut factor)?;
///     let mut x = [1.0; 2].map(T::of);
///     cholesky.solve(&factor, &mut x);
///     Ok(x)
/// }
/// let error_in_f64 = (solve::<f64>()?[0] - 0.125).abs();
/// let error_in_f32 = (f64::from(solve::<f32>()?[0]) - 0.125).abs();
/// assert!(error_in_f64 < 1e-15 && error_in_f32 < 1e-6);
/// # Ok::<(), NotPositiveDefinite>(())
/// ```
pub trait FactorScalar: RealField + Copy + Default {
    /// `x`, rounded.
    fn of(x: f64) -> Self;
}

impl FactorScalar for f64 {
    fn of(x: f64) -> Self {
        x
    }
}

impl FactorScalar for f32 {
    fn of(x: f64) -> Self {
        x as Self
    }
}

/// A matrix is not positive definite in the precision of its factor.
///
/// ```
/// use pliant_contact_sap::{NotPositiveDefinite, SparseCholesky};
///
/// // [1 2; 2 1] has the eigenvalue −1.
/// let mut factor = Vec::<f64>::new();
/// let refused = SparseCholesky::default().factorise((&[0, 2, 4], &[0, 1, 0, 1]), &[1.0, 2.0, 2.0, 1.0], &mut factor);
/// assert_eq!(refused, Err(NotPositiveDefinite));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is not positive definite")]
pub struct NotPositiveDefinite;

impl fmt::Debug for SparseCholesky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseCholesky").finish_non_exhaustive()
    }
}

impl SparseCholesky {
    /// Discards the order: the pattern has changed.
    pub fn forget_pattern(&mut self) {
        self.symbolic = None;
    }

    /// Writes the factor of a symmetric matrix with both triangles stored: starts of the columns, rows in ascending order, values.
    ///
    /// # Errors
    ///
    /// [`NotPositiveDefinite`].
    pub fn factorise<T: FactorScalar>(
        &mut self,
        (starts, rows): (&[u32], &[u32]),
        values: &[f64],
        factor: &mut Vec<T>,
    ) -> Result<(), NotPositiveDefinite> {
        let n = starts.len() - 1;
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, starts, None, rows);
        let symbolic = match self.symbolic.take() {
            Some(known) => known,
            None => factorize_symbolic_cholesky(
                pattern,
                Side::Lower,
                SymmetricOrdering::Amd,
                CholeskySymbolicParams::default(),
            )
            .map_err(|_| NotPositiveDefinite)?,
        };
        let symbolic = self.symbolic.insert(symbolic);
        factor.clear();
        factor.resize(symbolic.len_val(), T::default());
        let values: Vec<T> = values.iter().map(|x| T::of(*x)).collect();
        let need = symbolic.factorize_numeric_llt_scratch::<T>(Par::Seq, Default::default());
        let mut memory = MemBuffer::new(need);
        symbolic
            .factorize_numeric_llt(
                factor,
                SparseColMatRef::new(pattern, &values),
                Side::Lower,
                Default::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Default::default(),
            )
            .map_err(|_| NotPositiveDefinite)?;
        Ok(())
    }

    /// x ← A⁻¹x with the factor of A.
    ///
    /// # Panics
    ///
    /// If no matrix of this pattern was factored.
    pub fn solve<T: FactorScalar>(&self, factor: &[T], x: &mut [T]) {
        let symbolic = self.symbolic.as_ref().expect("a factored matrix");
        let n = x.len();
        let mut memory = MemBuffer::new(symbolic.solve_in_place_scratch::<T>(1, Par::Seq));
        LltRef::<'_, u32, T>::new(symbolic, factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, 1),
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a chain: 2 + i/10 on the diagonal, −1 beside it.
    fn chain(n: usize) -> (Vec<u32>, Vec<u32>, Vec<f64>) {
        let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..n {
            for i in j.saturating_sub(1)..(j + 2).min(n) {
                rows.push(i as u32);
                values.push(if i == j { 2.0 + 0.1 * i as f64 } else { -1.0 });
            }
            starts.push(rows.len() as u32);
        }
        (starts, rows, values)
    }

    fn error_of<T: FactorScalar + Into<f64>>() -> f64 {
        let (starts, rows, values) = chain(20);
        let mut cholesky = SparseCholesky::default();
        let mut factor = Vec::<T>::new();
        let factored = cholesky.factorise((&starts, &rows), &values, &mut factor);
        factored.expect("positive definite");
        let exact: Vec<f64> = (0..20).map(|i| (1.3 * f64::from(i)).sin()).collect();
        let mut x: Vec<T> = (0..20)
            .map(|j| {
                let range = starts[j] as usize..starts[j + 1] as usize;
                let sum: f64 = range.map(|e| values[e] * exact[rows[e] as usize]).sum();
                T::of(sum)
            })
            .collect();
        cholesky.solve(&factor, &mut x);
        let errors = x.into_iter().zip(&exact).map(|(x, e)| (x.into() - e).abs());
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn a_factor_solves_to_the_round_off_of_its_precision() {
        assert!(error_of::<f64>() < 1e-14);
        let single = error_of::<f32>();
        assert!(single < 1e-5 && single > 1e-9, "{single:e}");
    }

    #[test]
    fn an_indefinite_matrix_is_refused_and_the_next_one_factored() {
        let (starts, rows, mut values) = chain(20);
        let mut cholesky = SparseCholesky::default();
        let mut factor = Vec::<f64>::new();
        values[0] = -1.0;
        let refused = cholesky.factorise((&starts, &rows), &values, &mut factor);
        assert_eq!(refused, Err(NotPositiveDefinite));
        values[0] = 3.0;
        let factored = cholesky.factorise((&starts, &rows), &values, &mut factor);
        assert_eq!(factored, Ok(()));
    }
}
