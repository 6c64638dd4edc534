//! One connected component of the problem, in local indices.

use std::ops::Range;

use nalgebra::Vector3;

use crate::constraint_set::ConstraintSet;
use crate::dynamics::{Assembled, BlockDiagonal, Dynamics};
use crate::error::SolveError;
use crate::newton::ReducedBody;
use crate::participant::ParticipantIdx;
use crate::problem::ContactProblem;
use crate::rows::Entries;
use crate::solver::SolveMode;

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

/// One basis of an island; ranges of contacts and scalar rows are those of the [`ConstraintSet`].
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

/// A block of B that lies within one node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// First row within the basis.
    pub(crate) row: usize,
    pub(crate) n_rows: usize,
    /// First velocity in the island.
    pub(crate) dof: usize,
    pub(crate) n_dofs: usize,
    pub(crate) node: usize,
    pub(crate) kind: PieceKind,
}

/// Entries of a [`Piece`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum PieceKind {
    /// Row i is velocity i.
    Identity,
    /// Column-major, `n_rows` values a column, from this offset of the set's block values.
    Dense(usize),
    /// A dense block that is a [`Shift`], as free rigid bodies have.
    Shift(usize, Shift),
}

/// scale·[I, 0; −[p], I]: takes the twist of a body at its reference point to the point at offset p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shift {
    pub(crate) scale: f64,
    pub(crate) p: Vector3<f64>,
}

impl Shift {
    /// The shift equal to `values` (6×6 column-major), if there is one exactly.
    fn recognise(values: &[f64]) -> Option<Self> {
        let scale = values[0];
        if scale == 0.0 {
            return None;
        }
        let at = |row: usize, column: usize| values[column * 6 + row];
        for i in 0..6 {
            for j in 0..6 {
                let expected = match (i, j) {
                    _ if i == j => scale,
                    (3.., ..3) if i - 3 != j => -at(j + 3, i - 3),
                    _ => 0.0,
                };
                if at(i, j) != expected {
                    return None;
                }
            }
        }
        // −[p] = [0, z, −y; −z, 0, x; y, −x, 0].
        let p = Vector3::new(at(4, 2), at(5, 0), at(3, 1)) / scale;
        // Only if the division is exact.
        (p * scale == Vector3::new(at(4, 2), at(5, 0), at(3, 1))).then_some(Self { scale, p })
    }
}

impl Piece {
    /// Values of a dense piece.
    #[inline]
    pub(crate) fn values<'a>(&self, set: &'a ConstraintSet) -> Option<&'a [f64]> {
        match self.kind {
            PieceKind::Identity => None,
            PieceKind::Dense(start) | PieceKind::Shift(start, _) => {
                Some(&set.block_values[start..start + self.n_rows * self.n_dofs])
            }
        }
    }

    /// u += B v, u of the basis, v of the island.
    #[inline]
    pub(crate) fn add_product(&self, set: &ConstraintSet, v: &[f64], u: &mut [f64]) {
        let u = &mut u[self.row..self.row + self.n_rows];
        let v = &v[self.dof..self.dof + self.n_dofs];
        match self.values(set) {
            None => u.iter_mut().zip(v).for_each(|(u, v)| *u += v),
            Some(values) => {
                for (column, v_j) in values.chunks_exact(self.n_rows).zip(v) {
                    u.iter_mut().zip(column).for_each(|(u, b)| *u += b * v_j);
                }
            }
        }
    }

    /// v += Bᵀ u.
    #[inline]
    pub(crate) fn add_transposed_product(&self, set: &ConstraintSet, u: &[f64], v: &mut [f64]) {
        let u = &u[self.row..self.row + self.n_rows];
        let v = &mut v[self.dof..self.dof + self.n_dofs];
        match self.values(set) {
            None => v.iter_mut().zip(u).for_each(|(v, u)| *v += u),
            Some(values) => {
                for (column, v_j) in values.chunks_exact(self.n_rows).zip(v) {
                    *v_j += column.iter().zip(u).map(|(b, u)| b * u).sum::<f64>();
                }
            }
        }
    }
}

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

    /// Number of nodes.
    pub(crate) fn n_nodes(&self) -> usize {
        self.node_starts.len().saturating_sub(1)
    }

    fn node_of(&self, dof: usize) -> usize {
        self.node_starts.partition_point(|&start| start <= dof) - 1
    }
}

