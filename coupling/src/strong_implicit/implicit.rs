//! The implicit equations of bodies that are not linear: linearised again about what was found, until they are met.
//!
//! Every linearisation, A = ∂m/∂v made positive definite and b = A v − m(v), is a convex problem with the constraints of the first. Its
//! solution v′ is gone to as far as E allows, the potential of the bodies' m:
//!
//! ```text
//! d = v′ − v,   t = 1, ½, ¼, ... until   E(v + td) ≤ E(v) + t m(v)·d + ¾ t dᵀA d
//! ```
//!
//! v′ minimises m·d + ½dᵀA d + ℓ(v′), which is strongly convex by A, so that ℓ(v′) − ℓ(v) ≤ −m·d − dᵀA d, and ℓ is convex: what is
//! sought falls by (E + ℓ)(v) − (E + ℓ)(v + td) ≥ ¼ t dᵀA d, and no constraint has to be looked at for it. A barrier law stays
//! where it has an energy.
//!
//! Source: proximal Newton with a line search, after Lee, Sun, Saunders (2014), section 2.3; the test by the potential alone is ours.

use pliant_contact_sap::{
    BodyError, BodyStep, ConvexContactSolver, Dynamics, NonlinearBalance, ParticipantIdx,
    SolveMode, SolveReport,
};

use super::StrongImplicit;
use super::consistent::{CORRECTIONS_MAX, merged};
use crate::error::StepError;
use crate::friction_limits::{Foresight, SolveInStep};
use crate::report::ImplicitReport;
use crate::settings::Linearisation;
use crate::state::State;
use crate::world::{BodyIdx, World};

/// The potential may grow by this part of itself, which is round-off.
const ROUND_OFF: f64 = 1e-13;
/// What is left of the balance is compared with no less than this part of √E, 1/ROUND_OFF of the digits that forces at rest have.
const REST: f64 = 1e-5;
/// And no less than this, √J.
const SCALE_MIN: f64 = 1e-8;
/// Friction is judged from here on: limits that are set to loads that are known to a hundredth serve as well as exact ones.
const JUDGED: f64 = 1e-2;
/// Shorter ways than this part of one to a solution lead nowhere.
const WAY_MIN: f64 = 1e-6;

/// Whether the velocities are those that the impulses belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Whole,
    Part,
    None,
}

impl<S: ConvexContactSolver> StrongImplicit<S> {
    /// Goes on from the solution of the first linearisation, as the world asks for.
    pub(super) fn meet_implicit_equations(
        &mut self,
        world: &World,
        state: &State,
        steps: &mut [Box<dyn BodyStep>],
        first: SolveReport,
    ) -> Result<SolveReport, StepError> {
        self.implicit = ImplicitReport::default();
        let Linearisation::UntilMet {
            relative_tolerance,
            solves_max,
        } = world.parts.linearisation
        else {
            return Ok(first);
        };
        if !steps.iter().any(|step| step.as_nonlinear().is_some()) {
            return Ok(first);
        }
        let of_body = |(body, source)| StepError::of_body(world, state, body, source);
        let mut report = first;
        let mut corrections = 0;
        // Where bodies were linearised first, if it is not so fast that they invert by it.
        let mut here = self.start.clone();
        for (b, ..) in nonlinear(steps) {
            here[self.offsets[b]..self.offsets[b + 1]].copy_from_slice(&self.linearised_at[b]);
        }
        if !self.potential(steps, &here).map_err(of_body)?.is_finite() {
            here.fill(0.0);
        }
        let mut way = self.go(steps, &here).map_err(of_body)?;
        loop {
            if way == Way::Whole {
                self.implicit.residual = self.what_is_left(steps).map_err(of_body)?;
                let met = self.implicit.residual <= relative_tolerance;
                let wrong = (met || self.implicit.residual <= JUDGED)
                    && self.limits_are_wrong(world, steps)
                    && corrections < CORRECTIONS_MAX;
                if wrong {
                    corrections += 1;
                    let records = &mut self.contacts.records;
                    let impulses = &self.solution.contact_impulse;
                    let model = world.parts.contact.model;
                    self.limits.correct(model, records, impulses, &mut self.set);
                } else if met {
                    break;
                }
            }
            if way == Way::None || self.implicit.relinearisations >= solves_max {
                self.implicit.missed = true;
                break;
            }
            self.implicit.relinearisations += 1;
            here.clone_from(&self.solution.velocity);
            for (b, step) in steps
                .iter_mut()
                .enumerate()
                .filter(|(_, s)| s.as_nonlinear().is_some())
            {
                step.linearise(&here[self.offsets[b]..self.offsets[b + 1]])
                    .map_err(|source| of_body((BodyIdx(b), source)))?;
            }
            self.guess.clone_from(&here);
            let dynamics: Vec<&dyn Dynamics> = steps.iter().map(|step| step.dynamics()).collect();
            report = merged(
                report,
                self.solve_first(world, state, &dynamics, SolveMode::Full)?,
            );
            way = self.go(steps, &here).map_err(of_body)?;
        }
        Ok(report)
    }

