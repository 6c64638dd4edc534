//! A block-sparse Hessian, factored by supernodes in an order that keeps the factor short.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMat, SymbolicSparseColMat, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

use crate::dynamics::Assembled;
use crate::evaluation::Evaluation;
use crate::hessian::ordering::{Graph, inverse, minimum_degree, postorder};
use crate::hessian::{FailedPivot, Place, add_congruence};
use crate::island::{IslandProblem, Member};

/// H in compressed columns of its lower triangle, nodes permuted; the diagonal blocks are stored in full.
#[derive(Default)]
pub(crate) struct SparseHessian {
    key: PatternKey,
    next_key: PatternKey,
    pattern: Option<Pattern>,
    l_values: Vec<f64>,
    permuted: Vec<f64>,
    /// For each basis in turn, the place of every pair of its pieces that is scattered.
    places: Vec<Place>,
    edges: Vec<(u32, u32)>,
}

/// What the pattern of H follows from. Equal keys have equal patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PatternKey {
    node_starts: Vec<usize>,
    /// Sorted pairs of nodes that constraints couple, first > second.
    couplings: Vec<(u32, u32)>,
    /// Column pointers and rows of every sparse participant.
    sparse: Vec<u32>,
}

/// Everything symbolic.
struct Pattern {
    /// Position of each node.
    position: Vec<u32>,
    /// Node and scalar layout by position.
    columns: Vec<BlockColumn>,
    /// Positions of the rows of all block columns, ascending in each, the diagonal first; and their offset in the column.
    rows: Vec<(u32, u32)>,
    /// Index in `values` of each stored entry of each sparse participant; `u32::MAX`: the other triangle has it.
    scatter: Vec<u32>,
    matrix: SparseColMat<u32, f64>,
    symbolic: SymbolicCholesky<u32>,
    memory: MemBuffer,
}

#[derive(Clone, Debug)]
struct BlockColumn {
    /// First scalar row after permutation.
    first: usize,
    /// First velocity of the island.
    dof: usize,
    size: usize,
    rows: std::ops::Range<usize>,
    /// Offset of its first scalar column in the values; scalar columns are `length` apart.
    offset: usize,
    length: usize,
}

impl SparseHessian {
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>) {
        self.next_key.read(p);
        if self.pattern.is_none() || self.key != self.next_key {
            std::mem::swap(&mut self.key, &mut self.next_key);
            let pattern = Pattern::new(p, &self.key, &mut self.edges);
            self.l_values.resize(pattern.symbolic.len_val(), 0.0);
            self.pattern = Some(pattern);
        }
        self.permuted.resize(p.island.n_dofs, 0.0);
        let Some(pattern) = &self.pattern else { return };
        self.places.clear();
        for basis in &p.island.bases {
            let pieces = &p.island.pieces[basis.pieces.clone()];
            for a in pieces {
                for b in pieces {
                    let (row, column) = (pattern.position[a.node], pattern.position[b.node]);
                    if row >= column {
                        let mut place = pattern.block(row, column);
                        let node_starts = &p.island.node_starts;
                        place.offset += a.dof - node_starts[a.node];
                        place.offset += (b.dof - node_starts[b.node]) * place.stride;
                        self.places.push(place);
                    }
                }
            }
        }
    }

    pub(crate) fn assemble(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        shift: f64,
        scratch: &mut Vec<f64>,
    ) {
        let Some(pattern) = &mut self.pattern else {
            return;
        };
        let values = pattern.matrix.val_mut();
        values.fill(0.0);
        let mut node = 0;
        let mut scatter = pattern.scatter.as_slice();
        for member in &p.island.members {
            let first_node = node;
            while p.island.node_starts[node] < member.first_dof + member.n_dofs {
                node += 1;
            }
            match p.dynamics(member).assembled() {
                Some(Assembled::Dense(a)) if member.n_dofs > 0 => {
                    let column = &pattern.columns[pattern.position[first_node] as usize];
                    for (j, a_j) in a.chunks_exact(member.n_dofs).enumerate() {
                        values[column.offset + j * column.length..][..member.n_dofs]
                            .copy_from_slice(a_j);
                    }
                }
                Some(Assembled::Sparse(a)) => {
                    let (own, rest) = scatter.split_at(a.data().len());
                    for (place, a) in own.iter().zip(a.data()) {
                        if *place != u32::MAX {
                            values[*place as usize] = *a;
                        }
                    }
                    scatter = rest;
                }
                _ => {}
            }
        }
        if shift > 0.0 {
            for column in &pattern.columns {
                for j in 0..column.size {
                    values[column.offset + j * (column.length + 1)] *= 1.0 + shift;
                }
            }
        }
        let set = p.set();
        let mut places = self.places.iter();
        for (basis, active) in p.island.bases.iter().zip(&e.active) {
            let r = basis.n_rows;
            let k = &e.aggregates[basis.aggregate0..basis.aggregate0 + r * r];
            let pieces = &p.island.pieces[basis.pieces.clone()];
            for a in pieces {
                for b in pieces {
                    if pattern.position[a.node] < pattern.position[b.node] {
                        continue;
                    }
                    let Some(place) = places.next() else { return };
                    if *active {
                        add_congruence(
                            (a, a.values(set)),
                            (b, b.values(set)),
                            k,
                            r,
                            *place,
                            values,
                            scratch,
                        );
                    }
                }
            }
        }
    }

    pub(crate) fn factor(&mut self) -> Result<(), FailedPivot> {
        let Some(pattern) = &mut self.pattern else {
            return Ok(());
        };
        let factor = pattern.symbolic.factorize_numeric_llt(
            &mut self.l_values,
            pattern.matrix.as_ref(),
            Side::Lower,
            Default::default(),
            Par::Seq,
            MemStack::new(&mut pattern.memory),
            Default::default(),
        );
        match factor {
            Ok(_) => Ok(()),
            Err(faer::linalg::cholesky::llt::factor::LltError::NonPositivePivot { index }) => {
                let column = pattern.columns.partition_point(|c| c.first <= index) - 1;
                let column = &pattern.columns[column];
                Err(FailedPivot {
                    dof: column.dof + index - column.first,
                })
            }
        }
    }

    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        let Some(pattern) = &mut self.pattern else {
            return;
        };
        for c in &pattern.columns {
            self.permuted[c.first..c.first + c.size].copy_from_slice(&x[c.dof..c.dof + c.size]);
        }
        let factor = LltRef::<u32, f64>::new(&pattern.symbolic, &self.l_values);
        let n = x.len();
        factor.solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut self.permuted, n, 1),
            Par::Seq,
            MemStack::new(&mut pattern.memory),
        );
        for c in &pattern.columns {
            x[c.dof..c.dof + c.size].copy_from_slice(&self.permuted[c.first..c.first + c.size]);
        }
    }
}

