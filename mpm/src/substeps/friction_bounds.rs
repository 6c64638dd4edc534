//! Coulomb's law in a substep: the friction bound μ n0 of every contact has n0 = γ_n, the normal impulse of the same solution.
//!
//! No convex problem has this solution, since friction follows the load and the load does not follow friction. With fixed bounds it is
//! one, with the normal impulses γ_n(n0), and Coulomb's law asks for the fixed point n0 = γ_n(n0). Two ways lead there:
//!
//! - [`GaussSeidel`](super::gauss_seidel) updates a contact with the bound of the normal impulse that the same update finds.
//! - [`CoulombIteration`] solves the convex problem again with n0 ← n0 + s (γ_n − n0), s = 1 while the error
//!   falls to half each time, and otherwise by Aitken's rule. The first bounds are those of a sweep.
//!
//! Why they converge. W_nt, the response of normal velocities to friction, is zero between contacts with parallel normals whose links do not
//! turn: there γ_n does not depend on n0, one update ends the iteration, and the sweeps are those of a convex normal problem with, behind
//! it, a convex problem of friction whose bounds converge. In general γ_n(n0) is Lipschitz: with R the compliance of the normal laws,
//!
//! ```text
//! |γ_n(a) − γ_n(b)|_N ≤ |W_nt (γ_t(a) − γ_t(b))|_N⁻¹,    N = W_nn + R        |γ_t(a) − γ_t(b)|_W ≤ c μ |a − b|
//! ```
//!
//! so that a small μ W_nt makes it a contraction. Where it is none, the iteration ends with an error, and the substep is not solved. On a curved
//! surface W_nt is of the order of the angle between normals within two cells.
//!
//! Source: Haslinger (1983), "Approximation of the Signorini problem with friction, obeying the Coulomb law", for the fixed point; Jourdan, Alart, Jean
//! (1998), "A Gauss-Seidel like algorithm to solve frictional contact problems", for the sweeps.

use nalgebra::{DVector, Vector3};
use pliant_contact_sap::ContactLaw;

use super::contact_problem::{Contact, ContactProblem, ContactState};
use super::gauss_seidel::sweep;
use super::laws::SubstepLaws;
use super::links::RigidLinks;
use super::solver::{ConvexSolver, Limits, Solved, SubstepContactSolver};

/// Updates of the bounds.
const UPDATES_MAX: u32 = 60;
/// The error after an update, relative to that before, up to which the next share is one. Loads that pass from particle to particle without effect are
/// noise in the residuals, which Aitken's rule must not follow where the iteration converges anyway.
const FAST: f64 = 0.5;
/// Bounds of the share s of an update: below, for loads that grow as friction falls, and above, for loads that follow it slowly.
const SHARES: std::ops::RangeInclusive<f64> = 0.05..=3.0;

/// Relative error of an impulse that is round-off, in f32 on a device.
const ROUND_OFF: f64 = 1e-6;

/// Convex solves of `S`, each with the normal impulses of the last one in the friction bounds.
#[derive(Clone, Debug, Default)]
pub(super) struct CoulombIteration<S> {
    convex: S,
    /// γ_n − n0 of each contact before the last update, N·s.
    residuals: Vec<f64>,
}

impl<S: ConvexSolver> SubstepContactSolver for CoulombIteration<S> {
    fn solve(
        &mut self,
        problem: &mut ContactProblem,
        links: &mut RigidLinks,
        laws: &dyn SubstepLaws,
        limits: Limits,
    ) -> Solved {
        if !laws.has_iterated_bound() {
            return self.convex.minimise(problem, links, limits);
        }
        let (mut iterations, mut share, mut last) = (1, 1.0, f64::INFINITY);
        // Bounds far from the loads make a problem harder than the last one is: those of the last substep hold a body that leaves by friction without a load.
        sweep(problem, links, laws, 1.0);
        self.residuals.clear();
        for _ in 0..UPDATES_MAX {
            let left = Limits {
                iterations_max: limits.iterations_max.saturating_sub(iterations),
                ..limits
            };
            let solved = self.convex.minimise(problem, links, left);
            iterations += solved.iterations;
            let Friction { error, bound } = problem.friction_error(links, limits.tolerance);
            if !solved.is_converged || error <= bound {
                return Solved {
                    iterations,
                    ..solved
                };
            }
            let by_aitken = self.next_share(problem, share);
            share = match error <= FAST * last {
                true => 1.0,
                false => by_aitken,
            };
            last = error;
            problem.update_bounds(laws, share);
        }
        Solved {
            iterations,
            is_converged: false,
        }
    }
}

impl<S> CoulombIteration<S> {
    /// The share of the next update by Aitken's rule, −s r·(r' − r)/|r' − r|² with r and r' the residuals before and after the last one; keeps r'.
    fn next_share(&mut self, problem: &ContactProblem, share: f64) -> f64 {
        let contacts = problem.contacts.iter().zip(&problem.states);
        let residuals = contacts.map(|(c, state)| state.load(c) - state.normal_impulse);
        let residuals: Vec<f64> = residuals.collect();
        let (mut along, mut square) = (0.0, 0.0);
        for (state, (r, before)) in
            (problem.states.iter()).zip(residuals.iter().zip(&self.residuals))
        {
            let change = r - before;
            along += state.response * before * change;
            square += state.response * change * change;
        }
        self.residuals = residuals;
        match square > 0.0 {
            true => (-share * along / square).clamp(*SHARES.start(), *SHARES.end()),
            false => 1.0,
        }
    }
}

