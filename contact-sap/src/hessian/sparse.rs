//! A block-sparse Hessian, assembled in the memory of its factor.

use std::ops::Range;

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::dynamics::Assembled;
use crate::evaluation::Evaluation;
use crate::hessian::best_order::{cheapest_order, grid_order};
use crate::hessian::cell_sum::{CellSum, Orientation};
use crate::hessian::multifrontal::{Factor, Multifrontal};
use crate::hessian::ordering::{Elimination, Graph};
use crate::hessian::{BlockLocation, Congruence, FailedPivot, Real};
use crate::island::{IslandProblem, Start};

/// Values per parallel copy.
const COPIED: usize = 1 << 16;

/// The symbolic factorisation of H, for values of any precision; kept while the pattern is unchanged.
#[derive(Default)]
pub(crate) struct Layout {
    key: PatternKey,
    next_key: PatternKey,
    pattern: Option<Pattern>,
    /// For each basis, the location of every pair of pieces in the lower triangle.
    locations: Vec<BlockLocation>,
    edges: Vec<(u32, u32)>,
    laid_out: LayoutKey,
    /// Number of layouts so far.
    count: u64,
}

/// The values of H in the panels of its supernodes, for a [`Layout`].
#[derive(Default)]
pub(crate) struct SparseHessian<T> {
    factor: Factor<T>,
    /// A in the panels, for the next iteration; empty before the first.
    without_contact: Vec<T>,
    /// Count of the layout that memory is allocated for.
    laid_out: u64,
    cell: CellSum<T>,
    /// Pairs of the current basis of a point and a piece that is not a point, which are added after the others.
    deferred: Vec<(usize, usize, BlockLocation)>,
    aggregate: Vec<f64>,
}

/// The island of a layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LayoutKey {
    generation: u64,
    participants: Vec<usize>,
    /// Node and velocity of each piece, basis by basis.
    pieces: Vec<(usize, usize)>,
    bases: Vec<usize>,
}

/// The data that determines the pattern of H.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PatternKey {
    node_starts: Vec<usize>,
    /// Sorted pairs of nodes that constraints couple, first > second.
    couplings: Vec<(u32, u32)>,
    /// Column pointers and rows of every sparse participant.
    sparse: Vec<u32>,
}

/// The symbolic factorisation and the map from A to its panels.
struct Pattern {
    elimination: Elimination,
    fronts: Multifrontal,
    /// Locations of the entries of sparse participants, by column and by runs of one node within it.
    columns: Vec<Column>,
    runs: Vec<Run>,
}

/// A column of a sparse participant. Columns of one node usually share their rows, and thus their runs.
#[derive(Clone, Debug)]
struct Column {
    runs: Range<usize>,
    /// Number among the velocities of its node.
    number: usize,
}

/// Entries of a column in one node, in the lower triangle.
#[derive(Clone, Debug)]
struct Run {
    /// Indices within the column.
    entries: Range<usize>,
    /// The node's first velocity, relative to the participant's first.
    first_row: usize,
    location: BlockLocation,
}

impl Layout {
    /// Lays H out for the island of `p`.
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>) {
        if self.laid_out.matches(p) {
            return;
        }
        self.laid_out.read(p);
        self.count += 1;
        self.next_key.read(p);
        if self.pattern.is_none() || self.key != self.next_key {
            // A copy keeps the memory of both.
            self.key.clone_from(&self.next_key);
            let pattern = Pattern::new(p, &self.key, &mut self.edges);
            self.pattern = Some(pattern);
        }
        let Some(pattern) = &self.pattern else { return };
        let position = &pattern.elimination.position;
        self.locations.clear();
        for basis in &p.island.bases {
            let pieces = &p.island.pieces[basis.pieces.clone()];
            for a in pieces {
                for b in pieces {
                    let (row, column) = (position[a.node], position[b.node]);
                    if row >= column {
                        let mut location = pattern.fronts.block(row, column);
                        let node_starts = &p.island.node_starts;
                        location.offset += a.dof - node_starts[a.node];
                        location.offset += (b.dof - node_starts[b.node]) * location.stride;
                        self.locations.push(location);
                    }
                }
            }
        }
    }

    /// Multiplications of a factorisation.
    pub(crate) fn factor_work(&self) -> f64 {
        self.pattern.as_ref().map_or(0.0, |p| p.fronts.work())
    }
}

