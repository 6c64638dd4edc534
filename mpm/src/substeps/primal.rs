//! What solvers in the velocities share: gradient, changes along a direction, and the exact line search.
//!
//! Velocities of the links are V = V* + C z with C Cᵀ = Λ, so that prescribed links need no special case.

use nalgebra::{DMatrix, DVector, Matrix3, Matrix6, Vector3};
use pliant_contact_sap::Potential;

use super::contact_problem::ContactProblem;
use super::links::RigidLinks;

/// The slope at which the line search ends, relative to that at its start.
const SLOPE_RATIO: f64 = 1e-2;

/// Workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct Primal {
    /// v_c of each contact, and its change along the direction.
    pub(super) relative: Vec<Vector3<f64>>,
    pub(super) change: Vec<Vector3<f64>>,
}

/// A vector of node velocities and of z.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) nodes: Vec<Vector3<f64>>,
    pub(super) links: DVector<f64>,
}

impl Point {
    pub(super) fn zeros(nodes: usize, links: usize) -> Self {
        Self {
            nodes: vec![Vector3::zeros(); nodes],
            links: DVector::zeros(links),
        }
    }

    pub(super) fn dot(&self, other: &Self) -> f64 {
        let nodes = self.nodes.iter().zip(&other.nodes);
        nodes.map(|(a, b)| a.dot(b)).sum::<f64>() + self.links.dot(&other.links)
    }

    /// self ← b self + a x.
    pub(super) fn combine(&mut self, b: f64, a: f64, x: &Self) {
        for (y, x) in self.nodes.iter_mut().zip(&x.nodes) {
            *y = *y * b + x * a;
        }
        self.links.axpy(a, &x.links, b);
    }
}

impl Primal {
    /// ∇ at the present velocities, zero where they are prescribed; keeps v_c.
    pub(super) fn gradient(
        &mut self,
        problem: &ContactProblem,
        links: &RigidLinks,
        root: &DMatrix<f64>,
        z: &DVector<f64>,
    ) -> Point {
        let mut gradient = Point::zeros(problem.nodes.len(), z.len());
        let mut wrenches = DVector::zeros(root.nrows());
        self.relative.clear();
        for (contact, state) in problem.contacts.iter().zip(&problem.states) {
            let v_c = problem.relative_velocity(contact, links);
            self.relative.push(v_c);
            let impulse = state.law.impulse(&v_c);
            contact.scatter(&-impulse, &mut gradient.nodes, &mut wrenches);
        }
        let nodes = problem.nodes.iter().enumerate();
        for ((i, node), g) in nodes.zip(&mut gradient.nodes) {
            let change = problem.velocity(i) - node.free;
            for k in 0..3 {
                let inverse = node.inverse_mass[k];
                g[k] = if inverse > 0.0 {
                    g[k] + change[k] / inverse
                } else {
                    0.0
                };
            }
        }
        gradient.links = z + root.tr_mul(&wrenches);
        gradient
    }

    /// Changes of all v_c along `p`.
    pub(super) fn write_change(
        &mut self,
        problem: &ContactProblem,
        links: &RigidLinks,
        root: &DMatrix<f64>,
        p: &Point,
    ) {
        let twists = match links.is_empty() {
            true => DVector::zeros(0),
            false => root * &p.links,
        };
        self.change.clear();
        self.change.extend(problem.contacts.iter().map(|contact| {
            let on_link = contact.link_velocity(&twists);
            contact.interpolate(&p.nodes) - on_link.unwrap_or_else(Vector3::zeros)
        }));
    }

    /// The minimum along a direction: the root of the slope, which increases.
    pub(super) fn line_search(&self, problem: &ContactProblem, z: &DVector<f64>, p: &Point) -> f64 {
        let (mut slope, mut curvature) = (z.dot(&p.links), p.links.norm_squared());
        for ((i, node), p) in problem.nodes.iter().enumerate().zip(&p.nodes) {
            let change = problem.velocity(i) - node.free;
            for k in 0..3 {
                if node.inverse_mass[k] > 0.0 {
                    let mass = 1.0 / node.inverse_mass[k];
                    slope += mass * change[k] * p[k];
                    curvature += mass * p[k] * p[k];
                }
            }
        }
        let derivatives = |alpha: f64| {
            let (mut first, mut second) = (slope + alpha * curvature, curvature);
            let contacts = problem.states.iter().zip(&self.relative).zip(&self.change);
            for ((state, v_c), dv) in contacts {
                let v = v_c + dv * alpha;
                first -= state.law.impulse(&v).dot(dv);
                second += dv.dot(&(state.law.hessian(&v) * dv));
            }
            (first, second)
        };
        let at_start = derivatives(0.0).0;
        if !(at_start < 0.0) {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut alpha = 1.0;
        for _ in 0..40 {
            let (first, second) = derivatives(alpha);
            if first.abs() <= SLOPE_RATIO * at_start.abs() {
                break;
            }
            if first < 0.0 {
                low = alpha
            } else {
                high = alpha
            }
            let newton = alpha - first / second;
            alpha = if newton > low && newton < high {
                newton
            } else if high.is_finite() {
                0.5 * (low + high)
            } else {
                2.0 * alpha
            };
        }
        alpha
    }
}

/// |M^−½ r| of the nodes and |r| of the links.
pub(super) fn weighted_norm(problem: &ContactProblem, r: &Point) -> f64 {
    let nodes = problem.nodes.iter().zip(&r.nodes);
    let sum: f64 = nodes
        .map(|(node, r)| node.inverse_mass.dot(&r.component_mul(r)))
        .sum();
    (sum + r.links.norm_squared()).sqrt()
}

/// M⁻¹ r of the nodes, and r of the links.
pub(super) fn over_mass(problem: &ContactProblem, r: &Point) -> Point {
    let nodes = problem.nodes.iter().zip(&r.nodes);
    Point {
        nodes: nodes
            .map(|(node, r)| node.inverse_mass.component_mul(r))
            .collect(),
        links: r.links.clone(),
    }
}

/// K += J_rᵀ G J_r with J_r = [−P, I], P = [arm]×.
pub(super) fn add_congruence(g: &Matrix3<f64>, arm: &Vector3<f64>, k: &mut Matrix6<f64>) {
    let p = arm.cross_matrix();
    let gp = g * p;
    let mut block = k.fixed_view_mut::<3, 3>(0, 0);
    block += p.transpose() * gp;
    let mut block = k.fixed_view_mut::<3, 3>(0, 3);
    block -= gp.transpose();
    let mut block = k.fixed_view_mut::<3, 3>(3, 0);
    block -= gp;
    let mut block = k.fixed_view_mut::<3, 3>(3, 3);
    block += g;
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector6;

    #[test]
    fn the_congruence_is_that_of_point_velocities() {
        let g = Matrix3::new(2.0, 0.3, -0.1, 0.3, 1.0, 0.2, -0.1, 0.2, 0.7);
        let arm = Vector3::new(0.3, -0.2, 0.5);
        let mut k = Matrix6::zeros();
        add_congruence(&g, &arm, &mut k);
        let twist = Vector6::new(0.1, -0.4, 0.3, 1.0, 0.2, -0.7);
        let omega = twist.fixed_rows::<3>(0).into_owned();
        let v = twist.fixed_rows::<3>(3) + omega.cross(&arm);
        assert!((twist.dot(&(k * twist)) - v.dot(&(g * v))).abs() < 1e-14);
    }
}
