//! The island seen from the vertices that constraints touch: sparse bodies reduced to their Schur complements.
//!
//! Vertices that no constraint touches take part in the cost quadratically. Eliminating them leaves a problem of the same
//! kind in the velocities of the others, with S = A_pp − A_pn A_nn⁻¹ A_np in place of each A, dense for each body. Newton's
//! iteration runs there; at its end the others follow by one back substitution. Worth it where iterations are many and
//! vertices touched few.
//!
//! Source: Han, Masterjohn, Castro (2023), section VI.

mod worth;

use std::ops::Range;

use rayon::prelude::*;

use crate::dynamics::{Assembled, BlockDiagonal, Dynamics};
use crate::error::SolveError;
use crate::hessian::{BodyGraph, Elimination, Factor, Graph, Multifrontal};
use crate::island::{Island, IslandProblem, Member};
use crate::islands::IslandAnswer;
use crate::problem::ParticipantIdx;

/// The reduced problem of an island; memory and symbolic work are reused.
#[derive(Default)]
pub(crate) struct Condensed {
    pub(crate) island: Island,
    /// One for each member of the island; those with a dense A stay as they are.
    pub(crate) bodies: Vec<ReducedBody>,
    /// Where it begins and ends.
    pub(crate) answer: IslandAnswer,
    /// Of each node of the whole island: whether a constraint touches it.
    touched: Vec<bool>,
    /// Of each node of the whole island: first velocity and node here.
    home: Vec<(u32, u32)>,
}

/// One participant, or what its elimination leaves of it.
#[derive(Default)]
pub(crate) struct ReducedBody {
    /// Only sparse bodies are reduced.
    is_reduced: bool,
    body: BodyGraph,
    first_node: usize,
    n_nodes: usize,
    first_dof: usize,
    n_dofs: usize,
    /// Where its nodes end, counted from its first velocity, and how many velocities of them stay.
    node_ends: Vec<usize>,
    n_kept: usize,
    /// The pattern below belongs to these touched nodes.
    touched: Vec<bool>,
    symbolic: Option<Symbolic>,
    factor: Factor,
    /// b in the order of elimination, and v.
    x: Vec<f64>,
    /// S, both triangles, and what is left of b.
    matrix: Vec<f64>,
    right_hand_side: Vec<f64>,
    /// The diagonal of A at the velocities that stay: the norm of gradients is that of the whole problem.
    diagonal: Vec<f64>,
    /// Whose A and b all this was made from, and whose pattern the graph is.
    source: Option<Source>,
    graph_source: Option<Source>,
    failed: Option<usize>,
    /// Of the column that is scattered.
    runs: Vec<Run>,
}

/// Entries of a column of A that lie in one node.
struct Run {
    entries: Range<usize>,
    first_row: usize,
    /// Where row `first_row` of the node's first column goes, and from column to column.
    offset: usize,
    stride: usize,
}

/// A participant of the problems of one generation.
type Source = (ParticipantIdx, u64);

struct Symbolic {
    fronts: Multifrontal,
    position: Vec<u32>,
    /// Of each node of the body: its node for the elimination, those that stay last.
    place: Vec<u32>,
    /// Of each velocity of the body: its number there.
    dof: Vec<u32>,
}

impl Condensed {
    /// Finds what constraints touch and lays out the reduced island; false if no body has anything to eliminate.
    pub(super) fn begin(&mut self, p: &IslandProblem<'_>) -> bool {
        self.find_touched(p);
        let any = self.bodies.iter().any(|body| body.is_reduced);
        if any {
            self.update_graphs(p);
            self.lay_out(p);
        }
        any
    }

    /// Finds the nodes that constraints touch, and which bodies have others.
    fn find_touched(&mut self, p: &IslandProblem<'_>) {
        let n_nodes = p.island.n_nodes();
        self.touched.clear();
        self.touched.resize(n_nodes, false);
        for piece in &p.island.pieces {
            self.touched[piece.node] = true;
        }
        let members = &p.island.members;
        self.bodies.resize_with(members.len(), Default::default);
        let starts = &p.island.node_starts;
        let mut node = 0;
        for (member, reduced) in members.iter().zip(&mut self.bodies) {
            reduced.first_node = node;
            reduced.n_kept = 0;
            reduced.node_ends.clear();
            while node < n_nodes && starts[node] < member.dofs().end {
                if self.touched[node] {
                    reduced.n_kept += starts[node + 1] - starts[node];
                }
                node += 1;
                reduced.node_ends.push(starts[node] - member.first_dof);
            }
            reduced.n_nodes = node - reduced.first_node;
            reduced.first_dof = member.first_dof;
            reduced.n_dofs = member.n_dofs;
            let sparse = matches!(p.dynamics(member).assembled(), Some(Assembled::Sparse(_)));
            reduced.is_reduced = sparse && reduced.n_kept < reduced.n_dofs;
        }
    }

