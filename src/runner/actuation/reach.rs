//! Frame targets that a robot cannot reach.

use pliant_multibody::DofIdx;

use super::Follower;
use crate::scene::{Follow, FrameTarget, Scene};

/// Errors of position (m) and rotation (rad) below which a pose counts as reached.
const REACHED: (f64, f64) = (1e-3, 1e-2);

/// Joint positions from which a pose is tried that is not reached from the knot before.
const STARTS: u32 = 32;

/// How far a frame stays from a pose.
#[derive(Clone, Copy)]
struct Miss {
    position_m: f64,
    rotation_rad: f64,
}

impl Miss {
    fn is_reached(&self, follow: Follow) -> bool {
        let turned = follow == Follow::Position || self.rotation_rad <= REACHED.1;
        self.position_m <= REACHED.0 && turned
    }

    /// The errors that count.
    fn text(&self, follow: Follow) -> String {
        let position = format!("{:.3} m", self.position_m);
        match follow {
            Follow::Pose => format!("{position} and {:.3} rad", self.rotation_rad),
            Follow::Position => position,
        }
    }

    /// Both errors relative to what counts as reached.
    fn size(&self, follow: Follow) -> f64 {
        let rotation = match follow {
            Follow::Pose => self.rotation_rad / REACHED.1,
            Follow::Position => 0.0,
        };
        (self.position_m / REACHED.0).hypot(rotation)
    }
}

/// The first knot of `target` that is out of the frame's reach; if there is none, the first one that is not reached from the joint positions of the knot
/// before, those of the first being `start`. Each is tried from other joint positions, too, which tells the two apart. Bodies in the way are not considered.
pub(super) fn note(
    scene: &Scene,
    follower: &mut Follower,
    target: &FrameTarget,
    start: &[f64],
) -> Option<String> {
    let mut q = start.to_vec();
    let mut on_another_branch = None;
    let knots: Vec<_> = follower.track.knots().collect();
    for (at_s, pose) in knots {
        let missed = reach(follower, &mut q, &pose);
        if missed.is_reached(target.follow) {
            continue;
        }
        let line = scene.text.line_and_column(target.frame.at.start).0;
        let subject = format!(
            "{}:{line}: suspicious: {:?} does not reach its pose at {at_s} s",
            scene.text.name(),
            target.frame.name
        );
        let (mut nearest, mut nearest_q) = (missed, q.clone());
        for k in 0..STARTS {
            let mut other = spread(follower, &q, k);
            let missed = reach(follower, &mut other, &pose);
            if missed.size(target.follow) < nearest.size(target.follow) {
                (nearest, nearest_q) = (missed, other);
            }
        }
        if !nearest.is_reached(target.follow) {
            return Some(format!(
                "{subject}, nor from {STARTS} other joint positions: it stays {} away; it is out of reach: move the pose, or the robot",
                nearest.text(target.follow)
            ));
        }
        q = nearest_q;
        on_another_branch.get_or_insert_with(|| {
            format!(
                "{subject} from the knot before: it stays {} away; other joint positions reach it: add knots between, or begin on that branch by `positions`",
                missed.text(target.follow)
            )
        });
    }
    on_another_branch
}

fn reach(follower: &mut Follower, q: &mut [f64], pose: &nalgebra::Isometry3<f64>) -> Miss {
    let report = follower.solver.reach(&follower.tree, q, pose);
    Miss {
        position_m: report.position_error,
        rotation_rad: report.rotation_error,
    }
}

/// Joint positions number `k`, evenly spread over the ranges of the controlled joints; the others as in `q`.
///
/// Source: Roberts (2018), the sequence R_d: multiples of the powers of 1/φ_d, with φ_d the positive root of x^(d+1) = x + 1.
fn spread(follower: &Follower, q: &[f64], k: u32) -> Vec<f64> {
    let tree = &follower.tree;
    let root = (0..64).fold(2.0_f64, |x, _| {
        (1.0 + x).powf(1.0 / (follower.driven.len() as f64 + 1.0))
    });
    let mut q = q.to_vec();
    for (i, &dof) in (1..).zip(&follower.driven) {
        let Some(entry) = tree.position_of_dof(DofIdx(dof)) else {
            continue;
        };
        let limits = tree.joint(tree.joint_of_dof(DofIdx(dof))).limits;
        let within = |limit: f64, otherwise: f64| match limit.is_finite() {
            true => limit,
            false => otherwise,
        };
        let half_turn = std::f64::consts::PI;
        let lower = within(limits.lower, -half_turn);
        let upper = within(limits.upper, half_turn);
        let share = (0.5 + f64::from(k + 1) * root.powi(-i)).fract();
        q[entry] = lower + share * (upper - lower);
    }
    q
}
