//! Newton's linear systems H Δv = −∇ℓ, solved in the way that was asked for or that suits the island.

use std::time::Instant;

use crate::conjugate_gradients::{ConjugateGradients, Limits};
use crate::error::SolveError;
use crate::evaluation::{Evaluation, Residual};
use crate::hessian::Hessian;
use crate::island::IslandProblem;
use crate::islands::IslandReport;
use crate::linear_algebra::LinearAlgebra;
use crate::two_level::TwoLevel;

/// Iterations of conjugate gradients after which a system is factored instead: several times what thick bodies in contact
/// take, less than a factor of theirs costs.
const ITERATIONS_MAX: usize = 400;

/// Memory for the systems of one island.
#[derive(Default)]
pub(super) struct Systems {
    method: Method,
    hessian: Hessian,
    /// The Hessian is laid out for this solve.
    laid_out: bool,
    two_level: TwoLevel,
    gradients: ConjugateGradients,
    /// ‖D∇ℓ‖ of the system before, and how many there were.
    last_residual: f64,
    count: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Method {
    #[default]
    Direct,
    TwoLevel,
}

impl Systems {
    /// Chooses the method and lays out memory for the island of `p`.
    pub(super) fn begin(
        &mut self,
        p: &IslandProblem<'_>,
        choice: LinearAlgebra,
        solver: &'static str,
    ) -> Result<(), SolveError> {
        Hessian::check(p, solver)?;
        self.method = match choice {
            LinearAlgebra::Automatic if self.two_level.pays(p) => Method::TwoLevel,
            LinearAlgebra::Automatic | LinearAlgebra::Direct | LinearAlgebra::Schur => {
                Method::Direct
            }
            LinearAlgebra::TwoLevel => Method::TwoLevel,
        };
        self.laid_out = false;
        self.last_residual = f64::INFINITY;
        self.count = 0;
        if self.method == Method::TwoLevel {
            self.two_level.begin(p);
            self.gradients.begin(p);
        }
        Ok(())
    }

    /// Whether a factor of H is to solve them.
    pub(super) fn are_direct(&self) -> bool {
        self.method == Method::Direct
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
        for (dv, g) in e.dv.iter_mut().zip(&e.gradient) {
            *dv = -g;
        }
        if self.method == Method::TwoLevel {
            if self.iterate(p, e, residual, tolerance, report) {
                return Ok(());
            }
            self.method = Method::Direct;
            for (dv, g) in e.dv.iter_mut().zip(&e.gradient) {
                *dv = -g;
            }
        }
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

    /// Conjugate gradients, only as exactly as the outer iteration can use; false if they found no end.
    ///
    /// The forcing term is that of Eisenstat and Walker (1996), choice 2, from 0.1; exact systems would take twice the
    /// iterations in all. After ten Newton steps 1e-2 and after twenty 1e-6: behind stiff contact a loose direction is a
    /// wrong one.
    fn iterate(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        residual: Residual,
        tolerance: f64,
        report: &mut IslandReport,
    ) -> bool {
        let clock = Instant::now();
        let factored = self.two_level.factor(p, e);
        report.stages.assembly += clock.elapsed();
        if factored.is_err() {
            return false;
        }
        let clock = Instant::now();
        let ratio = residual.norm / self.last_residual;
        let most = match self.count {
            0..10 => 0.1,
            10..20 => 1e-2,
            _ => 1e-6,
        };
        // Solving past the tolerance of the outer iteration would be thrown away.
        let floor = 0.3 * tolerance / residual.norm;
        let limits = Limits {
            relative_residual: (0.9 * ratio * ratio).min(most).max(floor),
            iterations_max: ITERATIONS_MAX,
        };
        let mut dv = std::mem::take(&mut e.dv);
        let two_level = &mut self.two_level;
        let precondition = |r: &[f64], z: &mut [f64]| two_level.apply(p, r, z);
        let reached = self.gradients.solve(p, e, limits, &mut dv, precondition);
        e.dv = dv;
        self.last_residual = residual.norm;
        self.count += 1;
        report.inner_iterations += reached.iterations;
        report.systems.two_level += usize::from(reached.converged);
        report.stages.linear_solve += clock.elapsed();
        reached.converged
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
