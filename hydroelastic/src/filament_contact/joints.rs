//! One contact where several segments report the same.
//!
//! Along a chain contact belongs where the distance is least. A segment whose nearest point is a vertex reports a contact
//! there, and so does the next segment if the vertex is a true minimum; if it is not, the next segment reports a deeper one in
//! its inside, and the one at the vertex is left out. So a contact that slides along the chain passes from segment to segment
//! without being doubled. Ends of common parts (of parallel segments, of faces) are kept, their shares added up to one.

use crate::contact_point::{ContactKey, ContactPoint, PointStiffness, Primitive};
use crate::filament::Filament;

/// Where along a segment a contact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// In the inside of a segment.
    Segment(usize),
    /// At a vertex of the filament.
    Vertex(u32),
    /// A ball of another surface.
    Ball(usize),
    /// A feature of a rigid shape.
    Feature(u32),
}

/// What a contact stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The nearest points of two curved things: left out where it is no minimum along the chain.
    Nearest,
    /// The same of two parallel segments that lie one behind the other.
    Behind,
    /// An end of what two flat or parallel things have in common.
    CommonPart,
}

/// A contact of one segment, before those at joints are united.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) at: Place,
    pub(super) other: Place,
    /// Tells contacts at the same two places apart, such as the corners of a flat segment's end.
    pub(super) tag: u64,
    pub(super) kind: Kind,
    /// Part of the pair's stiffness; zero only counts as a witness.
    pub(super) share: f64,
    pub(super) contact: ContactPoint,
}

/// How near to an end of a segment, in parts of its length, a point counts as at the vertex.
const AT_END: f64 = 1e-6;

/// The place on segment `i` at a fraction.
pub(super) fn place_on(f: &Filament, i: usize, fraction: f64) -> Place {
    let [a, b] = f.segments()[i];
    if fraction <= AT_END {
        Place::Vertex(a)
    } else if fraction >= 1.0 - AT_END {
        Place::Vertex(b)
    } else {
        Place::Segment(i)
    }
}

/// Appends what is left of `found`, in rising order of keys.
pub(super) fn emit(
    found: &mut [Found],
    f: &Filament,
    g: Option<&Filament>,
    out: &mut Vec<ContactPoint>,
) {
    if g.is_some_and(|g| g.id() == f.id()) {
        // The same two places may have been met from either side.
        for x in found.iter_mut().filter(|x| x.at < x.other) {
            (x.at, x.other) = (x.other, x.at);
            x.contact = x.contact.swapped();
        }
    }
    found.sort_unstable_by(|x, y| {
        let depth = |c: &Found| c.contact.signed_distance;
        (x.at, x.other, x.tag)
            .cmp(&(y.at, y.other, y.tag))
            .then(depth(x).total_cmp(&depth(y)))
            .then_with(|| edge(x).cmp(&edge(y)))
    });
    let from = out.len();
    for places in found.chunk_by(|x, y| (x.at, x.other) == (y.at, y.other)) {
        for (k, group) in places.chunk_by(|x, y| x.tag == y.tag).enumerate() {
            let first = &group[0];
            let is_lone = group.iter().all(|x| x.kind != Kind::CommonPart);
            if is_lone && group.len() < reports_of_a_minimum(first, f, g) {
                continue;
            }
            let counted = group.iter().filter(|x| is_lone || x.kind != Kind::Behind);
            let share: f64 = counted.map(|x| x.share).sum();
            if share <= 0.0 {
                continue;
            }
            out.push(ContactPoint {
                stiffness: PointStiffness::Share(share.min(1.0)),
                key: key(first, k),
                ..first.contact
            });
        }
    }
    out[from..].sort_unstable_by_key(|c| c.key);
}

/// The segment that carries a contact's A.
fn edge(found: &Found) -> Primitive {
    found.contact.a.primitive
}

/// How many pairs of segments report a contact at these places if it is a minimum along both chains.
fn reports_of_a_minimum(found: &Found, f: &Filament, g: Option<&Filament>) -> usize {
    let (on_A, n_A) = segments_at(found.at, f);
    let Some(g) = g else {
        return n_A;
    };
    let (on_B, n_B) = segments_at(found.other, g);
    let same = f.id() == g.id();
    let pairs = on_A[..n_A]
        .iter()
        .flat_map(|i| on_B[..n_B].iter().map(move |j| (*i, *j)));
    pairs.filter(|(i, j)| !(same && f.excludes(*i, *j))).count()
}

/// Segments that meet at a place.
fn segments_at(place: Place, f: &Filament) -> ([usize; 2], usize) {
    match place {
        Place::Segment(i) => ([i, 0], 1),
        Place::Vertex(v) => {
            let own = |i: &usize| f.segments().get(*i).is_some_and(|ends| ends.contains(&v));
            // Vertices are numbered along the chain: the segments of vertex v are about number v.
            let near = [v as usize, (v as usize).wrapping_sub(1)];
            let found = near.into_iter().find(own);
            let Some(i) = found.or_else(|| (0..f.segments().len()).find(own)) else {
                return ([0, 0], 0);
            };
            let side = usize::from(f.segments()[i][1] == v);
            match f.neighbours(i)[side] {
                Some(next) => ([i, next as usize], 2),
                None => ([i, 0], 1),
            }
        }
        Place::Ball(_) | Place::Feature(_) => ([0, 0], 1),
    }
}

/// `k` counts contacts at the same two places.
fn key(found: &Found, k: usize) -> ContactKey {
    let number = |place: Place| match place {
        Place::Segment(i) => 2 * i as u32 + 1,
        Place::Vertex(v) => 2 * v,
        Place::Ball(v) => v as u32,
        Place::Feature(feature) => feature,
    };
    ContactKey::new(16 * number(found.at) + k as u32, number(found.other))
}