    /// Whether friction is not that of the loads found.
    fn limits_are_wrong(&mut self, world: &World, steps: &[Box<dyn BodyStep>]) -> bool {
        let dynamics: Vec<&dyn Dynamics> = steps.iter().map(|step| step.dynamics()).collect();
        let solve = SolveInStep {
            world,
            records: &self.contacts.records,
            impulses: &self.solution.contact_impulse,
            scale: self.momentum_scale(&dynamics),
        };
        self.limits.are_wrong(&solve, Foresight::Settled)
    }

    /// Goes from where bodies were linearised, with velocities `here`, towards the solution found, as far as their potential allows.
    fn go(
        &mut self,
        steps: &[Box<dyn BodyStep>],
        here: &[f64],
    ) -> Result<Way, (BodyIdx, BodyError)> {
        let way: Vec<f64> = self
            .solution
            .velocity
            .iter()
            .zip(here)
            .map(|(there, here)| there - here)
            .collect();
        let (mut slope, mut curvature) = (0.0, 0.0);
        for (b, step, balance) in nonlinear(steps) {
            let range = self.offsets[b]..self.offsets[b + 1];
            let (v, d) = (&here[range.clone()], &way[range]);
            let mut product = vec![0.0; d.len()];
            balance
                .residual(v, &mut product)
                .map_err(|source| (BodyIdx(b), source))?;
            slope += product.iter().zip(d).map(|(m, d)| m * d).sum::<f64>();
            step.dynamics().apply(d, &mut product);
            curvature += product.iter().zip(d).map(|(ad, d)| ad * d).sum::<f64>();
        }
        let before = self.potential(steps, here)?;
        let mut t = 1.0;
        loop {
            if t < 1.0 {
                let moved = here.iter().zip(&way).map(|(v, d)| v + t * d);
                self.solution.velocity.clear();
                self.solution.velocity.extend(moved);
            }
            let potential = self.potential(steps, &self.solution.velocity)?;
            let noise = ROUND_OFF * (potential.abs() + before.abs());
            let allowed = before + t * (slope + 0.75 * curvature) + noise;
            if potential.is_finite() && potential <= allowed {
                break;
            }
            t *= 0.5;
            if t < WAY_MIN {
                self.solution.velocity.clear();
                self.solution.velocity.extend_from_slice(here);
                return Ok(Way::None);
            }
        }
        if t < 1.0 {
            self.implicit.shortened += 1;
            return Ok(Way::Part);
        }
        Ok(Way::Whole)
    }

    /// E of the bodies that are not linear, J.
    fn potential(
        &self,
        steps: &[Box<dyn BodyStep>],
        velocity: &[f64],
    ) -> Result<f64, (BodyIdx, BodyError)> {
        let mut sum = 0.0;
        for (b, _, balance) in nonlinear(steps) {
            let own = &velocity[self.offsets[b]..self.offsets[b + 1]];
            let potential = balance.potential(own);
            sum += potential.map_err(|source| (BodyIdx(b), source))?;
        }
        Ok(sum)
    }

    /// ‖D(m − (A v − b))‖ at a solution of A and b, where A v − b is what constraints give, as a part of the terms of the balance.
    fn what_is_left(&self, steps: &[Box<dyn BodyStep>]) -> Result<f64, (BodyIdx, BodyError)> {
        let (mut left, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
        for (b, step, balance) in nonlinear(steps) {
            let v = &self.solution.velocity[self.offsets[b]..self.offsets[b + 1]];
            let dynamics = step.dynamics();
            let (mut m, mut av) = (vec![0.0; v.len()], vec![0.0; v.len()]);
            balance
                .residual(v, &mut m)
                .map_err(|source| (BodyIdx(b), source))?;
            dynamics.apply(v, &mut av);
            for (dof, b_i) in dynamics.right_hand_side().iter().enumerate() {
                let square = self.factors.inverse_diagonal(ParticipantIdx(b), dof);
                left += square * (m[dof] - (av[dof] - b_i)).powi(2);
                of_a += square * av[dof] * av[dof];
                of_b += square * b_i * b_i;
            }
        }
        let potential = self.potential(steps, &self.solution.velocity)?;
        let scale = f64::max(of_a, of_b).sqrt();
        let scale = scale.max(REST * potential.abs().sqrt()).max(SCALE_MIN);
        Ok(left.sqrt() / scale)
    }
}

/// The bodies that are linearised again, with their indices.
fn nonlinear(
    steps: &[Box<dyn BodyStep>],
) -> impl Iterator<Item = (usize, &dyn BodyStep, &dyn NonlinearBalance)> {
    let bodies = steps.iter().enumerate();
    bodies.filter_map(|(b, step)| Some((b, &**step, step.as_nonlinear()?)))
}
