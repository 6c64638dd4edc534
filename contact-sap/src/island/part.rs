//! An island made from participants of another one, as they are or reduced to Schur complements. The others are held.

use std::ops::Range;

use super::{Island, IslandBasis, IslandProblem, Member, Piece};

impl Island {
    /// Adds a participant of the island `whole` with its nodes.
    pub(crate) fn add_member_of(&mut self, whole: &Island, member: &Member, nodes: Range<usize>) {
        let first_dof = self.n_dofs;
        self.members.push(Member {
            first_dof,
            ..*member
        });
        if self.node_starts.is_empty() {
            self.node_starts.push(0);
        }
        let ends = &whole.node_starts[nodes.start + 1..nodes.end + 1];
        let ends = ends.iter().map(|end| end - member.first_dof + first_dof);
        self.node_starts.extend(ends);
        self.n_dofs += member.n_dofs;
    }

    /// Adds the Schur complement of a participant of another island: nodes end at `node_ends`, relative to its first velocity.
    pub(crate) fn add_reduced(&mut self, member: &Member, node_ends: &[usize]) {
        let (first_dof, n_dofs) = (self.n_dofs, node_ends.last().copied().unwrap_or(0));
        self.members.push(Member {
            first_dof,
            n_dofs,
            ..*member
        });
        if self.node_starts.is_empty() {
            self.node_starts.push(0);
        }
        let ends = node_ends.iter().map(|end| first_dof + end);
        self.node_starts.extend(ends);
        self.n_dofs += n_dofs;
    }

    /// Adds basis `b` of the island of `whole` if it involves a participant of this island; the others are held at `v`.
    ///
    /// `offsets` gives the offsets of velocities and nodes of a node's participant from `whole` to here, `None` if it is held.
    pub(crate) fn add_basis_of(
        &mut self,
        whole: &IslandProblem<'_>,
        b: usize,
        v: &[f64],
        offsets: impl Fn(usize) -> Option<(isize, isize)>,
    ) -> bool {
        let basis = &whole.island.bases[b];
        let pieces = &whole.island.pieces[basis.pieces.clone()];
        if pieces.iter().all(|piece| offsets(piece.node).is_none()) {
            return false;
        }
        let first_piece = self.pieces.len();
        let (r, row0) = (basis.n_rows, self.n_coordinates);
        self.held.resize(row0 + r, 0.0);
        for piece in pieces {
            match offsets(piece.node) {
                Some((dofs, nodes)) => self.pieces.push(Piece {
                    dof: piece.dof.wrapping_add_signed(dofs),
                    node: piece.node.wrapping_add_signed(nodes),
                    ..*piece
                }),
                None => piece.add_product(whole.set(), v, &mut self.held[row0..]),
            }
        }
        self.bases.push(IslandBasis {
            row0,
            aggregate0: self.n_aggregate_values,
            pieces: first_piece..self.pieces.len(),
            first_contact: self.n_contacts,
            first_scalar: self.n_scalars,
            ..basis.clone()
        });
        self.n_coordinates += r;
        self.n_aggregate_values += r * r;
        self.n_contacts += basis.contacts.len();
        self.n_scalars += basis.scalars.len();
        true
    }
}
