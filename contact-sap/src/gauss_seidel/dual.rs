//! The dual problem of Gauss-Seidel: impulses, and the response of the velocities to each of them.

use std::ops::Range;

use nalgebra::{Matrix1, Matrix3, Vector1, Vector3};

use crate::dynamics::Assembled;
use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::hessian::Hessian;
use crate::island::{IslandBasis, IslandProblem, Member};
use crate::local_solve::local_solve;
use crate::small_cholesky::{self, cholesky_in_place};

/// Name of the method.
pub(crate) const GAUSS_SEIDEL: &str = "gauss-seidel";

/// Impulses and their velocities A⁻¹(b + Jᵀγ).
#[derive(Default)]
pub(super) struct Dual {
    gamma: Vec<Vector3<f64>>,
    sigma: Vec<f64>,
    /// A⁻¹(b + Jᵀγ) after the last sweep.
    pub(super) v: Vec<f64>,
    /// First value of each member's factor.
    factor_starts: Vec<usize>,
    /// Cholesky factors of dense members.
    factors: Vec<f64>,
    /// Z = A⁻¹Bᵀ of each basis: r columns over the velocities of its members.
    responses: Vec<f64>,
    supports: Vec<Support>,
    /// Members of all supports, by their index in the island.
    support_members: Vec<usize>,
    /// M = B A⁻¹Bᵀ of each basis, at its aggregate.
    inertia: Vec<f64>,
    /// W = ΦMΦᵀ of each contact and of each scalar row.
    w: Vec<Matrix3<f64>>,
    w_s: Vec<f64>,
    u: Vec<f64>,
    f: Vec<f64>,
    column: Vec<f64>,
    local: Vec<f64>,
}

/// The members that a basis involves, and the offset of its response: r columns over their velocities.
#[derive(Clone, Debug)]
struct Support {
    members: Range<usize>,
    n_dofs: usize,
    response: usize,
}

impl Dual {
    /// Factors A and lays out responses and inertias; impulses start at those of the guess.
    pub(super) fn begin(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        hessian: &mut Hessian,
    ) -> Result<(), SolveError> {
        let island = p.island;
        let mut any_sparse = false;
        self.factors.clear();
        self.factor_starts.clear();
        for member in &island.members {
            self.factor_starts.push(self.factors.len());
            match p.dynamics(member).assembled() {
                Some(Assembled::Dense(a)) => {
                    let start = self.factors.len();
                    self.factors.extend_from_slice(a);
                    cholesky_in_place(&mut self.factors[start..], member.n_dofs).map_err(
                        |pivot| SolveError::NotPositiveDefinite {
                            participant: member.participant,
                            row: pivot.row,
                            pivot: pivot.value,
                        },
                    )?;
                }
                _ => any_sparse = true,
            }
        }
        if any_sparse {
            // The Hessian without aggregates is A.
            Hessian::check(p, GAUSS_SEIDEL)?;
            hessian.begin(p);
            e.active.fill(false);
            hessian.assemble(p, e, 0.0);
            hessian
                .factor()
                .map_err(|failed| island.indefinite_at(failed.dof))?;
        }
        self.gamma.clone_from(&e.gamma);
        self.sigma.clone_from(&e.sigma);
        self.v.resize(island.n_dofs, 0.0);
        self.column.resize(island.n_dofs, 0.0);
        self.inertia.resize(island.n_aggregate_values, 0.0);
        self.w.resize(island.n_contacts, Matrix3::zeros());
        self.w_s.resize(island.n_scalars, 0.0);
        self.responses.clear();
        self.supports.clear();
        self.support_members.clear();
        for basis in &island.bases {
            self.compute_response(p, basis, hessian);
        }
        Ok(())
    }

