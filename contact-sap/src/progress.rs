//! Stop test and step of the outer iteration, shared by all solvers.

use std::time::Instant;

use crate::error::SolveError;
use crate::evaluation::{Evaluation, QuadraticPart, Residual};
use crate::island::IslandProblem;
use crate::islands::{IslandAnswer, IslandReport};
use crate::line_search::{LineSearch, Step};
use crate::solver::{StopCriteria, StopReason};

/// The iteration state of one solve of one island.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    criteria: &'a StopCriteria,
    rate: Rate,
    answer: &'a mut IslandAnswer,
    /// Set while steps change the cost by less than its round-off: the residual before the first such step, and their number.
    at_round_off: Option<(f64, usize)>,
    pub(crate) report: IslandReport,
}

/// Convergence rate of a method near the solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rate {
    /// Stops after the first step at round-off that does not halve the residual.
    Superlinear,
    /// Allows many steps at round-off, as small steps may add up.
    Linear,
}

impl Rate {
    /// Number of steps at round-off that may pass without halving the residual.
    fn stalled_steps_max(self) -> usize {
        match self {
            Rate::Superlinear => 1,
            Rate::Linear => 50,
        }
    }
}

impl<'a> Progress<'a> {
    /// Starts at the velocities of `answer` and records ‖D∇ℓ‖ of each iteration in its history.
    pub(crate) fn begin(
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        criteria: &'a StopCriteria,
        rate: Rate,
        answer: &'a mut IslandAnswer,
    ) -> Self {
        let clock = Instant::now();
        e.begin(p);
        e.v.copy_from_slice(&answer.velocity);
        answer.residual_history.clear();
        answer.residual_history.reserve(criteria.iterations_max + 1);
        let mut report = IslandReport::default();
        report.stages.set_up += clock.elapsed();
        Self {
            criteria,
            rate,
            answer,
            at_round_off: None,
            report,
        }
    }

    /// Evaluates impulses and gradient at the current velocities; `None` if the iteration must stop.
    ///
    /// # Errors
    /// The residual is not finite; names the constraint that caused it. [`SolveError::Cancelled`].
    pub(crate) fn residual(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
    ) -> Result<Option<Residual>, SolveError> {
        if p.cancellation.is_requested() {
            return Err(SolveError::Cancelled);
        }
        let clock = Instant::now();
        let mut residual = e.update(p);
        if e.is_accumulated() && self.may_stop(residual) {
            residual = e.update_product(p);
        }
        let reason = if residual.norm.is_finite() {
            Ok(self.stop_reason(residual))
        } else {
            Err(not_finite_error(p, e))
        };
        self.report.stages.gradient += clock.elapsed();
        Ok(match reason? {
            Some(reason) => {
                self.report.stop = reason;
                None
            }
            None => Some(residual),
        })
    }

    /// Whether [`Progress::stop_reason`] may return a reason. It is then evaluated with an exact product A v, free of the
    /// round-off that accumulates in updates.
    fn may_stop(&self, residual: Residual) -> bool {
        residual.norm <= self.criteria.tolerance(residual)
            || self.at_round_off.is_some()
            || self.report.iterations >= self.criteria.iterations_max
    }

    /// The reason to stop here, if any.
    fn stop_reason(&mut self, residual: Residual) -> Option<StopReason> {
        self.answer.residual_history.push(residual.norm);
        if residual.norm <= self.criteria.tolerance(residual) {
            return Some(StopReason::Converged);
        }
        match self.at_round_off {
            Some((before, _)) if residual.norm <= 0.5 * before => self.at_round_off = None,
            Some((_, steps)) if steps >= self.rate.stalled_steps_max() => {
                return Some(StopReason::CostStalledAtRoundOff);
            }
            _ => {}
        }
        (self.report.iterations >= self.criteria.iterations_max)
            .then_some(StopReason::IterationLimit)
    }

    /// Whether no step was taken.
    pub(crate) fn at_start(&self) -> bool {
        self.report.iterations == 0
    }