/// An island and the problem it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct IslandProblem<'a> {
    pub(crate) island: &'a Island,
    pub(crate) problem: &'a ContactProblem<'a>,
    /// Schur complements in place of participants, by their slot; empty for the full problem.
    pub(crate) reduced: &'a [ReducedBody],
    /// Problems of equal generation have the same dynamics.
    pub(crate) generation: u64,
    pub(crate) start: Start,
}

/// Whether a solve may reuse factors of the dynamics, and its mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// The dynamics are new.
    Cold(SolveMode),
    /// The dynamics are those of the last solve.
    Warm(SolveMode),
}

impl Start {
    pub(crate) fn mode(self) -> SolveMode {
        match self {
            Start::Cold(mode) | Start::Warm(mode) => mode,
        }
    }
}

impl<'a> IslandProblem<'a> {
    pub(crate) fn set(&self) -> &'a ConstraintSet {
        self.problem.constraints
    }

    pub(crate) fn dynamics(&self, member: &Member) -> &'a dyn Dynamics {
        match self.reduced(member) {
            Some(body) => body,
            None => self.problem.dynamics.dynamics(member.participant),
        }
    }

    /// The Schur complement in place of a participant.
    fn reduced(&self, member: &Member) -> Option<&'a ReducedBody> {
        let body = self.reduced.get(member.slot)?;
        body.is_reduced().then_some(body)
    }

    /// y = A x.
    pub(crate) fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.apply_members(&self.island.members, x, y);
    }

    /// The rows of A x that belong to the consecutive `members`, in parallel for large islands.
    fn apply_members(&self, members: &[Member], x: &[f64], y: &mut [f64]) {
        if members.len() > 1 && y.len() >= PARALLEL_DOFS_MIN {
            let (left, right) = members.split_at(members.len() / 2);
            let (y_left, y_right) = y.split_at_mut(right[0].first_dof - left[0].first_dof);
            rayon::join(
                || self.apply_members(left, x, y_left),
                || self.apply_members(right, x, y_right),
            );
            return;
        }
        let mut y = y;
        for member in members {
            let (own, rest) = y.split_at_mut(member.n_dofs);
            self.dynamics(member).apply(&x[member.dofs()], own);
            y = rest;
        }
    }

    /// Writes b.
    pub(crate) fn right_hand_side(&self, b: &mut [f64]) {
        for member in &self.island.members {
            b[member.dofs()].copy_from_slice(self.dynamics(member).right_hand_side());
        }
    }

    /// Writes the diagonal of A; for a Schur complement, that of the full A at the same velocities.
    pub(crate) fn diagonal(&self, diagonal: &mut [f64]) {
        for member in &self.island.members {
            if let Some(body) = self.reduced(member) {
                diagonal[member.dofs()].copy_from_slice(body.diagonal());
                continue;
            }
            let blocks = self.dynamics(member).diagonal_blocks();
            blocks.for_each(member.n_dofs, |block| {
                let first = member.first_dof + block.first_dof;
                for i in 0..block.size {
                    diagonal[first + i] = block.values[i * (block.size + 1)];
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_shifts_are_recognised() {
        let p = Vector3::new(0.3, -0.7, 1.9);
        for scale in [1.0, -1.0] {
            let mut b = nalgebra::Matrix6::identity();
            b.fixed_view_mut::<3, 3>(3, 0).copy_from(&-p.cross_matrix());
            b *= scale;
            assert_eq!(Shift::recognise(b.as_slice()), Some(Shift { scale, p }));
            for k in 0..36 {
                let mut other = b;
                other[k] += 1e-9;
                assert_eq!(Shift::recognise(other.as_slice()), None, "entry {k}");
            }
        }
    }
}
