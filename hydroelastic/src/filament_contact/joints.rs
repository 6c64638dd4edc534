//! Merging of contacts that several segments report.
//!
//! Contact along a chain belongs at local minima of the distance. A segment whose nearest point is a vertex reports a
//! contact there. The next segment reports the same contact if the vertex is a true minimum; otherwise it reports a
//! deeper one in its interior, and the one at the vertex is dropped. So a contact that slides along the chain passes
//! from segment to segment without being counted twice. Ends of overlaps (of parallel segments or faces) are kept, with
//! shares that add up to one.

use crate::contact_point::{ContactKey, ContactPoint, PointStiffness, Primitive};
use crate::filament::Filament;

/// Position of a contact on a segment or its partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Position {
    /// In the interior of a segment.
    Segment(usize),
    /// At a vertex of the filament.
    Vertex(u32),
    /// A ball of another surface.
    Ball(usize),
    /// A feature of a rigid shape.
    Feature(u32),
}

/// Origin of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Nearest points of two curved objects: dropped unless they are a minimum along the chain.
    Nearest,
    /// The same, of two parallel segments without overlap.
    NoOverlap,
    /// An end of the overlap of two flat or parallel objects.
    Overlap,
}

/// A contact of one segment before merging at joints.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentContact {
    pub(super) at: Position,
    pub(super) other: Position,
    /// Distinguishes contacts at the same two positions, such as the corners of a flat segment's end.
    pub(super) tag: u64,
    pub(super) kind: Kind,
    /// Share of the pair's stiffness; with a share of zero the contact only takes part in the test for a minimum.
    pub(super) share: f64,
    pub(super) contact: ContactPoint,
}

/// Distance from an end of a segment, relative to its length, within which a point counts as at the vertex.
const AT_END: f64 = 1e-6;

/// The position on segment `i` at a fraction.
pub(super) fn position_on(f: &Filament, i: usize, fraction: f64) -> Position {
    let [a, b] = f.segments()[i];
    if fraction <= AT_END {
        Position::Vertex(a)
    } else if fraction >= 1.0 - AT_END {
        Position::Vertex(b)
    } else {
        Position::Segment(i)
    }
}

/// Appends the merged contacts of `found` in ascending order of keys.
pub(super) fn emit(
    found: &mut [SegmentContact],
    f: &Filament,
    g: Option<&Filament>,
    out: &mut Vec<ContactPoint>,
) {
    if g.is_some_and(|g| g.id() == f.id()) {
        // The same pair of positions can have been found from either side.
        for x in found.iter_mut().filter(|x| x.at < x.other) {
            (x.at, x.other) = (x.other, x.at);
            x.contact = x.contact.swapped();
        }
    }
    found.sort_unstable_by(|x, y| {
        let depth = |c: &SegmentContact| c.contact.signed_distance;
        (x.at, x.other, x.tag)
            .cmp(&(y.at, y.other, y.tag))
            .then(depth(x).total_cmp(&depth(y)))
            .then_with(|| edge(x).cmp(&edge(y)))
    });
    let from = out.len();
    for positions in found.chunk_by(|x, y| (x.at, x.other) == (y.at, y.other)) {
        for (k, group) in positions.chunk_by(|x, y| x.tag == y.tag).enumerate() {
            let first = &group[0];
            let is_lone = group.iter().all(|x| x.kind != Kind::Overlap);
            if is_lone && group.len() < reports_of_a_minimum(first, f, g) {
                continue;
            }
            let counted = group
                .iter()
                .filter(|x| is_lone || x.kind != Kind::NoOverlap);
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

/// The segment that carries the material point of A.
fn edge(found: &SegmentContact) -> Primitive {
    found.contact.a.primitive
}

/// Number of segment pairs that report a contact at these positions if it is a minimum along both chains.
fn reports_of_a_minimum(found: &SegmentContact, f: &Filament, g: Option<&Filament>) -> usize {
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

/// Segments adjacent to a position.
fn segments_at(position: Position, f: &Filament) -> ([usize; 2], usize) {
    match position {
        Position::Segment(i) => ([i, 0], 1),
        Position::Vertex(v) => {
            let own = |i: &usize| f.segments().get(*i).is_some_and(|ends| ends.contains(&v));
            // Vertices are numbered along the chain: the segments of vertex v have numbers near v.
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
        Position::Ball(_) | Position::Feature(_) => ([0, 0], 1),
    }
}

/// `k` counts contacts at the same two positions.
fn key(found: &SegmentContact, k: usize) -> ContactKey {
    let number = |position: Position| match position {
        Position::Segment(i) => 2 * i as u32 + 1,
        Position::Vertex(v) => 2 * v,
        Position::Ball(v) => v as u32,
        Position::Feature(feature) => feature,
    };
    ContactKey::new(16 * number(found.at) + k as u32, number(found.other))
}
