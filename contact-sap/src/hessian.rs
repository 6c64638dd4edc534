//! The Hessian H = A + ΣBᵀKB of an island: assembled, factored, solved with.
//!
//! Small islands are dense, larger ones block sparse; both scatter the same congruences.

mod best_order;
mod body_graph;
mod cell_sum;
mod dense;
mod front;
mod multifrontal;
mod ordering;
mod plane_cuts;
mod real;
mod sparse;

use nalgebra::Vector3;

use crate::constraint_set::ConstraintSet;
use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::hessian::dense::DenseHessian;
use crate::interpolations::dot;
use crate::island::{IslandProblem, Piece, PieceKind, Shift};
use crate::linear_algebra::LinearSystems;

pub(crate) use body_graph::BodyGraph;
pub(crate) use multifrontal::{Factor, Multifrontal, Remainder};
pub(crate) use ordering::{Elimination, Graph, minimum_degree};
pub(crate) use real::{LANES_MAX, Real};
pub(crate) use sparse::{Layout, SparseHessian};

/// Islands up to this many velocities are factored dense; beyond, even a compact pile is sparse enough to gain (measured:
/// equal at 48, twice as fast sparse at 100).
const DENSE_MAX: usize = 48;

/// H and its Cholesky factor. Memory is reused; symbolic work is reused while the pattern stands.
#[derive(Default)]
pub(crate) struct Hessian {
    storage: Storage,
    dense: DenseHessian,
    layout: Layout,
    sparse: SparseHessian<f64>,
    scratch: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Storage {
    #[default]
    Dense,
    Sparse,
}

/// A pivot that was not positive, by velocity of the island.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedPivot {
    pub(crate) dof: usize,
}

impl Hessian {
    /// Refuses islands with an A that is not assembled.
    pub(crate) fn check(p: &IslandProblem<'_>, solver: &'static str) -> Result<(), SolveError> {
        for member in &p.island.members {
            if p.dynamics(member).assembled().is_none() {
                return Err(SolveError::NotAssembled {
                    participant: member.participant,
                    solver,
                });
            }
        }
        Ok(())
    }

    /// Lays H out for the island of `p`, with memory for its values.
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>) {
        if p.island.n_dofs > DENSE_MAX {
            self.lay_out(p);
        }
        self.make_room(p);
    }

    /// Lays the sparse H out, also for values of another precision.
    pub(crate) fn lay_out(&mut self, p: &IslandProblem<'_>) -> &Layout {
        self.layout.begin(p);
        &self.layout
    }

    /// Memory for the values, where H is laid out already.
    pub(crate) fn make_room(&mut self, p: &IslandProblem<'_>) {
        if p.island.n_dofs <= DENSE_MAX {
            self.storage = Storage::Dense;
            self.dense.begin(p);
        } else {
            self.storage = Storage::Sparse;
            self.sparse.begin(&self.layout, p);
        }
    }

    /// How the sparse H was laid out last.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Counts a system that was solved by the last factor.
    pub(crate) fn count(&self, systems: &mut LinearSystems) {
        match self.storage {
            Storage::Dense => systems.dense += 1,
            Storage::Sparse => systems.sparse += 1,
        }
    }

    /// H from A and the aggregates of `e`, with `shift` times the diagonal of A added.
    pub(crate) fn assemble(&mut self, p: &IslandProblem<'_>, e: &Evaluation, shift: f64) {
        match self.storage {
            Storage::Dense => self.dense.assemble(p, e, shift, &mut self.scratch),
            Storage::Sparse => {
                let Self {
                    layout,
                    sparse,
                    scratch,
                    ..
                } = self;
                sparse.assemble(layout, p, e, &[], shift, scratch);
            }
        }
    }

    /// H = LLᵀ.
    pub(crate) fn factor(&mut self) -> Result<(), FailedPivot> {
        match self.storage {
            Storage::Dense => self.dense.factor(),
            Storage::Sparse => self.sparse.factor(&self.layout),
        }
    }

    /// x ← H⁻¹x with the last factor.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        match self.storage {
            Storage::Dense => self.dense.solve(x),
            Storage::Sparse => self.sparse.solve(&self.layout, x),
        }
    }
}

/// Where a block of H lies: entry (i, j) at `offset + i + j * stride`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) offset: usize,
    pub(crate) stride: usize,
}

/// K of one basis, r×r column-major, on its way into H.
pub(crate) struct Congruence<'a> {
    pub(crate) set: &'a ConstraintSet,
    pub(crate) k: &'a [f64],
    pub(crate) r: usize,
    /// D, by velocity of the island, where D H D is mode; empty: H itself.
    pub(crate) scale: &'a [f64],
    pub(crate) scratch: &'a mut Vec<f64>,
}

