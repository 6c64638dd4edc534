//! Contact manifold: the overlap of the facing features of both shapes for a given normal.
//!
//! Both features are projected along the normal. Each corner of their overlap lies above a point of A's feature and a
//! point of B's; their distance along the normal is that corner's φ. Neither shape is the reference, so the manifold
//! does not jump when their roles would change. The shares of the stiffness stay continuous while corners appear and
//! vanish: a corner's share is the part of the outline nearest to it.

use nalgebra::{Isometry3, Vector3};

use super::convex::{Convex, PosedCore};
use super::feature::{Corner, Feature, feature_id, has_flat_features};
use super::line;
use super::separation::Separation;

/// A point of contact in the frame of B.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairPoint {
    pub(crate) p_A: Vector3<f64>,
    pub(crate) p_B: Vector3<f64>,
    /// From B into A.
    pub(crate) normal: Vector3<f64>,
    pub(crate) phi: f64,
    pub(crate) share: f64,
    pub(crate) feature_A: u32,
    pub(crate) feature_B: u32,
}

impl PairPoint {
    pub(crate) fn nearest(s: &Separation) -> Self {
        Self {
            p_A: s.p_A,
            p_B: s.p_B,
            normal: s.normal,
            phi: s.distance,
            share: 1.0,
            feature_A: feature_id::NEAREST,
            feature_B: feature_id::NEAREST,
        }
    }

    /// The point in the frame that `X` maps into.
    pub(crate) fn moved(&self, X: &Isometry3<f64>) -> Self {
        Self {
            p_A: X.rotation * self.p_A + X.translation.vector,
            p_B: X.rotation * self.p_B + X.translation.vector,
            normal: X.rotation * self.normal,
            ..*self
        }
    }

    pub(crate) fn swapped(&self) -> Self {
        Self {
            p_A: self.p_B,
            p_B: self.p_A,
            normal: -self.normal,
            feature_A: self.feature_B,
            feature_B: self.feature_A,
            ..*self
        }
    }
}

/// Reused storage.
#[derive(Default)]
pub(crate) struct ManifoldBuffers {
    feature_A: Feature,
    feature_B: Feature,
    outline: Vec<Outline>,
    clipped: Vec<Outline>,
}

/// A corner of the overlap in the plane perpendicular to the normal, with the side that starts there.
#[derive(Clone, Copy, Debug)]
struct Outline {
    x: f64,
    y: f64,
    side: Side,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    A(usize),
    B(usize),
}

/// Appends all points of the manifold with the normal and depth of `s`, including those further apart.
pub(crate) fn manifold(
    a: &PosedCore<'_>,
    round_A: f64,
    b: &Convex<'_>,
    s: &Separation,
    buffers: &mut ManifoldBuffers,
    out: &mut Vec<PairPoint>,
) {
    let lowest = patch(a, round_A, b, &s.normal, buffers, out);
    // Round rims are approximated by a few points, and sharp corners have none: the nearest points complete the
    // manifold.
    let scale = a.core.extent() + b.core.extent() + round_A + b.rounding;
    if lowest > s.distance + 1e-9 * scale {
        out.push(PairPoint::nearest(s));
    }
}

/// Appends the overlap of the facing features along `normal` and returns the smallest φ (infinite if there is no
/// overlap).
pub(crate) fn patch(
    a: &PosedCore<'_>,
    round_A: f64,
    b: &Convex<'_>,
    normal: &Vector3<f64>,
    buffers: &mut ManifoldBuffers,
    out: &mut Vec<PairPoint>,
) -> f64 {
    let start = out.len();
    if has_flat_features(&a.core) && has_flat_features(&b.core) {
        buffers.feature_A.of_posed(a, &-normal);
        buffers.feature_B.of_core(&b.core, normal);
        buffers.common_part(normal, round_A, b.rounding, out);
    }
    out[start..]
        .iter()
        .map(|p| p.phi)
        .fold(f64::INFINITY, f64::min)
}

impl ManifoldBuffers {
    /// The corners of the feature of `a` that faces `d`, in the common frame.
    pub(crate) fn corners_towards(&mut self, a: &PosedCore<'_>, d: &Vector3<f64>) -> &[Corner] {
        self.feature_A.of_posed(a, d);
        &self.feature_A.corners
    }

