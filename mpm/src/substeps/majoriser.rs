//! Steps to the minimum of a quadratic upper bound of the cost, in a plane: no contact waits for another one, and no step is tried twice.
//!
//! Every law has a quadratic upper bound of curvature C at the present velocities ([`Majorant`](pliant_contact_sap::Majorant)). M + JᵀCJ then
//! bounds the Hessian of the cost. A step is the minimum of that bound over the plane of two directions,
//!
//! ```text
//! y = −P⁻¹∇,    d = the last step          Δv = a y + b d,    [ y·Hy  y·Hd ] [ a ]     [ y·∇ ]
//!                                                            [ y·Hd  d·Hd ] [ b ] = − [ d·∇ ],    H = M + JᵀCJ
//! ```
//!
//! with the [arrow](super::arrow) P ≥ H, the block-diagonal majoriser. Every step lowers the cost, without a line search. With y alone it would be
//! descent; d makes it conjugate gradients where the laws are quadratic. An iteration is a gather and a scatter of the contacts, and five
//! scalar products, which a device sums at once.
//!
//! Bounds of dissipative laws hold down to a normal velocity; steps are shortened to it. Laws without a known bound, which are the similar
//! model and custom laws, take their Hessian instead and an exact line search.
//!
//! The error is estimated from the decrease of the bound: what is left is a geometric series with the ratio of the last two groups of
//! [`GROUP`] iterations. Impulses are those of the laws; a stiff law magnifies errors of the velocity, so that their distance from the
//! local solution of each contact has to be as small.
//!
//! Source: Chouzenoux, Idier, Moussaoui (2011), "A majorize-minimize strategy for subspace optimization applied to image restoration".

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use pliant_contact_sap::Potential;

use super::arrow::Arrow;
use super::contact_problem::ContactProblem;
use super::links::RigidLinks;
use super::primal::{Point, Primal, over_mass};
use super::solver::{ConvexSolver, Limits, Solved};

/// Iterations between estimates of the error, and between changes of P.
const GROUP: u32 = 4;
/// Bound of the ratio from which the error is estimated.
const RATIO_MAX: f64 = 0.95;
/// The ratio after the first group.
const FIRST_RATIO: f64 = 0.5;

/// Workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct Majoriser {
    primal: Primal,
    arrow: Arrow,
    /// C of each contact.
    curvatures: Vec<Matrix3<f64>>,
    /// The least normal velocity of each contact for which C holds.
    normal_velocities_min: Vec<f64>,
    has_all_bounds: bool,
    /// J y of each contact.
    along_gradient: Vec<Vector3<f64>>,
    /// γ of each contact.
    impulses: Vec<Vector3<f64>>,
}

/// Where the iteration is.
struct Iterate<'a> {
    root: &'a DMatrix<f64>,
    z: DVector<f64>,
    /// The last step.
    step: Point,
}

/// The decrease of the cost in the last two groups of iterations, J.
#[derive(Default)]
struct Decrease {
    last: Option<f64>,
    present: f64,
}

impl Decrease {
    /// What is left of the cost, J; starts the next group.
    fn left(&mut self) -> f64 {
        let ratio = self
            .last
            .map_or(FIRST_RATIO, |last| (self.present / last).min(RATIO_MAX));
        let left = self.present * ratio / (1.0 - ratio);
        self.last = Some(self.present);
        self.present = 0.0;
        left
    }
}

impl ConvexSolver for Majoriser {
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
        let mut at = Iterate {
            root: &root,
            z: root.tr_mul(links.substep_impulses()),
            step: Point::zeros(problem.nodes.len(), root.ncols()),
        };
        self.primal.change.clear();
        self.primal
            .change
            .resize(problem.contacts.len(), Vector3::zeros());
        let mut solved = Solved::default();
        let mut decrease = Decrease::default();
        loop {
            let gradient = self.primal.gradient(problem, links, &root, &at.z);
            if solved.iterations.is_multiple_of(GROUP) {
                let left = match solved.iterations {
                    0 => f64::INFINITY,
                    _ => decrease.left(),
                };
                if self.is_solved(problem, links, &root, &gradient, left, tolerance) {
                    solved.is_converged = true;
                    break;
                }
            }
            if solved.iterations == iterations_max {
                break;
            }
            self.bound_laws(problem);
            if solved.iterations.is_multiple_of(GROUP)
                && !self.arrow.update(problem, links, &self.curvatures)
            {
                break;
            }
            decrease.present += self.step(problem, links, &mut at, &gradient);
            solved.iterations += 1;
        }
        problem.restart(links);
        problem.set_impulses(&self.impulses, links);
        solved
    }
}

impl Majoriser {
    /// C of every contact at the present velocities.
    fn bound_laws(&mut self, problem: &ContactProblem) {
        self.curvatures.clear();
        self.normal_velocities_min.clear();
        self.has_all_bounds = true;
        for (state, v_c) in problem.states.iter().zip(&self.primal.relative) {
            let (curvature, least) = match state.law.majorant(v_c) {
                Some(majorant) => (majorant.curvature, majorant.normal_velocity_min),
                None => {
                    self.has_all_bounds = false;
                    (state.law.hessian(v_c), f64::NEG_INFINITY)
                }
            };
            self.curvatures.push(curvature);
            self.normal_velocities_min.push(least);
        }
    }

