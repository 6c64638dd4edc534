//! The numeric multifrontal factorisation.

use std::ops::Range;

use super::tree::Portion;
use super::{Multifrontal, Supernode};
use crate::hessian::Real;
use crate::hessian::front::eliminate;

/// Factor values and the memory to compute them.
#[derive(Default)]
pub(crate) struct Factor<T = f64> {
    /// Panels of all supernodes: H before, L after the factorisation.
    pub(crate) values: Vec<T>,
    /// Contribution blocks not yet assembled into their parents.
    stack: Vec<T>,
    pub(super) x: Vec<T>,
    /// x after the last [`Multifrontal::reduce`].
    pub(super) reduced: Vec<T>,
    /// Solution or right-hand side at the rows below the pivots of all supernodes.
    pub(super) below: Vec<T>,
}

/// Panels and stack of neighbouring subtrees.
struct FactorPortion<'a, T> {
    panels: &'a mut [T],
    stack: &'a mut [T],
}

impl<T: Real> Portion for FactorPortion<'_, T> {
    fn split_at(self, fronts: &Multifrontal, first: &[u32]) -> (Self, Self) {
        let panels = self.panels.split_at_mut(fronts.values_of(first));
        let stack = self.stack.split_at_mut(fronts.stack_of(first));
        let of = |(panels, stack)| Self { panels, stack };
        (of((panels.0, stack.0)), of((panels.1, stack.1)))
    }
}

impl Multifrontal {
    /// Allocates `factor`.
    pub(crate) fn reserve<T: Real>(&self, factor: &mut Factor<T>, n_dofs: usize) {
        factor.values.resize(self.n_values, T::ZERO);
        factor.stack.resize(self.stack_of(&self.roots), T::ZERO);
        factor.x.resize(n_dofs, T::ZERO);
        factor.below.resize(self.n_below, T::ZERO);
    }

    /// H = LLᵀ in place.
    ///
    /// # Errors
    /// The velocity of the first pivot that is not positive, in the order of elimination.
    pub(crate) fn factor<T: Real>(&self, factor: &mut Factor<T>) -> Result<(), usize> {
        let portion = FactorPortion {
            panels: &mut factor.values,
            stack: &mut factor.stack,
        };
        self.for_each_subtree(&self.roots, portion, &|s, own| self.factor_subtree(s, own))
    }

    /// Factors the subtree of `s` and leaves its contribution block at the beginning of `stack`.
    fn factor_subtree<T: Real>(
        &self,
        s: usize,
        portion: FactorPortion<'_, T>,
    ) -> Result<(), usize> {
        let supernode = &self.supernodes[s];
        if !supernode.subtree.is_split {
            return self.factor_sequentially(s, portion);
        }
        let FactorPortion { panels, stack } = portion;
        let (k, m) = (supernode.k, supernode.m);
        let (before, panel) = panels.split_at_mut(panels.len() - m * k);
        let (rest, stack) = stack.split_at_mut((m - k) * (m - k));
        let children = self.children(supernode);
        let portion = FactorPortion {
            panels: before,
            stack: &mut *stack,
        };
        self.for_each_subtree(children, portion, &|s, own| self.factor_subtree(s, own))?;
        let contribution_blocks = || {
            let mut end = self.stack_of(children);
            children.iter().rev().map(move |&child| {
                let child = &self.supernodes[child as usize];
                end -= child.subtree.stack;
                (child, end)
            })
        };
        for (child, start) in contribution_blocks() {
            self.add_contribution(child, &stack[start..], panel, 0..k, m);
        }
        self.eliminate(s, panel, rest)?;
        for (child, start) in contribution_blocks() {
            self.add_contribution(child, &stack[start..], rest, k..m, m);
        }
        Ok(())
    }

