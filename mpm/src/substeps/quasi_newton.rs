//! Quasi-Newton descent with the diagonal blocks of the Hessian and an exact line search, as published.
//!
//! ```text
//! D_i = m_i + Σ w_ip² G_p,    D_r = I + CᵀJ_rᵀG J_r C          v ← v − α D⁻¹∇
//! ```
//!
//! It converges linearly, and stalls where contact is stiff for the length of a substep. It stops at the published measure, the gradient:
//! |M^−½∇| ≤ ε_r max(|M^½v|, |M^−½Jᵀγ|).
//!
//! Source: Yu et al. (2025), algorithm 1, with γ = −∂ℓ/∂v_c in step 6.

use nalgebra::{DMatrix, DVector, Matrix3, Matrix6, Vector3};
use pliant_contact_sap::Potential;

use super::contact_problem::ContactProblem;
use super::links::RigidLinks;
use super::primal::{Point, Primal, add_congruence, weighted_norm};
use super::solver::{ConvexSolver, Limits, Solved};

/// Workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct QuasiNewton {
    primal: Primal,
    blocks: Vec<Matrix3<f64>>,
}

impl ConvexSolver for QuasiNewton {
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
        let root = links.response_root().clone();
        let mut z = root.tr_mul(links.substep_impulses());
        let mut solved = Solved::default();
        while solved.iterations < iterations_max {
            let gradient = self.primal.gradient(problem, links, &root, &z);
            let scale = problem.momentum_scale(&self.primal.relative);
            if weighted_norm(problem, &gradient) <= tolerance * scale {
                solved.is_converged = true;
                break;
            }
            let Some(direction) = self.direction(problem, links, &root, &gradient) else {
                break;
            };
            self.primal.write_change(problem, links, &root, &direction);
            let alpha = self.primal.line_search(problem, &z, &direction);
            if alpha == 0.0 {
                break;
            }
            problem.add_velocities(alpha, &direction.nodes);
            z.axpy(alpha, &direction.links, 1.0);
            links.set_change(&(&root * &z));
            solved.iterations += 1;
        }
        let each = problem.contacts.iter().zip(&problem.states);
        let impulses: Vec<Vector3<f64>> = each
            .map(|(contact, state)| {
                state
                    .law
                    .impulse(&problem.relative_velocity(contact, links))
            })
            .collect();
        problem.restart(links);
        problem.set_impulses(&impulses, links);
        solved
    }
}

impl QuasiNewton {
    /// −D⁻¹∇; `None` if a block is singular.
    fn direction(
        &mut self,
        problem: &ContactProblem,
        links: &RigidLinks,
        root: &DMatrix<f64>,
        gradient: &Point,
    ) -> Option<Point> {
        self.blocks.clear();
        self.blocks.resize(problem.nodes.len(), Matrix3::zeros());
        let mut of_links = vec![Matrix6::zeros(); links.len()];
        let states = problem.states.iter().zip(&self.primal.relative);
        for (contact, (state, v_c)) in problem.contacts.iter().zip(states) {
            let g = state.law.hessian(v_c);
            for (node, w) in contact.nodes.iter().zip(contact.weights) {
                self.blocks[*node as usize] += g * (w * w);
            }
            if let Some((link, arm)) = &contact.link {
                add_congruence(&g, arm, &mut of_links[link.0]);
            }
        }
        let mut direction = Point::zeros(problem.nodes.len(), gradient.links.len());
        let nodes = problem.nodes.iter().zip(&self.blocks);
        let blocks = nodes.zip(&gradient.nodes).zip(&mut direction.nodes);
        for (((node, block), gradient), out) in blocks {
            *out = -(node.add_mass(*block).try_inverse()? * gradient);
        }
        let mut of_z = DMatrix::identity(root.ncols(), root.ncols());
        for (l, k) in of_links.iter().enumerate() {
            let rows = root.fixed_rows::<6>(6 * l);
            of_z += rows.tr_mul(&(k * rows));
        }
        let links: DVector<f64> = of_z.cholesky()?.solve(&gradient.links);
        direction.links = -links;
        Some(direction)
    }
}
