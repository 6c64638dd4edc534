//! Distance of two disjoint convex sets by the algorithm of Gilbert, Johnson and Keerthi (GJK).
//!
//! The point v of A − B nearest to the origin is approached through simplices of at most four support points. The
//! duality gap v·(v − w) bounds the error of |v|. Between polytopes the algorithm terminates exactly at the nearest
//! features. Between curved sets convergence is slow and round-off spoils the direction of ever smaller simplices: the
//! loop stops early, and Newton's method refines the result ([`super::refine`]).

use nalgebra::Vector3;

use super::convex::{Core, PosedCore};

/// Nearest points of two sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    /// Unit vector from B to A.
    pub(crate) normal: Vector3<f64>,
    pub(crate) distance: f64,
    pub(crate) p_A: Vector3<f64>,
    pub(crate) p_B: Vector3<f64>,
}

pub(crate) enum Outcome {
    Apart(Nearest),
    /// Further apart than `reach`.
    Beyond,
    /// Overlapping, or too close to decide.
    Overlap,
}

#[derive(Clone, Copy)]
struct Vertex {
    w: Vector3<f64>,
    p_A: Vector3<f64>,
    p_B: Vector3<f64>,
}

/// At most four support points with the weights of the point nearest to the origin.
struct Simplex {
    vertices: [Vertex; 4],
    weights: [f64; 4],
    len: usize,
}

// Each round strictly decreases |v|; polytopes need about ten, curved pairs near contact several tens.
const ROUNDS_MAX: usize = 100;

// Relative duality gap below which Newton's method is more efficient than further rounds.
const CURVED_GAP: f64 = 1e-4;

/// Distance between `a` and `b` (at the origin of the common frame) if it is at most `reach`.
pub(crate) fn distance(a: &PosedCore<'_>, b: &Core<'_>, reach: f64) -> Outcome {
    let scale = a.core.extent() + b.extent() + a.translation.norm();
    let touching = 1e-14 * scale;
    let precise = if a.core.is_polytope() && b.is_polytope() {
        1e-15
    } else {
        CURVED_GAP
    };
    let mut v = a.center() - b.center();
    if v.norm() <= touching {
        v = Vector3::x();
    }
    let first = support(a, b, &v);
    let mut simplex = Simplex {
        vertices: [first; 4],
        weights: [1.0, 0.0, 0.0, 0.0],
        len: 1,
    };
    v = first.w;
    for _ in 0..ROUNDS_MAX {
        let square = v.norm_squared();
        let norm = square.sqrt();
        if norm <= touching {
            return Outcome::Overlap;
        }
        let next = support(a, b, &v);
        let lower = v.dot(&next.w);
        if lower > reach * norm {
            return Outcome::Beyond;
        }
        let gap = square - lower;
        let known = simplex.vertices[..simplex.len]
            .iter()
            .any(|s| s.w == next.w);
        if gap <= precise * square + 1e-16 * scale * norm || known {
            break;
        }
        let before = (simplex.vertices, simplex.weights, simplex.len);
        simplex.vertices[simplex.len] = next;
        simplex.len += 1;
        // A separating plane has been found: a degenerate simplex must not claim to contain the origin.
        if !simplex.reduce(lower > 1e-15 * scale * norm) {
            return Outcome::Overlap;
        }
        let closer = simplex.point();
        if closer.norm_squared() >= square {
            (simplex.vertices, simplex.weights, simplex.len) = before;
            break;
        }
        v = closer;
    }
    let distance = v.norm();
    if distance > reach {
        return Outcome::Beyond;
    }
    let (p_A, p_B) = simplex.witnesses();
    Outcome::Apart(Nearest {
        normal: v / distance,
        distance,
        p_A,
        p_B,
    })
}

fn support(a: &PosedCore<'_>, b: &Core<'_>, v: &Vector3<f64>) -> Vertex {
    let p_A = a.support(&-v);
    let p_B = b.support(v);
    Vertex {
        w: p_A - p_B,
        p_A,
        p_B,
    }
}

impl Simplex {
    fn point(&self) -> Vector3<f64> {
        (0..self.len).fold(Vector3::zeros(), |s, i| {
            s + self.vertices[i].w * self.weights[i]
        })
    }

    fn witnesses(&self) -> (Vector3<f64>, Vector3<f64>) {
        (0..self.len).fold((Vector3::zeros(), Vector3::zeros()), |(p, q), i| {
            let x = &self.vertices[i];
            (p + x.p_A * self.weights[i], q + x.p_B * self.weights[i])
        })
    }

