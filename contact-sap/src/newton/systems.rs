//! Newton's linear systems H Δv = −∇ℓ, solved in the way that was asked for or that suits the island.

use std::time::Instant;

use crate::conjugate_gradients::{ConjugateGradients, Limits};
use crate::error::SolveError;
use crate::evaluation::{Evaluation, Residual};
use crate::hessian::Hessian;
use crate::island::IslandProblem;
use crate::islands::IslandReport;
use crate::linear_algebra::LinearAlgebra;
use crate::newton::mixed::Mixed;

/// Factors of more multiplications than this are computed in single precision: below, they cost less than what else a
/// Newton step does.
const MIXED_WORK_MIN: f64 = 2e7;

/// Islands of fewer velocities have no factors of that size.
const MIXED_DOFS_MIN: usize = 300;

/// Iterations with a new factor in single precision, of which one or two are usual, before double precision is called for.
const MIXED_ITERATIONS_MAX: usize = 30;

/// A Newton step has changed little if it left this share of the residual.
const STALE_FACTOR_RATIO_MAX: f64 = 0.3;

/// Memory for the systems of one island.
#[derive(Default)]
pub(super) struct Systems {
    method: Method,
    hessian: Hessian,
    choice: LinearAlgebra,
    /// The Hessian is laid out for this solve.
    laid_out: bool,
    mixed: Mixed,
    gradients: ConjugateGradients,
    /// ‖D∇ℓ‖ of the previous system.
    last_residual: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Method {
    #[default]
    Direct,
    Mixed,
}

impl Systems {
    /// Chooses the method for the island of `p`.
    pub(super) fn choose(
        &mut self,
        p: &IslandProblem<'_>,
        choice: LinearAlgebra,
        solver: &'static str,
    ) -> Result<(), SolveError> {
        Hessian::check(p, solver)?;
        self.method = match choice {
            LinearAlgebra::Automatic | LinearAlgebra::Schur
                if p.island.n_dofs >= MIXED_DOFS_MIN =>
            {
                Method::Mixed
            }
            LinearAlgebra::Automatic | LinearAlgebra::Direct | LinearAlgebra::Schur => {
                Method::Direct
            }
            LinearAlgebra::Mixed => Method::Mixed,
        };
        Ok(())
    }

    /// [`Systems::choose`], and lays out memory.
    pub(super) fn begin(
        &mut self,
        p: &IslandProblem<'_>,
        choice: LinearAlgebra,
        solver: &'static str,
    ) -> Result<(), SolveError> {
        self.choose(p, choice, solver)?;
        self.laid_out = false;
        self.last_residual = f64::INFINITY;
        self.choice = choice;
        Ok(())
    }

    /// Writes Newton's direction into `e.dv`; `tolerance` is what ‖D∇ℓ‖ is to be brought below.
    pub(super) fn direction(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        residual: Residual,
        tolerance: f64,
        report: &mut IslandReport,
    ) -> Result<(), SolveError> {
        if self.method == Method::Mixed {
            self.begin_mixed(p);
        }
        if self.method == Method::Mixed {
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

    /// Makes ready for a factor in single precision, unless one in double precision is cheap enough.
    fn begin_mixed(&mut self, p: &IslandProblem<'_>) {
        if self.laid_out {
            return;
        }
        self.laid_out = true;
        let layout = self.hessian.lay_out(p);
        if self.choice != LinearAlgebra::Mixed && layout.factor_work() < MIXED_WORK_MIN {
            self.method = Method::Direct;
            self.hessian.make_room(p);
            return;
        }
        self.mixed.begin(layout, p);
        self.gradients.begin(p);
    }

    /// Conjugate gradients behind a factor in single precision: that of an earlier system while little changes; false if that
    /// has no end.
    fn refine(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        residual: Residual,
        tolerance: f64,
        report: &mut IslandReport,
    ) -> bool {
        let ratio = residual.norm / self.last_residual;
        let relative_residual = self.forcing(residual, tolerance, 0.1);
        self.last_residual = residual.norm;
        if self.mixed.is_factored() && ratio < STALE_FACTOR_RATIO_MAX {
            let limits = Limits {
                relative_residual,
                iterations_max: self
                    .mixed
                    .iterations_max_with_old_factor(self.hessian.layout()),
            };
            if self.conjugate(p, e, limits, report) {
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
        factored.is_ok() && self.conjugate(p, e, limits, report)
    }

    /// Conjugate gradients with the last factor in single precision; whether they came to an end.
    fn conjugate(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        limits: Limits,
        report: &mut IslandReport,
    ) -> bool {
        let clock = Instant::now();
        e.write_right_hand_side();
        let mut dv = std::mem::take(&mut e.dv);
        let (mixed, layout) = (&mut self.mixed, self.hessian.layout());
        let precondition = |r: &[f64], z: &mut [f64]| mixed.apply(layout, &e.scale, r, z);
        let reached = self.gradients.solve(p, e, limits, &mut dv, precondition);
        e.dv = dv;
        if reached.converged {
            e.set_direction_product(self.gradients.product());
        }
        report.inner_iterations += reached.iterations;
        report.systems.mixed += usize::from(reached.converged);
        report.stages.linear_solve += clock.elapsed();
        reached.converged
    }

    /// The relative residual that a direction may be left with, at most `most`: that of Eisenstat and Walker (1996), choice 2.
    fn forcing(&self, residual: Residual, tolerance: f64, most: f64) -> f64 {
        let ratio = residual.norm / self.last_residual;
        // Solving past the tolerance of the outer iteration would be thrown away.
        let floor = 0.3 * tolerance / residual.norm;
        (0.9 * ratio * ratio).min(most).max(floor)
    }

    /// x ← H⁻¹x with the Hessian of `e`, factored.
    pub(super) fn exact_solve(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        solver: &'static str,
        velocity: &[f64],
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        exact_hessian_solve(p, e, &mut self.hessian, solver, velocity, x)
    }
}

/// x ← H⁻¹x at `velocity` with the Hessian itself, factored.
pub(crate) fn exact_hessian_solve(
    p: &IslandProblem<'_>,
    e: &mut Evaluation,
    hessian: &mut Hessian,
    solver: &'static str,
    velocity: &[f64],
    x: &mut [f64],
) -> Result<(), SolveError> {
    use crate::potential::Potential;
    e.begin(p);
    e.v.copy_from_slice(velocity);
    e.update_impulses(p);
    Hessian::check(p, solver)?;
    hessian.begin(p);
    e.update_aggregates(p, |_, law, v_c| law.hessian(v_c));
    hessian.assemble(p, e, 0.0);
    factor(p, e, hessian)?;
    hessian.solve(x);
    Ok(())
}

/// Factors the assembled H, with a little of diag(A) added should round-off have cost its definiteness; returns the number
/// of factorisations.
fn factor(
    p: &IslandProblem<'_>,
    e: &Evaluation,
    hessian: &mut Hessian,
) -> Result<usize, SolveError> {
    let Err(mut failed) = hessian.factor() else {
        return Ok(1);
    };
    // Any shift keeps the direction one of descent; 1e-2 is where help from a shift would hide a real defect.
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
