//! Preconditioned conjugate gradients, and the forcing term of inexact Newton methods.

use crate::long_vectors::{add_scaled, dot, scale_and_add, scaled_norm_squared, step_along};

/// H x = b with a symmetric positive definite H, given by products, and with an approximation M⁻¹ of H⁻¹.
///
/// A pair of functions, for products and for the preconditioner, is such a system.
///
/// ```
/// use pliant_contact_sap::{CgLimits, CgStop, ConjugateGradients, ResidualNorm};
///
/// // −1 is not positive definite: the first direction of negative curvature stops the iteration.
/// let product = |x: &[f64], y: &mut [f64]| y[0] = -x[0];
/// let identity = |r: &[f64], z: &mut [f64]| z.copy_from_slice(r);
/// let limits = CgLimits { norm: ResidualNorm::Preconditioned, relative_residual: 1e-9, iterations_max: 10 };
/// let mut x = [0.0];
/// let report = ConjugateGradients::default().solve(&mut (product, identity), limits, &[2.0], &mut x);
/// assert_eq!((report.stop, x), (CgStop::Indefinite, [2.0])); // x = M⁻¹b
/// ```
pub trait PreconditionedSystem {
    /// `y` ← H x.
    fn apply(&mut self, x: &[f64], y: &mut [f64]);

    /// `z` ← M⁻¹ r; M is symmetric positive definite.
    fn precondition(&mut self, r: &[f64], z: &mut [f64]);

    /// Called after x has moved by `alpha` times the vector of the last [`apply`](Self::apply).
    fn stepped(&mut self, alpha: f64) {
        let _ = alpha;
    }
}

impl<H, M> PreconditionedSystem for (H, M)
where
    H: FnMut(&[f64], &mut [f64]),
    M: FnMut(&[f64], &mut [f64]),
{
    fn apply(&mut self, x: &[f64], y: &mut [f64]) {
        self.0(x, y);
    }

    fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        self.1(r, z);
    }
}

/// The norm of residuals r in a stopping criterion.
///
/// ```
/// use pliant_contact_sap::{CgLimits, ConjugateGradients, ResidualNorm};
///
/// // H = diag(1, 100), b = (1, 0.1), M = 1. The first iteration leaves r ≈ (0.5, −5), five times b, the second one nothing.
/// let iterations = |norm| {
///     let product = |x: &[f64], y: &mut [f64]| (y[0], y[1]) = (x[0], 100.0 * x[1]);
///     let identity = |r: &[f64], z: &mut [f64]| z.copy_from_slice(r);
///     let limits = CgLimits { norm, relative_residual: 0.6, iterations_max: 10 };
///     ConjugateGradients::default().solve(&mut (product, identity), limits, &[1.0, 0.1], &mut [0.0; 2]).iterations
/// };
/// assert_eq!(iterations(ResidualNorm::Preconditioned), 2);
/// // A hundredth of the residual of the stiff equation is its error in x: 0.05, and half of b together.
/// assert_eq!(iterations(ResidualNorm::Scaled(&[1.0, 0.01])), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResidualNorm<'a> {
    /// ‖D r‖ with the diagonal of D.
    Scaled(&'a [f64]),
    /// √(rᵀM⁻¹r).
    Preconditioned,
}

/// When conjugate gradients stop.
///
/// ```
/// use pliant_contact_sap::{CgLimits, CgStop, ConjugateGradients, ResidualNorm};
///
/// // H = diag(1, 2, 3) has three eigenvalues, so that three iterations are needed; two do not reach the residual.
/// let product = |x: &[f64], y: &mut [f64]| (0..3).for_each(|i| y[i] = (i + 1) as f64 * x[i]);
/// let identity = |r: &[f64], z: &mut [f64]| z.copy_from_slice(r);
/// let limits = CgLimits { norm: ResidualNorm::Preconditioned, relative_residual: 1e-9, iterations_max: 2 };
/// let mut solve = |limits| ConjugateGradients::default().solve(&mut (product, identity), limits, &[1.0; 3], &mut [0.0; 3]);
/// assert_eq!(solve(limits).stop, CgStop::IterationsMax);
/// assert_eq!(solve(CgLimits { iterations_max: 3, ..limits }).stop, CgStop::Converged);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CgLimits<'a> {
    /// Norm of b and of residuals.
    pub norm: ResidualNorm<'a>,
    /// Largest residual of a converged solution, relative to b.
    pub relative_residual: f64,
    /// Largest number of iterations.
    pub iterations_max: usize,
}