    /// Brings the graphs of sparse bodies up to date.
    fn update_graphs(&mut self, p: &IslandProblem<'_>) {
        for (member, reduced) in p.island.members.iter().zip(&mut self.bodies) {
            let source = Some((member.participant, p.generation));
            if reduced.is_reduced && reduced.graph_source != source {
                if reduced.body.update(p.dynamics(member), &reduced.node_ends) {
                    reduced.symbolic = None;
                }
                reduced.graph_source = source;
            }
        }
    }

    fn lay_out(&mut self, p: &IslandProblem<'_>) {
        for body in self.bodies.iter_mut().filter(|body| body.is_reduced) {
            let nodes = body.first_node..body.first_node + body.n_nodes;
            body.lay_out(&self.touched[nodes]);
        }
        self.island.clear();
        self.home.clear();
        self.home.resize(p.island.n_nodes(), (0, 0));
        for (member, body) in p.island.members.iter().zip(&self.bodies) {
            let first_dof = self.island.n_dofs as u32;
            let nodes = body.first_node..body.first_node + body.n_nodes;
            if let Some(symbolic) = body.symbolic.as_ref().filter(|_| body.is_reduced) {
                let own_node = self.island.n_nodes() as u32;
                let gone = (body.n_dofs - body.n_kept) as u32;
                for node in nodes {
                    let dof = p.island.node_starts[node] - body.first_dof;
                    let kept = symbolic.dof[dof].saturating_sub(gone);
                    self.home[node] = (first_dof + kept, own_node);
                }
                self.island.add_reduced(member, body.n_kept);
            } else {
                for (k, node) in nodes.clone().enumerate() {
                    let offset = p.island.node_starts[node] - member.first_dof;
                    self.home[node] = (
                        first_dof + offset as u32,
                        (self.island.n_nodes() + k) as u32,
                    );
                }
                self.island.add_member_of(p.island, member, nodes);
            }
        }
        for b in 0..p.island.bases.len() {
            let home = |node: usize| {
                let (dof, own) = self.home[node];
                Some((
                    dof as isize - p.island.node_starts[node] as isize,
                    own as isize - node as isize,
                ))
            };
            self.island.add_basis_of(p, b, &[], home);
        }
        // Nobody is outside.
        self.island.held.clear();
        self.island.held.extend_from_slice(&p.island.held);
    }

    /// Whether that was done for these dynamics and touched vertices already.
    pub(super) fn is_eliminated(&self, p: &IslandProblem<'_>) -> bool {
        let bodies = self.bodies.iter().zip(&p.island.members);
        let mut reduced = bodies.filter(|(body, _)| body.is_reduced);
        reduced.all(|(body, member)| body.source == Some((member.participant, p.generation)))
    }

    /// Eliminates what no constraint touches, body by body, on all threads.
    pub(super) fn eliminate(&mut self, p: &IslandProblem<'_>) -> Result<usize, SolveError> {
        let members = &p.island.members;
        let eliminate = |(body, member): (&mut ReducedBody, &Member)| {
            if body.is_reduced {
                let source = (member.participant, p.generation);
                body.eliminate(source, p.dynamics(member), p.island);
            }
        };
        let bodies = &mut self.bodies;
        if p.island.n_dofs > 2000 && members.len() > 1 {
            let pairs = bodies.par_iter_mut().zip(members.par_iter());
            pairs.for_each(eliminate);
        } else {
            bodies.iter_mut().zip(members).for_each(eliminate);
        }
        for (body, member) in self.bodies.iter().zip(members) {
            if let Some(dof) = body.failed.filter(|_| body.is_reduced) {
                return Err(p.island.indefinite_at(member.first_dof + dof));
            }
        }
        Ok(self.bodies.iter().filter(|body| body.is_reduced).count())
    }

    /// Takes the velocities `v` of the whole to those of the reduced island.
    pub(super) fn restrict(&mut self, p: &IslandProblem<'_>, v: &[f64]) {
        self.answer.velocity.resize(self.island.n_dofs, 0.0);
        let starts = &p.island.node_starts;
        for body in &self.bodies {
            for node in body.first_node..body.first_node + body.n_nodes {
                if !body.is_reduced || self.touched[node] {
                    let from = &v[starts[node]..starts[node + 1]];
                    let first = self.home[node].0 as usize;
                    self.answer.velocity[first..first + from.len()].copy_from_slice(from);
                }
            }
        }
    }

