//! Assembly of A: compressed columns of 3×3 blocks, summed cell by cell.
//!
//! The cost of a product with an assembled matrix is proportional to the number of nodes, of a matrix-free one to that of particles; from
//! about two particles per node on, the assembled one is cheaper. Direct solvers need it. [`cell_stiffness`](super::cell_stiffness)
//! computes the contribution of a cell. One triangle of blocks is summed, the other copied from it.

use rayon::prelude::*;
use sprs::CsMatI;

use crate::colours::scatter;
use crate::lanes::{InstructionSet, LANES, LaneScalar, LaneWork, Lanes};
use crate::material::Tangent;
use crate::nodes::locate;
use crate::sparse_grid::NONE;

use super::GridSystem;
use super::cell_stiffness::{CellStiffness, Column};

/// Number of nodes that can share a cell with a node.
const NEIGHBOURS: usize = 125;
/// Nodes per task of a parallel product: about 50 µs.
const PRODUCT_NODES: usize = 128;
/// The offset of a node from itself.
const OWN: usize = NEIGHBOURS / 2;

/// Index of the offset from node a to node b of the 27.
static OFFSETS: [[u8; 27]; 27] = offsets();

const fn offsets() -> [[u8; 27]; 27] {
    let mut table = [[0; 27]; 27];
    let mut n = 0;
    while n < 27 * 27 {
        let (a, b) = (n / 27, n % 27);
        let (x, y, z) = (
            b / 9 + 2 - a / 9,
            b / 3 % 3 + 2 - a / 3 % 3,
            b % 3 + 2 - a % 3,
        );
        table[a][b] = ((x * 5 + y) * 5 + z) as u8;
        n += 1;
    }
    table
}

/// A as a sparse matrix, and its pattern.
#[derive(Clone, Debug)]
pub(crate) struct BlockMatrix {
    pub(crate) matrix: CsMatI<f64, u32>,
    /// First neighbour of each node, in units of blocks.
    starts: Vec<usize>,
    /// Index of each neighbour of a node, by offset.
    slots: Vec<[u8; NEIGHBOURS]>,
    /// Node and offset of each block.
    blocks: Vec<(u32, u8)>,
    /// The nodes of the cells of the pattern.
    laid_out: Vec<[u32; 27]>,
}

impl Default for BlockMatrix {
    fn default() -> Self {
        Self {
            matrix: CsMatI::zero((0, 0)).into_csc(),
            starts: Vec::new(),
            slots: Vec::new(),
            blocks: Vec::new(),
            laid_out: Vec::new(),
        }
    }
}

impl BlockMatrix {
    /// Assembles A of `system`.
    pub(crate) fn assemble(&mut self, system: &GridSystem, tangents: &[Tangent<f64>]) {
        self.lay_out(system);
        let scale = system.tangent_scale();
        self.fill(system, tangents, scale);
    }

    /// Finds which nodes share a cell.
    fn lay_out(&mut self, system: &GridSystem) {
        let n = system.nodes.len();
        if self.slots.len() == n && self.laid_out == system.nodes.of_cell {
            self.matrix.data_mut().fill(0.0);
            return;
        }
        self.laid_out.clone_from(&system.nodes.of_cell);
        let mut ids = vec![[NONE; NEIGHBOURS]; n];
        for nodes in &system.nodes.of_cell {
            for (&node, offsets) in nodes.iter().zip(&OFFSETS) {
                if node == NONE {
                    continue;
                }
                let row = &mut ids[node as usize];
                for (&other, &offset) in nodes.iter().zip(offsets) {
                    if other != NONE {
                        row[offset as usize] = other;
                    }
                }
            }
        }
        self.starts.clear();
        self.starts.push(0);
        self.slots.clear();
        self.slots.resize(n, [0; NEIGHBOURS]);
        self.blocks.clear();
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
            sorted.sort();
            for (slot, (_, offset)) in sorted.iter().enumerate() {
                slots[*offset as usize] = slot as u8;
            }
            self.blocks.extend_from_slice(&sorted);
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
                    stiffness.open(system, cell, tangents, scale);
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
                        add_columns(to, nodes, &slots[column], a, stiffness.column(a));
                    }
                }
            });
        }
        self.mirror();
        self.finish(system);
    }

    /// Copies the blocks of one triangle, by offset, to the other.
    fn mirror(&mut self) {
        let n = self.slots.len();
        let values = self.matrix.data_mut();
        for node in 0..n {
            let (first, count) = (self.starts[node], self.starts[node + 1] - self.starts[node]);
            for (slot, &(other, offset)) in self.blocks[first..first + count].iter().enumerate() {
                let (other, offset) = (other as usize, offset as usize);
                if offset >= OWN {
                    continue;
                }
                let (from, height) = (
                    self.starts[other],
                    3 * (self.starts[other + 1] - self.starts[other]),
                );
                let at = 9 * from + 3 * self.slots[other][NEIGHBOURS - 1 - offset] as usize;
                let to = 9 * first + 3 * slot;
                for c in 0..3 {
                    for r in 0..3 {
                        values[to + 3 * count * c + r] = values[at + height * r + c];
                    }
                }
            }
        }
    }

    /// Adds mass and sets prescribed rows and columns.
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
            let own = 3 * slots[OWN] as usize;
            for k in 0..3 {
                values[9 * first + 3 * count * k + own + k] += system.mass[node];
            }
        }
    }

    /// y = A x, with columns as rows: A is symmetric.
    pub(crate) fn apply(&self, x: &[f64], y: &mut [f64]) {
        let set = InstructionSet::widest();
        if self.slots.len() < 2 * PRODUCT_NODES {
            let whole = Product {
                matrix: self,
                first_node: 0,
                x,
                y,
            };
            return f64::dispatch(set, whole);
        }
        let chunks = y.par_chunks_mut(3 * PRODUCT_NODES).enumerate();
        chunks.for_each(|(chunk, y)| {
            let part = Product {
                matrix: self,
                first_node: chunk * PRODUCT_NODES,
                x,
                y,
            };
            f64::dispatch(set, part);
        });
    }
}

