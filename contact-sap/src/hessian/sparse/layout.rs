//! The layout of H: its pattern, and where each pair of pieces is added.

use super::pattern::Pattern;
use super::pattern_key::PatternKey;
use crate::hessian::BlockLocation;
use crate::island::{IslandProblem, Start};

/// The symbolic factorisation of H, for values of any precision; kept while the pattern is unchanged.
#[derive(Default)]
pub(crate) struct Layout {
    key: PatternKey,
    next_key: PatternKey,
    pub(super) pattern: Option<Pattern>,
    /// For each basis, the location of every pair of pieces in the lower triangle.
    pub(super) locations: Vec<BlockLocation>,
    edges: Vec<(u32, u32)>,
    laid_out: LayoutKey,
    /// Number of layouts so far.
    pub(super) count: u64,
}

/// The island of a layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LayoutKey {
    generation: u64,
    participants: Vec<usize>,
    /// Node and velocity of each piece, basis by basis.
    pieces: Vec<(usize, usize)>,
    bases: Vec<usize>,
}

impl Layout {
    /// Lays H out for the island of `p`.
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>) {
        if self.laid_out.matches(p) {
            return;
        }
        self.laid_out.read(p);
        self.count += 1;
        self.next_key.read(p);
        if self.pattern.is_none() || self.key != self.next_key {
            // A copy keeps the memory of both.
            self.key.clone_from(&self.next_key);
            let pattern = Pattern::new(p, &self.key, &mut self.edges);
            self.pattern = Some(pattern);
        }
        let Some(pattern) = &self.pattern else { return };
        let position = &pattern.elimination.position;
        self.locations.clear();
        for basis in &p.island.bases {
            let pieces = &p.island.pieces[basis.pieces.clone()];
            for a in pieces {
                for b in pieces {
                    let (row, column) = (position[a.node], position[b.node]);
                    if row >= column {
                        let mut location = pattern.fronts.block(row, column);
                        let node_starts = &p.island.node_starts;
                        location.offset += a.dof - node_starts[a.node];
                        location.offset += (b.dof - node_starts[b.node]) * location.stride;
                        self.locations.push(location);
                    }
                }
            }
        }
    }

    /// Multiplications of a factorisation.
    pub(crate) fn factor_work(&self) -> f64 {
        self.pattern.as_ref().map_or(0.0, |p| p.fronts.work())
    }
}

impl LayoutKey {
    /// Whether the layout is that of `p`: the same dynamics and the same couplings by constraints.
    fn matches(&self, p: &IslandProblem<'_>) -> bool {
        let pieces = p.island.pieces.iter().map(|piece| (piece.node, piece.dof));
        let bases = p.island.bases.iter().map(|basis| basis.pieces.end);
        let participants = p.island.members.iter().map(|m| m.participant.0);
        matches!(p.start, Start::Warm(_))
            && p.reduced.is_empty()
            && self.generation == p.generation
            && self.participants.iter().copied().eq(participants)
            && self.bases.iter().copied().eq(bases)
            && self.pieces.iter().copied().eq(pieces)
    }

    fn read(&mut self, p: &IslandProblem<'_>) {
        self.generation = p.generation;
        self.participants.clear();
        let members = p.island.members.iter();
        self.participants.extend(members.map(|m| m.participant.0));
        self.pieces.clear();
        let pieces = p.island.pieces.iter();
        self.pieces
            .extend(pieces.map(|piece| (piece.node, piece.dof)));
        self.bases.clear();
        let bases = p.island.bases.iter();
        self.bases.extend(bases.map(|basis| basis.pieces.end));
    }
}