impl<T: Real> SparseHessian<T> {
    /// Allocates the values of an island laid out in `layout`.
    pub(crate) fn begin(&mut self, layout: &Layout, p: &IslandProblem<'_>) {
        if self.laid_out == layout.count {
            return;
        }
        self.laid_out = layout.count;
        self.without_contact.clear();
        if let Some(pattern) = &layout.pattern {
            pattern.fronts.reserve(&mut self.factor, p.island.n_dofs);
        }
    }

    /// D H D with the aggregates of `e` and `shift` times the diagonal of A added; `scale` is the diagonal of D, empty for D = I.
    pub(crate) fn assemble(
        &mut self,
        layout: &Layout,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        scale: &[f64],
        shift: f64,
        scratch: &mut Vec<f64>,
    ) {
        let Some(pattern) = &layout.pattern else {
            return;
        };
        let values = &mut self.factor.values;
        if self.without_contact.is_empty() {
            values.fill(T::ZERO);
            pattern.scatter_dynamics(p, scale, values);
            self.without_contact.extend_from_slice(values);
        } else {
            let from = self.without_contact.par_chunks(COPIED);
            let copied = values.par_chunks_mut(COPIED).zip(from);
            copied.for_each(|(to, from)| to.copy_from_slice(from));
        }
        let position = &pattern.elimination.position;
        if shift > 0.0 {
            for (node, range) in p.island.node_starts.windows(2).enumerate() {
                let location = pattern.fronts.block(position[node], position[node]);
                for j in 0..range[1] - range[0] {
                    values[location.offset + j * (location.stride + 1)] *= T::of(1.0 + shift);
                }
            }
        }
        let set = p.set();
        let mut locations = layout.locations.iter();
        for (basis, active) in p.island.bases.iter().zip(&e.active) {
            let r = basis.n_rows;
            let pieces = &p.island.pieces[basis.pieces.clone()];
            if *active && self.cell.sum(p, e, basis, scale) {
                let cell = &mut self.cell;
                for (i, a) in pieces.iter().enumerate() {
                    cell.begin_row(p, a);
                    let a_is_point = cell.is_point(a);
                    for (j, b) in pieces.iter().enumerate() {
                        if position[a.node] < position[b.node] {
                            continue;
                        }
                        let Some(location) = locations.next() else {
                            return;
                        };
                        if a_is_point && !cell.is_point(b) {
                            self.deferred.push((i, j, *location));
                            continue;
                        }
                        cell.add(p, (a, b), scale, Orientation::Plain, *location, values);
                    }
                }
                for (i, j, location) in self.deferred.drain(..) {
                    let (a, b) = (&pieces[i], &pieces[j]);
                    cell.begin_row(p, b);
                    cell.add(p, (b, a), scale, Orientation::Transposed, location, values);
                }
                continue;
            }
            let k = match active {
                true => e.aggregate(p, basis, &mut self.aggregate),
                false => &[],
            };
            let mut congruence = Congruence {
                set,
                k,
                r,
                scale,
                scratch,
            };
            for a in pieces {
                for b in pieces {
                    if position[a.node] < position[b.node] {
                        continue;
                    }
                    let Some(location) = locations.next() else {
                        return;
                    };
                    if *active {
                        congruence.add(a, b, *location, values);
                    }
                }
            }
        }
    }

    pub(crate) fn factor(&mut self, layout: &Layout) -> Result<(), FailedPivot> {
        let Some(pattern) = &layout.pattern else {
            return Ok(());
        };
        let factored = pattern.fronts.factor(&mut self.factor);
        factored.map_err(|dof| FailedPivot { dof })
    }

    /// Multiplications of a solve.
    pub(crate) fn solve_work(&self) -> f64 {
        2.0 * self.factor.values.len() as f64
    }

    pub(crate) fn solve(&mut self, layout: &Layout, x: &mut [T]) {
        if let Some(pattern) = &layout.pattern {
            pattern.fronts.solve(&mut self.factor, x);
        }
    }
}

