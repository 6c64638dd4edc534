//! The set of contacts: those are added that the bodies meet only along the solution, and those that did not hold them.

use super::outer_loop::{Attempt, LaggedQuantity, LinearisationStage, Restart, Round};
use crate::error::StepError;
use crate::world::GeometryIdx;

/// Most searches for missed contacts in a step that add what they find.
const SEARCHES_MAX: usize = 8;

/// Contacts are found along predicted motion, and are linear in the velocities. The solution may move a body elsewhere, or turn it so far
/// that its contacts let it pass into another. A search along the solution adds the contacts that are missing; what is still missing after
/// the last search is reported.
#[derive(Debug, Default)]
pub(super) struct ContactSet {
    searches: usize,
    pub(super) search: PathSearch,
    /// The first missed pair of the last search.
    pub(super) missed: Option<(GeometryIdx, GeometryIdx)>,
}

/// Whether the solution is a path along which contacts are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PathSearch {
    #[default]
    AlongSolution,
    /// Bodies move along another path.
    Skipped,
}

impl ContactSet {
    pub(super) fn begin(&mut self) {
        self.searches = 0;
        self.missed = None;
    }
}

impl LaggedQuantity for ContactSet {
    /// The number of missed contacts, plus 1 if there are any: none is tolerated. The first search does not wait for friction bounds.
    fn residual(&mut self, attempt: &mut Attempt<'_>, round: &Round) -> Result<f64, StepError> {
        let due = round.complete
            && self.search == PathSearch::AlongSolution
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
