//! Closed-form contact of round segments and balls.

use nalgebra::{Point3, Vector3};

use super::joints::{Kind, Position, SegmentContact, position_on};
use crate::Aabb;
use crate::contact_geometry::Query;
use crate::contact_point::{ContactKey, ContactPoint, MaterialPoint, PointStiffness, Primitive};
use crate::filament::Filament;
use crate::filament::segments::{Segment, entry, nearest};
use crate::posed::DeformingSurface;

/// Below this angle (rad) segments are parallel: they touch at the ends of their overlap.
const PARALLEL: f64 = 0.035;
/// Above this angle (rad) they cross: they touch at their nearest points. In between both kinds are reported, with
/// shares that blend continuously.
const CROSSING: f64 = 0.14;

/// A ball of a deforming surface.
pub(super) struct Ball {
    pub(super) vertex: usize,
    pub(super) p_WV: Point3<f64>,
    pub(super) velocity: Vector3<f64>,
    pub(super) radius: f64,
}

impl Ball {
    pub(super) fn of(s: &DeformingSurface<'_>, vertex: usize) -> Self {
        Self {
            vertex,
            p_WV: s.points[vertex],
            velocity: s.velocities[vertex],
            radius: s.radii[vertex],
        }
    }

    pub(super) fn swept_aabb(&self, q: &Query) -> Aabb {
        let half = Vector3::repeat(self.radius + q.margin);
        Aabb::from_half_extents(self.p_WV, half).swept(&(self.velocity * q.time_step_s))
    }

    pub(super) fn as_segment(&self) -> Segment {
        Segment {
            ends: [self.p_WV; 2],
            velocities: [self.velocity; 2],
            radius: self.radius,
        }
    }
}

pub(super) fn of_segment(f: &Filament, i: usize) -> Segment {
    Segment {
        ends: f.ends(i),
        velocities: f.end_velocities(i),
        radius: f.radius(i),
    }
}

/// Two moving round objects: `a` is segment `i` of `f`, `b` a segment of `g` or a ball.
pub(super) fn touch(
    (f, i, a): (&Filament, usize, &Segment),
    (g, other, b): (Option<&Filament>, Position, &Segment),
    q: &Query,
    found: &mut Vec<SegmentContact>,
) {
    let radii = a.radius + b.radius;
    let margin = q.margin.max(1e-5 * radii);
    let (s, t) = nearest(a, b);
    let gap = (a.at(s) - b.at(t)).norm() - radii;
    let (entry, a_then, b_then) = if gap <= margin {
        (0.0, *a, *b)
    } else {
        let touching = (1e-6 * radii).min(0.5 * margin);
        match entry(a, b, q.time_step_s, touching) {
            Some(entry) => {
                let t = entry * q.time_step_s;
                (entry, a.after(t), b.after(t))
            }
            None => return,
        }
    };
    let then = NearestPoints {
        a: a_then,
        b: b_then,
        margin,
        time_left_s: (1.0 - entry) * q.time_step_s,
    };
    then.points(|s, t, normal, kind, share| {
        let (p_A, p_B) = (a.at(s), b.at(t));
        let (r_A, r_B) = (-normal * a.radius, normal * b.radius);
        let along = normal.dot(&(p_A - p_B)) - radii;
        let position_B = match g {
            Some(g) => match other {
                Position::Segment(j) => position_on(g, j, t),
                position => position,
            },
            None => other,
        };
        found.push(SegmentContact {
            tag: 0,
            at: position_on(f, i, s),
            other: position_B,
            kind,
            share,
            contact: ContactPoint {
                p_WC: nalgebra::center(&(p_A + r_A), &(p_B + r_B)),
                normal_W: normal,
                // The remaining gap along the normal of impact, not the distance of the nearest points.
                signed_distance: if entry > 0.0 { along.max(0.0) } else { along },
                stiffness: PointStiffness::Share(share),
                a: on_segment(a, i, s, r_A),
                b: match other {
                    Position::Ball(v) => MaterialPoint::on_vertex(v as u32, r_B),
                    Position::Segment(j) => on_segment(b, j, t, r_B),
                    Position::Vertex(_) | Position::Feature(_) => MaterialPoint::on_frame(r_B),
                },
                key: ContactKey(0),
                entry,
            },
        });
    });
}