impl LayoutKey {
    /// Whether the layout is that of `p`: the same dynamics and the same couplings by constraints.
    fn matches(&self, p: &IslandProblem<'_>) -> bool {
        let pieces = p.island.pieces.iter().map(|piece| (piece.node, piece.dof));
        let bases = p.island.bases.iter().map(|basis| basis.pieces.end);
        let participants = p.island.members.iter().map(|m| m.participant.0);
        matches!(p.start, Start::Warm(_))
            && p.reduced.is_empty()
            && self.generation == p.generation
            && self.participants.iter().copied().eq(participants)
            && self.bases.iter().copied().eq(bases)
            && self.pieces.iter().copied().eq(pieces)
    }

    fn read(&mut self, p: &IslandProblem<'_>) {
        self.generation = p.generation;
        self.participants.clear();
        let members = p.island.members.iter();
        self.participants.extend(members.map(|m| m.participant.0));
        self.pieces.clear();
        let pieces = p.island.pieces.iter();
        self.pieces
            .extend(pieces.map(|piece| (piece.node, piece.dof)));
        self.bases.clear();
        let bases = p.island.bases.iter();
        self.bases.extend(bases.map(|basis| basis.pieces.end));
    }
}

impl PatternKey {
    fn read(&mut self, p: &IslandProblem<'_>) {
        self.node_starts.clear();
        self.node_starts.extend_from_slice(&p.island.node_starts);
        self.sparse.clear();
        for member in &p.island.members {
            if let Some(Assembled::Sparse(a)) = p.dynamics(member).assembled() {
                self.sparse.push(member.first_dof as u32);
                self.sparse.extend_from_slice(a.indptr().raw_storage());
                self.sparse.extend_from_slice(a.indices());
            }
        }
        // Couplings that A already has are left out.
        let members = &p.island.members;
        let is_in_a = |i: usize, j: usize| {
            let member = &members[members.partition_point(|member| member.dofs().end <= i)];
            let dofs = member.dofs();
            match p.dynamics(member).assembled() {
                Some(Assembled::Sparse(a)) if dofs.contains(&j) => {
                    let column = a.indptr().outer_inds_sz(j - dofs.start);
                    let row = (i - dofs.start) as u32;
                    a.indices()[column].binary_search(&row).is_ok()
                }
                _ => false,
            }
        };
        let starts = &p.island.node_starts;
        self.couplings.clear();
        for basis in &p.island.bases {
            let pieces = &p.island.pieces[basis.pieces.clone()];
            for (k, a) in pieces.iter().enumerate() {
                for b in &pieces[..k] {
                    if a.node != b.node && !is_in_a(starts[a.node], starts[b.node]) {
                        let (high, low) = (a.node.max(b.node), a.node.min(b.node));
                        self.couplings.push((high as u32, low as u32));
                    }
                }
            }
        }
        self.couplings.sort_unstable();
        self.couplings.dedup();
    }
}

/// A column of a sparse participant, passed by [`for_each_column`].
struct ColumnOf<'a> {
    node: usize,
    /// Its velocity and the participant's first velocity, in the island.
    dof: usize,
    first_dof: usize,
    /// `None` if they are those of the previous column of the same node.
    rows: Option<&'a [u32]>,
}

/// Calls `each` with every column of every sparse participant.
fn for_each_column(p: &IslandProblem<'_>, mut each: impl FnMut(ColumnOf<'_>)) {
    let starts = &p.island.node_starts;
    let mut node = 0;
    for member in &p.island.members {
        let Some(Assembled::Sparse(a)) = p.dynamics(member).assembled() else {
            continue;
        };
        let mut before: &[u32] = &[];
        for dof in member.dofs() {
            let begins = loop {
                if starts[node + 1] > dof {
                    break starts[node] == dof;
                }
                node += 1;
            };
            let column = a.indptr().outer_inds_sz(dof - member.first_dof);
            let rows = &a.indices()[column];
            let differ = begins || rows != before;
            before = rows;
            each(ColumnOf {
                node,
                dof,
                first_dof: member.first_dof,
                rows: differ.then_some(rows),
            });
        }
    }
}

