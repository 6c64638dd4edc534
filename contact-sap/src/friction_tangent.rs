//! Estimates of the friction directions that the primal-dual tangent converges with.

use nalgebra::{Matrix3, Vector3};

use crate::evaluation::{Evaluation, Residual};
use crate::island::IslandProblem;
use crate::law::{ContactLaw, SmoothNorm};
use crate::potential::Potential;

/// The curvature of softened friction, for the lagged and similar models; others know only their Hessian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionTangent {
    /// Hessian with an estimate of the friction direction that converges along with v: two to five times fewer iterations.
    ///
    /// Source: Chan, Golub, Mulet (1999), for total variation.
    #[default]
    PrimalDual,
    /// The Hessian itself.
    Plain,
}

/// A vector y for each contact, ‖y‖ ≤ 1, that tends to t̂ = v_t/S as the velocities converge.
///
/// In the Hessian (P − ½(y t̂ᵀ + t̂ yᵀ))/S of softened friction it stands for one of the two t̂. That tangent doesn't jump
/// where slip passes through ε, which is what keeps Newton from cycling through stick and slip.
///
/// Source: Chan, Golub, Mulet (1999), "A nonlinear primal-dual method for total variation-based image restoration".
#[derive(Debug, Default)]
pub(crate) struct DualDirections {
    y: Vec<Vector3<f64>>,
}

impl DualDirections {
    /// The estimates to start from, once `e` is evaluated at the guess.
    ///
    /// Near the solution y = t̂, so that the first step is Newton's. Far from it slip directions are about to turn and
    /// y = 0 is better: friction starts as the isotropic damper of a reweighted least-squares step. Measured on piles of
    /// 40 boxes: 2 iterations instead of 3 from the last step's velocities, 10 instead of 12 from random ones.
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>, e: &Evaluation, residual: Residual) {
        const NEAR: f64 = 0.3;
        self.y.clear();
        self.y.resize(p.island.n_contacts, Vector3::zeros());
        if residual.norm > NEAR * residual.reference {
            return;
        }
        let set = p.set();
        for basis in &p.island.bases {
            let contacts = set.contacts[basis.contacts.clone()].iter();
            for (k, contact) in contacts.enumerate() {
                let i = basis.first_contact + k;
                self.y[i] = match &contact.law {
                    ContactLaw::Lagged(law) => law.slip(&e.v_c[i]).direction,
                    ContactLaw::Similar(law) => law.slip(&e.v_c[i]).direction,
                    ContactLaw::Sap(_) | ContactLaw::Custom(_) => continue,
                };
            }
        }
    }

    /// K of every basis of `e`, with the tangent asked for.
    pub(crate) fn aggregate(
        &self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        tangent: FrictionTangent,
    ) {
        match tangent {
            FrictionTangent::Plain => e.update_aggregates(p, |_, law, v_c| law.hessian(v_c)),
            FrictionTangent::PrimalDual => {
                e.update_aggregates(p, |i, law, v_c| self.tangent(i, law, v_c));
            }
        }
    }

    /// G of contact `i` of the island.
    #[inline]
    fn tangent(&self, i: usize, law: &ContactLaw, v_c: &Vector3<f64>) -> Matrix3<f64> {
        match law {
            ContactLaw::Lagged(law) => law.primal_dual_hessian(v_c, &self.y[i]),
            ContactLaw::Similar(law) => law.primal_dual_hessian(v_c, &self.y[i]),
            ContactLaw::Sap(law) => law.hessian(v_c),
            ContactLaw::Custom(law) => law.hessian(v_c),
        }
    }

    /// Newton's full step for y that belongs to the direction Δv of `e`: y + (P Δv_c − y (t̂·Δv_c))/S − (y − t̂), cut to length 1.
    pub(crate) fn update(&mut self, p: &IslandProblem<'_>, e: &Evaluation) {
        let set = p.set();
        for basis in &p.island.bases {
            let contacts = set.contacts[basis.contacts.clone()].iter();
            for (k, contact) in contacts.enumerate() {
                let i = basis.first_contact + k;
                match &contact.law {
                    ContactLaw::Lagged(law) => {
                        self.step(i, &law.slip(&e.v_c[i]), law.normal(), &e.dv_c[i]);
                    }
                    ContactLaw::Similar(law) => {
                        self.step(i, &law.slip(&e.v_c[i]), law.normal(), &e.dv_c[i]);
                    }
                    ContactLaw::Sap(_) | ContactLaw::Custom(_) => {}
                }
            }
        }
    }

    #[inline]
    fn step(&mut self, i: usize, slip: &SmoothNorm, n: &Vector3<f64>, dv: &Vector3<f64>) {
        let t = &slip.direction;
        let y = &self.y[i];
        let along = t.dot(dv);
        let next = (dv - n * n.dot(dv) - y * along) / slip.length + t;
        let length = next.norm();
        self.y[i] = if length > 1.0 { next / length } else { next };
    }
}