    /// Steps along the direction of `e`.
    ///
    /// # Errors
    /// An A that is indefinite along the direction, beyond round-off.
    pub(crate) fn advance(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        quadratic: QuadraticPart,
        line_search: &LineSearch,
    ) -> Result<(), SolveError> {
        check_curvature(p, e, quadratic)?;
        self.report.iterations += 1;
        let slope0 = e.slope_at_start();
        // A full Newton step lowers a quadratic by ½|slope|. Below the round-off of the cost a line search follows noise, so
        // the full step is taken.
        let gain = -0.5 * slope0;
        let is_resolved = gain > f64::EPSILON * e.cost_scale();
        self.at_round_off = match (
            is_resolved,
            self.at_round_off,
            self.answer.residual_history.last(),
        ) {
            (true, ..) => None,
            (false, Some((before, steps)), _) => Some((before, steps + 1)),
            (false, None, last) => last.map(|&residual| (residual, 1)),
        };
        let unconstrained = p.island.n_contacts + p.island.n_scalars == 0;
        let search = is_resolved || self.rate == Rate::Linear;
        let step = if search && !unconstrained {
            line_search.search(e, p, quadratic, slope0)
        } else {
            Step {
                alpha: 1.0,
                evaluations: 0,
            }
        };
        e.advance(step.alpha);
        self.report.line_search_evaluations += step.evaluations;
        Ok(())
    }

    /// Counts an iteration without a step, for a direction that does not descend.
    pub(crate) fn stay(&mut self) {
        self.report.iterations += 1;
        self.at_round_off = None;
    }

    /// Completes the answer with the velocities and impulses of `e`.
    pub(crate) fn finish(mut self, p: &IslandProblem<'_>, e: &Evaluation) {
        let answer = self.answer;
        self.report.residual = answer.residual_history.last().copied().unwrap_or_default();
        self.report.cost = e.cost(p);
        answer.velocity.clone_from(&e.v);
        answer.contact_impulse.clone_from(&e.gamma);
        answer.row_impulse.clone_from(&e.sigma);
        answer.report = self.report;
    }
}

impl StopCriteria {
    /// ε_a + ε_r max(‖D A v‖, ‖D Jᵀγ‖), √J.
    pub(crate) fn tolerance(&self, residual: Residual) -> f64 {
        self.absolute_tolerance + self.relative_tolerance * residual.reference
    }
}

/// Rejects an A with ΔvᵀAΔv < 0 beyond round-off. Entries of a definite A are at most √(a_ii a_jj), so the round-off is below
/// n ε Σ a_ii Δv_i².
fn check_curvature(
    p: &IslandProblem<'_>,
    e: &Evaluation,
    quadratic: QuadraticPart,
) -> Result<(), SolveError> {
    if quadratic.curvature >= 0.0 {
        return Ok(());
    }
    let diagonal = e.dv.iter().zip(&e.scale).map(|(dv, d)| (dv / d).powi(2));
    let round_off = 4.0 * f64::EPSILON * e.dv.len() as f64 * diagonal.sum::<f64>();
    if quadratic.curvature >= -round_off {
        return Ok(());
    }
    let work = |i: usize| e.dv[i] * e.a_dv[i];
    let worst = (0..e.dv.len()).min_by(|&i, &j| work(i).total_cmp(&work(j)));
    Err(p.island.indefinite_at(worst.unwrap_or_default()))
}

/// The error of a residual that is not finite.
fn not_finite_error(p: &IslandProblem<'_>, e: &Evaluation) -> SolveError {
    for basis in &p.island.bases {
        for (k, i) in basis.contacts.clone().enumerate() {
            let gamma = &e.gamma[basis.first_contact + k];
            if let Some(value) = gamma.iter().find(|g| !g.is_finite()) {
                return SolveError::NotFinite {
                    location: format!("the impulse of contact {i}"),
                    participant: None,
                    value: *value,
                };
            }
        }
        for (k, i) in basis.scalars.clone().enumerate() {
            let value = e.sigma[basis.first_scalar + k];
            if !value.is_finite() {
                return SolveError::NotFinite {
                    location: format!("the impulse of scalar row {i}"),
                    participant: None,
                    value,
                };
            }
        }
    }
    let participant = p.island.members.first().map(|m| m.participant);
    SolveError::NotFinite {
        location: format!(
            "the momentum of the island of participant {}",
            participant.map_or(0, |p| p.0)
        ),
        participant,
        value: f64::NAN,
    }
}