/// By how much the friction of a solution is off, in the norm √(γᵀWγ) of the velocities that impulses cause.
struct Friction {
    error: f64,
    /// The error that makes no difference.
    bound: f64,
}

impl ContactProblem {
    /// Of the present impulses, with the bounds that they call for: loads that only pass from particle to particle make no difference.
    fn friction_error(&self, links: &RigidLinks, tolerance: f64) -> Friction {
        let each = self.contacts.iter().zip(&self.states);
        let errors = each.map(|(contact, state)| {
            let change = state.load(contact) - state.normal_impulse;
            state.friction_at_bound(contact) * change
        });
        let errors: Vec<Vector3<f64>> = errors.collect();
        Friction {
            error: self.velocity_norm(&errors, links),
            bound: self.error_bound(tolerance, self.motion(links)),
        }
    }

    /// √(γᵀWγ) of impulses, one for each contact.
    pub(super) fn velocity_norm(&self, impulses: &[Vector3<f64>], links: &RigidLinks) -> f64 {
        let mut nodes = vec![Vector3::zeros(); self.nodes.len()];
        let root = links.response_root();
        let mut wrenches = DVector::zeros(root.nrows());
        for (contact, impulse) in self.contacts.iter().zip(impulses) {
            contact.scatter(impulse, &mut nodes, &mut wrenches);
        }
        let each = self.nodes.iter().zip(&nodes);
        let of_nodes: f64 = each
            .map(|(node, j)| node.inverse_mass.dot(&j.component_mul(j)))
            .sum();
        (of_nodes + root.tr_mul(&wrenches).norm_squared()).sqrt()
    }

    fn update_bounds(&mut self, laws: &dyn SubstepLaws, share: f64) {
        for (contact, state) in self.contacts.iter().zip(&mut self.states) {
            state.update_bound(contact, laws, share);
        }
    }
}

impl ContactState {
    /// γ_n, N·s.
    pub(super) fn load(&self, contact: &Contact) -> f64 {
        contact.normal.dot(&self.impulse).max(0.0)
    }

    /// γ_t/n0 of the present impulse, no longer than μ; where n0 was zero, μ against nothing.
    fn friction_at_bound(&self, contact: &Contact) -> Vector3<f64> {
        let friction = self.impulse - contact.normal * contact.normal.dot(&self.impulse);
        let mu = self.parameters.friction;
        match self.normal_impulse > 0.0 {
            true => (friction / self.normal_impulse).cap_magnitude(mu),
            false => mu * any_tangent(&contact.normal),
        }
    }

    /// The impulse with all others held, at the relative velocity `v_c`.
    #[inline(always)]
    pub(super) fn local_impulse(&self, v_c: &Vector3<f64>) -> Vector3<f64> {
        self.law.local_impulse(self.response, v_c, &self.impulse)
    }

    /// The same by Coulomb's law: the bound becomes μ times the new normal impulse. It becomes that of the last update where the law is not the lagged one, and
    /// nears it by `share` where this is below one.
    #[inline(always)]
    pub(super) fn local_coulomb_impulse(
        &mut self,
        contact: &Contact,
        laws: &dyn SubstepLaws,
        v_c: &Vector3<f64>,
        share: f64,
    ) -> Vector3<f64> {
        match &mut self.law {
            ContactLaw::Lagged(law) if share == 1.0 => {
                let impulse = law.local_coulomb_impulse(self.response, v_c, &self.impulse);
                self.normal_impulse = contact.normal.dot(&impulse);
                impulse
            }
            _ => {
                self.update_bound(contact, laws, share);
                self.local_impulse(v_c)
            }
        }
    }

    /// n0 ← n0 + s (γ_n − n0).
    #[inline(always)]
    fn update_bound(&mut self, contact: &Contact, laws: &dyn SubstepLaws, share: f64) {
        let change = self.load(contact) - self.normal_impulse;
        self.normal_impulse = f64::max(self.normal_impulse + share * change, 0.0);
        self.law = laws.law(&self.parameters, contact.normal, self.normal_impulse);
    }

    /// (|γ_t|, its excess over μ γ_n beyond round-off), N·s.
    pub(super) fn friction(&self, contact: &Contact) -> (f64, f64) {
        let load = contact.normal.dot(&self.impulse);
        let friction = (self.impulse - contact.normal * load).norm();
        let limit = self.parameters.friction * load + ROUND_OFF * self.impulse.norm();
        (friction, (friction - limit).max(0.0))
    }
}

/// A unit vector across `normal`.
fn any_tangent(normal: &Vector3<f64>) -> Vector3<f64> {
    let axis = Vector3::ith(normal.iamin(), 1.0);
    normal.cross(&axis).normalize()
}