    /// Z, M and W of one basis.
    fn compute_response(
        &mut self,
        p: &IslandProblem<'_>,
        basis: &IslandBasis,
        hessian: &mut Hessian,
    ) {
        let set = p.set();
        let r = basis.n_rows;
        let pieces = &p.island.pieces[basis.pieces.clone()];
        let first = self.support_members.len();
        let mut n_dofs = 0;
        for (m, member) in p.island.members.iter().enumerate() {
            if pieces
                .iter()
                .any(|piece| member.dofs().contains(&piece.dof))
            {
                self.support_members.push(m);
                n_dofs += member.n_dofs;
            }
        }
        let members = first..self.support_members.len();
        self.supports.push(Support {
            members: members.clone(),
            n_dofs,
            response: self.responses.len(),
        });
        self.f.resize(r, 0.0);
        self.u.resize(r, 0.0);
        for j in 0..r {
            self.f.fill(0.0);
            self.f[j] = 1.0;
            self.column.fill(0.0);
            for piece in pieces {
                piece.add_transposed_product(set, &self.f, &mut self.column);
            }
            let mut column = std::mem::take(&mut self.column);
            self.solve(p, hessian, &mut column);
            self.column = column;
            self.u.fill(0.0);
            for piece in pieces {
                piece.add_product(set, &self.column, &mut self.u);
            }
            self.inertia[basis.aggregate0 + j * r..][..r].copy_from_slice(&self.u);
            for &m in &self.support_members[members.clone()] {
                let dofs = p.island.members[m].dofs();
                self.responses.extend_from_slice(&self.column[dofs]);
            }
        }
        let m = &self.inertia[basis.aggregate0..basis.aggregate0 + r * r];
        let contacts = set.contacts[basis.contacts.clone()].iter();
        for (contact, w) in contacts.zip(&mut self.w[basis.first_contact..]) {
            for j in 0..3 {
                self.f.fill(0.0);
                let unit = Vector3::ith(j, 1.0);
                contact
                    .interpolation
                    .add_transposed(&set.interpolation_values, &unit, &mut self.f);
                self.u.fill(0.0);
                add_matrix_product(m, &self.f, &mut self.u);
                w.set_column(
                    j,
                    &contact
                        .interpolation
                        .velocity(&set.interpolation_values, &self.u),
                );
            }
        }
        let rows = set.rows[basis.scalars.clone()].iter();
        for (row, w) in rows.zip(&mut self.w_s[basis.first_scalar..]) {
            self.f.fill(0.0);
            row.interpolation
                .add_transposed(&set.interpolation_values, 1.0, &mut self.f);
            self.u.fill(0.0);
            add_matrix_product(m, &self.f, &mut self.u);
            *w = row
                .interpolation
                .velocity(&set.interpolation_values, &self.u);
        }
    }

    /// x ← A⁻¹x.
    fn solve(&self, p: &IslandProblem<'_>, hessian: &mut Hessian, x: &mut [f64]) {
        let dense = |m: &Member| matches!(p.dynamics(m).assembled(), Some(Assembled::Dense(_)));
        let is_nonzero = |m: &Member| x[m.dofs()].iter().any(|x| *x != 0.0);
        if p.island.members.iter().any(|m| !dense(m) && is_nonzero(m)) {
            hessian.solve(x);
            return;
        }
        for (member, start) in p.island.members.iter().zip(&self.factor_starts) {
            if dense(member) {
                let n = member.n_dofs;
                let factor = &self.factors[*start..*start + n * n];
                small_cholesky::solve(factor, n, &mut x[member.dofs()]);
            }
        }
    }

