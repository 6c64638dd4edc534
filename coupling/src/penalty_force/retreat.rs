//! The last resort of a step that did not converge, or whose contacts gave energy: a part of its velocities, with which the energy does not grow.
//!
//! ```text
//! E(s) = Σ kinetic + potential + what contacts store,  at the end velocities s v        E(s) ≤ E of the start
//! ```
//!
//! E(0) satisfies this whatever v is: bodies stay where they are, their kinetic energy is gone, and elastic forces and contacts store what they stored. So the largest
//! of s = 1, 1/2, 1/4, … and at last 0 that satisfies it is taken, island by island. Velocities that are prescribed stay, and the work on them counts.
//! Momentum is lost where s < 1; the step is not trusted anyway.

use super::BodyFault;
use super::attached::Attached;
use super::islands::Island;
use super::system::System;
use crate::report::StepReport;
use crate::state::State;
use crate::world::{BodyIdx, World};

/// The least part that is tried before 0.
const PART_MIN: f64 = 1.0 / 64.0;
/// Round-off of a sum of energies, relative to its terms.
const ROUND_OFF: f64 = 1e-12;

/// A step in the middle of its last resort.
pub(super) struct Retreat<'a> {
    pub(super) system: &'a mut System,
    pub(super) world: &'a World,
    pub(super) state: &'a State,
}

impl Retreat<'_> {
    /// Moves the bodies of `islands` to a part of the velocities of `found`, which the system is at.
    ///
    /// # Errors
    /// As [`System::move_to`], which no body fails at where it started.
    pub(super) fn run(
        &mut self,
        islands: &[Island],
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), BodyFault> {
        let found = self.system.v.clone();
        let held = self.held();
        let before: Vec<f64> = islands.iter().map(|i| self.at_start(i)).collect();
        let mut parts = vec![1.0; islands.len()];
        loop {
            let mut v = found.clone();
            for (island, part) in islands.iter().zip(&parts) {
                for b in &island.bodies {
                    for i in self.system.bodies.range(*b) {
                        v[i] = held[i].unwrap_or(found[i] * part);
                    }
                }
            }
            let moved = self.system.move_to(&v);
            report.warnings.clear(); // of an earlier part
            let advanced = self.system.advance(self.world, self.state, next, report);
            let failed = moved.as_ref().err().map(|(body, _)| *body);
            let mut is_over = true;
            for ((island, part), before) in islands.iter().zip(&mut parts).zip(&before) {
                let stopped = failed.is_some_and(|b| island.bodies.contains(&b));
                let grows = || self.at_end(island, next) > before + ROUND_OFF * before.abs();
                if *part > 0.0 && (stopped || advanced.is_err() || grows()) {
                    *part = if *part > PART_MIN { 0.5 * *part } else { 0.0 };
                    is_over = false;
                }
            }
            if is_over {
                return moved;
            }
        }
    }

    /// Prescribed velocities.
    fn held(&self) -> Vec<Option<f64>> {
        let mut held = vec![None; self.system.v.len()];
        for (b, control) in self.state.controls.iter().enumerate() {
            let range = self.system.bodies.range(BodyIdx(b));
            for (out, given) in held[range].iter_mut().zip(&control.held) {
                *out = *given;
            }
        }
        held
    }

    fn at_start(&self, island: &Island) -> f64 {
        self.of_bodies(island, self.state) + self.of_contacts(island, |a| a.at_start.energy)
    }

    fn at_end(&self, island: &Island, next: &State) -> f64 {
        self.of_bodies(island, next) + self.of_contacts(island, Attached::energy)
    }

    fn of_bodies(&self, island: &Island, state: &State) -> f64 {
        let of = |b: &BodyIdx| {
            let energy = (self.world.model(*b)).energy(&state.bodies[b.0], self.world.gravity());
            energy.kinetic + energy.potential
        };
        island.bodies.iter().map(of).sum()
    }

    fn of_contacts(&self, island: &Island, of: impl Fn(&Attached) -> f64) -> f64 {
        let islands = std::iter::once(island);
        let belongs = self.system.island_of_each_contact(islands);
        let own = self.system.attached.iter().zip(belongs);
        own.filter_map(|(contact, island)| island.map(|_| of(contact)))
            .sum()
    }
}
