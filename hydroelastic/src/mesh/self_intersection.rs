//! Detection of self-intersections: finds one, with a bound on the work.

use super::index::TriangleIdx;
use super::moments::six_volumes;
use super::tri_mesh::TriMesh;
use nalgebra::Vector3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};

/// Limit on the pairs of triangles with overlapping boxes that are tested, per triangle; ordinary meshes have about 15.
const PAIRS_PER_TRIANGLE_MAX: usize = 300;

pub(crate) enum SelfIntersection {
    None,
    Between(TriangleIdx, TriangleIdx),
    /// The bound on the work was reached.
    Unknown,
}

/// Searches for an edge of one triangle that passes through another triangle without a common vertex.
///
/// Coplanar triangles and triangles with a common vertex are not tested.
pub(crate) fn find_self_intersection(mesh: &TriMesh) -> SelfIntersection {
    let boxes: Vec<Aabb> = (0..mesh.triangles().len() as u32)
        .map(|t| {
            let [a, b, c] = mesh.corners(TriangleIdx(t));
            Aabb {
                mins: a.inf(&b).inf(&c).into(),
                maxs: a.sup(&b).sup(&c).into(),
            }
        })
        .collect();
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
    let mut budget = 10_000 + PAIRS_PER_TRIANGLE_MAX * boxes.len();
    for (one, two) in tree.leaf_pairs(&tree, |a, b| a.intersects(b)) {
        let Some(left) = budget.checked_sub(1) else {
            return SelfIntersection::Unknown;
        };
        budget = left;
        if one < two && triangles_cross(mesh, TriangleIdx(one), TriangleIdx(two)) {
            return SelfIntersection::Between(TriangleIdx(one), TriangleIdx(two));
        }
    }
    SelfIntersection::None
}

fn triangles_cross(mesh: &TriMesh, one: TriangleIdx, two: TriangleIdx) -> bool {
    let [v, w] = [one, two].map(|t| mesh.triangles()[t.index()]);
    if v.iter().any(|vertex| w.contains(vertex)) {
        return false;
    }
    let (p, q) = (mesh.corners(one), mesh.corners(two));
    (0..3).any(|k| {
        segment_crosses([p[k], p[(k + 1) % 3]], q) || segment_crosses([q[k], q[(k + 1) % 3]], p)
    })
}

/// Whether the ends lie strictly on opposite sides of the triangle's plane and the segment passes through the triangle
/// or its boundary (two cubes may intersect exactly in the diagonals of their faces).
fn segment_crosses([from, to]: [Vector3<f64>; 2], [a, b, c]: [Vector3<f64>; 3]) -> bool {
    let sides = [six_volumes(&a, &b, &c, &from), six_volumes(&a, &b, &c, &to)];
    if !(sides[0] < 0.0 && sides[1] > 0.0 || sides[0] > 0.0 && sides[1] < 0.0) {
        return false;
    }
    let volumes = [(a, b), (b, c), (c, a)].map(|(x, y)| six_volumes(&from, &to, &x, &y));
    volumes.iter().all(|volume| *volume >= 0.0) || volumes.iter().all(|volume| *volume <= 0.0)
}

/// Whether an edge of one triangle passes through the inside of the other, beyond round-off: triangles that touch do not.
pub(super) fn pass_through(p: [Vector3<f64>; 3], q: [Vector3<f64>; 3]) -> bool {
    (0..3).any(|k| {
        segment_passes_through([p[k], p[(k + 1) % 3]], q)
            || segment_passes_through([q[k], q[(k + 1) % 3]], p)
    })
}

fn segment_passes_through([from, to]: [Vector3<f64>; 2], [a, b, c]: [Vector3<f64>; 3]) -> bool {
    let size = [to - from, b - a, c - a].map(|edge| edge.norm());
    let round_off = 1e-12 * size.iter().fold(0.0_f64, |a, b| a.max(*b)).powi(3);
    let above = six_volumes(&a, &b, &c, &from);
    let below = six_volumes(&a, &b, &c, &to);
    if above.abs().min(below.abs()) <= round_off || (above > 0.0) == (below > 0.0) {
        return false;
    }
    let around = [(a, b), (b, c), (c, a)].map(|(x, y)| six_volumes(&from, &to, &x, &y));
    around.iter().all(|volume| *volume > round_off)
        || around.iter().all(|volume| *volume < -round_off)
}
