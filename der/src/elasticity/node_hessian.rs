//! The Hessian on nodes and angles, from the blocks of edges and joints: e = x₊ − x₋.

use nalgebra::Matrix3;

use super::Elasticity;
use crate::rod_matrix::{REACH, RodMatrix};
use crate::rod_parts::RodParts;
use crate::strain::{EdgeBlock, JointBlock};

/// [`Elasticity::collect_hessian`], dispatched to the widest SIMD instructions of the processor.
struct Collecting<'a, F>(&'a Elasticity, &'a RodParts, f64, &'a mut RodMatrix, F);

impl<F: Fn(f64, f64) -> f64> pulp::WithSimd for Collecting<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self(elasticity, rod, scale, matrix, onto) = self;
        elasticity.collect_hessian(rod, scale, matrix, onto);
    }
}

impl Elasticity {
    /// matrix = scale · d²E/dq².
    pub(crate) fn write_hessian(&self, rod: &RodParts, scale: f64, matrix: &mut RodMatrix) {
        let onto = |_: f64, value: f64| value;
        pulp::Arch::new().dispatch(Collecting(self, rod, scale, matrix, onto));
    }

    /// matrix += scale · d²E/dq².
    pub(crate) fn add_hessian(&self, rod: &RodParts, scale: f64, matrix: &mut RodMatrix) {
        let onto = |old: f64, value: f64| old + value;
        pulp::Arch::new().dispatch(Collecting(self, rod, scale, matrix, onto));
    }

    /// Sets every entry to `onto`(its old value, its value in scale · d²E/dq²).
    #[inline(always)]
    fn collect_hessian(
        &self,
        rod: &RodParts,
        scale: f64,
        matrix: &mut RodMatrix,
        onto: impl Fn(f64, f64) -> f64,
    ) {
        // Columns that reach beyond the band sum several contributions.
        let n_inside = matrix.n_band().saturating_sub(REACH - 4) / 4;
        matrix.map_columns_from(4 * n_inside, |old| onto(old, 0.0));
        let n_nodes = rod.n_nodes;
        let no_edge = EdgeBlock::default();
        let no_joint = JointBlock::default();
        // Blocks of edge i and of the joint at its second node, as derivatives with respect to e.
        let edge_block = |i: usize| {
            self.edge_blocks.get(i).map_or(no_edge, |block| {
                let inverse = 1.0 / self.edges[i].length;
                EdgeBlock {
                    xx: block.xx * (inverse * inverse * scale),
                    xg: block.xg * (inverse * scale),
                    gg: block.gg * scale,
                }
            })
        };
        let joint_block = |joint: usize| {
            self.joint_blocks.get(joint).map_or(no_joint, |block| {
                let (i_a, i_b) = rod.edges_of_joint(joint);
                let inverse_a = 1.0 / self.edges[i_a].length;
                let inverse_b = 1.0 / self.edges[i_b].length;
                JointBlock {
                    xx: block.xx * (inverse_a * inverse_b * scale),
                    xg: block.xg * (inverse_a * scale),
                    gx: block.gx * (inverse_b * scale),
                    gg: block.gg * scale,
                }
            })
        };
        let (mut edge_before, mut joint_here) = match rod.is_closed() {
            true => (edge_block(rod.n_edges - 1), joint_block(rod.n_joints - 1)),
            false => (no_edge, no_joint),
        };
        for i in 0..n_nodes {
            let edge_after = edge_block(i);
            let joint_after = joint_block(i);
            let columns = node_columns(&edge_before, &edge_after, &joint_here, &joint_after);
            if i < n_inside {
                for (c, values) in columns.iter().enumerate() {
                    let column = matrix.band_column_mut(4 * i + c);
                    for r in c..REACH {
                        column[r - c] = onto(column[r - c], values[r]);
                    }
                }
            } else {
                add_columns(matrix, i, &columns);
            }
            (edge_before, joint_here) = (edge_after, joint_after);
        }
    }
}

/// Columns (x_i, γ^i) of the Hessian, rows x_i to x_{i+2}; entries above the diagonal are not used.
type NodeColumns = [[f64; REACH]; 4];

/// Transforms from edges to nodes. With D the block of an edge and C that of a joint, e_{i−1} = x_i − x_{i−1}:
///
/// ```text
/// [x_i,   x_i] = D_{i−1} + D_i − C_i − C_iᵀ        [γ^i, x_i] = −D_i + C_iᵀ
/// [x_i+1, x_i] = −D_i + C_iᵀ + C_i+1ᵀ              [x_i+1, γ^i] = D_i − C_i+1ᵀ
/// [x_i+2, x_i] = −C_i+1ᵀ                           [x_i+2, γ^i] = C_i+1ᵀ
/// [γ^i+1, x_i] = −C_i+1ᵀ                           [γ^i+1, γ^i] = C_i+1
/// ```
#[inline(always)]
fn node_columns(
    before: &EdgeBlock,
    after: &EdgeBlock,
    here: &JointBlock,
    next: &JointBlock,
) -> NodeColumns {
    let mut columns = [[0.0; REACH]; 4];
    let here_t = here.xx.transpose();
    let next_t = next.xx.transpose();
    let own: Matrix3<f64> = before.xx + after.xx - here.xx - here_t;
    let neighbour = here_t + next_t - after.xx;
    let own_angle = here.xg - after.xg;
    for c in 0..3 {
        for r in 0..3 {
            columns[c][r] = own[(r, c)];
            columns[c][4 + r] = neighbour[(r, c)];
            columns[c][8 + r] = -next_t[(r, c)];
        }
        columns[c][3] = own_angle[c];
        columns[c][7] = -next.xg[c];
        columns[3][4 + c] = after.xg[c] - next.gx[c];
        columns[3][8 + c] = next.gx[c];
    }
    columns[3][3] = after.gg;
    columns[3][7] = next.gg;
    columns
}

/// Adds columns that reach the end of an open rod, or wrap around a closed one.
fn add_columns(matrix: &mut RodMatrix, node: usize, columns: &NodeColumns) {
    let n = matrix.n();
    let first = 4 * node;
    let is_closed = n.is_multiple_of(4);
    for (c, values) in columns.iter().enumerate() {
        for (r, value) in values.iter().enumerate().skip(c) {
            let (row, column) = (first + r, first + c);
            if row < n && column < n {
                matrix.add(row, column, *value);
            } else if is_closed {
                matrix.add(row % n, column, *value);
            }
        }
    }
}
