//! The set of contacts: contacts whose swept paths intersect only along the solution are added.

use super::outer_loop::{Attempt, LaggedQuantity, LinearisationStage, Restart, Round};
use crate::error::StepError;
use crate::world::GeometryIdx;

/// Most searches for missed contacts in a step that add what they find.
const SEARCHES_MAX: usize = 4;

/// Contacts are found along predicted motion. The solution may move a body elsewhere; pairs that come into contact there are missed
/// until a search along the solution adds them.
#[derive(Debug, Default)]
pub(super) struct ContactSet {
    searches: usize,
    /// The first missed pair of the last search.
    pub(super) missed: Option<(GeometryIdx, GeometryIdx)>,
}

impl ContactSet {
    pub(super) fn begin(&mut self) {
        *self = Self::default();
    }
}

impl LaggedQuantity for ContactSet {
    /// The number of missed contacts, plus 1 if there are any: none is tolerated. The first search does not wait for friction bounds.
    fn residual(&mut self, attempt: &mut Attempt<'_>, round: &Round) -> Result<f64, StepError> {
        let due = round.complete
            && round.linearisation == LinearisationStage::First
            && (self.searches == 0 || round.restart.is_none());
        if !due {
            return Ok(0.0);
        }
        let missed = attempt.problem.find_missed_contacts(attempt.context)?;
        self.missed = missed.first().map(|c| (c.a, c.b));
        self.searches += 1;
        match missed.len() {
            n if n > 0 && self.searches <= SEARCHES_MAX => Ok(1.0 + n as f64),
            _ => Ok(0.0),
        }
    }

    fn update(&mut self, attempt: &mut Attempt<'_>) -> Result<Restart, StepError> {
        attempt.problem.add_found_contacts(attempt.context)?;
        Ok(Restart::Constraints)
    }
}
