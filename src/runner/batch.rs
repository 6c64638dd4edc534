//! Simulations that are stepped together, each with a scene of its own: on the threads of the processor, and on one GPU.

use std::ops::{ControlFlow, Deref};

use pliant_contact_sap::Control;
use pliant_coupling::StepPipeline;
use rayon::prelude::*;

use super::{RunError, Simulation};
use crate::scene::{Scene, SharedDevice};

/// Takes steps of several simulations at once, in parallel on the threads of the current rayon pool.
///
/// Every simulation has the same bits as if it were stepped alone, for any number of threads. Simulations whose scenes have `device = "gpu"` take
/// their substeps on one device, in one set of dispatches for all of them.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use pliant::runner::{Simulation, SimulationBatch, SimulationSteps};
/// use pliant::scene::{Scene, SceneOptions};
///
/// // Boxes on slopes of different friction.
/// let frictions = ["mu=0.1", "mu=0.2", "mu=0.3"];
/// let mut simulations = Vec::new();
/// for mu in frictions {
///     let options = SceneOptions { parameters: vec![mu.parse()?], ..SceneOptions::default() };
///     simulations.push(Simulation::new(Box::new(Scene::load("box-on-incline", &options)?))?);
/// }
/// let steps = simulations.iter_mut().map(|simulation| SimulationSteps::new(simulation, 20));
/// for outcome in SimulationBatch::default().step(steps.collect(), &|_| ControlFlow::Continue(())) {
///     outcome?;
/// }
/// let speeds: Vec<f64> = simulations.iter().map(|s| s.state().bodies[0].v[3]).collect();
/// assert!(speeds[0] > speeds[1] && speeds[1] > speeds[2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct SimulationBatch {
    device: SharedDevice,
}

/// Sets the controls of a step.
type SetControls<'a> = Box<dyn FnMut(&mut [Control]) + Send + 'a>;

/// Steps of one simulation of a [`SimulationBatch`].
///
/// ```
/// use std::ops::ControlFlow;
///
/// use pliant::runner::{Simulation, SimulationBatch, SimulationSteps};
/// use pliant::scene::{Scene, SceneOptions};
///
/// // A force of 5 N on the cart in 10 steps.
/// let scene = Scene::load("cart-pole", &SceneOptions::default())?;
/// let mut simulation = Simulation::new(&scene)?;
/// let (_, robot) = simulation.bodies().find(|(name, _)| *name == "robot").ok_or("no robot")?;
/// let push = SimulationSteps::new(&mut simulation, 10).with_control(move |controls| controls[robot.0].effort[0] = 5.0);
/// let outcomes = SimulationBatch::default().step(vec![push], &|_| ControlFlow::Continue(()));
/// assert!(outcomes[0].is_ok() && simulation.state().step == 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SimulationSteps<'a, S> {
    simulation: &'a mut Simulation<S>,
    count: u64,
    control: SetControls<'a>,
}

impl<'a, S> SimulationSteps<'a, S> {
    /// `count` steps; of 0 the simulation stays as it is.
    pub fn new(simulation: &'a mut Simulation<S>, count: u64) -> Self {
        Self {
            simulation,
            count,
            control: Box::new(|_| {}),
        }
    }

    /// With controls that `control` sets in every step, as in [`Simulation::step`].
    #[must_use]
    pub fn with_control(self, control: impl FnMut(&mut [Control]) + Send + 'a) -> Self {
        Self {
            control: Box::new(control),
            ..self
        }
    }
}

impl SimulationBatch {
    /// Takes the steps of all simulations. A simulation whose step fails takes no further ones; the others are
    /// not affected. `watch` is asked before each step of a simulation, by its index; `Break` ends its steps there.
    ///
    /// # Errors
    /// By simulation, as [`Simulation::step`]; [`RunError::Scene`] of a stepper that cannot be made for the common device.
    pub fn step<S: Deref<Target = Scene> + Send>(
        &self,
        all: Vec<SimulationSteps<'_, S>>,
        watch: &(dyn Fn(usize) -> ControlFlow<()> + Sync),
    ) -> Vec<Result<(), RunError>> {
        let members = all.into_iter().enumerate();
        let mut members: Vec<_> = members
            .map(|(index, steps)| Member {
                index,
                outcome: steps.simulation.share(&self.device),
                steps,
            })
            .collect();
        if self.device.is_used() {
            let (mut round, mut pipeline) = (0, StepPipeline::default());
            while members.iter().any(|member| member.is_on(round)) {
                pipeline.step(
                    &mut members,
                    |member| member.prepare(round, watch),
                    |member| member.start(round),
                    |member| member.finish_step(round),
                );
                round += 1;
            }
        } else {
            // Idle threads take whole simulations first, and parts of a step when none is left.
            let each = members.par_iter_mut().with_max_len(1);
            each.for_each(|member| member.step_alone(watch));
        }
        members.into_iter().map(|member| member.outcome).collect()
    }
}

/// A simulation during a call.
struct Member<'a, S> {
    index: usize,
    steps: SimulationSteps<'a, S>,
    outcome: Result<(), RunError>,
}

impl<S: Deref<Target = Scene>> Member<'_, S> {
    /// Whether the step of this round is taken.
    fn is_on(&self, round: u64) -> bool {
        self.outcome.is_ok() && round < self.steps.count
    }

    fn ends(&mut self, round: u64, watch: &(dyn Fn(usize) -> ControlFlow<()> + Sync)) -> bool {
        if self.is_on(round) && watch(self.index).is_break() {
            self.steps.count = round;
        }
        !self.is_on(round)
    }

    fn prepare(&mut self, round: u64, watch: &(dyn Fn(usize) -> ControlFlow<()> + Sync)) {
        if self.ends(round, watch) {
            return;
        }
        let steps = &mut self.steps;
        self.outcome = steps.simulation.prepare(&mut steps.control);
    }

    fn start(&mut self, round: u64) -> bool {
        self.is_on(round) && self.steps.simulation.start()
    }

    fn finish_step(&mut self, round: u64) {
        if self.is_on(round) {
            self.outcome = self.steps.simulation.finish_step();
        }
    }

    fn step_alone(&mut self, watch: &(dyn Fn(usize) -> ControlFlow<()> + Sync)) {
        for round in 0..self.steps.count {
            if self.ends(round, watch) {
                return;
            }
            let steps = &mut self.steps;
            self.outcome = steps.simulation.step(&mut steps.control);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::SceneOptions;

    #[test]
    fn simulations_of_a_batch_share_its_device_and_keep_their_parameters() {
        let scene = Scene::load("box-on-incline", &SceneOptions::default());
        let scene = scene.unwrap_or_else(|e| panic!("{e}"));
        let made = || Simulation::new(&scene).unwrap_or_else(|e| panic!("{e}"));
        let mut simulations = [made(), made()];
        assert!(!simulations[0].device.is_same(&simulations[1].device));
        let batch = SimulationBatch::default();
        let steps = simulations.iter_mut().map(|s| SimulationSteps::new(s, 0));
        let outcomes = batch.step(steps.collect(), &|_| ControlFlow::Continue(()));
        assert!(outcomes.iter().all(Result::is_ok));
        for simulation in &mut simulations {
            assert!(simulation.device.is_same(&batch.device));
            let set = simulation.set_parameter("mu", 0.7);
            set.unwrap_or_else(|e| panic!("{e}"));
            assert!(simulation.device.is_same(&batch.device));
        }
    }
}
