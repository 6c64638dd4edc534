//! Newton's method with conjugate gradients, for tight tolerances and for light bodies in contact with many particles.
//!
//! Velocities of the links are V = V* + C z with C Cᵀ = Λ, so that prescribed links need no special case. The Hessian of nodes and links is
//! an arrow,
//!
//! ```text
//! H = [ M + JᵀGJ    B            ]      B = −JᵀG J_r C
//!     [ Bᵀ          I + CᵀJ_rᵀG J_r C ]
//! ```
//!
//! and the [arrow](super::arrow) of its upper bound its preconditioner. Steps are the minimum along the direction.
//!
//! The error is estimated by Newton's decrement, √(∇ᵀH⁻¹∇), relative to the impulses in the norm √(Σ w |γ|²). Impulses are those of the
//! linearised laws, so that momentum is exact up to the residual of the conjugate gradients, and exact after velocities are computed from
//! the impulses once more at the end.

use nalgebra::{DVector, Matrix3, Vector3};
use pliant_contact_sap::{ContactLaw, Potential};

use super::arrow::Arrow;
use super::contact_problem::ContactProblem;
use super::links::RigidLinks;
use super::primal::{Point, Primal, weighted_norm};
use super::solver::{ConvexSolver, Limits, Solved};

/// Residual at which a direction is good enough, relative to the gradient.
const FORCING: f64 = 0.1;
/// Conjugate-gradient iterations of one direction.
const INNER_MAX: usize = 100;

/// Workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct NewtonCg {
    primal: Primal,
    /// G of each contact.
    tangents: Vec<Matrix3<f64>>,
    /// γ of each contact.
    impulses: Vec<Vector3<f64>>,
    /// Dual estimate of the direction of slip, |y| ≤ 1.
    slip: Vec<Vector3<f64>>,
    arrow: Arrow,
}

impl ConvexSolver for NewtonCg {
    fn minimise(
        &mut self,
        problem: &mut ContactProblem,
        links: &mut RigidLinks,
        limits: Limits,
    ) -> Solved {
        let Limits {
            tolerance,
            iterations_max,
        } = limits;
        let mut iterations = 0;
        let root = links.response_root().clone();
        let mut z = root.tr_mul(links.substep_impulses());
        self.start(problem);
        let mut is_converged = false;
        while iterations < iterations_max && !is_converged {
            let gradient = self.primal.gradient(problem, links, &root, &z);
            let norm = weighted_norm(problem, &gradient);
            let size = problem.impulse_norm(&self.impulses);
            if norm <= f64::EPSILON * size {
                is_converged = true;
                break;
            }
            self.find_tangents(problem);
            if !self.arrow.update(problem, links, &self.tangents) {
                break;
            }
            let target = (FORCING * norm)
                .min(size.max(norm))
                .max(0.1 * problem.error_bound(tolerance, size));
            let direction = self.direction(problem, links, &gradient, target, &mut iterations);
            let decrement = (-gradient.dot(&direction)).max(0.0).sqrt();
            self.primal.write_change(problem, links, &root, &direction);
            let alpha = self.primal.line_search(problem, &z, &direction);
            self.update_impulses(problem, alpha);
            self.update_slip(problem, alpha);
            problem.add_velocities(alpha, &direction.nodes);
            z.axpy(alpha, &direction.links, 1.0);
            links.set_change(&(&root * &z));
            let size = problem.impulse_norm(&self.impulses);
            is_converged = decrement <= problem.error_bound(tolerance, size);
            if alpha == 0.0 {
                break;
            }
        }
        problem.restart(links);
        problem.set_impulses(&self.impulses, links);
        Solved {
            iterations,
            is_converged,
        }
    }
}

impl NewtonCg {
    /// Takes the impulses of the problem for the first estimates.
    fn start(&mut self, problem: &ContactProblem) {
        self.impulses.clear();
        self.impulses
            .extend(problem.states.iter().map(|state| state.impulse));
        self.slip.clear();
        self.slip
            .extend(problem.states.iter().map(|state| match &state.law {
                ContactLaw::Lagged(law) => law.slip_estimate(&state.impulse),
                _ => Vector3::zeros(),
            }));
    }

