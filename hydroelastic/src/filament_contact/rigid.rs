//! Segments as rigid solids during a step, so that point contact of rigid shapes applies to them.

use nalgebra::{Isometry3, Point3, Vector3};

use super::joints::{Kind, Position, SegmentContact, position_on};
use super::round::Ball;
use crate::contact_geometry::Query;
use crate::contact_point::{ContactPoint, MaterialPoint, Primitive};
use crate::filament::{Filament, RigidSegment, Solid};
use crate::narrow_phase::{CAP_CORNERS, feature_id};
use crate::posed::RigidShape;
use crate::twist::Twist;
use crate::{GeometryError, PointStiffness, Shape, point_contact};

/// Buffers for one pair.
#[derive(Default)]
pub(super) struct Workspace {
    pair: point_contact::Workspace,
    points: Vec<ContactPoint>,
}

/// The partner of a segment.
pub(super) struct Partner<'a, 'b> {
    pub(super) shape: &'a RigidShape<'b>,
}

/// A segment against a rigid shape.
pub(super) fn on_shape(
    (f, i): (&Filament, usize),
    partner: &Partner<'_, '_>,
    q: &Query,
    Workspace { pair, points }: &mut Workspace,
    found: &mut Vec<SegmentContact>,
) -> Result<(), GeometryError> {
    let segment = f.rigid_segment(i);
    let shape = segment.shape.clone()?;
    points.clear();
    point_contact::touch(segment.posed(&shape), *partner.shape, q, pair, points);
    // On a half space, each vertex has its own contact.
    let is_lone = points.len() == 1
        && segment.solid != Solid::Box
        && !matches!(partner.shape.shape, Shape::HalfSpace);
    let from_middle = share_from_middle(points);
    for c in points.iter().filter(|c| !is_middle(c)) {
        let (_, feature) = c.key.features();
        let mut one = segment.found((f, i), c, Position::Feature(feature));
        one.share += from_middle;
        if is_lone {
            one.kind = Kind::Nearest;
            one.other = Position::Feature(u32::MAX);
            one.tag = 0;
        }
        found.push(one);
    }
    Ok(())
}

/// Two segments of which at least one is not a capsule.
pub(super) fn on_segment(
    (f, i): (&Filament, usize),
    (g, j): (&Filament, usize),
    q: &Query,
    Workspace { pair, points }: &mut Workspace,
    found: &mut Vec<SegmentContact>,
) -> Result<(), GeometryError> {
    let (a, b) = (f.rigid_segment(i), g.rigid_segment(j));
    let (shape_A, shape_B) = (a.shape.clone()?, b.shape.clone()?);
    points.clear();
    point_contact::touch(a.posed(&shape_A), b.posed(&shape_B), q, pair, points);
    let is_lone = points.len() == 1 && a.solid != Solid::Box && b.solid != Solid::Box;
    let from_middle = share_from_middle(points);
    for c in points.iter().filter(|c| !is_middle(c)) {
        let (feature_A, feature_B) = c.key.features();
        let on_line = b.fraction_of_core((g, j), &c.b.offset, &-c.normal_W);
        let mut one = a.found((f, i), c, position_on(g, j, on_line));
        one.contact.b = b.material_point(j, c.b.offset);
        one.share += from_middle;
        if is_lone {
            one.kind = Kind::Nearest;
            one.tag = 0;
        } else if let (Position::Vertex(_), _) | (_, Position::Vertex(_)) = (one.at, one.other) {
            let (on_A, on_B) = (
                a.corner(&c.a.offset, feature_A),
                b.corner(&c.b.offset, feature_B),
            );
            one.tag = CAP_CORNERS as u64 * on_A + on_B;
        }
        found.push(one);
    }
    Ok(())
}

/// A segment that is not a capsule against a ball.
pub(super) fn on_ball(
    (f, i): (&Filament, usize),
    ball: &Ball,
    q: &Query,
    Workspace { pair, points }: &mut Workspace,
    found: &mut Vec<SegmentContact>,
) -> Result<(), GeometryError> {
    if ball.radius <= 0.0 {
        return Ok(());
    }
    let segment = f.rigid_segment(i);
    let (shape, sphere) = (segment.shape.clone()?, Shape::sphere(ball.radius)?);
    let X_WB = Isometry3::translation(ball.p_WV.x, ball.p_WV.y, ball.p_WV.z);
    let posed = RigidShape {
        V_WG: Twist {
            angular: Vector3::zeros(),
            linear: ball.velocity,
        },
        ..RigidShape::at_rest(&sphere, X_WB)
    };
    points.clear();
    point_contact::touch(segment.posed(&shape), posed, q, pair, points);
    for c in points.iter() {
        let mut one = segment.found((f, i), c, Position::Ball(ball.vertex));
        one.contact.b = MaterialPoint::on_vertex(ball.vertex as u32, c.b.offset);
        one.kind = Kind::Nearest;
        found.push(one);
    }
    Ok(())
}

