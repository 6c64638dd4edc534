//! Anchors of Yamane and Nakamura (2006): springs with dampers, evaluated at the start of the step.
//!
//! ```text
//! f_n = max(0, k d − c ṅ)        f_t = k r − c ṫ,  or μ f_n in its direction where it is longer; then the anchor moves so that r = (f_t + c ṫ)/k
//! ```
//!
//! Anchors on triangles relax as those of the implicit step.
//!
//! r leads from the particle to its anchor in the tangential plane, ṅ and ṫ are the velocity of the particle relative to the object, and c = k τ.

use nalgebra::Vector3;

use super::super::attached::Attached;
use super::super::attachment::{Attachment, AttachmentPlace};
use super::super::gmres::dot;
use super::super::system::System;
use super::contact_rows::row;

/// p; moves the anchors of contacts that slip.
pub(super) fn impulses(system: &mut System, v: &[f64]) -> Vec<f64> {
    for i in 0..system.attached.len() {
        let contact = system.attached[i].clone();
        if !contact.is_active() {
            continue;
        }
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        let velocity = axes.map(|axis| dot(&row(system, &contact, axis), v));
        let (force, shift) = spring_and_damper(system, &contact, &Vector3::from(velocity));
        let attached = &mut system.attached[i];
        attached.set_force(force);
        let slips = shift != Vector3::zeros();
        let relaxed = attached.kept().filter(|_| slips);
        match (&mut attached.attachment.place, relaxed) {
            (AttachmentPlace::InFrame(anchor), _) => {
                let pose = system.places.pose(attached.attachment.object);
                *anchor += pose.rotation.inverse() * shift;
            }
            (place, Some(relaxed)) => *place = relaxed.place,
            (AttachmentPlace::OnMesh { .. } | AttachmentPlace::Crossing(_), None) => {}
        }
    }
    super::lagged::impulses(system)
}

/// The force on the particle, and how far the anchor moves; world axes.
fn spring_and_damper(
    system: &System,
    contact: &Attached,
    velocity: &Vector3<f64>,
) -> (Vector3<f64>, Vector3<f64>) {
    let (k, normal) = (contact.pull.stiffness, contact.normal());
    let Attachment {
        object, particles, ..
    } = contact.attachment;
    let c = k * system.relaxation_time_s(object, particles);
    let in_plane = |u: Vector3<f64>| u - normal * normal.dot(&u);
    let sliding = contact.sliding();
    let offset = in_plane(system.places.pose(object).rotation * sliding.offset);
    let slip = in_plane(*velocity);
    let pressing = (k * sliding.depth - c * normal.dot(velocity)).max(0.0);
    let tried = offset * k - slip * c;
    let share = (contact.pull.friction.sliding * pressing / tried.norm()).min(1.0);
    let friction = match share < 1.0 {
        true => tried * share,
        false => tried,
    };
    (normal * pressing + friction, (friction - tried) / k)
}

/// Anchors of the particles that are inside at the end.
pub(super) fn remember(system: &System, out: &mut Vec<Attachment>) {
    let active = system.attached.iter().filter(|a| a.is_active());
    out.clear();
    out.extend(active.map(|a| a.attachment));
    out.sort_unstable_by_key(Attachment::key);
}
