//! Many worlds stepped at once: copies of one world, or worlds with different parameters, each with its own state and stepper.

mod pipeline;
#[cfg(test)]
mod pipeline_tests;
mod report;

use pliant_contact_sap::{BodyError, BodyState, VelocityLayout};

pub use report::BatchReport;

use crate::error::StepError;
use crate::state::State;
use crate::stepper::Stepper;
use crate::strong_implicit::check_lengths;
use crate::world::{BodyIdx, World};
pub use pipeline::StepPipeline;
use report::Outcome;

/// Names a world of a [`Batch`].
///
/// ```
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{StrongImplicit, WorldBuilder};
/// use pliant_coupling::{Batch, WorldIdx};
///
/// # let mut weak = WorldBuilder::default();
/// # weak.gravity(nalgebra::Vector3::new(0.0, 0.0, -1.62));
/// # let (earth, moon) = (WorldBuilder::default().build()?, weak.build()?);
/// # let stepper = || StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// let mut batch = Batch::new();
/// let (first, second) = (earth.default_state(), moon.default_state());
/// assert_eq!(batch.add(earth, first, stepper())?, WorldIdx(0));
/// assert_eq!(batch.add(moon, second, stepper())?, WorldIdx(1));
/// assert_eq!(batch.world(WorldIdx(1)).gravity().z, -1.62);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorldIdx(pub usize);

/// An error of one world of a [`Batch`].
///
/// ```
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Batch, StrongImplicit, WorldBuilder};
/// # let stepper = || StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let world = WorldBuilder::default().build()?;
/// use pliant_coupling::WorldIdx;
///
/// let mut other = world.default_state();
/// other.bodies.push(Default::default());
/// let states = [world.default_state(), other];
/// let error = Batch::copies_of(&world, states, stepper).err().expect("a state of another world");
/// assert_eq!(error.world, WorldIdx(1));
/// assert_eq!(error.to_string(), "world 1: the state has 1 bodies, the world needs 0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("world {}: {source}", world.0)]
pub struct BatchError {
    /// The world.
    pub world: WorldIdx,
    /// What is wrong.
    pub source: StepError,
}

/// Worlds that are stepped together, in parallel on the threads of the current rayon pool.
///
/// Each world has a stepper and a state of its own. Every state has the same bits as if its world were stepped alone, for any number
/// of threads. Asynchronous steppers whose backends are worlds of one `GpuBatch` of `pliant-gpu` take their substeps in one set of dispatches. Where
/// the processor has much to do besides, they take them in two: while a device steps one part of the worlds, the threads work for the other.
/// [`World`] is cheap to clone, so copies share their bodies and geometries. Worlds may also differ in parameters or in
/// what they contain; where their builders added the same bodies, one [`BodyIdx`] names the same body in all of them.
///
/// Controls and loads are part of the state, as for single steps: [`Batch::state_mut`].
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::Vector3;
/// # use pliant_contact_sap::{Load, MaterialPoint, SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use pliant_coupling::{StrongImplicit, WorldBuilder};
/// use pliant_coupling::{Batch, WorldIdx};
///
/// // Four copies of a ball of 1 kg, pushed along x by 0, 1, 2 and 3 N for 10 ms.
/// let world = builder.build()?;
/// let stepper = || StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// let mut batch = Batch::copies_of(&world, vec![world.default_state(); 4], stepper)?;
/// for i in 0..batch.len() {
/// #   let point = MaterialPoint::on_frame(0, Vector3::zeros());
///     let push = Load { point, force_W: i as f64 * Vector3::x(), torque_W: Vector3::zeros() };
///     batch.state_mut(WorldIdx(i)).controls[body.0].loads = vec![push];
/// }
/// for _ in 0..10 {
///     let report = batch.step(1e-3);
///     report.check()?;
///     assert!(report.is_trusted());
/// }
/// for (i, state) in batch.states().enumerate() {
///     assert!((state.bodies[body.0].v[3] - 0.01 * i as f64).abs() < 1e-12);
/// }
/// batch.reset(WorldIdx(3));
/// assert_eq!(batch.state(WorldIdx(3)), &world.default_state());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Batch<S> {
    members: Vec<Member<S>>,
    pipeline: StepPipeline,
}

