//! A factor of H in single precision, as a preconditioner for conjugate gradients in double precision.
//!
//! It takes half the time and memory of a factor in double precision, and one or two iterations make up for the digits.
//! While Newton's steps change contacts little, the factor of an earlier step will do: some iterations more, and nothing to
//! assemble or to factor. H is scaled by D = diag(A)^(−1/2) on both sides before it is rounded, as rows of a body of 15 kg
//! and of a grid node of 1e-9 kg would leave the range of single precision.
//!
//! Source: Carson and Higham (2018), "Accelerating the solution of linear systems by iterative refinement in three
//! precisions", for the idea; the outer iteration is that of conjugate gradients, as H is positive definite.

use crate::evaluation::Evaluation;
use crate::hessian::{FailedPivot, Layout, SparseHessian};
use crate::island::IslandProblem;

/// Multiplications of a factorisation that take the time of one of a triangular solve, which waits for memory.
const MULTIPLICATIONS_PER_SOLVED: f64 = 12.0;

/// An earlier factor may take iterations for this share of the time that a new one costs.
const SHARE_OF_FACTOR: f64 = 0.5;

/// The factor of one island, in a layout shared with the factor in double precision. Memory is reused.
#[derive(Default)]
pub(super) struct Mixed {
    hessian: SparseHessian<f32>,
    is_factored: bool,
    x: Vec<f32>,
    scratch: Vec<f64>,
}

impl Mixed {
    /// Makes room for the island of `p`, laid out in `layout`; what was factored before is forgotten.
    pub(super) fn begin(&mut self, layout: &Layout, p: &IslandProblem<'_>) {
        self.hessian.begin(layout, p);
        self.is_factored = false;
        self.x.resize(p.island.n_dofs, 0.0);
    }

    /// Whether there is a factor of an earlier system of this solve.
    pub(super) fn is_factored(&self) -> bool {
        self.is_factored
    }

    /// Iterations with an earlier factor that are worth it.
    pub(super) fn iterations_worth(&self, layout: &Layout) -> usize {
        let (factor, solve) = (layout.factor_work(), self.hessian.solve_work());
        (SHARE_OF_FACTOR * factor / (MULTIPLICATIONS_PER_SOLVED * solve)) as usize
    }

    /// Factors H of the aggregates of `e`.
    pub(super) fn factor(
        &mut self,
        layout: &Layout,
        p: &IslandProblem<'_>,
        e: &Evaluation,
    ) -> Result<(), FailedPivot> {
        self.is_factored = false;
        let hessian = &mut self.hessian;
        hessian.assemble(layout, p, e, &e.scale, 0.0, &mut self.scratch);
        hessian.factor(layout)?;
        self.is_factored = true;
        Ok(())
    }

    /// z ≈ H⁻¹r with the last factor; `scale` is the diagonal of D.
    pub(super) fn apply(&mut self, layout: &Layout, scale: &[f64], r: &[f64], z: &mut [f64]) {
        let largest = r.iter().zip(scale).map(|(r, d)| (r * d).abs());
        let largest = largest.fold(0.0, f64::max);
        if largest == 0.0 {
            z.fill(0.0);
            return;
        }
        let to_one = 1.0 / largest;
        for ((x, r), d) in self.x.iter_mut().zip(r).zip(scale) {
            *x = (r * d * to_one) as f32;
        }
        self.hessian.solve(layout, &mut self.x);
        for ((z, x), d) in z.iter_mut().zip(&self.x).zip(scale) {
            *z = f64::from(*x) * d * largest;
        }
    }
}
