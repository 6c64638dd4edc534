//! Contact of two soft surfaces that do not overlap yet: vertices near triangles and edges near edges, now or on their
//! predicted paths.

use nalgebra::{Point3, Vector3};

use super::patch_points::barycentric;
use super::side::{Side, swap};
use crate::contact_point::{ContactKey, ContactPoint, MaterialPoint, PointStiffness, Primitive};
use crate::pressure_bvh::PressureBox;
use crate::shape::closest_on_triangle;
use crate::soft_mesh::{SkinEdge, SoftMesh};

/// For a vertex and a triangle: largest cosine between the vertex's outward normal and the direction from the triangle
/// to it.
const AWAY_COSINE: f64 = 0.5;
const ROUNDS_MAX: u32 = 60;

/// Appends the points, with S as A; in self-contact the feature of S is the vertex or edge of higher index.
///
/// For each vertex the nearest triangle (or the first that it reaches) is used, for each edge of S the nearest edge.
pub(super) fn collide(
    s: Side<'_>,
    t: Side<'_>,
    margin: f64,
    stack: &mut Vec<(u32, u32)>,
    out: &mut Vec<ContactPoint>,
) {
    let ((surface_S, mesh_S), (surface_T, mesh_T)) = (s, t);
    let is_self = surface_S.id == surface_T.id;
    let from = out.len();
    vertices_on_triangles(mesh_S, mesh_T, is_self, margin, stack, out);
    if !is_self {
        let midpoint = out.len();
        vertices_on_triangles(mesh_T, mesh_S, false, margin, stack, out);
        swap(&mut out[midpoint..]);
    }
    edges_on_edges(mesh_S, mesh_T, is_self, margin, stack, out);
    out[from..].sort_unstable_by_key(|c| c.key);
}

/// Closest approach of two features.
#[derive(Clone, Copy)]
struct Approach {
    entry: f64,
    /// From T to S at that time.
    apart: Vector3<f64>,
    /// Weights of S's and of T's vertices at that time.
    weights_S: [f64; 4],
    weights_T: [f64; 4],
}

/// Distance vector and weights of the nearest points of two features.
type Nearest = (Vector3<f64>, [f64; 4], [f64; 4]);

/// The time at which two features, now at `nearest_now`, come within reach, by conservative advancement. `None` within the
/// margin, where the points of the surface are in contact.
///
/// `speed`: upper bound of the decrease of the distance within the step, m.
fn approach(
    nearest_now: Nearest,
    nearest: impl Fn(f64) -> Nearest,
    speed: impl FnOnce() -> f64,
    margin: f64,
) -> Option<Approach> {
    let mut entry = 0.0;
    let (mut apart, mut weights_S, mut weights_T) = nearest_now;
    let start = apart.norm();
    if start <= margin {
        return None;
    }
    let speed = speed();
    // Within a thousandth of the initial distance they count as in contact; the remainder is part of the gap.
    let reach = (1e-3 * start).min(margin.max(1e-6 * start));
    let mut gap = start;
    for _ in 0..ROUNDS_MAX {
        if gap <= reach {
            break;
        }
        if speed <= 0.0 {
            return None;
        }
        entry += (gap - 0.5 * reach) / speed;
        if entry > 1.0 {
            return None;
        }
        (apart, weights_S, weights_T) = nearest(entry);
        gap = apart.norm();
    }
    if gap > 0.1 * start {
        return None;
    }
    Some(Approach {
        entry,
        apart,
        weights_S,
        weights_T,
    })
}

/// Bounds that contain the box of `points` and its sweep, relative to the drift of the other mesh.
fn swept(points: impl Iterator<Item = (Vector3<f64>, Vector3<f64>)>, margin: f64) -> PressureBox {
    let bounds = PressureBox::of_points(points.flat_map(|(x, path)| [x, x + path]));
    let around = Vector3::repeat(margin);
    PressureBox {
        min: bounds.min - around,
        max: bounds.max + around,
        ..bounds
    }
}

