//! The Hessian H = A + ΣBᵀKB of an island: assembled, factored, solved with.
//!
//! Small islands are dense, larger ones block sparse; both scatter the same congruences.

mod dense;
mod ordering;
mod sparse;

use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::hessian::dense::DenseHessian;
use crate::hessian::sparse::SparseHessian;
use crate::island::{IslandProblem, Piece};
use crate::levers::dot;

/// Islands up to this many velocities are factored dense: there the dense kernel beats any sparse bookkeeping.
const DENSE_MAX: usize = 150;

/// H and its Cholesky factor. Memory is reused; symbolic work is reused while the pattern stands.
#[derive(Default)]
pub(crate) struct Hessian {
    storage: Storage,
    dense: DenseHessian,
    sparse: SparseHessian,
    scratch: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Storage {
    #[default]
    Dense,
    Sparse,
}

/// A pivot that was not positive, by velocity of the island.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedPivot {
    pub(crate) dof: usize,
}

impl Hessian {
    /// Lays out memory for the island of `p`.
    pub(crate) fn begin(
        &mut self,
        p: &IslandProblem<'_>,
        solver: &'static str,
    ) -> Result<(), SolveError> {
        for member in &p.island.members {
            if p.dynamics(member).assembled().is_none() {
                return Err(SolveError::NotAssembled {
                    participant: member.participant,
                    solver,
                });
            }
        }
        if p.island.n_dofs <= DENSE_MAX {
            self.storage = Storage::Dense;
            self.dense.begin(p);
        } else {
            self.storage = Storage::Sparse;
            self.sparse.begin(p);
        }
        Ok(())
    }

    /// H from A and the aggregates of `e`, with `shift` times the diagonal of A added.
    pub(crate) fn assemble(&mut self, p: &IslandProblem<'_>, e: &Evaluation, shift: f64) {
        match self.storage {
            Storage::Dense => self.dense.assemble(p, e, shift, &mut self.scratch),
            Storage::Sparse => self.sparse.assemble(p, e, shift, &mut self.scratch),
        }
    }

    /// H = LLᵀ.
    pub(crate) fn factor(&mut self) -> Result<(), FailedPivot> {
        match self.storage {
            Storage::Dense => self.dense.factor(),
            Storage::Sparse => self.sparse.factor(),
        }
    }

    /// x ← H⁻¹x with the last factor.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        match self.storage {
            Storage::Dense => self.dense.solve(x),
            Storage::Sparse => self.sparse.solve(x),
        }
    }
}

/// Where a block of H lies: entry (i, j) at `offset + i + j * stride`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) offset: usize,
    pub(crate) stride: usize,
}

/// H_pq += B_pᵀ K B_q, K r×r column-major of the basis both pieces belong to.
#[inline]
fn add_congruence(
    (p, values_p): (&Piece, Option<&[f64]>),
    (q, values_q): (&Piece, Option<&[f64]>),
    k: &[f64],
    r: usize,
    place: Place,
    h: &mut [f64],
    scratch: &mut Vec<f64>,
) {
    scratch.resize(p.n_rows, 0.0);
    for j in 0..q.n_dofs {
        // t = K[rows of p, rows of q] B_q[:, j].
        let t = match values_q {
            None => &k[(q.row + j) * r + p.row..][..p.n_rows],
            Some(values) => {
                scratch.fill(0.0);
                let column = &values[j * q.n_rows..(j + 1) * q.n_rows];
                for (l, b) in column.iter().enumerate() {
                    if *b != 0.0 {
                        let k = &k[(q.row + l) * r + p.row..][..p.n_rows];
                        scratch.iter_mut().zip(k).for_each(|(t, k)| *t += k * b);
                    }
                }
                &scratch[..]
            }
        };
        let h = &mut h[place.offset + j * place.stride..][..p.n_dofs];
        match values_p {
            None => h.iter_mut().zip(t).for_each(|(h, t)| *h += t),
            Some(values) => {
                for (h, column) in h.iter_mut().zip(values.chunks_exact(p.n_rows)) {
                    *h += dot(column, t);
                }
            }
        }
    }
}
