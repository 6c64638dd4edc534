//! Point contact of a deforming surface, represented by balls at its vertices, with shapes, other surfaces and itself.

use nalgebra::{Point3, Vector3};

use crate::GeometryError;
use crate::contact_geometry::{ContactGeometry, Query};
use crate::contact_point::{ContactKey, ContactPoint, MaterialPoint, PointStiffness};
use crate::contact_workspace::ContactWorkspace;
use crate::posed::{DeformingSurface, Posed, RigidShape};

/// Balls at the vertices of a deforming surface against rigid shapes and against other such balls.
///
/// Within the margin a ball is in contact along the nearest direction; beyond it if its predicted straight path
/// intersects the shape (in the shape's frame) or the other ball within the step (speculative contact). Two surfaces
/// with the same id are one surface in self-contact: pairs in its [`SelfExclusion`](crate::SelfExclusion) are left out,
/// and every pair is reported once, with the higher vertex as A.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// use pliant_hydroelastic::{
///     ContactGeometry, ContactWorkspace, DeformingSurface, ParticleContact, Posed, Query, RigidShape, SelfExclusion, Shape,
/// };
///
/// // A ball of 1 cm about a vertex 8 mm above the floor overlaps it by 2 mm.
/// let exclusion = SelfExclusion::default();
/// let surface = DeformingSurface {
///     id: 0,
///     points: &[Point3::new(0.0, 0.0, 0.008)],
///     radii: &[0.01],
///     velocities: &[Vector3::zeros()],
///     exclusion: &exclusion,
///     field: None,
///     mesh: None,
/// };
/// let floor = Shape::half_space();
/// let b = Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity()));
/// let (mut points, mut workspace) = (Vec::new(), ContactWorkspace::default());
/// ParticleContact.collide(Posed::Deforming(surface), b, &Query::new(1e-3, 9.81)?, &mut workspace, &mut points).expect("a known pair")?;
/// assert!((points[0].signed_distance + 2e-3).abs() < 1e-15);
/// assert_eq!(points[0].a.offset, Vector3::new(0.0, 0.0, -0.01)); // from the vertex to the contact
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ParticleContact;

impl ContactGeometry for ParticleContact {
    fn collide(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        workspace: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        if !matches!(
            (&a, &b),
            (Posed::Deforming(_), Posed::Rigid(_) | Posed::Deforming(_))
                | (Posed::Rigid(_), Posed::Deforming(_))
        ) {
            return None;
        }
        if let Err(e) = a.check('a').and_then(|()| b.check('b')) {
            return Some(Err(e));
        }
        match (a, b) {
            (Posed::Deforming(s), Posed::Rigid(r)) => surface_on_shape(&s, &r, q, out),
            (Posed::Rigid(r), Posed::Deforming(s)) => {
                let from = out.len();
                surface_on_shape(&s, &r, q, out);
                for c in &mut out[from..] {
                    *c = c.swapped();
                }
            }
            (Posed::Deforming(s), Posed::Deforming(t)) => {
                surface_on_surface(&s, &t, q, workspace.get(), out);
            }
            _ => return None,
        }
        Some(Ok(()))
    }
}

/// A ball of the surface is A, the shape is B.
fn surface_on_shape(
    s: &DeformingSurface<'_>,
    b: &RigidShape<'_>,
    q: &Query,
    out: &mut Vec<ContactPoint>,
) {
    let bounds = b.swept_aabb(q.time_step_s, 0.0);
    for (i, ((p, &r), v)) in s.points.iter().zip(s.radii).zip(s.velocities).enumerate() {
        if r < 0.0 {
            continue;
        }
        let margin = q.margin.max(1e-5 * r);
        let shift = v * q.time_step_s;
        let ball = crate::Aabb::from_half_extents(*p, Vector3::repeat(r + margin)).swept(&shift);
        if !ball.intersects(&bounds) {
            continue;
        }
        let now = b.shape.signed_distance_in_world(&b.X_WG, p);
        if now.value - r <= margin {
            let p_WB = p - now.gradient * now.value;
            out.push(contact(i, r, p, b, now.gradient, now.value - r, &p_WB, 0.0));
        } else if let Some((entry, normal_B, p_B)) =
            path_into_shape(p, v, r, margin, b, q.time_step_s)
        {
            // The shape may rotate meanwhile: the normal at the time of impact, at the current position of that surface
            // point.
            let X_WB = b.pose_after(entry * q.time_step_s);
            let normal = X_WB.rotation * normal_B;
            let p_WB = b.X_WG * p_B;
            let gap = normal.dot(&(p - normal * r - p_WB)).max(0.0);
            out.push(contact(i, r, p, b, normal, gap, &p_WB, entry));
        }
    }
}

