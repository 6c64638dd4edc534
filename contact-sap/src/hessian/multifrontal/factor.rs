//! The numbers of a factorisation by fronts, and solving with them.

use std::ops::Range;

use super::{Dofs, Multifrontal, Run, Supernode};
use crate::hessian::Real;
use crate::hessian::front::{FrontMemory, backward, eliminate, forward};

/// Factor values and the memory to compute them.
#[derive(Default)]
pub(crate) struct Factor<T = f64> {
    /// Panels of all supernodes: H before, L after the factorisation.
    pub(crate) values: Vec<T>,
    stack: Vec<T>,
    /// Supernodes whose remainders lie on the stack.
    waiting: Vec<usize>,
    x: Vec<T>,
    /// x after the last [`Multifrontal::reduce`].
    reduced: Vec<T>,
    below: Vec<T>,
    memory: FrontMemory,
}

impl Multifrontal {
    /// Makes room in `factor`.
    pub(crate) fn reserve<T: Real>(&self, factor: &mut Factor<T>, n_dofs: usize) {
        factor.values.resize(self.n_values, T::ZERO);
        factor.stack.resize(self.stack_max, T::ZERO);
        factor.waiting.clear();
        factor.waiting.reserve(self.supernodes.len());
        factor.x.resize(n_dofs, T::ZERO);
        factor.below.resize(self.below_max, T::ZERO);
        let pivots = self.supernodes.iter().map(|s| s.k).max().unwrap_or(0);
        factor.memory.reserve::<T>(pivots);
    }

    /// H = LLᵀ in place.
    ///
    /// # Errors
    /// The velocity whose pivot was not positive.
    pub(crate) fn factor<T: Real>(&self, factor: &mut Factor<T>) -> Result<(), usize> {
        let Factor {
            values,
            stack,
            waiting,
            memory,
            ..
        } = factor;
        waiting.clear();
        let mut height = 0;
        for (s, supernode) in self.supernodes.iter().enumerate() {
            let (k, m) = (supernode.k, supernode.m);
            let r = m - k;
            let panel = &mut values[supernode.panel..supernode.panel + m * k];
            let (remainders, rest) = stack.split_at_mut(height);
            let rest = &mut rest[..r * r];
            for (t, column) in rest.chunks_exact_mut(r.max(1)).enumerate() {
                column[t..].fill(T::ZERO);
            }
            // Children on top of the stack, the last one first.
            let mut end = height;
            let first_child = waiting.len() - supernode.n_children;
            for child in (first_child..waiting.len()).rev() {
                let child_rows = self.supernodes[waiting[child]].rows_below();
                let start = end - child_rows * child_rows;
                let runs = &self.runs[self.supernodes[waiting[child]].runs.clone()];
                add_remainder(&remainders[start..end], child_rows, runs, panel, rest, m, k);
                end = start;
            }
            if s < self.n_eliminated {
                eliminate(panel, rest, m, k, memory).map_err(|pivot| self.dof_of(s, pivot))?;
            }
            // The lower triangle of the remainder moves down to where its children were.
            if end < height {
                for t in 0..r {
                    let from = height + t * (r + 1);
                    stack.copy_within(from..from + r - t, end + t * (r + 1));
                }
            }
            height = end + r * r;
            waiting.truncate(first_child);
            waiting.push(s);
        }
        Ok(())
    }

    fn dof_of(&self, s: usize, row: usize) -> usize {
        let supernode = &self.supernodes[s];
        let blocks = &self.blocks[supernode.blocks.clone()];
        let block = blocks.partition_point(|(_, first)| *first as usize <= row) - 1;
        let (position, first) = blocks[block];
        self.dofs[position as usize].island + row - first as usize
    }

    /// x ← H⁻¹x.
    pub(crate) fn solve<T: Real>(&self, factor: &mut Factor<T>, x: &mut [T]) {
        self.permute(factor, x);
        self.forward(factor);
        self.backward(factor);
        self.permute_back(factor, x);
    }

