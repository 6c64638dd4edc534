//! A v = b for one body: conjugate gradients, preconditioned with the factor of A at rest, turned with the body.
//!
//! A of a body at rest depends on the length of the step and on what is held, on nothing else: it is factored once, and the
//! factor is a pure function of the step at hand. Turned into the body's frame, R A₀⁻¹Rᵀ, it is close to A⁻¹ while strains
//! are moderate: a few iterations where a factorisation would cost as much as thirty.

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

/// More iterations than this cost more than to factor A itself.
const ITERATIONS_MAX: usize = 25;
/// Of the energy norm of v: below what an estimate of rotations can tell.
const ESTIMATE: f64 = 1e-5;
/// Of ‖D b‖ with D = diag(A)^(−1/2), the measure by which solvers of contact stop: half of their usual 1e-6.
const SOLUTION: f64 = 5e-7;

/// How exactly A v = b is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exactness {
    /// For rotations at the end of the step.
    Estimate,
    /// So that a body that nothing touches is solved.
    Solution,
}

/// Factors of one body's matrices; the symbolic part is kept while the pattern stands.
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

/// In what numbers a factor at rest is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digits {
    /// For our own iteration, where it preconditions: half the memory is half the time.
    Single,
    /// For solvers, that may ask for symmetry to round-off.
    Double,
}

enum Values {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// What A at rest depends on besides the pattern: the factors of M and K in it.
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

/// A was not positive definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotPositiveDefinite;

impl FreeMotion {
    /// The pattern has changed.
    pub(crate) fn forget_pattern(&mut self) {
        self.symbolic = None;
        self.rest = None;
    }

    /// Makes sure that there is a factor of A at rest; `assemble` writes that A.
    pub(crate) fn provide_rest(
        &mut self,
        key: RestKey,
        digits: Digits,
        assemble: impl FnOnce() -> System,
    ) -> Result<(), NotPositiveDefinite> {
        if self.rest.as_ref().is_some_and(|rest| rest.key == key) {
            return Ok(());
        }
        self.rest = None;
        let system = assemble();
        let mut single = Vec::new();
        let in_single = digits == Digits::Single
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

    /// x ← R A₀⁻¹Rᵀ x for the turn R of a body whose velocities come in threes; false without a factor.
    pub(crate) fn precondition(&self, turn: Option<&Matrix3<f64>>, x: &mut [f64]) -> bool {
        let (Some(symbolic), Some(rest)) = (&self.symbolic, &self.rest) else {
            return false;
        };
        if let Some(turn) = turn {
            turn_threes(&turn.transpose(), x);
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
        if let Some(turn) = turn {
            turn_threes(turn, x);
        }
        true
    }

    /// A v = b from `v` as a guess. One thread: the answer is the same for any number of them.
    ///
    /// Where the factor at rest does not help within a few iterations, A is factored.
    pub(crate) fn solve(
        &mut self,
        system: &System,
        turn: Option<&Matrix3<f64>>,
        exactness: Exactness,
        v: &mut [f64],
    ) -> Result<(), NotPositiveDefinite> {
        if self.iterate(system, turn, exactness, v) {
            return Ok(());
        }
        factorise(&mut self.symbolic, matrix(system), &mut self.factor)?;
        v.copy_from_slice(system.right_hand_side());
        if let Some(symbolic) = &self.symbolic {
            solve_factored(symbolic, &self.factor, v);
        }
        Ok(())
    }

    /// Preconditioned conjugate gradients; whether they converged.
    fn iterate(
        &self,
        system: &System,
        turn: Option<&Matrix3<f64>>,
        exactness: Exactness,
        v: &mut [f64],
    ) -> bool {
        if self.rest.is_none() {
            return false;
        }
        let mut scale = Vec::new();
        let (norm, relative_residual) = match exactness {
            Exactness::Estimate => (ResidualNorm::Preconditioned, ESTIMATE),
            Exactness::Solution => {
                system.write_scale(&mut scale);
                (ResidualNorm::Scaled(&scale), SOLUTION)
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
                self.precondition(turn, z);
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

/// A number that matrices are factored in.
trait Precision: faer::traits::RealField + Copy + Default {
    fn of(x: f64) -> Self;
}

impl Precision for f64 {
    fn of(x: f64) -> Self {
        x
    }
}

impl Precision for f32 {
    fn of(x: f64) -> Self {
        x as Self
    }
}

fn factorise<T: Precision>(
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

fn solve_factored<T: Precision>(symbolic: &SymbolicCholesky<u32>, factor: &[T], x: &mut [T]) {
    let n = x.len();
    let mut memory = MemBuffer::new(symbolic.solve_in_place_scratch::<T>(1, Par::Seq));
    LltRef::<'_, u32, T>::new(symbolic, factor).solve_in_place_with_conj(
        Conj::No,
        MatMut::from_column_major_slice_mut(x, n, 1),
        Par::Seq,
        MemStack::new(&mut memory),
    );
}

fn turn_threes(turn: &Matrix3<f64>, x: &mut [f64]) {
    for x in x.chunks_exact_mut(3) {
        let turned = turn * Vector3::from_column_slice(x);
        x.copy_from_slice(turned.as_slice());
    }
}
