//! The friction of one contact, its bound and its load, and the update of the bound.

use crate::contacts::ContactRecord;

/// Fraction of its bound from which on a contact counts as slipping.
const SLIPPING: f64 = 0.9;

/// Bounds below this fraction of μγ_n do not tell whether a rigid contact slips.
const UNDECIDED: f64 = 0.1;

/// Friction of one contact, N·s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Friction {
    /// γ_n.
    pub(super) load: f64,
    /// ‖γ_t‖.
    pub(super) found: f64,
    /// μn0.
    pub(super) limit: f64,
    /// μγ_n.
    pub(super) allowed: f64,
}

impl Friction {
    /// Of a contact, with the impulses of all contacts of its set.
    pub(super) fn of(record: &ContactRecord, impulses: &[f64]) -> Self {
        let gamma = record.impulse(impulses);
        let normal_W = record.inputs.normal_W;
        let gamma_n = normal_W.dot(&gamma);
        let found = (gamma - normal_W * gamma_n).norm();
        let mu = record.friction();
        let (limit, allowed) = (mu * record.inputs.normal_impulse, mu * gamma_n.max(0.0));
        Self {
            load: gamma_n.max(0.0),
            found,
            limit,
            allowed,
        }
    }

    /// Whether friction is at its bound.
    pub(super) fn slips(&self) -> Slips {
        Slips::at(self.found, self.limit)
    }

    /// Whether the bound is too small to tell slip from stick.
    pub(super) fn is_undecided(&self) -> bool {
        self.limit < UNDECIDED * self.allowed
    }

    /// Violation of Coulomb's law, N·s, of a contact that slips or sticks as given.
    pub(super) fn off(&self, slips: Slips) -> f64 {
        let excess = self.found - self.allowed;
        if slips == Slips::Yes && self.found >= SLIPPING * self.limit {
            excess.max(self.allowed - self.limit).max(0.0)
        } else {
            excess.max(0.0)
        }
    }
}

/// Whether a contact slips.
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
    /// Updates the bound of a contact, with the `impulses` of all contacts of its set, by this `fraction` of the secant step.
    pub(super) fn update_limit(&mut self, impulses: &[f64], slope_of_pair: f64, fraction: f64) {
        let load = Friction::of(self, impulses).load;
        if load == self.inputs.normal_impulse || self.friction() == 0.0 {
            return;
        }
        let limit = self.inputs.normal_impulse;
        let target = match self.previous {
            Some(previous) => previous.secant(limit, load, slope_of_pair),
            None => load,
        };
        self.previous = Some(PreviousBound { limit, load });
        self.inputs.normal_impulse = limit + fraction * (target - limit);
    }
}

/// The bound of the previous solution in this step, and the load found with it, N·s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PreviousBound {
    pub(super) limit: f64,
    pub(super) load: f64,
}

impl PreviousBound {
    /// The intersection of bound and load on the secant through the last two solutions. A negative slope is bounded by −1. A positive
    /// slope of a single contact is replaced by the slope of its pair, since the contact takes over load from its neighbours.
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
    fn the_secant_finds_the_intersection_of_bound_and_load() {
        // γ_n = 3 − n0: limits and loads alone would cycle between 1 and 2.
        let first = PreviousBound {
            limit: 1.0,
            load: 2.0,
        };
        assert_eq!(first.secant(2.0, 1.0, 0.5), 1.5);
        // A load that is constant, or increases without its pair, is taken as it is.
        assert_eq!(first.secant(2.0, 2.0, 0.0), 2.0);
        assert_eq!(first.secant(2.0, 4.0, 0.0), 4.0);
        // γ_n = 2 + (n0 − 1)/2 of the pair intersects n0 at 3.
        assert_eq!(first.secant(2.0, 2.5, 0.5), 3.0);
        // Equal bounds define no secant.
        assert_eq!(first.secant(1.0, 5.0, 0.0), 5.0);
        // Bounds are not negative: 4 + (1 − 4)/(1 − ½) would be −2.
        let last = PreviousBound {
            limit: 8.0,
            load: 3.0,
        };
        assert_eq!(last.secant(4.0, 1.0, 0.5), 0.0);
    }
}
