//! The symbolic factorisation of H, and the scatter of A into its panels.

use std::ops::Range;

use nalgebra::Vector3;

use super::columns::{for_each_column, for_each_run};
use super::pattern_key::PatternKey;
use crate::dynamics::Assembled;
use crate::hessian::best_order::{cheapest_order, grid_order};
use crate::hessian::multifrontal::Multifrontal;
use crate::hessian::ordering::{Elimination, Graph};
use crate::hessian::{BlockLocation, Real};
use crate::island::IslandProblem;

/// The symbolic factorisation and the map from A to its panels.
pub(super) struct Pattern {
    pub(super) elimination: Elimination,
    pub(super) fronts: Multifrontal,
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

impl Pattern {
    pub(super) fn new(
        p: &IslandProblem<'_>,
        key: &PatternKey,
        edges: &mut Vec<(u32, u32)>,
    ) -> Self {
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
    pub(super) fn scatter_dynamics<T: Real>(
        &self,
        p: &IslandProblem<'_>,
        scale: &[f64],
        values: &mut [T],
    ) {
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