    /// [`Multifrontal::factor_subtree`] without tasks, one supernode after the other.
    fn factor_sequentially<T: Real>(
        &self,
        s: usize,
        portion: FactorPortion<'_, T>,
    ) -> Result<(), usize> {
        let FactorPortion { panels, stack } = portion;
        let first = self.supernodes[s].subtree.first;
        let first_panel = self.supernodes[first].panel;
        let mut height = 0;
        for s in first..=s {
            let supernode = &self.supernodes[s];
            let (k, m) = (supernode.k, supernode.m);
            let r = m - k;
            let panel = &mut panels[supernode.panel - first_panel..][..m * k];
            let (contribution_blocks, rest) = stack.split_at_mut(height);
            let rest = &mut rest[..r * r];
            // The contribution blocks of children are on top of the stack, the last one first.
            let children = || {
                let mut end = height;
                self.children(supernode).iter().rev().map(move |&child| {
                    let child = &self.supernodes[child as usize];
                    end -= child.rows_below().pow(2);
                    (child, end)
                })
            };
            for (child, start) in children() {
                self.add_contribution(child, &contribution_blocks[start..], panel, 0..k, m);
            }
            self.eliminate(s, panel, rest)?;
            let mut end = height;
            for (child, start) in children() {
                self.add_contribution(child, &contribution_blocks[start..], rest, k..m, m);
                end = start;
            }
            // The contribution block replaces those of its children; only the lower triangle is moved.
            if end < height {
                for t in 0..r {
                    let from = height + t * (r + 1);
                    stack.copy_within(from..from + r - t, end + t * (r + 1));
                }
            }
            height = end + r * r;
        }
        Ok(())
    }

    /// Eliminates the pivots of a front with assembled first columns and overwrites `rest` with their update.
    fn eliminate<T: Real>(&self, s: usize, panel: &mut [T], rest: &mut [T]) -> Result<(), usize> {
        let Supernode { k, m, .. } = self.supernodes[s];
        eliminate(panel, rest, m, k).map_err(|pivot| self.dof_of(s, pivot))
    }

    /// Adds those columns of a child's contribution block that are in `columns` of the parent's front of m rows; `part` begins
    /// with the diagonal of the first of them.
    fn add_contribution<T: Real>(
        &self,
        child: &Supernode,
        contribution: &[T],
        part: &mut [T],
        columns: Range<usize>,
        m: usize,
    ) {
        let r = child.rows_below();
        let first = columns.start;
        let n = m - first;
        let runs = &self.runs[child.runs.clone()];
        for (a, run) in runs.iter().enumerate() {
            for j in (0..run.length).filter(|j| columns.contains(&(run.to + j))) {
                let from = &contribution[(run.from + j) * r..][..r];
                let column = &mut part[(run.to + j - first) * n..][..n];
                for (b, rows) in runs[a..].iter().enumerate() {
                    let skip = if b == 0 { j } else { 0 };
                    let from = &from[rows.from + skip..rows.from + rows.length];
                    let to = &mut column[rows.to + skip - first..][..from.len()];
                    to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
                }
            }
        }
    }

    /// Number of values in the panels of neighbouring subtrees.
    pub(super) fn values_of(&self, roots: &[u32]) -> usize {
        let supernodes = &self.supernodes[self.supernodes_of(roots)];
        match (supernodes.first(), supernodes.last()) {
            (Some(first), Some(last)) => last.panel + last.m * last.k - first.panel,
            _ => 0,
        }
    }

    fn dof_of(&self, s: usize, row: usize) -> usize {
        let supernode = &self.supernodes[s];
        let blocks = &self.blocks[supernode.blocks.clone()];
        let block = blocks.partition_point(|(_, first)| *first as usize <= row) - 1;
        let (position, first) = blocks[block];
        self.dofs[position as usize].island + row - first as usize
    }

    /// The contribution blocks on the border, whose sum is −A_bn A_nn⁻¹ A_nb.
    pub(crate) fn contribution_blocks<'a>(
        &'a self,
        factor: &'a Factor,
    ) -> impl Iterator<Item = ContributionBlock<'a>> {
        let mut start = 0;
        self.roots.iter().map(move |&root| {
            let supernode = &self.supernodes[root as usize];
            let n = supernode.rows_below();
            let first = supernode.blocks.start + supernode.positions.len();
            let values = &factor.stack[start..start + n * n];
            start += supernode.subtree.stack;
            ContributionBlock {
                blocks: &self.blocks[first..supernode.blocks.end],
                pivots: supernode.k,
                border: self.border,
                n,
                values,
            }
        })
    }
}

/// The contribution of one eliminated component to the border: n×n, column-major, lower triangle.
pub(crate) struct ContributionBlock<'a> {
    blocks: &'a [(u32, u32)],
    pivots: usize,
    border: usize,
    pub(crate) n: usize,
    pub(crate) values: &'a [f64],
}

impl ContributionBlock<'_> {
    /// Its border nodes, numbered from the first of the border, ascending, and the first row of each.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (usize, usize)> + Clone {
        let of = |&(position, row): &(u32, u32)| {
            (position as usize - self.border, row as usize - self.pivots)
        };
        self.blocks.iter().map(of)
    }
}
