//! Columns of sparse participants, and the runs of their entries in one node.

use std::ops::Range;

use crate::dynamics::Assembled;
use crate::island::IslandProblem;

/// A column of a sparse participant, passed by [`for_each_column`].
pub(super) struct ColumnOf<'a> {
    pub(super) node: usize,
    /// Its velocity and the participant's first velocity, in the island.
    pub(super) dof: usize,
    pub(super) first_dof: usize,
    /// `None` if they are those of the previous column of the same node.
    pub(super) rows: Option<&'a [u32]>,
}

/// Calls `each` with every column of every sparse participant.
pub(super) fn for_each_column(p: &IslandProblem<'_>, mut each: impl FnMut(ColumnOf<'_>)) {
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
pub(super) fn for_each_run(
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
