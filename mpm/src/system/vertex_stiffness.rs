//! The stiffness of the triangles of a cloth on its vertices, assembled once for all products with it.

use nalgebra::{Matrix3, SMatrix};

use super::at_nodes::{Padded, padded};
use crate::cloth::{ClothTriangle, shape_gradients};

/// Which vertices share a triangle, in compressed rows.
#[derive(Clone, Debug, Default)]
pub(super) struct VertexPattern {
    /// One past the last entry of each row.
    ends: Vec<u32>,
    /// Ascending in each row.
    columns: Vec<u32>,
    /// Of each triangle the entries of its corners a and b, at 3a + b.
    slots: Vec<[u32; 9]>,
}

impl VertexPattern {
    pub(super) fn new(n_vertices: usize, triangles: &[ClothTriangle<f64>]) -> Self {
        let mut rows = vec![Vec::new(); n_vertices];
        for triangle in triangles {
            for v in triangle.vertices {
                rows[v as usize].extend(triangle.vertices);
            }
        }
        let mut pattern = Self::default();
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
            pattern.columns.extend_from_slice(row);
            pattern.ends.push(pattern.columns.len() as u32);
        }
        let slots = triangles.iter().map(|triangle| {
            std::array::from_fn(|k| {
                let [row, column] = [k / 3, k % 3].map(|c| triangle.vertices[c]);
                let range = pattern.range(row as usize);
                let (first, own) = (range.start, &pattern.columns[range]);
                (first + own.partition_point(|v| *v < column)) as u32
            })
        });
        pattern.slots = slots.collect();
        pattern
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[row] as usize
    }
}

/// 3×3 blocks in the entries of a [`VertexPattern`].
#[derive(Clone, Debug, Default)]
pub(super) struct VertexStiffness {
    /// Columns.
    blocks: Vec<[Padded; 3]>,
}

impl VertexStiffness {
    /// Sets all blocks to zero.
    pub(super) fn clear(&mut self, pattern: &VertexPattern) {
        self.blocks.clear();
        self.blocks
            .resize(pattern.columns.len(), [Padded::zeros(); 3]);
    }

    /// Adds ∂²E/∂x² of a triangle from that on vec F, which has no part across the surface.
    pub(super) fn add(
        &mut self,
        pattern: &VertexPattern,
        (t, triangle): (usize, &ClothTriangle<f64>),
        stiffness: &SMatrix<f64, 9, 9>,
    ) {
        let of_f = |k: usize, l: usize| stiffness.fixed_view::<3, 3>(3 * k, 3 * l).into_owned();
        let [first, mixed, second] = [of_f(0, 0), of_f(0, 1), of_f(1, 1)];
        let gradients = shape_gradients(&triangle.inverse_edges);
        for (k, slot) in pattern.slots[t].iter().enumerate() {
            let ([a, b], [c, d]) = (gradients[k / 3], gradients[k % 3]);
            let block = first * (a * c) + mixed * (a * d) + mixed.transpose() * (b * c);
            let block = block + second * (b * d);
            let columns = self.blocks[*slot as usize].iter_mut();
            for (sum, column) in columns.zip(block.column_iter()) {
                *sum += padded(&column.into_owned());
            }
        }
    }

    /// The product with values at the vertices.
    #[inline(always)]
    pub(super) fn apply(&self, pattern: &VertexPattern, x: &[Padded], y: &mut [Padded]) {
        for (row, y) in y.iter_mut().enumerate() {
            let range = pattern.range(row);
            let each = self.blocks[range.clone()].iter();
            let mut sum = Padded::zeros();
            for ([a, b, c], v) in each.zip(&pattern.columns[range]) {
                let x = &x[*v as usize];
                sum += a * x.x + b * x.y + c * x.z;
            }
            *y = sum;
        }
    }

    /// Columns and blocks of a row.
    pub(super) fn row<'a>(
        &'a self,
        pattern: &'a VertexPattern,
        row: usize,
    ) -> impl Iterator<Item = (u32, Matrix3<f64>)> + 'a {
        let range = pattern.range(row);
        let columns = pattern.columns[range.clone()].iter();
        let blocks = self.blocks[range].iter();
        let whole = blocks.map(|columns| Matrix3::from_columns(&columns.map(|c| c.xyz())));
        columns.copied().zip(whole)
    }
}