    /// One sweep over all constraints.
    pub(super) fn sweep(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        hessian: &mut Hessian,
    ) -> Result<(), SolveError> {
        let set = p.set();
        // v = A⁻¹(b + Jᵀγ) from scratch, as increments accumulate round-off.
        let mut v = std::mem::take(&mut self.v);
        v.copy_from_slice(&e.b);
        for basis in &p.island.bases {
            self.f.resize(basis.n_rows, 0.0);
            self.f.fill(0.0);
            let contacts = set.contacts[basis.contacts.clone()].iter();
            for (contact, gamma) in contacts.zip(&self.gamma[basis.first_contact..]) {
                contact
                    .interpolation
                    .add_transposed(&set.interpolation_values, gamma, &mut self.f);
            }
            let rows = set.rows[basis.scalars.clone()].iter();
            for (row, sigma) in rows.zip(&self.sigma[basis.first_scalar..]) {
                row.interpolation
                    .add_transposed(&set.interpolation_values, *sigma, &mut self.f);
            }
            for piece in &p.island.pieces[basis.pieces.clone()] {
                piece.add_transposed_product(set, &self.f, &mut v);
            }
        }
        self.solve(p, hessian, &mut v);
        self.v = v;
        for k in 0..p.island.bases.len() {
            self.sweep_basis(p, k);
        }
        Ok(())
    }

    /// Solves the constraints of one basis, one after the other.
    fn sweep_basis(&mut self, p: &IslandProblem<'_>, k: usize) {
        let set = p.set();
        let basis = &p.island.bases[k];
        let r = basis.n_rows;
        self.u.resize(r, 0.0);
        self.u
            .copy_from_slice(&set.bias[basis.global_row0..basis.global_row0 + r]);
        for piece in &p.island.pieces[basis.pieces.clone()] {
            piece.add_product(set, &self.v, &mut self.u);
        }
        let m = &self.inertia[basis.aggregate0..basis.aggregate0 + r * r];
        // Σ Φᵀ Δγ of the basis, and Φᵀ Δγ of one constraint.
        self.f.resize(r, 0.0);
        self.f.fill(0.0);
        self.local.resize(r, 0.0);
        let local = &mut self.local;
        for (k, contact) in set.contacts[basis.contacts.clone()].iter().enumerate() {
            let i = basis.first_contact + k;
            let v_c = contact
                .interpolation
                .velocity(&set.interpolation_values, &self.u)
                + contact.bias;
            let next = local_solve(&contact.law, &self.w[i], &v_c, &self.gamma[i]);
            let delta = next - self.gamma[i];
            self.gamma[i] = next;
            if delta != Vector3::zeros() {
                local.fill(0.0);
                contact
                    .interpolation
                    .add_transposed(&set.interpolation_values, &delta, local);
                add_matrix_product(m, local, &mut self.u);
                self.f.iter_mut().zip(&*local).for_each(|(f, d)| *f += d);
            }
        }
        for (k, row) in set.rows[basis.scalars.clone()].iter().enumerate() {
            let i = basis.first_scalar + k;
            let v_s = row
                .interpolation
                .velocity(&set.interpolation_values, &self.u);
            let (w, last) = (Matrix1::new(self.w_s[i]), Vector1::new(self.sigma[i]));
            let next = local_solve(&row.law, &w, &Vector1::new(v_s), &last).x;
            let delta = next - self.sigma[i];
            self.sigma[i] = next;
            if delta != 0.0 {
                local.fill(0.0);
                row.interpolation
                    .add_transposed(&set.interpolation_values, delta, local);
                add_matrix_product(m, local, &mut self.u);
                self.f.iter_mut().zip(&*local).for_each(|(f, d)| *f += d);
            }
        }
        let support = &self.supports[k];
        let responses = self.responses[support.response..].chunks_exact(support.n_dofs.max(1));
        for (z, f) in responses.zip(&self.f) {
            let mut z = z;
            for &m in &self.support_members[support.members.clone()] {
                let member = &p.island.members[m];
                let (own, rest) = z.split_at(member.n_dofs);
                let v = &mut self.v[member.dofs()];
                v.iter_mut().zip(own).for_each(|(v, z)| *v += z * f);
                z = rest;
            }
        }
    }
}

/// y += M x, M column-major.
fn add_matrix_product(m: &[f64], x: &[f64], y: &mut [f64]) {
    for (column, x) in m.chunks_exact(y.len()).zip(x) {
        y.iter_mut().zip(column).for_each(|(y, m)| *y += m * x);
    }
}
