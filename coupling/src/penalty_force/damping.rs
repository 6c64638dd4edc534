//! Damping of the force of an attachment after Hunt and Crossley (1975).
//!
//! ```text
//! f = k (Y − Z) h        h = max(0, 1 + D ḋ)        ḋ = (d − d₀)/δt
//! ```
//!
//! D is the pair's dissipation, d = −φ(Z) the depth at the end of the step and d₀ that at its start, in the frame of the object at that time. Friction
//! is bounded by the damped normal force, since h multiplies both. The derivative of f by Z gets the term k (Y − Z) (∂h/∂d) ∂d/∂Z.

use pliant_hydroelastic::PairMaterial;

use crate::contact_model::DissipationRule;
use crate::world::{GeometryIdx, World};

/// Damping of contact by [`PenaltyForce`](crate::PenaltyForce), beside that of backward Euler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Damping {
    /// None, as published.
    #[default]
    None,
    /// By the dissipation D of the pair: the force is multiplied by max(0, 1 + D ḋ), where ḋ is the speed at which the particle goes deeper.
    HuntCrossley,
}

impl Damping {
    /// D of a pair with the given dissipation, s/m.
    pub(super) fn dissipation(self, given: f64) -> f64 {
        match self {
            Self::None => 0.0,
            Self::HuntCrossley => given,
        }
    }

    /// Names the first of `pairs` whose material asks for dissipation that it does not get, how many there are, and the remedy.
    pub(super) fn warning(
        self,
        world: &World,
        pairs: impl Iterator<Item = (GeometryIdx, GeometryIdx)>,
    ) -> Option<String> {
        type Parameter = fn(&PairMaterial) -> f64;
        let (name, value, remedy): (_, Parameter, _) = match (
            self,
            world.parts.contact.dissipation_rule(),
        ) {
            (Self::HuntCrossley, DissipationRule::HuntCrossley) => return None,
            (Self::None, DissipationRule::HuntCrossley) => (
                "dissipation",
                |material| material.dissipation,
                "give the stepper damping = \"hunt-crossley\", or the materials dissipation = 0",
            ),
            (_, DissipationRule::RelaxationTime) => (
                "relaxation_time_s",
                |material| material.relaxation_time_s,
                "give the materials relaxation_time_s = 0, and for damping a dissipation, and the stepper damping = \"hunt-crossley\"",
            ),
        };
        let mut asking: Vec<_> = pairs
            .filter(|&(a, b)| value(&world.pair(a, b)) > 0.0)
            .map(|(a, b)| (a.min(b), a.max(b)))
            .collect();
        asking.sort_unstable();
        asking.dedup();
        let (a, b) = *asking.first()?;
        let [a, b] = [a, b].map(|g| &world.geometries()[g.0].name);
        let which = match asking.len() {
            1 => String::new(),
            n => format!(" (first of {n} pairs)"),
        };
        Some(format!(
            "\"{a}\" and \"{b}\"{which}: {name} has no effect on penalty forces; {remedy}"
        ))
    }
}

/// h of an attachment within a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Damper {
    /// D/δt, 1/m.
    rate: f64,
    /// d₀, m.
    depth_at_start: f64,
}

impl Damper {
    pub(super) fn new(dissipation: f64, time_step_s: f64, depth_at_start: f64) -> Self {
        Self {
            rate: dissipation / time_step_s,
            depth_at_start,
        }
    }

    /// h and ∂h/∂d at depth d.
    pub(super) fn factor(&self, depth: f64) -> (f64, f64) {
        let h = 1.0 + self.rate * (depth - self.depth_at_start);
        if h > 0.0 { (h, self.rate) } else { (0.0, 0.0) }
    }
}
