//! Time of impact of two shapes on predicted paths, by conservative advancement.
//!
//! A separating plane of two convex sets stays separating until the fastest points of both have covered the gap along
//! its normal. The safe time step is therefore the gap divided by the closing speed along the current normal; if that
//! is not positive, the sets never touch on straight paths. Rotating bodies follow their true arcs, and |ω| r bounds
//! the contribution of the rotation: a body that rotates by more than half a radian per step needs more rounds.

use nalgebra::{Isometry3, Vector3};

use crate::narrow_phase::{self, ConvexPiece, Separation};
use crate::posed::RigidShape;
use crate::{Aabb, Shape};

/// Reused storage: the triangles swept by two meshes.
#[derive(Default)]
pub(crate) struct SweptTriangles {
    pub(crate) of_A: Vec<u32>,
    pub(crate) of_B: Vec<u32>,
    found: Vec<(f64, Separation)>,
}

/// Time of impact of A and B as a fraction of the step, and their separation (in the frame of B at that time). Neither
/// shape may be a half space; they are now separated by more than `margin`, and separations beyond `reach` are ignored.
pub(crate) fn entry(
    a: &RigidShape<'_>,
    b: &RigidShape<'_>,
    time_step_s: f64,
    margin: f64,
    reach: f64,
    buffers: &mut SweptTriangles,
) -> Option<(f64, Separation)> {
    let touching = (1e-6 * a.shape.size().min(b.shape.size())).min(0.5 * margin);
    let relative = |s: f64| relative_pose(a, b, s * time_step_s);
    if let (false, false) = (
        matches!(a.shape, Shape::Mesh(_)),
        matches!(b.shape, Shape::Mesh(_)),
    ) {
        let gap =
            |X_BA: &Isometry3<f64>| narrow_phase::convex_separation(a.shape, b.shape, X_BA, reach);
        let s = first_touch(a, b, time_step_s, touching, 1.0, |X| {
            gap(X).map(|g| (g.distance, g.normal))
        })?;
        return Some((s, gap(&relative(s))?));
    }
    // Triangles of a mesh are swept one by one: each is convex, and the first impact counts.
    buffers.gather(a, b, time_step_s, margin);
    let SweptTriangles { of_A, of_B, .. } = buffers;
    let mut best: Option<(f64, Separation)> = None;
    for &i in of_A.iter() {
        let Some(piece_A) = piece(a.shape, i) else {
            continue;
        };
        for &j in of_B.iter() {
            let Some(piece_B) = piece(b.shape, j) else {
                continue;
            };
            let until = best.as_ref().map_or(1.0, |x| x.0);
            let gap = |X_BA: &Isometry3<f64>| piece_A.separation(&piece_B, X_BA, reach);
            let touch = first_touch(a, b, time_step_s, touching, until, |X| {
                gap(X).map(|g| (g.distance, g.normal))
            });
            if let Some(s) = touch
                && best.as_ref().is_none_or(|x| s < x.0)
                && let Some(g) = gap(&relative(s))
            {
                best = Some((s, g));
            }
        }
    }
    best
}

/// Impacts of the pieces of A and B that are now separated by more than `margin`, the first one first, as for [`entry`].
pub(crate) fn impacts<'w>(
    a: &RigidShape<'_>,
    b: &RigidShape<'_>,
    time_step_s: f64,
    margin: f64,
    reach: f64,
    buffers: &'w mut SweptTriangles,
) -> &'w [(f64, Separation)] {
    let touching = (1e-6 * a.shape.size().min(b.shape.size())).min(0.5 * margin);
    let now = b.X_WG.inv_mul(&a.X_WG);
    buffers.gather(a, b, time_step_s, margin);
    let SweptTriangles { of_A, of_B, found } = buffers;
    found.clear();
    for (i, piece_A) in pieces(a.shape, of_A) {
        for (j, piece_B) in pieces(b.shape, of_B) {
            let gap = |X_BA: &Isometry3<f64>| piece_A.separation(&piece_B, X_BA, reach);
            if gap(&now).is_none_or(|g| g.distance <= margin) {
                continue;
            }
            let touch = first_touch(a, b, time_step_s, touching, 1.0, |X| {
                gap(X).map(|g| (g.distance, g.normal))
            });
            let Some(s) = touch else { continue };
            let X_BA = relative_pose(a, b, s * time_step_s);
            if let Some(g) = gap(&X_BA)
                && enters_outside((a.shape, i), (b.shape, j), &X_BA, &g.normal)
            {
                found.push((s, g));
            }
        }
    }
    found.sort_by(|x, y| x.0.total_cmp(&y.0));
    found
}

/// Whether the partner of each triangle is on its outer side. `normal` points from B into A, in the frame of B.
pub(crate) fn enters_outside(
    (a, i): (&Shape, u32),
    (b, j): (&Shape, u32),
    X_BA: &Isometry3<f64>,
    normal: &Vector3<f64>,
) -> bool {
    let faces = |shape: &Shape, t: u32, direction: &Vector3<f64>| match shape {
        Shape::Mesh(mesh) => mesh.normal(t).dot(direction) > 0.0,
        _ => true,
    };
    faces(b, j, normal) && faces(a, i, &-X_BA.inverse_transform_vector(normal))
}

