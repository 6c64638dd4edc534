//! Friction memory: the bristle deflection of sticking contacts, kept from step to step.
//!
//! Regularised friction carries a load only while it slips: γ_t = −μn u/√(u² + ε²) with u = v_t, so a contact at the fraction s of its
//! friction bound creeps at ε s/√(1 − s²). With memory u = v_t + r/δt, where r is the deflection that carried the load of the last step,
//! as in bristle models (LuGre). The contact is then a stiff, damped spring with stiffness μn/(δt ε): it carries the load at rest,
//! v_t = 0. r enters as a velocity bias, so the problem stays convex.
//!
//! r follows from the friction of the last step alone, by inverting the law. It is bounded by [`DEFLECTION_MAX`] ε δt: a contact holds up
//! to the fraction 0.995 of its bound, and a sliding one that stops springs back by no more than that, a micrometre for the default ε at
//! 1 ms.

use nalgebra::Vector3;
use pliant_contact_sap::{ContactParameters, STICTION_REGULARISATION};
use pliant_hydroelastic::ContactKey;
use serde::{Deserialize, Serialize};

use crate::settings::{ContactModel, ContactSettings};
use crate::world::GeometryIdx;

/// Largest r in units of ε δt, where friction is 10/√101 = 0.995 of its bound.
const DEFLECTION_MAX: f64 = 10.0;

/// Speeds of a body at rest within the solver's tolerance, in units of v_s.
const AT_REST: f64 = 1e-5;

/// The friction memory of one contact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactMemory {
    /// Geometry A.
    pub a: GeometryIdx,
    /// Geometry B.
    pub b: GeometryIdx,
    /// Identifies the contact within the pair.
    pub key: ContactKey,
    /// r, m, world axes: bristle deflection of A relative to B.
    pub bristle_deflection_W: Vector3<f64>,
}

impl ContactMemory {
    /// By which they are sorted.
    pub(crate) fn sort_key(&self) -> (GeometryIdx, GeometryIdx, ContactKey) {
        (self.a, self.b, self.key)
    }
}

/// The bristle deflection of a contact, projected onto the plane with unit normal `normal_W`; zero for a new contact.
/// `contacts` is sorted.
pub(crate) fn remembered_deflection(
    contacts: &[ContactMemory],
    key: (GeometryIdx, GeometryIdx, ContactKey),
    normal_W: &Vector3<f64>,
) -> Vector3<f64> {
    match contacts.binary_search_by_key(&key, ContactMemory::sort_key) {
        Ok(found) => {
            let r = contacts[found].bristle_deflection_W;
            r - normal_W * normal_W.dot(&r)
        }
        Err(_) => Vector3::zeros(),
    }
}

/// The deflection r that gives the friction in `gamma` (N·s, world axes) at v_t = 0 by the law of `model`; zero without friction.
///
/// ```text
/// lagged, similar:  r = −δt ε s/√(1 − s²),  s = γ_t/(μn)          SAP:  r = −δt σ w γ_t
/// ```
///
/// `limit` is μn of the law, N·s, `softening` its ε, m/s.
pub(crate) fn bristle_deflection(
    model: ContactModel,
    p: &ContactParameters,
    (limit, softening): (f64, f64),
    gamma_t: &Vector3<f64>,
) -> Vector3<f64> {
    let most = DEFLECTION_MAX * softening;
    let slip = match model {
        ContactModel::Sap => -gamma_t * (STICTION_REGULARISATION * p.inverse_inertia),
        ContactModel::Lagged(_) | ContactModel::Similar | ContactModel::Energy { .. } => {
            let left = limit * limit - gamma_t.norm_squared();
            if left > 0.0 {
                -gamma_t * (softening / left.sqrt())
            } else {
                // Round-off at the bound: the largest deflection.
                -gamma_t * f64::MAX.sqrt()
            }
        }
    };
    let speed = slip.norm();
    let bounded = if speed > most {
        slip * (most / speed)
    } else {
        slip
    };
    bounded * p.time_step.length_s
}

/// Sets negligible velocities (m/s, rad/s) of a body held in patches to zero in the guess.
///
/// A held contact carries its load at v_t = 0 by its deflection. Zero velocity then solves the step without an iteration and leaves the
/// deflection as it is; a residual velocity would change it in every step.
pub(crate) fn zero_resting_velocities(settings: &ContactSettings, guess: &mut [f64]) {
    let rest = AT_REST * settings.stiction_speed;
    for v in guess.iter_mut().filter(|v| v.abs() < rest) {
        *v = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_contact_sap::{Dissipation, Lagged, Potential, Sap, Similar};

    #[test]
    fn the_stretch_bears_at_rest_the_friction_it_came_from() {
        let p = ContactParameters {
            time_step: 1e-3.into(),
            signed_distance: -1e-4,
            start_velocity: 0.0,
            stiffness: 1e5,
            dissipation: Dissipation::RelaxationTime(0.0),
            friction: 0.5,
            stiction_speed: 1e-4,
            inverse_inertia: 2.0,
            near_rigid: pliant_contact_sap::NEAR_RIGID_CONTACT,
        };
        let normal = Vector3::new(0.6, 0.0, 0.8);
        let along = Vector3::new(0.8, 0.3, -0.6);
        let along = (along - normal * normal.dot(&along)).normalize();
        let n = p.normal_force().impulse(0.0);
        for (model, slip) in [
            (ContactModel::Lagged(Default::default()), 3e-4),
            (ContactModel::Similar, 3e-4),
            // Within its stiction: σ w μ n is 1e-5 m/s.
            (ContactModel::Sap, 4e-6),
        ] {
            let law: &dyn Potential<3> = match model {
                ContactModel::Lagged(_) => &Lagged::new(&p, normal, n),
                ContactModel::Similar => &Similar::new(&p, normal, n),
                ContactModel::Sap => &Sap::new(&p, normal),
                ContactModel::Energy { .. } => unreachable!("it remembers nothing"),
            };
            let gamma = law.impulse(&(along * slip));
            let gamma_n = normal.dot(&gamma);
            let gamma_t = gamma - normal * gamma_n;
            let limit = 0.5 * gamma_n;
            let r = bristle_deflection(model, &p, (limit, p.slip_softening(n)), &gamma_t);
            assert!(
                (r / 1e-3 - along * slip).norm() < 1e-9 * slip,
                "{model:?} {r}"
            );
        }
        let bounds = (0.5 * n, 1e-4);
        let lagged = ContactModel::Lagged(Default::default());
        for share in [0.9999, 1.0, 1.0 + 1e-12] {
            let r = bristle_deflection(lagged, &p, bounds, &(along * (0.5 * n * share)));
            assert!((r + along * (DEFLECTION_MAX * 1e-7)).norm() < 1e-15, "{r}");
        }
        assert_eq!(
            bristle_deflection(lagged, &p, bounds, &Vector3::zeros()).norm(),
            0.0
        );
    }
}
