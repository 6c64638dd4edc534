//! A v = b for one body by conjugate gradients, preconditioned with the rotated factor of A at rest.
//!
//! A of a body at rest depends only on the length of the step and on the held components, and is factored once. Rotated with the body,
//! R A₀⁻¹Rᵀ is close to A⁻¹ at moderate strains: a few iterations suffice, where a factorisation costs as much as thirty.

use std::fmt;

use nalgebra::{Matrix3, Vector3};
use pliant_contact_sap::{
    Assembled, CgLimits, CgStop, ConjugateGradients, Dynamics, FactorScalar, NotPositiveDefinite,
    ResidualNorm, SparseCholesky,
};
use sprs::CsMatViewI;

use crate::matrix::System;

/// More iterations cost more than a factorisation of A.
const ITERATIONS_MAX: usize = 25;
/// Relative residual in the energy norm for predictions of rotations.
const INEXACT_TOLERANCE: f64 = 1e-5;
/// Residual relative to ‖D b‖ with D = diag(A)^(−1/2), the norm of the stopping criterion of contact solvers: half of their default 1e-6.
const FULL_TOLERANCE: f64 = 5e-7;

/// Accuracy of a solve of A v = b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accuracy {
    /// For a prediction of rotations at the end of the step.
    Inexact,
    /// As the contact solver: the result is the solution of a body without constraints.
    Full,
}

/// Factors of one body's matrices; the symbolic part is reused while the pattern is unchanged.
#[derive(Default)]
pub(crate) struct FreeMotion {
    cholesky: SparseCholesky,
    rest: Option<RestFactor>,
    factor: Vec<f64>,
}

/// L of A at rest.
struct RestFactor {
    key: RestKey,
    factor: Values,
}

/// Precision of a factor at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// For the preconditioner of free motion: half the memory, half the time.
    Single,
    /// For contact solvers, which need a symmetric preconditioner to round-off.
    Double,
}

enum Values {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// The factors of M and K in A at rest, which determine it together with the pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RestKey {
    pub(crate) mass: f64,
    pub(crate) stiffness: f64,
}

impl fmt::Debug for FreeMotion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FreeMotion").finish_non_exhaustive()
    }
}

impl FreeMotion {
    /// Discards all factors: the pattern has changed.
    pub(crate) fn forget_pattern(&mut self) {
        self.cholesky.forget_pattern();
        self.rest = None;
    }

    /// Factors A at rest unless the present factor is valid; `assemble` returns that A.
    pub(crate) fn provide_rest(
        &mut self,
        key: RestKey,
        precision: Precision,
        assemble: impl FnOnce() -> System,
    ) -> Result<(), NotPositiveDefinite> {
        if self.rest.as_ref().is_some_and(|rest| rest.key == key) {
            return Ok(());
        }
        self.rest = None;
        let system = assemble();
        let mut single = Vec::new();
        let in_single = precision == Precision::Single
            && factorise(&mut self.cholesky, matrix(&system), &mut single).is_ok();
        let factor = if in_single {
            Values::Single(single)
        } else {
            let mut double = Vec::new();
            factorise(&mut self.cholesky, matrix(&system), &mut double)?;
            Values::Double(double)
        };
        self.rest = Some(RestFactor { key, factor });
        Ok(())
    }

    /// x ← R A₀⁻¹Rᵀ x; `rotation` R requires that every vertex has three velocities. Returns false without a factor.
    pub(crate) fn precondition(&self, rotation: Option<&Matrix3<f64>>, x: &mut [f64]) -> bool {
        let Some(rest) = &self.rest else {
            return false;
        };
        if let Some(rotation) = rotation {
            rotate_vectors(&rotation.transpose(), x);
        }
        match &rest.factor {
            Values::Double(factor) => self.cholesky.solve(factor, x),
            Values::Single(factor) => {
                let mut single: Vec<f32> = x.iter().map(|x| *x as f32).collect();
                self.cholesky.solve(factor, &mut single);
                x.iter_mut()
                    .zip(single)
                    .for_each(|(x, y)| *x = f64::from(y));
            }
        }
        if let Some(rotation) = rotation {
            rotate_vectors(rotation, x);
        }
        true
    }

    /// Solves A v = b, starting from `v`. Factors A if conjugate gradients do not converge within a few iterations.
    pub(crate) fn solve(
        &mut self,
        system: &System,
        rotation: Option<&Matrix3<f64>>,
        accuracy: Accuracy,
        v: &mut [f64],
    ) -> Result<(), NotPositiveDefinite> {
        if self.iterate(system, rotation, accuracy, v) {
            return Ok(());
        }
        factorise(&mut self.cholesky, matrix(system), &mut self.factor)?;
        v.copy_from_slice(system.right_hand_side());
        self.cholesky.solve(&self.factor, v);
        Ok(())
    }

    /// Preconditioned conjugate gradients; returns whether they converged.
    fn iterate(
        &self,
        system: &System,
        rotation: Option<&Matrix3<f64>>,
        accuracy: Accuracy,
        v: &mut [f64],
    ) -> bool {
        if self.rest.is_none() {
            return false;
        }
        let mut scale = Vec::new();
        let (norm, relative_residual) = match accuracy {
            Accuracy::Inexact => (ResidualNorm::Preconditioned, INEXACT_TOLERANCE),
            Accuracy::Full => {
                system.write_scale(&mut scale);
                (ResidualNorm::Scaled(&scale), FULL_TOLERANCE)
            }
        };
        let limits = CgLimits {
            norm,
            relative_residual,
            iterations_max: ITERATIONS_MAX,
        };
        let mut products = (
            |x: &[f64], y: &mut [f64]| system.apply(x, y),
            |r: &[f64], z: &mut [f64]| {
                z.copy_from_slice(r);
                self.precondition(rotation, z);
            },
        );
        let mut cg = ConjugateGradients::default();
        let report = cg.improve(&mut products, limits, system.right_hand_side(), v);
        report.stop == CgStop::Converged
    }
}

fn matrix(system: &System) -> CsMatViewI<'_, f64, u32> {
    match system.assembled() {
        Some(Assembled::Sparse(matrix)) => matrix,
        _ => unreachable!("the system of a finite-element body is sparse"),
    }
}

fn factorise<T: FactorScalar>(
    cholesky: &mut SparseCholesky,
    a: CsMatViewI<'_, f64, u32>,
    factor: &mut Vec<T>,
) -> Result<(), NotPositiveDefinite> {
    let starts = a.indptr();
    let starts = starts.to_proper();
    cholesky.factorise((&starts, a.indices()), a.data(), factor)
}

fn rotate_vectors(rotation: &Matrix3<f64>, x: &mut [f64]) {
    for x in x.chunks_exact_mut(3) {
        let rotated = rotation * Vector3::from_column_slice(x);
        x.copy_from_slice(rotated.as_slice());
    }
}
