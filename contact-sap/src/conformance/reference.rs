//! The contact problem written out densely and solved slowly: what other solvers are held against.

use nalgebra::{DMatrix, DVector, Matrix3xX, Vector1, Vector3};

use super::{Violation, promise};
use crate::constraint_set::ConstraintSet;
use crate::law::{ContactLaw, RowLaw};
use crate::potential::Potential;
use crate::problem::ContactProblem;

/// A problem as dense matrices: A, b, and J, b_i of every constraint.
pub(super) struct DenseProblem<'a> {
    pub(super) a: DMatrix<f64>,
    pub(super) b: DVector<f64>,
    contacts: Vec<(Matrix3xX<f64>, Vector3<f64>, &'a ContactLaw)>,
    rows: Vec<(DVector<f64>, f64, &'a RowLaw)>,
}

impl<'a> DenseProblem<'a> {
    pub(super) fn new(problem: &ContactProblem<'a>) -> Self {
        let n = problem.n_dofs();
        let (mut a, mut b) = (DMatrix::zeros(n, n), DVector::zeros(n));
        let mut first = 0;
        for dynamics in problem.dynamics.iter() {
            let m = dynamics.n_dofs();
            let mut e = vec![0.0; m];
            for j in 0..m {
                e[j] = 1.0;
                let mut column = vec![0.0; m];
                dynamics.apply(&e, &mut column);
                a.view_mut((first, first + j), (m, 1))
                    .copy_from_slice(&column);
                e[j] = 0.0;
            }
            b.rows_mut(first, m)
                .copy_from_slice(dynamics.right_hand_side());
            first += m;
        }
        let starts = starts(problem);
        let set = problem.constraints;
        let (at_zero, rows_at_zero) = velocities(set, &starts, &DVector::zeros(n));
        let mut contacts: Vec<_> = (set.contacts.iter().zip(at_zero))
            .map(|(contact, bias)| (Matrix3xX::zeros(n), bias, &contact.law))
            .collect();
        let mut rows: Vec<_> = (set.rows.iter().zip(rows_at_zero))
            .map(|(row, bias)| (DVector::zeros(n), bias, &row.law))
            .collect();
        // v_c is affine in v: its columns by unit vectors.
        for j in 0..n {
            let mut e = DVector::zeros(n);
            e[j] = 1.0;
            let (v_c, v_r) = velocities(set, &starts, &e);
            for ((jacobian, bias, _), v) in contacts.iter_mut().zip(v_c) {
                jacobian.set_column(j, &(v - *bias));
            }
            for ((jacobian, bias, _), v) in rows.iter_mut().zip(v_r) {
                jacobian[j] = v - *bias;
            }
        }
        Self {
            a,
            b,
            contacts,
            rows,
        }
    }

    pub(super) fn cost(&self, v: &DVector<f64>) -> f64 {
        let mut cost = 0.5 * v.dot(&(&self.a * v)) - self.b.dot(v);
        for (j, bias, law) in &self.contacts {
            cost += law.cost(&(j * v + bias));
        }
        for (j, bias, law) in &self.rows {
            cost += law.cost(&Vector1::new(j.dot(v) + bias));
        }
        cost
    }

    pub(super) fn impulses(&self, v: &DVector<f64>) -> (Vec<f64>, Vec<f64>) {
        let contacts = self.contacts.iter().flat_map(|(j, bias, law)| {
            let gamma = law.impulse(&(j * v + bias));
            [gamma.x, gamma.y, gamma.z]
        });
        let rows = self
            .rows
            .iter()
            .map(|(j, bias, law)| law.impulse(&Vector1::new(j.dot(v) + bias)).x);
        (contacts.collect(), rows.collect())
    }

    /// Jᵀγ.
    pub(super) fn constraint_impulse(&self, v: &DVector<f64>) -> DVector<f64> {
        let mut sum = DVector::zeros(v.len());
        for (j, bias, law) in &self.contacts {
            sum += j.tr_mul(&law.impulse(&(j * v + bias)));
        }
        for (j, bias, law) in &self.rows {
            sum += j * law.impulse(&Vector1::new(j.dot(v) + bias)).x;
        }
        sum
    }

    pub(super) fn gradient(&self, v: &DVector<f64>) -> DVector<f64> {
        &self.a * v - &self.b - self.constraint_impulse(v)
    }

    pub(super) fn hessian(&self, v: &DVector<f64>) -> DMatrix<f64> {
        let mut h = self.a.clone();
        for (j, bias, law) in &self.contacts {
            h += j.tr_mul(&(law.hessian(&(j * v + bias)) * j));
        }
        for (j, bias, law) in &self.rows {
            h += j * j.transpose() * law.hessian(&Vector1::new(j.dot(v) + bias)).x;
        }
        h
    }

    /// ‖D∇ℓ‖ and max(‖DAv‖, ‖DJᵀγ‖), D = diag(A)^(−1/2).
    pub(super) fn residual(&self, v: &DVector<f64>) -> (f64, f64) {
        let d = self.a.diagonal().map(|a| 1.0 / a.sqrt());
        let scaled = |x: DVector<f64>| x.component_mul(&d).norm();
        let scale = scaled(&self.a * v).max(scaled(self.constraint_impulse(v)));
        (scaled(self.gradient(v)), scale)
    }

    /// The minimiser to round-off: Newton, with bisection on the slope along each direction.
    pub(super) fn minimise(&self) -> Result<DVector<f64>, Violation> {
        let not_definite = || Violation("the Hessian of a built-in problem is indefinite".into());
        let mut v = self
            .a
            .clone()
            .cholesky()
            .ok_or_else(not_definite)?
            .solve(&self.b);
        for _ in 0..500 {
            let (residual, scale) = self.residual(&v);
            if residual <= 1e-13 * scale {
                break;
            }
            let h = self.hessian(&v).cholesky().ok_or_else(not_definite)?;
            let step = -h.solve(&self.gradient(&v));
            let slope = |alpha: f64| self.gradient(&(&v + &step * alpha)).dot(&step);
            let (mut low, mut high) = (0.0, 1.0);
            if slope(high) > 0.0 {
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if slope(middle) > 0.0 {
                        high = middle
                    } else {
                        low = middle
                    }
                }
            } else {
                low = 1.0;
            }
            if low == 0.0 {
                break; // round-off
            }
            v += step * low;
        }
        let (residual, scale) = self.residual(&v);
        promise(residual <= 1e-10 * scale, || {
            format!("the reference minimiser stopped at a residual of {residual:e} of {scale:e}")
        })?;
        Ok(v)
    }
}