impl PatternKey {
    fn read(&mut self, p: &IslandProblem<'_>) {
        self.node_starts.clear();
        self.node_starts.extend_from_slice(&p.island.node_starts);
        self.couplings.clear();
        for basis in &p.island.bases {
            let pieces = &p.island.pieces[basis.pieces.clone()];
            for (k, a) in pieces.iter().enumerate() {
                for b in &pieces[..k] {
                    if a.node != b.node {
                        let (high, low) = (a.node.max(b.node), a.node.min(b.node));
                        self.couplings.push((high as u32, low as u32));
                    }
                }
            }
        }
        self.couplings.sort_unstable();
        self.couplings.dedup();
        self.sparse.clear();
        for member in &p.island.members {
            if let Some(Assembled::Sparse(a)) = p.dynamics(member).assembled() {
                self.sparse.push(member.first_dof as u32);
                self.sparse.extend_from_slice(a.indptr().raw_storage());
                self.sparse.extend_from_slice(a.indices());
            }
        }
    }
}

/// Calls `each` with the place of every stored entry of every sparse participant: (row, column), velocities of the island.
fn for_each_sparse_entry(p: &IslandProblem<'_>, mut each: impl FnMut(&Member, usize, usize)) {
    for member in &p.island.members {
        if let Some(Assembled::Sparse(a)) = p.dynamics(member).assembled() {
            for (j, column) in a.outer_iterator().enumerate() {
                for &i in column.indices() {
                    each(member, member.first_dof + i as usize, member.first_dof + j);
                }
            }
        }
    }
}

