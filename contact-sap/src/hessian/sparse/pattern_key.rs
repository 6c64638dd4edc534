//! What determines the pattern of H: nodes, couplings by constraints and sparse participants.

use crate::dynamics::Assembled;
use crate::island::IslandProblem;

/// The data that determines the pattern of H.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PatternKey {
    node_starts: Vec<usize>,
    /// Sorted pairs of nodes that constraints couple, first > second.
    pub(super) couplings: Vec<(u32, u32)>,
    /// Column pointers and rows of every sparse participant.
    sparse: Vec<u32>,
}

impl PatternKey {
    pub(super) fn read(&mut self, p: &IslandProblem<'_>) {
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
