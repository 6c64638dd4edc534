//! What a simulation records, and its end.

use std::ops::Deref;
use std::time::Instant;

use super::Simulation;
use crate::runner::hooks::NoHooks;
use crate::runner::{RunEnd, RunError, RunHooks, RunOutcome};
use crate::scene::Scene;

impl<S: Deref<Target = Scene>> Simulation<S> {
    pub(in crate::runner) fn begin_hooks(&self, hooks: &mut dyn RunHooks) {
        hooks.begin(&self.run.recording, &self.run.assembly);
    }

    /// Observes the last step, and records a row and a frame where one is due.
    pub(in crate::runner) fn record(&mut self, hooks: &mut dyn RunHooks) -> Result<(), RunError> {
        let (Some(particles), Some(report)) = (self.recorded, &self.report) else {
            return Ok(());
        };
        let started = Instant::now();
        let state = &self.state;
        self.run.observe(state, Some((report, &self.next)));
        if state.step.is_multiple_of(self.row_every) {
            self.run.record_row(state, hooks)?;
        }
        if state.step.is_multiple_of(self.frame_every) {
            let (report, pushes) = (Some(report), &self.pushes);
            (self.run).record_frame(state, report, pushes, particles, hooks)?;
        }
        self.run.tally.recording += started.elapsed();
        Ok(())
    }

    /// Ends the simulation and checks the scene's expectations. Without a recording none has a value.
    ///
    /// # Errors
    /// [`RunError::Recording`].
    pub fn finish(self) -> Result<RunOutcome, RunError> {
        self.finish_before(&mut NoHooks)
    }

    /// The error of a run whose last state could not be recorded, such as on a full disk: with the outcome until then.
    pub(in crate::runner) fn without_record(self, error: RunError) -> RunError {
        let RunError::Recording { scene, source, .. } = error else {
            return error;
        };
        let elapsed = self.begin.elapsed();
        let outcome = RunOutcome {
            end: RunEnd::Early,
            ..self.run.finish(self.state, elapsed)
        };
        RunError::Recording {
            scene,
            source,
            until_then: Some(Box::new(outcome)),
        }
    }

    /// The outcome of a run that ends before its time.
    pub(in crate::runner) fn finish_early(
        self,
        hooks: &mut dyn RunHooks,
    ) -> Result<RunOutcome, RunError> {
        Ok(RunOutcome {
            end: RunEnd::Early,
            ..self.finish_before(hooks)?
        })
    }

    pub(in crate::runner) fn finish_before(
        mut self,
        hooks: &mut dyn RunHooks,
    ) -> Result<RunOutcome, RunError> {
        if let Some(particles) = self.recorded {
            if !self.state.step.is_multiple_of(self.row_every) {
                self.run.record_row(&self.state, hooks)?;
            }
            if !self.state.step.is_multiple_of(self.frame_every) {
                let (report, pushes) = (self.report.as_ref(), &self.pushes);
                (self.run).record_frame(&self.state, report, pushes, particles, hooks)?;
            }
        }
        let elapsed = self.begin.elapsed();
        Ok(self.run.finish(self.state, elapsed))
    }
}