    /// Takes a step; returns the decrease of the bound, J.
    fn step(
        &mut self,
        problem: &mut ContactProblem,
        links: &mut RigidLinks,
        at: &mut Iterate<'_>,
        gradient: &Point,
    ) -> f64 {
        let mut y = self.arrow.solve(links, gradient);
        y.combine(-1.0, 0.0, gradient);
        std::mem::swap(&mut self.primal.change, &mut self.along_gradient);
        self.primal.write_change(problem, links, at.root, &y);
        std::mem::swap(&mut self.primal.change, &mut self.along_gradient);
        let (along_y, along_d) = (&self.along_gradient, &self.primal.change);
        let curvature = |a: &Point, b: &Point, j_a: &[Vector3<f64>], j_b: &[Vector3<f64>]| {
            let contacts = j_a.iter().zip(j_b).zip(&self.curvatures);
            let of_contacts: f64 = contacts.map(|((a, b), c)| a.dot(&(c * b))).sum();
            problem.mass_product(&a.nodes, &b.nodes) + a.links.dot(&b.links) + of_contacts
        };
        let yy = curvature(&y, &y, along_y, along_y);
        let yd = curvature(&y, &at.step, along_y, along_d);
        let dd = curvature(&at.step, &at.step, along_d, along_d);
        let (slope_y, slope_d) = (gradient.dot(&y), gradient.dot(&at.step));
        let determinant = yy * dd - yd * yd;
        // In one direction to round-off, the second adds nothing.
        let (a, b) = if determinant > 1e-12 * yy * dd {
            (
                (yd * slope_d - dd * slope_y) / determinant,
                (yd * slope_y - yy * slope_d) / determinant,
            )
        } else if yy > 0.0 {
            (-slope_y / yy, 0.0)
        } else {
            return 0.0;
        };
        at.step.combine(b, a, &y);
        for (d, y) in self.primal.change.iter_mut().zip(&self.along_gradient) {
            *d = *d * b + y * a;
        }
        let share = match self.has_all_bounds {
            true => self.largest_share(problem),
            false => self.primal.line_search(problem, &at.z, &at.step),
        };
        if share != 1.0 {
            at.step.combine(share, 0.0, &y);
            self.primal.change.iter_mut().for_each(|d| *d *= share);
        }
        problem.add_velocities(1.0, &at.step.nodes);
        at.z += &at.step.links;
        links.set_change(&(at.root * &at.z));
        -share * (1.0 - 0.5 * share) * (a * slope_y + b * slope_d)
    }

    /// The largest part of the step, at most one, for which all bounds hold.
    fn largest_share(&self, problem: &ContactProblem) -> f64 {
        let mut share: f64 = 1.0;
        let velocities = self.primal.relative.iter().zip(&self.primal.change);
        let contacts = problem.contacts.iter().zip(&self.normal_velocities_min);
        for ((contact, least), (v_c, dv)) in contacts.zip(velocities) {
            let (v_n, dv_n) = (contact.normal.dot(v_c), contact.normal.dot(dv));
            if v_n + share * dv_n < *least {
                share = (least - v_n) / dv_n;
            }
        }
        share
    }

    /// Whether the impulses of the laws have the relative error `tolerance`, from what is `left` of the cost. The impulses are kept.
    ///
    /// With them the velocities are v − M⁻¹∇, at which each contact has a local solution.
    fn is_solved(
        &mut self,
        problem: &ContactProblem,
        links: &RigidLinks,
        root: &DMatrix<f64>,
        gradient: &Point,
        left: f64,
        tolerance: f64,
    ) -> bool {
        self.impulses.clear();
        let states = problem.states.iter().zip(&self.primal.relative);
        self.impulses
            .extend(states.map(|(state, v_c)| state.law.impulse(v_c)));
        let size = problem.impulse_norm(&self.impulses);
        if size > 0.0 && (2.0 * left).sqrt() > problem.error_bound(tolerance, size) {
            return false;
        }
        let residual = over_mass(problem, gradient);
        std::mem::swap(&mut self.primal.change, &mut self.along_gradient);
        self.primal.write_change(problem, links, root, &residual);
        std::mem::swap(&mut self.primal.change, &mut self.along_gradient);
        let mut changes = 0.0;
        let velocities = self.primal.relative.iter().zip(&self.along_gradient);
        let impulses = problem.states.iter().zip(&self.impulses);
        for ((state, impulse), (v_c, dv)) in impulses.zip(velocities) {
            let local = state
                .law
                .local_impulse(state.response, &(v_c - dv), impulse);
            changes += state.response * (local - impulse).norm_squared();
        }
        changes.sqrt() <= problem.error_bound(tolerance, size)
    }
}
