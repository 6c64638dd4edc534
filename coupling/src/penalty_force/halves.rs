//! Steps that did not converge, or gained energy, are taken again in two halves, and these in halves in turn.
//!
//! Shorter steps carry particles past fewer kinks, and less deep. What is left after [`HALVINGS`] keeps a part of its velocities with which the energy does not grow
//! (`retreat`), and is said to be untrusted.

use crate::convergence::Convergence;
use crate::error::StepError;
use crate::report::StepReport;
use crate::state::State;

/// Eighths of a step are the shortest.
const HALVINGS: u32 = 3;

/// What the parts of a step add up to.
#[derive(Default)]
struct Sum {
    parts: usize,
    /// Of the first untrusted part.
    untrusted: Option<Convergence>,
    warnings: Vec<String>,
}

/// What becomes of a step that did not converge, or gained energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// It is taken again in halves.
    Halves,
    /// It is kept, with the part of its velocities that gains no energy.
    Retreat,
}

/// Takes one step from a state, of a length in s.
pub(super) trait TakeStep {
    fn take(
        &mut self,
        state: &State,
        length: (f64, Remedy),
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError>;
}

/// Covers `length_s` from `state`, whole or in parts. `report` is of the last part, with the warnings of all; it is untrusted if a part was.
pub(super) fn cover(
    stepper: &mut impl TakeStep,
    state: &State,
    length_s: f64,
    next: &mut State,
    report: &mut StepReport,
) -> Result<(), StepError> {
    stepper.take(state, (length_s, Remedy::Halves), next, report)?;
    if report.is_trusted() {
        return Ok(());
    }
    let mut sum = Sum::default();
    sum.divide(stepper, state, (length_s, 1), next, report)?;
    next.step = state.step + 1;
    next.time_s = state.time_s + length_s;
    if let Some(convergence) = sum.untrusted {
        report.convergence = convergence;
    }
    sum.warnings.dedup();
    report.warnings = sum.warnings;
    if let Some(penalty) = &mut report.penalty_force {
        penalty.parts = sum.parts;
    }
    Ok(())
}

impl Sum {
    /// Takes a step in two halves, after `halvings` in all.
    fn divide(
        &mut self,
        stepper: &mut impl TakeStep,
        state: &State,
        (length_s, halvings): (f64, u32),
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let mut middle = State::default();
        let half = (0.5 * length_s, halvings);
        self.part(stepper, state, half, &mut middle, report)?;
        // One step of the caller.
        middle.step = state.step;
        self.part(stepper, &middle, half, next, report)
    }

    fn part(
        &mut self,
        stepper: &mut impl TakeStep,
        state: &State,
        (length_s, halvings): (f64, u32),
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let remedy = match halvings < HALVINGS {
            true => Remedy::Halves,
            false => Remedy::Retreat,
        };
        stepper.take(state, (length_s, remedy), next, report)?;
        if !report.is_trusted() && remedy == Remedy::Halves {
            return self.divide(stepper, state, (length_s, halvings + 1), next, report);
        }
        self.parts += 1;
        if !report.is_trusted() && self.untrusted.is_none() {
            self.untrusted = Some(report.convergence);
        }
        self.warnings.append(&mut report.warnings);
        Ok(())
    }
}
