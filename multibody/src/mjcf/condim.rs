//! `condim`: geoms without friction.
//!
//! A contact has the larger `condim` of its two geoms, so that only two geoms with `condim` 1 slide without friction. Here friction
//! belongs to shapes: a geom loses its own if all geoms of the file that can touch it have `condim` 1.

use std::collections::BTreeSet;

use super::File;
use super::world::{Tree, TreeLink};
use crate::markup::Remarks;

/// A geom in contact: its link, and its number among the collision shapes of the link.
type Contact = (usize, usize);

/// More pairs than this are counted instead of named.
const NAMED_PAIRS_MAX: usize = 4;

/// Removes the friction of geoms that touch only geoms with `condim` 1, and reports where that differs from MuJoCo. `apart`
/// holds the pairs of links without contact, in ascending order.
pub(super) fn apply(
    file: &File<'_>,
    tree: &mut Tree,
    apart: &BTreeSet<(usize, usize)>,
    remarks: &mut Remarks,
) {
    let all = |(l, link): (usize, &TreeLink)| {
        let n = link.masks.len();
        (0..n).map(move |k| (l, k))
    };
    let geoms: Vec<Contact> = tree.links.iter().enumerate().flat_map(all).collect();
    let slides = |(l, k): Contact| tree.links[l].masks[k].slides;
    let sliding: Vec<Contact> = geoms.iter().copied().filter(|g| slides(*g)).collect();
    let touch = |first: Contact, second: Contact| {
        let ((a, i), (b, j)) = (first, second);
        let (one, other) = (&tree.links[a], &tree.links[b]);
        one.rigid != other.rigid
            && !apart.contains(&(a.min(b), a.max(b)))
            && one.masks[i].touches(other.masks[j])
    };
    let (mut smooth, mut alone, mut rough) = (Vec::new(), Vec::new(), Vec::new());
    for &geom in &sliding {
        let mut others = geoms.iter().filter(|other| touch(geom, **other)).peekable();
        match (others.peek().is_some(), others.all(|other| slides(*other))) {
            (false, _) => alone.push(geom),
            (true, true) => smooth.push(geom),
            (true, false) => rough.push(geom),
        }
    }
    let mut pairs = Vec::new();
    for (n, &first) in rough.iter().enumerate() {
        let others = rough[..n].iter().filter(|second| touch(first, **second));
        pairs.extend(others.map(|second| (*second, first)));
    }

    let name = |(l, k): Contact| &*tree.links[l].spec.collisions[k].name;
    let place = &file.root.place;
    if !alone.is_empty() {
        let names: Vec<&str> = alone.iter().copied().map(name).collect();
        let text = format!(
            "condim = 1 has no effect without a second geom with condim = 1 that touches: {}",
            names.join(", ")
        );
        remarks.suspicious(place, text);
    }
    if !smooth.is_empty() {
        let names: Vec<&str> = smooth.iter().copied().map(name).collect();
        let text = format!(
            "condim = 1: no friction, not even on bodies outside the file: {}",
            names.join(", ")
        );
        remarks.suspicious(place, text);
    }
    if !pairs.is_empty() {
        let named = pairs.iter().take(NAMED_PAIRS_MAX);
        let named = named.map(|(a, b)| format!("{} and {}", name(*a), name(*b)));
        let more = match pairs.len().saturating_sub(NAMED_PAIRS_MAX) {
            0 => String::new(),
            more => format!(", and {more} more pairs"),
        };
        let text = format!(
            "condim = 1: friction acts, but not in MuJoCo, between {}{more}",
            named.collect::<Vec<_>>().join(", ")
        );
        remarks.suspicious(place, text);
    }
    for (l, k) in smooth {
        let proximity = &mut tree.links[l].spec.collisions[k].proximity;
        (proximity.mu_dynamic, proximity.mu_static) = (Some(0.0), Some(0.0));
    }
}
