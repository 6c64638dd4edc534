//! Segments of a filament on a soft body: balls along each segment, near enough to each other that no triangle comes between.

use nalgebra::{Point3, Vector3};

use super::balls::{self, Touch};
use crate::contact_geometry::Query;
use crate::contact_point::{ContactKey, ContactPoint, MaterialPoint, PointStiffness, Primitive};
use crate::filament::Filament;
use crate::soft_mesh::SoftMesh;

/// Appends the points where the balls touch, the soft body being A; those of a segment have one point's stiffness together. Their
/// radius is the segment's unless another is given, m.
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
            let r = radius.unwrap_or(f.radius(segment));
            on_segment(mesh, f, (segment, r), q, stack, out);
        },
    );
}

fn on_segment(
    mesh: &SoftMesh,
    f: &Filament,
    (segment, r): (usize, f64),
    q: &Query,
    stack: &mut Vec<(u32, u32)>,
    out: &mut Vec<ContactPoint>,
) {
    let ([a, b], [v_a, v_b]) = (f.ends(segment), f.end_velocities(segment));
    // At most a diameter apart, and never beyond what a key can tell.
    let n = ((b - a).norm() / (2.0 * r).max(1e-300))
        .ceil()
        .clamp(1.0, 255.0) as u32;
    for k in 0..n {
        let s = (f64::from(k) + 0.5) / f64::from(n);
        let (p, v) = (a + (b - a) * s, v_a.lerp(&v_b, s));
        let Some(touch) = balls::touch(mesh, &p, r, &v, q, stack) else {
            continue;
        };
        let Touch {
            point,
            place,
            normal,
            gap,
            entry,
            feature,
        } = touch;
        let offset: Vector3<f64> = normal * r;
        out.push(ContactPoint {
            p_WC: nalgebra::center(&Point3::from(place), &(p + offset)),
            normal_W: normal,
            signed_distance: gap,
            stiffness: PointStiffness::Share(1.0 / f64::from(n)),
            a: point,
            b: MaterialPoint {
                primitive: Primitive::Edge(segment as u32),
                weights: [1.0 - s, s, 0.0, 0.0],
                offset,
            },
            key: ContactKey::new(feature, 256 * segment as u32 + k),
            entry,
        });
    }
}
