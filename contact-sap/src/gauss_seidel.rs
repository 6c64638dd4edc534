//! Projected Gauss-Seidel: one constraint after the other, each solved alone for its impulse.

use std::ops::Range;
use std::time::Instant;

use nalgebra::{Matrix1, Matrix3, SMatrix, SVector, Vector1, Vector3};

use crate::dynamics::Assembled;
use crate::error::SolveError;
use crate::evaluation::Evaluation;
use crate::hessian::Hessian;
use crate::island::{IslandBasis, IslandProblem, Member};
use crate::islands::{IslandAnswer, IslandReport, IslandSolver, Islands};
use crate::line_search::LineSearch;
use crate::newton::exact_hessian_solve;
use crate::potential::Potential;
use crate::problem::ContactProblem;
use crate::progress::{Progress, Rate, Verdict};
use crate::small_cholesky::{cholesky_in_place, solve_lower, solve_lower_transposed};
use crate::solver::{ConvexContactSolver, Solution, SolveReport, StopCriteria};

/// Settings of [`GaussSeidel`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GaussSeidelSettings {
    /// When to stop; an iteration is one sweep over all constraints.
    pub stop: StopCriteria,
}

/// Projected Gauss-Seidel on the impulses of the same convex problem: the baseline that most engines use.
///
/// A sweep visits each constraint, solves v_c = v̂ + W γ(v_c) for its impulse with all others held, and passes the change on
/// to the bodies: coordinate ascent on the dual problem, which needs no Hessian. The velocities follow by an exact line
/// search towards A⁻¹(b + Jᵀγ), so their cost never rises. Many sweeps are needed where loads pass through many bodies or
/// through light to heavy ones. Needs every A assembled.
pub struct GaussSeidel {
    islands: Islands<GaussSeidelMethod>,
}

impl GaussSeidel {
    /// A solver with the given settings.
    #[must_use]
    pub fn new(settings: GaussSeidelSettings) -> Self {
        Self {
            islands: Islands::new(GaussSeidelMethod { settings }),
        }
    }
}

impl Default for GaussSeidel {
    fn default() -> Self {
        Self::new(GaussSeidelSettings::default())
    }
}

impl ConvexContactSolver for GaussSeidel {
    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        self.islands.solve(problem, guess, out)
    }

    fn hessian_solve(
        &mut self,
        problem: &ContactProblem<'_>,
        at: &Solution,
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        self.islands.hessian_solve(problem, at, x)
    }
}

struct GaussSeidelMethod {
    settings: GaussSeidelSettings,
}

#[derive(Default)]
struct GaussSeidelWorkspace {
    evaluation: Evaluation,
    hessian: Hessian,
    dual: Dual,
}

const NAME: &str = "gauss-seidel";

impl IslandSolver for GaussSeidelMethod {
    type Workspace = GaussSeidelWorkspace;

    fn solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut GaussSeidelWorkspace,
        answer: &mut IslandAnswer,
    ) -> Result<(), SolveError> {
        let GaussSeidelWorkspace {
            evaluation: e,
            hessian,
            dual,
        } = workspace;
        let mut report = IslandReport::default();
        let stages = &mut report.stages;
        let clock = Instant::now();
        e.begin(p);
        e.v.copy_from_slice(&answer.velocity);
        let mut progress = Progress::begin(
            &self.settings.stop,
            Rate::Linear,
            &mut answer.residual_history,
        );
        let mut started = false;
        stages.set_up += clock.elapsed();
        loop {
            let clock = Instant::now();
            let residual = e.update(p);
            let verdict = progress.judge(p, e, residual)?;
            stages.gradient += clock.elapsed();
            if let Verdict::Stop(reason) = verdict {
                report.stop = reason;
                break;
            }

            let clock = Instant::now();
            if !started {
                dual.begin(p, e, hessian)?;
                report.factorisations += 1;
                started = true;
            }
            stages.assembly += clock.elapsed();

            let clock = Instant::now();
            dual.sweep(p, e, hessian)?;
            stages.linear_solve += clock.elapsed();

            let clock = Instant::now();
            for ((dv, target), v) in e.dv.iter_mut().zip(&dual.v).zip(&e.v) {
                *dv = target - v;
            }
            let quadratic = e.begin_direction(p);
            report.line_search_evaluations +=
                progress.advance_or_stay(p, e, quadratic, &LineSearch::default());
            stages.line_search += clock.elapsed();
        }
        progress.finish(p, e, &mut report);
        answer.take(e, report);
        Ok(())
    }

    fn hessian_solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut GaussSeidelWorkspace,
        velocity: &[f64],
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        let GaussSeidelWorkspace {
            evaluation,
            hessian,
            ..
        } = workspace;
        exact_hessian_solve(p, evaluation, hessian, NAME, velocity, x)
    }
}

