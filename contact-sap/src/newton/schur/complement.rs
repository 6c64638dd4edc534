//! The Schur complement S = A_pp − A_pn A_nn⁻¹ A_np of a body on its participating nodes.
//!
//! Each connected component of eliminated nodes couples all of its neighbours. S is block tridiagonal for a rod with contacts here
//! and there, and full for a solid.

use sprs::CsMatI;

use crate::dynamics::{Assembled, BlockDiagonal};
use crate::hessian::{
    BlockLocation, ContributionBlock, Elimination, Graph, Multifrontal, minimum_degree,
};

/// A pattern with at least this share of all entries is stored as a full matrix.
const FULL_SHARE: f64 = 0.5;

/// S, both triangles, column by column: all columns of a node have the same rows.
#[derive(Default)]
pub(super) struct Complement {
    /// First velocity of each node, and one past the last.
    node_starts: Vec<usize>,
    columns: Vec<Column>,
    runs: Vec<Run>,
    values: Values,
    /// The blocks on the diagonal, and their sizes, unless S is full.
    sizes: Vec<usize>,
    blocks: Vec<f64>,
}

/// The columns of one node.
#[derive(Clone, Copy)]
struct Column {
    first_run: usize,
    end_run: usize,
    /// Offset of their values, and number of values per column.
    offset: usize,
    height: usize,
}

/// Consecutive nodes in the rows of a node's columns.
#[derive(Clone, Copy)]
struct Run {
    first: usize,
    end: usize,
    /// Row of the first within the column.
    row: usize,
}

enum Values {
    /// All entries.
    Full(Vec<f64>),
    Sparse(CsMatI<f64, u32>),
}

impl Default for Values {
    fn default() -> Self {
        Self::Full(Vec::new())
    }
}

impl Complement {
    /// For nodes whose velocities begin at `node_starts`, coupled by `graph` and within each of the `cliques`.
    pub(super) fn new(node_starts: Vec<usize>, graph: &Graph, cliques: &[Vec<u32>]) -> Self {
        let mut this = Self {
            node_starts,
            ..Self::default()
        };
        let full = FULL_SHARE * (this.n_dofs() as f64).powi(2);
        let dofs_of =
            |clique: &Vec<u32>| clique.iter().map(|k| this.size(*k as usize)).sum::<usize>();
        let largest = cliques.iter().map(dofs_of).max().unwrap_or(0);
        if (largest as f64).powi(2) >= full {
            this.lay_out_in_full();
            return this;
        }
        this.lay_out(graph, cliques);
        if this.stored() as f64 >= full {
            this.lay_out_in_full();
        } else {
            this.make_sparse();
        }
        this
    }

    fn lay_out_in_full(&mut self) {
        let (n_nodes, n) = (self.n_nodes(), self.n_dofs());
        self.runs.clear();
        self.runs.push(Run {
            first: 0,
            end: n_nodes,
            row: 0,
        });
        let column = |start: &usize| Column {
            first_run: 0,
            end_run: 1,
            offset: start * n,
            height: n,
        };
        self.columns = self.node_starts[..n_nodes].iter().map(column).collect();
        self.values = Values::Full(vec![0.0; n * n]);
    }

    fn lay_out(&mut self, graph: &Graph, cliques: &[Vec<u32>]) {
        let n_nodes = self.n_nodes();
        let mut cliques_of = vec![Vec::new(); n_nodes];
        for clique in cliques {
            for node in clique {
                cliques_of[*node as usize].push(clique);
            }
        }
        let mut coupled: Vec<u32> = Vec::new();
        let mut offset = 0;
        for (node, cliques) in cliques_of.iter().enumerate() {
            coupled.clear();
            coupled.push(node as u32);
            coupled.extend_from_slice(graph.neighbours(node));
            for clique in cliques {
                coupled.extend_from_slice(clique);
            }
            coupled.sort_unstable();
            coupled.dedup();
            let first_run = self.runs.len();
            let mut height = 0;
            for &other in &coupled {
                let other = other as usize;
                match self.runs[first_run..].last_mut() {
                    Some(run) if run.end == other => run.end += 1,
                    _ => self.runs.push(Run {
                        first: other,
                        end: other + 1,
                        row: height,
                    }),
                }
                height += self.size(other);
            }
            self.columns.push(Column {
                first_run,
                end_run: self.runs.len(),
                offset,
                height,
            });
            offset += height * self.size(node);
        }
    }

    fn make_sparse(&mut self) {
        let n = self.n_dofs();
        let mut starts = vec![0];
        let mut rows = Vec::with_capacity(self.stored());
        for (node, column) in self.columns.iter().enumerate() {
            for _ in 0..self.size(node) {
                for run in &self.runs[column.first_run..column.end_run] {
                    let run = self.node_starts[run.first]..self.node_starts[run.end];
                    rows.extend(run.map(|row| row as u32));
                }
                starts.push(rows.len() as u32);
            }
        }
        let values = vec![0.0; rows.len()];
        self.values = Values::Sparse(CsMatI::new_csc((n, n), starts, rows, values));
        self.sizes = (0..self.n_nodes()).map(|node| self.size(node)).collect();
    }