    /// γ ← γ + α (γ(v_c) − G Δv_c − γ): with it, v = v* + M⁻¹Jᵀγ holds after the step as it did before.
    fn update_impulses(&mut self, problem: &ContactProblem, alpha: f64) {
        for (c, state) in problem.states.iter().enumerate() {
            let linearised = state.law.impulse(&self.primal.relative[c])
                - self.tangents[c] * self.primal.change[c];
            let impulse = &mut self.impulses[c];
            *impulse += (linearised - *impulse) * alpha;
        }
    }

    /// Finds G of every contact, for the lagged model with the primal-dual tangent of friction.
    fn find_tangents(&mut self, problem: &ContactProblem) {
        self.tangents.clear();
        let velocities = self.primal.relative.iter().zip(&self.slip);
        let each = problem.states.iter().zip(velocities);
        self.tangents
            .extend(each.map(|(state, (v_c, y))| match &state.law {
                ContactLaw::Lagged(law) => law.primal_dual_hessian(v_c, y),
                law => law.hessian(v_c),
            }));
    }

    /// Preconditioned conjugate gradients for −H⁻¹∇, until the preconditioned residual is small against `target`.
    fn direction(
        &mut self,
        problem: &ContactProblem,
        links: &RigidLinks,
        gradient: &Point,
        target: f64,
        iterations: &mut u32,
    ) -> Point {
        let mut x = Point::zeros(gradient.nodes.len(), gradient.links.len());
        let mut r = x.clone();
        r.combine(0.0, -1.0, gradient);
        let mut z = self.arrow.solve(links, &r);
        let mut rho = r.dot(&z);
        let mut p = z.clone();
        for _ in 0..INNER_MAX {
            *iterations += 1;
            let h_p = self.apply(problem, links, &p);
            let curvature = p.dot(&h_p);
            if !(curvature > 0.0) {
                break;
            }
            let alpha = rho / curvature;
            x.combine(1.0, alpha, &p);
            r.combine(1.0, -alpha, &h_p);
            if weighted_norm(problem, &r) <= target {
                break;
            }
            z = self.arrow.solve(links, &r);
            let next = r.dot(&z);
            p.combine(next / rho, 1.0, &z);
            rho = next;
        }
        x
    }

    /// H p.
    fn apply(&mut self, problem: &ContactProblem, links: &RigidLinks, p: &Point) -> Point {
        let root = links.response_root();
        self.primal.write_change(problem, links, root, p);
        let mut out = Point::zeros(p.nodes.len(), p.links.len());
        let mut wrenches = DVector::zeros(root.nrows());
        for ((contact, g), dv) in problem
            .contacts
            .iter()
            .zip(&self.tangents)
            .zip(&self.primal.change)
        {
            contact.scatter(&(g * dv), &mut out.nodes, &mut wrenches);
        }
        for ((node, out), p) in problem.nodes.iter().zip(&mut out.nodes).zip(&p.nodes) {
            for k in 0..3 {
                let inverse = node.inverse_mass[k];
                out[k] = if inverse > 0.0 {
                    out[k] + p[k] / inverse
                } else {
                    0.0
                };
            }
        }
        out.links = &p.links + root.tr_mul(&wrenches);
        out
    }

    /// Moves the dual estimates of slip on.
    fn update_slip(&mut self, problem: &ContactProblem, alpha: f64) {
        let velocities = self.primal.relative.iter().zip(&self.primal.change);
        let each = problem.states.iter().zip(velocities);
        for ((state, (v_c, dv)), y) in each.zip(&mut self.slip) {
            if let ContactLaw::Lagged(law) = &state.law {
                *y = law.next_slip_estimate(v_c, &(dv * alpha), y);
            }
        }
    }
}
