//! A v* = b by sparse Cholesky, for bodies that turn: where they will be without contact.

use std::fmt;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use sprs::CsMatViewI;

/// A factorisation of A whose symbolic part is kept while the pattern stands.
#[derive(Default)]
pub(crate) struct FreeMotion {
    symbolic: Option<SymbolicCholesky<u32>>,
    factor: Vec<f64>,
    memory: Option<MemBuffer>,
}

impl fmt::Debug for FreeMotion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FreeMotion").finish_non_exhaustive()
    }
}

/// A was not positive definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotPositiveDefinite;

impl FreeMotion {
    /// The pattern has changed.
    pub(crate) fn forget_pattern(&mut self) {
        self.symbolic = None;
    }

    /// x ← A⁻¹x. One thread: the answer is the same for any number of them.
    pub(crate) fn solve(
        &mut self,
        a: CsMatViewI<'_, f64, u32>,
        x: &mut [f64],
    ) -> Result<(), NotPositiveDefinite> {
        let n = a.rows();
        let starts = a.indptr();
        let starts = starts.to_proper();
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &starts, None, a.indices());
        let symbolic = match self.symbolic.take() {
            Some(symbolic) => symbolic,
            None => factorize_symbolic_cholesky(
                pattern,
                Side::Lower,
                SymmetricOrdering::Amd,
                CholeskySymbolicParams::default(),
            )
            .map_err(|_| NotPositiveDefinite)?,
        };
        let symbolic = self.symbolic.insert(symbolic);
        self.factor.resize(symbolic.len_val(), 0.0);
        let need = StackReq::any_of(&[
            symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default()),
            symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
        ]);
        let memory = match self.memory.take() {
            Some(memory) if memory.len() >= need.size_bytes() => memory,
            _ => MemBuffer::new(need),
        };
        let memory = self.memory.insert(memory);
        let llt = symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                SparseColMatRef::new(pattern, a.data()),
                Side::Lower,
                Default::default(),
                Par::Seq,
                MemStack::new(memory),
                Default::default(),
            )
            .map_err(|_| NotPositiveDefinite)?;
        llt.solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, 1),
            Par::Seq,
            MemStack::new(memory),
        );
        Ok(())
    }
}
