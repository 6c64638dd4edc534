//! Contacts at internal edges: with a part of an obstacle that a flush neighbour covers.
//!
//! A particle that slides over the seam of two tiles is near the upper edge of the next one. That edge would push it back:
//!
//! ```text
//!          o x
//!        / |
//!   ----p----------   p: nearest point of the next tile
//!     T | T'          the particle is above T'
//! ```
//!
//! Contact with T is dropped if p is in T', and if T has no surface above: from p, along the normal of T' to beyond its surface, the way
//! leads out of T. A wall that stands on T' continues there. Where each covers the other the particle is above the seam itself, and
//! keeps both contacts.

use nalgebra::Vector3;

use super::contact_problem::Contact;
use super::detection::{Placed, Scene};

/// Steps of up to this fraction of the grid spacing count as flush.
const FLUSH: f64 = 1e-3;

/// Removes contacts from `out[first..]` that flush neighbours cover; the others keep their order.
pub(super) fn drop_covered<T>(
    scene: &Scene<'_, T>,
    placed: &[Placed<'_>],
    first: usize,
    out: &mut Vec<Contact>,
) {
    let found = &out[first..];
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|&i| found[i].particle);
    let mut covered = vec![false; found.len()];
    let covers = |j: usize, i: usize| {
        let radius = scene.parts.objects[found[i].object as usize].radius;
        let flush = FLUSH * scene.parts.settings.spacing;
        covers(placed, &found[j], (&found[i], radius), flush)
    };
    for own in order.chunk_by(|&i, &j| found[i].particle == found[j].particle) {
        for &i in own {
            covered[i] = (own.iter()).any(|&j| i != j && covers(j, i) && !covers(i, j));
        }
    }
    let mut covered = covered.into_iter();
    let mut number = 0;
    out.retain(|_| {
        number += 1;
        number <= first || !covered.next().unwrap_or(false)
    });
}

/// Whether the obstacle of `other` covers the point of a contact of the same particle, a ball of this radius (m).
fn covers(
    placed: &[Placed<'_>],
    other: &Contact,
    (contact, radius): (&Contact, f64),
    flush: f64,
) -> bool {
    let distance_to = |of: &Contact, p_W: Vector3<f64>| {
        let placed = &placed[of.obstacle as usize];
        placed.signed_distance(&p_W.into()).value
    };
    if distance_to(other, contact.p_WC) > flush {
        return false;
    }
    let depth_of_centre = (-other.signed_distance - radius).max(0.0);
    let above = contact.p_WC + other.normal * (2.0 * flush + depth_of_centre);
    distance_to(contact, above) >= flush
}
