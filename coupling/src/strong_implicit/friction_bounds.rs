//! The friction bounds of the lagged model, iterated until they are those of the normal loads found.

use pliant_contact_sap::SolveMode;

use super::outer_loop::{Attempt, LaggedQuantity, LinearisationStage, Restart, Round};
use crate::error::StepError;
use crate::friction_bounds::{FrictionBounds, SingleContacts, SolveInStep};

/// Most rounds of a step that update friction bounds.
const ROUNDS_MAX: usize = 12;
/// Rounds in which contacts are also updated one by one, whatever their pair's friction is.
const SINGLE_CONTACT_ROUNDS: usize = 2;

/// Iterates [`FrictionBounds`].
#[derive(Debug, Default)]
pub(super) struct FrictionBoundIteration {
    pub(super) limits: FrictionBounds,
    /// Whether bounds are still so rough that solutions need few digits.
    rough: bool,
}

impl FrictionBoundIteration {
    /// Sets the first bounds of a step from the loads of the last one.
    pub(super) fn predict(&mut self, attempt: &mut Attempt<'_>) {
        let problem = &mut *attempt.problem;
        self.limits.predict(
            attempt.context,
            &mut problem.contacts.records,
            &mut problem.set,
        );
    }

    /// Before the first solve with a right-hand side; returns how exact it has to be.
    pub(super) fn begin(&mut self, attempt: &Attempt<'_>) -> SolveMode {
        self.limits.begin();
        self.rough =
            FrictionBounds::are_rough(attempt.context.world, &attempt.problem.contacts.records);
        match self.rough {
            true => SolveMode::Inexact,
            false => SolveMode::Full,
        }
    }

    /// How exact a solve has to be after an update of bounds alone.
    pub(super) fn mode(&self) -> SolveMode {
        match self.rough {
            true => SolveMode::Inexact,
            false => SolveMode::ImpulsesOnly,
        }
    }
}

impl LaggedQuantity for FrictionBoundIteration {
    fn residual(&mut self, attempt: &mut Attempt<'_>, round: &Round) -> Result<f64, StepError> {
        let single_contacts = match round.linearisation {
            LinearisationStage::Rough => return Ok(0.0),
            LinearisationStage::First if round.number < SINGLE_CONTACT_ROUNDS => {
                SingleContacts::Updated
            }
            _ => SingleContacts::Kept,
        };
        let problem = &*attempt.problem;
        let solve = SolveInStep {
            world: attempt.context.world,
            records: &problem.contacts.records,
            impulses: &problem.solution.contact_impulse,
            scale: problem.momentum_scale,
        };
        let residual = self.limits.residual(&solve, single_contacts);
        let due = residual > 1.0 && round.number < ROUNDS_MAX;
        self.rough &= due;
        Ok(if due { residual } else { 0.0 })
    }

    fn update(&mut self, attempt: &mut Attempt<'_>) -> Result<Restart, StepError> {
        let problem = &mut *attempt.problem;
        self.limits.update(
            &*attempt.context.world.parts.contact.model,
            &mut problem.contacts.records,
            &problem.solution.contact_impulse,
            &mut problem.set,
        );
        Ok(Restart::Bounds)
    }
}
