//! Adhesion: a pair attracts with a given force while it touches, as a suction cup or a magnet does.
//!
//! The force is shared by the points that touch, in patches by their areas, along their normals. The contact law carries it at rest, so a
//! pull up to the force leaves the surfaces in contact, and a larger one parts them; friction has the load of the law. Each share is a law
//! of constant impulse beside that of its contact.
//!
//! Source: adhesion actuators of MuJoCo.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use pliant_contact_sap::{ContactLaw, Potential};

use super::Setting;
use crate::collision::PairContact;

/// Points up to this distance touch, m: what a disturbance opens by less still adheres.
const REACH: f64 = 1e-4;

/// The impulse of adhesion of each contact, N·s.
#[derive(Debug, Default)]
pub(super) struct Adhesion {
    impulses: Vec<f64>,
}

impl Adhesion {
    /// Shares the forces of all pairs between their `contacts`, which are in the order of pairs.
    pub(super) fn share(&mut self, contacts: &[PairContact], setting: &Setting<'_>) {
        self.impulses.clear();
        if !setting.world.has_adhesion() {
            return;
        }
        for pair in contacts.chunk_by(|x, y| (x.a, x.b) == (y.a, y.b)) {
            let force = setting.world.adhesion(pair[0].a, pair[0].b);
            let total: f64 = pair.iter().map(weight).sum();
            let of_contact = |contact: &PairContact| match total > 0.0 {
                true => force * setting.time_step.length_s * weight(contact) / total,
                false => 0.0,
            };
            self.impulses.extend(pair.iter().map(of_contact));
        }
    }

    /// The law of contact `i` with this normal from B into A; `None` where there is no adhesion.
    pub(super) fn law(&self, i: usize, normal_W: &Vector3<f64>) -> Option<ContactLaw> {
        let impulse = *self.impulses.get(i)?;
        let pull = ConstantImpulse(normal_W * -impulse);
        (impulse > 0.0).then(|| ContactLaw::Custom(Arc::new(pull)))
    }
}

/// Share of a contact in the force of its pair, before normalisation.
fn weight(contact: &PairContact) -> f64 {
    let point = &contact.point;
    match point.signed_distance <= REACH {
        true => (point.patch_share(0.0)).map_or(1.0, |share| share.area),
        false => 0.0,
    }
}

/// ℓ = −γ·v.
struct ConstantImpulse(Vector3<f64>);

impl Potential<3> for ConstantImpulse {
    fn cost(&self, v: &Vector3<f64>) -> f64 {
        -self.0.dot(v)
    }

    fn impulse(&self, _: &Vector3<f64>) -> Vector3<f64> {
        self.0
    }

    fn hessian(&self, _: &Vector3<f64>) -> Matrix3<f64> {
        Matrix3::zeros()
    }
}