#[allow(
    clippy::too_many_arguments,
    reason = "the fields of a contact, collected in one place"
)]
fn contact(
    vertex: usize,
    radius: f64,
    p: &Point3<f64>,
    b: &RigidShape<'_>,
    normal: Vector3<f64>,
    phi: f64,
    p_WB: &Point3<f64>,
    entry: f64,
) -> ContactPoint {
    let offset = -normal * radius;
    ContactPoint {
        p_WC: nalgebra::center(&(p + offset), p_WB),
        normal_W: normal,
        signed_distance: phi,
        stiffness: PointStiffness::Share(1.0),
        a: MaterialPoint::on_vertex(vertex as u32, offset),
        b: MaterialPoint::on_frame(b.X_WG.inverse_transform_point(p_WB).coords),
        key: ContactKey::new(vertex as u32, 0),
        entry,
    }
}

const ROUNDS_MAX: usize = 100;

/// Conservative advancement of a ball's centre in the frame of the shape, by steps bounded by its distance. Returns the
/// time of impact, and the normal and the contact point there, in the shape's frame.
pub(crate) fn path_into_shape(
    p: &Point3<f64>,
    v: &Vector3<f64>,
    radius: f64,
    margin: f64,
    b: &RigidShape<'_>,
    time_step_s: f64,
) -> Option<(f64, Vector3<f64>, Point3<f64>)> {
    let convex = b.shape.is_convex();
    let touching = (1e-6 * b.shape.size().max(radius))
        .min(0.5 * margin)
        .max(1e-12);
    let mut s = 0.0;
    for _ in 0..ROUNDS_MAX {
        let t = s * time_step_s;
        let X_WB = b.pose_after(t);
        let p_WQ = p + v * t;
        let p_BQ = X_WB.inverse_transform_point(&p_WQ);
        let phi = b.shape.signed_distance(&p_BQ);
        let gap = phi.value - radius;
        if gap <= touching {
            return Some((s, phi.gradient, p_BQ - phi.gradient * phi.value));
        }
        let arm = p_WQ - Point3::from(X_WB.translation.vector);
        let relative = v - b.V_WG.linear;
        let rotation_speed = b.V_WG.angular.norm() * arm.norm().min(b.shape.radius_about_origin());
        // The plane at the nearest point bounds a convex shape; for others only the distance is a safe bound.
        let closing = if convex {
            rotation_speed - (X_WB.rotation * phi.gradient).dot(&relative)
        } else {
            rotation_speed + relative.norm()
        };
        if closing <= 0.0 {
            return None;
        }
        s += (gap - 0.5 * touching) / (closing * time_step_s);
        if s > 1.0 {
            return None;
        }
    }
    None
}

