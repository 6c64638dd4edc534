//! Balls at the vertices of another deforming surface, a rope or a set of particles, on a soft body.

use nalgebra::{Point3, Vector3};

use super::patch_points::barycentric;
use crate::contact_geometry::Query;
use crate::contact_point::{ContactKey, ContactPoint, MaterialPoint, PointStiffness, Primitive};
use crate::posed::DeformingSurface;
use crate::pressure_bvh::PressureBox;
use crate::shape::closest_on_triangle;
use crate::soft_mesh::SoftMesh;

/// Appends at most one point per ball, with the soft body as A: by the depth at its centre if that is inside, otherwise
/// at the nearest triangle within the margin, or at the first triangle whose plane it crosses within the step.
pub(super) fn collide(
    mesh: &SoftMesh,
    balls: &DeformingSurface<'_>,
    q: &Query,
    stack: &mut Vec<(u32, u32)>,
    out: &mut Vec<ContactPoint>,
) {
    for (i, ((p, r), v)) in
        (0_u32..).zip(balls.points.iter().zip(balls.radii).zip(balls.velocities))
    {
        let Some(BallContact {
            point,
            position,
            normal,
            gap,
            entry,
            feature,
        }) = touch(mesh, p, *r, v, q, stack)
        else {
            continue;
        };
        let offset = normal * *r;
        let p_W = p + offset;
        out.push(ContactPoint {
            p_WC: nalgebra::center(&Point3::from(position), &p_W),
            normal_W: normal,
            signed_distance: gap,
            stiffness: PointStiffness::Share(1.0),
            a: point,
            b: MaterialPoint::on_vertex(i, offset),
            key: ContactKey::new(feature, i),
            entry,
        });
    }
}

/// Contact of a ball; the normal points from the ball into the body.
pub(super) struct BallContact {
    pub(super) point: MaterialPoint,
    pub(super) position: Vector3<f64>,
    pub(super) normal: Vector3<f64>,
    pub(super) gap: f64,
    pub(super) entry: f64,
    pub(super) feature: u32,
}

/// Contact of a mesh with a ball of radius `r` at `p` with velocity `v`.
pub(super) fn touch(
    mesh: &SoftMesh,
    p: &Point3<f64>,
    r: f64,
    v: &Vector3<f64>,
    q: &Query,
    stack: &mut Vec<(u32, u32)>,
) -> Option<BallContact> {
    let path = v * q.time_step_s;
    inside(mesh, &p.coords, r, stack)
        .or_else(|| outside(mesh, &p.coords, r, &path, q.margin, stack))
}

fn inside(
    mesh: &SoftMesh,
    p: &Vector3<f64>,
    r: f64,
    stack: &mut Vec<(u32, u32)>,
) -> Option<BallContact> {
    let field = mesh.depth();
    let t = field.tet_at(p, stack, |_| false)?;
    let tet = field.functions_of(t);
    let slope = tet.pressure.gradient.norm();
    let normal = tet.pressure.gradient.try_normalize(0.0)?;
    Some(BallContact {
        point: field.material_point(t, p)?,
        position: *p,
        normal,
        gap: -tet.pressure.at(p) / slope - r,
        entry: 0.0,
        feature: t.wrapping_mul(2),
    })
}

fn outside(
    mesh: &SoftMesh,
    p: &Vector3<f64>,
    r: f64,
    path: &Vector3<f64>,
    margin: f64,
    stack: &mut Vec<(u32, u32)>,
) -> Option<BallContact> {
    let relative = path - mesh.drift();
    let bounds = PressureBox::of_points([*p, p + relative]);
    let around = Vector3::repeat(r + margin);
    let (low, high) = (bounds.min - around, bounds.max + around);
    let mut best: Option<(f64, BallContact)> = None;
    mesh.triangle_tree().visit(
        stack,
        |b| (0..3).all(|k| b.min[k] <= high[k] && low[k] <= b.max[k]),
        |t| {
            let normal = mesh.normal(t);
            let x = mesh.corners(t);
            let height = normal.dot(&(p - x[0]));
            if *normal == Vector3::zeros() || height < 0.0 {
                return;
            }
            let (nearest, _) = closest_on_triangle(&Point3::from(*p), &x.map(Point3::from));
            let apart = nearest.coords - p;
            let distance = apart.norm();
            let (rank, entry, position, direction) = if distance <= r + margin {
                let direction = apart.try_normalize(1e-12).unwrap_or(-normal);
                (distance, 0.0, nearest.coords, direction)
            } else {
                let paths = mesh.triangle(t).map(|v| mesh.path(v));
                let own = (paths[0] + paths[1] + paths[2]) / 3.0;
                let closing = normal.dot(&(own - path));
                if height - r > closing || closing <= 0.0 {
                    return;
                }
                let entry = ((height - r) / closing).clamp(1e-9, 1.0);
                let hit = p + (path - own) * entry - normal * r;
                if barycentric(&x, &hit).iter().any(|w| *w < -1e-9) {
                    return;
                }
                (1e6 + entry, entry, hit, -normal)
            };
            if best.as_ref().is_none_or(|b| rank < b.0) {
                let touch = BallContact {
                    point: MaterialPoint {
                        primitive: Primitive::Triangle(t),
                        weights: barycentric(&x, &position),
                        offset: Vector3::zeros(),
                    },
                    position,
                    normal: direction,
                    gap: direction.dot(&(position - p)) - r,
                    entry,
                    feature: t.wrapping_mul(2).wrapping_add(1),
                };
                best = Some((rank, touch));
            }
        },
    );
    best.map(|b| b.1)
}
