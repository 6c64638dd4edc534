//! The depth field of a body at rest: linear on its tetrahedra, which are divided where the depth would be zero
//! throughout.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{Point3, Vector3};

use crate::GeometryError;
use crate::contact_point::Primitive;
use crate::field::{Attachment, FieldMesh, PressureField};
use crate::shape::{MeshShape, closest_on_triangle};

/// The body's vertices that carry a vertex of the field, with their weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carrier {
    vertices: [u32; 4],
    weights: [f64; 4],
}

impl Carrier {
    /// The mean of up to four vertices.
    fn mean(of: &[u32]) -> Self {
        let (mut vertices, mut weights) = ([of[0]; 4], [0.0; 4]);
        for (k, v) in of.iter().enumerate() {
            vertices[k] = *v;
            weights[k] = 1.0 / of.len() as f64;
        }
        Self { vertices, weights }
    }

    pub(super) fn position(&self, points: &[Vector3<f64>]) -> Vector3<f64> {
        let terms = self.vertices.iter().zip(&self.weights);
        terms.map(|(v, w)| points[*v as usize] * *w).sum()
    }

    /// Barycentric coordinates in a tetrahedron that contains its carrying vertices.
    fn weights_in(&self, tet: &[u32; 4]) -> [f64; 4] {
        tet.map(|corner| {
            let terms = self.vertices.iter().zip(&self.weights);
            terms.filter(|(v, _)| **v == corner).map(|(_, w)| w).sum()
        })
    }
}

