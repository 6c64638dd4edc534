//! The face, edge or corner of a convex shape that faces a direction.
//!
//! Round ends are represented by [`CAP_CORNERS`] points on their rim. The first of them is the support point, so that a
//! disc tips over the correct point. A regular polygon has the same tipping stiffness for any rotation, so the motion
//! of the support point around a disc that lies flat has no effect.

use nalgebra::{Vector2, Vector3};

use super::convex::{Core, PosedCore, on_rim, radial, rim, rim_angle};

/// Number of points that represent a circular face.
pub(crate) const CAP_CORNERS: usize = 8;

/// Identifiers of a shape's features in 32 bits: the kind in the two highest bits, the index below.
pub(crate) mod feature_id {
    const KIND: u32 = 30;
    const MASK: u32 = (1 << KIND) - 1;
    /// Beyond the number of edges of any shape.
    const MIDDLE: u32 = 1 << 27;

    pub(crate) const fn vertex(i: u32) -> u32 {
        i & MASK
    }
    pub(crate) const fn edge(i: u32) -> u32 {
        1 << KIND | i & MASK
    }
    pub(crate) const fn face(i: u32) -> u32 {
        2 << KIND | i & MASK
    }
    /// The middle of a line of contact along an edge.
    pub(crate) const fn middle(edge: u32) -> u32 {
        edge | MIDDLE
    }
    pub(crate) const fn is_middle(id: u32) -> bool {
        id >> KIND == 1 && id & MIDDLE != 0
    }
    /// The nearest point of a pair, if it belongs to no listed feature.
    pub(crate) const NEAREST: u32 = 3 << KIND;
}

/// A corner of a feature and the identifier of the side that starts there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    pub(crate) p: Vector3<f64>,
    pub(crate) vertex: u32,
    pub(crate) side: u32,
}

/// A flat convex feature: one corner (a point), two (a segment) or more (a polygon, counter-clockwise seen from
/// outside).
#[derive(Clone, Debug, Default)]
pub(crate) struct Feature {
    pub(crate) corners: Vec<Corner>,
    pub(crate) face: u32,
}

impl Feature {
    fn clear(&mut self, face: u32) {
        self.corners.clear();
        self.face = feature_id::face(face);
    }

    fn push(&mut self, p: Vector3<f64>, vertex: u32, side: u32) {
        self.corners.push(Corner {
            p,
            vertex: feature_id::vertex(vertex),
            side: feature_id::edge(side),
        });
    }

    /// Twice the area vector of a polygon, outwards.
    pub(crate) fn area_vector(&self) -> Vector3<f64> {
        let origin = self.corners[0].p;
        self.corners.windows(2).fold(Vector3::zeros(), |s, w| {
            s + (w[0].p - origin).cross(&(w[1].p - origin))
        })
    }

    /// The feature of `a` (in the common frame) that faces `d`.
    pub(crate) fn of_posed(&mut self, a: &PosedCore<'_>, d: &Vector3<f64>) {
        self.of_core(&a.core, &a.rotation.tr_mul(d));
        for c in &mut self.corners {
            c.p = a.rotation * c.p + a.translation;
        }
    }

    /// The feature that faces the unit vector `d`, in the core's own frame.
    pub(crate) fn of_core(&mut self, core: &Core<'_>, d: &Vector3<f64>) {
        match core {
            Core::Point | Core::Ellipsoid(_) => {
                self.clear(0);
                self.push(core.support(d), 0, 0);
            }
            Core::Segment(half) => {
                self.clear(0);
                self.segment_or_end(d, Vector3::z() * *half, [0, 1]);
            }
            Core::Box(half) => self.box_face(half, d),
            Core::Cylinder { radius, half } => {
                self.end_or_side(&Vector2::repeat(*radius), *half, d)
            }
            Core::EllipticCylinder { semi_axes, half } => self.end_or_side(semi_axes, *half, d),
            Core::Cone { radius, half } => {
                let u = radial(d);
                let side = (u * (2.0 * half) + Vector3::z() * *radius).normalize();
                let apex = Vector3::z() * *half;
                if d.z < -std::f64::consts::FRAC_1_SQRT_2 {
                    self.clear(0);
                    self.cap(&Vector2::repeat(*radius), -half, d);
                } else if side.dot(d) > std::f64::consts::FRAC_1_SQRT_2 {
                    self.clear(2);
                    self.push(u * *radius - apex, 0, 40);
                    self.push(apex, 30, 40);
                } else {
                    self.clear(3);
                    let p = core.support(d);
                    self.push(p, if p.z > 0.0 { 30 } else { 0 }, 40);
                }
            }
            Core::Hull(h) => self.hull_feature(h, d),
            Core::Triangle(v) => self.triangle_feature(v, d),
            Core::Edge([p, q]) => {
                self.clear(0);
                self.push(*p, 0, 0);
                if p != q {
                    self.push(*q, 1, 0);
                }
            }
        }
    }

    /// For a cylinder: the face at an end, or the line along its side.
    fn end_or_side(&mut self, semi_axes: &Vector2<f64>, half: f64, d: &Vector3<f64>) {
        if d.z.abs() > d.x.hypot(d.y) {
            self.clear(u32::from(d.z > 0.0));
            self.cap(semi_axes, half.copysign(d.z), d);
        } else {
            self.clear(2);
            let first = if d.z > 0.0 { 0 } else { CAP_CORNERS as u32 };
            let side = rim(d, semi_axes, half);
            self.push(
                Vector3::new(side.x, side.y, -half),
                CAP_CORNERS as u32 - first,
                40,
            );
            self.push(side, first, 40);
        }
    }