/// One world of a batch.
struct Member<S> {
    world: World,
    stepper: S,
    initial: State,
    state: State,
    /// Where a step leads; exchanged with `state` after a step that was taken.
    next: State,
    /// Of a step that is being taken; exchanged with that of the report.
    outcome: Outcome,
}

impl<S> Default for Batch<S> {
    fn default() -> Self {
        Self {
            members: Vec::new(),
            pipeline: StepPipeline::default(),
        }
    }
}

impl<S: Stepper> Batch<S> {
    /// Without worlds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Copies of `world`, one for each initial state. `stepper` makes the stepper of each.
    ///
    /// # Errors
    /// As [`Batch::add`].
    pub fn copies_of(
        world: &World,
        states: impl IntoIterator<Item = State>,
        stepper: impl FnMut() -> S,
    ) -> Result<Self, BatchError> {
        let of_world = |state| (world.clone(), state);
        Self::of_worlds(states.into_iter().map(of_world), stepper)
    }

    /// Worlds with their initial states. `stepper` makes the stepper of each.
    ///
    /// # Errors
    /// As [`Batch::add`].
    pub fn of_worlds(
        worlds: impl IntoIterator<Item = (World, State)>,
        mut stepper: impl FnMut() -> S,
    ) -> Result<Self, BatchError> {
        let mut batch = Self::new();
        for (world, initial) in worlds {
            batch.add(world, initial, stepper())?;
        }
        Ok(batch)
    }

    /// Adds a world at its initial state.
    ///
    /// # Errors
    /// [`BatchError`] with the index that the world would have, for a state that does not belong to it:
    /// [`StepError::StateLength`], [`StepError::Body`].
    pub fn add(
        &mut self,
        world: World,
        initial: State,
        stepper: S,
    ) -> Result<WorldIdx, BatchError> {
        let index = WorldIdx(self.members.len());
        check(index, &world, &initial)?;
        self.members.push(Member {
            world,
            stepper,
            state: initial.clone(),
            next: initial.clone(),
            initial,
            outcome: Outcome::default(),
        });
        Ok(index)
    }

    /// Steps every world by `time_step_s` (s, positive). A world whose step fails keeps its state; the others are not affected.
    pub fn step(&mut self, time_step_s: f64) -> BatchReport {
        let mut report = BatchReport::default();
        self.step_into(time_step_s, &mut report);
        report
    }

    /// [`Batch::step`] into a report whose memory is reused.
    pub fn step_into(&mut self, time_step_s: f64, report: &mut BatchReport) {
        let outcomes = &mut report.outcomes;
        outcomes.resize_with(self.members.len(), Outcome::default);
        self.exchange(outcomes);
        self.pipeline.step(
            &mut self.members,
            |member| member.prepare(time_step_s),
            Member::start,
            |member| member.finish(time_step_s),
        );
        self.exchange(outcomes);
    }

    /// Gives the members the memory of outcomes, or takes it back.
    fn exchange(&mut self, outcomes: &mut [Outcome]) {
        for (member, outcome) in self.members.iter_mut().zip(outcomes) {
            std::mem::swap(&mut member.outcome, outcome);
        }
    }

    /// Returns a world to its initial state.
    ///
    /// # Panics
    /// If there is no such world.
    pub fn reset(&mut self, world: WorldIdx) {
        let member = &mut self.members[world.0];
        member.state.clone_from(&member.initial);
    }

    /// Continues a world from `state`. [`Batch::reset`] still returns to its initial state.
    ///
    /// # Errors
    /// [`BatchError`] for a state that does not belong to the world, which then keeps the one that it has.
    ///
    /// # Panics
    /// If there is no such world.
    pub fn reset_to(&mut self, world: WorldIdx, state: &State) -> Result<(), BatchError> {
        let member = &mut self.members[world.0];
        check(world, &member.world, state)?;
        member.state.clone_from(state);
        Ok(())
    }

