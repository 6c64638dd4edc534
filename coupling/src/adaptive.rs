//! Adaptive time steps by step doubling: each is taken once whole and once in two halves, and accepted if both agree.

use pliant_contact_sap::Cancellation;

use crate::convergence::Convergence;
use crate::error::{StepError, WorldError, WorldPart};
use crate::report::StepReport;
use crate::state::State;
use crate::stepper::{Reactions, Stepper};
use crate::world::{BodyIdx, World};

/// Which error an accuracy bounds.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use pliant_coupling::{Accuracy, Adaptive, State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_coupling::ErrorMeasure;
///
/// // Backward Euler and a fall of 0.1 s: a step has the error g δt²/4, and 1 mm in each allows 5 of 20 ms. 1 mm in each second allows 245.
/// # let (world, mut next) = (builder.build()?, State::default());
/// let accuracy = Accuracy { tolerance: 1e-3, measure: ErrorMeasure::PerStep, ..Accuracy::default() };
/// # let mut stepper = Adaptive::new(stepper, accuracy)?;
/// # let report = stepper.step(&world, &world.default_state(), 0.1, &mut next)?;
/// # assert!(report.is_trusted());
/// let steps = report.adaptive.expect("of an adaptive stepper").accepted;
/// assert!((5..=10).contains(&steps), "{steps}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorMeasure {
    /// The error of a step divided by its length, in m/s and rad/s: errors of smooth motion then add up to about the accuracy
    /// in each second. The error is measured in positions: a vibration takes long steps where its acceleration vanishes, and the error
    /// of velocity there grows with the logarithm of 1/accuracy (a vibrating cube has a total error of 0.8 times the accuracy at
    /// 5e-3 m/s and of 1.5 times at 5e-6 m/s). At impacts, whose error is of first order in Δt, steps have the shortest length.
    #[default]
    PerSecond,
    /// The error of a step, in m and rad: fewer steps at impacts. With backward Euler errors of smooth motion add up to the square root
    /// of the accuracy.
    PerStep,
}

/// The accuracy of adaptive steps.
///
/// ```
/// use pliant_coupling::{Accuracy, ErrorMeasure};
///
/// let accuracy = Accuracy { tolerance: 1e-5, measure: ErrorMeasure::PerStep, ..Accuracy::default() };
/// assert!(accuracy.validate().is_ok());
/// let error = Accuracy { shortest_s: 0.0, ..accuracy }.validate().unwrap_err();
/// assert!(error.to_string().contains("shortest time step (s)"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// The largest estimated error of any generalised position of an accepted step: m for positions, rad for angles, 1 for quaternions.
    pub tolerance: f64,
    /// For each step or for each second.
    pub measure: ErrorMeasure,
    /// A step of this length, s, is accepted whatever its error and counted in [`AdaptiveReport::forced`].
    pub shortest_s: f64,
}

impl Default for Accuracy {
    fn default() -> Self {
        Self {
            tolerance: 1e-3,
            measure: ErrorMeasure::PerSecond,
            shortest_s: 1e-6, // a body at 10 m/s goes 0.01 mm
        }
    }
}

impl Accuracy {
    /// Checks every number.
    ///
    /// # Errors
    /// [`WorldError::Parameter`].
    pub fn validate(&self) -> Result<(), WorldError> {
        for (parameter, value) in [
            ("tolerance of the adaptive step", self.tolerance),
            ("shortest time step (s)", self.shortest_s),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(WorldError::Parameter {
                    part: WorldPart::World,
                    parameter: parameter.into(),
                    value,
                    allowed: "must be positive and finite",
                });
            }
        }
        Ok(())
    }

    /// The error that a step of this length may have.
    fn allowed(&self, length_s: f64) -> f64 {
        match self.measure {
            ErrorMeasure::PerSecond => self.tolerance * length_s,
            ErrorMeasure::PerStep => self.tolerance,
        }
    }

    /// The length at which the error would be nine tenths of what is allowed, the error growing with the square of the length.
    fn proposed(&self, length_s: f64, error: f64) -> f64 {
        let room = 0.9 * self.allowed(length_s) / error.max(f64::MIN_POSITIVE);
        let factor = match self.measure {
            ErrorMeasure::PerSecond => room,
            ErrorMeasure::PerStep => room.sqrt(),
        };
        length_s * factor.clamp(0.2, 2.0)
    }
}