/// X_BA after time `t`, s.
pub(crate) fn relative_pose(a: &RigidShape<'_>, b: &RigidShape<'_>, t: f64) -> Isometry3<f64> {
    b.pose_after(t).inv_mul(&a.pose_after(t))
}

impl SweptTriangles {
    /// Finds the pieces of A and B that may meet within the step.
    pub(crate) fn gather(
        &mut self,
        a: &RigidShape<'_>,
        b: &RigidShape<'_>,
        time_step_s: f64,
        margin: f64,
    ) {
        let turn = 0.5 * time_step_s * turning_speed(a, b);
        let around_path = |shape: &Shape, start: &Isometry3<f64>, end: &Isometry3<f64>| {
            shape
                .aabb(start)
                .merged(&shape.aabb(end))
                .inflated(margin + turn)
        };
        let (start, end) = (relative_pose(a, b, 0.0), relative_pose(a, b, time_step_s));
        within(b.shape, &around_path(a.shape, &start, &end), &mut self.of_B);
        within(
            a.shape,
            &around_path(b.shape, &start.inverse(), &end.inverse()),
            &mut self.of_A,
        );
    }
}

/// The pieces of a shape with these numbers.
pub(crate) fn pieces<'a>(
    shape: &'a Shape,
    numbers: &'a [u32],
) -> impl Iterator<Item = (u32, ConvexPiece<'a>)> {
    numbers.iter().filter_map(|&i| Some((i, piece(shape, i)?)))
}

/// The pieces of a shape within `region` (of its own frame): triangles of a mesh, otherwise the shape as number 0.
fn within(shape: &Shape, region: &Aabb, out: &mut Vec<u32>) {
    out.clear();
    match shape {
        Shape::Mesh(mesh) => {
            mesh.triangles_in(region, |t| out.push(t));
            out.sort_unstable();
        }
        _ => out.push(0),
    }
}

pub(crate) fn piece(shape: &Shape, index: u32) -> Option<ConvexPiece<'_>> {
    match shape {
        Shape::Mesh(mesh) => Some(ConvexPiece::of_triangle(mesh, index)),
        _ => ConvexPiece::of_shape(shape),
    }
}

/// Gap and normal (from B into A, frame of B) of two shapes at a relative pose; `None` when the gap is irrelevantly
/// large.
pub(crate) type Gap = Option<(f64, Vector3<f64>)>;

const ROUNDS_MAX: usize = 100;

/// The fraction of the step, at most `until`, at which the gap first falls to `touching` (m), or `None`. `gap_at` is
/// evaluated at relative poses X_BA.
pub(crate) fn first_touch(
    a: &RigidShape<'_>,
    b: &RigidShape<'_>,
    time_step_s: f64,
    touching: f64,
    until: f64,
    mut gap_at: impl FnMut(&Isometry3<f64>) -> Gap,
) -> Option<f64> {
    let velocity = a.V_WG.linear - b.V_WG.linear;
    let mut s = 0.0;
    for _ in 0..ROUNDS_MAX {
        let X_WB = b.pose_after(s * time_step_s);
        let X_BA = X_WB.inv_mul(&a.pose_after(s * time_step_s));
        let (gap, normal_B) = gap_at(&X_BA)?;
        if gap <= touching {
            return Some(s);
        }
        let normal_W = X_WB.rotation * normal_B;
        let closing = turning_speed(a, b) - normal_W.dot(&velocity);
        if closing <= 0.0 {
            return None;
        }
        // Stops half of the tolerance before contact, so that the next gap is still positive.
        s += (gap - 0.5 * touching) / (closing * time_step_s);
        if s > until {
            return None;
        }
    }
    // Grazing contact, undecided within the iteration limit: reported as contact.
    Some(s)
}

/// Upper bound of the approach speed of any two points, m/s.
pub(crate) fn approach_speed(a: &RigidShape<'_>, b: &RigidShape<'_>) -> f64 {
    (a.V_WG.linear - b.V_WG.linear).norm() + turning_speed(a, b)
}

/// Upper bound of the approach speed of points due to rotation, m/s.
pub(crate) fn turning_speed(a: &RigidShape<'_>, b: &RigidShape<'_>) -> f64 {
    let between = (a.X_WG.translation.vector - b.X_WG.translation.vector).norm();
    let reach = |this: &RigidShape<'_>, other: &RigidShape<'_>| {
        let turn = this.V_WG.angular.norm();
        if turn == 0.0 {
            return 0.0;
        }
        // A half space has no radius, but the points that it can touch lie within the other's.
        let own = this.shape.radius_about_origin();
        turn * own.min(between + other.shape.radius_about_origin())
    };
    reach(a, b) + reach(b, a)
}
