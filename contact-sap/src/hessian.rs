//! The Hessian H = A + ΣBᵀKB of an island: assembly, Cholesky factorisation and solution.
//!
//! Small islands are dense, larger ones block sparse; both add the same congruences BᵀKB.

mod best_order;
mod body_graph;
mod cell_sum;
mod congruence;
mod dense;
mod front;
mod multifrontal;
mod ordering;
mod plane_cuts;
mod real;
mod sparse;

use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::hessian::dense::DenseHessian;
use crate::island::IslandProblem;
use crate::linear_algebra::LinearSystems;

pub(crate) use body_graph::BodyGraph;
pub(crate) use congruence::{BlockLocation, Congruence};
pub(crate) use front::FailedPivot;
pub(crate) use multifrontal::{ContributionBlock, Factor, Multifrontal};
pub(crate) use ordering::{Elimination, Graph, minimum_degree};
pub(crate) use real::{LANES_MAX, Real};
pub(crate) use sparse::{Layout, SparseHessian};

/// Islands up to this many velocities have dense factors. Measured on a compact pile: equally fast at 48, sparse twice as fast
/// at 100.
const DENSE_MAX: usize = 48;

/// H and its Cholesky factor. Memory is reused, and the symbolic factorisation while the pattern is unchanged.
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

impl Hessian {
    /// Rejects islands with an A that is not assembled.
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

    /// Lays the sparse H out, for values of any precision.
    pub(crate) fn lay_out(&mut self, p: &IslandProblem<'_>) -> &Layout {
        self.layout.begin(p);
        &self.layout
    }

    /// Allocates the values; H must be laid out.
    pub(crate) fn make_room(&mut self, p: &IslandProblem<'_>) {
        if p.island.n_dofs <= DENSE_MAX {
            self.storage = Storage::Dense;
            self.dense.begin(p);
        } else {
            self.storage = Storage::Sparse;
            self.sparse.begin(&self.layout, p);
        }
    }

    /// The last layout of the sparse H.
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