/// The material point at `r` from a segment's line at a fraction. The component of `r` along the segment goes into the
/// weights; the rest is perpendicular to it and rotates with the section.
pub(super) fn on_segment(
    segment: &Segment,
    i: usize,
    fraction: f64,
    r: Vector3<f64>,
) -> MaterialPoint {
    let d = segment.direction();
    let length_squared = d.norm_squared();
    let along = if length_squared > 0.0 {
        d.dot(&r) / length_squared
    } else {
        0.0
    };
    let s = fraction + along;
    MaterialPoint {
        primitive: Primitive::Edge(i as u32),
        weights: [1.0 - s, s, 0.0, 0.0],
        offset: r - d * along,
    }
}

/// Nearest points of two round objects.
struct NearestPoints {
    a: Segment,
    b: Segment,
    margin: f64,
    time_left_s: f64,
}

impl NearestPoints {
    /// Calls `each` with the fractions, the normal from B into A, the kind and the share of every contact.
    fn points(&self, mut each: impl FnMut(f64, f64, Vector3<f64>, Kind, f64)) {
        let (s, t) = nearest(&self.a, &self.b);
        let (d_a, d_b) = (self.a.direction(), self.b.direction());
        let apart = self.a.at(s) - self.b.at(t);
        let scale = self.a.radius + self.b.radius;
        // Crossing lines: the common perpendicular.
        let normal = apart
            .try_normalize(1e-9 * scale)
            .or_else(|| {
                d_a.cross(&d_b)
                    .try_normalize(1e-12 * d_a.norm() * d_b.norm())
            })
            .unwrap_or_else(Vector3::z);
        let lengths = d_a.norm() * d_b.norm();
        let angle = if lengths > 0.0 {
            d_a.cross(&d_b).norm() / lengths
        } else {
            // A ball has no direction.
            1.0
        };
        let crossing = ((angle - PARALLEL) / (CROSSING - PARALLEL)).clamp(0.0, 1.0);
        let crossing = crossing * crossing * (3.0 - 2.0 * crossing);
        let common = if crossing < 1.0 { self.overlap() } else { None };
        let Some(ends) = common else {
            let kind = if crossing < 1.0 {
                Kind::NoOverlap
            } else {
                Kind::Nearest
            };
            each(s, t, normal, kind, 1.0);
            return;
        };
        each(s, t, normal, Kind::Nearest, crossing);
        for (s, t) in ends.positions {
            let apart = self.a.at(s) - self.b.at(t);
            let normal = apart.try_normalize(1e-9 * scale).unwrap_or(normal);
            let approach = normal.dot(&(self.a.velocity(s) - self.b.velocity(t)));
            if apart.norm() - scale + approach.min(0.0) * self.time_left_s <= self.margin {
                each(
                    s,
                    t,
                    normal,
                    Kind::Overlap,
                    0.5 * (1.0 - crossing) * ends.part,
                );
            }
        }
    }

    /// The overlap of two nearly parallel segments; `None` if there is none.
    fn overlap(&self) -> Option<Overlap> {
        let (a, b) = (&self.a, &self.b);
        let (d_a, d_b) = (a.direction(), b.direction());
        let on_A = |p: Point3<f64>| d_a.dot(&(p - a.ends[0])) / d_a.norm_squared();
        let on_B = |p: Point3<f64>| d_b.dot(&(p - b.ends[0])) / d_b.norm_squared();
        let (u, v) = (on_A(b.ends[0]), on_A(b.ends[1]));
        let (low, high) = (u.min(v).max(0.0), u.max(v).min(1.0));
        let shorter = (d_b.norm() / d_a.norm()).min(1.0);
        (high > low).then(|| Overlap {
            positions: [low, high].map(|s| (s, on_B(a.at(s)).clamp(0.0, 1.0))),
            part: ((high - low) / shorter).min(1.0),
        })
    }
}

/// The overlap of two nearly parallel segments.
struct Overlap {
    /// Fractions along both at its ends.
    positions: [(f64, f64); 2],
    /// Its length relative to the shorter segment. Parallel chains have a share of one per segment, independent of
    /// their relative shift.
    part: f64,
}
