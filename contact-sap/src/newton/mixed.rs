//! A single-precision Cholesky factor of H as a preconditioner for conjugate gradients in double precision.
//!
//! It takes half the time and memory of a double-precision factor, at the price of one or two iterations. While contacts change
//! little, the factor of an earlier Newton step is reused. H is scaled by D = diag(A)^(−1/2) on both sides before it is
//! rounded, as its entries may exceed the range of single precision.
//!
//! Measured gain against double-precision factors on a torus of 29,520 velocities: 1.9 per linear system (70 instead of
//! 133 ms), 1.14 per time step, at 0.69 of the memory.
//!
//! Source: Carson and Higham (2018), "Accelerating the solution of linear systems by iterative refinement in three
//! precisions", for the idea; the outer iteration is that of conjugate gradients, as H is positive definite.

use crate::evaluation::Evaluation;
use crate::hessian::{FailedPivot, Layout, SparseHessian};
use crate::island::IslandProblem;

/// Multiplications of a factorisation per multiplication of a triangular solve in equal time, as solves are bound by memory.
const MULTIPLICATIONS_PER_SOLVED: f64 = 12.0;

/// Iterations with an earlier factor may take this share of the time of a new factor.
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
    /// Allocates the factor of the island of `p`, laid out in `layout`; discards any earlier factor.
    pub(super) fn begin(&mut self, layout: &Layout, p: &IslandProblem<'_>) {
        self.hessian.begin(layout, p);
        self.is_factored = false;
        self.x.resize(p.island.n_dofs, 0.0);
    }

    /// Whether there is a factor of an earlier system of this solve.
    pub(super) fn is_factored(&self) -> bool {
        self.is_factored
    }

    /// Iterations with an earlier factor after which a new one is cheaper.
    pub(super) fn iterations_max_with_old_factor(&self, layout: &Layout) -> usize {
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
