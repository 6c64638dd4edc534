//! Continuation in stiffness: what Newton's method falls back on where it gets lost.
//!
//! A light body on stiff contact, above all under the models whose cones are curved, makes the cost a narrow, curved valley:
//! every step along it leaves it, and the line search cuts it short. With a thousandth of the stiffness the valley is wide, its
//! lowest point is found in a few steps and knows the loads; that for ten times the stiffness is then near, and so on.
//!
//! Source: Nocedal, Wright (2006), Numerical Optimization, section 17.1, for penalties.

use crate::constraint_set::ConstraintSet;
use crate::error::SolveError;
use crate::island::IslandProblem;
use crate::islands::{IslandAnswer, IslandReport};
use crate::newton::{NewtonSettings, NewtonWorkspace};
use crate::problem::ContactProblem;
use crate::solver::{StopCriteria, StopReason};

/// Iterations after which a solve counts as lost. Of 3,000 steps of particles, finite elements and rigid bodies with masses
/// up to ten thousand times each other's, three do not end within 200 iterations as they are; by continuation the longest takes
/// 212.
const LOST: usize = 60;

/// Shares of the stiffness that come before all of it.
const SHARES: [f64; 3] = [1e-3, 1e-2, 1e-1];

impl NewtonSettings {
    /// Solves the problem as it is or, where that gets lost, by way of softer ones.
    pub(super) fn solve_with_continuation(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut NewtonWorkspace,
        answer: &mut IslandAnswer,
    ) -> Result<(), SolveError> {
        let within = |iterations: usize| Self {
            stop: StopCriteria {
                iterations_max: iterations,
                ..self.stop
            },
            ..*self
        };
        let iterations_max = self.stop.iterations_max;
        within(iterations_max.min(LOST)).solve_at_once(p, workspace, answer)?;
        let is_lost = |report: &IslandReport| report.stop == StopReason::IterationLimit;
        if !is_lost(&answer.report) || iterations_max <= LOST {
            return Ok(());
        }
        let (lost, lost_at) = (answer.report, answer.velocity.clone());
        let mut before = lost;
        let mut set = p.set().clone();
        for share in SHARES {
            set.take_stiffness(p.set(), share);
            let problem = ContactProblem {
                constraints: &set,
                ..*p.problem
            };
            let softer = IslandProblem {
                problem: &problem,
                ..*p
            };
            let left = iterations_max.saturating_sub(before.iterations);
            within(left).solve_at_once(&softer, workspace, answer)?;
            answer.report.follow(&before);
            before = answer.report;
        }
        let left = iterations_max.saturating_sub(before.iterations);
        within(left).solve_at_once(p, workspace, answer)?;
        answer.report.follow(&before);
        if is_lost(&answer.report) && lost.cost < answer.report.cost {
            before = answer.report;
            answer.velocity = lost_at;
            within(0).solve_at_once(p, workspace, answer)?;
            answer.report.follow(&before);
        }
        Ok(())
    }
}

impl ConstraintSet {
    /// Takes the contacts of `other`, which only differs in them, with `share` of their stiffness.
    fn take_stiffness(&mut self, other: &Self, share: f64) {
        for (own, other) in self.contacts.iter_mut().zip(&other.contacts) {
            own.law = other.law.with_stiffness_times(share);
        }
    }
}
