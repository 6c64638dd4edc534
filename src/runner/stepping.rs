//! The stepper of a scene.

use pliant_coupling::{AdaptiveReport, StepReport, Stepper};

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