/// A filament touches along a line at the ends of its segments alone: its neighbours share them.
fn is_middle(c: &ContactPoint) -> bool {
    let (on_A, on_B) = c.key.features();
    feature_id::is_middle(on_A) || feature_id::is_middle(on_B)
}

/// The share that each other point takes over from the middle of a line.
fn share_from_middle(points: &[ContactPoint]) -> f64 {
    let middles: f64 = points.iter().filter(|c| is_middle(c)).map(share_of).sum();
    let others = points.iter().filter(|c| !is_middle(c)).count();
    middles / others.max(1) as f64
}

fn share_of(c: &ContactPoint) -> f64 {
    match c.stiffness {
        PointStiffness::Share(share) | PointStiffness::OfArea { share, .. } => share,
        PointStiffness::OfPatch { .. } => 1.0,
    }
}

/// The corner of a section that a point is nearest to.
fn quadrant(p_SC: &Vector3<f64>) -> u64 {
    // Points on the midline are assigned to one side, independent of round-off.
    const MIDWAY: f64 = 1e-9;
    u64::from(p_SC.x > MIDWAY) + 2 * u64::from(p_SC.y > MIDWAY)
}

impl RigidSegment {
    fn posed<'a>(&self, shape: &'a Shape) -> RigidShape<'a> {
        RigidShape {
            shape,
            X_WG: self.X_WS,
            V_WG: self.V_WS,
            patch: None,
        }
    }

    /// The material point at `p_SC` of the segment's frame. Points beyond an end are extrapolated along the line
    /// between the vertices.
    fn material_point(&self, i: usize, p_SC: Vector3<f64>) -> MaterialPoint {
        let s = 0.5 + p_SC.z / self.length.max(f64::MIN_POSITIVE);
        let across = Vector3::new(p_SC.x, p_SC.y, 0.0);
        MaterialPoint {
            primitive: Primitive::Edge(i as u32),
            weights: [1.0 - s, s, 0.0, 0.0],
            offset: self.X_WS.rotation * across,
        }
    }

    /// Fraction along the line between the vertices for a contact at `p_SC`; `inward` is the normal into the segment.
    /// The core of a capsule ends where its normal starts: a contact on a cap is at the vertex.
    fn fraction_of_core(
        &self,
        (f, i): (&Filament, usize),
        p_SC: &Vector3<f64>,
        inward: &Vector3<f64>,
    ) -> f64 {
        let z = match self.solid {
            Solid::Capsule => {
                let p_WC = self.X_WS * Point3::from(*p_SC);
                let center = p_WC + inward * f.radius(i);
                self.X_WS.inverse_transform_point(&center).z
            }
            Solid::Cylinder | Solid::Box => p_SC.z,
        };
        0.5 + z / self.length.max(f64::MIN_POSITIVE)
    }

    /// Distinguishes contacts at an end of the segment: the corner of a box or the point of a rim.
    fn corner(&self, p_SC: &Vector3<f64>, feature: u32) -> u64 {
        match self.solid {
            Solid::Capsule => 0,
            Solid::Cylinder => u64::from(feature) % CAP_CORNERS as u64,
            Solid::Box => quadrant(p_SC),
        }
    }

    /// The contact `c` of this segment, expressed for filament `f`.
    fn found(
        &self,
        (f, i): (&Filament, usize),
        c: &ContactPoint,
        other: Position,
    ) -> SegmentContact {
        let point = self.material_point(i, c.a.offset);
        let at = position_on(
            f,
            i,
            self.fraction_of_core((f, i), &c.a.offset, &c.normal_W),
        );
        // Both segments at a vertex have different features for it, but the same corners there.
        let tag = match at {
            Position::Vertex(_) => self.corner(&c.a.offset, c.key.features().0),
            _ => c.key.0,
        };
        SegmentContact {
            at,
            other,
            tag,
            kind: Kind::Overlap,
            share: share_of(c),
            contact: ContactPoint { a: point, ..*c },
        }
    }
}
