//! Filling of an island with the participants and bases of a problem.

use super::{Island, IslandBasis, Member, Piece, PieceKind, Shift};
use crate::constraint_set::ConstraintSet;
use crate::dynamics::{Assembled, BlockDiagonal, Dynamics};
use crate::participant::ParticipantIdx;
use crate::rows::Entries;

impl Island {
    /// Empties the island, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.members.clear();
        self.node_starts.clear();
        self.bases.clear();
        self.pieces.clear();
        self.n_dofs = 0;
        self.n_coordinates = 0;
        self.n_aggregate_values = 0;
        self.n_contacts = 0;
        self.n_scalars = 0;
        self.held.clear();
    }

    /// Adds a participant whose velocities start at `global_dof`; returns its first velocity in the island.
    pub(crate) fn add_participant(
        &mut self,
        participant: ParticipantIdx,
        dynamics: &dyn Dynamics,
        global_dof: usize,
    ) -> usize {
        let first_dof = self.n_dofs;
        let n_dofs = dynamics.n_dofs();
        self.members.push(Member {
            participant,
            global_dof,
            first_dof,
            n_dofs,
            slot: self.members.len(),
        });
        self.n_dofs += n_dofs;
        if self.node_starts.is_empty() {
            self.node_starts.push(0);
        }
        let dense = matches!(dynamics.assembled(), Some(Assembled::Dense(_)));
        if n_dofs > 0 {
            match dynamics.diagonal_blocks() {
                BlockDiagonal::Whole(_) => self.node_starts.push(self.n_dofs),
                _ if dense => self.node_starts.push(self.n_dofs),
                blocks => blocks.for_each(n_dofs, |block| {
                    self.node_starts
                        .push(first_dof + block.first_dof + block.size);
                }),
            }
        }
        first_dof
    }

    /// Adds a basis of `set`; `first_dof` gives the first velocity of a participant in this island. All participants
    /// must have been added.
    pub(crate) fn add_basis(
        &mut self,
        set: &ConstraintSet,
        basis: usize,
        first_dof: impl Fn(ParticipantIdx) -> usize,
    ) {
        let record = &set.bases[basis];
        let first_piece = self.pieces.len();
        for (participant, block) in &set.blocks[record.blocks.clone()] {
            let start = first_dof(*participant) + block.dof;
            let end = start + block.n_dofs;
            let mut dof = start;
            while dof < end {
                let node = self.node_of(dof);
                let n_dofs = self.node_starts[node + 1].min(end) - dof;
                let skipped = dof - start;
                let (row, n_rows, kind) = match block.entries {
                    Entries::Identity => (block.row + skipped, n_dofs, PieceKind::Identity),
                    Entries::Dense(at) => {
                        let at = at + skipped * block.n_rows;
                        let shift = if (block.n_rows, n_dofs) == (6, 6) {
                            Shift::recognise(&set.block_values[at..at + 36])
                        } else {
                            None
                        };
                        let kind = match shift {
                            Some(shift) => PieceKind::Shift(at, shift),
                            None => PieceKind::Dense(at),
                        };
                        (block.row, block.n_rows, kind)
                    }
                };
                self.pieces.push(Piece {
                    row,
                    n_rows,
                    dof,
                    n_dofs,
                    node,
                    kind,
                });
                dof += n_dofs;
            }
        }
        let r = record.n_rows;
        self.bases.push(IslandBasis {
            n_rows: r,
            global_row0: record.row0,
            row0: self.n_coordinates,
            aggregate0: self.n_aggregate_values,
            pieces: first_piece..self.pieces.len(),
            contacts: record.contacts.clone(),
            first_contact: self.n_contacts,
            scalars: record.rows.clone(),
            first_scalar: self.n_scalars,
        });
        self.n_coordinates += r;
        self.n_aggregate_values += r * r;
        self.n_contacts += record.contacts.len();
        self.n_scalars += record.rows.len();
    }
}
