//! A block-sparse multifrontal Cholesky factorisation: symbolic part.
//!
//! Besides full factorisations it offers partial ones, for Schur complements, and results that do not depend on the number of
//! threads. CPU time of a factorisation on one thread against the supernodal one of faer 0.24.4 with the same order, lattices
//! of 3×3 blocks:
//!
//! | velocities | multiplications | this, ms | faer, ms |
//! |---:|---:|---:|---:|
//! | 2,187 (cube) | 43 million | 3.2 | 4.0 |
//! | 5,400 (bar) | 37 million | 4.4 | 5.7 |
//! | 9,600 (block) | 0.93 billion | 55 | 54 |
//! | 28,800 (block) | 14 billion | 687 | 639 |
//! | 36,000 (plate) | 1.2 billion | 80 | 95 |
//!
//! Hessians of scenes, with contact, mean of a run on one thread of a shared machine; faer with the same order and with its own (AMD):
//!
//! | scene | velocities | multiplications | this, ms | faer, ms |
//! |---|---:|---:|---:|---:|
//! | `cord-on-foam` | 300 to 399 | 0.3 million | 0.08 | 0.33, 0.33 |
//! | `torus-chain`, 20 links | 1,000 to 1,099 | 3.9 million | 0.36 | 1.7, 1.4 |
//! | `soft-landing` | 1,089 | 11 million | 1.3 | 1.9, 1.6 |
//! | `bubble-gripper-teddy` | 2,085 | 4.4 million | 0.74 | 4.4, 3.8 |

mod factor;
mod solve;
#[cfg(test)]
mod tests;
mod tree;

use std::ops::Range;

use crate::hessian::BlockLocation;
use crate::hessian::ordering::{Elimination, Graph};

pub(crate) use factor::{ContributionBlock, Factor};
use tree::Subtree;

/// The symbolic factorisation: supernodes, their panels, and the assembly of contribution blocks into parent fronts.
///
/// Source: Duff and Reid (1983); amalgamation after Ashcraft and Grimes (1989).
#[derive(Clone, Debug, Default)]
pub(crate) struct Multifrontal {
    supernodes: Vec<Supernode>,
    /// Positions from here on are not eliminated: the border of a partial factorisation.
    border: usize,
    /// Children of every supernode, consecutively, and the supernodes without a parent.
    children: Vec<u32>,
    roots: Vec<u32>,
    /// Position and row in the front of every block of all fronts, own columns first.
    blocks: Vec<(u32, u32)>,
    runs: Vec<Run>,
    /// Supernode of each position.
    supernode_of: Vec<u32>,
    dofs: Vec<Dofs>,
    n_values: usize,
    /// Rows below the pivots of all supernodes.
    n_below: usize,
}

/// Velocities of one position: first index in the island and in the factor, and their number.
#[derive(Clone, Copy, Debug)]
struct Dofs {
    island: usize,
    permuted: usize,
    size: usize,
}

/// A supernode before its layout.
#[derive(Clone, Debug)]
struct Candidate {
    first: usize,
    end: usize,
    /// Positions below its own.
    rows: Vec<u32>,
    n_children: usize,
    /// Numbers of pivots, of rows below, and of zeros stored in its panel.
    pivots: usize,
    below: usize,
    zeros: usize,
}

#[derive(Clone, Debug)]
struct Supernode {
    /// Own positions.
    positions: Range<usize>,
    blocks: Range<usize>,
    /// Pivots k and rows m.
    k: usize,
    m: usize,
    /// Offset of its panel, m×k, in the values.
    panel: usize,
    /// Offset of its pivots in the factor, and of its rows below them among those of all supernodes.
    dof: usize,
    below: usize,
    /// Rows below the pivots in terms of the parent's front or, without a parent, of the border.
    runs: Range<usize>,
    children: Range<usize>,
    subtree: Subtree,
}

impl Supernode {
    fn rows_below(&self) -> usize {
        self.m - self.k
    }

    /// Multiplications to eliminate its pivots.
    fn work(&self) -> f64 {
        let columns = (self.m - self.k + 1..=self.m).map(|below| (below * below) as f64 / 2.0);
        columns.sum()
    }
}

/// Rows of a child's contribution block that are consecutive there and in its parent's front.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: usize,
    to: usize,
    length: usize,
}

impl Multifrontal {
    /// Factorisation of `graph` in the order of `elimination`; node i has `node_starts[i + 1] − node_starts[i]` velocities.
    pub(crate) fn new(graph: &Graph, elimination: &Elimination, node_starts: &[usize]) -> Self {
        Self::partial(graph, elimination, node_starts, 0)
    }

