//! A in full: compressed columns of 3×3 blocks, summed cell by cell.
//!
//! An assembled product costs about the same for every node whatever the particles, a matrix-free one the same for every
//! particle; from some two particles a node on, the assembled one is cheaper, and a direct solver needs it anyway. For
//! isotropic tangents a cell needs only the 81×81 matrix Σ V q qᵀ of its mapped gradients q = W∇w, from which
//! K_ij = μ (tr T_ij I + T_ijᵀ) + λ T_ij.

use nalgebra::Vector3;
use sprs::CsMatI;

use crate::colours::scatter;
use crate::lanes::{LANES, LaneScalar, LaneWork, Lanes};
use crate::material::Tangent;
use crate::nodes::locate;
use crate::sparse_grid::{Cell, NONE};
use crate::spline::corner;

use super::GridSystem;

/// Nodes that a node can share a cell with.
const NEIGHBOURS: usize = 125;

/// A as a sparse matrix, with what is needed to fill it again.
#[derive(Clone, Debug)]
pub(crate) struct BlockMatrix {
    pub(crate) matrix: CsMatI<f64, u32>,
    /// Where the neighbours of each node start, in units of blocks.
    starts: Vec<usize>,
    /// Place of each neighbour among a node's, by offset.
    slots: Vec<[u8; NEIGHBOURS]>,
}

impl Default for BlockMatrix {
    fn default() -> Self {
        Self {
            matrix: CsMatI::zero((0, 0)).into_csc(),
            starts: Vec::new(),
            slots: Vec::new(),
        }
    }
}

/// Index of the offset from node `a` to node `b` of the 27.
#[inline(always)]
fn offset(a: usize, b: usize) -> usize {
    let ([i, j, k], [l, m, n]) = (corner(a), corner(b));
    ((l + 2 - i) * 5 + (m + 2 - j)) * 5 + (n + 2 - k)
}

impl BlockMatrix {
    /// Fills in A of `system`.
    pub(crate) fn assemble(&mut self, system: &GridSystem, tangents: &[Tangent<f64>]) {
        self.lay_out(system);
        let scale = system.tangent_scale();
        self.fill(system, tangents, scale);
    }

    /// Finds which nodes share a cell.
    fn lay_out(&mut self, system: &GridSystem) {
        let n = system.nodes.len();
        let mut ids = vec![[NONE; NEIGHBOURS]; n];
        for nodes in &system.nodes.of_cell {
            for (a, &node) in nodes.iter().enumerate() {
                if node == NONE {
                    continue;
                }
                let row = &mut ids[node as usize];
                for (b, &other) in nodes.iter().enumerate() {
                    if other != NONE {
                        row[offset(a, b)] = other;
                    }
                }
            }
        }
        self.starts.clear();
        self.starts.push(0);
        self.slots.clear();
        self.slots.resize(n, [0; NEIGHBOURS]);
        let old = std::mem::replace(&mut self.matrix, CsMatI::zero((0, 0)).into_csc());
        let (mut indptr, mut indices, mut values) = old.into_raw_storage();
        indptr.clear();
        indptr.push(0);
        indices.clear();
        let mut sorted: Vec<(u32, u8)> = Vec::with_capacity(NEIGHBOURS);
        for (row, slots) in ids.iter().zip(&mut self.slots) {
            sorted.clear();
            let present = row.iter().enumerate().filter(|(_, id)| **id != NONE);
            sorted.extend(present.map(|(offset, id)| (*id, offset as u8)));
            sorted.sort_unstable();
            for (slot, (_, offset)) in sorted.iter().enumerate() {
                slots[*offset as usize] = slot as u8;
            }
            for _ in 0..3 {
                for (id, _) in &sorted {
                    indices.extend([3 * id, 3 * id + 1, 3 * id + 2]);
                }
                indptr.push(indices.len() as u32);
            }
            self.starts
                .push(self.starts.last().copied().unwrap_or(0) + sorted.len());
        }
        values.clear();
        values.resize(indices.len(), 0.0);
        self.matrix = CsMatI::new_csc((3 * n, 3 * n), indptr, indices, values);
    }

    fn fill(&mut self, system: &GridSystem, tangents: &[Tangent<f64>], scale: f64) {
        let (starts, slots) = (&self.starts, &self.slots);
        let values = self.matrix.data_mut();
        let end = |block: usize| 9 * starts[system.nodes.end(block)];
        if scale != 0.0 {
            scatter(&system.grid, end, values, |block, octants| {
                let plus = system.grid.blocks[block].plus;
                let first = plus.map(|b| match b {
                    NONE => 0,
                    b => 9 * starts[system.nodes.start(b as usize)],
                });
                let mut stiffness = CellStiffness::default();
                for number in system.grid.blocks[block].cells.clone() {
                    let cell = &system.grid.cells[number as usize];
                    stiffness.sum(system, cell, tangents, scale);
                    let nodes = &system.nodes.of_cell[number as usize];
                    for (a, &column) in nodes.iter().enumerate() {
                        if column == NONE {
                            continue;
                        }
                        let column = column as usize;
                        let height = 3 * (starts[column + 1] - starts[column]);
                        let (octant, _) = locate(cell.local(), a);
                        let from = 9 * starts[column] - first[octant];
                        let to = &mut octants[octant][from..from + 3 * height];
                        add_columns(to, height, nodes, &slots[column], a, &stiffness.sum);
                    }
                }
            });
        }
        self.finish(system);
    }

