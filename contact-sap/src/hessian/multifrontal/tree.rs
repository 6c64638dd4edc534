//! Parallel traversal of the supernode tree.
//!
//! The split into tasks depends on the tree alone, and sums are taken in the order of the tree, so results do not depend on the
//! number of threads.

use std::ops::Range;

use super::{Multifrontal, Supernode};

/// The children of a supernode are separate tasks if they take at least this many multiplications together, some 100 µs.
const PARALLEL_WORK_MIN: f64 = 3e6;

/// A supernode and its descendants.
#[derive(Clone, Debug, Default)]
pub(super) struct Subtree {
    /// Its first supernode; the others follow consecutively up to its root.
    pub(super) first: usize,
    /// Multiplications of a factorisation.
    work: f64,
    /// Stack entries for a factorisation. Its contribution block ends up at their beginning.
    pub(super) stack: usize,
    /// Whether the children are separate tasks. If not, no descendants are.
    pub(super) is_split: bool,
}

/// Memory of neighbouring subtrees.
pub(super) trait Portion: Send + Sized {
    /// Splits off the memory of the leading subtrees `first`.
    fn split_at(self, fronts: &Multifrontal, first: &[u32]) -> (Self, Self);
}

impl Multifrontal {
    /// Does `work` for each of `roots`, neighbouring subtrees, in parallel if large enough; returns the error of the first
    /// that fails.
    pub(super) fn for_each_subtree<P: Portion, E: Send>(
        &self,
        roots: &[u32],
        mut portion: P,
        work: &(impl Fn(usize, P) -> Result<(), E> + Sync),
    ) -> Result<(), E> {
        if let Some((left, right)) = self.halves(roots) {
            let (of_left, of_right) = portion.split_at(self, left);
            let (left, right) = rayon::join(
                || self.for_each_subtree(left, of_left, work),
                || self.for_each_subtree(right, of_right, work),
            );
            return left.and(right);
        }
        for (i, &root) in roots.iter().enumerate() {
            let (own, others) = portion.split_at(self, &roots[i..=i]);
            work(root as usize, own)?;
            portion = others;
        }
        Ok(())
    }

    /// Finds the children of every supernode from their numbers, in the order of elimination.
    pub(super) fn find_subtrees(&mut self, n_children: impl Iterator<Item = usize>) {
        for (s, n_children) in n_children.enumerate() {
            let own = self.roots.split_off(self.roots.len() - n_children);
            let subtree = self.subtree(s, &own);
            let first = self.children.len();
            self.children.extend(own);
            self.supernodes[s].children = first..self.children.len();
            self.supernodes[s].subtree = subtree;
            self.roots.push(s as u32);
        }
    }

    fn subtree(&self, s: usize, children: &[u32]) -> Subtree {
        let children = children.iter().map(|c| &self.supernodes[*c as usize]);
        let below: f64 = children.clone().map(|child| child.subtree.work).sum();
        let is_split = below >= PARALLEL_WORK_MIN;
        let own = self.supernodes[s].rows_below().pow(2);
        let stack = if is_split {
            own + children
                .clone()
                .map(|child| child.subtree.stack)
                .sum::<usize>()
        } else {
            let (mut height, mut highest) = (0, 0);
            for child in children.clone() {
                highest = highest.max(height + child.subtree.stack);
                height += child.rows_below().pow(2);
            }
            highest.max(height + own)
        };
        Subtree {
            first: children
                .map(|child| child.subtree.first)
                .next()
                .unwrap_or(s),
            work: below + self.supernodes[s].work(),
            stack,
            is_split,
        }
    }

    pub(super) fn children(&self, supernode: &Supernode) -> &[u32] {
        &self.children[supernode.children.clone()]
    }

    /// Supernodes of neighbouring subtrees.
    pub(super) fn supernodes_of(&self, roots: &[u32]) -> Range<usize> {
        match (roots.first(), roots.last()) {
            (Some(&first), Some(&last)) => {
                self.supernodes[first as usize].subtree.first..last as usize + 1
            }
            _ => 0..0,
        }
    }

    /// Two halves of neighbouring subtrees, if both are large enough for a task.
    fn halves<'a>(&self, roots: &'a [u32]) -> Option<(&'a [u32], &'a [u32])> {
        let (left, right) = roots.split_at_checked(roots.len() / 2)?;
        let is_large = |half| self.work_of(half) >= PARALLEL_WORK_MIN / 4.0;
        (is_large(left) && is_large(right)).then_some((left, right))
    }

    fn work_of(&self, roots: &[u32]) -> f64 {
        let works = roots
            .iter()
            .map(|s| self.supernodes[*s as usize].subtree.work);
        works.sum()
    }

    /// Stack entries for neighbouring subtrees that are separate tasks.
    pub(super) fn stack_of(&self, roots: &[u32]) -> usize {
        let stacks = roots
            .iter()
            .map(|s| self.supernodes[*s as usize].subtree.stack);
        stacks.sum()
    }
}
