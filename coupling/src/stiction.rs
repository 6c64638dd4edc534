//! Friction memory: the bristle deflection of sticking contacts, kept from step to step.
//!
//! Regularised friction carries a load only while it slips: γ_t = −μn u/√(u² + ε²) with u = v_t, so a contact at the fraction s of its
//! friction bound creeps at ε s/√(1 − s²). With memory u = v_t + r/δt, where r is the deflection that carried the load of the last step,
//! as in bristle models (LuGre). The contact is then a stiff, damped spring with stiffness μn/(δt ε): it carries the load at rest,
//! v_t = 0. r enters as a velocity bias, so the problem stays convex.
//!
//! r follows from the friction of the last step alone, by inverting the law:
//! [`ContactModel::bristle_rate`](crate::ContactModel::bristle_rate).

use nalgebra::Vector3;
use pliant_hydroelastic::ContactKey;
use serde::{Deserialize, Serialize};

use crate::settings::ContactSettings;
use crate::world::GeometryIdx;

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
