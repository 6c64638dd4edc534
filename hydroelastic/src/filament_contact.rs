//! Point contact of filaments with rigid shapes, with balls of deforming surfaces, with each other and with themselves.
//!
//! | pair | method |
//! |---|---|
//! | capsule, capsule or ball | closed form; moving pairs by conservative advancement |
//! | capsule, rigid shape | by [`PointContact`](crate::PointContact) |
//! | box or elliptic cylinder, cylinder at a flat tip; anything | by [`PointContact`](crate::PointContact) |
//!
//! Pairs in which both sides have a patch geometry, including filaments [with a field](crate::Filament::with_field),
//! are handled by [`PatchContact`](crate::PatchContact) unless points are requested.
//!
//! Consecutive segments share a vertex, where both would report the same contact; `joints` keeps one of them.

mod joints;
mod rigid;
mod round;

use crate::contact_geometry::{ContactGeometry, Query};
use crate::contact_point::ContactPoint;
use crate::contact_workspace::ContactWorkspace;
use crate::filament::{Filament, Solid};
use crate::posed::{DeformingSurface, Posed, RigidShape};
use crate::{Aabb, GeometryError, Shape};
use joints::{Position, SegmentContact};
use rigid::Partner;
use round::Ball;

/// Point contact of filament segments with rigid shapes, balls of deforming surfaces, other filaments and themselves.
///
/// Within the margin a pair of segments is in contact along the line between its nearest points; beyond it if the
/// predicted paths intersect within the step (speculative contact). Nearly parallel capsules touch at both ends of
/// their overlap. Two filaments with the same id are one filament in self-contact; each pair of segments is then
/// reported once, with the higher index as A.
///
/// A pure function of its arguments; does not allocate once the buffers of the workspace have grown.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{ContactGeometry, ContactWorkspace, Filament, FilamentContact, Posed, Query};
///
/// // Two rods of 1 cm radius cross at a distance of 18 mm: they overlap by 2 mm.
/// let rod = |id, ends: [Point3<f64>; 2]| Filament::new(id, &ends, &[[0, 1]], &[0.01; 2]);
/// let a = rod(0, [Point3::new(-0.1, 0.0, 0.018), Point3::new(0.1, 0.0, 0.018)])?;
/// let b = rod(1, [Point3::new(0.0, -0.1, 0.0), Point3::new(0.0, 0.1, 0.0)])?;
/// let (mut points, mut workspace) = (Vec::new(), ContactWorkspace::default());
/// let query = Query::new(1e-3, 9.81)?;
/// FilamentContact.collide(Posed::Filament(&a), Posed::Filament(&b), &query, &mut workspace, &mut points).expect("a known pair")?;
/// assert_eq!(points.len(), 1);
/// assert!((points[0].signed_distance + 2e-3).abs() < 1e-12 && points[0].normal_W.z > 0.999);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct FilamentContact;

/// Buffers of contact of filaments.
#[derive(Default)]
pub(crate) struct Workspace {
    found: Vec<SegmentContact>,
    on_rigid: rigid::Workspace,
}

impl ContactGeometry for FilamentContact {
    fn collide(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        workspace: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        match (&a, &b) {
            (Posed::Filament(_), _) | (_, Posed::Filament(_)) => {}
            _ => return None,
        }
        if let (
            Posed::Rigid(RigidShape {
                shape: Shape::Custom(_),
                ..
            }),
            _,
        )
        | (
            _,
            Posed::Rigid(RigidShape {
                shape: Shape::Custom(_),
                ..
            }),
        ) = (&a, &b)
        {
            return None;
        }
        if let Err(e) = a.check('a').and_then(|()| b.check('b')) {
            return Some(Err(e));
        }
        Some(collide(a, b, q, workspace.get(), out))
    }
}

/// Appends the contacts of a pair with at least one filament, both of them checked.
pub(crate) fn collide(
    a: Posed<'_>,
    b: Posed<'_>,
    q: &Query,
    w: &mut Workspace,
    out: &mut Vec<ContactPoint>,
) -> Result<(), GeometryError> {
    w.found.clear();
    match (a, b) {
        (Posed::Filament(f), Posed::Filament(g)) if f.id() == g.id() => with_itself(f, q, w, out),
        (Posed::Filament(f), Posed::Filament(g)) => with_another(f, g, q, w, out),
        (Posed::Filament(f), Posed::Rigid(r)) => with_shape(f, &r, q, w, out),
        (Posed::Rigid(r), Posed::Filament(f)) => swapped(out, |out| with_shape(f, &r, q, w, out)),
        (Posed::Filament(f), Posed::Deforming(s)) => with_balls(f, &s, q, w, out),
        (Posed::Deforming(s), Posed::Filament(f)) => {
            swapped(out, |out| with_balls(f, &s, q, w, out))
        }
        _ => Ok(()),
    }
}

