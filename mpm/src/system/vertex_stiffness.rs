//! The stiffness of the triangles of a cloth on its vertices, assembled once for all products with it.

use nalgebra::{Matrix3, SMatrix, Vector3};

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
    blocks: Vec<Matrix3<f64>>,
}

impl VertexStiffness {
    /// Sets all blocks to zero.
    pub(super) fn clear(&mut self, pattern: &VertexPattern) {
        self.blocks.clear();
        self.blocks.resize(pattern.columns.len(), Matrix3::zeros());
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
            self.blocks[*slot as usize] += block + second * (b * d);
        }
    }

    /// The product with values at the vertices.
    pub(super) fn apply(
        &self,
        pattern: &VertexPattern,
        x: &[Vector3<f64>],
        y: &mut [Vector3<f64>],
    ) {
        for (row, y) in y.iter_mut().enumerate() {
            let range = pattern.range(row);
            let each = self.blocks[range.clone()]
                .iter()
                .zip(&pattern.columns[range]);
            *y = each.fold(Vector3::zeros(), |sum, (block, v)| {
                sum + block * x[*v as usize]
            });
        }
    }

    /// Columns and blocks of a row.
    pub(super) fn row<'a>(
        &'a self,
        pattern: &'a VertexPattern,
        row: usize,
    ) -> impl Iterator<Item = (u32, &'a Matrix3<f64>)> {
        let range = pattern.range(row);
        let columns = pattern.columns[range.clone()].iter();
        columns.copied().zip(&self.blocks[range])
    }
}
