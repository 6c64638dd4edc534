//! Projected Gauss-Seidel, contact by contact: each takes the impulse that its law has with all other impulses held
//! ([`ContactLaw::local_impulse`](pliant_contact_sap::ContactLaw::local_impulse)).
//!
//! The error is estimated by the change of a sweep relative to the impulses, both in the norm √(γᵀWγ) of the motion that they cause, and by the ratio of
//! the change to that of the sweep before. Loads that pass from particle to particle of a cell cause no motion, and take hundreds of sweeps to settle. Where friction
//! sticks, the gradient of the primal cost is of no use: it is the error of the velocities times the stiffness of friction.
//!
//! With fixed bounds of friction every update lowers a strictly convex function, so the sweeps converge on every problem, slowly where many
//! particles touch a light body. Newton's method continues after [`SWEEPS_MAX`] sweeps. The order is that of the contacts.
//!
//! Bounds by Coulomb's law are those of the [same update](super::friction_bounds). Where curved surfaces meet strong friction these sweeps cycle. From sweep
//! k0 = [`FULL_SWEEPS`] on a bound therefore takes the share k0/k of its change, as in the averaged iterations of Mann. Dough between jaws with μ = 10.5 then
//! needs 8 sweeps a substep and at most 784. Without, 16 of 85 steps have unsolved substeps, and Newton's method takes them to 54 iterations on average.

use nalgebra::Vector3;

use super::contact_problem::{ContactProblem, Motion};
use super::friction_bounds::CoulombIteration;
use super::laws::SubstepLaws;
use super::links::RigidLinks;
use super::newton_cg::NewtonCg;
use super::solver::{Limits, Solved, SubstepContactSolver};

/// Sweeps before Newton's method takes over, with fixed bounds of friction.
const SWEEPS_MAX: u32 = 40;
/// The same with bounds by Coulomb's law: Newton's method has to solve a problem for each update of the bounds.
const COULOMB_SWEEPS_MAX: u32 = 900;
/// k0, sweeps whose bounds change in full.
const FULL_SWEEPS: u32 = 20;
/// Bound of the ratio of successive changes from which the error is estimated.
const RATIO_MAX: f64 = 0.95;

/// Workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct GaussSeidel {
    newton: CoulombIteration<NewtonCg>,
    /// Before a sweep.
    before: Motion,
}

impl SubstepContactSolver for GaussSeidel {
    fn solve(
        &mut self,
        problem: &mut ContactProblem,
        links: &mut RigidLinks,
        laws: &dyn SubstepLaws,
        limits: Limits,
    ) -> Solved {
        let Limits {
            tolerance,
            iterations_max,
        } = limits;
        let is_iterated = laws.has_iterated_bound();
        let sweeps_max = match is_iterated {
            true => COULOMB_SWEEPS_MAX,
            false => SWEEPS_MAX,
        };
        let sweeps_max = sweeps_max.min(iterations_max);
        let swept = pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                sweeps(
                    problem,
                    links,
                    laws,
                    tolerance,
                    sweeps_max,
                    &mut self.before,
                )
            },
        );
        let mut solved = swept;
        if !swept.is_converged && swept.iterations < iterations_max {
            let left = Limits {
                iterations_max: iterations_max - swept.iterations,
                ..limits
            };
            solved = self.newton.solve(problem, links, laws, left);
            solved.iterations += swept.iterations;
        }
        // Every contact for itself ends within its cone, also where loads pass from one to another without effect.
        if is_iterated && solved.iterations > FULL_SWEEPS {
            sweep(problem, links, laws, 1.0);
        }
        solved
    }
}

#[inline(always)]
fn sweeps(
    problem: &mut ContactProblem,
    links: &mut RigidLinks,
    laws: &dyn SubstepLaws,
    tolerance: f64,
    sweeps_max: u32,
    before: &mut Motion,
) -> Solved {
    let mut last = f64::INFINITY;
    for iterations in 1..=sweeps_max {
        problem.remember_motion(links, before);
        let share = (f64::from(FULL_SWEEPS) / f64::from(iterations)).min(1.0);
        sweep(problem, links, laws, share);
        let change = problem.motion_since(before, links);
        let size = problem.motion(links);
        // What is left of a geometric series with the ratio of the last two sweeps, or of changes that their share holds back.
        let ratio = (change / last).min(RATIO_MAX);
        let part = share.min(1.0 - ratio);
        if change <= problem.error_bound(tolerance, size) * part {
            return Solved {
                iterations,
                is_converged: true,
            };
        }
        last = change;
    }
    Solved {
        iterations: sweeps_max,
        is_converged: problem.contacts.is_empty(),
    }
}

/// Updates every contact once. Bounds of friction that are iterated take `share` of their change.
#[inline(always)]
pub(super) fn sweep(
    problem: &mut ContactProblem,
    links: &mut RigidLinks,
    laws: &dyn SubstepLaws,
    share: f64,
) {
    let is_iterated = laws.has_iterated_bound();
    for c in 0..problem.contacts.len() {
        let contact = &problem.contacts[c];
        let v_c = problem.relative_velocity(contact, links);
        let state = &mut problem.states[c];
        let impulse = match is_iterated {
            true => state.local_coulomb_impulse(contact, laws, &v_c, share),
            false => state.local_impulse(&v_c),
        };
        let change = impulse - state.impulse;
        if change != Vector3::zeros() {
            state.impulse = impulse;
            problem.add_impulse(c, &change, links);
        }
    }
}
