//! A dense Hessian, factored in place.

use crate::dynamics::Assembled;
use crate::evaluation::Evaluation;
use crate::hessian::congruence::{BlockLocation, Congruence};
use crate::hessian::front::{FailedPivot, backward, eliminate, forward};
use crate::island::IslandProblem;

/// n×n column-major; only the lower triangle is used.
#[derive(Default)]
pub(crate) struct DenseHessian {
    n: usize,
    values: Vec<f64>,
    aggregate: Vec<f64>,
}

impl DenseHessian {
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>) {
        self.n = p.island.n_dofs;
        self.values.resize(self.n * self.n, 0.0);
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
        for basis in e.active_bases(p) {
            let r = basis.n_rows;
            let k = e.aggregate(p, basis, &mut self.aggregate);
            let mut congruence = Congruence {
                set,
                k,
                r,
                scale: &[],
                scratch,
            };
            let pieces = &p.island.pieces[basis.pieces.clone()];
            for p in pieces {
                for q in pieces {
                    // Blocks below the diagonal once, blocks of one node in both orders.
                    if p.node < q.node {
                        continue;
                    }
                    let location = BlockLocation {
                        offset: q.dof * n + p.dof,
                        stride: n,
                    };
                    congruence.add(p, q, location, &mut self.values);
                }
            }
        }
    }

    pub(crate) fn factor(&mut self) -> Result<(), FailedPivot> {
        let n = self.n;
        eliminate(&mut self.values, &mut [], n, n).map_err(|dof| FailedPivot { dof })
    }

    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        forward(&self.values, self.n, self.n, x, &mut []);
        backward(&self.values, self.n, self.n, x, &[]);
    }
}
