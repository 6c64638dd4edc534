//! An island together with its problem: A and b over the velocities of the island.

use super::{Island, Member, PARALLEL_DOFS_MIN};
use crate::cancellation::Cancellation;
use crate::constraint_set::ConstraintSet;
use crate::dynamics::Dynamics;
use crate::newton::ReducedBody;
use crate::problem::ContactProblem;
use crate::solver::SolveMode;

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
    /// Asked before each iteration.
    pub(crate) cancellation: &'a Cancellation,
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
