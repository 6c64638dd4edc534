//! Sparse Cholesky factor of one body's A with what contacts add to it, for the preconditioner.
//!
//! ```text
//! P_b = A + δt² Σ k J_bᵀ C J_b        C = 1 where an attachment sticks, n nᵀ where it slips
//! ```
//!
//! J_b is the part of body b in the velocity of particle relative to object. Entries outside of A's pattern are left out: contacts add blocks of vertices
//! with themselves and with neighbours of their triangle, all of which A has. The friction of slipping contacts, the coupling of bodies through contacts
//! and the change of A since the start of the step are left to GMRES.

use pliant_contact_sap::{Assembled, SparseCholesky};

/// Least condition number, by its lower bound, at which a factor costs less than the iterations that it saves. Time of a step in s on two threads:
///
/// | scene, spacing | velocities | bound | blocks | factor |
/// |---|---|---|---|---|
/// | penalty-goo-on-sphere, 12 mm | 20,538 | 1.1 | 3.3 | 14.3 |
/// | penalty-sand-on-sphere, 8.5 mm | 38,853 | 2.9 | 12 | 43 |
/// | penalty-pyramid-points | 2,388 | 4.2 | 0.16 | 0.056 |
/// | penalty-incline-points | 1,455 | 27 | 0.57 | 0.24 |
///
/// Bodies of finite elements in the scenes have 1e4 and more.
const CONDITION_MIN: f64 = 4.0;

/// The factor, and the matrix that it is of.
#[derive(Default)]
pub(super) struct SparseFactor {
    /// Starts of the columns and rows of A.
    starts: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
    cholesky: SparseCholesky,
    factor: Vec<f64>,
    /// The values that `factor` is of. Iterations between which no contact sticks, slips or parts share a factor: 12.1 ms a step in place of 13.9
    /// for the row `stack` of the benchmarks.
    factored: Vec<f64>,
}

impl SparseFactor {
    /// Takes A of a body; false if it is not sparse, or so well conditioned that blocks cost less.
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
            self.cholesky.forget_pattern();
            self.factored.clear();
        }
        self.values.clear();
        self.values.extend_from_slice(a.data());
        self.condition_at_least() >= CONDITION_MIN
    }

    /// tr(A)/1ᵀA1, a lower bound of the condition number of A scaled by its diagonal: the quotient of a unit vector and of a translation.
    fn condition_at_least(&self) -> f64 {
        let diagonal: f64 = (0..self.starts.len() - 1)
            .filter_map(|i| self.entry(i, i))
            .map(|entry| self.values[entry])
            .sum();
        diagonal / self.values.iter().sum::<f64>()
    }

    fn entry(&self, row: usize, column: usize) -> Option<usize> {
        let range = self.starts[column] as usize..self.starts[column + 1] as usize;
        let found = self.rows[range.clone()].binary_search(&(row as u32)).ok()?;
        Some(range.start + found)
    }

    /// Adds to an entry, if A has it.
    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        if let Some(entry) = self.entry(row, column) {
            self.values[entry] += value;
        }
    }

    /// Adds to the entries of a column, in ascending rows, that A has.
    pub(super) fn add_to_column(
        &mut self,
        column: usize,
        terms: impl Iterator<Item = (usize, f64)>,
    ) {
        let range = self.starts[column] as usize..self.starts[column + 1] as usize;
        let mut entries = self.rows[range.clone()].iter().zip(&mut self.values[range]);
        let mut next = entries.next();
        for (row, value) in terms {
            while let Some((at, _)) = &next
                && (**at as usize) < row
            {
                next = entries.next();
            }
            if let Some((at, entry)) = &mut next
                && **at as usize == row
            {
                **entry += value;
            }
        }
    }

    /// Factors the matrix; false if it is not positive definite.
    pub(super) fn factorise(&mut self) -> bool {
        if !self.values.is_empty() && self.factored == self.values {
            return true;
        }
        self.factored.clear();
        let pattern = (self.starts.as_slice(), self.rows.as_slice());
        let outcome = self
            .cholesky
            .factorise(pattern, &self.values, &mut self.factor);
        if outcome.is_ok() {
            self.factored.clone_from(&self.values);
        }
        outcome.is_ok()
    }

    /// x ← P⁻¹x with the factor.
    pub(super) fn solve(&self, x: &mut [f64]) {
        self.cholesky.solve(&self.factor, x);
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
        factor.add_to_column(n - 1, [(0, 1e6), (n - 2, 0.25), (n - 1, 3.0)].into_iter());
        let terms = [(0, 1e6), (n - 2, 2.0), (n - 1, 0.25)];
        factor.add_to_column(n - 2, terms.into_iter());
        assert!(factor.factorise());
        let x: Vec<f64> = (0..n).map(|i| (1.3 * i as f64).sin()).collect();
        let mut y = vec![0.0; n];
        dynamics.apply(&x, &mut y);
        y[4] += 2.5 * x[4];
        y[n - 1] += 3.0 * x[n - 1] + 0.25 * x[n - 2];
        y[n - 2] += 2.0 * x[n - 2] + 0.25 * x[n - 1];
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