    /// Appends the overlap of the two features in the buffers.
    fn common_part(
        &mut self,
        normal: &Vector3<f64>,
        round_A: f64,
        round_B: f64,
        out: &mut Vec<PairPoint>,
    ) {
        let view = View::along(normal, round_A, round_B);
        match (self.feature_A.corners.len(), self.feature_B.corners.len()) {
            (0 | 1, _) | (_, 0 | 1) => {}
            (2, 2) => view.parallel_segments(&self.feature_A, &self.feature_B, out),
            (2, _) => view.segment_on_polygon(&self.feature_A, &self.feature_B, out),
            (_, 2) => {
                let from = out.len();
                let back = View::along(&-normal, round_B, round_A);
                back.segment_on_polygon(&self.feature_B, &self.feature_A, out);
                for p in &mut out[from..] {
                    *p = p.swapped();
                }
            }
            _ => view.polygons(self, out),
        }
    }
}

/// The plane perpendicular to a normal.
struct View {
    n: Vector3<f64>,
    e1: Vector3<f64>,
    e2: Vector3<f64>,
    round_A: f64,
    round_B: f64,
}

/// Height along the normal above the plane: h = h0 + gx x + gy y.
struct Plane {
    h0: f64,
    gx: f64,
    gy: f64,
}

impl Plane {
    fn at(&self, x: f64, y: f64) -> f64 {
        self.h0 + self.gx * x + self.gy * y
    }
}

impl View {
    fn along(n: &Vector3<f64>, round_A: f64, round_B: f64) -> Self {
        let axis = if n.x.abs() < 0.6 {
            Vector3::x()
        } else {
            Vector3::y()
        };
        let e1 = (axis - n * axis.dot(n)).normalize();
        Self {
            n: *n,
            e1,
            e2: n.cross(&e1),
            round_A,
            round_B,
        }
    }

    fn flat(&self, p: &Vector3<f64>) -> (f64, f64) {
        (self.e1.dot(p), self.e2.dot(p))
    }

    fn point(
        &self,
        x: f64,
        y: f64,
        (h_A, h_B): (f64, f64),
        features: (u32, u32),
        share: f64,
    ) -> PairPoint {
        let foot = self.e1 * x + self.e2 * y;
        let (h_A, h_B) = (h_A - self.round_A, h_B + self.round_B);
        PairPoint {
            p_A: foot + self.n * h_A,
            p_B: foot + self.n * h_B,
            normal: self.n,
            phi: h_A - h_B,
            share,
            feature_A: features.0,
            feature_B: features.1,
        }
    }

    fn plane(&self, f: &Feature) -> Plane {
        let area = f.area_vector();
        let slope = area.dot(&self.n);
        let (gx, gy) = (-area.dot(&self.e1) / slope, -area.dot(&self.e2) / slope);
        let (x, y) = self.flat(&f.corners[0].p);
        Plane {
            h0: self.n.dot(&f.corners[0].p) - gx * x - gy * y,
            gx,
            gy,
        }
    }

    /// Two segments overlap in a line only if they are parallel; otherwise their nearest points are the whole contact.
    /// From half of the largest angle on, the two ends of the line move together to the crossing point.
    fn parallel_segments(&self, a: &Feature, b: &Feature, out: &mut Vec<PairPoint>) {
        const SINE_MAX: f64 = 1e-3;
        let ((ax, ay), (bx, by)) = (self.flat(&a.corners[0].p), self.flat(&a.corners[1].p));
        let along = [bx - ax, by - ay];
        let length = along[0].hypot(along[1]);
        let other = {
            let ((cx, cy), (dx, dy)) = (self.flat(&b.corners[0].p), self.flat(&b.corners[1].p));
            [[cx, cy], [dx, dy]]
        };
        let across = [other[1][0] - other[0][0], other[1][1] - other[0][1]];
        let other_length = across[0].hypot(across[1]);
        let area = along[0] * across[1] - along[1] * across[0];
        let sine = area.abs() / (length * other_length);
        if sine.is_nan() || sine > SINE_MAX {
            return;
        }
        let parameter =
            |p: [f64; 2]| ((p[0] - ax) * along[0] + (p[1] - ay) * along[1]) / (length * length);
        let ends = other.map(parameter);
        let first = ends[0].min(ends[1]).max(0.0);
        let last = ends[0].max(ends[1]).min(1.0);
        let together = (2.0 * sine / SINE_MAX - 1.0).max(0.0);
        let (mut from, mut to) = (first, last);
        if together > 0.0 && first < last {
            let (x, y) = (other[0][0] - ax, other[0][1] - ay);
            let crossing = ((x * across[1] - y * across[0]) / area).clamp(first, last);
            from += (crossing - first) * together;
            to += (crossing - last) * together;
        }
        if from >= to {
            return;
        }
        let (hA0, hA1) = (self.n.dot(&a.corners[0].p), self.n.dot(&a.corners[1].p));
        let (hB0, hB1) = (self.n.dot(&b.corners[0].p), self.n.dot(&b.corners[1].p));
        let total = 1.0 + ((to - from) * length / length.min(other_length)).min(1.0);
        let of_other = |t: f64| ((t - ends[0]) / (ends[1] - ends[0])).clamp(0.0, 1.0);
        let sides = (a.corners[0].side, b.corners[0].side);
        // The ends are identified by those of the whole overlap, independent of the shift of the points.
        let of_end = |end: f64, corner_A: usize, is_inside: bool| {
            if is_inside {
                let vertex_B = usize::from(of_other(end) > 0.5);
                (sides.0, b.corners[vertex_B].vertex)
            } else {
                (a.corners[corner_A].vertex, sides.1)
            }
        };
        let features = [
            of_end(first, 0, first > 0.0),
            (feature_id::middle(sides.0), sides.1),
            of_end(last, 1, last < 1.0),
        ];
        let points = [from, 0.5 * (from + to), to].map(|t| {
            let heights = (hA0 + (hA1 - hA0) * t, hB0 + (hB1 - hB0) * of_other(t));
            (ax + along[0] * t, ay + along[1] * t, heights)
        });
        self.line(points, features, total, out);
    }