fn vertices_on_triangles(
    s: &SoftMesh,
    t: &SoftMesh,
    is_self: bool,
    margin: f64,
    stack: &mut Vec<(u32, u32)>,
    out: &mut Vec<ContactPoint>,
) {
    let root = t.triangle_tree().root();
    for &v in s.vertices() {
        let (p, path) = (s.point(v), s.path(v));
        let relative = path - t.drift();
        let bounds = swept(std::iter::once((p, relative)), margin);
        if !bounds.boxes_overlap(&root) {
            continue;
        }
        let outward = s.vertex_normal(v);
        let mut best: Option<(u32, Approach, f64)> = None;
        t.triangle_tree().visit_near(stack, &bounds, |triangle| {
            let (corners, normal) = (t.triangle(triangle), t.normal(triangle));
            if *normal == Vector3::zeros()
                || is_self && corners.iter().any(|c| t.near().excludes(v, *c))
                || outward.dot(normal) > AWAY_COSINE
            {
                return;
            }
            let x = t.corners(triangle);
            // A vertex behind a triangle cannot enter.
            if normal.dot(&(p - x[0])) < 0.0 {
                return;
            }
            let paths = corners.map(|c| t.path(c));
            let speed = || paths.iter().map(|u| (path - u).norm()).fold(0.0, f64::max);
            let nearest = |time: f64| {
                let moved = [0, 1, 2].map(|k| x[k] + paths[k] * time);
                let at = Point3::from(p + path * time);
                let (c, _) = closest_on_triangle(&at, &moved.map(Point3::from));
                let weights = barycentric(&moved, &c.coords);
                (at - c, [1.0, 0.0, 0.0, 0.0], weights)
            };
            if let Some(found) = approach(nearest(0.0), nearest, speed, margin) {
                let rank = found.entry + found.apart.norm() * 1e-9;
                let rank = if found.entry > 0.0 {
                    1.0 + rank
                } else {
                    found.apart.norm().min(1.0)
                };
                let faces = outward.dot(&found.apart) <= AWAY_COSINE * found.apart.norm();
                if faces && best.as_ref().is_none_or(|b| rank < b.2) {
                    best = Some((triangle, found, rank));
                }
            }
        });
        if let Some((triangle, found, _)) = best {
            let normal = *t.normal(triangle);
            let position_T = weighted(t, t.triangle(triangle), &found.weights_T);
            let a = MaterialPoint::on_vertex(v, Vector3::zeros());
            let b = MaterialPoint {
                primitive: Primitive::Triangle(triangle),
                weights: found.weights_T,
                offset: Vector3::zeros(),
            };
            let key = ContactKey::new(v.wrapping_mul(2), u32::MAX - triangle);
            push((a, &p), (b, &position_T), &found, &normal, key, out);
        }
    }
}

fn edges_on_edges(
    s: &SoftMesh,
    t: &SoftMesh,
    is_self: bool,
    margin: f64,
    stack: &mut Vec<(u32, u32)>,
    out: &mut Vec<ContactPoint>,
) {
    let root = t.edge_tree().root();
    for e in 0..s.n_edges() as u32 {
        let edge_S = s.edge(e);
        let [p0, p1] = edge_S.vertices.map(|v| s.point(v));
        let [u0, u1] = edge_S.vertices.map(|v| s.path(v));
        let ends = [(p0, u0 - t.drift()), (p1, u1 - t.drift())];
        let bounds = swept(ends.into_iter(), margin);
        if !bounds.boxes_overlap(&root) {
            continue;
        }
        let normal_S = s.edge_normal(e);
        let mut best: Option<(u32, Approach, f64)> = None;
        t.edge_tree().visit_near(stack, &bounds, |f| {
            let edge_T = t.edge(f);
            let near = || {
                let excluded = |v: u32| edge_T.vertices.iter().any(|w| t.near().excludes(v, *w));
                edge_S.vertices.iter().any(|v| excluded(*v))
            };
            if is_self && (f >= e || near()) {
                return;
            }
            let normal_T = t.edge_normal(f);
            if normal_S.dot(normal_T) > AWAY_COSINE {
                return;
            }
            let [r0, r1] = edge_T.vertices.map(|v| t.point(v));
            let [w0, w1] = edge_T.vertices.map(|v| t.path(v));
            let speed = || {
                let speeds = [u0 - w0, u0 - w1, u1 - w0, u1 - w1];
                speeds.iter().map(Vector3::norm).fold(0.0, f64::max)
            };
            let nearest = |time: f64| {
                let a = [p0 + u0 * time, p1 + u1 * time];
                let b = [r0 + w0 * time, r1 + w1 * time];
                let (x, y) = closest_on_segments(&a, &b);
                let apart = a[0] + (a[1] - a[0]) * x - b[0] - (b[1] - b[0]) * y;
                (apart, [1.0 - x, x, 0.0, 0.0], [1.0 - y, y, 0.0, 0.0])
            };
            // From outside of both, or not at all.
            let now = nearest(0.0);
            if now.0.dot(normal_T) <= 0.0 || now.0.dot(normal_S) >= 0.0 {
                return;
            }
            let Some(found) = approach(now, nearest, speed, margin) else {
                return;
            };
            // At the end of an edge the contact belongs to a vertex.
            let inner = |w: &[f64; 4]| w[0] > 1e-6 && w[1] > 1e-6;
            if !inner(&found.weights_S) || !inner(&found.weights_T) {
                return;
            }
            let rank = if found.entry > 0.0 {
                1.0 + found.entry
            } else {
                found.apart.norm().min(1.0)
            };
            if best.as_ref().is_none_or(|b| rank < b.2) {
                best = Some((f, found, rank));
            }
        });
        if let Some((f, found, _)) = best {
            let edge_T = t.edge(f);
            let (a, b) = (
                on_edge(edge_S, &found.weights_S),
                on_edge(edge_T, &found.weights_T),
            );
            let position_S = weighted(s, &edge_S.vertices, &found.weights_S);
            let position_T = weighted(t, &edge_T.vertices, &found.weights_T);
            let key = ContactKey::new(e.wrapping_mul(2).wrapping_add(1), u32::MAX - f);
            push(
                (a, &position_S),
                (b, &position_T),
                &found,
                t.edge_normal(f),
                key,
                out,
            );
        }
    }
}

