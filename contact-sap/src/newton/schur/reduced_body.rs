//! A participant and its Schur complement.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::complement::Complement;
use crate::dynamics::{Assembled, BlockDiagonal, Dynamics};
use crate::hessian::{BodyGraph, Elimination, Factor, Graph, Multifrontal};
use crate::participant::ParticipantIdx;

/// A participant and, if it is sparse and has nodes to eliminate, its Schur complement.
#[derive(Default)]
pub(crate) struct ReducedBody {
    /// Whether nodes are eliminated; only sparse bodies are reduced.
    pub(super) is_reduced: bool,
    pub(super) body: BodyGraph,
    pub(super) first_node: usize,
    pub(super) n_nodes: usize,
    pub(super) first_dof: usize,
    pub(super) n_dofs: usize,
    /// Ends of its nodes, relative to its first velocity, and the number of velocities kept.
    pub(super) node_ends: Vec<usize>,
    pub(super) n_kept: usize,
    /// The participating nodes; all that follows is for them.
    participating: Vec<bool>,
    /// For each node its index among the participating nodes, or [`ELIMINATED`].
    pub(super) kept: Vec<u32>,
    /// First velocity of each participating node among those kept, and one past the last.
    kept_starts: Vec<usize>,
    /// Participating neighbours of each connected component of eliminated nodes, by these indices.
    cliques: Vec<Vec<u32>>,
    /// S.
    pub(super) complement: Option<Complement>,
    pub(super) symbolic: Option<Symbolic>,
    factor: Factor,
    /// b in the order of elimination; after back substitution, v.
    x: Vec<f64>,
    /// The reduced right-hand side.
    right_hand_side: Vec<f64>,
    /// The diagonal of A at the kept velocities, so that the norm of gradients is that of the full problem.
    diagonal: Vec<f64>,
    /// The dynamics of the elimination, and of the graph.
    pub(super) source: Option<Source>,
    pub(super) graph_source: Option<Source>,
    pub(super) failed: Option<usize>,
    /// Runs of the current column.
    runs: Vec<Run>,
}

/// Entries of a column of A that lie in one node.
struct Run {
    entries: Range<usize>,
    first_row: usize,
    /// Location of row `first_row` of the node's first column, and the distance of columns.
    offset: usize,
    stride: usize,
}

/// A participant and the generation of its dynamics.
pub(super) type Source = (ParticipantIdx, u64);

/// The symbolic partial factorisation.
pub(super) struct Symbolic {
    pub(super) fronts: Multifrontal,
    position: Vec<u32>,
    /// For each node of the body its index in the elimination, participating nodes last.
    node: Vec<u32>,
    /// For each velocity of the body its index in the elimination.
    dof: Vec<u32>,
}

const ELIMINATED: u32 = u32::MAX;

impl ReducedBody {
    /// Discards everything that depends on the graph.
    pub(super) fn forget(&mut self) {
        self.participating.clear();
        self.complement = None;
        self.symbolic = None;
        self.source = None;
    }