    /// The reverse of [`Condensed::restrict`]; returns how many velocities it has left as they were.
    pub(super) fn extend_touched(&self, p: &IslandProblem<'_>, v: &mut [f64]) -> usize {
        let starts = &p.island.node_starts;
        for body in &self.bodies {
            for node in body.first_node..body.first_node + body.n_nodes {
                if !body.is_reduced || self.touched[node] {
                    let to = &mut v[starts[node]..starts[node + 1]];
                    let first = self.home[node].0 as usize;
                    to.copy_from_slice(&self.answer.velocity[first..first + to.len()]);
                }
            }
        }
        p.island.n_dofs - self.island.n_dofs
    }

    /// The velocities of the whole that belong to those of the reduced island.
    pub(super) fn extend(&mut self, v: &mut [f64]) {
        for (body, member) in self.bodies.iter_mut().zip(&self.island.members) {
            let own = &self.answer.velocity[member.dofs()];
            let v = &mut v[body.first_dof..body.first_dof + body.n_dofs];
            if body.is_reduced {
                body.expand(own, v);
            } else {
                v.copy_from_slice(own);
            }
        }
    }
}

impl ReducedBody {
    /// Symbolic work for the touched nodes.
    fn lay_out(&mut self, touched: &[bool]) {
        if self.touched == touched && self.symbolic.is_some() {
            return;
        }
        self.source = None;
        self.touched.clear();
        self.touched.extend_from_slice(touched);
        let node_ends = &self.node_ends;
        let size = |node: usize| node_ends[node] - if node > 0 { node_ends[node - 1] } else { 0 };
        let n_left = touched.iter().filter(|touched| !**touched).count();
        // Nodes that go, in the body's own order of elimination, then those that stay.
        let mut place = vec![0; touched.len()];
        let mut starts = vec![0];
        let go = self.body.order.iter().map(|node| *node as usize);
        let stay = 0..touched.len();
        let all = go
            .filter(|node| !touched[*node])
            .chain(stay.filter(|node| touched[*node]));
        for node in all {
            place[node] = starts.len() as u32 - 1;
            starts.push(starts[starts.len() - 1] + size(node));
        }
        let graph = self.graph_of(&place, n_left);
        let elimination = self.elimination(&place, n_left);
        let n_border = touched.len() - n_left;
        let fronts = Multifrontal::up_to_the_last(&graph, &elimination, &starts, n_border);
        let mut dof = Vec::with_capacity(self.n_dofs);
        for (node, own) in place.iter().enumerate() {
            let first = starts[*own as usize] as u32;
            dof.extend(first..first + size(node) as u32);
        }
        self.symbolic = Some(Symbolic {
            fronts,
            position: elimination.position,
            place,
            dof,
        });
    }

    /// The graph of the nodes at their places, without what joins those that stay.
    fn graph_of(&self, place: &[u32], n_left: usize) -> Graph {
        let mut edges = Vec::with_capacity(self.body.graph.neighbours.len());
        for (node, own) in place.iter().enumerate() {
            for &other in self.body.graph.neighbours(node) {
                let other = place[other as usize];
                if other < *own && (other as usize) < n_left {
                    edges.push((*own, other));
                }
            }
        }
        Graph::from_edges(place.len(), &mut edges)
    }

    /// Children right before their parents, as if those that stay were one node.
    fn elimination(&self, place: &[u32], n_left: usize) -> Elimination {
        let last = n_left as u32;
        let mut edges = Vec::with_capacity(self.body.graph.neighbours.len());
        for (node, own) in place.iter().enumerate() {
            let own = (*own).min(last);
            for &other in self.body.graph.neighbours(node) {
                let other = place[other as usize];
                if other < own {
                    edges.push((own, other));
                }
            }
        }
        let graph = Graph::from_edges(n_left + 1, &mut edges);
        let Elimination {
            mut order,
            mut position,
        } = Elimination::new(&graph, (0..=last).collect());
        order.extend(last + 1..place.len() as u32);
        position.extend(last + 1..place.len() as u32);
        // Perhaps none stays.
        order.truncate(place.len());
        position.truncate(place.len());
        Elimination { order, position }
    }

