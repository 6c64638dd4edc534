//! Friction of one contact beside what its load allows, and a limit nearer to that load.

use nalgebra::Vector3;

use crate::contacts::ContactRecord;

/// A contact with more than this share of its limit in use slips, or is about to.
const SLIPPING: f64 = 0.9;

/// A contact of a rigid pair whose limit is below this share of what its load allows says nothing of slip.
const UNDECIDED: f64 = 0.1;

/// Friction of one contact, N·s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Friction {
    /// γ_n.
    pub(super) load: f64,
    /// What there is.
    pub(super) found: f64,
    /// μn0.
    pub(super) limit: f64,
    /// μγ_n.
    pub(super) allowed: f64,
}

impl Friction {
    pub(super) fn of(record: &ContactRecord, gamma: &[f64]) -> Self {
        let gamma = Vector3::from_column_slice(gamma);
        let gamma_n = record.normal_W.dot(&gamma);
        let found = (gamma - record.normal_W * gamma_n).norm();
        let mu = record.friction();
        let (limit, allowed) = (mu * record.friction_limit, mu * gamma_n.max(0.0));
        Self {
            load: gamma_n.max(0.0),
            found,
            limit,
            allowed,
        }
    }

    /// Whether it uses up its limit.
    pub(super) fn slips(&self) -> Slips {
        Slips::at(self.found, self.limit)
    }

    /// Whether it has too small a limit to tell slip from stick.
    pub(super) fn is_undecided(&self) -> bool {
        self.limit < UNDECIDED * self.allowed
    }

    /// Too much or too little, where it is known whether it `slips`.
    pub(super) fn off(&self, slips: Slips) -> f64 {
        let excess = self.found - self.allowed;
        if slips == Slips::Yes && self.found >= SLIPPING * self.limit {
            excess.max(self.allowed - self.limit).max(0.0)
        } else {
            excess.max(0.0)
        }
    }
}

/// Whether friction is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slips {
    Yes,
    No,
}

impl Slips {
    pub(super) fn at(found: f64, limit: f64) -> Self {
        match found >= SLIPPING * limit {
            true => Self::Yes,
            false => Self::No,
        }
    }
}

impl ContactRecord {
    /// Gives a contact with impulse `gamma`, N·s, a limit nearer to its load, `way` of what the secant says.
    pub(super) fn update_limit(&mut self, gamma: &[f64], slope_of_pair: f64, fraction: f64) {
        let load = Friction::of(self, gamma).load;
        if load == self.friction_limit || self.friction() == 0.0 {
            return;
        }
        let limit = self.friction_limit;
        let target = match self.previous {
            Some(previous) => previous.secant(limit, load, slope_of_pair),
            None => load,
        };
        self.previous = Some(PreviousBound { limit, load });
        self.friction_limit = limit + fraction * (target - limit);
    }
}

/// A limit of an earlier solve of this step, and the load that came of it, N·s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PreviousBound {
    pub(super) limit: f64,
    pub(super) load: f64,
}

impl PreviousBound {
    /// Where limit and load meet by the secant through this and the last solve. A load that falls as its limit rises is met between
    /// the middle of the two and the load; one that rises with it as far beyond as the loads of its pair do, `slope_of_pair`:
    /// what a single contact takes over from its neighbours is no slope of its own.
    fn secant(&self, limit: f64, load: f64, slope_of_pair: f64) -> f64 {
        let own = (load - self.load) / (limit - self.limit);
        let slope = if own.is_finite() && own < 0.0 {
            own.max(-1.0)
        } else {
            slope_of_pair
        };
        (limit + (load - limit) / (1.0 - slope)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_answers_its_limit_is_met_by_the_secant() {
        // γ_n = 3 − n0: limits and loads alone would cycle between 1 and 2.
        let first = PreviousBound {
            limit: 1.0,
            load: 2.0,
        };
        assert_eq!(first.secant(2.0, 1.0, 0.5), 1.5);
        // One that does not answer is taken as it is, and so is one that runs along, unless its pair does.
        assert_eq!(first.secant(2.0, 2.0, 0.0), 2.0);
        assert_eq!(first.secant(2.0, 4.0, 0.0), 4.0);
        // γ_n = 2 + (n0 − 1)/2 of all meets n0 at 3.
        assert_eq!(first.secant(2.0, 2.5, 0.5), 3.0);
        // Nothing was changed: no secant.
        assert_eq!(first.secant(1.0, 5.0, 0.0), 5.0);
        // No limit is negative: 4 + (1 − 4)/(1 − ½) would be −2.
        let last = PreviousBound {
            limit: 8.0,
            load: 3.0,
        };
        assert_eq!(last.secant(4.0, 1.0, 0.5), 0.0);
    }
}
