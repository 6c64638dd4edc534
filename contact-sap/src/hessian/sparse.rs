//! A block-sparse Hessian, assembled in the memory of its factor.

mod columns;
mod layout;
mod pattern;
mod pattern_key;

use rayon::prelude::*;

use crate::evaluation::Evaluation;
use crate::hessian::cell_sum::{CellSum, Orientation};
use crate::hessian::multifrontal::Factor;
use crate::hessian::{BlockLocation, Congruence, FailedPivot, Real};
use crate::island::IslandProblem;

pub(crate) use layout::Layout;

/// Values per parallel copy.
const COPIED: usize = 1 << 16;

/// The values of H in the panels of its supernodes, for a [`Layout`].
#[derive(Default)]
pub(crate) struct SparseHessian<T> {
    factor: Factor<T>,
    /// A in the panels, for the next iteration; empty before the first.
    without_contact: Vec<T>,
    /// Count of the layout that memory is allocated for.
    laid_out: u64,
    cell: CellSum<T>,
    /// Pairs of the current basis of a point and a piece that is not a point, which are added after the others.
    deferred: Vec<(usize, usize, BlockLocation)>,
    aggregate: Vec<f64>,
}

impl<T: Real> SparseHessian<T> {
    /// Allocates the values of an island laid out in `layout`.
    pub(crate) fn begin(&mut self, layout: &Layout, p: &IslandProblem<'_>) {
        if self.laid_out == layout.count {
            return;
        }
        self.laid_out = layout.count;
        self.without_contact.clear();
        if let Some(pattern) = &layout.pattern {
            pattern.fronts.reserve(&mut self.factor, p.island.n_dofs);
        }
    }

    /// D H D with the aggregates of `e` and `shift` times the diagonal of A added; `scale` is the diagonal of D, empty for D = I.
    pub(crate) fn assemble(
        &mut self,
        layout: &Layout,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        scale: &[f64],
        shift: f64,
        scratch: &mut Vec<f64>,
    ) {
        let Some(pattern) = &layout.pattern else {
            return;
        };
        let values = &mut self.factor.values;
        if self.without_contact.is_empty() {
            values.fill(T::ZERO);
            pattern.scatter_dynamics(p, scale, values);
            self.without_contact.extend_from_slice(values);
        } else {
            let from = self.without_contact.par_chunks(COPIED);
            let copied = values.par_chunks_mut(COPIED).zip(from);
            copied.for_each(|(to, from)| to.copy_from_slice(from));
        }
        let position = &pattern.elimination.position;
        if shift > 0.0 {
            for (node, range) in p.island.node_starts.windows(2).enumerate() {
                let location = pattern.fronts.block(position[node], position[node]);
                for j in 0..range[1] - range[0] {
                    values[location.offset + j * (location.stride + 1)] *= T::of(1.0 + shift);
                }
            }
        }
        let set = p.set();
        let mut locations = layout.locations.iter();
        for (basis, active) in p.island.bases.iter().zip(&e.active) {
            let r = basis.n_rows;
            let pieces = &p.island.pieces[basis.pieces.clone()];
            if *active && self.cell.sum(p, e, basis, scale) {
                let cell = &mut self.cell;
                for (i, a) in pieces.iter().enumerate() {
                    cell.begin_row(p, a);
                    let a_is_point = cell.is_point(a);
                    for (j, b) in pieces.iter().enumerate() {
                        if position[a.node] < position[b.node] {
                            continue;
                        }
                        let Some(location) = locations.next() else {
                            return;
                        };
                        if a_is_point && !cell.is_point(b) {
                            self.deferred.push((i, j, *location));
                            continue;
                        }
                        cell.add(p, (a, b), scale, Orientation::Plain, *location, values);
                    }
                }
                for (i, j, location) in self.deferred.drain(..) {
                    let (a, b) = (&pieces[i], &pieces[j]);
                    cell.begin_row(p, b);
                    cell.add(p, (b, a), scale, Orientation::Transposed, location, values);
                }
                continue;
            }
            let k = match active {
                true => e.aggregate(p, basis, &mut self.aggregate),
                false => &[],
            };
            let mut congruence = Congruence {
                set,
                k,
                r,
                scale,
                scratch,
            };
            for a in pieces {
                for b in pieces {
                    if position[a.node] < position[b.node] {
                        continue;
                    }
                    let Some(location) = locations.next() else {
                        return;
                    };
                    if *active {
                        congruence.add(a, b, *location, values);
                    }
                }
            }
        }
    }

    pub(crate) fn factor(&mut self, layout: &Layout) -> Result<(), FailedPivot> {
        let Some(pattern) = &layout.pattern else {
            return Ok(());
        };
        let factored = pattern.fronts.factor(&mut self.factor);
        factored.map_err(|dof| FailedPivot { dof })
    }

    /// Multiplications of a solve.
    pub(crate) fn solve_work(&self) -> f64 {
        2.0 * self.factor.values.len() as f64
    }

    pub(crate) fn solve(&mut self, layout: &Layout, x: &mut [T]) {
        if let Some(pattern) = &layout.pattern {
            pattern.fronts.solve(&mut self.factor, x);
        }
    }
}
