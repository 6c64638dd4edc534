//! An upper bound of the Hessian of nodes and links that is solved by blocks.
//!
//! The weights of a contact sum to at most one, so that for every u, with 1 − Σ w_i for the nodes without mass,
//!
//! ```text
//! |Σ w_i v_i − u|²_G ≤ Σ w_i |v_i − u|²_G + (1 − Σ w_i) |u|²_G              (Jensen's inequality)
//! ```
//!
//! With u = J_r C z the velocity of the link, the Hessian is at most the arrow
//!
//! ```text
//! P = [ D   B ]     D_i = m_i + Σ w_i G        block diagonal
//!     [ Bᵀ  E ]     B_i = −Σ w_i G J_r C,      E = I + Σ CᵀJ_rᵀG J_r C
//! ```
//!
//! P⁻¹ costs a 3×3 product for each node and the solution with S = E − Σ B_iᵀD_i⁻¹B_i, as small as the links are few. The motion of a light
//! link with all nodes around it is exact in P.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn, Matrix3, Matrix3x6};

use super::contact_problem::ContactProblem;
use super::links::RigidLinks;
use super::primal::Point;
use crate::sparse_grid::NONE;

/// P, factored.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrow {
    /// D_i⁻¹, zero in prescribed components.
    inverses: Vec<Matrix3<f64>>,
    n_links: usize,
    /// Place in `couplings` of each node and link.
    slots: Vec<u32>,
    /// Σ w_i G J_r of nodes and links in contact.
    couplings: Vec<Coupling>,
    /// Of S; `None` without links that respond.
    factor: Option<Cholesky<f64, Dyn>>,
}

#[derive(Clone, Copy, Debug)]
struct Coupling {
    node: usize,
    link: usize,
    value: Matrix3x6<f64>,
}

impl Arrow {
    /// Finds P for the curvatures G of all contacts; false if a block is singular.
    pub(super) fn update(
        &mut self,
        problem: &ContactProblem,
        links: &RigidLinks,
        curvatures: &[Matrix3<f64>],
    ) -> bool {
        let root = links.response_root();
        let responds = root.ncols() > 0;
        self.n_links = links.len();
        self.inverses.clear();
        self.inverses.resize(problem.nodes.len(), Matrix3::zeros());
        self.couplings.clear();
        self.slots.clear();
        if responds {
            self.slots.resize(problem.nodes.len() * self.n_links, NONE);
        }
        let mut of_links = DMatrix::zeros(root.nrows(), root.nrows());
        for (contact, g) in problem.contacts.iter().zip(curvatures) {
            for (node, w) in contact.nodes.iter().zip(contact.weights) {
                self.inverses[*node as usize] += g * w;
            }
            let Some((link, arm)) = contact.link.as_ref().filter(|_| responds) else {
                continue;
            };
            let jacobian = point_jacobian(&arm.cross_matrix());
            let g_j = g * jacobian;
            let mut block = of_links.fixed_view_mut::<6, 6>(6 * link.0, 6 * link.0);
            block += jacobian.tr_mul(&g_j);
            for (node, w) in contact.nodes.iter().zip(contact.weights) {
                self.coupling(*node as usize, link.0).value += g_j * w;
            }
        }
        for (node, block) in problem.nodes.iter().zip(&mut self.inverses) {
            let Some(inverse) = node.add_mass(*block).try_inverse() else {
                return false;
            };
            *block = node.without_prescribed(inverse);
        }
        self.factor = None;
        if responds {
            self.eliminate_nodes(&mut of_links);
            let mut schur = root.tr_mul(&(of_links * root));
            for k in 0..schur.nrows() {
                schur[(k, k)] += 1.0;
            }
            self.factor = schur.cholesky();
        }
        !responds || self.factor.is_some()
    }

    fn coupling(&mut self, node: usize, link: usize) -> &mut Coupling {
        let slot = &mut self.slots[node * self.n_links + link];
        if *slot == NONE {
            *slot = self.couplings.len() as u32;
            self.couplings.push(Coupling {
                node,
                link,
                value: Matrix3x6::zeros(),
            });
        }
        &mut self.couplings[*slot as usize]
    }

    /// Subtracts Σ_i B_iᵀD_i⁻¹B_i, before C.
    fn eliminate_nodes(&self, of_links: &mut DMatrix<f64>) {
        for a in &self.couplings {
            let d_a = self.inverses[a.node] * a.value;
            let row = &self.slots[a.node * self.n_links..][..self.n_links];
            for slot in row.iter().filter(|slot| **slot != NONE) {
                let b = &self.couplings[*slot as usize];
                let mut block = of_links.fixed_view_mut::<6, 6>(6 * b.link, 6 * a.link);
                block -= b.value.tr_mul(&d_a);
            }
        }
    }

    /// P⁻¹ r.
    pub(super) fn solve(&self, links: &RigidLinks, r: &Point) -> Point {
        let blocks = self.inverses.iter().zip(&r.nodes);
        let mut out = Point {
            nodes: blocks.map(|(inverse, r)| inverse * r).collect(),
            links: r.links.clone(),
        };
        let Some(factor) = &self.factor else {
            return out;
        };
        let root = links.response_root();
        let mut wrenches = DVector::zeros(root.nrows());
        for c in &self.couplings {
            let mut wrench = wrenches.fixed_rows_mut::<6>(6 * c.link);
            wrench += c.value.tr_mul(&out.nodes[c.node]);
        }
        out.links += root.tr_mul(&wrenches);
        factor.solve_mut(&mut out.links);
        let twists = root * &out.links;
        for c in &self.couplings {
            let pull = c.value * twists.fixed_rows::<6>(6 * c.link);
            out.nodes[c.node] += self.inverses[c.node] * pull;
        }
        out
    }
}

/// J_r = [−P, I] of the velocity of a point with P = [arm]×.
fn point_jacobian(p: &Matrix3<f64>) -> Matrix3x6<f64> {
    let mut j = Matrix3x6::zeros();
    j.fixed_view_mut::<3, 3>(0, 0).copy_from(&-p);
    j.fixed_view_mut::<3, 3>(0, 3)
        .copy_from(&Matrix3::identity());
    j
}