    fn segment_on_polygon(&self, a: &Feature, b: &Feature, out: &mut Vec<PairPoint>) {
        let ((x0, y0), (x1, y1)) = (self.flat(&a.corners[0].p), self.flat(&a.corners[1].p));
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        let (mut from_side, mut to_side) = (None, None);
        for (i, c) in b.corners.iter().enumerate() {
            let next = &b.corners[(i + 1) % b.corners.len()];
            let inside = self.left_of(c, next);
            let (d0, d1) = (inside(x0, y0), inside(x1, y1));
            if d0 < 0.0 && d1 < 0.0 {
                return;
            }
            let t = d0 / (d0 - d1);
            if d0 < 0.0 && t > from {
                (from, from_side) = (t, Some(c.side));
            } else if d1 < 0.0 && t < to {
                (to, to_side) = (t, Some(c.side));
            }
        }
        // The end of one on the corner of the other, up to round-off: the nearest points are the whole contact.
        if to - from <= 1e-12 {
            return;
        }
        let plane = self.plane(b);
        let (h0, h1) = (self.n.dot(&a.corners[0].p), self.n.dot(&a.corners[1].p));
        let total = 1.0 + (to - from);
        let of_end = |side: Option<u32>, corner: usize| match side {
            Some(side) => (a.corners[0].side, side),
            None => (a.corners[corner].vertex, b.face),
        };
        let features = [
            of_end(from_side, 0),
            (feature_id::middle(a.corners[0].side), b.face),
            of_end(to_side, 1),
        ];
        let points = [from, 0.5 * (from + to), to].map(|t| {
            let (x, y) = (x0 + (x1 - x0) * t, y0 + (y1 - y0) * t);
            (x, y, (h0 + (h1 - h0) * t, plane.at(x, y)))
        });
        self.line(points, features, total, out);
    }

    /// Appends the two ends and the middle of a line of contact, given by coordinates in the plane and heights of A and B, with the share `total` if it lies
    /// flat.
    fn line(
        &self,
        points: [(f64, f64, (f64, f64)); 3],
        features: [(u32, u32); 3],
        total: f64,
        out: &mut Vec<PairPoint>,
    ) {
        let [(x0, y0, h0), _, (x1, y1, h1)] = points;
        let rise = (h1.0 - h1.1) - (h0.0 - h0.1);
        let sine = rise / (x1 - x0).hypot(y1 - y0).hypot(rise);
        let shares = line::shares(line::flatness(sine));
        for (((x, y, heights), features), share) in points.into_iter().zip(features).zip(shares) {
            if share > 0.0 {
                out.push(self.point(x, y, heights, features, 0.5 * total * share));
            }
        }
    }

    /// Signed distance to the left of the side from `c` to `next`.
    fn left_of(&self, c: &Corner, next: &Corner) -> impl Fn(f64, f64) -> f64 + use<> {
        let ((cx, cy), (dx, dy)) = (self.flat(&c.p), self.flat(&next.p));
        let length = (dx - cx).hypot(dy - cy).max(f64::MIN_POSITIVE);
        let (ux, uy) = ((dx - cx) / length, (dy - cy) / length);
        move |x, y| ux * (y - cy) - uy * (x - cx)
    }