/// The steps that a longer step was divided into.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use pliant_coupling::{Accuracy, Adaptive, State, Stepper, StrongImplicit, WorldBuilder};
/// // A ball falls for 0.1 s. An error of g δt/4 in each second is below 0.02 m/s up to δt = 8.2 ms.
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let mut stepper = Adaptive::new(stepper, Accuracy { tolerance: 0.02, ..Accuracy::default() })?;
/// let report = stepper.step(&world, &world.default_state(), 0.1, &mut next)?;
/// let taken = report.adaptive.expect("of an adaptive stepper");
/// assert!(taken.shortest_s <= 8.2e-3 && taken.error_max <= 0.02);
/// assert_eq!((taken.rejected, taken.forced), (4, 0)); // 100, 50, 25 and 12.5 ms are too long
/// assert!((13..20).contains(&taken.accepted)); // 0.1 s/8.2 ms is 12.2
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AdaptiveReport {
    /// Accepted steps, each of two halves.
    pub accepted: u32,
    /// Rejected steps.
    pub rejected: u32,
    /// Steps accepted at the shortest length whatever their error.
    pub forced: u32,
    /// The shortest accepted step, s.
    pub shortest_s: f64,
    /// The largest estimated error of an accepted step, in the unit of the [`ErrorMeasure`].
    pub error_max: f64,
}

/// Divides a time step into steps whose error stays within an [`Accuracy`], taken by a stepper of any kind.
///
/// The error of a first-order step grows with the square of its length, so the difference between one step and two of half the length
/// estimates the error of the latter, which are kept. The estimate includes contact: it compares positions after complete steps. A
/// rejected step leaves no trace; its first half is the next attempt.
///
/// The length proposed for the next step is part of the [`State`], so that a saved state continues with the same bits.
///
/// Source: step doubling with the ∞-norm of positions, as in CENIC (arXiv 2511.08771).
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use pliant_coupling::{State, StrongImplicit, WorldBuilder};
/// use pliant_coupling::{Accuracy, Adaptive, Stepper};
///
/// # let (world, mut next) = (builder.build()?, State::default());
/// // A ball falls for 0.1 s; steps of backward Euler move it too far by ½ g δt each second.
/// let accuracy = Accuracy { tolerance: 0.02, ..Accuracy::default() };
/// let mut stepper = Adaptive::new(stepper, accuracy)?;
/// let report = stepper.step(&world, &world.default_state(), 0.1, &mut next)?;
/// assert!(report.is_trusted());
/// let taken = report.adaptive.expect("of an adaptive stepper");
/// assert!(taken.accepted > 1 && taken.error_max <= 0.02);
/// let error = next.bodies[0].q[2] - (0.3 - 0.5 * 9.81 * 0.01);
/// assert!(error.abs() < 2.0 * 0.02 * 0.1, "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Adaptive<S> {
    stepper: S,
    accuracy: Accuracy,
    whole: State,
    half: State,
    end: State,
    here: State,
    part: StepReport,
}

impl<S: Stepper> Adaptive<S> {
    /// Takes its steps by `stepper`.
    ///
    /// # Errors
    /// [`WorldError::Parameter`] for an accuracy out of range.
    pub fn new(stepper: S, accuracy: Accuracy) -> Result<Self, WorldError> {
        accuracy.validate()?;
        Ok(Self {
            stepper,
            accuracy,
            whole: State::default(),
            half: State::default(),
            end: State::default(),
            here: State::default(),
            part: StepReport::default(),
        })
    }

    /// Covers `length_s` from `self.here`, to which it moves on; `report` is of the last step. Returns the length proposed next, s.
    fn cover(
        &mut self,
        world: &World,
        length_s: f64,
        report: &mut StepReport,
        summary: &mut Summary,
    ) -> Result<f64, StepError> {
        let shortest = self.accuracy.shortest_s.min(length_s);
        let mut done_s = 0.0;
        let proposed = self.here.memory.proposed_step_s;
        let mut proposed = proposed.unwrap_or(length_s).max(shortest);
        while done_s < length_s {
            let left = length_s - done_s;
            // Equal steps to the end: no tiny last one.
            let parts = (left / proposed - 1e-9).ceil().max(1.0);
            let (taken_s, error) =
                self.accepted_step(world, left / parts, shortest, report, &mut summary.steps)?;
            for report in [&mut self.part, &mut *report] {
                if summary.untrusted.is_none() && !report.is_trusted() {
                    summary.untrusted = Some(report.convergence);
                }
                summary.warnings.append(&mut report.warnings);
            }
            std::mem::swap(&mut self.here, &mut self.end);
            if summary.steps.accepted + summary.steps.rejected > STEPS_MAX {
                return Err(StepError::TooManyAdaptiveSteps {
                    step: self.here.step,
                    time_s: self.here.time_s,
                    length_s: taken_s,
                    most: STEPS_MAX,
                });
            }
            // A step shortened to end in time gives no reason for a longer next one.
            let shortened = parts > 1.0 || taken_s < 0.999 * left / parts;
            let next_s = self.accuracy.proposed(taken_s, error);
            proposed = match shortened || next_s < proposed {
                true => next_s,
                false => proposed.max(next_s),
            };
            proposed = proposed.max(shortest);
            // Exactly to the end, without round-off of the sum.
            done_s = match parts == 1.0 && taken_s >= 0.999 * left {
                true => length_s,
                false => done_s + taken_s,
            };
        }
        Ok(proposed)
    }

