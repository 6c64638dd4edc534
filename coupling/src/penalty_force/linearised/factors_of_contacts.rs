//! What contacts add to the sparse factors of bodies.

use nalgebra::{Matrix3, Vector3};
use pliant_hydroelastic::Branch;

use super::{Contacts, Linearised};
use crate::penalty_force::attached::{Attached, Carrier, Load};

impl Linearised {
    /// Adds δt² k JᵀCJ of every contact to the factor of each body that has one.
    pub(super) fn add_to_factors(&mut self, contacts: &Contacts<'_>) {
        let dt = contacts.bodies.time_step.length_s;
        let mut points = Vec::new();
        for contact in contacts.active() {
            points_of(contact, contacts, &mut points);
            let weight = holding(contact) * (contact.pull.stiffness * dt * dt);
            for &(p, w_p) in &points {
                for &(q, w_q) in &points {
                    let pull = weight * (w_p * w_q);
                    self.add_pair(contacts, (p, q), &pull);
                }
            }
        }
    }

    /// Adds cᵀ(pull) c of two touched vertices, if they are of one body.
    fn add_pair(&mut self, contacts: &Contacts<'_>, (p, q): (usize, usize), pull: &Matrix3<f64>) {
        let Contacts {
            bodies, touched, ..
        } = contacts;
        let (of_p, of_q) = (touched.columns(p), touched.columns(q));
        let (Some((first, _)), Some((other, _))) = (of_p.first(), of_q.first()) else {
            return;
        };
        let body = bodies.body_of(*first as usize);
        if body != bodies.body_of(*other as usize) {
            return;
        }
        let start = bodies.range(body).start;
        let Some(factor) = self.preconditioner.factor_mut(body) else {
            return;
        };
        for (j, b) in of_q {
            let along: Vector3<f64> = pull * b;
            let terms = of_p
                .iter()
                .map(|(i, a)| (*i as usize - start, a.dot(&along)));
            factor.add_to_column(*j as usize - start, terms);
        }
    }
}

/// The touched vertices of a contact, with their weights in the velocity of the particle relative to the object.
fn points_of(contact: &Attached, contacts: &Contacts<'_>, out: &mut Vec<(usize, f64)>) {
    out.clear();
    if let Carrier::Vertex(vertex) = contact.carrier {
        out.push((vertex, 1.0));
    }
    let known = |load: Load| contacts.touched.known(load.place, load.vertex);
    let loads = contact.loads(contacts.places);
    out.extend(loads.map(|load| (known(load), load.weight)));
}

/// C: what of the displacement the force resists.
fn holding(contact: &Attached) -> Matrix3<f64> {
    let normal = contact.normal();
    match contact.branch() {
        Branch::Stick => Matrix3::identity(),
        Branch::Slip => normal * normal.transpose(),
        Branch::Separate => Matrix3::zeros(),
    }
}