    fn polygons(&self, buffers: &mut ManifoldBuffers, out: &mut Vec<PairPoint>) {
        let ManifoldBuffers {
            feature_A: a,
            feature_B: b,
            outline,
            clipped,
        } = buffers;
        // Seen from the tip of n, B's polygon is counter-clockwise and A's clockwise.
        outline.clear();
        let n_A = a.corners.len();
        for i in (0..n_A).rev() {
            let (x, y) = self.flat(&a.corners[i].p);
            outline.push(Outline {
                x,
                y,
                side: Side::A((i + n_A - 1) % n_A),
            });
        }
        let (size_A, reach) = area_and_perimeter(outline);
        // Corners that coincide up to round-off count as inside: equal stacked boxes keep four points.
        let tolerance = 1e-10 * reach;
        for i in 0..b.corners.len() {
            let inside = self.left_of(&b.corners[i], &b.corners[(i + 1) % b.corners.len()]);
            clip(outline, clipped, Side::B(i), tolerance, inside);
            std::mem::swap(outline, clipped);
            if outline.is_empty() {
                return;
            }
        }
        let (area, perimeter) = area_and_perimeter(outline);
        if outline.len() < 3 || perimeter <= 0.0 {
            return;
        }
        let size_B = 0.5 * b.area_vector().dot(&self.n);
        let filled = (area.max(0.0) / size_A.min(size_B).max(f64::MIN_POSITIVE))
            .sqrt()
            .min(1.0);
        let total = 1.0 + 3.0 * filled;
        let (plane_A, plane_B) = (self.plane(a), self.plane(b));
        let n = outline.len();
        for i in 0..n {
            let (before, at, after) = (
                &outline[(i + n - 1) % n],
                &outline[i],
                &outline[(i + 1) % n],
            );
            let beside =
                (at.x - before.x).hypot(at.y - before.y) + (after.x - at.x).hypot(after.y - at.y);
            let share = total * beside / (2.0 * perimeter);
            // A duplicate corner: its copy has the share.
            if share <= 1e-12 {
                continue;
            }
            let features = match (before.side, at.side) {
                (Side::A(i), Side::A(j)) => {
                    // Sides i and j in reversed order intersect at the corner where j's successor i starts.
                    let corner = if (j + 1) % n_A == i { i } else { j };
                    (a.corners[corner].vertex, b.face)
                }
                (Side::B(_), Side::B(j)) => (a.face, b.corners[j].vertex),
                (Side::A(i), Side::B(j)) => (a.corners[i].side, b.corners[j].side),
                (Side::B(i), Side::A(j)) => (a.corners[j].side, b.corners[i].side),
            };
            let heights = (plane_A.at(at.x, at.y), plane_B.at(at.x, at.y));
            out.push(self.point(at.x, at.y, heights, features, share));
        }
    }
}

/// Clips away the part further than `tolerance` to the right of a line.
fn clip(
    from: &[Outline],
    to: &mut Vec<Outline>,
    line: Side,
    tolerance: f64,
    inside: impl Fn(f64, f64) -> f64,
) {
    to.clear();
    for i in 0..from.len() {
        let (p, q) = (&from[i], &from[(i + 1) % from.len()]);
        let (dp, dq) = (inside(p.x, p.y), inside(q.x, q.y));
        let (p_in, q_in) = (dp >= -tolerance, dq >= -tolerance);
        if p_in {
            to.push(*p);
        }
        if p_in != q_in {
            let t = (dp / (dp - dq)).clamp(0.0, 1.0);
            to.push(Outline {
                x: p.x + (q.x - p.x) * t,
                y: p.y + (q.y - p.y) * t,
                // Leaving: the outline continues along the line. Entering: along the old side.
                side: if p_in { line } else { p.side },
            });
        }
    }
}

fn area_and_perimeter(outline: &[Outline]) -> (f64, f64) {
    let (mut twice_area, mut perimeter) = (0.0, 0.0);
    let Some(origin) = outline.first() else {
        return (0.0, 0.0);
    };
    for (i, p) in outline.iter().enumerate() {
        let q = &outline[(i + 1) % outline.len()];
        twice_area += (p.x - origin.x) * (q.y - origin.y) - (p.y - origin.y) * (q.x - origin.x);
        perimeter += (q.x - p.x).hypot(q.y - p.y);
    }
    (0.5 * twice_area, perimeter)
}
