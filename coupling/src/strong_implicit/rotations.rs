//! Lagged terms of bodies, such as the rotations of corotated laws, by fixed-point iteration: see
//! [`LaggedTerms`](pliant_contact_sap::LaggedTerms).

use std::time::Instant;

use super::outer_loop::{Attempt, LaggedQuantity, LinearisationStage, Restart, Round};
use crate::convergence::LaggedReport;
use crate::error::StepError;
use crate::world::BodyIdx;

/// Iterations in a row without a new smallest residual that end the iteration. In chains of links that strike each other updates may
/// diverge: giving up after two takes a chain of 100 links from 1,194 to 885 ms a step and leaves one more step of 20 unconverged.
const STALLED_MAX: usize = 2;

/// The fixed-point iteration of one step.
#[derive(Debug, Default)]
pub(super) struct RotationIteration {
    iterations_max: usize,
    /// Residual of each body, as a multiple of its tolerance.
    residuals: Vec<f64>,
    stall: Stall,
    pub(super) report: LaggedReport,
}

impl RotationIteration {
    pub(super) fn begin(&mut self, iterations_max: usize) {
        self.iterations_max = iterations_max;
        self.stall = Stall::default();
        self.report = LaggedReport::default();
    }
}

impl LaggedQuantity for RotationIteration {
    /// The largest residual of the bodies under contact or constraint forces. Waits for everything else to converge.
    fn residual(&mut self, attempt: &mut Attempt<'_>, round: &Round) -> Result<f64, StepError> {
        let due = round.complete
            && round.restart.is_none()
            && round.linearisation == LinearisationStage::First;
        if !due {
            return Ok(0.0);
        }
        let problem = &mut *attempt.problem;
        self.report.residual = 0.0;
        self.report.unconverged = None;
        self.residuals.clear();
        self.residuals.resize(problem.steps.len(), 0.0);
        for (b, step) in problem.steps.iter_mut().enumerate() {
            if !problem.participating[b] {
                continue;
            }
            let Some(lagged) = step.as_lagged() else {
                continue;
            };
            let clock = Instant::now();
            let residual = lagged.residual(&problem.solution.velocity[problem.velocities.range(b)]);
            problem.times.bodies += clock.elapsed();
            self.residuals[b] = residual;
            if residual > self.report.residual.max(1.0) {
                self.report.residual = residual;
                self.report.unconverged = Some(BodyIdx(b));
            }
        }
        let goes_on = self.report.unconverged.is_some()
            && self.report.iterations < self.iterations_max
            && self.stall.goes_on(self.report.residual);
        Ok(if goes_on { self.report.residual } else { 0.0 })
    }

    fn update(&mut self, attempt: &mut Attempt<'_>) -> Result<Restart, StepError> {
        let clock = Instant::now();
        let problem = &mut *attempt.problem;
        for (step, residual) in problem.steps.iter_mut().zip(&self.residuals) {
            if *residual > 1.0
                && let Some(lagged) = step.as_lagged()
            {
                lagged.update();
            }
        }
        problem.guess_last_solution();
        problem.times.bodies += clock.elapsed();
        self.report.iterations += 1;
        Ok(Restart::RightHandSide)
    }
}

/// Whether residuals still decrease.
#[derive(Debug)]
struct Stall {
    smallest: f64,
    without_progress: usize,
}

impl Default for Stall {
    fn default() -> Self {
        Self {
            smallest: f64::INFINITY,
            without_progress: 0,
        }
    }
}

impl Stall {
    /// Whether to iterate on from `residual`.
    fn goes_on(&mut self, residual: f64) -> bool {
        if residual < self.smallest {
            self.smallest = residual;
            self.without_progress = 0;
        } else {
            self.without_progress += 1;
        }
        self.without_progress < STALLED_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of iterations for residuals in this order.
    fn iterations(residuals: &[f64]) -> usize {
        let mut stall = Stall::default();
        residuals.iter().take_while(|r| stall.goes_on(**r)).count()
    }

    #[test]
    fn iterations_go_on_while_residuals_decrease_and_past_one_increase() {
        assert_eq!(iterations(&[26.0, 22.4, 22.7, 20.5, 11.9, 5.6]), 6);
        assert_eq!(iterations(&[9.0, 9.0, 8.0, 8.5, 7.0]), 5);
    }

    #[test]
    fn diverging_iterations_end() {
        assert_eq!(iterations(&[47.1, 16.2, 13.4, 13.8, 16.7, 21.3]), 4);
        assert_eq!(iterations(&[5.0, 5.0, 5.0]), 2);
    }
}
