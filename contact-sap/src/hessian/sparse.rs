//! A block-sparse Hessian, assembled where it is factored.

use std::ops::Range;

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::dynamics::Assembled;
use crate::evaluation::Evaluation;
use crate::hessian::best_order::{cheapest_order, grid_order};
use crate::hessian::cell_sum::{CellSum, Lies};
use crate::hessian::multifrontal::{Factor, Multifrontal};
use crate::hessian::ordering::{Elimination, Graph};
use crate::hessian::{Congruence, FailedPivot, Place, Real};
use crate::island::{Course, IslandProblem};

/// Values that a thread copies at a time.
const COPIED: usize = 1 << 16;

/// What is symbolic in H, for values of any precision; kept while the pattern stands.
#[derive(Default)]
pub(crate) struct Layout {
    key: PatternKey,
    next_key: PatternKey,
    pattern: Option<Pattern>,
    /// For each basis in turn, the place of every pair of its pieces that is scattered.
    places: Vec<Place>,
    edges: Vec<(u32, u32)>,
    laid_out: LaidOut,
    /// How often it was laid out.
    count: u64,
}

/// The values of H in the panels of its supernodes, as a [`Layout`] has them.
#[derive(Default)]
pub(crate) struct SparseHessian<T> {
    factor: Factor<T>,
    /// A in the panels, for H of the next iteration; empty before the first.
    without_contact: Vec<T>,
    /// The count of the layout that memory is there for.
    laid_out: u64,
    cell: CellSum<T>,
    /// Of the basis that is added: pairs of a point and a piece that is none, which are added after the others.
    late: Vec<(usize, usize, Place)>,
    aggregate: Vec<f64>,
}

/// The island that memory is laid out for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LaidOut {
    generation: u64,
    participants: Vec<usize>,
    /// Node and velocity of each piece, basis by basis.
    pieces: Vec<(usize, usize)>,
    bases: Vec<usize>,
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
    elimination: Elimination,
    fronts: Multifrontal,
    /// Where the entries of sparse participants go: of each column of each in turn, and node by node within it.
    columns: Vec<Column>,
    runs: Vec<Run>,
}

/// A column of a sparse participant. Velocities of one node mostly share their rows, and with them their runs.
#[derive(Clone, Debug)]
struct Column {
    runs: Range<usize>,
    /// Number among the velocities of its node.
    number: usize,
}

/// Entries of a column that lie in one node, those of the other triangle left out.
#[derive(Clone, Debug)]
struct Run {
    /// Counted from the first of the column.
    entries: Range<usize>,
    /// The node's first velocity, counted from the participant's first.
    first_row: usize,
    place: Place,
}