    fn n_nodes(&self) -> usize {
        self.node_starts.len().saturating_sub(1)
    }

    fn n_dofs(&self) -> usize {
        self.node_starts.last().copied().unwrap_or(0)
    }

    fn size(&self, node: usize) -> usize {
        self.node_starts[node + 1] - self.node_starts[node]
    }

    /// Stored entries.
    fn stored(&self) -> usize {
        let last = self.columns.last();
        last.map_or(0, |c| c.offset + c.height * self.size(self.n_nodes() - 1))
    }

    /// Whether S is stored as a full matrix, which is then one node.
    pub(super) fn is_full(&self) -> bool {
        matches!(self.values, Values::Full(_))
    }

    /// Ends of its nodes; one end if it is full.
    pub(super) fn node_ends(&self) -> &[usize] {
        let ends = self.node_starts.get(1..).unwrap_or(&[]);
        match self.is_full() {
            true => &ends[ends.len().saturating_sub(1)..],
            false => ends,
        }
    }

    /// Multiplications to factor it.
    pub(super) fn factor_work(&self) -> f64 {
        if self.is_full() {
            return (self.n_dofs() as f64).powi(3) / 6.0;
        }
        let mut edges = Vec::new();
        for (node, column) in self.columns.iter().enumerate() {
            for run in &self.runs[column.first_run..column.end_run] {
                let below = run.first.max(node + 1)..run.end;
                edges.extend(below.map(|other| (other as u32, node as u32)));
            }
        }
        let graph = Graph::from_edges(self.n_nodes(), &edges);
        let elimination = Elimination::new(&graph, minimum_degree(&graph));
        Multifrontal::new(&graph, &elimination, &self.node_starts).work()
    }

    /// S ← 0.
    pub(super) fn clear(&mut self) {
        self.values_mut().fill(0.0);
    }

    /// All stored values.
    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        match &mut self.values {
            Values::Full(values) => values,
            Values::Sparse(matrix) => matrix.data_mut(),
        }
    }

    /// Location of block (`row`, `column`) of two coupled nodes in the values.
    pub(super) fn block(&self, row: usize, column: usize) -> BlockLocation {
        let Column {
            first_run,
            end_run,
            offset,
            height,
        } = self.columns[column];
        let runs = &self.runs[first_run..end_run];
        let run = runs[runs.partition_point(|run| run.end <= row)];
        debug_assert!(run.first <= row, "nodes {row} and {column} are coupled");
        BlockLocation {
            offset: offset + run.row + self.node_starts[row] - self.node_starts[run.first],
            stride: height,
        }
    }

    /// Adds the contribution of one component of eliminated nodes.
    pub(super) fn add(&mut self, contribution: &ContributionBlock<'_>) {
        let n = contribution.n;
        for (p, first_column) in contribution.nodes() {
            let width = self.size(p);
            for (q, first_row) in contribution.nodes().filter(|(q, _)| *q >= p) {
                let (height, lower, upper) = (self.size(q), self.block(q, p), self.block(p, q));
                let values = self.values_mut();
                for j in 0..width {
                    let from = &contribution.values[(first_column + j) * n + first_row..][..height];
                    // Diagonal blocks have only their lower triangle.
                    let skip = if p == q { j } else { 0 };
                    for (i, from) in from.iter().enumerate().skip(skip) {
                        values[lower.offset + i + j * lower.stride] += from;
                        if p != q || i != j {
                            values[upper.offset + j + i * upper.stride] += from;
                        }
                    }
                }
            }
        }
    }

    /// Completes S after all contributions are added.
    pub(super) fn finish(&mut self) {
        let Values::Sparse(matrix) = &self.values else {
            return;
        };
        self.blocks.clear();
        for node in 0..self.n_nodes() {
            let (location, size) = (self.block(node, node), self.size(node));
            for j in 0..size {
                let column = &matrix.data()[location.offset + j * location.stride..][..size];
                self.blocks.extend_from_slice(column);
            }
        }
    }

    /// y = S x.
    pub(super) fn apply(&self, x: &[f64], y: &mut [f64]) {
        let values = match &self.values {
            Values::Full(values) => values,
            Values::Sparse(matrix) => matrix.data(),
        };
        y.fill(0.0);
        for (node, column) in self.columns.iter().enumerate() {
            let own = &values[column.offset..];
            for j in 0..self.size(node) {
                let x = x[self.node_starts[node] + j];
                for run in &self.runs[column.first_run..column.end_run] {
                    let y = &mut y[self.node_starts[run.first]..self.node_starts[run.end]];
                    let own = &own[j * column.height + run.row..][..y.len()];
                    y.iter_mut().zip(own).for_each(|(y, a)| *y += a * x);
                }
            }
        }
    }

    pub(super) fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        match &self.values {
            Values::Full(values) => BlockDiagonal::Whole(values),
            Values::Sparse(_) => BlockDiagonal::Mixed {
                sizes: &self.sizes,
                values: &self.blocks,
            },
        }
    }

    pub(super) fn assembled(&self) -> Assembled<'_> {
        match &self.values {
            Values::Full(values) => Assembled::Dense(values),
            Values::Sparse(matrix) => Assembled::Sparse(matrix.view()),
        }
    }
}