    /// Prescribed rows and columns, and mass.
    fn finish(&mut self, system: &GridSystem) {
        if system.any_prescribed {
            let free: Vec<f64> = system
                .prescribed
                .iter()
                .map(|p| f64::from(u8::from(p.is_nan())))
                .collect();
            for (column, mut entries) in self.matrix.outer_iterator_mut().enumerate() {
                for (row, value) in entries.iter_mut() {
                    *value *= free[row] * free[column];
                }
            }
        }
        let values = self.matrix.data_mut();
        for (node, slots) in self.slots.iter().enumerate() {
            let (first, count) = (self.starts[node], self.starts[node + 1] - self.starts[node]);
            let own = 3 * slots[NEIGHBOURS / 2] as usize;
            for k in 0..3 {
                values[9 * first + 3 * count * k + own + k] += system.mass[node];
            }
        }
    }

    /// y = A x, by columns, which are rows: A is symmetric.
    pub(crate) fn apply(&self, x: &[f64], y: &mut [f64]) {
        f64::dispatch(Product { matrix: self, x, y });
    }
}

/// A product with A.
struct Product<'a> {
    matrix: &'a BlockMatrix,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl LaneWork<f64> for Product<'_> {
    #[inline(always)]
    fn run<L: Lanes<f64>>(self, lanes: L) {
        let starts = &self.matrix.starts;
        let (indices, values) = (self.matrix.matrix.indices(), self.matrix.matrix.data());
        // What a node's neighbours have, side by side, with zeros behind for whole rows of lanes.
        let mut near = [0.0; 3 * NEIGHBOURS + LANES];
        for (node, y) in self.y.chunks_exact_mut(3).enumerate() {
            let (first, count) = (starts[node], starts[node + 1] - starts[node]);
            let height = 3 * count;
            let ids = &indices[9 * first..9 * first + height];
            for (near, id) in near.chunks_exact_mut(3).zip(ids.chunks_exact(3)) {
                let at = id[0] as usize;
                near.copy_from_slice(&self.x[at..at + 3]);
            }
            for (k, y) in y.iter_mut().enumerate() {
                let from = 9 * first + height * k;
                *y = dot(lanes, &values[from..from + height], &near[..height]);
            }
        }
    }
}

#[inline(always)]
fn dot<L: Lanes<f64>>(lanes: L, a: &[f64], b: &[f64]) -> f64 {
    let mut sum = lanes.splat(0.0);
    let (whole, rest) = a.as_chunks::<LANES>();
    let (whole_b, rest_b) = b.as_chunks::<LANES>();
    for (a, b) in whole.iter().zip(whole_b) {
        sum = lanes.mul_add(lanes.load(a), lanes.load(b), sum);
    }
    let mut parts = [0.0; LANES];
    lanes.store(sum, &mut parts);
    let rest: f64 = rest.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    parts.iter().sum::<f64>() + rest
}

/// Adds the three columns of node `a` of a cell; `height` is the length of a column.
fn add_columns(
    to: &mut [f64],
    height: usize,
    nodes: &[u32; 27],
    slots: &[u8; NEIGHBOURS],
    a: usize,
    stiffness: &[f64],
) {
    for (row, nodes) in nodes.as_chunks::<3>().0.iter().enumerate() {
        let slot = [0, 1, 2].map(|k| 3 * slots[offset(a, 3 * row + k)] as usize);
        // Neighbours along z usually follow one another in memory.
        let together = nodes.iter().all(|n| *n != NONE) && slot[0] + 6 == slot[2];
        for c in 0..3 {
            let column = &mut to[c * height..(c + 1) * height];
            let from = (3 * a + c) * 81 + 9 * row;
            let values = &stiffness[from..from + 9];
            if together {
                let to = column[slot[0]..slot[0] + 9].iter_mut();
                to.zip(values).for_each(|(to, k)| *to += k);
                continue;
            }
            for (k, values) in values.chunks_exact(3).enumerate() {
                if nodes[k] != NONE {
                    let to = column[slot[k]..slot[k] + 3].iter_mut();
                    to.zip(values).for_each(|(to, k)| *to += k);
                }
            }
        }
    }
}