    /// The Schur complement S of the border, in its lower triangle column-major, once all before it are eliminated.
    pub(crate) fn schur_complement<'a>(&self, factor: &'a Factor) -> &'a [f64] {
        let last = &self.supernodes[self.n_eliminated];
        &factor.values[last.panel..last.panel + last.m * last.k]
    }

    /// Eliminates all but the border from the right-hand side `x`; returns what is left of it there.
    pub(crate) fn reduce<'a>(&self, factor: &'a mut Factor, x: &[f64]) -> &'a [f64] {
        self.permute(factor, x);
        self.forward(factor);
        factor.reduced.clone_from(&factor.x);
        &factor.reduced[self.last_dofs()]
    }

    /// The solution x that has the values `last` at the border, after [`Multifrontal::reduce`].
    pub(crate) fn expand(&self, factor: &mut Factor, last: &[f64], x: &mut [f64]) {
        factor.x.copy_from_slice(&factor.reduced);
        factor.x[self.last_dofs()].copy_from_slice(last);
        self.backward(factor);
        self.permute_back(factor, x);
    }

    /// Where the velocities of the border are in the factor.
    fn last_dofs(&self) -> Range<usize> {
        let end = self.dofs.last().map_or(0, |d| d.permuted + d.size);
        end - self.supernodes[self.n_eliminated].k..end
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

    /// x ← L⁻¹x of what is eliminated, and what it explains of the rest.
    fn forward<T: Real>(&self, factor: &mut Factor<T>) {
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || self.forward_in_registers(factor),
        );
    }

    #[inline(always)]
    fn forward_in_registers<T: Real>(&self, factor: &mut Factor<T>) {
        let Factor {
            values, x, below, ..
        } = factor;
        for supernode in &self.supernodes[..self.n_eliminated] {
            let (k, m) = (supernode.k, supernode.m);
            let start = self.dofs[supernode.positions.start].permuted;
            let panel = &values[supernode.panel..supernode.panel + m * k];
            let below = &mut below[..m - k];
            below.fill(T::ZERO);
            forward(panel, m, k, &mut x[start..start + k], below);
            for (row, d) in self.below(supernode) {
                let below = &below[row..row + d.size];
                let x = &mut x[d.permuted..d.permuted + d.size];
                x.iter_mut().zip(below).for_each(|(x, b)| *x += *b);
            }
        }
    }

    /// x ← L⁻ᵀx of what is eliminated.
    fn backward<T: Real>(&self, factor: &mut Factor<T>) {
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || self.backward_in_registers(factor),
        );
    }

    #[inline(always)]
    fn backward_in_registers<T: Real>(&self, factor: &mut Factor<T>) {
        let Factor {
            values, x, below, ..
        } = factor;
        for supernode in self.supernodes[..self.n_eliminated].iter().rev() {
            let (k, m) = (supernode.k, supernode.m);
            let start = self.dofs[supernode.positions.start].permuted;
            let panel = &values[supernode.panel..supernode.panel + m * k];
            let below = &mut below[..m - k];
            for (row, d) in self.below(supernode) {
                let x = &x[d.permuted..d.permuted + d.size];
                below[row..row + d.size].copy_from_slice(x);
            }
            backward(panel, m, k, &mut x[start..start + k], below);
        }
    }

    /// Blocks below the pivots of a supernode: first row counted from there, and velocities.
    fn below(&self, supernode: &Supernode) -> impl Iterator<Item = (usize, Dofs)> {
        let first = supernode.blocks.start + supernode.positions.len();
        let blocks = self.blocks[first..supernode.blocks.end].iter();
        let k = supernode.k;
        blocks.map(move |&(position, row)| (row as usize - k, self.dofs[position as usize]))
    }
}

/// Adds a child's remainder (r×r) to its parent's front: m×m of which `panel` holds the first k columns, `rest` the others.
#[inline]
fn add_remainder<T: Real>(
    remainder: &[T],
    r: usize,
    runs: &[Run],
    panel: &mut [T],
    rest: &mut [T],
    m: usize,
    k: usize,
) {
    for (a, columns) in runs.iter().enumerate() {
        for j in 0..columns.length {
            let from = &remainder[(columns.from + j) * r..(columns.from + j + 1) * r];
            let to = columns.to + j;
            let (column, first_row) = if to < k {
                (&mut panel[to * m..(to + 1) * m], 0)
            } else {
                (&mut rest[(to - k) * (m - k)..(to - k + 1) * (m - k)], k)
            };
            for (b, rows) in runs[a..].iter().enumerate() {
                let skip = if b == 0 { j } else { 0 };
                let from = &from[rows.from + skip..rows.from + rows.length];
                let to = &mut column[rows.to + skip - first_row..][..from.len()];
                to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
            }
        }
    }
}
