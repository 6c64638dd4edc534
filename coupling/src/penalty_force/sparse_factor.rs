//! Sparse Cholesky factor of one body's A with what contacts add to it, for the preconditioner.
//!
//! ```text
//! P_b = A + δt² Σ k J_bᵀ C J_b        C = 1 where an attachment sticks, n nᵀ where it slips
//! ```
//!
//! J_b is the part of body b in the velocity of particle relative to object. Entries outside of A's pattern are left out: contacts add blocks of vertices
//! with themselves and with neighbours of their triangle, all of which A has. The friction of slipping contacts, the coupling of bodies through contacts
//! and the change of A since the start of the step are left to GMRES.
//!
//! The order of elimination depends on the pattern alone and is kept; values are those of the step.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use pliant_contact_sap::Assembled;

/// The factor, and the matrix that it is of.
#[derive(Default)]
pub(super) struct SparseFactor {
    /// Starts of the columns and rows of A.
    starts: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
    symbolic: Option<SymbolicCholesky<u32>>,
    factor: Vec<f64>,
}

impl SparseFactor {
    /// Takes A of a body; false if it is not sparse.
    pub(super) fn take(&mut self, a: Option<Assembled<'_>>) -> bool {
        let Some(Assembled::Sparse(a)) = a else {
            return false;
        };
        let starts = a.indptr();
        let starts = starts.to_proper();
        if *starts != *self.starts || *a.indices() != *self.rows {
            self.starts.clear();
            self.starts.extend_from_slice(&starts);
            self.rows.clear();
            self.rows.extend_from_slice(a.indices());
            self.symbolic = None;
        }
        self.values.clear();
        self.values.extend_from_slice(a.data());
        true
    }

    /// Adds to an entry, if A has it.
    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        let range = self.starts[column] as usize..self.starts[column + 1] as usize;
        if let Ok(found) = self.rows[range.clone()].binary_search(&(row as u32)) {
            self.values[range.start + found] += value;
        }
    }

    /// Factors the matrix; false if it is not positive definite.
    pub(super) fn factorise(&mut self) -> bool {
        let n = self.starts.len() - 1;
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.starts, None, &self.rows);
        let symbolic = match self.symbolic.take() {
            Some(known) => known,
            None => {
                let ordered = factorize_symbolic_cholesky(
                    pattern,
                    Side::Lower,
                    SymmetricOrdering::Amd,
                    CholeskySymbolicParams::default(),
                );
                match ordered {
                    Ok(symbolic) => symbolic,
                    Err(_) => return false,
                }
            }
        };
        let symbolic = self.symbolic.insert(symbolic);
        self.factor.clear();
        self.factor.resize(symbolic.len_val(), 0.0);
        let need = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut memory = MemBuffer::new(need);
        let factored = symbolic.factorize_numeric_llt(
            &mut self.factor,
            SparseColMatRef::new(pattern, &self.values),
            Side::Lower,
            Default::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        factored.is_ok()
    }

    /// x ← P⁻¹x.
    pub(super) fn solve(&self, x: &mut [f64]) {
        let Some(symbolic) = &self.symbolic else {
            return;
        };
        let n = x.len();
        let mut memory = MemBuffer::new(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        LltRef::<'_, u32, f64>::new(symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, 1),
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }
}

#[cfg(test)]
mod tests {
    use pliant_contact_sap::conformance::{MassSpringNet, NetSettings};
    use pliant_contact_sap::{Control, DeformableModel, StepInput};

    use super::*;

    #[test]
    fn a_factor_solves_what_was_taken_and_added() {
        let net = MassSpringNet::new(NetSettings::default()).expect("legal settings");
        let control = Control::default();
        let input = StepInput::new(1e-2, nalgebra::Vector3::zeros(), &control);
        let mut step = net.new_step();
        step.begin(&net.default_state(), &input).expect("a step");
        step.linearise_start(&mut Vec::new()).expect("a matrix");
        let dynamics = step.dynamics();
        let n = dynamics.n_dofs();
        let mut factor = SparseFactor::default();
        assert!(factor.take(dynamics.assembled()));
        factor.add(4, 4, 2.5);
        // Nodes at opposite corners are no neighbours.
        factor.add(0, n - 1, 1e6);
        assert!(factor.factorise());
        let x: Vec<f64> = (0..n).map(|i| (1.3 * i as f64).sin()).collect();
        let mut y = vec![0.0; n];
        dynamics.apply(&x, &mut y);
        y[4] += 2.5 * x[4];
        factor.solve(&mut y);
        let off = x
            .iter()
            .zip(&y)
            .map(|(x, y)| (x - y).abs())
            .fold(0.0, f64::max);
        assert!(off < 1e-12, "{off:e}");
        factor.add(4, 4, -1e9);
        assert!(!factor.factorise());
        assert!(!factor.take(None));
    }
}