/// Stiffness between the 27 nodes of one cell.
struct CellStiffness {
    /// Column-major 81×81 of Σ V q qᵀ for one pair (μ, λ), lower triangle of blocks.
    gram: Vec<f64>,
    /// K, column-major 81×81.
    sum: Vec<f64>,
}

impl Default for CellStiffness {
    fn default() -> Self {
        Self {
            gram: vec![0.0; 81 * 81],
            sum: vec![0.0; 81 * 81],
        }
    }
}

impl CellStiffness {
    fn sum(&mut self, system: &GridSystem, cell: &Cell, tangents: &[Tangent<f64>], scale: f64) {
        self.sum.fill(0.0);
        let mut pending: Option<(f64, f64)> = None;
        for p in cell.particles.clone().map(|p| p as usize) {
            let weight = scale * system.particles[p].volume;
            let stencil = &system.stencils[p];
            match &tangents[p] {
                Tangent::Isotropic { map, mu, lambda } => {
                    // Particles of one ratio λ : μ share a Gram matrix, weighted by their size.
                    let (size, ratio) = if *mu > 0.0 {
                        (*mu, (1.0, lambda / mu))
                    } else {
                        (*lambda, (0.0, 1.0))
                    };
                    if size == 0.0 {
                        continue;
                    }
                    if pending != Some(ratio) {
                        self.settle(pending);
                        pending = Some(ratio);
                        self.gram.fill(0.0);
                    }
                    let mut q = [0.0; 81];
                    for n in 0..27 {
                        let mapped = map * stencil.gradient(corner(n));
                        q[3 * n..3 * n + 3].copy_from_slice(mapped.as_slice());
                    }
                    self.rank_one(&q, weight * size);
                }
                Tangent::General(h) => {
                    for a in 0..27 {
                        let g = stencil.gradient(corner(a)) * weight;
                        // H contracted with the column's gradient: 9×3.
                        let half = h.fixed_columns::<3>(0) * g.x
                            + h.fixed_columns::<3>(3) * g.y
                            + h.fixed_columns::<3>(6) * g.z;
                        for b in a..27 {
                            let g: Vector3<f64> = stencil.gradient(corner(b));
                            for c in 0..3 {
                                let at = (3 * a + c) * 81 + 3 * b;
                                for r in 0..3 {
                                    self.sum[at + r] += half[(r, c)] * g.x
                                        + half[(3 + r, c)] * g.y
                                        + half[(6 + r, c)] * g.z;
                                }
                            }
                        }
                    }
                }
            }
        }
        self.settle(pending);
        self.mirror();
    }

    /// gram += w q qᵀ, from the diagonal block down.
    fn rank_one(&mut self, q: &[f64; 81], w: f64) {
        f64::dispatch(RankOne {
            gram: &mut self.gram,
            q,
            w,
        });
    }

    /// Adds K of the Gram matrix gathered for (μ, λ).
    fn settle(&mut self, pending: Option<(f64, f64)>) {
        let Some((mu, lambda)) = pending else {
            return;
        };
        for a in 0..27 {
            let (g, k) = (
                &self.gram[243 * a..243 * (a + 1)],
                &mut self.sum[243 * a..243 * (a + 1)],
            );
            for b in a..27 {
                let at = |r: usize, c: usize| 81 * c + 3 * b + r;
                let trace = mu * (g[at(0, 0)] + g[at(1, 1)] + g[at(2, 2)]);
                for c in 0..3 {
                    for r in 0..3 {
                        // T_ba = q_b q_aᵀ; K_ba = μ (tr T I + T_baᵀ) + λ T_ba.
                        let own = if r == c { trace } else { 0.0 };
                        k[at(r, c)] += own + mu * g[at(c, r)] + lambda * g[at(r, c)];
                    }
                }
            }
        }
    }

    /// Fills in the blocks above the diagonal.
    fn mirror(&mut self) {
        for column in 0..81 {
            for row in column / 3 * 3 + 3..81 {
                self.sum[row * 81 + column] = self.sum[column * 81 + row];
            }
        }
    }
}

/// gram += w q qᵀ.
struct RankOne<'a> {
    gram: &'a mut [f64],
    q: &'a [f64; 81],
    w: f64,
}

impl LaneWork<f64> for RankOne<'_> {
    #[inline(always)]
    fn run<L: Lanes<f64>>(self, _: L) {
        let q = self.q;
        for (column, to) in self.gram.as_chunks_mut::<81>().0.iter_mut().enumerate() {
            // From a multiple of four, so that whole registers are added.
            let from = column / 3 * 3 / 4 * 4;
            let scaled = self.w * q[column];
            for (to, q) in to[from..].iter_mut().zip(&q[from..]) {
                *to += scaled * q;
            }
        }
    }
}
