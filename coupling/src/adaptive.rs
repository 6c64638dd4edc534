//! Steps whose length follows the error: each is taken once whole and once in two halves, and counts if both agree.

use pliant_contact_sap::ConvexContactSolver;

use crate::error::{StepError, WorldError, WorldPart};
use crate::report::StepReport;
use crate::state::State;
use crate::strong_implicit::StrongImplicit;
use crate::world::World;

/// What the accuracy bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorMeasure {
    /// The error of a step divided by its length, in m/s and rad/s: errors of smooth motion then add up to about the accuracy
    /// in each second. Positions are what is measured: a vibration takes long steps where its acceleration vanishes, and the
    /// error of velocity there adds a share that grows with the logarithm of 1/accuracy (a vibrating cube: 0.8 of the accuracy
    /// in all at 5e-3 m/s, 1.5 at 5e-6 m/s; more of a single frequency). Steps become as short as allowed at impacts, whose
    /// error falls no faster than Δt.
    #[default]
    PerSecond,
    /// The error of a step, in m and rad. Fewer steps where much happens at once; errors of smooth motion add up to
    /// the square root of the accuracy, by backward Euler.
    PerStep,
}

/// How far adaptive steps may be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// The largest estimated error of any generalised position (m for places, rad for angles, 1 for quaternions) that lets a
    /// step count.
    pub tolerance: f64,
    /// For each step or for each second.
    pub measure: ErrorMeasure,
    /// A step this short counts whatever its error, and says so: [`AdaptiveReport::forced`]. s.
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

/// How a stretch of time was covered.
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AdaptiveReport {
    /// Steps that counted, each of two halves.
    pub accepted: u32,
    /// Steps that did not.
    pub rejected: u32,
    /// Steps that counted for being the shortest allowed, whatever their error.
    pub forced: u32,
    /// The shortest step that counted, s.
    pub shortest_s: f64,
    /// The largest error estimated of a step that counted, in the unit of the [`ErrorMeasure`].
    pub error_max: f64,
}

/// Steps a [`World`] so that the error stays within an [`Accuracy`].
///
/// Backward Euler's error of a step grows with the square of Δt, so that the difference between one step and two of half the
/// length estimates the error of the latter, which are kept. The estimate takes contact in: it compares positions after two
/// solves of the whole convex problem. A step that does not count leaves no trace, as it was taken from a state that is not
/// written to; its first half is the next attempt.
///
/// The length proposed for the next step is part of the [`State`], so that a saved state goes on with the same bits.
///
/// # Source
/// Step doubling on the convex solve with the ∞-norm of positions: CENIC (arXiv 2511.08771).
pub struct Adaptive<S> {
    stepper: StrongImplicit<S>,
    accuracy: Accuracy,
    whole: State,
    half: State,
    end: State,
    here: State,
    part: StepReport,
}

impl<S: ConvexContactSolver> Adaptive<S> {
    /// Steps by `stepper`.
    ///
    /// # Errors
    /// [`WorldError::Parameter`] for an accuracy that is none.
    pub fn new(stepper: StrongImplicit<S>, accuracy: Accuracy) -> Result<Self, WorldError> {
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

    /// Steps `state` by `length_s` into `next`, in as many steps as the accuracy asks for; `state` stays as it is. `report` is
    /// of the last step, with the warnings of all; not trusted if any was not.
    ///
    /// # Errors
    /// [`StepError`] of a step of the shortest length; longer ones that cannot be taken are tried again in halves.
    pub fn advance(
        &mut self,
        world: &World,
        state: &State,
        length_s: f64,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<AdaptiveReport, StepError> {
        if !(length_s > 0.0 && length_s.is_finite()) {
            return Err(StepError::TimeStep(length_s));
        }
        let mut outcome = AdaptiveReport {
            shortest_s: f64::INFINITY,
            ..AdaptiveReport::default()
        };
        report.warnings.clear();
        let mut warnings = std::mem::take(&mut report.warnings);
        let mut untrusted = None;
        let shortest = self.accuracy.shortest_s.min(length_s);
        let mut here = std::mem::take(&mut self.here);
        here.clone_from(state);
        let mut done_s = 0.0;
        let mut proposed = state.proposed_step_s.unwrap_or(length_s).max(shortest);
        while done_s < length_s {
            let left = length_s - done_s;
            // Equal steps to the end, rather than a crumb at last.
            let parts = (left / proposed - 1e-9).ceil().max(1.0);
            let taken = self.one(world, &here, left / parts, shortest, report, &mut outcome);
            let (taken_s, error) = match taken {
                Ok(taken) => taken,
                Err(source) => {
                    self.here = here;
                    return Err(source);
                }
            };
            if untrusted.is_none() && !(report.is_trusted() && self.part.is_trusted()) {
                let worse = if report.is_trusted() {
                    &self.part
                } else {
                    &*report
                };
                untrusted = Some((
                    worse.solve,
                    worse.friction,
                    worse.missed_contact,
                    worse.lagged,
                    worse.implicit,
                ));
            }
            warnings.append(&mut self.part.warnings);
            warnings.append(&mut report.warnings);
            std::mem::swap(&mut here, &mut self.end);
            // Cut short to end in time says nothing about what the next step may be.
            let cut = parts > 1.0 || taken_s < 0.999 * left / parts;
            let next_s = self.accuracy.proposed(taken_s, error);
            proposed = if cut || next_s < proposed {
                next_s
            } else {
                proposed.max(next_s)
            };
            proposed = proposed.max(shortest);
            // Not by adding up: the end is reached exactly.
            done_s = if parts == 1.0 && taken_s >= 0.999 * left {
                length_s
            } else {
                done_s + taken_s
            };
        }
        here.time_s = state.time_s + length_s;
        here.proposed_step_s = Some(proposed);
        next.clone_from(&here);
        self.here = here;
        warnings.dedup();
        report.warnings = warnings;
        if let Some((solve, friction, missed_contact, lagged, implicit)) = untrusted {
            (report.solve, report.friction) = (solve, friction);
            (report.missed_contact, report.lagged) = (missed_contact, lagged);
            report.implicit = implicit;
        }
        Ok(outcome)
    }

    /// One step from `here` to `self.end`, of `length_s` or as much less as the accuracy asks for: its length and error.
    fn one(
        &mut self,
        world: &World,
        here: &State,
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
            part,
            ..
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