/// Impulses and the velocities A⁻¹(b + Jᵀγ) that belong to them.
#[derive(Default)]
struct Dual {
    gamma: Vec<Vector3<f64>>,
    sigma: Vec<f64>,
    v: Vec<f64>,
    /// First value of each member's factor.
    factor_starts: Vec<usize>,
    /// Cholesky factors of dense members.
    factors: Vec<f64>,
    /// Z = A⁻¹Bᵀ of each basis: r columns over the velocities of its members.
    responses: Vec<f64>,
    reaches: Vec<Reach>,
    /// Members of all reaches, by their place in the island.
    reached: Vec<usize>,
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

/// The members that a basis moves, and where its response is: r columns over their velocities, one after the other.
#[derive(Clone, Debug)]
struct Reach {
    members: Range<usize>,
    n_dofs: usize,
    response: usize,
}

impl Dual {
    /// Factors A and lays out responses and inertias; impulses start at those of the guess.
    fn begin(
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
            // The factor of A alone, through the Hessian without any aggregate.
            hessian.begin(p, NAME)?;
            e.active.fill(false);
            hessian.assemble(p, e, 0.0);
            hessian
                .factor()
                .map_err(|failed| SolveError::HessianNotPositiveDefinite {
                    participant: island.members[0].participant,
                    row: failed.dof,
                })?;
        }
        self.gamma.clone_from(&e.gamma);
        self.sigma.clone_from(&e.sigma);
        self.v.resize(island.n_dofs, 0.0);
        self.column.resize(island.n_dofs, 0.0);
        self.inertia.resize(island.n_aggregate_values, 0.0);
        self.w.resize(island.n_contacts, Matrix3::zeros());
        self.w_s.resize(island.n_scalars, 0.0);
        self.responses.clear();
        self.reaches.clear();
        self.reached.clear();
        for basis in &island.bases {
            self.respond(p, basis, hessian);
        }
        Ok(())
    }

