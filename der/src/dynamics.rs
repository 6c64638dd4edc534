//! A and b of one step of a rod, for solvers.

use pliant_contact_sap::{Assembled, BlockDiagonal, Dynamics};
use sprs::CsMatI;

use crate::rod_matrix::{RodFactor, RodMatrix};

/// The linearised momentum balance of a rod: a banded matrix (bordered for closed rods), with its exact inverse as
/// preconditioner.
#[derive(Clone, Debug)]
pub(crate) struct RodDynamics {
    right_hand_side: Vec<f64>,
    matrix: RodMatrix,
    factor: RodFactor,
    /// Node by node with the edge after it.
    block_sizes: Vec<usize>,
    blocks: Vec<f64>,
    sparse: CsMatI<f64, u32>,
    /// Index in the band storage of each value of `sparse`.
    sources: Vec<u32>,
}

impl Default for RodDynamics {
    fn default() -> Self {
        Self {
            right_hand_side: Vec::new(),
            matrix: RodMatrix::default(),
            factor: RodFactor::default(),
            block_sizes: Vec::new(),
            blocks: Vec::new(),
            sparse: CsMatI::zero((0, 0)).into_csc(),
            sources: Vec::new(),
        }
    }
}

impl RodDynamics {
    /// Takes A, its factors and b = A v − m, by swapping buffers with those of the last step.
    pub(crate) fn adopt(
        &mut self,
        matrix: &mut RodMatrix,
        factor: &mut RodFactor,
        v: &[f64],
        residual: &[f64],
    ) {
        let n = matrix.n();
        if self.matrix.n() != n {
            self.lay_out(matrix);
        }
        std::mem::swap(&mut self.matrix, matrix);
        std::mem::swap(&mut self.factor, factor);
        self.right_hand_side.resize(n, 0.0);
        self.matrix.apply(v, &mut self.right_hand_side);
        for (b, m) in self.right_hand_side.iter_mut().zip(residual) {
            *b -= m;
        }
        let values = self.matrix.values();
        for (value, source) in self.sparse.data_mut().iter_mut().zip(&self.sources) {
            *value = values[*source as usize];
        }
        let mut rest = self.blocks.as_mut_slice();
        for (node, &size) in self.block_sizes.iter().enumerate() {
            let (block, after) = rest.split_at_mut(size * size);
            for c in 0..size {
                for r in c..size {
                    let value = self.matrix.get(4 * node + r, 4 * node + c);
                    block[c * size + r] = value;
                    block[r * size + c] = value;
                }
            }
            rest = after;
        }
    }

    /// Builds the sparsity pattern, once.
    fn lay_out(&mut self, matrix: &RodMatrix) {
        let n = matrix.n();
        self.matrix = matrix.clone();
        let mut columns: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n];
        matrix.for_each_coupling(|r, c| {
            let index = matrix.index(r, c) as u32;
            columns[c].push((r as u32, index));
            if r != c {
                columns[r].push((c as u32, index));
            }
        });
        let mut starts = vec![0];
        let mut rows = Vec::new();
        self.sources.clear();
        for column in &mut columns {
            column.sort_unstable();
            for (row, index) in column {
                rows.push(*row);
                self.sources.push(*index);
            }
            starts.push(rows.len() as u32);
        }
        self.sparse = CsMatI::new_csc((n, n), starts, rows, vec![0.0; self.sources.len()]);
        self.block_sizes.clear();
        let sizes = (0..n.div_ceil(4)).map(|node| (n - 4 * node).min(4));
        self.block_sizes.extend(sizes);
        let area = self.block_sizes.iter().map(|size| size * size).sum();
        self.blocks.clear();
        self.blocks.resize(area, 0.0);
    }
}

impl Dynamics for RodDynamics {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.matrix.apply(x, y);
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Mixed {
            sizes: &self.block_sizes,
            values: &self.blocks,
        }
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        Some(Assembled::Sparse(self.sparse.view()))
    }

    fn precondition(&self, x: &mut [f64]) -> bool {
        self.factor.solve(x);
        true
    }
}