/// Rows of nodes, from `first_node` on, of a product with A.
struct Product<'a> {
    matrix: &'a BlockMatrix,
    first_node: usize,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl LaneWork<f64> for Product<'_> {
    #[inline(always)]
    fn run<L: Lanes<f64>>(self, lanes: L) {
        let starts = &self.matrix.starts;
        let (indices, values) = (self.matrix.matrix.indices(), self.matrix.matrix.data());
        // The values of a node's neighbours, contiguous and padded by one.
        let mut near = [0.0; 3 * NEIGHBOURS + 1];
        let nodes = self.first_node..;
        for (node, y) in nodes.zip(self.y.chunks_exact_mut(3)) {
            let (first, count) = (starts[node], starts[node + 1] - starts[node]);
            let height = 3 * count;
            let ids = &indices[9 * first..9 * first + height];
            for (k, id) in ids.chunks_exact(3).enumerate() {
                let (at, to) = (id[0] as usize, 3 * k);
                // Copies four values, a single move; the next neighbour overwrites the fourth.
                match self.x.get(at..at + 4) {
                    Some(four) => near[to..to + 4].copy_from_slice(four),
                    None => near[to..to + 3].copy_from_slice(&self.x[at..at + 3]),
                }
            }
            let from = 9 * first;
            let columns = [0, 1, 2].map(|k| &values[from + height * k..from + height * (k + 1)]);
            y.copy_from_slice(&dots(lanes, columns, &near[..height]));
        }
    }
}

#[inline(always)]
fn dots<L: Lanes<f64>>(lanes: L, columns: [&[f64]; 3], b: &[f64]) -> [f64; 3] {
    let mut sums = [lanes.splat(0.0); 3];
    let (whole_b, rest_b) = b.as_chunks::<LANES>();
    let parts = columns.map(|a| a.as_chunks::<LANES>());
    for (n, b) in whole_b.iter().enumerate() {
        let b = lanes.load(b);
        for (sum, (whole, _)) in sums.iter_mut().zip(&parts) {
            *sum = lanes.mul_add(lanes.load(&whole[n]), b, *sum);
        }
    }
    let mut out = [0.0; 3];
    for ((out, sum), (_, rest)) in out.iter_mut().zip(sums).zip(&parts) {
        let mut lane = [0.0; LANES];
        lanes.store(sum, &mut lane);
        let rest: f64 = rest.iter().zip(rest_b).map(|(a, b)| a * b).sum();
        *out = lane.iter().sum::<f64>() + rest;
    }
    out
}

/// Adds the contribution of a cell to the column of its node `a`: the blocks of the nodes from `a` on.
#[inline(always)]
fn add_columns(to: &mut [f64], nodes: &[u32; 27], slots: &[u8; NEIGHBOURS], a: usize, k: &Column) {
    let height = to.len() / 3;
    let (x, rest) = to.split_at_mut(height);
    let (y, z) = rest.split_at_mut(height);
    for b in a..27 {
        if nodes[b] == NONE {
            continue;
        }
        let at = 3 * slots[OFFSETS[a][b] as usize] as usize;
        for (c, to) in [&mut *x, &mut *y, &mut *z].into_iter().enumerate() {
            let to = &mut to[at..at + 3];
            (0..3).for_each(|r| to[r] += k[c][r][b]);
        }
    }
}