impl Layout {
    /// Lays H out for the island of `p`.
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>) {
        if self.laid_out.is_that_of(p) {
            return;
        }
        self.laid_out.read(p);
        self.count += 1;
        self.next_key.read(p);
        if self.pattern.is_none() || self.key != self.next_key {
            // A copy, so that the next step finds room in both.
            self.key.clone_from(&self.next_key);
            let pattern = Pattern::new(p, &self.key, &mut self.edges);
            self.pattern = Some(pattern);
        }
        let Some(pattern) = &self.pattern else { return };
        let position = &pattern.elimination.position;
        self.places.clear();
        for basis in &p.island.bases {
            let pieces = &p.island.pieces[basis.pieces.clone()];
            for a in pieces {
                for b in pieces {
                    let (row, column) = (position[a.node], position[b.node]);
                    if row >= column {
                        let mut place = pattern.fronts.block(row, column);
                        let node_starts = &p.island.node_starts;
                        place.offset += a.dof - node_starts[a.node];
                        place.offset += (b.dof - node_starts[b.node]) * place.stride;
                        self.places.push(place);
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
    /// Makes room for the values of an island laid out in `layout`.
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

    /// D H D of the aggregates of `e`, H where `scale`, the diagonal of D, is empty; with `shift` times the diagonal of A added.
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
            pattern.place_dynamics(p, scale, values);
            self.without_contact.extend_from_slice(values);
        } else {
            let from = self.without_contact.par_chunks(COPIED);
            let copied = values.par_chunks_mut(COPIED).zip(from);
            copied.for_each(|(to, from)| to.copy_from_slice(from));
        }
        let position = &pattern.elimination.position;
        if shift > 0.0 {
            for (node, range) in p.island.node_starts.windows(2).enumerate() {
                let place = pattern.fronts.block(position[node], position[node]);
                for j in 0..range[1] - range[0] {
                    values[place.offset + j * (place.stride + 1)] *= T::of(1.0 + shift);
                }
            }
        }
        let set = p.set();
        let mut places = layout.places.iter();
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
                        let Some(place) = places.next() else { return };
                        if a_is_point && !cell.is_point(b) {
                            self.late.push((i, j, *place));
                            continue;
                        }
                        cell.add(p, (a, b), scale, Lies::RowsOfFirst, *place, values);
                    }
                }
                for (i, j, place) in self.late.drain(..) {
                    let (a, b) = (&pieces[i], &pieces[j]);
                    cell.begin_row(p, b);
                    cell.add(p, (b, a), scale, Lies::RowsOfSecond, place, values);
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
                    let Some(place) = places.next() else { return };
                    if *active {
                        congruence.add(a, b, *place, values);
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

impl LaidOut {
    /// Whether all that follows from the dynamics and from what constraints couple is that of `p`.
    fn is_that_of(&self, p: &IslandProblem<'_>) -> bool {
        let pieces = p.island.pieces.iter().map(|piece| (piece.node, piece.dof));
        let bases = p.island.bases.iter().map(|basis| basis.pieces.end);
        let participants = p.island.members.iter().map(|m| m.participant.0);
        matches!(p.course, Course::Again(_))
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
        // Those that A has are not named twice: contacts of material points couple what shares a cell already.
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

/// A column of a sparse participant, as [`for_each_column`] tells it.
struct ColumnOf<'a> {
    node: usize,
    /// Velocities of the island: its own, and the participant's first.
    dof: usize,
    first_dof: usize,
    /// Unless they are those of the column before, which is of the same node.
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

/// Calls `each` with every run of `rows` that lie in one node: that node and the entries.
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
        let places = places(p);
        let (elimination, fronts) = if places.is_empty() {
            cheapest_order(&graph, node_starts)
        } else {
            grid_order(&graph, &places, node_starts)
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
                            place: fronts.block(row, column_at),
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
    fn place_dynamics<T: Real>(&self, p: &IslandProblem<'_>, scale: &[f64], values: &mut [T]) {
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
                    let place = self.fronts.block(node, node);
                    for (j, a_j) in a.chunks_exact(member.n_dofs).enumerate() {
                        let to = &mut values[place.offset + j * place.stride..][..member.n_dofs];
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
                            let first = run.place.offset + to.number * run.place.stride;
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

/// Places of the nodes of an island that is a grid and little else; otherwise nothing.
fn places(p: &IslandProblem<'_>) -> Vec<Option<Vector3<f64>>> {
    const PLACED_SHARE: f64 = 0.8;
    let mut places = Vec::new();
    let mut node = 0;
    for member in &p.island.members {
        let first_node = node;
        while node < p.island.n_nodes() && p.island.node_starts[node] < member.dofs().end {
            node += 1;
        }
        let known = p.dynamics(member).grid_nodes();
        match known.filter(|known| known.len() == node - first_node) {
            Some(known) => places.extend(known.iter().copied().map(Some)),
            None => places.resize(node, None),
        }
    }
    let known = places.iter().flatten().count();
    if (known as f64) < PLACED_SHARE * places.len() as f64 {
        places.clear();
    }
    places
}