/// `fallback`: the normal when both are at the same position.
fn push(
    (a, position_S): (MaterialPoint, &Vector3<f64>),
    (b, position_T): (MaterialPoint, &Vector3<f64>),
    found: &Approach,
    fallback: &Vector3<f64>,
    key: ContactKey,
    out: &mut Vec<ContactPoint>,
) {
    let direction = found.apart.try_normalize(1e-12);
    let Some(normal_W) = direction.or_else(|| fallback.try_normalize(0.0)) else {
        return;
    };
    out.push(ContactPoint {
        p_WC: (0.5 * (position_S + position_T)).into(),
        normal_W,
        signed_distance: normal_W.dot(&(position_S - position_T)).max(0.0),
        stiffness: PointStiffness::Share(1.0),
        a,
        b,
        key,
        entry: found.entry,
    });
}

fn weighted(mesh: &SoftMesh, vertices: &[u32], weights: &[f64; 4]) -> Vector3<f64> {
    let terms = vertices.iter().zip(weights);
    terms.map(|(v, w)| mesh.point(*v) * *w).sum()
}

/// A point of an edge, as a point of the adjacent triangle.
fn on_edge(edge: &SkinEdge, weights: &[f64; 4]) -> MaterialPoint {
    let mut of_triangle = [0.0; 4];
    for (corner, w) in edge.corners.iter().zip(weights) {
        of_triangle[*corner] = *w;
    }
    MaterialPoint {
        primitive: Primitive::Triangle(edge.triangle),
        weights: of_triangle,
        offset: Vector3::zeros(),
    }
}

/// Fractions from 0 to 1 along two segments at their nearest points.
///
/// # Source
/// Ericson (2005), Real-Time Collision Detection, 5.1.9.
fn closest_on_segments(a: &[Vector3<f64>; 2], b: &[Vector3<f64>; 2]) -> (f64, f64) {
    let (d1, d2, r) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let (aa, ee, f) = (d1.norm_squared(), d2.norm_squared(), d2.dot(&r));
    let (c, bb) = (d1.dot(&r), d1.dot(&d2));
    if aa <= 0.0 || ee <= 0.0 {
        return (0.0, 0.0);
    }
    let denominator = aa * ee - bb * bb;
    let mut x = if denominator > 1e-12 * aa * ee {
        ((bb * f - c * ee) / denominator).clamp(0.0, 1.0)
    } else {
        0.5
    };
    let mut y = (bb * x + f) / ee;
    if !(0.0..=1.0).contains(&y) {
        y = y.clamp(0.0, 1.0);
        x = ((bb * y - c) / aa).clamp(0.0, 1.0);
    }
    (x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_nearest_where_sampling_says() {
        let mut seed = 1.0_f64;
        let mut next = || {
            seed = (seed * 97.13 + 0.71).sin();
            seed
        };
        for _ in 0..200 {
            let mut point = || Vector3::new(next(), next(), next());
            let (a, b) = ([point(), point()], [point(), point()]);
            let (x, y) = closest_on_segments(&a, &b);
            let distance =
                |x: f64, y: f64| (a[0] + (a[1] - a[0]) * x - b[0] - (b[1] - b[0]) * y).norm();
            let found = distance(x, y);
            for i in 0..=40 {
                for j in 0..=40 {
                    let sampled = distance(f64::from(i) / 40.0, f64::from(j) / 40.0);
                    assert!(found <= sampled + 1e-12, "{found} {sampled}");
                }
            }
        }
    }

    #[test]
    fn an_approach_finds_when_a_point_meets_a_point() {
        // From 1 m apart at 4 m per step: a quarter of the step, less a thousandth.
        let nearest = |time: f64| {
            (
                Vector3::x() * (1.0 - 4.0 * time).max(0.0),
                [1.0; 4],
                [1.0; 4],
            )
        };
        let meet = |speed: f64| approach(nearest(0.0), nearest, || speed, 1e-3);
        let found = meet(4.0).unwrap();
        assert!((found.entry - 0.25).abs() < 1e-3, "{}", found.entry);
        assert!(meet(0.9).is_none());
        let near = (Vector3::x() * 5e-4, [1.0; 4], [1.0; 4]);
        assert!(approach(near, |_| near, || 0.0, 1e-3).is_none());
    }
}
