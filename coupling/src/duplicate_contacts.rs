//! A vertex inside several shapes of one body, counted once.
//!
//! The shapes of a body may overlap, and each would exert its own force on a vertex in the overlap. Of contacts with nearly the same normal
//! the deepest is kept. Contacts with different normals belong to the sides of a corner, and all are kept.

use pliant_hydroelastic::Primitive;

use crate::collision::PairContact;
use crate::world::{BodyIdx, Mount, WorldParts};

/// Cosine of the largest angle between normals that count as the same: 30 degrees.
const SAME_NORMAL_COSINE: f64 = 0.866;

/// A vertex and the frame it is in contact with; `None`: the world.
type VertexAndFrame = (BodyIdx, u32, Option<(BodyIdx, u32)>);

/// Workspace of the search.
#[derive(Debug, Default)]
pub(crate) struct DuplicateContacts {
    touching: Vec<(VertexAndFrame, usize)>,
    dropped: Vec<bool>,
}

impl DuplicateContacts {
    /// Removes the shallower ones of duplicate contacts; the others keep their order.
    pub(crate) fn drop_from(&mut self, parts: &WorldParts, contacts: &mut Vec<PairContact>) {
        self.touching.clear();
        let found = contacts.iter().enumerate();
        self.touching
            .extend(found.filter_map(|(i, contact)| Some((vertex_and_frame(parts, contact)?, i))));
        self.touching.sort_unstable();
        self.dropped.clear();
        self.dropped.resize(contacts.len(), false);
        let mut any = false;
        for group in self.touching.chunk_by(|x, y| x.0 == y.0) {
            for (k, &(_, i)) in group.iter().enumerate() {
                for &(_, j) in &group[..k] {
                    let (x, y) = (&contacts[i].point, &contacts[j].point);
                    // Normals seen from the vertex, which may be A of one contact and B of the other.
                    let sign = if is_on_vertex(&x.a.primitive) == is_on_vertex(&y.a.primitive) {
                        1.0
                    } else {
                        -1.0
                    };
                    let both_here = !self.dropped[i] && !self.dropped[j];
                    if both_here && sign * x.normal_W.dot(&y.normal_W) > SAME_NORMAL_COSINE {
                        let shallower = if x.signed_distance < y.signed_distance {
                            j
                        } else {
                            i
                        };
                        self.dropped[shallower] = true;
                        any = true;
                    }
                }
            }
        }
        if any {
            let mut dropped = self.dropped.iter();
            contacts.retain(|_| !dropped.next().is_some_and(|d| *d));
        }
    }
}

fn is_on_vertex(primitive: &Primitive) -> bool {
    matches!(primitive, Primitive::Vertex(_))
}

/// The vertex and the frame of a contact; `None` unless it is between a vertex and a shape.
fn vertex_and_frame(parts: &WorldParts, contact: &PairContact) -> Option<VertexAndFrame> {
    let mounts = [contact.a, contact.b].map(|g| parts.geometries[g.0].mount);
    let primitives = [contact.point.a.primitive, contact.point.b.primitive];
    let (body, vertex, other) = match (mounts, primitives) {
        ([Mount::Vertices { body }, other], [Primitive::Vertex(v), Primitive::Frame])
        | ([other, Mount::Vertices { body }], [Primitive::Frame, Primitive::Vertex(v)]) => {
            (body, v, other)
        }
        _ => return None,
    };
    match other {
        Mount::World(_) => Some((body, vertex, None)),
        Mount::Frame {
            body: owner, frame, ..
        } => Some((body, vertex, Some((owner, frame)))),
        Mount::Vertices { .. } | Mount::Segments { .. } | Mount::Surface { .. } => None,
    }
}