impl Congruence<'_> {
    /// H_pq += B_pᵀ K B_q for two pieces of the basis.
    #[inline]
    pub(crate) fn add<T: Real>(&mut self, p: &Piece, q: &Piece, place: Place, h: &mut [T]) {
        let (k, r, scale) = (self.k, self.r, self.scale);
        let scale_at = |dof: usize| scale.get(dof).copied().unwrap_or(1.0);
        if let (PieceKind::Shift(_, shift_p), PieceKind::Shift(_, shift_q)) = (p.kind, q.kind)
            && let (6, Some(k), true) = (r, k.first_chunk(), scale.is_empty())
        {
            return add_shift_congruence(&shift_p, &shift_q, k, place, h);
        }
        let (values_p, values_q) = (p.values(self.set), q.values(self.set));
        if values_p.is_none() && values_q.is_none() && (p.n_dofs, q.n_dofs) == (3, 3) {
            // Two points of a grid cell: nothing but nine additions.
            let rows = [0, 1, 2].map(|i| scale_at(p.dof + i));
            for j in 0..3 {
                let k = &k[(q.row + j) * r + p.row..][..3];
                let h = &mut h[place.offset + j * place.stride..][..3];
                let column = scale_at(q.dof + j);
                (0..3).for_each(|i| h[i] += T::of(k[i] * rows[i] * column));
            }
            return;
        }
        let scratch = &mut *self.scratch;
        scratch.resize(p.n_rows, 0.0);
        for j in 0..q.n_dofs {
            // t = K[rows of p, rows of q] B_q[:, j].
            let t = match values_q {
                None => &k[(q.row + j) * r + p.row..][..p.n_rows],
                Some(values) => {
                    scratch.fill(0.0);
                    let column = &values[j * q.n_rows..(j + 1) * q.n_rows];
                    for (l, b) in column.iter().enumerate() {
                        if *b != 0.0 {
                            let k = &k[(q.row + l) * r + p.row..][..p.n_rows];
                            scratch.iter_mut().zip(k).for_each(|(t, k)| *t += k * b);
                        }
                    }
                    &scratch[..]
                }
            };
            let h = &mut h[place.offset + j * place.stride..][..p.n_dofs];
            let by_column = scale_at(q.dof + j);
            let scaled = |i: usize, x: f64| T::of(x * scale_at(p.dof + i) * by_column);
            match values_p {
                None => {
                    for (i, (h, t)) in h.iter_mut().zip(t).enumerate() {
                        *h += scaled(i, *t);
                    }
                }
                Some(values) => {
                    let columns = values.chunks_exact(p.n_rows);
                    for (i, (h, column)) in h.iter_mut().zip(columns).enumerate() {
                        *h += scaled(i, dot(column, t));
                    }
                }
            }
        }
    }
}

/// [`Congruence::add`] of two rigid bodies: cross products in place of matrix products.
#[inline]
fn add_shift_congruence<T: Real>(p: &Shift, q: &Shift, k: &[f64; 36], place: Place, h: &mut [T]) {
    let scale = p.scale * q.scale;
    let column = |j: usize| {
        let c = &k[6 * j..6 * j + 6];
        (
            Vector3::new(c[0], c[1], c[2]),
            Vector3::new(c[3], c[4], c[5]),
        )
    };
    let linear = [column(3), column(4), column(5)];
    let (x, y, z) = (q.p.x, q.p.y, q.p.z);
    // Columns of K B_q: those of v as they are, that of ω_j with Σ_l K[:, v_l] (−[p])_lj.
    let moved = |j: usize, a: usize, b: usize, s: f64, t: f64| {
        let (top, bottom) = column(j);
        (
            top + linear[a].0 * s + linear[b].0 * t,
            bottom + linear[a].1 * s + linear[b].1 * t,
        )
    };
    let columns = [
        moved(0, 1, 2, -z, y),
        moved(1, 0, 2, z, -x),
        moved(2, 0, 1, -y, x),
        linear[0],
        linear[1],
        linear[2],
    ];
    for (j, (top, bottom)) in columns.iter().enumerate() {
        let top = top + p.p.cross(bottom);
        let h = &mut h[place.offset + j * place.stride..][..6];
        for i in 0..3 {
            h[i] += T::of(scale * top[i]);
            h[i + 3] += T::of(scale * bottom[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{Matrix6, Vector6};

    use super::*;

    #[test]
    fn the_congruence_of_shifts_is_the_plain_one() {
        let matrix = |shift: &Shift| {
            let mut b = Matrix6::identity();
            b.fixed_view_mut::<3, 3>(3, 0)
                .copy_from(&-shift.p.cross_matrix());
            b * shift.scale
        };
        let root = Matrix6::from_fn(|i, j| ((i * 6 + j) as f64).sin());
        let k = root * root.transpose();
        let p = Shift {
            scale: -1.0,
            p: Vector3::new(0.2, -0.5, 0.9),
        };
        let q = Shift {
            scale: 1.0,
            p: Vector3::new(-0.7, 0.1, 0.4),
        };
        for (p, q) in [(p, q), (q, p), (p, p)] {
            let expected = matrix(&p).transpose() * k * matrix(&q);
            let mut h = vec![0.0; 60];
            let place = Place {
                offset: 3,
                stride: 9,
            };
            let k = k.as_slice().first_chunk().expect("36 values");
            add_shift_congruence(&p, &q, k, place, &mut h);
            for j in 0..6 {
                let found = Vector6::from_column_slice(&h[3 + 9 * j..9 + 9 * j]);
                assert!((found - expected.column(j)).norm() < 1e-13 * expected.norm());
            }
        }
    }
}