/// Why conjugate gradients stopped.
///
/// ```
/// use pliant_contact_sap::{CgLimits, CgStop, ConjugateGradients, ResidualNorm};
///
/// // h x = 1 on one line.
/// let stop = |h: f64| {
///     let product = |x: &[f64], y: &mut [f64]| y[0] = h * x[0];
///     let identity = |r: &[f64], z: &mut [f64]| z.copy_from_slice(r);
///     let limits = CgLimits { norm: ResidualNorm::Preconditioned, relative_residual: 1e-9, iterations_max: 10 };
///     ConjugateGradients::default().solve(&mut (product, identity), limits, &[1.0], &mut [0.0]).stop
/// };
/// assert_eq!(stop(2.0), CgStop::Converged);
/// assert_eq!(stop(0.0), CgStop::Indefinite); // no curvature, so no minimum
/// assert_eq!(stop(f64::INFINITY), CgStop::NotFinite);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CgStop {
    /// The residual is small enough, or zero to round-off.
    Converged,
    /// The limit of iterations was reached.
    IterationsMax,
    /// pᵀHp ≤ 0 for a direction p: H is not positive definite, possibly by round-off.
    Indefinite,
    /// A product or the preconditioner has overflowed; x is the last iterate.
    NotFinite,
}

/// Result of a solve.
///
/// ```
/// use pliant_contact_sap::{CgLimits, CgReport, CgStop, ConjugateGradients, ResidualNorm};
///
/// // A start at the solution of 4 x = 2 takes no iteration.
/// let product = |x: &[f64], y: &mut [f64]| y[0] = 4.0 * x[0];
/// let identity = |r: &[f64], z: &mut [f64]| z.copy_from_slice(r);
/// let limits = CgLimits { norm: ResidualNorm::Preconditioned, relative_residual: 1e-9, iterations_max: 10 };
/// let report = ConjugateGradients::default().improve(&mut (product, identity), limits, &[2.0], &mut [0.5]);
/// assert_eq!(report, CgReport { iterations: 0, stop: CgStop::Converged });
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CgReport {
    /// Iterations, one product with H each.
    pub iterations: usize,
    /// Why the iteration stopped.
    pub stop: CgStop,
}

/// Preconditioned conjugate gradients. Memory is reused from solve to solve.
///
/// ```
/// use pliant_contact_sap::{CgLimits, CgStop, ConjugateGradients, ResidualNorm};
///
/// // H = [4 1; 1 3], b = (1, 2): x = (1, 7)/11 in two iterations at most.
/// let product = |x: &[f64], y: &mut [f64]| (y[0], y[1]) = (4.0 * x[0] + x[1], x[0] + 3.0 * x[1]);
/// let jacobi = |r: &[f64], z: &mut [f64]| (z[0], z[1]) = (r[0] / 4.0, r[1] / 3.0);
/// let limits = CgLimits { norm: ResidualNorm::Preconditioned, relative_residual: 1e-12, iterations_max: 10 };
/// let mut x = [0.0; 2];
/// let report = ConjugateGradients::default().solve(&mut (product, jacobi), limits, &[1.0, 2.0], &mut x);
/// assert_eq!((report.stop, report.iterations), (CgStop::Converged, 2));
/// assert!((x[0] - 1.0 / 11.0).abs() < 1e-14 && (x[1] - 7.0 / 11.0).abs() < 1e-14);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConjugateGradients {
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    h_p: Vec<f64>,
}

impl ConjugateGradients {
    /// Solves H x = b starting from x = 0, with at least one iteration unless b is zero.
    ///
    /// An unconverged x is a direction of descent of ½xᵀHx − bᵀx; if H is found indefinite in the first iteration, it is M⁻¹b.
    pub fn solve(
        &mut self,
        system: &mut impl PreconditionedSystem,
        limits: CgLimits<'_>,
        b: &[f64],
        x: &mut [f64],
    ) -> CgReport {
        self.resize(b.len());
        x.fill(0.0);
        self.r.copy_from_slice(b);
        system.precondition(&self.r, &mut self.z);
        let b_squared = self.residual_squared(limits.norm);
        let report = self.iterate(system, limits, b_squared, x);
        if report.stop == CgStop::Indefinite && report.iterations == 0 {
            x.copy_from_slice(&self.p);
            system.stepped(1.0);
        }
        report
    }

