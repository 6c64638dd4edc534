//! Segments of a filament on a soft body, represented by balls along each segment, dense enough not to miss a triangle,
//! and across elliptic sections.

use nalgebra::{Point3, Vector3};

use super::balls::{self, BallContact};
use crate::contact_geometry::Query;
use crate::contact_point::{ContactKey, ContactPoint, MaterialPoint, PointStiffness, Primitive};
use crate::filament::{Filament, Inscribed};
use crate::soft_mesh::SoftMesh;

/// Number of balls per segment that a key can distinguish.
const BALLS_MAX: u32 = 256;

/// Appends the contact points of the balls, with the soft body as A. The balls along a segment share the stiffness of
/// one point; across an ellipse, each has the share not covered by its neighbour. `radius` (m), if given, replaces the
/// radius of the section, with balls on the centreline.
pub(super) fn collide(
    mesh: &SoftMesh,
    (f, radius): (&Filament, Option<f64>),
    q: &Query,
    stack: &mut Vec<(u32, u32)>,
    out: &mut Vec<ContactPoint>,
) {
    let bounds = mesh.swept_aabb(q.margin);
    f.boxes().visit(
        |x| x.intersects(&bounds),
        |segment| {
            let mut row = Row {
                mesh,
                f,
                segment,
                first: 0,
            };
            match (f.ellipse(segment), radius) {
                (Some(section), None) => {
                    let [a, b] = f.ends(segment);
                    let t = (b - a).try_normalize(1e-300).unwrap_or_else(Vector3::x);
                    for circle in Inscribed::of_ellipse(section, &t) {
                        row.touch(&circle, q, stack, out);
                    }
                }
                _ => {
                    let r = radius.unwrap_or(f.radius(segment));
                    row.touch(&Inscribed::of_circle(r), q, stack, out);
                }
            }
        },
    );
}

/// Rows of balls along one segment.
struct Row<'a> {
    mesh: &'a SoftMesh,
    f: &'a Filament,
    segment: usize,
    /// Index of the next ball on this segment.
    first: u32,
}

impl Row<'_> {
    /// The balls of one inscribed circle of the section.
    fn touch(
        &mut self,
        circle: &Inscribed,
        q: &Query,
        stack: &mut Vec<(u32, u32)>,
        out: &mut Vec<ContactPoint>,
    ) {
        let Self {
            mesh, f, segment, ..
        } = *self;
        let ([a, b], [v_a, v_b]) = (f.ends(segment), f.end_velocities(segment));
        let r = circle.radius;
        // At most a diameter apart, limited by the number that a key can distinguish.
        let n = ((b - a).norm() / (2.0 * r).max(1e-300)).ceil();
        let n = n.clamp(1.0, f64::from((BALLS_MAX - self.first) / 2)) as u32;
        let first = self.first;
        self.first += n;
        for k in 0..n {
            let s = (f64::from(k) + 0.5) / f64::from(n);
            let (p, v) = (a + (b - a) * s + circle.center, v_a.lerp(&v_b, s));
            let Some(touch) = balls::touch(mesh, &p, r, &v, q, stack) else {
                continue;
            };
            let BallContact {
                point,
                position,
                normal,
                gap,
                entry,
                feature,
            } = touch;
            let offset: Vector3<f64> = normal * r;
            out.push(ContactPoint {
                p_WC: nalgebra::center(&Point3::from(position), &(p + offset)),
                normal_W: normal,
                signed_distance: gap,
                stiffness: PointStiffness::Share(circle.share / f64::from(n)),
                a: point,
                b: MaterialPoint {
                    primitive: Primitive::Edge(segment as u32),
                    weights: [1.0 - s, s, 0.0, 0.0],
                    offset: circle.center + offset,
                },
                key: ContactKey::new(feature, BALLS_MAX * segment as u32 + first + k),
                entry,
            });
        }
    }
}
