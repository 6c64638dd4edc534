//! Frame targets that a robot cannot reach.

use super::Follower;
use crate::scene::{Follow, FrameTarget, Scene};

/// Errors of position (m) and rotation (rad) below which a pose counts as reached.
const REACHED: (f64, f64) = (1e-3, 1e-2);

/// The first knot of `target` that the frame does not reach, from the joint positions of the knot before; those of the first are `start`.
/// Bodies in the way are not considered.
pub(super) fn note(
    scene: &Scene,
    follower: &mut Follower,
    target: &FrameTarget,
    start: &[f64],
) -> Option<String> {
    let mut q = start.to_vec();
    for (at_s, pose) in follower.track.knots() {
        let report = follower.solver.reach(&follower.tree, &mut q, &pose);
        let turns = target.follow == Follow::Pose && report.rotation_error > REACHED.1;
        if report.position_error > REACHED.0 || turns {
            let line = scene.text.line_and_column(target.frame.at.start).0;
            return Some(format!(
                "{}:{line}: suspicious: {:?} does not reach its pose at {at_s} s by inverse kinematics from the knot before: it stays {:.2e} m and {:.2e} rad away; move the pose, or the robot",
                scene.text.name(),
                target.frame.name,
                report.position_error,
                report.rotation_error
            ));
        }
    }
    None
}
