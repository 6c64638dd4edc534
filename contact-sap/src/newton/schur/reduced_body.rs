//! One participant, or what its elimination leaves of it.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::complement::Complement;
use crate::dynamics::{Assembled, BlockDiagonal, Dynamics};
use crate::hessian::{BodyGraph, Elimination, Factor, Graph, Multifrontal};
use crate::problem::ParticipantIdx;

/// One participant, or what its elimination leaves of it.
#[derive(Default)]
pub(crate) struct ReducedBody {
    /// Only sparse bodies are reduced.
    pub(super) is_reduced: bool,
    pub(super) body: BodyGraph,
    pub(super) first_node: usize,
    pub(super) n_nodes: usize,
    pub(super) first_dof: usize,
    pub(super) n_dofs: usize,
    /// Where its nodes end, counted from its first velocity, and how many velocities of them stay.
    pub(super) node_ends: Vec<usize>,
    pub(super) n_kept: usize,
    /// What follows belongs to these touched nodes.
    touched: Vec<bool>,
    /// Of each touched node: its number among them.
    pub(super) kept: Vec<u32>,
    /// Where the velocities of each of those begin among them, and where the last ends.
    kept_starts: Vec<usize>,
    /// The touched nodes around each connected part of the others, by those numbers.
    cliques: Vec<Vec<u32>>,
    /// S.
    pub(super) complement: Option<Complement>,
    pub(super) symbolic: Option<Symbolic>,
    factor: Factor,
    /// b in the order of elimination, and v.
    x: Vec<f64>,
    /// What is left of b.
    right_hand_side: Vec<f64>,
    /// The diagonal of A at the velocities that stay: the norm of gradients is that of the whole problem.
    diagonal: Vec<f64>,
    /// Whose A and b all this was made from, and whose pattern the graph is.
    pub(super) source: Option<Source>,
    pub(super) graph_source: Option<Source>,
    pub(super) failed: Option<usize>,
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
pub(super) type Source = (ParticipantIdx, u64);

/// How the nodes that go are eliminated.
pub(super) struct Symbolic {
    pub(super) fronts: Multifrontal,
    position: Vec<u32>,
    /// Of each node of the body: its node for the elimination, those that stay last.
    place: Vec<u32>,
    /// Of each velocity of the body: its number there.
    dof: Vec<u32>,
}

const GOES: u32 = u32::MAX;

impl ReducedBody {
    /// The graph has changed: nothing that followed from it holds.
    pub(super) fn forget(&mut self) {
        self.touched.clear();
        self.complement = None;
        self.symbolic = None;
        self.source = None;
    }

    /// Finds which nodes the elimination of all that are not `touched` will couple.
    pub(super) fn find_cliques(&mut self, touched: &[bool]) {
        if self.touched == touched {
            return;
        }
        self.forget();
        self.touched.extend_from_slice(touched);
        self.kept.clear();
        self.kept_starts.clear();
        let mut n_dofs = 0;
        for (node, touched) in touched.iter().enumerate() {
            let number = self.kept_starts.len() as u32;
            self.kept.push(if *touched { number } else { GOES });
            if *touched {
                self.kept_starts.push(n_dofs);
                n_dofs += size_of(&self.node_ends, node);
            }
        }
        self.kept_starts.push(n_dofs);
        self.cliques.clear();
        let mut seen = touched.to_vec();
        let mut part = Vec::new();
        for start in 0..touched.len() {
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            part.push(start);
            let mut around = Vec::new();
            while let Some(node) = part.pop() {
                for &other in self.body.graph.neighbours(node) {
                    let other = other as usize;
                    if touched[other] {
                        around.push(self.kept[other]);
                    } else if !std::mem::replace(&mut seen[other], true) {
                        part.push(other);
                    }
                }
            }
            around.sort_unstable();
            around.dedup();
            if around.len() > 1 {
                self.cliques.push(around);
            }
        }
    }

    /// Multiplications that no factor of S does with less: those for the largest number of nodes that are all coupled.
    pub(super) fn complement_work_min(&self) -> f64 {
        let starts = &self.kept_starts;
        let size = |k: &u32| starts[*k as usize + 1] - starts[*k as usize];
        let dofs_of = |clique: &Vec<u32>| clique.iter().map(size).sum::<usize>();
        let largest = self.cliques.iter().map(dofs_of).max().unwrap_or(0);
        (largest as f64).powi(3) / 6.0
    }

    /// Lays out S.
    pub(super) fn lay_out_complement(&mut self) -> &mut Complement {
        self.complement.get_or_insert_with(|| {
            let mut edges = Vec::new();
            for (node, own) in self.kept.iter().enumerate().filter(|(_, k)| **k != GOES) {
                let others = self.body.graph.neighbours(node).iter();
                let others = others.map(|other| self.kept[*other as usize]);
                edges.extend(
                    others
                        .filter(|other| other < own)
                        .map(|other| (*own, other)),
                );
            }
            let graph = Graph::from_edges(self.kept_starts.len() - 1, &edges);
            Complement::new(self.kept_starts.clone(), &graph, &self.cliques)
        })
    }