/// Balls of S are A, balls of T are B.
fn surface_on_surface(
    s: &DeformingSurface<'_>,
    t: &DeformingSurface<'_>,
    q: &Query,
    w: &mut Workspace,
    out: &mut Vec<ContactPoint>,
) {
    let same = s.id == t.id;
    let dt = q.time_step_s;
    let Workspace { order_s, order_t } = w;
    sorted_intervals(s, q, order_s);
    if !same {
        sorted_intervals(t, q, order_t);
    }
    let from = out.len();
    let mut test = |i: u32, j: u32| {
        if let Some(c) = ball_on_ball(s, i as usize, t, j as usize, q.margin, dt) {
            out.push(c);
        }
    };
    if same {
        for (k, &(_, high, i)) in order_s.iter().enumerate() {
            for &(low, _, j) in &order_s[k + 1..] {
                if low > high {
                    break;
                }
                if !s.exclusion.excludes(i, j) {
                    test(i.max(j), i.min(j));
                }
            }
        }
    } else {
        // Sweep over two sorted lists: the interval that starts first is compared with those that start within it.
        let (mut k, mut l) = (0, 0);
        while k < order_s.len() && l < order_t.len() {
            if order_s[k].0 <= order_t[l].0 {
                let (_, high, i) = order_s[k];
                order_t[l..]
                    .iter()
                    .take_while(|o| o.0 <= high)
                    .for_each(|o| test(i, o.2));
                k += 1;
            } else {
                let (_, high, j) = order_t[l];
                order_s[k..]
                    .iter()
                    .take_while(|o| o.0 <= high)
                    .for_each(|o| test(o.2, j));
                l += 1;
            }
        }
    }
    out[from..].sort_unstable_by_key(|c| c.key);
}

/// Lowest and highest x of a swept ball, and its vertex.
type Interval = (f64, f64, u32);

/// The balls of either surface, sorted along x.
#[derive(Default)]
struct Workspace {
    order_s: Vec<Interval>,
    order_t: Vec<Interval>,
}

/// Extent of every swept ball along x, sorted.
fn sorted_intervals(s: &DeformingSurface<'_>, q: &Query, out: &mut Vec<Interval>) {
    out.clear();
    for (i, ((p, &r), v)) in s.points.iter().zip(s.radii).zip(s.velocities).enumerate() {
        if r < 0.0 {
            continue;
        }
        let end = p.x + v.x * q.time_step_s;
        let around = r + 0.5 * q.margin;
        out.push((p.x.min(end) - around, p.x.max(end) + around, i as u32));
    }
    out.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.2.cmp(&y.2)));
}

fn ball_on_ball(
    s: &DeformingSurface<'_>,
    i: usize,
    t: &DeformingSurface<'_>,
    j: usize,
    margin: f64,
    dt: f64,
) -> Option<ContactPoint> {
    let radii = s.radii[i] + t.radii[j];
    // Two points without radius never touch.
    if radii <= 0.0 {
        return None;
    }
    let d = s.points[i] - t.points[j];
    let distance = d.norm();
    let (entry, direction) = if distance - radii <= margin {
        (0.0, d)
    } else {
        let v = (s.velocities[i] - t.velocities[j]) * dt;
        let entry = first_root(
            v.norm_squared(),
            2.0 * d.dot(&v),
            distance * distance - radii * radii,
        )?;
        (entry, d + v * entry)
    };
    // Coincident centres: any direction separates them; +z is used consistently.
    let normal = direction.try_normalize(1e-300).unwrap_or_else(Vector3::z);
    let (offset_S, offset_T) = (-normal * s.radii[i], normal * t.radii[j]);
    let (p_S, p_T) = (s.points[i] + offset_S, t.points[j] + offset_T);
    Some(ContactPoint {
        p_WC: nalgebra::center(&p_S, &p_T),
        normal_W: normal,
        signed_distance: normal.dot(&d) - radii,
        stiffness: PointStiffness::Share(1.0),
        a: MaterialPoint::on_vertex(i as u32, offset_S),
        b: MaterialPoint::on_vertex(j as u32, offset_T),
        key: ContactKey::new(i as u32, j as u32),
        entry,
    })
}

/// The smaller root in [0, 1] of a s² + b s + c = 0 for c > 0: where the gap closes, if it is closing.
fn first_root(a: f64, b: f64, c: f64) -> Option<f64> {
    let discriminant = b * b - 4.0 * a * c;
    if b >= 0.0 || discriminant < 0.0 {
        return None;
    }
    // Written without cancellation: b < 0.
    let root = 2.0 * c / (discriminant.sqrt() - b);
    (root <= 1.0).then_some(root)
}

#[cfg(test)]
mod tests;
