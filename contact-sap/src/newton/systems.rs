//! Newton's linear systems H Δv = −∇ℓ, by the requested or the cheapest method.

use std::time::Instant;

use crate::block_hessian::BlockHessian;
use crate::conjugate_gradients::{CgReport, forcing_term};
use crate::error::SolveError;
use crate::evaluation::{Evaluation, Residual};
use crate::hessian::Hessian;
use crate::island::IslandProblem;
use crate::islands::IslandReport;
use crate::linear_algebra::LinearAlgebra;
use crate::newton::hessian_products::{HessianProducts, Limits, is_usable};
use crate::newton::mixed::Mixed;
use crate::potential::Potential;
use crate::preconditioner::Preconditioner;

/// Name of Newton's method.
pub(crate) const NEWTON: &str = "newton";

/// Factors of more multiplications are computed in single precision; smaller ones take less time than the rest of a Newton
/// step.
const MIXED_WORK_MIN: f64 = 2e7;

/// Islands of fewer velocities have no factors of that size.
const MIXED_DOFS_MIN: usize = 300;

/// Iterations with a new single-precision factor before the fallback to double precision; one or two are usual.
const MIXED_ITERATIONS_MAX: usize = 30;

/// A factor of an earlier system is reused if the last Newton step reduced the residual to less than this share.
const STALE_FACTOR_RATIO_MAX: f64 = 0.3;

/// Largest forcing term with factors as preconditioner.
const MIXED_FORCING_MAX: f64 = 0.1;

/// How linear systems are solved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LinearSolver {
    /// By a factor or with a factor as preconditioner; every A must be assembled.
    Factored(LinearAlgebra),
    /// By conjugate gradients without assembly.
    ConjugateGradients(Preconditioner),
}

impl LinearSolver {
    /// Rejects islands without an assembled A if factors are required.
    pub(super) fn check(self, p: &IslandProblem<'_>) -> Result<(), SolveError> {
        match self {
            LinearSolver::Factored(_) => Hessian::check(p, NEWTON),
            LinearSolver::ConjugateGradients(_) => Ok(()),
        }
    }
}

/// The linear systems of one island. Memory is reused.
#[derive(Default)]
pub(super) struct Systems {
    method: Method,
    hessian: Hessian,
    /// Whether the Hessian is laid out for this solve.
    laid_out: bool,
    mixed: Mixed,
    blocks: BlockHessian,
    products: HessianProducts,
    /// ‖D∇ℓ‖ of the previous system.
    last_residual: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Method {
    #[default]
    Direct,
    /// Single-precision factors.
    Mixed,
    /// Single-precision factors if a factor has more than [`MIXED_WORK_MIN`] multiplications, else double-precision ones.
    MixedIfLarge,
    ConjugateGradients(Preconditioner),
}

impl Systems {
    /// Chooses the method for the island of `p` and begins a solve.
    pub(super) fn begin(
        &mut self,
        p: &IslandProblem<'_>,
        solver: LinearSolver,
    ) -> Result<(), SolveError> {
        solver.check(p)?;
        self.method = match solver {
            LinearSolver::Factored(LinearAlgebra::Direct) => Method::Direct,
            LinearSolver::Factored(LinearAlgebra::Mixed) => Method::Mixed,
            LinearSolver::Factored(LinearAlgebra::Automatic | LinearAlgebra::Schur) => {
                match p.island.n_dofs >= MIXED_DOFS_MIN {
                    true => Method::MixedIfLarge,
                    false => Method::Direct,
                }
            }
            LinearSolver::ConjugateGradients(preconditioner) => {
                self.blocks.begin(p);
                self.products.begin(p);
                Method::ConjugateGradients(preconditioner)
            }
        };
        self.laid_out = false;
        self.last_residual = f64::INFINITY;
        Ok(())
    }

