//! The inverse of the 3×3 blocks on the diagonal of A, the preconditioner of free motion.

use nalgebra::{Matrix3, Vector3};

/// The inverse blocks, one for each node. Memory is reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockJacobi {
    inverse: Vec<Matrix3<f64>>,
}

impl BlockJacobi {
    /// Inverts the blocks on the diagonal of A, nine values each, column-major.
    pub(crate) fn factor(&mut self, diagonal: &[f64]) {
        self.inverse.clear();
        let blocks = diagonal.chunks_exact(9);
        self.inverse.extend(blocks.map(|block| {
            // Scaled first: the cubes of the smallest nodal masses underflow.
            let scale = (block[0] + block[4] + block[8]) / 3.0;
            let scaled = Matrix3::from_column_slice(block) / scale;
            let inverse = scaled
                .try_inverse()
                .unwrap_or_else(|| Matrix3::from_diagonal(&scaled.diagonal().map(|d| 1.0 / d)));
            (inverse + inverse.transpose()) * (0.5 / scale)
        }));
    }

    /// `z` ← M⁻¹ r.
    pub(crate) fn apply(&self, r: &[f64], z: &mut [f64]) {
        let each = self.inverse.iter().zip(r.chunks_exact(3));
        for ((inverse, r), z) in each.zip(z.chunks_exact_mut(3)) {
            let product = inverse * Vector3::from_column_slice(r);
            z.copy_from_slice(product.as_slice());
        }
    }
}