    /// Solves H x = b starting from the given `x`, which stays if its residual is small enough.
    pub fn improve(
        &mut self,
        system: &mut impl PreconditionedSystem,
        limits: CgLimits<'_>,
        b: &[f64],
        x: &mut [f64],
    ) -> CgReport {
        self.resize(b.len());
        self.r.copy_from_slice(b);
        system.precondition(&self.r, &mut self.z);
        let b_squared = self.residual_squared(limits.norm);
        system.apply(x, &mut self.h_p);
        self.r.iter_mut().zip(&self.h_p).for_each(|(r, h)| *r -= h);
        system.precondition(&self.r, &mut self.z);
        if self.residual_squared(limits.norm) <= limits.relative_residual.powi(2) * b_squared {
            return CgReport {
                iterations: 0,
                stop: CgStop::Converged,
            };
        }
        self.iterate(system, limits, b_squared, x)
    }

    fn resize(&mut self, n: usize) {
        for v in [&mut self.r, &mut self.z, &mut self.p, &mut self.h_p] {
            v.resize(n, 0.0);
        }
    }

    fn residual_squared(&self, norm: ResidualNorm<'_>) -> f64 {
        match norm {
            ResidualNorm::Scaled(scale) => scaled_norm_squared(&self.r, scale),
            ResidualNorm::Preconditioned => dot(&self.r, &self.z),
        }
    }

    /// Iterates from r = b − H x and z = M⁻¹r.
    fn iterate(
        &mut self,
        system: &mut impl PreconditionedSystem,
        limits: CgLimits<'_>,
        b_squared: f64,
        x: &mut [f64],
    ) -> CgReport {
        let target = limits.relative_residual.powi(2) * b_squared;
        self.p.copy_from_slice(&self.z);
        let mut rz = dot(&self.r, &self.z);
        let mut report = CgReport {
            iterations: 0,
            stop: CgStop::Converged,
        };
        while rz > 0.0 {
            if report.iterations == limits.iterations_max {
                report.stop = CgStop::IterationsMax;
                break;
            }
            system.apply(&self.p, &mut self.h_p);
            let curvature = dot(&self.p, &self.h_p);
            if curvature <= 0.0 {
                report.stop = CgStop::Indefinite;
                break;
            }
            let alpha = rz / curvature;
            if !(curvature.is_finite() && alpha.is_finite()) {
                report.stop = CgStop::NotFinite;
                break;
            }
            report.iterations += 1;
            system.stepped(alpha);
            let squared = match limits.norm {
                ResidualNorm::Scaled(scale) => {
                    let (x, r) = ((&mut *x, &self.p[..]), (&mut self.r[..], &self.h_p[..]));
                    let squared = step_along(alpha, x, r, scale);
                    if squared > target {
                        system.precondition(&self.r, &mut self.z);
                    }
                    squared
                }
                ResidualNorm::Preconditioned => {
                    add_scaled(x, alpha, &self.p);
                    add_scaled(&mut self.r, -alpha, &self.h_p);
                    system.precondition(&self.r, &mut self.z);
                    dot(&self.r, &self.z)
                }
            };
            if squared <= target {
                break;
            }
            let next = dot(&self.r, &self.z);
            scale_and_add(&mut self.p, next / rz, &self.z);
            rz = next;
        }
        if rz.is_nan() {
            report.stop = CgStop::NotFinite;
        }
        report
    }
}

/// The relative residual of the next linear system of an inexact Newton method, between `least` and `most`.
///
/// `ratio` is the norm of the present residual relative to that of the previous Newton iteration. A sensible `least` is 0.3 times
/// the tolerance of Newton's method relative to the present residual: smaller residuals gain nothing.
///
/// Source: Eisenstat and Walker (1996), choice 2 with γ = 0.9 and α = 2.
#[must_use]
pub fn forcing_term(ratio: f64, least: f64, most: f64) -> f64 {
    (0.9 * ratio * ratio).min(most).max(least)
}

#[cfg(test)]
mod tests;