    /// Writes Newton's direction into `e.dv`. `tolerance` is the bound on ‖D∇ℓ‖ of the outer iteration.
    pub(super) fn direction(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        residual: Residual,
        tolerance: f64,
        report: &mut IslandReport,
    ) -> Result<(), SolveError> {
        if let Method::ConjugateGradients(preconditioner) = self.method {
            return self.iterate(p, e, preconditioner, residual, tolerance, report);
        }
        if self.method != Method::Direct && !self.laid_out {
            self.lay_out_mixed(p);
        }
        if self.method != Method::Direct {
            if self.refine(p, e, residual, tolerance, report) {
                return Ok(());
            }
            self.method = Method::Direct;
            self.laid_out = false;
        }
        e.write_right_hand_side();
        let clock = Instant::now();
        if !self.laid_out {
            self.hessian.begin(p);
            self.laid_out = true;
        }
        self.hessian.assemble(p, e, 0.0);
        report.stages.assembly += clock.elapsed();
        let clock = Instant::now();
        report.factorisations += factor(p, e, &mut self.hessian)?;
        self.hessian.solve(&mut e.dv);
        self.hessian.count(&mut report.systems);
        report.stages.linear_solve += clock.elapsed();
        Ok(())
    }

    /// Lays out a single-precision factor, or a double-precision one if that is cheap enough.
    fn lay_out_mixed(&mut self, p: &IslandProblem<'_>) {
        self.laid_out = true;
        let layout = self.hessian.lay_out(p);
        if self.method == Method::MixedIfLarge && layout.factor_work() < MIXED_WORK_MIN {
            self.method = Method::Direct;
            self.hessian.make_room(p);
            return;
        }
        self.mixed.begin(layout, p);
        self.products.begin(p);
    }

    /// Conjugate gradients with a single-precision factor, that of an earlier system while contacts change little; false if
    /// they do not converge.
    fn refine(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        residual: Residual,
        tolerance: f64,
        report: &mut IslandReport,
    ) -> bool {
        let ratio = residual.norm / self.last_residual;
        let relative_residual = self.forcing_term(residual, tolerance, MIXED_FORCING_MAX);
        let layout = self.hessian.layout();
        if self.mixed.is_factored() && ratio < STALE_FACTOR_RATIO_MAX {
            let limits = Limits {
                relative_residual,
                iterations_max: self.mixed.iterations_max_with_old_factor(layout),
            };
            if self.refine_with_last_factor(p, e, limits, report) {
                return true;
            }
        }
        let clock = Instant::now();
        let factored = self.mixed.factor(self.hessian.layout(), p, e);
        report.factorisations += 1;
        report.stages.linear_solve += clock.elapsed();
        let limits = Limits {
            relative_residual,
            iterations_max: MIXED_ITERATIONS_MAX,
        };
        factored.is_ok() && self.refine_with_last_factor(p, e, limits, report)
    }

    /// Conjugate gradients with the last single-precision factor; returns whether they converged.
    fn refine_with_last_factor(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        limits: Limits,
        report: &mut IslandReport,
    ) -> bool {
        let clock = Instant::now();
        let (mixed, layout) = (&mut self.mixed, self.hessian.layout());
        let reached = conjugate_direction(&mut self.products, p, e, limits, |e, r, z| {
            mixed.apply(layout, &e.scale, r, z);
        });
        report.inner_iterations += reached.iterations;
        report.systems.mixed += usize::from(is_usable(reached));
        report.stages.linear_solve += clock.elapsed();
        is_usable(reached)
    }

    /// Conjugate gradients with diagonal blocks or the bodies' own preconditioners.
    fn iterate(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        preconditioner: Preconditioner,
        residual: Residual,
        tolerance: f64,
        report: &mut IslandReport,
    ) -> Result<(), SolveError> {
        let clock = Instant::now();
        self.blocks.factor(p, e)?;
        report.factorisations += 1;
        let forcing_max = forcing_max(report.iterations);
        let limits = Limits {
            relative_residual: self.forcing_term(residual, tolerance, forcing_max),
            iterations_max: iterations_max(p.island.n_dofs),
        };
        let blocks = &self.blocks;
        let reached = conjugate_direction(&mut self.products, p, e, limits, |_, r, z| {
            preconditioner.apply(p, blocks, r, z);
        });
        report.inner_iterations += reached.iterations;
        report.stages.linear_solve += clock.elapsed();
        Ok(())
    }

