//! Solution with a multifrontal factor, by the same parallel tasks as the factorisation.

use std::convert::Infallible;

use super::tree::{Portion, Subtree};
use super::{Factor, Multifrontal, Run};
use crate::hessian::Real;
use crate::hessian::front::{backward, forward};

/// Offsets of a subtree in the split memory.
#[derive(Clone, Copy)]
struct Origin {
    panel: usize,
    x: usize,
    below: usize,
}

/// Panels, velocities and rows below the pivots of neighbouring subtrees.
struct SolvePortion<'a, T> {
    panels: &'a [T],
    x: &'a mut [T],
    below: &'a mut [T],
}

impl<'a, T: Real> SolvePortion<'a, T> {
    fn of(factor: &'a mut Factor<T>) -> Self {
        Self {
            panels: &factor.values,
            x: &mut factor.x,
            below: &mut factor.below,
        }
    }

    fn reborrow(&mut self) -> SolvePortion<'_, T> {
        SolvePortion {
            panels: self.panels,
            x: &mut *self.x,
            below: &mut *self.below,
        }
    }
}

impl<T: Real> Portion for SolvePortion<'_, T> {
    fn split_at(self, fronts: &Multifrontal, first: &[u32]) -> (Self, Self) {
        let panels = self.panels.split_at(fronts.values_of(first));
        let x = self.x.split_at_mut(fronts.dofs_of(first));
        let below = self.below.split_at_mut(fronts.below_of(first));
        let of = |panels, x, below| Self { panels, x, below };
        (of(panels.0, x.0, below.0), of(panels.1, x.1, below.1))
    }
}

impl Multifrontal {
    /// x ← H⁻¹x.
    pub(crate) fn solve<T: Real>(&self, factor: &mut Factor<T>, x: &mut [T]) {
        self.permute(factor, x);
        self.forward(factor);
        self.backward(factor);
        self.permute_back(factor, x);
    }