    /// Keeps the vertices that support the point nearest to the origin; false if the origin lies inside.
    fn reduce(&mut self, origin_is_outside: bool) -> bool {
        let w = self.vertices.map(|x| x.w);
        let weights = match self.len {
            2 => {
                let (s, t) = on_segment(&w[0], &w[1]);
                [s, t, 0.0, 0.0]
            }
            3 => {
                let x = on_triangle(&w[0], &w[1], &w[2]);
                [x[0], x[1], x[2], 0.0]
            }
            4 => match on_tetrahedron(&w, origin_is_outside) {
                Some(x) => x,
                None => return false,
            },
            _ => return true,
        };
        let mut kept = 0;
        for (i, weight) in weights.into_iter().enumerate().take(self.len) {
            if weight > 0.0 {
                self.vertices[kept] = self.vertices[i];
                self.weights[kept] = weight;
                kept += 1;
            }
        }
        self.len = kept;
        true
    }
}

/// Weights of the point of a segment nearest to the origin.
fn on_segment(a: &Vector3<f64>, b: &Vector3<f64>) -> (f64, f64) {
    let ab = b - a;
    let square = ab.norm_squared();
    if square <= 0.0 {
        return (1.0, 0.0);
    }
    let t = (-a.dot(&ab) / square).clamp(0.0, 1.0);
    (1.0 - t, t)
}

/// Weights of the point of a triangle nearest to the origin (regions as in Ericson 2005, 5.1.5).
fn on_triangle(a: &Vector3<f64>, b: &Vector3<f64>, c: &Vector3<f64>) -> [f64; 3] {
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (-ab.dot(a), -ac.dot(a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let (d3, d4) = (-ab.dot(b), -ac.dot(b));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let (d5, d6) = (-ab.dot(c), -ac.dot(c));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    // The cross product avoids the cancellation of d1 d4 − d3 d2 in a sliver.
    let n = ab.cross(&ac);
    let square = n.norm_squared();
    let [u, v, w] = [b.cross(c), c.cross(a), a.cross(b)].map(|x| x.dot(&n));
    if square <= 0.0 || (u > 0.0 && v > 0.0 && w > 0.0) {
        if square > 0.0 {
            let sum = u + v + w;
            return [u / sum, v / sum, w / sum];
        }
        // No area: the best of the three sides.
        let sides = [(0, 1), (1, 2), (2, 0)];
        let corner = [a, b, c];
        let mut best = ([0.0; 3], f64::INFINITY);
        for (i, j) in sides {
            let (s, t) = on_segment(corner[i], corner[j]);
            let distance = (corner[i] * s + corner[j] * t).norm_squared();
            if distance < best.1 {
                let mut weights = [0.0; 3];
                weights[i] = s;
                weights[j] = t;
                best = (weights, distance);
            }
        }
        return best.0;
    }
    let mut best = ([0.0; 3], f64::INFINITY);
    let corner = [a, b, c];
    for (outside, i, j) in [(w, 0, 1), (u, 1, 2), (v, 2, 0)] {
        if outside > 0.0 {
            continue;
        }
        let (s, t) = on_segment(corner[i], corner[j]);
        let distance = (corner[i] * s + corner[j] * t).norm_squared();
        if distance < best.1 {
            let mut weights = [0.0; 3];
            weights[i] = s;
            weights[j] = t;
            best = (weights, distance);
        }
    }
    best.0
}

/// Weights of the point of a tetrahedron nearest to the origin; `None` if the origin lies inside. If it is known to lie
/// outside, every face is tried, which avoids orientation tests that may fail for slivers.
fn on_tetrahedron(w: &[Vector3<f64>; 4], origin_is_outside: bool) -> Option<[f64; 4]> {
    let mut best: Option<([f64; 4], f64)> = None;
    for [i, j, k, opposite] in [[0, 1, 2, 3], [0, 3, 1, 2], [0, 2, 3, 1], [1, 3, 2, 0]] {
        let n = (w[j] - w[i]).cross(&(w[k] - w[i]));
        let (origin, inside) = (-n.dot(&w[i]), n.dot(&(w[opposite] - w[i])));
        // A flat tetrahedron has no interior: every face is tried.
        let flat = inside.abs() <= 1e-14 * n.norm() * (w[opposite] - w[i]).norm();
        if !flat && !origin_is_outside && origin * inside > 0.0 {
            continue;
        }
        let x = on_triangle(&w[i], &w[j], &w[k]);
        let distance = (w[i] * x[0] + w[j] * x[1] + w[k] * x[2]).norm_squared();
        if best.as_ref().is_none_or(|b| distance < b.1) {
            let mut weights = [0.0; 4];
            weights[i] = x[0];
            weights[j] = x[1];
            weights[k] = x[2];
            best = Some((weights, distance));
        }
    }
    best.map(|b| b.0)
}
