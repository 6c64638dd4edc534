//! Recovery of sharp edges and corners: nearby boundary vertices are moved onto them.

use nalgebra::Vector3;

use super::cut::Filled;
use crate::mesh::tet_mesh::tet_quality;
use crate::pressure_bvh::{PressureBox, PressureBvh};
use crate::shape::MeshShape;

/// Edges whose face normals differ by more than 30° are sharp.
const SHARP_COSINE: f64 = 0.866;
/// A vertex moves only if no adjacent tetrahedron falls below this quality.
const QUALITY_MIN: f64 = 0.1;

struct SharpEdge {
    ends: [Vector3<f64>; 2],
}

/// Moves the boundary vertex nearest to each corner onto it, then other boundary vertices near sharp edges onto those
/// edges.
pub(crate) fn keep(filled: &mut Filled, shape: &MeshShape, edge: f64) {
    let mut sharp = Vec::new();
    let mut degree = vec![0_u32; shape.vertices().len()];
    let mut direction_sum = vec![Vector3::zeros(); shape.vertices().len()];
    for e in shape.edges() {
        let [m, n] = e.triangles.map(|t| *shape.normal(t));
        if m.dot(&n) < SHARP_COSINE {
            let ends = e.vertices.map(|v| shape.vertices()[v as usize].coords);
            let along = (ends[1] - ends[0]).normalize();
            for (v, sign) in e.vertices.iter().zip([1.0, -1.0]) {
                degree[*v as usize] += 1;
                direction_sum[*v as usize] += along * sign;
            }
            sharp.push(SharpEdge { ends });
        }
    }
    if sharp.is_empty() {
        return;
    }
    let around = Incidence::new(filled);
    let mut moved = vec![false; filled.vertices.len()];
    let boundary: Vec<u32> = (0..filled.vertices.len() as u32)
        .filter(|&v| filled.on_surface[v as usize] && !around.of(v).is_empty())
        .collect();
    let points = boundary
        .iter()
        .map(|&v| PressureBox::of_points([filled.vertices[v as usize]]));
    let tree = PressureBvh::new(&points.collect::<Vec<_>>());
    let mut stack = Vec::new();
    for (v, p) in shape.vertices().iter().enumerate() {
        // Two collinear sharp edges do not form a corner.
        if degree[v] == 0 || degree[v] == 2 && direction_sum[v].norm() < 0.5 {
            continue;
        }
        let mut near: Vec<(f64, u32)> = Vec::new();
        let reach = Vector3::repeat(0.8 * edge);
        tree.visit(
            &mut stack,
            |r| overlaps(r, &(p.coords - reach), &(p.coords + reach)),
            |i| {
                let b = boundary[i as usize];
                near.push(((filled.vertices[b as usize] - p.coords).norm(), b));
            },
        );
        near.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        for (_, b) in near.into_iter().take(4) {
            if !moved[b as usize] && around.try_move(filled, b, p.coords) {
                moved[b as usize] = true;
                break;
            }
        }
    }
    let boxes: Vec<PressureBox> = sharp
        .iter()
        .map(|s| PressureBox::of_points(s.ends))
        .collect();
    let edges = PressureBvh::new(&boxes);
    let reach = Vector3::repeat(0.4 * edge);
    for &b in &boundary {
        if moved[b as usize] {
            continue;
        }
        let x = filled.vertices[b as usize];
        let mut best: Option<(f64, Vector3<f64>)> = None;
        edges.visit(
            &mut stack,
            |r| overlaps(r, &(x - reach), &(x + reach)),
            |e| {
                let [from, to] = sharp[e as usize].ends;
                let along = to - from;
                let t = (along.dot(&(x - from)) / along.norm_squared()).clamp(0.0, 1.0);
                let foot = from + along * t;
                let distance = (foot - x).norm();
                if distance < 0.4 * edge && best.is_none_or(|b| distance < b.0) {
                    best = Some((distance, foot));
                }
            },
        );
        if let Some((_, foot)) = best {
            around.try_move(filled, b, foot);
        }
    }
}

fn overlaps(r: &PressureBox, min: &Vector3<f64>, max: &Vector3<f64>) -> bool {
    (0..3).all(|k| r.min[k] <= max[k] && min[k] <= r.max[k])
}

/// The tetrahedra adjacent to each vertex.
struct Incidence {
    start: Vec<u32>,
    tets: Vec<u32>,
}

impl Incidence {
    fn new(filled: &Filled) -> Self {
        let mut start = vec![0_u32; filled.vertices.len() + 1];
        for v in filled.tets.iter().flatten() {
            start[*v as usize + 1] += 1;
        }
        for i in 0..filled.vertices.len() {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut tets = vec![0; 4 * filled.tets.len()];
        for (t, tet) in filled.tets.iter().enumerate() {
            for v in tet {
                tets[next[*v as usize] as usize] = t as u32;
                next[*v as usize] += 1;
            }
        }
        Self { start, tets }
    }

    fn of(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.tets[self.start[v] as usize..self.start[v + 1] as usize]
    }

    /// Moves a vertex unless an adjacent tetrahedron would fall below the minimum quality.
    fn try_move(&self, filled: &mut Filled, vertex: u32, to: Vector3<f64>) -> bool {
        let from = filled.vertices[vertex as usize];
        let quality = |filled: &Filled, t: u32, sign: f64| {
            sign * tet_quality(filled.tets[t as usize].map(|v| filled.vertices[v as usize]))
        };
        // Tetrahedra are not oriented yet: each must keep its sign.
        let signs: Vec<f64> = self
            .of(vertex)
            .iter()
            .map(|&t| quality(filled, t, 1.0).signum())
            .collect();
        filled.vertices[vertex as usize] = to;
        let valid = self
            .of(vertex)
            .iter()
            .zip(&signs)
            .all(|(&t, s)| quality(filled, t, *s) >= QUALITY_MIN);
        if !valid {
            filled.vertices[vertex as usize] = from;
        }
        valid
    }
}