const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The field, its tetrahedra attached to those of the body, and the carriers of its vertices.
///
/// Interior edges between vertices of the surface are divided at their midpoint. Divided at their centroid are faces
/// with three such edges or more than one interior divided edge, and tetrahedra with such a face, with more than one
/// such edge, or with all corners on the surface and no such edge. A single divided edge bisects its faces and
/// tetrahedra: a brick around its diagonal becomes its twelve surface triangles joined to its centre, and its side
/// touches another brick without slivers.
///
/// Faces of the surface are never divided, so each is the base of one tetrahedron of the field, in which the depth is
/// the exact distance from it as long as it is the face nearest to the apex.
pub(super) fn build(
    points: &[Point3<f64>],
    triangles: &[[u32; 3]],
    tetrahedra: &[[u32; 4]],
) -> Result<(PressureField, Vec<Carrier>), GeometryError> {
    let distance = distance_to(points, triangles);
    let mut on_surface = vec![false; points.len()];
    triangles
        .iter()
        .flatten()
        .for_each(|v| on_surface[*v as usize] = true);
    let skin_faces: BTreeSet<[u32; 3]> = triangles.iter().map(|t| sorted(*t)).collect();
    let skin_edges: BTreeSet<[u32; 2]> = triangles
        .iter()
        .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]].map(sorted))
        .collect();
    let mut carriers: Vec<Carrier> = (0..points.len() as u32)
        .map(|v| Carrier::mean(&[v]))
        .collect();
    let mut edge_midpoint: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    let mut face_centroid: BTreeMap<[u32; 3], u32> = BTreeMap::new();
    let outer = |vertices: &[u32]| vertices.iter().all(|v| on_surface[*v as usize]);
    for tet in tetrahedra {
        for edge in EDGES.map(|e| sorted(e.map(|k| tet[k]))) {
            if outer(&edge) && !skin_edges.contains(&edge) {
                edge_midpoint.entry(edge).or_insert_with(|| {
                    carriers.push(Carrier::mean(&edge));
                    carriers.len() as u32 - 1
                });
            }
        }
    }
    for tet in tetrahedra {
        for face in FACES.map(|f| sorted(f.map(|k| tet[k]))) {
            let edges = [[face[0], face[1]], [face[0], face[2]], [face[1], face[2]]];
            let divided = edges.iter().filter(|e| edge_midpoint.contains_key(*e));
            let needed = match divided.count() {
                0 => outer(&face) && !skin_faces.contains(&face),
                n => n > 1,
            };
            if needed {
                face_centroid.entry(face).or_insert_with(|| {
                    carriers.push(Carrier::mean(&face));
                    carriers.len() as u32 - 1
                });
            }
        }
    }
    let (mut tets, mut attachments) = (Vec::new(), Vec::new());
    let mut rim = Vec::with_capacity(6);
    for (index, tet) in (0_u32..).zip(tetrahedra) {
        let faces = FACES.map(|f| f.map(|k| tet[k]));
        let whole = faces
            .iter()
            .all(|f| !face_centroid.contains_key(&sorted(*f)));
        let from = tets.len();
        let mut divided = EDGES.iter().filter_map(|ends| {
            let middle = edge_midpoint.get(&sorted(ends.map(|k| tet[k])))?;
            Some((ends, *middle))
        });
        let divided = (divided.next(), divided.next());
        if whole && divided.0.is_none() && !outer(tet) {
            tets.push(*tet);
        } else if let (true, (Some((ends, middle)), None)) = (whole, divided) {
            for &end in ends {
                let mut part = *tet;
                part[end] = middle;
                tets.push(part);
            }
        } else {
            let middle = carriers.len() as u32;
            carriers.push(Carrier::mean(tet));
            for face in faces {
                // Counter-clockwise seen from outside: with the centre as first corner the volume is positive.
                rim.clear();
                for k in 0..3 {
                    let edge = [face[k], face[(k + 1) % 3]];
                    rim.push(edge[0]);
                    rim.extend(edge_midpoint.get(&sorted(edge)));
                }
                if let Some(&center) = face_centroid.get(&sorted(face)) {
                    for k in 0..rim.len() {
                        tets.push([middle, center, rim[k], rim[(k + 1) % rim.len()]]);
                    }
                    continue;
                }
                // From the midpoint of its divided edge, if it has one.
                let added = rim.iter().position(|v| *v as usize >= points.len());
                rim.rotate_left(added.unwrap_or(0));
                for k in 1..rim.len() - 1 {
                    tets.push([middle, rim[0], rim[k], rim[k + 1]]);
                }
            }
        }
        attachments.extend(tets[from..].iter().map(|part| Attachment {
            primitive: Primitive::Tetrahedron(index),
            vertices: *tet,
            weights: part.map(|v| carriers[v as usize].weights_in(tet)),
        }));
    }
    let places: Vec<Vector3<f64>> = points.iter().map(|p| p.coords).collect();
    let vertices: Vec<Vector3<f64>> = carriers.iter().map(|c| c.position(&places)).collect();
    let depths: Vec<f64> = (0_usize..)
        .zip(&vertices)
        .map(|(v, x)| match on_surface.get(v) {
            Some(true) => 0.0,
            _ => distance(x),
        })
        .collect();
    let depth = depths.iter().copied().fold(0.0, f64::max);
    if depth <= 0.0 || !depth.is_finite() {
        return Err(GeometryError::Meshing {
            reason: format!("no point of the body is below its surface (depth {depth} m)"),
        });
    }
    let field = PressureField::assemble(FieldMesh {
        vertices,
        pressures: depths,
        tets,
        depth,
        margin: 0.0,
    })?
    .attached(attachments)?;
    Ok((field.without_patches(), carriers))
}

fn sorted<const N: usize>(mut vertices: [u32; N]) -> [u32; N] {
    vertices.sort_unstable();
    vertices
}

/// Distance to a set of triangles: by a tree for a closed surface, otherwise by brute force.
fn distance_to<'a>(
    points: &'a [Point3<f64>],
    triangles: &'a [[u32; 3]],
) -> impl Fn(&Vector3<f64>) -> f64 + 'a {
    let mut number = vec![u32::MAX; points.len()];
    let mut own = Vec::new();
    let renumbered: Vec<[u32; 3]> = triangles
        .iter()
        .map(|t| {
            t.map(|v| {
                if number[v as usize] == u32::MAX {
                    number[v as usize] = own.len() as u32;
                    own.push(points[v as usize]);
                }
                number[v as usize]
            })
        })
        .collect();
    let closed = MeshShape::new(&own, &renumbered).ok();
    move |x| {
        let x = Point3::from(*x);
        match &closed {
            Some(surface) => surface.nearest(&x).2,
            None => triangles
                .iter()
                .map(|t| {
                    let corners = t.map(|v| points[v as usize]);
                    (closest_on_triangle(&x, &corners).0 - x).norm()
                })
                .fold(f64::INFINITY, f64::min),
        }
    }
}
