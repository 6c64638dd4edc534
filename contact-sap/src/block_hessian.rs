//! The diagonal blocks of the Hessian, one per node: preconditioner and quasi-Newton matrix.

use crate::dynamics::Assembled;
use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::hessian::{BlockLocation, Congruence};
use crate::island::IslandProblem;
use crate::small_cholesky::{self, cholesky_in_place};

/// Diagonal blocks of H = A + ΣBᵀKB and their Cholesky factors.
#[derive(Debug, Default)]
pub(crate) struct BlockHessian {
    /// First value of each node's block, column-major.
    starts: Vec<usize>,
    values: Vec<f64>,
    scratch: Vec<f64>,
    aggregate: Vec<f64>,
}

impl BlockHessian {
    /// Lays out memory.
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>) {
        self.starts.clear();
        let mut n_values = 0;
        for node in p.island.node_starts.windows(2) {
            self.starts.push(n_values);
            n_values += (node[1] - node[0]).pow(2);
        }
        self.values.resize(n_values, 0.0);
    }

    /// Assembles and factors the blocks from A and the aggregates of `e`.
    pub(crate) fn factor(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
    ) -> Result<(), SolveError> {
        self.assemble(p, e);
        let starts = &p.island.node_starts;
        for (node, start) in self.starts.iter().enumerate() {
            let size = starts[node + 1] - starts[node];
            let block = &mut self.values[*start..*start + size * size];
            if let Err(pivot) = cholesky_in_place(block, size) {
                return Err(p.island.indefinite_at(starts[node] + pivot.row));
            }
        }
        Ok(())
    }

    /// Assembles the blocks from A and the aggregates of `e`.
    fn assemble(&mut self, p: &IslandProblem<'_>, e: &Evaluation) {
        let mut at = 0;
        for member in &p.island.members {
            let dynamics = p.dynamics(member);
            if let Some(Assembled::Dense(a)) = dynamics.assembled() {
                self.values[at..at + a.len()].copy_from_slice(a);
                at += a.len();
            } else {
                dynamics.diagonal_blocks().for_each(member.n_dofs, |block| {
                    self.values[at..at + block.values.len()].copy_from_slice(block.values);
                    at += block.values.len();
                });
            }
        }
        let set = p.set();
        let starts = &p.island.node_starts;
        for basis in e.active_bases(p) {
            let r = basis.n_rows;
            let k = e.aggregate(p, basis, &mut self.aggregate);
            let mut congruence = Congruence {
                set,
                k,
                r,
                scale: &[],
                scratch: &mut self.scratch,
            };
            let pieces = &p.island.pieces[basis.pieces.clone()];
            for a in pieces {
                for b in pieces.iter().filter(|b| b.node == a.node) {
                    let first = starts[a.node];
                    let size = starts[a.node + 1] - first;
                    let location = BlockLocation {
                        offset: self.starts[a.node] + (b.dof - first) * size + a.dof - first,
                        stride: size,
                    };
                    congruence.add(a, b, location, &mut self.values);
                }
            }
        }
    }

    /// x ← H_D⁻¹x for the nodes that begin in `dofs`.
    pub(crate) fn solve(&self, p: &IslandProblem<'_>, dofs: std::ops::Range<usize>, x: &mut [f64]) {
        let starts = &p.island.node_starts;
        let first = starts.partition_point(|&start| start < dofs.start);
        for (node, block) in self.starts.iter().enumerate().skip(first) {
            let (start, end) = (starts[node], starts[node + 1]);
            if start >= dofs.end {
                break;
            }
            let size = end - start;
            let factor = &self.values[*block..*block + size * size];
            small_cholesky::solve(factor, size, &mut x[start..end]);
        }
    }
}
