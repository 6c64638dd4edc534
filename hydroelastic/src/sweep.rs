//! When two shapes on predicted paths first touch, by conservative advancement.
//!
//! A plane between two convex sets stays between them until the fastest points of both have covered the gap along its
//! normal. So the time to the next check is the gap divided by the closing speed along the current normal; where that is not
//! positive the sets never meet on straight paths. Turning bodies move along their true arcs, with |ω| r as the bound of what
//! a turn adds: a body that spins by more than half a radian in a step simply needs more rounds.

use nalgebra::{Isometry3, Vector3};

use crate::posed::RigidShape;

/// Gap and normal (from B into A, frame of B) of two shapes at a relative pose; `None` when they are further apart than it
/// could matter.
pub(crate) type Gap = Option<(f64, Vector3<f64>)>;

const ROUNDS_MAX: usize = 100;

/// The fraction of the step at which the gap first falls to `touching` (m), or `None`. `gap_at` is asked at relative poses
/// X_BA.
pub(crate) fn first_touch(
    a: &RigidShape<'_>,
    b: &RigidShape<'_>,
    time_step_s: f64,
    touching: f64,
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
        if s > 1.0 {
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