    /// Partial factorisation: eliminates all but the `n_border` last nodes. Each connected component of the others leaves one of
    /// [`Multifrontal::contribution_blocks`] on its neighbours in the border.
    pub(crate) fn partial(
        graph: &Graph,
        elimination: &Elimination,
        node_starts: &[usize],
        n_border: usize,
    ) -> Self {
        let mut permuted = 0;
        let dofs: Vec<Dofs> = elimination
            .order
            .iter()
            .map(|&node| {
                let node = node as usize;
                let size = node_starts[node + 1] - node_starts[node];
                permuted += size;
                Dofs {
                    island: node_starts[node],
                    permuted: permuted - size,
                    size,
                }
            })
            .collect();
        let n = dofs.len();
        let mut this = Self {
            supernode_of: vec![0; n],
            border: n - n_border,
            dofs,
            ..Self::default()
        };

        // Columns of L by position. Each begins as a supernode of its own and may be amalgamated with its last child.
        let mut open: Vec<Candidate> = Vec::new();
        let mut finished: Vec<Candidate> = Vec::new();
        for k in 0..this.border {
            let mut rows: Vec<u32> = graph
                .neighbours(elimination.order[k] as usize)
                .iter()
                .map(|&neighbour| elimination.position[neighbour as usize])
                .filter(|&row| row as usize > k)
                .collect();
            // In a postorder, the children of k are on top of `open`.
            let mut children = Vec::new();
            while open
                .last()
                .is_some_and(|child| child.rows.first() == Some(&(k as u32)))
            {
                children.extend(open.pop());
            }
            for child in &children {
                rows.extend(child.rows.iter().skip(1));
            }
            rows.sort_unstable();
            rows.dedup();
            let mut own = Candidate {
                first: k,
                end: k + 1,
                pivots: this.dofs[k].size,
                below: rows.iter().map(|&row| this.dofs[row as usize].size).sum(),
                zeros: 0,
                rows,
                n_children: 0,
            };
            // Only the child that ends right before k can be amalgamated.
            children.reverse();
            for (c, child) in children.iter().enumerate() {
                let last = c + 1 == children.len();
                if last && own.amalgamate(child) {
                    own.n_children += child.n_children;
                } else {
                    finished.push(child.clone());
                    own.n_children += 1;
                }
            }
            open.push(own);
        }
        finished.extend(open);
        finished.sort_unstable_by_key(|candidate| candidate.first);
        this.lay_out(&finished);
        this
    }

    fn lay_out(&mut self, supernodes: &[Candidate]) {
        let mut n_pivots = 0;
        for (s, candidate) in supernodes.iter().enumerate() {
            let first_block = self.blocks.len();
            let mut row = 0;
            for position in candidate.first..candidate.end {
                self.supernode_of[position] = s as u32;
                self.blocks.push((position as u32, row as u32));
                row += self.dofs[position].size;
            }
            let k = row;
            for &position in &candidate.rows {
                self.blocks.push((position, row as u32));
                row += self.dofs[position as usize].size;
            }
            self.supernodes.push(Supernode {
                positions: candidate.first..candidate.end,
                blocks: first_block..self.blocks.len(),
                k,
                m: row,
                panel: self.n_values,
                dof: n_pivots,
                below: self.n_below,
                runs: 0..0,
                children: 0..0,
                subtree: Subtree::default(),
            });
            n_pivots += k;
            self.n_values += row * k;
            self.n_below += row - k;
        }
        for s in 0..self.supernodes.len() {
            let first_run = self.runs.len();
            let supernode = &self.supernodes[s];
            let below = supernode.blocks.start + supernode.positions.len()..supernode.blocks.end;
            for &(position, row) in &self.blocks[below.clone()] {
                let first = self.blocks[below.start].0 as usize;
                let from = row as usize - supernode.k;
                let to = if first < self.border {
                    self.row_in_front(self.supernode_of[first] as usize, position)
                } else {
                    self.dofs[position as usize].permuted - n_pivots
                };
                let length = self.dofs[position as usize].size;
                match self.runs[first_run..].last_mut() {
                    Some(run) if run.to + run.length == to => run.length += length,
                    _ => self.runs.push(Run { from, to, length }),
                }
            }
            self.supernodes[s].runs = first_run..self.runs.len();
        }
        self.find_subtrees(supernodes.iter().map(|candidate| candidate.n_children));
    }

    /// Row of the block at `position` in the front of supernode `s`.
    fn row_in_front(&self, s: usize, position: u32) -> usize {
        let blocks = &self.blocks[self.supernodes[s].blocks.clone()];
        let at = blocks.partition_point(|(p, _)| *p < position);
        debug_assert_eq!(
            blocks[at].0, position,
            "the front has every row of its children"
        );
        blocks[at].1 as usize
    }

    /// Location of the block at positions (`row`, `column`), row ≥ column, in [`Factor::values`].
    pub(crate) fn block(&self, row: u32, column: u32) -> BlockLocation {
        let s = self.supernode_of[column as usize] as usize;
        let supernode = &self.supernodes[s];
        let first = supernode.blocks.start + column as usize - supernode.positions.start;
        let column = self.blocks[first].1 as usize;
        BlockLocation {
            offset: supernode.panel + column * supernode.m + self.row_in_front(s, row),
            stride: supernode.m,
        }
    }

    /// Multiplications of a factorisation: Σ over the pivots of half the square of the column below.
    pub(crate) fn work(&self) -> f64 {
        self.supernodes.iter().map(Supernode::work).sum()
    }
}

impl Candidate {
    /// Amalgamates the child that ends right before it, unless that stores too many zeros. Small fronts may be half empty, as
    /// larger fronts are faster per multiplication.
    fn amalgamate(&mut self, child: &Self) -> bool {
        let pivots = self.pivots + child.pivots;
        let zeros =
            self.zeros + child.zeros + child.pivots * (self.pivots + self.below - child.below);
        let entries = pivots * (pivots + self.below);
        let allowed = match pivots {
            0..=16 => 0.5,
            17..=48 => 0.2,
            _ => 0.05,
        };
        if zeros as f64 > allowed * entries as f64 {
            return false;
        }
        self.first = child.first;
        self.pivots = pivots;
        self.zeros = zeros;
        true
    }
}