    /// Finds the cliques of nodes that become coupled when all others are eliminated.
    pub(super) fn find_cliques(&mut self, participating: &[bool]) {
        if self.participating == participating {
            return;
        }
        self.forget();
        self.participating.extend_from_slice(participating);
        self.kept.clear();
        self.kept_starts.clear();
        let mut n_dofs = 0;
        for (node, participating) in participating.iter().enumerate() {
            let number = self.kept_starts.len() as u32;
            self.kept
                .push(if *participating { number } else { ELIMINATED });
            if *participating {
                self.kept_starts.push(n_dofs);
                n_dofs += size_of(&self.node_ends, node);
            }
        }
        self.kept_starts.push(n_dofs);
        self.cliques.clear();
        let mut seen = participating.to_vec();
        let mut part = Vec::new();
        for start in 0..participating.len() {
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            part.push(start);
            let mut around = Vec::new();
            while let Some(node) = part.pop() {
                for &other in self.body.graph.neighbours(node) {
                    let other = other as usize;
                    if participating[other] {
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

    /// Lower bound of the multiplications to factor S: those of its largest clique.
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
            for (node, own) in self
                .kept
                .iter()
                .enumerate()
                .filter(|(_, k)| **k != ELIMINATED)
            {
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
        // Eliminated nodes in the body's elimination order, then the participating ones.
        let mut index = vec![0; n_nodes];
        let mut starts = vec![0];
        let go = self.body.order.iter().map(|node| *node as usize);
        let go = go.filter(|node| self.kept[*node] == ELIMINATED);
        for node in go.chain((0..n_nodes).filter(|node| self.kept[*node] != ELIMINATED)) {
            index[node] = starts.len() as u32 - 1;
            starts.push(starts[starts.len() - 1] + size_of(&self.node_ends, node));
        }
        let mut edges = Vec::with_capacity(self.body.graph.neighbours.len());
        for (node, own) in index.iter().enumerate() {
            let others = self.body.graph.neighbours(node).iter();
            let others = others.map(|other| index[*other as usize]);
            let others = others.filter(|other| other < own && (*other as usize) < n_left);
            edges.extend(others.map(|other| (*own, other)));
        }
        let graph = Graph::from_edges(n_nodes, &edges);
        edges.retain(|(i, j)| i.max(j) < &(n_left as u32));
        let among_eliminated = Graph::from_edges(n_left, &edges);
        let order = (0..n_left as u32).collect();
        let mut elimination = Elimination::new(&among_eliminated, order);
        let stay = n_left as u32..n_nodes as u32;
        elimination.order.extend(stay.clone());
        elimination.position.extend(stay);
        let fronts = Multifrontal::partial(&graph, &elimination, &starts, n_border);
        let mut dof = Vec::with_capacity(self.n_dofs);
        for (node, own) in index.iter().enumerate() {
            let first = starts[*own as usize] as u32;
            dof.extend(first..first + size_of(&self.node_ends, node) as u32);
        }
        self.symbolic = Some(Symbolic {
            fronts,
            position: elimination.position,
            node: index,
            dof,
        });
    }

    /// Computes S and the reduced right-hand side, unless they are up to date.
    pub(super) fn eliminate(&mut self, source: Source, dynamics: &dyn Dynamics) {
        let (Some(symbolic), Some(complement)) = (&self.symbolic, &mut self.complement) else {
            return;
        };
        let Some(Assembled::Sparse(a)) = dynamics.assembled() else {
            return;
        };
        if self.failed.is_none() && self.source == Some(source) {
            return;
        }
        self.source = None;
        self.failed = None;
        let Symbolic {
            fronts,
            position,
            node: index,
            dof: numbers,
        } = symbolic;
        fronts.reserve(&mut self.factor, numbers.len());
        self.factor.values.fill(0.0);
        complement.clear();
        let ends = &self.node_ends;
        let first_of = |node: usize| if node > 0 { ends[node - 1] } else { 0 };
        for node in 0..self.n_nodes {
            let own_position = position[index[node] as usize];
            let own = self.kept[node];
            let first = first_of(node);
            let mut rows_before: &[u32] = &[];
            for dof in first..ends[node] {
                let column = a.indptr().outer_inds_sz(dof);
                let (rows, data) = (&a.indices()[column.clone()], &a.data()[column]);
                // Columns of one node usually share their rows.
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
                        let to_position = position[index[other] as usize];
                        let at = match (self.kept[other], own) {
                            (row, ELIMINATED)
                                if row != ELIMINATED || to_position >= own_position =>
                            {
                                Some(fronts.block(to_position, own_position))
                            }
                            // In the other triangle.
                            (_, ELIMINATED) | (ELIMINATED, _) => None,
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
                    ELIMINATED => &mut self.factor.values,
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
        for contribution in fronts.contribution_blocks(&self.factor) {
            complement.add(&contribution);
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

    /// Computes v of the body from that of the kept nodes by back substitution.
    pub(super) fn expand(&mut self, kept: &[f64]) {
        if let Some(symbolic) = &self.symbolic {
            symbolic.fronts.expand(&mut self.factor, kept, &mut self.x);
        }
    }

    /// Writes the result of [`ReducedBody::expand`].
    pub(super) fn expanded(&self, v: &mut [f64]) {
        if let Some(symbolic) = &self.symbolic {
            for (number, v) in symbolic.dof.iter().zip(v) {
                *v = self.x[*number as usize];
            }
        }
    }

    /// Index of a participating node among those, and its first velocity.
    pub(super) fn number_of(&self, node: usize) -> Option<(usize, u32)> {
        let number = self.kept[node];
        (number != ELIMINATED).then(|| (number as usize, self.kept_starts[number as usize] as u32))
    }

    /// The diagonal of A at the kept velocities.
    pub(crate) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Whether this replaces its participant.
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
