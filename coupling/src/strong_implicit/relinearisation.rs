//! Nonlinear momentum balances: linearised again at each solution until they are met.
//!
//! Each linearisation, A = ∂m/∂v made positive definite and b = A v − m(v), gives a convex problem with the constraints of the first. A
//! line search on E, the potential of the bodies' m, goes from the point of linearisation v towards its solution v′:
//!
//! ```text
//! d = v′ − v,   t = 1, ½, ¼, ... until   E(v + td) ≤ E(v) + t m(v)·d + ¾ t dᵀA d
//! ```
//!
//! v′ minimises m·d + ½dᵀA d + ℓ(v′), which is strongly convex by A, so that ℓ(v′) − ℓ(v) ≤ −m·d − dᵀA d, and ℓ is convex: the
//! objective decreases by (E + ℓ)(v) − (E + ℓ)(v + td) ≥ ¼ t dᵀA d, and constraints need no evaluation. A barrier law stays where its
//! energy is finite.
//!
//! Source: proximal Newton with a line search, after Lee, Sun, Saunders (2014), section 2.3; the test by the potential alone is ours.

use std::time::Instant;

use pliant_contact_sap::{BodyError, BodyStep, NonlinearBalance, ParticipantIdx};

use super::outer_loop::{Attempt, LaggedQuantity, LinearisationStage, Restart, Round};
use super::problem::StepProblem;
use super::settings::Linearisation;
use crate::convergence::ImplicitReport;
use crate::error::StepError;
use crate::world::BodyIdx;

/// Round-off of the potential, relative.
const ROUND_OFF: f64 = 1e-13;
/// Smallest scale of the residual, as a part of √E: forces at rest have 1/ROUND_OFF digits.
const REST: f64 = 1e-5;
/// Smallest scale of the residual, √J.
const SCALE_MIN: f64 = 1e-8;
/// Relative residual up to which friction bounds are set: loads known to a hundredth serve as well as exact ones.
const ACCURATE: f64 = 1e-2;
/// Smallest step length of the line search.
const STEP_LENGTH_MIN: f64 = 1e-6;

/// The relinearisation of one step.
#[derive(Debug, Default)]
pub(super) struct Relinearisation {
    settings: Linearisation,
    stage: LinearisationStage,
    /// Velocities at which the balances were linearised last.
    point: Vec<f64>,
    direction: Vec<f64>,
    pub(super) report: ImplicitReport,
}

/// How far the line search went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepLength {
    Full,
    Shortened,
    Zero,
}

/// A body's failure.
type OfBody = (BodyIdx, BodyError);

impl Relinearisation {
    pub(super) fn begin(&mut self, settings: Linearisation) {
        self.settings = settings;
        self.stage = LinearisationStage::First;
        self.report = ImplicitReport::default();
    }

    pub(super) fn stage(&self) -> LinearisationStage {
        self.stage
    }

    /// Begins to relinearise, once everything else has converged; whether that is required and there is a nonlinear balance.
    pub(super) fn activate(&mut self, attempt: &mut Attempt<'_>) -> Result<bool, StepError> {
        let problem = &*attempt.problem;
        let required = self.settings != Linearisation::Once
            && self.stage == LinearisationStage::First
            && nonlinear(&problem.steps).next().is_some();
        if !required {
            return Ok(false);
        }
        if let Linearisation::WhereNeeded { residual_max, .. } = self.settings {
            self.report.residual = problem
                .nonlinear_residual()
                .map_err(|e| failed(attempt, e))?;
            if self.report.residual <= residual_max {
                return Ok(false);
            }
        }
        self.stage = LinearisationStage::Rough;
        // Where bodies were linearised first, unless they invert there.
        self.point.clone_from(&problem.velocities.start);
        for (b, ..) in nonlinear(&problem.steps) {
            self.point[problem.velocities.range(b)].copy_from_slice(&problem.linearised_at[b]);
        }
        let potential = problem.potential(&self.point);
        if !potential.map_err(|e| failed(attempt, e))?.is_finite() {
            self.point.fill(0.0);
        }
        Ok(true)
    }

    fn tolerance(&self) -> (f64, usize) {
        match self.settings {
            Linearisation::Once => (f64::INFINITY, 0),
            Linearisation::WhereNeeded {
                relative_tolerance,
                solves_max,
                ..
            }
            | Linearisation::UntilConverged {
                relative_tolerance,
                solves_max,
            } => (relative_tolerance, solves_max),
        }
    }

