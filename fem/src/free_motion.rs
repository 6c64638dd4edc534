//! A v = b for one body by conjugate gradients, preconditioned with the rotated factor of A at rest.
//!
//! A of a body at rest depends only on the length of the step and on the held components, and is factored once. Rotated with the body,
//! R A₀⁻¹Rᵀ is close to A⁻¹ at moderate strains: a few iterations suffice, where a factorisation costs as much as thirty.

use std::fmt;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use nalgebra::{Matrix3, Vector3};
use pliant_contact_sap::{Assembled, CgLimits, CgStop, ConjugateGradients, Dynamics, ResidualNorm};
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
    symbolic: Option<SymbolicCholesky<u32>>,
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

/// A is not positive definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotPositiveDefinite;

impl FreeMotion {
    /// Discards all factors: the pattern has changed.
    pub(crate) fn forget_pattern(&mut self) {
        self.symbolic = None;
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
            && factorise::<f32>(&mut self.symbolic, matrix(&system), &mut single).is_ok();
        let factor = if in_single {
            Values::Single(single)
        } else {
            let mut double = Vec::new();
            factorise(&mut self.symbolic, matrix(&system), &mut double)?;
            Values::Double(double)
        };
        self.rest = Some(RestFactor { key, factor });
        Ok(())
    }

    /// x ← R A₀⁻¹Rᵀ x; `rotation` R requires that every vertex has three velocities. Returns false without a factor.
    pub(crate) fn precondition(&self, rotation: Option<&Matrix3<f64>>, x: &mut [f64]) -> bool {
        let (Some(symbolic), Some(rest)) = (&self.symbolic, &self.rest) else {
            return false;
        };
        if let Some(rotation) = rotation {
            rotate_vectors(&rotation.transpose(), x);
        }
        match &rest.factor {
            Values::Double(factor) => solve_factored(symbolic, factor, x),
            Values::Single(factor) => {
                let mut single: Vec<f32> = x.iter().map(|x| *x as f32).collect();
                solve_factored(symbolic, factor, &mut single);
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
        factorise(&mut self.symbolic, matrix(system), &mut self.factor)?;
        v.copy_from_slice(system.right_hand_side());
        if let Some(symbolic) = &self.symbolic {
            solve_factored(symbolic, &self.factor, v);
        }
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

/// The scalar type of a factor.
trait FactorScalar: faer::traits::RealField + Copy + Default {
    fn of(x: f64) -> Self;
}

impl FactorScalar for f64 {
    fn of(x: f64) -> Self {
        x
    }
}

impl FactorScalar for f32 {
    fn of(x: f64) -> Self {
        x as Self
    }
}

fn factorise<T: FactorScalar>(
    symbolic: &mut Option<SymbolicCholesky<u32>>,
    a: CsMatViewI<'_, f64, u32>,
    factor: &mut Vec<T>,
) -> Result<(), NotPositiveDefinite> {
    let n = a.rows();
    let starts = a.indptr();
    let starts = starts.to_proper();
    let pattern = SymbolicSparseColMatRef::new_checked(n, n, &starts, None, a.indices());
    let symbolic = match symbolic.take() {
        Some(known) => symbolic.insert(known),
        None => {
            let ordered = factorize_symbolic_cholesky(
                pattern,
                Side::Lower,
                SymmetricOrdering::Amd,
                CholeskySymbolicParams::default(),
            );
            symbolic.insert(ordered.map_err(|_| NotPositiveDefinite)?)
        }
    };
    factor.clear();
    factor.resize(symbolic.len_val(), T::default());
    let values: Vec<T> = a.data().iter().map(|x| T::of(*x)).collect();
    let need = symbolic.factorize_numeric_llt_scratch::<T>(Par::Seq, Default::default());
    let mut memory = MemBuffer::new(need);
    symbolic
        .factorize_numeric_llt(
            factor,
            SparseColMatRef::new(pattern, &values),
            Side::Lower,
            Default::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .map_err(|_| NotPositiveDefinite)?;
    Ok(())
}

fn solve_factored<T: FactorScalar>(symbolic: &SymbolicCholesky<u32>, factor: &[T], x: &mut [T]) {
    let n = x.len();
    let mut memory = MemBuffer::new(symbolic.solve_in_place_scratch::<T>(1, Par::Seq));
    LltRef::<'_, u32, T>::new(symbolic, factor).solve_in_place_with_conj(
        Conj::No,
        MatMut::from_column_major_slice_mut(x, n, 1),
        Par::Seq,
        MemStack::new(&mut memory),
    );
}

fn rotate_vectors(rotation: &Matrix3<f64>, x: &mut [f64]) {
    for x in x.chunks_exact_mut(3) {
        let rotated = rotation * Vector3::from_column_slice(x);
        x.copy_from_slice(rotated.as_slice());
    }
}
