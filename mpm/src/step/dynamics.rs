//! A and b of a step.

use nalgebra::Vector3;
use pliant_contact_sap::{Assembled, BlockDiagonal, Dynamics};

use super::MpmStep;

impl Dynamics for MpmStep {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        if self.assembled {
            self.matrix.apply(x, y);
        } else {
            self.system.apply(&self.system.tangents, x, y);
        }
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Vertices(&self.diagonal)
    }

    fn grid_nodes(&self) -> Option<&[Vector3<f64>]> {
        self.assembled.then_some(&self.node_positions[..])
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        self.assembled
            .then(|| Assembled::Sparse(self.matrix.matrix.view()))
    }
}