    /// Z, M and W of one basis.
    fn respond(&mut self, p: &IslandProblem<'_>, basis: &IslandBasis, hessian: &mut Hessian) {
        let set = p.set();
        let r = basis.n_rows;
        let pieces = &p.island.pieces[basis.pieces.clone()];
        let first = self.reached.len();
        let mut n_dofs = 0;
        for (m, member) in p.island.members.iter().enumerate() {
            if pieces
                .iter()
                .any(|piece| member.dofs().contains(&piece.dof))
            {
                self.reached.push(m);
                n_dofs += member.n_dofs;
            }
        }
        let members = first..self.reached.len();
        self.reaches.push(Reach {
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
            for &m in &self.reached[members.clone()] {
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
                    .lever
                    .add_transposed(&set.lever_values, &unit, &mut self.f);
                self.u.fill(0.0);
                add_matrix_product(m, &self.f, &mut self.u);
                w.set_column(j, &contact.lever.velocity(&set.lever_values, &self.u));
            }
        }
        let rows = set.rows[basis.scalars.clone()].iter();
        for (row, w) in rows.zip(&mut self.w_s[basis.first_scalar..]) {
            self.f.fill(0.0);
            row.lever
                .add_transposed(&set.lever_values, 1.0, &mut self.f);
            self.u.fill(0.0);
            add_matrix_product(m, &self.f, &mut self.u);
            *w = row.lever.velocity(&set.lever_values, &self.u);
        }
    }

    /// x ← A⁻¹x.
    fn solve(&self, p: &IslandProblem<'_>, hessian: &mut Hessian, x: &mut [f64]) {
        let dense = |m: &Member| matches!(p.dynamics(m).assembled(), Some(Assembled::Dense(_)));
        let touched = |m: &Member| x[m.dofs()].iter().any(|x| *x != 0.0);
        if p.island.members.iter().any(|m| !dense(m) && touched(m)) {
            hessian.solve(x);
            return;
        }
        for (member, start) in p.island.members.iter().zip(&self.factor_starts) {
            if dense(member) {
                let n = member.n_dofs;
                let factor = &self.factors[*start..*start + n * n];
                solve_lower(factor, n, &mut x[member.dofs()]);
                solve_lower_transposed(factor, n, &mut x[member.dofs()]);
            }
        }
    }

    /// One sweep over all constraints.
    fn sweep(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        hessian: &mut Hessian,
    ) -> Result<(), SolveError> {
        let set = p.set();
        // v = A⁻¹(b + Jᵀγ), afresh: increments would gather round-off.
        let mut v = std::mem::take(&mut self.v);
        v.copy_from_slice(&e.b);
        for basis in &p.island.bases {
            self.f.resize(basis.n_rows, 0.0);
            self.f.fill(0.0);
            let contacts = set.contacts[basis.contacts.clone()].iter();
            for (contact, gamma) in contacts.zip(&self.gamma[basis.first_contact..]) {
                contact
                    .lever
                    .add_transposed(&set.lever_values, gamma, &mut self.f);
            }
            let rows = set.rows[basis.scalars.clone()].iter();
            for (row, sigma) in rows.zip(&self.sigma[basis.first_scalar..]) {
                row.lever
                    .add_transposed(&set.lever_values, *sigma, &mut self.f);
            }
            for piece in &p.island.pieces[basis.pieces.clone()] {
                piece.add_transposed_product(set, &self.f, &mut v);
            }
        }
        self.solve(p, hessian, &mut v);
        self.v = v;
        for k in 0..p.island.bases.len() {
            self.visit(p, k);
        }
        Ok(())
    }

    /// Solves the constraints of one basis in turn.
    fn visit(&mut self, p: &IslandProblem<'_>, k: usize) {
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
        // Σ Φᵀ Δγ of the basis, and that of one constraint.
        self.f.resize(r, 0.0);
        self.f.fill(0.0);
        self.local.resize(r, 0.0);
        let local = &mut self.local;
        for (k, contact) in set.contacts[basis.contacts.clone()].iter().enumerate() {
            let i = basis.first_contact + k;
            let v_c = contact.lever.velocity(&set.lever_values, &self.u) + contact.bias;
            let next = solve_alone(&contact.law, &self.w[i], &v_c, &self.gamma[i]);
            let delta = next - self.gamma[i];
            self.gamma[i] = next;
            if delta != Vector3::zeros() {
                local.fill(0.0);
                contact
                    .lever
                    .add_transposed(&set.lever_values, &delta, local);
                add_matrix_product(m, local, &mut self.u);
                self.f.iter_mut().zip(&*local).for_each(|(f, d)| *f += d);
            }
        }
        for (k, row) in set.rows[basis.scalars.clone()].iter().enumerate() {
            let i = basis.first_scalar + k;
            let v_s = row.lever.velocity(&set.lever_values, &self.u);
            let (w, last) = (Matrix1::new(self.w_s[i]), Vector1::new(self.sigma[i]));
            let next = solve_alone(&row.law, &w, &Vector1::new(v_s), &last).x;
            let delta = next - self.sigma[i];
            self.sigma[i] = next;
            if delta != 0.0 {
                local.fill(0.0);
                row.lever.add_transposed(&set.lever_values, delta, local);
                add_matrix_product(m, local, &mut self.u);
                self.f.iter_mut().zip(&*local).for_each(|(f, d)| *f += d);
            }
        }
        let reach = &self.reaches[k];
        let responses = self.responses[reach.response..].chunks_exact(reach.n_dofs.max(1));
        for (z, f) in responses.zip(&self.f) {
            let mut z = z;
            for &m in &self.reached[reach.members.clone()] {
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

/// The impulse x of a constraint solved alone: x = γ(v̂ + W x), from v_c = v̂ + W `last`.
///
/// It minimises ½xᵀWx + ℓ(v̂ + Wx); Newton's step is (I + G W)Δx = γ − x, shortened until that falls.
fn solve_alone<const M: usize>(
    law: &impl Potential<M>,
    w: &SMatrix<f64, M, M>,
    v_c: &SVector<f64, M>,
    last: &SVector<f64, M>,
) -> SVector<f64, M> {
    let v_hat = v_c - w * last;
    let merit = |x: &SVector<f64, M>| {
        let w_x = w * x;
        0.5 * x.dot(&w_x) + law.cost(&(v_hat + w_x))
    };
    let mut x = *last;
    let mut value = merit(&x);
    // Newton needs a handful; a constraint left unfinished is finished in the next sweep.
    for _ in 0..50 {
        let v = v_hat + w * x;
        let gap = law.impulse(&v) - x;
        if gap.norm() <= 1e-12 * x.norm() {
            break;
        }
        let system = SMatrix::<f64, M, M>::identity() + law.hessian(&v) * w;
        let Some(step) = eliminate(system, gap) else {
            break;
        };
        let slope = -gap.dot(&(w * step));
        if slope >= 0.0 {
            break;
        }
        let mut alpha = 1.0;
        let mut next = merit(&(x + step));
        while next > value + 1e-4 * alpha * slope && alpha > 1e-10 {
            alpha *= 0.5;
            next = merit(&(x + step * alpha));
        }
        if next > value {
            break;
        }
        x += step * alpha;
        value = next;
    }
    x
}

/// x of A x = b by elimination with row pivoting; `None` if A is singular.
fn eliminate<const M: usize>(
    mut a: SMatrix<f64, M, M>,
    mut b: SVector<f64, M>,
) -> Option<SVector<f64, M>> {
    for j in 0..M {
        let pivot = (j..M).max_by(|&p, &q| a[(p, j)].abs().total_cmp(&a[(q, j)].abs()))?;
        if a[(pivot, j)] == 0.0 {
            return None;
        }
        a.swap_rows(j, pivot);
        b.swap_rows(j, pivot);
        for i in j + 1..M {
            let factor = a[(i, j)] / a[(j, j)];
            for k in j + 1..M {
                a[(i, k)] -= factor * a[(j, k)];
            }
            b[i] -= factor * b[j];
        }
    }
    for j in (0..M).rev() {
        for k in j + 1..M {
            b[j] -= a[(j, k)] * b[k];
        }
        b[j] /= a[(j, j)];
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{ContactLaw, ContactParameters, Dissipation, Lagged, Sap, Similar};

    #[test]
    fn a_constraint_alone_is_solved_to_round_off() {
        let w = Matrix3::new(2.0, 0.3, -0.1, 0.3, 1.0, 0.2, -0.1, 0.2, 0.7);
        for (friction, v_t) in [(0.0, 0.3), (0.5, 0.0), (0.5, 1e-4), (2.0, 1.0)] {
            let p = ContactParameters {
                time_step: 1e-2.into(),
                signed_distance: -1e-3,
                start_velocity: 0.0,
                stiffness: 1e9,
                dissipation: Dissipation::HuntCrossley(5.0),
                friction,
                stiction_speed: 1e-4,
                inverse_inertia: w.norm() / 3.0,
                near_rigid: 1.0,
            };
            let n = Vector3::z();
            let laws = [
                ContactLaw::Lagged(Lagged::new(&p, n, 0.2)),
                ContactLaw::Similar(Similar::new(&p, n, 0.2)),
                ContactLaw::Sap(Sap::new(&p, n)),
            ];
            for law in laws {
                let v_c = Vector3::new(v_t, -0.5 * v_t, -1.0);
                let x = solve_alone(&law, &w, &v_c, &Vector3::zeros());
                let gap = law.impulse(&(v_c + w * x)) - x;
                assert!(gap.norm() < 1e-9 * x.norm(), "{law:?}: {gap} {x}");
            }
        }
    }

    #[test]
    fn elimination_pivots() {
        let a = Matrix3::new(0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 2.0, 0.0, -1.0);
        let x = Vector3::new(1.0, -2.0, 3.0);
        let found = eliminate(a, a * x).expect("regular");
        assert!((found - x).norm() < 1e-14);
        assert!(eliminate(Matrix3::zeros(), x).is_none());
    }
}
