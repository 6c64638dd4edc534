//! When two shapes on predicted paths first touch, by conservative advancement.
//!
//! A plane between two convex sets stays between them until the fastest points of both have covered the gap along its
//! normal. So the time to the next check is the gap divided by the closing speed along the current normal; where that is not
//! positive the sets never meet on straight paths. Turning bodies move along their true arcs, with |ω| r as the bound of what
//! a turn adds: a body that spins by more than half a radian in a step simply needs more rounds.

use nalgebra::{Isometry3, Vector3};

use crate::narrow_phase::{self, ConvexPiece, Separation};
use crate::posed::RigidShape;
use crate::{Aabb, Shape};

/// Reused storage: the triangles that two meshes sweep over.
#[derive(Default)]
pub(crate) struct SweptTriangles {
    of_A: Vec<u32>,
    of_B: Vec<u32>,
}

/// When A and B first touch, as a fraction of the step, and their separation there (in the frame of B at that moment). Neither a
/// half space; they are apart by more than `margin` now, and nothing further apart than `reach` matters.
pub(crate) fn entry(
    a: &RigidShape<'_>,
    b: &RigidShape<'_>,
    time_step_s: f64,
    margin: f64,
    reach: f64,
    buffers: &mut SweptTriangles,
) -> Option<(f64, Separation)> {
    let touching = (1e-6 * a.shape.size().min(b.shape.size())).min(0.5 * margin);
    let relative = |s: f64| {
        b.pose_after(s * time_step_s)
            .inv_mul(&a.pose_after(s * time_step_s))
    };
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
    // A mesh is followed triangle by triangle: each is convex, and the first to touch is the entry.
    let SweptTriangles { of_A, of_B } = buffers;
    let turn = 0.5 * time_step_s * turning_speed(a, b);
    let around_path = |shape: &Shape, start: &Isometry3<f64>, end: &Isometry3<f64>| {
        shape
            .aabb(start)
            .merged(&shape.aabb(end))
            .inflated(margin + turn)
    };
    let (start, end) = (relative(0.0), relative(1.0));
    within(b.shape, &around_path(a.shape, &start, &end), of_B);
    within(
        a.shape,
        &around_path(b.shape, &start.inverse(), &end.inverse()),
        of_A,
    );
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

/// The pieces of a shape that can be met within `region` (of its own frame): triangles of a mesh, else the shape as number 0.
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

fn piece(shape: &Shape, index: u32) -> Option<ConvexPiece<'_>> {
    match shape {
        Shape::Mesh(mesh) => Some(ConvexPiece::of_triangle(mesh, index)),
        _ => ConvexPiece::of_shape(shape),
    }
}

/// Gap and normal (from B into A, frame of B) of two shapes at a relative pose; `None` when they are further apart than it
/// could matter.
pub(crate) type Gap = Option<(f64, Vector3<f64>)>;

const ROUNDS_MAX: usize = 100;

/// The fraction of the step, at most `until`, at which the gap first falls to `touching` (m), or `None`. `gap_at` is asked at
/// relative poses X_BA.
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
        // Half of the tolerance short of contact, so that the next gap is still seen from outside.
        s += (gap - 0.5 * touching) / (closing * time_step_s);
        if s > until {
            return None;
        }
    }
    // Grazing: not through within the bound on rounds. It may touch, so it does.
    Some(s)
}

/// How fast a turn can bring points nearer, m/s.
pub(crate) fn turning_speed(a: &RigidShape<'_>, b: &RigidShape<'_>) -> f64 {
    let between = (a.X_WG.translation.vector - b.X_WG.translation.vector).norm();
    let reach = |this: &RigidShape<'_>, other: &RigidShape<'_>| {
        let turn = this.V_WG.angular.norm();
        if turn == 0.0 {
            return 0.0;
        }
        // A half space has no radius, but what it can hit lies within the other's.
        let own = this.shape.radius_about_origin();
        turn * own.min(between + other.shape.radius_about_origin())
    };
    reach(a, b) + reach(b, a)
}