/// What `collide` appends, with A and B exchanged.
fn swapped(
    out: &mut Vec<ContactPoint>,
    collide: impl FnOnce(&mut Vec<ContactPoint>) -> Result<(), GeometryError>,
) -> Result<(), GeometryError> {
    let from = out.len();
    collide(out)?;
    for c in &mut out[from..] {
        *c = c.swapped();
    }
    Ok(())
}

fn with_itself(
    f: &Filament,
    q: &Query,
    w: &mut Workspace,
    out: &mut Vec<ContactPoint>,
) -> Result<(), GeometryError> {
    let Workspace { found, on_rigid } = w;
    let mut result = Ok(());
    f.boxes().visit_own_pairs(q.margin, |i, j| {
        if result.is_ok() && !f.excludes(i, j) {
            result = segments((f, j), (f, i), q, on_rigid, found);
        }
    });
    result?;
    joints::emit(found, f, Some(f), out);
    Ok(())
}

fn with_another(
    f: &Filament,
    g: &Filament,
    q: &Query,
    w: &mut Workspace,
    out: &mut Vec<ContactPoint>,
) -> Result<(), GeometryError> {
    let Workspace { found, on_rigid } = w;
    let mut result = Ok(());
    f.boxes().visit_pairs(g.boxes(), q.margin, |i, j| {
        if result.is_ok() {
            result = segments((f, i), (g, j), q, on_rigid, found);
        }
    });
    result?;
    joints::emit(found, f, Some(g), out);
    Ok(())
}

/// A pair of segments.
fn segments(
    (f, i): (&Filament, usize),
    (g, j): (&Filament, usize),
    q: &Query,
    w: &mut rigid::Workspace,
    found: &mut Vec<SegmentContact>,
) -> Result<(), GeometryError> {
    if f.solid(i) != Solid::Capsule || g.solid(j) != Solid::Capsule {
        return rigid::on_segment((f, i), (g, j), q, w, found);
    }
    let (a, b) = (round::of_segment(f, i), round::of_segment(g, j));
    round::touch((f, i, &a), (Some(g), Position::Segment(j), &b), q, found);
    Ok(())
}

fn with_balls(
    f: &Filament,
    s: &DeformingSurface<'_>,
    q: &Query,
    w: &mut Workspace,
    out: &mut Vec<ContactPoint>,
) -> Result<(), GeometryError> {
    let Workspace { found, on_rigid } = w;
    let whole = f.swept_aabb(q.margin);
    for v in 0..s.points.len() {
        let ball = Ball::of(s, v);
        let bounds = ball.swept_aabb(q);
        if !bounds.intersects(&whole) {
            continue;
        }
        let mut result = Ok(());
        f.boxes().visit(
            |x| x.intersects(&bounds),
            |i| {
                if f.solid(i) != Solid::Capsule {
                    if result.is_ok() {
                        result = rigid::on_ball((f, i), &ball, q, on_rigid, found);
                    }
                } else {
                    let a = round::of_segment(f, i);
                    round::touch(
                        (f, i, &a),
                        (None, Position::Ball(v), &ball.as_segment()),
                        q,
                        found,
                    );
                }
            },
        );
        result?;
    }
    joints::emit(found, f, None, out);
    Ok(())
}

fn with_shape(
    f: &Filament,
    r: &RigidShape<'_>,
    q: &Query,
    w: &mut Workspace,
    out: &mut Vec<ContactPoint>,
) -> Result<(), GeometryError> {
    let Workspace { found, on_rigid } = w;
    let bounds = r.swept_aabb(q.time_step_s, q.margin);
    let plane = match (r.shape, r.V_WG.angular.norm() > 0.0) {
        (Shape::HalfSpace, false) => Some(r.X_WG.rotation * nalgebra::Vector3::z()),
        _ => None,
    };
    let near = |x: &Aabb| match plane {
        // The lowest corner of the box, at the largest offset of the plane.
        Some(n) => {
            let lowest = n.dot(&x.center().coords) - n.abs().dot(&x.half_extents());
            let height = n.dot(&r.X_WG.translation.vector);
            lowest <= height + n.dot(&r.V_WG.linear).max(0.0) * q.time_step_s + q.margin
        }
        None => x.intersects(&bounds),
    };
    let mut result = Ok(());
    f.boxes().visit(near, |i| {
        if result.is_ok() {
            result = rigid::on_shape((f, i), &Partner { shape: r }, q, on_rigid, found);
        }
    });
    result?;
    joints::emit(found, f, None, out);
    Ok(())
}

#[cfg(test)]
mod tests;