    /// The relative residual allowed for a direction, at most `most`.
    fn forcing_term(&mut self, residual: Residual, tolerance: f64, most: f64) -> f64 {
        let ratio = residual.norm / self.last_residual;
        self.last_residual = residual.norm;
        forcing_term(ratio, 0.3 * tolerance / residual.norm, most)
    }

    /// x ← H⁻¹x with the Hessian at `velocity`.
    pub(super) fn hessian_solve(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        solver: LinearSolver,
        velocity: &[f64],
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        let LinearSolver::ConjugateGradients(preconditioner) = solver else {
            return exact_hessian_solve(p, e, &mut self.hessian, NEWTON, velocity, x);
        };
        begin_plain_hessian(p, e, velocity);
        self.products.begin(p);
        self.blocks.begin(p);
        self.blocks.factor(p, e)?;
        let limits = Limits {
            relative_residual: 1e-13,
            iterations_max: iterations_max(x.len()),
        };
        let blocks = &self.blocks;
        let precondition = |r: &[f64], z: &mut [f64]| preconditioner.apply(p, blocks, r, z);
        let _ = self.products.solve(p, e, limits, x, precondition);
        Ok(())
    }
}

/// The largest forcing term without factors: 1e-2, and 1e-6 from the twentieth Newton iteration on, as inexact directions are
/// poor on stiff contacts. The worst of 10,000 random problems takes 64 Newton iterations, with 0.1 throughout 145.
fn forcing_max(iterations: usize) -> f64 {
    if iterations < 20 { 1e-2 } else { 1e-6 }
}

/// Iterations of conjugate gradients without factors on `n` velocities, after which round-off limits the residual.
fn iterations_max(n: usize) -> usize {
    20 * n + 200
}

/// Writes Newton's direction into `e.dv` by conjugate gradients.
fn conjugate_direction(
    products: &mut HessianProducts,
    p: &IslandProblem<'_>,
    e: &mut Evaluation,
    limits: Limits,
    mut precondition: impl FnMut(&Evaluation, &[f64], &mut [f64]),
) -> CgReport {
    e.write_right_hand_side();
    let mut dv = std::mem::take(&mut e.dv);
    let reached = products.solve(p, e, limits, &mut dv, |r, z| precondition(e, r, z));
    e.dv = dv;
    if is_usable(reached) {
        e.set_direction_product(products.product());
    }
    reached
}

/// x ← H⁻¹x at `velocity` by a double-precision factor.
pub(crate) fn exact_hessian_solve(
    p: &IslandProblem<'_>,
    e: &mut Evaluation,
    hessian: &mut Hessian,
    solver: &'static str,
    velocity: &[f64],
    x: &mut [f64],
) -> Result<(), SolveError> {
    Hessian::check(p, solver)?;
    begin_plain_hessian(p, e, velocity);
    hessian.begin(p);
    hessian.assemble(p, e, 0.0);
    factor(p, e, hessian)?;
    hessian.solve(x);
    Ok(())
}

/// Evaluates the Hessian of every law at `velocity`.
fn begin_plain_hessian(p: &IslandProblem<'_>, e: &mut Evaluation, velocity: &[f64]) {
    e.begin(p);
    e.v.copy_from_slice(velocity);
    e.update_impulses(p);
    e.update_aggregates(p, |_, law, v_c| law.hessian(v_c));
}

/// Factors the assembled H. If round-off has made it indefinite, a small multiple of diag(A) is added. Returns the number of
/// factorisations.
fn factor(
    p: &IslandProblem<'_>,
    e: &Evaluation,
    hessian: &mut Hessian,
) -> Result<usize, SolveError> {
    let Err(mut failed) = hessian.factor() else {
        return Ok(1);
    };
    // The direction is one of descent for any shift. A shift above 1e-2 would hide an invalid A.
    let mut shift = 1e-12;
    let mut count = 1;
    while shift <= 1e-2 {
        hessian.assemble(p, e, shift);
        count += 1;
        match hessian.factor() {
            Ok(()) => return Ok(count),
            Err(again) => failed = again,
        }
        shift *= 100.0;
    }
    Err(p.island.indefinite_at(failed.dof))
}