/// The minimiser of a contact problem to round-off, by dense matrices and a plain Newton method: slow, for a few hundred
/// velocities at most, and of one mind with no solver.
///
/// # Errors
/// If round-off ends it early.
pub fn minimiser(problem: &ContactProblem<'_>) -> Result<Vec<f64>, Violation> {
    let v = DenseProblem::new(problem).minimise()?;
    Ok(v.as_slice().to_vec())
}

/// ‖D∇ℓ‖ at `v`, and max(‖DAv‖, ‖DJᵀγ‖) to compare it with, D = diag(A)^(−1/2): what [`StopCriteria`](crate::StopCriteria) are about,
/// by dense matrices and no solver.
#[must_use]
pub fn residual(problem: &ContactProblem<'_>, v: &[f64]) -> (f64, f64) {
    DenseProblem::new(problem).residual(&DVector::from_column_slice(v))
}

/// First velocity of each participant.
fn starts(problem: &ContactProblem<'_>) -> Vec<usize> {
    let mut next = 0;
    let each = problem.dynamics.iter().map(|dynamics| {
        next += dynamics.n_dofs();
        next - dynamics.n_dofs()
    });
    each.collect()
}

/// v_c = Φ(Bv + b) + bias of every contact and row.
fn velocities(
    set: &ConstraintSet,
    starts: &[usize],
    v: &DVector<f64>,
) -> (Vec<Vector3<f64>>, Vec<f64>) {
    let (mut contacts, mut rows) = (Vec::new(), Vec::new());
    for basis in &set.bases {
        let mut u = set.bias[basis.row0..basis.row0 + basis.n_rows].to_vec();
        for (participant, block) in &set.blocks[basis.blocks.clone()] {
            block.add_product(
                &set.block_values,
                &v.as_slice()[starts[participant.0]..],
                &mut u,
            );
        }
        for contact in &set.contacts[basis.contacts.clone()] {
            contacts.push(
                contact
                    .interpolation
                    .velocity(&set.interpolation_values, &u)
                    + contact.bias,
            );
        }
        for row in &set.rows[basis.rows.clone()] {
            rows.push(row.interpolation.velocity(&set.interpolation_values, &u));
        }
    }
    (contacts, rows)
}