    fn segment_or_end(&mut self, d: &Vector3<f64>, half: Vector3<f64>, ids: [u32; 2]) {
        let slope = half.dot(d) / half.norm();
        if slope.abs() < 0.8 {
            self.push(-half, ids[0], 0);
            self.push(half, ids[1], 0);
        } else if slope > 0.0 {
            self.push(half, ids[1], 0);
        } else {
            self.push(-half, ids[0], 0);
        }
    }

    fn box_face(&mut self, half: &Vector3<f64>, d: &Vector3<f64>) {
        let axis = d.iamax();
        let positive = d[axis] > 0.0;
        self.clear(2 * axis as u32 + u32::from(positive));
        // Counter-clockwise seen from +axis in (j, k); reversed from the other side.
        let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
        let ring = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
        for i in 0..4 {
            let at = |i: usize| ring[if positive { i % 4 } else { (7 - i) % 4 }];
            let corner = |(sj, sk): (f64, f64)| {
                let mut p = Vector3::zeros();
                p[axis] = half[axis].copysign(d[axis]);
                p[j] = sj * half[j];
                p[k] = sk * half[k];
                p
            };
            let bits = |p: &Vector3<f64>| (0..3).fold(0, |b, i| b | u32::from(p[i] > 0.0) << i);
            let (p, next) = (corner(at(i)), corner(at(i + 1)));
            let (from, to) = (bits(&p), bits(&next));
            self.push(p, from, from.min(to) * 8 + from.max(to));
        }
    }

    /// Points of the round face at height `z`, starting with the support point along `d`.
    fn cap(&mut self, semi_axes: &Vector2<f64>, z: f64, d: &Vector3<f64>) {
        let base = if z > 0.0 { 0 } else { CAP_CORNERS as u32 };
        for (i, p) in cap_corners(semi_axes, z, d).into_iter().enumerate() {
            self.push(p, base + i as u32, base + i as u32);
        }
        if z < 0.0 {
            self.corners.reverse();
        }
    }

    fn hull_feature(&mut self, h: &crate::ConvexHull, d: &Vector3<f64>) {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, face) in h.faces().iter().enumerate() {
            let slope = face.normal.dot(d);
            if slope > best.1 {
                best = (i, slope);
            }
        }
        let n = h.vertices().len() as u32;
        let edge_id = |p: u32, q: u32| p.min(q).wrapping_mul(n).wrapping_add(p.max(q));
        self.clear(best.0 as u32);
        if best.1 > 0.5 {
            let ids = h.face_vertices(best.0);
            for (i, &v) in ids.iter().enumerate() {
                self.push(
                    h.vertices()[v as usize].coords,
                    v,
                    edge_id(v, ids[(i + 1) % ids.len()]),
                );
            }
            return;
        }
        // A sharp corner: no face points that way; an edge may.
        let top = h.support_index(d);
        let p = h.vertices()[top].coords;
        let mut edge: Option<(u32, f64)> = None;
        for &q in h.vertex_neighbours(top) {
            let along = h.vertices()[q as usize].coords - p;
            let slope = (along.dot(d) / along.norm()).abs();
            if slope < 0.5 && edge.is_none_or(|e| slope < e.1) {
                edge = Some((q, slope));
            }
        }
        let top = top as u32;
        match edge {
            Some((q, _)) => {
                self.push(p, top, edge_id(top, q));
                self.push(h.vertices()[q as usize].coords, q, edge_id(top, q));
            }
            None => self.push(p, top, 0),
        }
    }

    fn triangle_feature(&mut self, v: &[Vector3<f64>; 3], d: &Vector3<f64>) {
        self.clear(0);
        let n = (v[1] - v[0])
            .cross(&(v[2] - v[0]))
            .try_normalize(0.0)
            .unwrap_or_else(Vector3::z);
        let slope = n.dot(d);
        if slope.abs() > 0.5 {
            for (i, p) in v.iter().enumerate() {
                self.push(*p, i as u32, i as u32);
            }
            if slope < 0.0 {
                self.corners.swap(1, 2);
                for (c, side) in self.corners.iter_mut().zip([2, 1, 0]) {
                    c.side = feature_id::edge(side);
                }
            }
            return;
        }
        let mut best: Option<(usize, f64)> = None;
        for i in 0..3 {
            let height = d.dot(&(v[i] + v[(i + 1) % 3]));
            if best.is_none_or(|b| height > b.1) {
                best = Some((i, height));
            }
        }
        let i = best.map_or(0, |b| b.0);
        self.push(v[i], i as u32, i as u32);
        self.push(v[(i + 1) % 3], (i as u32 + 1) % 3, i as u32);
    }
}

/// Points of a rim at height `z`, counter-clockwise seen from +z, starting with the support point along `d`; for a
/// direction along the axis at the frame's x axis. On an ellipse they are an affinely stretched regular polygon.
pub(crate) fn cap_corners(
    semi_axes: &Vector2<f64>,
    z: f64,
    d: &Vector3<f64>,
) -> [Vector3<f64>; CAP_CORNERS] {
    let u = if d.x.hypot(d.y) > 1e-9 {
        rim_angle(d, semi_axes)
    } else {
        Vector3::x()
    };
    let w = Vector3::new(-u.y, u.x, 0.0);
    let mut out = [Vector3::zeros(); CAP_CORNERS];
    for (i, p) in out.iter_mut().enumerate() {
        let (s, c) = (std::f64::consts::TAU * i as f64 / CAP_CORNERS as f64).sin_cos();
        *p = on_rim(&(u * c + w * s), semi_axes, z);
    }
    out
}

/// Whether a set can be in contact at more than one point.
pub(crate) fn has_flat_features(core: &Core<'_>) -> bool {
    !matches!(core, Core::Point | Core::Ellipsoid(_))
}
