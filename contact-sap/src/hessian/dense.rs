//! A dense Hessian, factored in place.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{Conj, MatMut, MatRef, Par};

use crate::dynamics::Assembled;
use crate::evaluation::Evaluation;
use crate::hessian::{FailedPivot, Place, add_congruence};
use crate::island::IslandProblem;

/// n×n column-major, of which the lower triangle counts.
pub(crate) struct DenseHessian {
    n: usize,
    values: Vec<f64>,
    memory: MemBuffer,
    memory_for: usize,
}

impl Default for DenseHessian {
    fn default() -> Self {
        Self {
            n: 0,
            values: Vec::new(),
            memory: MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(
                0,
                Par::Seq,
                Default::default(),
            )),
            memory_for: 0,
        }
    }
}

impl DenseHessian {
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>) {
        self.n = p.island.n_dofs;
        self.values.resize(self.n * self.n, 0.0);
        if self.memory_for < self.n {
            self.memory = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(
                self.n,
                Par::Seq,
                Default::default(),
            ));
            self.memory_for = self.n;
        }
    }

    pub(crate) fn assemble(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        shift: f64,
        scratch: &mut Vec<f64>,
    ) {
        let n = self.n;
        for j in 0..n {
            self.values[j * n + j..(j + 1) * n].fill(0.0);
        }
        for member in &p.island.members {
            let (first, m) = (member.first_dof, member.n_dofs);
            match p.dynamics(member).assembled() {
                Some(Assembled::Dense(a)) => {
                    for j in 0..m {
                        let column = (first + j) * n + first;
                        self.values[column + j..column + m]
                            .copy_from_slice(&a[j * m + j..(j + 1) * m]);
                    }
                }
                Some(Assembled::Sparse(a)) => {
                    for (j, column) in a.outer_iterator().enumerate() {
                        for (i, value) in column.iter() {
                            if i >= j {
                                self.values[(first + j) * n + first + i] = *value;
                            }
                        }
                    }
                }
                None => unreachable!("checked when the island was laid out"),
            }
        }
        if shift > 0.0 {
            for i in 0..n {
                self.values[i * n + i] *= 1.0 + shift;
            }
        }
        let set = p.set();
        let active = p.island.bases.iter().zip(&e.active).filter(|(_, a)| **a);
        for (basis, _) in active {
            let r = basis.n_rows;
            let k = &e.aggregates[basis.aggregate0..basis.aggregate0 + r * r];
            let pieces = &p.island.pieces[basis.pieces.clone()];
            for p in pieces {
                for q in pieces {
                    // Each block below the diagonal once, blocks of one node in both orders.
                    if p.node < q.node {
                        continue;
                    }
                    let place = Place {
                        offset: q.dof * n + p.dof,
                        stride: n,
                    };
                    add_congruence(
                        (p, p.values(set)),
                        (q, q.values(set)),
                        k,
                        r,
                        place,
                        &mut self.values,
                        scratch,
                    );
                }
            }
        }
    }

    pub(crate) fn factor(&mut self) -> Result<(), FailedPivot> {
        let n = self.n;
        let h = MatMut::from_column_major_slice_mut(&mut self.values, n, n);
        match llt::factor::cholesky_in_place(
            h,
            Default::default(),
            Par::Seq,
            MemStack::new(&mut self.memory),
            Default::default(),
        ) {
            Ok(_) => Ok(()),
            Err(llt::factor::LltError::NonPositivePivot { index }) => {
                Err(FailedPivot { dof: index })
            }
        }
    }

    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        let n = self.n;
        let l = MatRef::from_column_major_slice(&self.values, n, n);
        llt::solve::solve_in_place_with_conj(
            l,
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, 1),
            Par::Seq,
            MemStack::new(&mut self.memory),
        );
    }
}
