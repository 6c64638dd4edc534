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
//! and its preconditioner the arrow with the block diagonal D ≥ M + JᵀGJ of the nodes, D_i = m_i + Σ w_ip G_p, and the Schur complement of contacts
//! that share no node, S = I + Σ CᵀJ_rᵀ(G⁻¹ + W)⁻¹J_r C. Steps are the minimum along the direction.
//!
//! The error is estimated by Newton's decrement, √(∇ᵀH⁻¹∇), relative to the impulses in the norm √(Σ w |γ|²). Impulses are those of the
//! linearised laws, so that momentum is exact up to the residual of the conjugate gradients, and exact after velocities are computed from
//! the impulses once more at the end.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn, Matrix3, Matrix6, Vector3};
use pliant_contact_sap::Potential;

use super::contact_problem::ContactProblem;
use super::links::RigidLinks;
use super::primal::{Point, Primal, add_congruence, weighted_norm};
use super::solver::Solved;

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
    /// Inverses of the blocks of D.
    blocks: Vec<Matrix3<f64>>,
}

/// What a Newton step needs of the links: C, and S factored.
struct Links<'a> {
    root: &'a DMatrix<f64>,
    factor: Cholesky<f64, Dyn>,
}

impl NewtonCg {
    /// Solves `problem` to the relative tolerance `tolerance` in at most `iterations_max` products with H.
    pub(super) fn solve(
        &mut self,
        problem: &mut ContactProblem,
        links: &mut RigidLinks,
        tolerance: f64,
        iterations_max: u32,
    ) -> Solved {
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
            let Some(of_links) = self.factor(problem, links, &root) else {
                break;
            };
            let target = (FORCING * norm)
                .min(size.max(norm))
                .max(0.1 * tolerance * size);
            let direction = self.direction(
                problem,
                links,
                &of_links,
                &gradient,
                target,
                &mut iterations,
            );
            let decrement = (-gradient.dot(&direction)).max(0.0).sqrt();
            self.primal.write_change(problem, links, &root, &direction);
            let alpha = self.primal.line_search(problem, &z, &direction);
            self.update_impulses(problem, alpha);
            self.update_slip(problem, alpha);
            problem.add_velocities(alpha, &direction.nodes);
            z.axpy(alpha, &direction.links, 1.0);
            links.set_change(&(&root * &z));
            is_converged = decrement <= tolerance * problem.impulse_norm(&self.impulses);
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

    /// Takes the impulses of the problem for the first estimates.
    fn start(&mut self, problem: &ContactProblem) {
        self.impulses.clear();
        self.impulses
            .extend(problem.states.iter().map(|state| state.impulse));
        self.slip.clear();
        let contacts = problem.states.iter().zip(&problem.contacts);
        self.slip.extend(contacts.map(|(state, contact)| {
            let along = contact.normal * contact.normal.dot(&state.impulse);
            match state.friction_limit > 0.0 {
                true => clipped((along - state.impulse) / state.friction_limit),
                false => Vector3::zeros(),
            }
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

    /// Finds G of every contact, D and S.
    fn factor<'a>(
        &mut self,
        problem: &ContactProblem,
        links: &RigidLinks,
        root: &'a DMatrix<f64>,
    ) -> Option<Links<'a>> {
        self.tangents.clear();
        self.blocks.clear();
        self.blocks
            .extend(problem.nodes.iter().map(|_| Matrix3::zeros()));
        let mut of_links = vec![Matrix6::zeros(); links.len()];
        for (c, (contact, state)) in problem.contacts.iter().zip(&problem.states).enumerate() {
            let g = state
                .law
                .primal_dual_hessian(&self.primal.relative[c], &self.slip[c]);
            for (node, w) in contact.nodes.iter().zip(contact.weights) {
                self.blocks[*node as usize] += g * w;
            }
            if let Some((link, arm)) = &contact.link {
                let softened = (Matrix3::identity() + g * state.node_response)
                    .try_inverse()
                    .map_or(Matrix3::zeros(), |inverse| inverse * g);
                add_congruence(&softened, arm, &mut of_links[link.0]);
            }
            self.tangents.push(g);
        }
        for (node, block) in problem.nodes.iter().zip(&mut self.blocks) {
            *block = node.add_mass(*block).try_inverse()?;
        }
        let n = root.ncols();
        let mut schur = DMatrix::identity(n, n);
        for (l, k) in of_links.iter().enumerate() {
            let rows = root.fixed_rows::<6>(6 * l);
            schur += rows.tr_mul(&(k * rows));
        }
        Some(Links {
            root,
            factor: schur.cholesky()?,
        })
    }

    /// Preconditioned conjugate gradients for −H⁻¹∇, until the preconditioned residual is small against `target`.
    fn direction(
        &mut self,
        problem: &ContactProblem,
        links: &RigidLinks,
        of_links: &Links<'_>,
        gradient: &Point,
        target: f64,
        iterations: &mut u32,
    ) -> Point {
        let mut x = Point::zeros(gradient.nodes.len(), gradient.links.len());
        let mut r = x.clone();
        r.combine(0.0, -1.0, gradient);
        let mut z = self.precondition(problem, of_links, &r);
        let mut rho = r.dot(&z);
        let mut p = z.clone();
        for _ in 0..INNER_MAX {
            *iterations += 1;
            let h_p = self.apply(problem, links, of_links, &p);
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
            z = self.precondition(problem, of_links, &r);
            let next = r.dot(&z);
            p.combine(next / rho, 1.0, &z);
            rho = next;
        }
        x
    }

    /// H p.
    fn apply(
        &mut self,
        problem: &ContactProblem,
        links: &RigidLinks,
        of_links: &Links<'_>,
        p: &Point,
    ) -> Point {
        self.primal.write_change(problem, links, of_links.root, p);
        let mut out = Point::zeros(p.nodes.len(), p.links.len());
        let mut wrenches = DVector::zeros(of_links.root.nrows());
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
        out.links = &p.links + of_links.root.tr_mul(&wrenches);
        out
    }

    /// P⁻¹ r with P = L diag(D, S) Lᵀ.
    fn precondition(&self, problem: &ContactProblem, of_links: &Links<'_>, r: &Point) -> Point {
        let solve = |r: &[Vector3<f64>]| -> Vec<Vector3<f64>> {
            self.blocks.iter().zip(r).map(|(d, r)| d * r).collect()
        };
        let mut out = Point {
            nodes: solve(&r.nodes),
            links: r.links.clone(),
        };
        if of_links.root.ncols() == 0 {
            return out;
        }
        let mut wrenches = DVector::zeros(of_links.root.nrows());
        for (contact, g) in problem.contacts.iter().zip(&self.tangents) {
            contact.add_link_wrench(&(g * contact.interpolate(&out.nodes)), &mut wrenches);
        }
        out.links -= of_links.root.tr_mul(&wrenches);
        of_links.factor.solve_mut(&mut out.links);
        let twists = of_links.root * &out.links;
        let mut coupled = vec![Vector3::zeros(); r.nodes.len()];
        for (contact, g) in problem.contacts.iter().zip(&self.tangents) {
            if let Some(v) = contact.link_velocity(&twists) {
                contact.scatter_to_nodes(&(g * v), &mut coupled);
            }
        }
        for ((out, coupled), block) in out.nodes.iter_mut().zip(coupled).zip(&self.blocks) {
            *out += block * coupled;
        }
        for (node, out) in problem.nodes.iter().zip(&mut out.nodes) {
            for k in 0..3 {
                if node.inverse_mass[k] == 0.0 {
                    out[k] = 0.0;
                }
            }
        }
        out
    }

    /// y ← (v_t + Δv_t − y (t̂·Δv_t))/S, taken back into the unit ball.
    fn update_slip(&mut self, problem: &ContactProblem, alpha: f64) {
        let contacts = problem.contacts.iter().zip(&problem.states);
        for (c, (contact, state)) in contacts.enumerate() {
            if state.friction_limit == 0.0 {
                continue;
            }
            let along = |v: &Vector3<f64>| v - contact.normal * contact.normal.dot(v);
            let (t, dt) = (
                along(&self.primal.relative[c]),
                along(&self.primal.change[c]) * alpha,
            );
            let softened = (t.norm_squared() + state.slip_softening.powi(2)).sqrt();
            let y = &self.slip[c];
            self.slip[c] = clipped((t + dt - y * (t.dot(&dt) / softened)) / softened);
        }
    }
}

/// A vector in the unit ball.
fn clipped(y: Vector3<f64>) -> Vector3<f64> {
    y / y.norm().max(1.0)
}