    fn eliminate(&mut self, source: Source, dynamics: &dyn Dynamics, island: &Island) {
        let (Some(symbolic), Some(Assembled::Sparse(a))) = (&self.symbolic, dynamics.assembled())
        else {
            return;
        };
        if self.failed.is_none() && self.source == Some(source) {
            // Solved again with other constraints.
            return;
        }
        self.source = None;
        self.failed = None;
        let Symbolic {
            fronts,
            position,
            place,
            dof: numbers,
        } = symbolic;
        fronts.reserve(&mut self.factor, numbers.len());
        let values = &mut self.factor.values;
        values.fill(0.0);
        let node_starts = &island.node_starts[self.first_node..=self.first_node + self.n_nodes];
        let starts_of = |node: usize| node_starts[node] - self.first_dof;
        for node in 0..self.n_nodes {
            let own_position = position[place[node] as usize];
            let first = starts_of(node);
            let mut rows_before: &[u32] = &[];
            for dof in first..starts_of(node + 1) {
                let column = a.indptr().outer_inds_sz(dof);
                let (rows, data) = (&a.indices()[column.clone()], &a.data()[column]);
                // Velocities of one node mostly share their rows.
                if dof == first || rows != rows_before {
                    rows_before = rows;
                    self.runs.clear();
                    let (mut k, mut other) = (0, 0);
                    while k < rows.len() {
                        let row = rows[k] as usize;
                        if starts_of(other + 1) <= row {
                            other = node_starts.partition_point(|s| *s <= self.first_dof + row) - 1;
                        }
                        let end = starts_of(other + 1);
                        let run = rows[k..].iter().take_while(|r| (**r as usize) < end);
                        let run = k..k + run.count();
                        let to_position = position[place[other] as usize];
                        // The other triangle has it otherwise.
                        if to_position >= own_position {
                            let at = fronts.block(to_position, own_position);
                            self.runs.push(Run {
                                entries: run.clone(),
                                first_row: starts_of(other),
                                offset: at.offset,
                                stride: at.stride,
                            });
                        }
                        k = run.end;
                    }
                }
                for run in &self.runs {
                    let to = run.offset + (dof - first) * run.stride;
                    let entries = rows[run.entries.clone()]
                        .iter()
                        .zip(&data[run.entries.clone()]);
                    for (row, a) in entries {
                        values[to + *row as usize - run.first_row] = *a;
                    }
                }
            }
        }
        if let Err(failed) = fronts.factor(&mut self.factor) {
            self.failed = numbers.iter().position(|number| *number as usize == failed);
            return;
        }
        self.x.resize(numbers.len(), 0.0);
        for (number, b) in numbers.iter().zip(dynamics.right_hand_side()) {
            self.x[*number as usize] = *b;
        }
        let n = self.n_kept;
        self.matrix.resize(n * n, 0.0);
        let lower = fronts.schur_complement(&self.factor);
        for j in 0..n {
            for i in j..n {
                self.matrix[i + j * n] = lower[i + j * n];
                self.matrix[j + i * n] = lower[i + j * n];
            }
        }
        self.right_hand_side.clear();
        let left = fronts.reduce(&mut self.factor, &self.x);
        self.right_hand_side.extend_from_slice(left);
        let first_kept = numbers.len() - n;
        self.diagonal.resize(n, 0.0);
        dynamics.diagonal_blocks().for_each(numbers.len(), |block| {
            for i in 0..block.size {
                let number = numbers[block.first_dof + i] as usize;
                if number >= first_kept {
                    self.diagonal[number - first_kept] = block.values[i * (block.size + 1)];
                }
            }
        });
        self.source = Some(source);
    }

    /// v of the body, from that of the nodes that stayed.
    fn expand(&mut self, kept: &[f64], v: &mut [f64]) {
        if let Some(symbolic) = &self.symbolic {
            symbolic.fronts.expand(&mut self.factor, kept, &mut self.x);
            for (number, v) in symbolic.dof.iter().zip(v) {
                *v = self.x[*number as usize];
            }
        }
    }

    /// The diagonal of A at the velocities that stay.
    pub(crate) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Whether this stands for its participant.
    pub(crate) fn is_reduced(&self) -> bool {
        self.is_reduced
    }
}

impl Dynamics for ReducedBody {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for (column, x) in self.matrix.chunks_exact(x.len().max(1)).zip(x) {
            y.iter_mut().zip(column).for_each(|(y, a)| *y += a * x);
        }
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Whole(&self.matrix)
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        Some(Assembled::Dense(&self.matrix))
    }
}
