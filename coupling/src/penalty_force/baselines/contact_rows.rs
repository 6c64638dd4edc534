//! Velocities and impulses of single contacts.

use nalgebra::Vector3;

use super::super::attached::Attached;
use super::super::system::System;

/// Sᵀe of a contact for a direction e in the world: eᵀSv is the velocity of its particle relative to the object along e.
pub(super) fn row(system: &mut System, contact: &Attached, direction: Vector3<f64>) -> Vec<f64> {
    let mut unit = contact.clone();
    unit.set_force(direction / system.bodies.time_step.length_s);
    let all = std::mem::replace(&mut system.attached, vec![unit]);
    let mut row = vec![0.0; system.n_dofs()];
    system.add_contact_impulses(&mut row);
    system.attached = all;
    row
}

/// Two unit vectors that complete `normal`.
pub(super) fn tangents(normal: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let first = normal.cross(&Vector3::ith(normal.iamin(), 1.0)).normalize();
    [first, normal.cross(&first)]
}