    /// Replaces a world and its initial state, at which it starts: the same scene with other parameters. Its stepper stays.
    ///
    /// # Errors
    /// [`BatchError`] for a state that does not belong to `by`; nothing is replaced then.
    ///
    /// # Panics
    /// If there is no such world.
    pub fn replace(
        &mut self,
        world: WorldIdx,
        by: World,
        initial: State,
    ) -> Result<(), BatchError> {
        check(world, &by, &initial)?;
        let member = &mut self.members[world.0];
        member.world = by;
        member.state.clone_from(&initial);
        member.initial = initial;
        Ok(())
    }

    /// Number of worlds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no world.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The state of every world, in the order of their index.
    pub fn states(&self) -> impl ExactSizeIterator<Item = &State> {
        self.members.iter().map(|member| &member.state)
    }

    /// The state of a world.
    ///
    /// # Panics
    /// If there is no such world.
    #[must_use]
    pub fn state(&self, world: WorldIdx) -> &State {
        &self.members[world.0].state
    }

    /// The state of a world, for its controls and loads, and whatever else is to change before the next step. The step checks it.
    ///
    /// # Panics
    /// If there is no such world.
    pub fn state_mut(&mut self, world: WorldIdx) -> &mut State {
        &mut self.members[world.0].state
    }

    /// A world.
    ///
    /// # Panics
    /// If there is no such world.
    #[must_use]
    pub fn world(&self, world: WorldIdx) -> &World {
        &self.members[world.0].world
    }

    /// The stepper of a world, for [`Stepper::reactions`] of its last step.
    ///
    /// # Panics
    /// If there is no such world.
    #[must_use]
    pub fn stepper(&self, world: WorldIdx) -> &S {
        &self.members[world.0].stepper
    }

    /// The stepper of a world, for [`Stepper::adjoint`] of its last step.
    ///
    /// # Panics
    /// If there is no such world.
    pub fn stepper_mut(&mut self, world: WorldIdx) -> &mut S {
        &mut self.members[world.0].stepper
    }
}

impl<S: Stepper> Member<S> {
    fn prepare(&mut self, time_step_s: f64) {
        let prepared = check_lengths(&self.world, &self.state)
            .and_then(|()| (self.stepper).prepare(&self.world, &self.state, time_step_s));
        self.outcome.error = prepared.err();
    }

    fn start(&mut self) -> bool {
        self.outcome.error.is_none() && self.stepper.start()
    }

    fn finish(&mut self, time_step_s: f64) {
        if self.outcome.error.is_some() {
            return;
        }
        let Self {
            world,
            stepper,
            state,
            next,
            outcome,
            ..
        } = self;
        let report = &mut outcome.report;
        let stepped = stepper.step_into(world, state, time_step_s, next, report);
        if stepped.is_ok() {
            std::mem::swap(state, next);
        }
        outcome.error = stepped.err();
    }
}

/// Checks that a state has the parts of its world, and each body the number of velocities that is the same in every step.
fn check(index: WorldIdx, world: &World, state: &State) -> Result<(), BatchError> {
    let fault = |source| BatchError {
        world: index,
        source,
    };
    check_lengths(world, state).map_err(fault)?;
    let of_bodies = world.parts.bodies.iter().zip(&state.bodies).enumerate();
    for (b, (body, BodyState { v, .. })) in of_bodies {
        if body.model.velocity_layout() != VelocityLayout::Fixed {
            continue;
        }
        let (what, found, expected) = ("v", v.len(), body.model.default_state().v.len());
        if found != expected {
            let source = BodyError::StateLength {
                what,
                found,
                expected,
            };
            return Err(fault(StepError::of_body(world, state, BodyIdx(b), source)));
        }
    }
    Ok(())
}
