//! The numbers of a factorisation by fronts.

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
    /// Remainders that wait for their parents.
    stack: Vec<T>,
    pub(super) x: Vec<T>,
    /// x after the last [`Multifrontal::reduce`].
    pub(super) reduced: Vec<T>,
    /// What is known of the rows below the pivots of all supernodes.
    pub(super) below: Vec<T>,
}

/// Of neighbouring subtrees: their panels, and their parts of the stack.
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
    /// Makes room in `factor`.
    pub(crate) fn reserve<T: Real>(&self, factor: &mut Factor<T>, n_dofs: usize) {
        factor.values.resize(self.n_values, T::ZERO);
        factor.stack.resize(self.stack_of(&self.roots), T::ZERO);
        factor.x.resize(n_dofs, T::ZERO);
        factor.below.resize(self.n_below, T::ZERO);
    }

    /// H = LLᵀ in place.
    ///
    /// # Errors
    /// The velocity whose pivot was not positive: the first one in the order of elimination, for any number of threads.
    pub(crate) fn factor<T: Real>(&self, factor: &mut Factor<T>) -> Result<(), usize> {
        let portion = FactorPortion {
            panels: &mut factor.values,
            stack: &mut factor.stack,
        };
        self.each_subtree(&self.roots, portion, &|s, own| self.factor_subtree(s, own))
    }

    /// Factors the subtree of `s` and leaves its remainder at the beginning of `stack`.
    fn factor_subtree<T: Real>(
        &self,
        s: usize,
        portion: FactorPortion<'_, T>,
    ) -> Result<(), usize> {
        let supernode = &self.supernodes[s];
        if !supernode.subtree.is_split {
            return self.factor_in_turn(s, portion);
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
        self.each_subtree(children, portion, &|s, own| self.factor_subtree(s, own))?;
        let remainders = || {
            let mut end = self.stack_of(children);
            children.iter().rev().map(move |&child| {
                let child = &self.supernodes[child as usize];
                end -= child.subtree.stack;
                (child, end)
            })
        };
        for (child, start) in remainders() {
            self.add_remainder(child, &stack[start..], panel, 0..k, m);
        }
        self.eliminate(s, panel, rest)?;
        for (child, start) in remainders() {
            self.add_remainder(child, &stack[start..], rest, k..m, m);
        }
        Ok(())
    }

    /// [`Multifrontal::factor_subtree`], one supernode after the other.
    fn factor_in_turn<T: Real>(
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
            let (remainders, rest) = stack.split_at_mut(height);
            let rest = &mut rest[..r * r];
            // Children on top of the stack, the last one first.
            let children = || {
                let mut end = height;
                self.children(supernode).iter().rev().map(move |&child| {
                    let child = &self.supernodes[child as usize];
                    end -= child.rows_below().pow(2);
                    (child, end)
                })
            };
            for (child, start) in children() {
                self.add_remainder(child, &remainders[start..], panel, 0..k, m);
            }
            self.eliminate(s, panel, rest)?;
            let mut end = height;
            for (child, start) in children() {
                self.add_remainder(child, &remainders[start..], rest, k..m, m);
                end = start;
            }
            // The lower triangle of the remainder moves down to where its children were.
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

    /// Eliminates the pivots of a front whose first columns are assembled; what they leave of the rest is to be added to.
    fn eliminate<T: Real>(&self, s: usize, panel: &mut [T], rest: &mut [T]) -> Result<(), usize> {
        let Supernode { k, m, .. } = self.supernodes[s];
        eliminate(panel, rest, m, k).map_err(|pivot| self.dof_of(s, pivot))
    }

    /// Adds some columns of what a child has left, those that lie in `columns` of the parent's front of m rows, to these; `part`
    /// begins with the first of them, on its diagonal.
    fn add_remainder<T: Real>(
        &self,
        child: &Supernode,
        remainder: &[T],
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
                let from = &remainder[(run.from + j) * r..][..r];
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

    /// Values of the panels of neighbouring subtrees.
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

    /// What the last factorisation has left on the border, part by part: their sum is −A_bn A_nn⁻¹ A_nb.
    pub(crate) fn remainders<'a>(
        &'a self,
        factor: &'a Factor,
    ) -> impl Iterator<Item = Remainder<'a>> {
        let mut start = 0;
        self.roots.iter().map(move |&root| {
            let supernode = &self.supernodes[root as usize];
            let n = supernode.rows_below();
            let first = supernode.blocks.start + supernode.positions.len();
            let values = &factor.stack[start..start + n * n];
            start += supernode.subtree.stack;
            Remainder {
                blocks: &self.blocks[first..supernode.blocks.end],
                pivots: supernode.k,
                border: self.border,
                n,
                values,
            }
        })
    }
}

/// What one connected part leaves on the border: n×n, column-major, the lower triangle.
pub(crate) struct Remainder<'a> {
    blocks: &'a [(u32, u32)],
    pivots: usize,
    border: usize,
    pub(crate) n: usize,
    pub(crate) values: &'a [f64],
}

impl Remainder<'_> {
    /// The nodes it is on, counted from the first of the border, in ascending order, and the row where each begins.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (usize, usize)> + Clone {
        let of = |&(position, row): &(u32, u32)| {
            (position as usize - self.border, row as usize - self.pivots)
        };
        self.blocks.iter().map(of)
    }
}