impl Pattern {
    fn new(p: &IslandProblem<'_>, key: &PatternKey, edges: &mut Vec<(u32, u32)>) -> Self {
        let node_starts = &p.island.node_starts;
        let n_nodes = p.island.n_nodes();
        let mut node_of_dof = vec![0u32; p.island.n_dofs];
        for (node, range) in node_starts.windows(2).enumerate() {
            node_of_dof[range[0]..range[1]].fill(node as u32);
        }
        edges.clear();
        edges.extend_from_slice(&key.couplings);
        for_each_sparse_entry(p, |_, i, j| {
            let (i, j) = (node_of_dof[i], node_of_dof[j]);
            if i > j {
                edges.push((i, j));
            }
        });
        let graph = Graph::from_edges(n_nodes, edges);
        let order = postorder(&graph, &minimum_degree(&graph));
        let position = inverse(&order);

        let mut columns = Vec::with_capacity(n_nodes);
        let mut rows = Vec::with_capacity(n_nodes + graph.neighbours.len() / 2);
        let (mut first, mut n_values) = (0, 0);
        let node_size = |node: usize| node_starts[node + 1] - node_starts[node];
        for (k, &node) in order.iter().enumerate() {
            let node = node as usize;
            let start = rows.len();
            rows.push((k as u32, 0));
            for &neighbour in graph.neighbours(node) {
                let row = position[neighbour as usize];
                if row as usize > k {
                    rows.push((row, 0));
                }
            }
            rows[start..].sort_unstable();
            let mut length = 0;
            for (row, offset) in &mut rows[start..] {
                *offset = length as u32;
                length += node_size(order[*row as usize] as usize);
            }
            let size = node_size(node);
            columns.push(BlockColumn {
                first,
                dof: node_starts[node],
                size,
                rows: start..rows.len(),
                offset: n_values,
                length,
            });
            first += size;
            n_values += size * length;
        }

        let (matrix, symbolic) = symbolic_factor(&columns, &rows);
        let memory = MemBuffer::new(StackReq::any_of(&[
            symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default()),
            symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
        ]));
        let mut pattern = Self {
            position,
            columns,
            rows,
            scatter: Vec::new(),
            matrix,
            symbolic,
            memory,
        };
        let mut scatter = Vec::new();
        for_each_sparse_entry(p, |_, i, j| {
            let (node_i, node_j) = (node_of_dof[i] as usize, node_of_dof[j] as usize);
            let (row, column) = (pattern.position[node_i], pattern.position[node_j]);
            scatter.push(if row >= column {
                let place = pattern.block(row, column);
                let (i, j) = (i - node_starts[node_i], j - node_starts[node_j]);
                (place.offset + i + j * place.stride) as u32
            } else {
                u32::MAX
            });
        });
        pattern.scatter = scatter;
        pattern
    }

    /// Place of the block at positions (row, column), row ≥ column.
    fn block(&self, row: u32, column: u32) -> Place {
        let c = &self.columns[column as usize];
        let rows = &self.rows[c.rows.clone()];
        let at = rows.partition_point(|(r, _)| *r < row);
        debug_assert_eq!(rows[at].0, row, "the pattern has every coupling");
        Place {
            offset: c.offset + rows[at].1 as usize,
            stride: c.length,
        }
    }
}

/// The scalar pattern of the lower triangle with full diagonal blocks, and its supernodal factorisation.
fn symbolic_factor(
    columns: &[BlockColumn],
    rows: &[(u32, u32)],
) -> (SparseColMat<u32, f64>, SymbolicCholesky<u32>) {
    let n = columns.last().map_or(0, |c| c.first + c.size);
    let n_values = columns.last().map_or(0, |c| c.offset + c.size * c.length);
    let mut starts = Vec::with_capacity(n + 1);
    let mut indices = Vec::with_capacity(n_values);
    starts.push(0);
    for column in columns {
        for _ in 0..column.size {
            for (row, _) in &rows[column.rows.clone()] {
                let row = &columns[*row as usize];
                indices.extend((row.first..row.first + row.size).map(|i| i as u32));
            }
            starts.push(indices.len() as u32);
        }
    }
    // The symbolic phase reads the upper triangle: the transposed pattern.
    let mut upper_starts = vec![0u32; n + 1];
    for (j, column) in starts.windows(2).enumerate() {
        for &i in &indices[column[0] as usize..column[1] as usize] {
            if i as usize >= j {
                upper_starts[i as usize + 1] += 1;
            }
        }
    }
    for i in 0..n {
        upper_starts[i + 1] += upper_starts[i];
    }
    let mut upper = vec![0u32; upper_starts[n] as usize];
    let mut next = upper_starts.clone();
    for (j, column) in starts.windows(2).enumerate() {
        for &i in &indices[column[0] as usize..column[1] as usize] {
            if i as usize >= j {
                upper[next[i as usize] as usize] = j as u32;
                next[i as usize] += 1;
            }
        }
    }
    let symbolic = factorize_symbolic_cholesky(
        SymbolicSparseColMatRef::new_checked(n, n, &upper_starts, None, &upper),
        Side::Upper,
        SymmetricOrdering::Identity,
        CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..Default::default()
        },
    )
    .expect("the factor of an island fits 32-bit indices");
    let values = vec![0.0; indices.len()];
    let pattern = SymbolicSparseColMat::new_checked(n, n, starts, None, indices);
    (SparseColMat::new(pattern, values), symbolic)
}