    /// Lays out the elimination.
    pub(super) fn lay_out_elimination(&mut self) {
        if self.symbolic.is_some() {
            return;
        }
        let n_nodes = self.kept.len();
        let n_border = self.kept_starts.len() - 1;
        let n_left = n_nodes - n_border;
        // Nodes that go, in the body's own order of elimination, then those that stay.
        let mut place = vec![0; n_nodes];
        let mut starts = vec![0];
        let go = self.body.order.iter().map(|node| *node as usize);
        let go = go.filter(|node| self.kept[*node] == GOES);
        for node in go.chain((0..n_nodes).filter(|node| self.kept[*node] != GOES)) {
            place[node] = starts.len() as u32 - 1;
            starts.push(starts[starts.len() - 1] + size_of(&self.node_ends, node));
        }
        let mut edges = Vec::with_capacity(self.body.graph.neighbours.len());
        for (node, own) in place.iter().enumerate() {
            let others = self.body.graph.neighbours(node).iter();
            let others = others.map(|other| place[*other as usize]);
            let others = others.filter(|other| other < own && (*other as usize) < n_left);
            edges.extend(others.map(|other| (*own, other)));
        }
        let graph = Graph::from_edges(n_nodes, &edges);
        edges.retain(|(i, j)| i.max(j) < &(n_left as u32));
        let among_those_that_go = Graph::from_edges(n_left, &edges);
        let order = (0..n_left as u32).collect();
        let mut elimination = Elimination::new(&among_those_that_go, order);
        let stay = n_left as u32..n_nodes as u32;
        elimination.order.extend(stay.clone());
        elimination.position.extend(stay);
        let fronts = Multifrontal::up_to_the_last(&graph, &elimination, &starts, n_border);
        let mut dof = Vec::with_capacity(self.n_dofs);
        for (node, own) in place.iter().enumerate() {
            let first = starts[*own as usize] as u32;
            dof.extend(first..first + size_of(&self.node_ends, node) as u32);
        }
        self.symbolic = Some(Symbolic {
            fronts,
            position: elimination.position,
            place,
            dof,
        });
    }

    /// Eliminates what goes, unless that was done: S, and what is left of b.
    pub(super) fn eliminate(&mut self, source: Source, dynamics: &dyn Dynamics) {
        let (Some(symbolic), Some(complement)) = (&self.symbolic, &mut self.complement) else {
            return;
        };
        let Some(Assembled::Sparse(a)) = dynamics.assembled() else {
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
        self.factor.values.fill(0.0);
        complement.clear();
        let ends = &self.node_ends;
        let first_of = |node: usize| if node > 0 { ends[node - 1] } else { 0 };
        for node in 0..self.n_nodes {
            let own_position = position[place[node] as usize];
            let own = self.kept[node];
            let first = first_of(node);
            let mut rows_before: &[u32] = &[];
            for dof in first..ends[node] {
                let column = a.indptr().outer_inds_sz(dof);
                let (rows, data) = (&a.indices()[column.clone()], &a.data()[column]);
                // Velocities of one node mostly share their rows.
                if dof == first || rows != rows_before {
                    rows_before = rows;
                    self.runs.clear();
                    let (mut k, mut other) = (0, 0);
                    while k < rows.len() {
                        let row = rows[k] as usize;
                        if ends[other] <= row {
                            other = ends.partition_point(|end| *end <= row);
                        }
                        let end = ends[other];
                        let run = rows[k..].iter().take_while(|r| (**r as usize) < end);
                        let run = k..k + run.count();
                        let to_position = position[place[other] as usize];
                        let at = match (self.kept[other], own) {
                            (row, GOES) if row != GOES || to_position >= own_position => {
                                Some(fronts.block(to_position, own_position))
                            }
                            // The other triangle has it.
                            (_, GOES) | (GOES, _) => None,
                            (row, column) => Some(complement.block(row as usize, column as usize)),
                        };
                        self.runs.extend(at.map(|at| Run {
                            entries: run.clone(),
                            first_row: first_of(other),
                            offset: at.offset,
                            stride: at.stride,
                        }));
                        k = run.end;
                    }
                }
                let values = match own {
                    GOES => &mut self.factor.values,
                    _ => complement.values_mut(),
                };
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
        for remainder in fronts.remainders(&self.factor) {
            complement.add(&remainder);
        }
        complement.finish();
        self.x.resize(numbers.len(), 0.0);
        for (number, b) in numbers.iter().zip(dynamics.right_hand_side()) {
            self.x[*number as usize] = *b;
        }
        self.right_hand_side.clear();
        let left = fronts.reduce(&mut self.factor, &self.x);
        self.right_hand_side.extend_from_slice(left);
        let first_kept = numbers.len() - self.n_kept;
        self.diagonal.resize(self.n_kept, 0.0);
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

    /// Finds v of the body from that of the nodes that stayed.
    pub(super) fn expand(&mut self, kept: &[f64]) {
        if let Some(symbolic) = &self.symbolic {
            symbolic.fronts.expand(&mut self.factor, kept, &mut self.x);
        }
    }

    /// What [`ReducedBody::expand`] found.
    pub(super) fn expanded(&self, v: &mut [f64]) {
        if let Some(symbolic) = &self.symbolic {
            for (number, v) in symbolic.dof.iter().zip(v) {
                *v = self.x[*number as usize];
            }
        }
    }

    /// The number of a touched node among those, and its first velocity.
    pub(super) fn number_of(&self, node: usize) -> Option<(usize, u32)> {
        let number = self.kept[node];
        (number != GOES).then(|| (number as usize, self.kept_starts[number as usize] as u32))
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

fn size_of(node_ends: &[usize], node: usize) -> usize {
    node_ends[node] - if node > 0 { node_ends[node - 1] } else { 0 }
}

impl Dynamics for ReducedBody {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        if let Some(complement) = &self.complement {
            complement.apply(x, y);
        }
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        match &self.complement {
            Some(complement) => complement.diagonal_blocks(),
            None => BlockDiagonal::Whole(&[]),
        }
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        self.complement.as_ref().map(Complement::assembled)
    }
}