    /// One accepted step from `self.here` to `self.end`, of `length_s` or shorter: its length and error.
    fn accepted_step(
        &mut self,
        world: &World,
        mut length_s: f64,
        shortest_s: f64,
        report: &mut StepReport,
        outcome: &mut AdaptiveReport,
    ) -> Result<(f64, f64), StepError> {
        let Self {
            stepper,
            accuracy,
            whole,
            half,
            end,
            here,
            part,
        } = self;
        let mut is_whole = stepper.step_into(world, here, length_s, whole, report);
        loop {
            let is_shortest = length_s <= shortest_s * 1.001;
            let first = stepper.step_into(world, here, 0.5 * length_s, half, part);
            let halves = match (&is_whole, &first) {
                (Ok(()), Ok(())) => stepper.step_into(world, half, 0.5 * length_s, end, report),
                _ => Ok(()),
            };
            match is_whole.and_then(|()| first.clone()).and(halves) {
                Ok(()) => {
                    let error = largest_difference(whole, end);
                    let counts = error <= accuracy.allowed(length_s);
                    if counts || is_shortest {
                        outcome.accepted += 1;
                        outcome.forced += u32::from(!counts);
                        outcome.shortest_s = outcome.shortest_s.min(length_s);
                        let measured = match accuracy.measure {
                            ErrorMeasure::PerSecond => error / length_s,
                            ErrorMeasure::PerStep => error,
                        };
                        outcome.error_max = outcome.error_max.max(measured);
                        return Ok((length_s, error));
                    }
                }
                Err(source @ StepError::Cancelled { .. }) => return Err(source),
                Err(source) if is_shortest => return Err(source),
                Err(_) => {}
            }
            outcome.rejected += 1;
            length_s *= 0.5;
            std::mem::swap(whole, half);
            is_whole = first;
        }
    }
}

/// What the steps of a longer one add up to.
struct Summary {
    steps: AdaptiveReport,
    /// Of the first untrusted step.
    untrusted: Option<Convergence>,
    warnings: Vec<String>,
}

impl<S: Stepper> Stepper for Adaptive<S> {
    /// `report` is of the last step taken, with the warnings of all; untrusted if any of them was, for that step's reason. Its
    /// [`StepReport::adaptive`] counts the steps.
    ///
    /// # Errors
    /// [`StepError`] of a step of the shortest length; longer ones that fail are tried again in halves.
    fn step_into(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        StepError::check_time_step(time_step_s)?;
        report.warnings.clear();
        let mut summary = Summary {
            steps: AdaptiveReport {
                shortest_s: f64::INFINITY,
                ..AdaptiveReport::default()
            },
            untrusted: None,
            warnings: Vec::new(),
        };
        self.here.clone_from(state);
        let proposed = self.cover(world, time_step_s, report, &mut summary)?;
        self.here.time_s = state.time_s + time_step_s;
        // One step of the caller, however many it was divided into.
        self.here.step = state.step + 1;
        self.here.memory.proposed_step_s = Some(proposed);
        next.clone_from(&self.here);
        summary.warnings.dedup();
        report.warnings = summary.warnings;
        report.adaptive = Some(summary.steps);
        if let Some(convergence) = summary.untrusted {
            report.convergence = convergence;
        }
        Ok(())
    }

    fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.stepper.cancel_with(cancellation);
    }

    /// Reactions in the last step taken, not their mean over `time_step_s`.
    fn reactions(&self, body: BodyIdx) -> Reactions {
        self.stepper.reactions(body)
    }
}

/// The most adaptive steps within a step, accepted and rejected ones together.
const STEPS_MAX: u32 = 100_000;

/// The largest difference of any generalised position; infinite between bodies that differ in their number.
fn largest_difference(a: &State, b: &State) -> f64 {
    let mut largest = 0.0_f64;
    for (a, b) in a.bodies.iter().zip(&b.bodies) {
        if a.q.len() != b.q.len() {
            return f64::INFINITY;
        }
        for (x, y) in a.q.iter().zip(&b.q) {
            largest = largest.max((x - y).abs());
        }
    }
    largest
}
