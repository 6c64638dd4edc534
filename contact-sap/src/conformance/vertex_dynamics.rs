//! A sparse A of 3×3 blocks, one row and column of them for each vertex or node.

use nalgebra::Matrix3;
use sprs::CsMatI;

use crate::dynamics::{Assembled, BlockDiagonal, Dynamics};

/// A and b of a body whose velocities are those of points.
#[derive(Clone, Debug)]
pub(super) struct VertexDynamics {
    matrix: CsMatI<f64, u32>,
    diagonal: Vec<f64>,
    right_hand_side: Vec<f64>,
}

impl Default for VertexDynamics {
    fn default() -> Self {
        Self {
            matrix: CsMatI::zero((0, 0)).into_csc(),
            diagonal: Vec::new(),
            right_hand_side: Vec::new(),
        }
    }
}

impl VertexDynamics {
    /// Makes room for the blocks (i, j) of all `neighbours[i]`, which name i itself and come in any order, repeated or not.
    pub(super) fn lay_out(&mut self, mut neighbours: Vec<Vec<usize>>) {
        let n = 3 * neighbours.len();
        let (mut starts, mut rows) = (vec![0], Vec::new());
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
            for _ in 0..3 {
                let three = list.iter().flat_map(|&i| [3 * i, 3 * i + 1, 3 * i + 2]);
                rows.extend(three.map(|i| i as u32));
                starts.push(rows.len() as u32);
            }
        }
        let values = vec![0.0; rows.len()];
        self.matrix = CsMatI::new_csc((n, n), starts, rows, values);
        self.diagonal.resize(3 * n, 0.0);
        self.right_hand_side.resize(n, 0.0);
    }

    /// A = 0.
    pub(super) fn clear(&mut self) {
        self.matrix.data_mut().fill(0.0);
        self.diagonal.fill(0.0);
    }

    /// b.
    pub(super) fn right_hand_side_mut(&mut self) -> &mut [f64] {
        &mut self.right_hand_side
    }

    /// Adds a block at vertices `row`, `column`, which were laid out as neighbours.
    pub(super) fn add_block(&mut self, row: usize, column: usize, block: &Matrix3<f64>) {
        if row == column {
            let diagonal = self.diagonal[9 * row..9 * row + 9].iter_mut();
            diagonal.zip(block.iter()).for_each(|(d, b)| *d += b);
        }
        for c in 0..3 {
            let range = self.matrix.indptr().outer_inds_sz(3 * column + c);
            let rows = &self.matrix.indices()[range.clone()];
            let first = rows.partition_point(|&r| (r as usize) < 3 * row);
            let values = &mut self.matrix.data_mut()[range.start + first..];
            for (value, b) in values.iter_mut().zip(block.column(c).iter()) {
                *value += b;
            }
        }
    }
}

impl Dynamics for VertexDynamics {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for (column, x) in self.matrix.outer_iterator().zip(x) {
            for (row, a) in column.iter() {
                y[row] += a * x;
            }
        }
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Vertices(&self.diagonal)
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        Some(Assembled::Sparse(self.matrix.view()))
    }
}
