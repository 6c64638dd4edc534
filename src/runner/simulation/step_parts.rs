//! The parts of a step: what precedes the use of a device, its work, and the rest. A batch takes them one by one.

use std::ops::Deref;

use pliant_contact_sap::Control;
use pliant_coupling::StepError;

use super::Simulation;
use crate::runner::RunError;
use crate::runner::hooks::NoHooks;
use crate::scene::{Scene, SharedDevice};

impl<S: Deref<Target = Scene>> Simulation<S> {
    pub(in crate::runner) fn advance(
        &mut self,
        control: impl FnOnce(&mut [Control]),
    ) -> Result<(), Box<StepError>> {
        self.drive(control);
        self.take_driven()
    }

    pub(super) fn drive(&mut self, control: impl FnOnce(&mut [Control])) {
        self.report = None;
        self.run.drive(&mut self.state, &self.pushes, control);
    }

    fn take_driven(&mut self) -> Result<(), Box<StepError>> {
        let (state, next) = (&mut self.state, &mut self.next);
        self.report = Some((self.run).step(&mut *self.stepper, state, next, &self.pushes)?);
        std::mem::swap(&mut self.state, &mut self.next);
        Ok(())
    }

    /// Shares its device with other simulations from the next step on.
    pub(in crate::runner) fn share(&mut self, device: &SharedDevice) -> Result<(), RunError> {
        if self.device.is_same(device) {
            return Ok(());
        }
        // Only steppers on a device differ, and by no bit of what they write.
        if self.device.is_used() {
            self.stepper = self.run.stepper(device)?;
            self.stepper.cancel_with(&self.cancellation);
        }
        self.device = device.clone();
        Ok(())
    }

    /// The part of [`Simulation::step`] before the device is needed. [`Simulation::finish_step`] is to follow.
    pub(in crate::runner) fn prepare(
        &mut self,
        control: impl FnOnce(&mut [Control]),
    ) -> Result<(), RunError> {
        self.drive(control);
        let prepared = (self.run).prepare(&mut *self.stepper, &mut self.state, &self.pushes);
        prepared.map_err(|source| self.failed_step(source))
    }

    /// Begins what was prepared on the device, without waiting for it. Returns whether a device now works on this step.
    pub(in crate::runner) fn start(&mut self) -> bool {
        self.stepper.start()
    }

    /// The rest of a step that is driven.
    pub(in crate::runner) fn finish_step(&mut self) -> Result<(), RunError> {
        let taken = self.take_driven();
        taken.map_err(|source| self.failed_step(source))?;
        self.record(&mut NoHooks)
    }

    fn failed_step(&self, source: Box<StepError>) -> RunError {
        RunError::Step {
            scene: self.scene().name().into(),
            source,
            until_then: None,
        }
    }
}