    /// Eliminates all but the border from the right-hand side `x`; returns the reduced right-hand side of the border.
    pub(crate) fn reduce<'a>(&self, factor: &'a mut Factor, x: &[f64]) -> &'a [f64] {
        self.permute(factor, x);
        self.forward(factor);
        let Factor {
            x, below, reduced, ..
        } = factor;
        let border = &mut x[self.border_dof()..];
        for (below_row, run) in self.runs_on_border() {
            add(&mut border[run.to..], &below[below_row..][..run.length]);
        }
        reduced.clone_from(x);
        &reduced[self.border_dof()..]
    }

    /// The solution x with the values `last` at the border, after [`Multifrontal::reduce`].
    pub(crate) fn expand(&self, factor: &mut Factor, last: &[f64], x: &mut [f64]) {
        factor.x.copy_from_slice(&factor.reduced);
        factor.x[self.border_dof()..].copy_from_slice(last);
        for (below_row, run) in self.runs_on_border() {
            let below = &mut factor.below[below_row..][..run.length];
            below.copy_from_slice(&last[run.to..][..run.length]);
        }
        self.backward(factor);
        self.permute_back(factor, x);
    }

    /// Offset of the border's velocities in the factor.
    fn border_dof(&self) -> usize {
        let before = self.dofs[..self.border].last();
        before.map_or(0, |d| d.permuted + d.size)
    }

    /// Runs of rows below the pivots that are in the border, with their offsets among the rows of all supernodes.
    fn runs_on_border(&self) -> impl Iterator<Item = (usize, Run)> {
        self.roots.iter().flat_map(|&root| {
            let supernode = &self.supernodes[root as usize];
            let runs = self.runs[supernode.runs.clone()].iter();
            runs.map(|run| (supernode.below + run.from, *run))
        })
    }

    fn permute<T: Real>(&self, factor: &mut Factor<T>, x: &[T]) {
        for d in &self.dofs {
            let own = &x[d.island..d.island + d.size];
            factor.x[d.permuted..d.permuted + d.size].copy_from_slice(own);
        }
    }

    fn permute_back<T: Real>(&self, factor: &Factor<T>, x: &mut [T]) {
        for d in &self.dofs {
            let own = &factor.x[d.permuted..d.permuted + d.size];
            x[d.island..d.island + d.size].copy_from_slice(own);
        }
    }

    /// x ← L⁻¹x for the eliminated velocities, and the update of the border.
    fn forward<T: Real>(&self, factor: &mut Factor<T>) {
        let Ok(()) = self.for_each_subtree(&self.roots, SolvePortion::of(factor), &|s, own| {
            self.forward_subtree(s, own)
        });
    }

    fn forward_subtree<T: Real>(
        &self,
        s: usize,
        mut portion: SolvePortion<'_, T>,
    ) -> Result<(), Infallible> {
        let supernode = &self.supernodes[s];
        let mut first = supernode.subtree.first;
        let origin = self.origin(first);
        if supernode.subtree.is_split {
            let children = self.children(supernode);
            let own = portion.reborrow().split_at(self, children).0;
            self.for_each_subtree(children, own, &|s, own| self.forward_subtree(s, own))?;
            first = s;
        }
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for s in first..=s {
                    self.forward_front(s, origin, &mut portion);
                }
            },
        );
        Ok(())
    }

    /// One supernode, after its children.
    #[inline(always)]
    fn forward_front<T: Real>(&self, s: usize, origin: Origin, portion: &mut SolvePortion<'_, T>) {
        let SolvePortion { panels, x, below } = portion;
        let supernode = &self.supernodes[s];
        let (k, m) = (supernode.k, supernode.m);
        let x = &mut x[supernode.dof - origin.x..][..k];
        let (before, below) = below.split_at_mut(supernode.below - origin.below);
        let below = &mut below[..m - k];
        below.fill(T::ZERO);
        for &child in self.children(supernode) {
            let child = &self.supernodes[child as usize];
            let from = &before[child.below - origin.below..];
            for run in &self.runs[child.runs.clone()] {
                let [pivots, others] = run.split(k);
                add(&mut x[pivots.to..], &from[pivots.from..][..pivots.length]);
                add(
                    &mut below[others.to..],
                    &from[others.from..][..others.length],
                );
            }
        }
        let panel = &panels[supernode.panel - origin.panel..][..m * k];
        forward(panel, m, k, x, below);
    }

    /// x ← L⁻ᵀx for the eliminated velocities.
    fn backward<T: Real>(&self, factor: &mut Factor<T>) {
        let Ok(()) = self.for_each_subtree(&self.roots, SolvePortion::of(factor), &|s, own| {
            self.backward_subtree(s, own)
        });
    }

    fn backward_subtree<T: Real>(
        &self,
        s: usize,
        mut portion: SolvePortion<'_, T>,
    ) -> Result<(), Infallible> {
        let supernode = &self.supernodes[s];
        let Subtree {
            first, is_split, ..
        } = supernode.subtree;
        let origin = self.origin(first);
        let in_turn = if is_split { s } else { first };
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for s in (in_turn..=s).rev() {
                    self.backward_front(s, origin, &mut portion);
                }
            },
        );
        if !is_split {
            return Ok(());
        }
        let children = self.children(supernode);
        let own = portion.split_at(self, children).0;
        self.for_each_subtree(children, own, &|s, own| self.backward_subtree(s, own))
    }

    /// One supernode, after its parent; fills in the rows below the pivots of its children.
    #[inline(always)]
    fn backward_front<T: Real>(&self, s: usize, origin: Origin, portion: &mut SolvePortion<'_, T>) {
        let SolvePortion { panels, x, below } = portion;
        let supernode = &self.supernodes[s];
        let (k, m) = (supernode.k, supernode.m);
        let x = &mut x[supernode.dof - origin.x..][..k];
        let (before, below) = below.split_at_mut(supernode.below - origin.below);
        let below = &below[..m - k];
        let panel = &panels[supernode.panel - origin.panel..][..m * k];
        backward(panel, m, k, x, below);
        for &child in self.children(supernode) {
            let child = &self.supernodes[child as usize];
            let to = &mut before[child.below - origin.below..];
            for run in &self.runs[child.runs.clone()] {
                let [pivots, others] = run.split(k);
                to[pivots.from..][..pivots.length]
                    .copy_from_slice(&x[pivots.to..][..pivots.length]);
                to[others.from..][..others.length]
                    .copy_from_slice(&below[others.to..][..others.length]);
            }
        }
    }

    fn origin(&self, first: usize) -> Origin {
        let supernode = &self.supernodes[first];
        Origin {
            panel: supernode.panel,
            x: supernode.dof,
            below: supernode.below,
        }
    }

    /// Number of velocities of neighbouring subtrees.
    fn dofs_of(&self, roots: &[u32]) -> usize {
        let supernodes = &self.supernodes[self.supernodes_of(roots)];
        match (supernodes.first(), supernodes.last()) {
            (Some(first), Some(last)) => last.dof + last.k - first.dof,
            _ => 0,
        }
    }

    /// Number of rows below the pivots of neighbouring subtrees.
    fn below_of(&self, roots: &[u32]) -> usize {
        let supernodes = &self.supernodes[self.supernodes_of(roots)];
        match (supernodes.first(), supernodes.last()) {
            (Some(first), Some(last)) => last.below + last.rows_below() - first.below,
            _ => 0,
        }
    }
}

impl Run {
    /// Splits the run into its rows among the `k` pivots of the parent and those below, numbered from there.
    fn split(&self, k: usize) -> [Self; 2] {
        let n_pivots = k.saturating_sub(self.to).min(self.length);
        let pivots = Self {
            length: n_pivots,
            ..*self
        };
        let others = Self {
            from: self.from + n_pivots,
            to: (self.to + n_pivots).saturating_sub(k),
            length: self.length - n_pivots,
        };
        // Empty runs must not index past the end.
        [pivots.or_empty(), others.or_empty()]
    }

    fn or_empty(self) -> Self {
        match self.length {
            0 => Self {
                from: 0,
                to: 0,
                length: 0,
            },
            _ => self,
        }
    }
}

fn add<T: Real>(to: &mut [T], from: &[T]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
}