/// Calls `each` with the node and the entries of every run of `rows` in one node.
fn for_each_run(
    rows: &[u32],
    first_dof: usize,
    node_of_dof: &[u32],
    mut each: impl FnMut(usize, Range<usize>),
) {
    let mut begin = 0;
    while begin < rows.len() {
        let node = node_of_dof[first_dof + rows[begin] as usize];
        let same = |row: &&u32| node_of_dof[first_dof + **row as usize] == node;
        let end = begin + rows[begin..].iter().take_while(same).count();
        each(node as usize, begin..end);
        begin = end;
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
        for_each_column(p, |column| {
            let rows = column.rows.unwrap_or_default();
            for_each_run(rows, column.first_dof, &node_of_dof, |other, _| {
                if other > column.node {
                    edges.push((other as u32, column.node as u32));
                }
            });
        });
        let graph = Graph::from_edges(n_nodes, edges);
        let positions = node_positions(p);
        let (elimination, fronts) = if positions.is_empty() {
            cheapest_order(&graph, node_starts)
        } else {
            grid_order(&graph, &positions, node_starts)
        };
        let mut columns = Vec::new();
        let mut runs = Vec::new();
        let mut own = 0..0;
        let position = &elimination.position;
        for_each_column(p, |column| {
            if let Some(rows) = column.rows {
                own.start = runs.len();
                for_each_run(rows, column.first_dof, &node_of_dof, |other, entries| {
                    let (row, column_at) = (position[other], position[column.node]);
                    if row >= column_at {
                        runs.push(Run {
                            entries,
                            first_row: node_starts[other] - column.first_dof,
                            location: fronts.block(row, column_at),
                        });
                    }
                });
                own.end = runs.len();
            }
            columns.push(Column {
                runs: own.clone(),
                number: column.dof - node_starts[column.node],
            });
        });
        Self {
            elimination,
            fronts,
            columns,
            runs,
        }
    }

    /// Writes D A D into zeroed panels.
    fn scatter_dynamics<T: Real>(&self, p: &IslandProblem<'_>, scale: &[f64], values: &mut [T]) {
        let scale_at = |dof: usize| scale.get(dof).copied().unwrap_or(1.0);
        let mut node = 0;
        let mut columns = self.columns.iter();
        for member in &p.island.members {
            let first_node = node;
            while p.island.node_starts[node] < member.first_dof + member.n_dofs {
                node += 1;
            }
            match p.dynamics(member).assembled() {
                Some(Assembled::Dense(a)) if member.n_dofs > 0 => {
                    let node = self.elimination.position[first_node];
                    let location = self.fronts.block(node, node);
                    for (j, a_j) in a.chunks_exact(member.n_dofs).enumerate() {
                        let to =
                            &mut values[location.offset + j * location.stride..][..member.n_dofs];
                        let by_column = scale_at(member.first_dof + j);
                        for (i, (to, a)) in to.iter_mut().zip(a_j).enumerate() {
                            *to = T::of(a * scale_at(member.first_dof + i) * by_column);
                        }
                    }
                }
                Some(Assembled::Sparse(a)) => {
                    for (j, to) in (0..member.n_dofs).zip(columns.by_ref()) {
                        let by_column = scale_at(member.first_dof + j);
                        let column = a.indptr().outer_inds_sz(j);
                        let (rows, data) = (&a.indices()[column.clone()], &a.data()[column]);
                        for run in &self.runs[to.runs.clone()] {
                            let first = run.location.offset + to.number * run.location.stride;
                            let entries = rows[run.entries.clone()]
                                .iter()
                                .zip(&data[run.entries.clone()]);
                            for (row, a) in entries {
                                let row = *row as usize;
                                let by_row = scale_at(member.first_dof + row);
                                values[first + row - run.first_row] = T::of(a * by_row * by_column);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Positions of the nodes of an island that mainly is a grid; otherwise empty.
fn node_positions(p: &IslandProblem<'_>) -> Vec<Option<Vector3<f64>>> {
    const POSITIONS_SHARE_MIN: f64 = 0.8;
    let mut positions = Vec::new();
    let mut node = 0;
    for member in &p.island.members {
        let first_node = node;
        while node < p.island.n_nodes() && p.island.node_starts[node] < member.dofs().end {
            node += 1;
        }
        let known = p.dynamics(member).grid_nodes();
        match known.filter(|known| known.len() == node - first_node) {
            Some(known) => positions.extend(known.iter().copied().map(Some)),
            None => positions.resize(node, None),
        }
    }
    let known = positions.iter().flatten().count();
    if (known as f64) < POSITIONS_SHARE_MIN * positions.len() as f64 {
        positions.clear();
    }
    positions
}