    /// The line search from the point of linearisation to the solution, which it replaces by where it ends.
    fn search(&mut self, problem: &mut StepProblem) -> Result<StepLength, OfBody> {
        self.direction.clear();
        let found = problem.solution.velocity.iter().zip(&self.point);
        self.direction
            .extend(found.map(|(there, here)| there - here));
        let (mut slope, mut curvature) = (0.0, 0.0);
        for (b, step, balance) in nonlinear(&problem.steps) {
            let range = problem.velocities.range(b);
            let (v, d) = (&self.point[range.clone()], &self.direction[range]);
            let mut product = vec![0.0; d.len()];
            balance
                .residual(v, &mut product)
                .map_err(|source| (BodyIdx(b), source))?;
            slope += product.iter().zip(d).map(|(m, d)| m * d).sum::<f64>();
            step.dynamics().apply(d, &mut product);
            curvature += product.iter().zip(d).map(|(ad, d)| ad * d).sum::<f64>();
        }
        let before = problem.potential(&self.point)?;
        let mut t = 1.0;
        loop {
            let potential = problem.potential(&problem.solution.velocity)?;
            let noise = ROUND_OFF * (potential.abs() + before.abs());
            let allowed = before + t * (slope + 0.75 * curvature) + noise;
            if potential.is_finite() && potential <= allowed {
                return Ok(match t < 1.0 {
                    true => StepLength::Shortened,
                    false => StepLength::Full,
                });
            }
            t *= 0.5;
            let length = if t < STEP_LENGTH_MIN { 0.0 } else { t };
            let moved = self.point.iter().zip(&self.direction);
            problem.solution.velocity.clear();
            (problem.solution.velocity).extend(moved.map(|(v, d)| v + length * d));
            if length == 0.0 {
                return Ok(StepLength::Zero);
            }
        }
    }
}

impl LaggedQuantity for Relinearisation {
    fn residual(&mut self, attempt: &mut Attempt<'_>, _: &Round) -> Result<f64, StepError> {
        if self.stage == LinearisationStage::First {
            return Ok(0.0);
        }
        let (relative_tolerance, solves_max) = self.tolerance();
        let clock = Instant::now();
        let length = self
            .search(attempt.problem)
            .map_err(|e| failed(attempt, e))?;
        attempt.problem.times.bodies += clock.elapsed();
        self.stage = LinearisationStage::Rough;
        let mut multiple = f64::INFINITY;
        match length {
            StepLength::Full => {
                self.report.residual = attempt
                    .problem
                    .nonlinear_residual()
                    .map_err(|e| failed(attempt, e))?;
                multiple = self.report.residual / relative_tolerance;
                if multiple <= 1.0 || self.report.residual <= ACCURATE {
                    self.stage = LinearisationStage::Accurate;
                }
            }
            StepLength::Shortened => self.report.shortened += 1,
            StepLength::Zero => {}
        }
        if multiple > 1.0
            && (length == StepLength::Zero || self.report.relinearisations >= solves_max)
        {
            self.report.missed = true;
            self.stage = LinearisationStage::Rough;
            return Ok(0.0);
        }
        Ok(multiple)
    }

    fn update(&mut self, attempt: &mut Attempt<'_>) -> Result<Restart, StepError> {
        let clock = Instant::now();
        self.report.relinearisations += 1;
        let problem = &mut *attempt.problem;
        self.point.clone_from(&problem.solution.velocity);
        for (b, step) in problem.steps.iter_mut().enumerate() {
            if step.as_nonlinear().is_some() {
                step.linearise(&self.point[problem.velocities.range(b)])
                    .map_err(|source| {
                        let (world, state) = (attempt.context.world, attempt.context.state);
                        StepError::of_body(world, state, BodyIdx(b), source)
                    })?;
            }
        }
        problem.guess_last_solution();
        problem.times.bodies += clock.elapsed();
        Ok(Restart::Dynamics)
    }
}

/// The bodies with nonlinear momentum balances.
fn nonlinear(
    steps: &[Box<dyn BodyStep>],
) -> impl Iterator<Item = (usize, &dyn BodyStep, &dyn NonlinearBalance)> {
    let bodies = steps.iter().enumerate();
    bodies.filter_map(|(b, step)| Some((b, &**step, step.as_nonlinear()?)))
}

fn failed(attempt: &Attempt<'_>, (body, source): OfBody) -> StepError {
    StepError::of_body(attempt.context.world, attempt.context.state, body, source)
}

impl StepProblem {
    /// E of the bodies with nonlinear balances, J.
    fn potential(&self, velocity: &[f64]) -> Result<f64, OfBody> {
        let mut sum = 0.0;
        for (b, _, balance) in nonlinear(&self.steps) {
            let potential = balance.potential(&velocity[self.velocities.range(b)]);
            sum += potential.map_err(|source| (BodyIdx(b), source))?;
        }
        Ok(sum)
    }

    /// ‖D(m − (A v − b))‖ at the solution, where A v − b is the impulse of the constraints, relative to the terms of the balance.
    fn nonlinear_residual(&self) -> Result<f64, OfBody> {
        let (mut residual, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
        for (b, step, balance) in nonlinear(&self.steps) {
            let v = &self.solution.velocity[self.velocities.range(b)];
            let dynamics = step.dynamics();
            let (mut m, mut av) = (vec![0.0; v.len()], vec![0.0; v.len()]);
            balance
                .residual(v, &mut m)
                .map_err(|source| (BodyIdx(b), source))?;
            dynamics.apply(v, &mut av);
            for (dof, b_i) in dynamics.right_hand_side().iter().enumerate() {
                let square = self.factors.inverse_diagonal(ParticipantIdx(b), dof);
                residual += square * (m[dof] - (av[dof] - b_i)).powi(2);
                of_a += square * av[dof] * av[dof];
                of_b += square * b_i * b_i;
            }
        }
        let potential = self.potential(&self.solution.velocity)?;
        let scale = f64::max(of_a, of_b).sqrt();
        let scale = scale.max(REST * potential.abs().sqrt()).max(SCALE_MIN);
        Ok(residual.sqrt() / scale)
    }
}
