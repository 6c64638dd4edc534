//! Steps of the scene's length, taken at once or in as many as the scene's accuracy asks for.

use pliant_contact_sap::ConvexContactSolver;
use pliant_coupling::{
    Adaptive, AdaptiveReport, ImpulseExchange, State, StepError, StepReport, StrongImplicit, World,
};

use crate::scene::{Scene, SceneError, SceneFault, StepperKind};

/// What steps a scene's world.
pub(super) enum Stepping {
    /// One step.
    Fixed(Box<StrongImplicit<Box<dyn ConvexContactSolver>>>),
    /// One, material points explicitly.
    Exchange(Box<ImpulseExchange<Box<dyn ConvexContactSolver>>>),
    /// As many as the error asks for.
    ByError {
        stepper: Box<Adaptive<Box<dyn ConvexContactSolver>>>,
        /// All stretches so far.
        sum: AdaptiveReport,
    },
}

impl Stepping {
    pub(super) fn new(scene: &Scene) -> Result<Self, SceneError> {
        if let StepperKind::ImpulseExchange { substeps, at } = scene.simulation.stepper {
            let stepper = ImpulseExchange::new(scene.solver.build(), substeps, at);
            return Ok(Self::Exchange(Box::new(stepper)));
        }
        let stepper = StrongImplicit::new(scene.solver.build());
        let Some(accuracy) = scene.simulation.accuracy else {
            return Ok(Self::Fixed(Box::new(stepper)));
        };
        let stepper = Adaptive::new(stepper, accuracy).map_err(|error| {
            let start = scene.simulation.at;
            scene
                .text
                .error(start, SceneFault::World(error.to_string()))
        })?;
        Ok(Self::ByError {
            stepper: Box::new(stepper),
            sum: AdaptiveReport {
                shortest_s: f64::INFINITY,
                ..AdaptiveReport::default()
            },
        })
    }

    /// From `state` to `next`, `length_s` later.
    pub(super) fn step(
        &mut self,
        world: &World,
        state: &State,
        length_s: f64,
        next: &mut State,
    ) -> Result<StepReport, StepError> {
        match self {
            Self::Fixed(stepper) => stepper.step(world, state, length_s, next),
            Self::Exchange(stepper) => stepper.step(world, state, length_s, next),
            Self::ByError { stepper, sum } => {
                let mut report = StepReport::default();
                let done = stepper.advance(world, state, length_s, next, &mut report)?;
                sum.accepted += done.accepted;
                sum.rejected += done.rejected;
                sum.forced += done.forced;
                sum.shortest_s = sum.shortest_s.min(done.shortest_s);
                sum.error_max = sum.error_max.max(done.error_max);
                Ok(report)
            }
        }
    }

    /// What is to be said when the run is over.
    pub(super) fn note(&self) -> Option<String> {
        let Self::ByError { sum, .. } = self else {
            return None;
        };
        let forced = match sum.forced {
            0 => String::new(),
            n => format!(", {n} of them the shortest allowed, whatever their error"),
        };
        Some(format!(
            "{} steps of adaptive length{forced}; {} tried in vain; the shortest {:.1e} s",
            sum.accepted, sum.rejected, sum.shortest_s
        ))
    }
}
