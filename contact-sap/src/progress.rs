//! When an iteration stops, and how it steps: the same for every method.

use crate::error::SolveError;
use crate::evaluation::{Evaluation, QuadraticPart, Residual};
use crate::island::IslandProblem;
use crate::islands::{IslandAnswer, IslandReport};
use crate::line_search::{LineSearch, Step};
use crate::solver::{StopCriteria, StopReason};

/// The course of one solve of one island.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    criteria: &'a StopCriteria,
    history: &'a mut Vec<f64>,
    rate: Rate,
    /// The last steps were too short for the cost to show: the residual before them, and how many.
    at_round_off: Option<(f64, usize)>,
    iterations: usize,
}

/// How a method approaches the solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rate {
    /// A step at round-off that does not halve the residual is the last that can help.
    Superlinear,
    /// Many small steps add up.
    Linear,
}

impl Rate {
    /// How many steps that the cost does not show may pass without halving the residual.
    fn patience(self) -> usize {
        match self {
            Rate::Superlinear => 1,
            Rate::Linear => 50,
        }
    }
}

/// Go on, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Continue,
    Stop(StopReason),
}

impl<'a> Progress<'a> {
    /// `history` takes ‖D∇ℓ‖ of every iteration. `rate` is that of the method near the solution.
    pub(crate) fn begin(criteria: &'a StopCriteria, rate: Rate, history: &'a mut Vec<f64>) -> Self {
        history.clear();
        history.reserve(criteria.iterations_max + 1);
        Self {
            criteria,
            history,
            rate,
            at_round_off: None,
            iterations: 0,
        }
    }

    /// Judges the residual at the current velocities.
    ///
    /// # Errors
    /// A residual that is not a number, blaming the constraint that made it so.
    pub(crate) fn judge(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        residual: Residual,
    ) -> Result<Verdict, SolveError> {
        if !residual.norm.is_finite() {
            return Err(blame(p, e));
        }
        self.history.push(residual.norm);
        if residual.norm <= self.criteria.tolerance(residual) {
            return Ok(Verdict::Stop(StopReason::Converged));
        }
        match self.at_round_off {
            Some((before, _)) if residual.norm <= 0.5 * before => self.at_round_off = None,
            Some((_, steps)) if steps >= self.rate.patience() => {
                return Ok(Verdict::Stop(StopReason::CostStalledAtRoundOff));
            }
            _ => {}
        }
        if self.iterations >= self.criteria.iterations_max {
            return Ok(Verdict::Stop(StopReason::IterationLimit));
        }
        Ok(Verdict::Continue)
    }

    /// The largest relative residual that a direction may be left with; see [`NewtonCg`](crate::NewtonCg).
    pub(crate) fn forcing_max(&self) -> f64 {
        if self.iterations < 20 { 1e-2 } else { 1e-6 }
    }

    /// Steps along the direction of `e`; returns the evaluations of its line search.
    pub(crate) fn advance(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        quadratic: QuadraticPart,
        line_search: &LineSearch,
    ) -> usize {
        self.iterations += 1;
        let slope0 = e.slope_at_start();
        // A quadratic gains ½|slope|; below round-off of the cost a search would follow noise, so Newton takes its own step.
        let gain = -0.5 * slope0;
        let shows = gain > f64::EPSILON * e.cost_scale();
        self.at_round_off = match (shows, self.at_round_off, self.history.last()) {
            (true, ..) => None,
            (false, Some((before, steps)), _) => Some((before, steps + 1)),
            (false, None, last) => last.map(|&residual| (residual, 1)),
        };
        let unconstrained = p.island.n_contacts + p.island.n_scalars == 0;
        let search = shows || self.rate == Rate::Linear;
        let step = if search && !unconstrained {
            line_search.search(e, p, quadratic, slope0)
        } else {
            Step {
                alpha: 1.0,
                evaluations: 0,
            }
        };
        e.advance(step.alpha);
        step.evaluations
    }

    /// [`Progress::advance`] for directions that need not descend: stays where it is if this one doesn't.
    pub(crate) fn advance_or_stay(
        &mut self,
        p: &IslandProblem<'_>,
        e: &mut Evaluation,
        quadratic: QuadraticPart,
        line_search: &LineSearch,
    ) -> usize {
        if e.slope_at_start() < 0.0 {
            return self.advance(p, e, quadratic, line_search);
        }
        self.iterations += 1;
        self.at_round_off = None;
        0
    }

    /// Completes the report; `e` is as last judged.
    pub(crate) fn finish(self, p: &IslandProblem<'_>, e: &Evaluation, report: &mut IslandReport) {
        report.iterations = self.iterations;
        report.residual = self.history.last().copied().unwrap_or_default();
        report.cost = e.cost(p);
    }
}

impl StopCriteria {
    /// ε_a + ε_r max(‖D A v‖, ‖D Jᵀγ‖), √J.
    pub(crate) fn tolerance(&self, residual: Residual) -> f64 {
        self.absolute_tolerance + self.relative_tolerance * residual.reference
    }
}

impl IslandAnswer {
    /// Takes over velocities and impulses of `e`.
    pub(crate) fn take(&mut self, e: &Evaluation, report: IslandReport) {
        self.velocity.clone_from(&e.v);
        self.contact_impulse.clone_from(&e.gamma);
        self.row_impulse.clone_from(&e.sigma);
        self.report = report;
    }
}

/// The error of a residual that is not finite.
fn blame(p: &IslandProblem<'_>, e: &Evaluation) -> SolveError {
    for basis in &p.island.bases {
        for (k, i) in basis.contacts.clone().enumerate() {
            let gamma = &e.gamma[basis.first_contact + k];
            if let Some(value) = gamma.iter().find(|g| !g.is_finite()) {
                return SolveError::NotFinite {
                    place: format!("the impulse of contact {i}"),
                    value: *value,
                };
            }
        }
        for (k, i) in basis.scalars.clone().enumerate() {
            let value = e.sigma[basis.first_scalar + k];
            if !value.is_finite() {
                return SolveError::NotFinite {
                    place: format!("the impulse of scalar row {i}"),
                    value,
                };
            }
        }
    }
    SolveError::NotFinite {
        place: format!(
            "the momentum of the island of participant {}",
            p.island.members.first().map_or(0, |m| m.participant.0)
        ),
        value: f64::NAN,
    }
}
