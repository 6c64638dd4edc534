//! The stepper of a scene, and the parts of a step: drives, what precedes the use of a device, the step itself.

use std::ops::Deref;
use std::time::Instant;

use nalgebra::Vector3;
use pliant_contact_sap::{Control, Load, MaterialPoint};
use pliant_coupling::{AdaptiveReport, State, StepError, StepReport, Stepper};

use super::{Push, Run, suspicious_input};
use crate::scene::{Scene, SceneError, SceneFault, SharedDevice};

/// The stepper that the scene names.
pub(super) fn stepper(
    scene: &Scene,
    device: &SharedDevice,
) -> Result<Box<dyn Stepper>, SceneError> {
    let built = scene.stepper.build_on(scene.solver.build(), device);
    built.map_err(|error| {
        let fault = SceneFault::World(error.to_string());
        scene.text.error(scene.stepper.at(), fault)
    })
}

impl<S: Deref<Target = Scene>> Run<S> {
    /// Drives `state`, hands the controls to `control`, and pushes.
    pub(super) fn drive(
        &mut self,
        state: &mut State,
        pushes: &[Push],
        control: impl FnOnce(&mut [Control]),
    ) {
        let started = Instant::now();
        (self.actuation).apply(state, self.scene.simulation.time_step_s);
        control(&mut state.controls);
        for push in pushes {
            let force_W = push.force_W / push.points.len() as f64;
            let load = |point: &MaterialPoint| Load {
                point: *point,
                force_W,
                torque_W: Vector3::zeros(),
            };
            let loads = &mut state.controls[push.body.0].loads;
            loads.extend(push.points.iter().map(load));
        }
        self.tally.drives += started.elapsed();
    }

    /// Does what the step of a driven `state` does before its device is needed: [`Stepper::prepare`]. The pushes end where it fails.
    pub(super) fn prepare(
        &mut self,
        stepper: &mut dyn Stepper,
        state: &mut State,
        pushes: &[Push],
    ) -> Result<(), Box<StepError>> {
        let started = Instant::now();
        let dt = self.scene.simulation.time_step_s;
        let prepared = stepper.prepare(&self.assembly.world, state, dt);
        if prepared.is_err() {
            end_pushes(pushes, state);
        }
        self.tally.step += started.elapsed();
        Ok(prepared?)
    }

    /// Takes a driven `state` to `next`. The pushes end with the step.
    pub(super) fn step(
        &mut self,
        stepper: &mut dyn Stepper,
        state: &mut State,
        next: &mut State,
        pushes: &[Push],
    ) -> Result<StepReport, Box<StepError>> {
        let started = Instant::now();
        let world = &self.assembly.world;
        let stepped = stepper.step(world, state, self.scene.simulation.time_step_s, next);
        end_pushes(pushes, state);
        let report = stepped?;
        end_pushes(pushes, next);
        self.tally.step += started.elapsed();
        self.tally.add(&report);
        self.adaptive_steps.add(&report);
        if state.step == 0 {
            self.notes
                .extend(suspicious_input::overlaps(world, state, &report));
        }
        self.penetration.watch(world, state, &report);
        self.note_warnings(&report);
        Ok(report)
    }
}

/// Takes back the last loads of `state`, those of the pushes.
fn end_pushes(pushes: &[Push], state: &mut State) {
    for push in pushes {
        let loads = &mut state.controls[push.body.0].loads;
        loads.truncate(loads.len() - push.points.len());
    }
}

/// Statistics of adaptive steps.
#[derive(Debug, Default)]
pub(super) struct AdaptiveSteps {
    sum: Option<AdaptiveReport>,
}

impl AdaptiveSteps {
    pub(super) fn add(&mut self, report: &StepReport) {
        let Some(step) = report.adaptive else {
            return;
        };
        self.sum = Some(match self.sum {
            None => step,
            Some(sum) => AdaptiveReport {
                accepted: sum.accepted + step.accepted,
                rejected: sum.rejected + step.rejected,
                forced: sum.forced + step.forced,
                shortest_s: sum.shortest_s.min(step.shortest_s),
                error_max: sum.error_max.max(step.error_max),
            },
        });
    }

    /// A note for the end of the run; `None` without adaptive steps.
    pub(super) fn note(&self) -> Option<String> {
        let sum = self.sum?;
        let forced = match sum.forced {
            0 => String::new(),
            n => format!(", {n} of them of the shortest length allowed, whatever their error"),
        };
        Some(format!(
            "{} adaptive steps accepted{forced}; {} rejected; the shortest {:.1e} s",
            sum.accepted, sum.rejected, sum.shortest_s
        ))
    }
}
