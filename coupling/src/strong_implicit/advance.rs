//! From velocities to the next state.

use std::time::Instant;

use pliant_contact_sap::VelocityLayout;

use super::problem::{StepContext, StepProblem};
use crate::error::StepError;
use crate::friction_bounds::FrictionBounds;
use crate::patch_depth::warn_of_depth;
use crate::report::StepReport;
use crate::state::{State, StepperMemory};
use crate::stiction::ContactMemory;

impl StepProblem {
    /// Moves every body and adds the warnings of the step to `report`.
    pub(super) fn advance(
        &mut self,
        context: StepContext<'_>,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let clock = Instant::now();
        let StepContext { world, state, .. } = context;
        next.bodies
            .resize_with(state.bodies.len(), Default::default);
        for (b, step) in self.steps.iter_mut().enumerate() {
            let range = self.velocities.range(b);
            let v = &self.solution.velocity[range.clone()];
            let advanced = step.advance(v, &mut next.bodies[b]);
            let advanced = advanced.map_err(|source| context.of_body(b, source))?;
            let is_rigid = self.collision.surfaces[b].vertices.is_empty();
            if let Some(displacement) = self.impacts.displacement().filter(|_| is_rigid) {
                let moved = &mut self.moved;
                let advanced = step.advance(&displacement[range], moved);
                let _ = advanced.map_err(|source| context.of_body(b, source))?;
                next.bodies[b].q.clone_from(&moved.q);
            }
            let name = &world.parts.bodies[b].name;
            let warnings = advanced.warnings.into_iter();
            report
                .warnings
                .extend(warnings.map(|w| format!("body \"{name}\": {w}")));
        }
        self.times.bodies += clock.elapsed();
        report.times = self.times;
        warn_of_depth(world, &report.contacts, &mut report.warnings);
        let untrusted = report.untrusted().map(|reason| reason.describe(world));
        report.warnings.extend(untrusted);
        next.controls.clone_from(&state.controls);
        next.constraints.clone_from(&state.constraints);
        next.step = state.step + 1;
        next.time_s = state.time_s + context.time_step.length_s;
        Ok(())
    }

    /// What the next step starts from.
    pub(super) fn remember(
        &self,
        context: StepContext<'_>,
        limits: &mut FrictionBounds,
        memory: &mut StepperMemory,
    ) {
        let StepContext { world, state, .. } = context;
        memory
            .velocity_change
            .resize_with(state.bodies.len(), Vec::new);
        for (b, change) in memory.velocity_change.iter_mut().enumerate() {
            let range = self.velocities.range(b);
            let (v, free) = (
                &self.solution.velocity[range.clone()],
                &self.velocities.free[range],
            );
            change.clear();
            // What an impact changed does not act in the next step.
            if world.parts.bodies[b].model.velocity_layout() == VelocityLayout::Fixed
                && !self.impacts.struck(b)
            {
                change.extend(v.iter().zip(free).map(|(v, free)| v - free));
            }
        }
        // `next` may have been written by another stepper.
        memory.frame_forces.clear();
        memory.particle_forces.clear();
        memory.attachments.clear();
        memory.contacts.clear();
        let settings = &world.parts.contact;
        let impulses = &self.solution.contact_impulse;
        let contacts = self.contacts.records.iter();
        let remember = contacts.filter(|record| settings.stiction.remembers(record.patch));
        memory.contacts.extend(
            remember
                .filter_map(|record| record.memory(&*settings.model, &record.impulse(impulses))),
        );
        memory
            .contacts
            .sort_unstable_by_key(ContactMemory::sort_key);
        limits.remember(
            context,
            (&self.contacts.records, &self.solution.contact_impulse),
            &mut memory.loads,
        );
        memory.proposed_step_s = state.memory.proposed_step_s;
    }
}
