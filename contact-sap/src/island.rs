//! One connected component of the problem, in local indices.

mod build;
mod part;
mod piece;
mod problem;

use std::ops::Range;

use crate::error::SolveError;
use crate::participant::ParticipantIdx;

pub(crate) use piece::{Piece, PieceKind, Shift};
pub(crate) use problem::{IslandProblem, Start};

/// Participants and bases of one island. Velocities, stacked coordinates u and constraints are numbered locally, in
/// the order of their global indices; memory is reused from solve to solve.
#[derive(Debug, Default)]
pub(crate) struct Island {
    pub(crate) members: Vec<Member>,
    /// First velocity of each node, and one past the last. A node is a dense diagonal block of A.
    pub(crate) node_starts: Vec<usize>,
    pub(crate) bases: Vec<IslandBasis>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) n_dofs: usize,
    /// Length of the stacked u of all bases.
    pub(crate) n_coordinates: usize,
    /// Length of the stacked K = ΣΦᵀGΦ of all bases.
    pub(crate) n_aggregate_values: usize,
    pub(crate) n_contacts: usize,
    pub(crate) n_scalars: usize,
    /// Contribution of held participants, which are not in the island, to the stacked u; empty if there are none.
    pub(crate) held: Vec<f64>,
}

impl Island {
    /// The error of a matrix that is not positive definite at velocity `dof`.
    pub(crate) fn indefinite_at(&self, dof: usize) -> SolveError {
        let owner = self.members.iter().find(|m| m.dofs().contains(&dof));
        SolveError::HessianNotPositiveDefinite {
            participant: owner.map_or(ParticipantIdx(0), |m| m.participant),
            row: owner.map_or(dof, |m| dof - m.first_dof),
        }
    }

    /// Number of nodes.
    pub(crate) fn n_nodes(&self) -> usize {
        self.node_starts.len().saturating_sub(1)
    }

    fn node_of(&self, dof: usize) -> usize {
        self.node_starts.partition_point(|&start| start <= dof) - 1
    }
}

/// One participant of an island.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) participant: ParticipantIdx,
    /// First velocity in the stacked velocities of the problem.
    pub(crate) global_dof: usize,
    /// First velocity in the island.
    pub(crate) first_dof: usize,
    pub(crate) n_dofs: usize,
    /// Its index among the members of the full island.
    pub(crate) slot: usize,
}

impl Member {
    pub(crate) fn dofs(&self) -> Range<usize> {
        self.first_dof..self.first_dof + self.n_dofs
    }

    pub(crate) fn global_dofs(&self) -> Range<usize> {
        self.global_dof..self.global_dof + self.n_dofs
    }
}

/// One basis of an island; ranges of contacts and scalar rows are those of the [`ConstraintSet`](crate::ConstraintSet).
#[derive(Clone, Debug)]
pub(crate) struct IslandBasis {
    pub(crate) n_rows: usize,
    /// Offset of its bias in the set.
    pub(crate) global_row0: usize,
    /// Offset of its u in the island's stacked u.
    pub(crate) row0: usize,
    /// Offset of its K in the island's stacked K.
    pub(crate) aggregate0: usize,
    pub(crate) pieces: Range<usize>,
    pub(crate) contacts: Range<usize>,
    pub(crate) first_contact: usize,
    pub(crate) scalars: Range<usize>,
    pub(crate) first_scalar: usize,
}

/// Islands with fewer velocities are processed on one thread: the cost of a fork is that of the work.
pub(crate) const PARALLEL_DOFS_MIN: usize = 2000;

/// K of bases with fewer rows is summed once and kept.
const KEPT_ROWS_MAX: usize = 48;

impl IslandBasis {
    /// Whether K of the basis is kept. That of a grid cell, with 81 rows or more, is far larger than the data of its contacts.
    pub(crate) fn keeps_aggregate(&self) -> bool {
        self.n_rows < KEPT_ROWS_MAX || !self.scalars.is_empty()
    }

    /// Number of kept values of K.
    pub(crate) fn n_kept(&self) -> usize {
        match self.keeps_aggregate() {
            true => self.n_rows * self.n_rows,
            false => 0,
        }
    }
}
