//! What every time stepper offers.

use pliant_contact_sap::{JointReaction, SupportReaction};

use crate::error::StepError;
use crate::report::StepReport;
use crate::state::State;
use crate::world::{BodyIdx, World};

/// Advances the state of a [`World`] by one time step.
///
/// What a stepper writes is a function of world, state and Δt alone, bit for bit: everything that changes a later step is in the
/// [`State`]. A stepper owns its settings and its workspaces. Any number of steppers can step clones of one state at once.
///
/// ```
/// use pliant_coupling::{State, StepError, StepReport, Stepper, World};
///
/// /// Moves time on and nothing else.
/// struct Frozen;
///
/// impl Stepper for Frozen {
///     fn step_into(
///         &mut self,
///         _: &World,
///         state: &State,
///         time_step_s: f64,
///         next: &mut State,
///         report: &mut StepReport,
///     ) -> Result<(), StepError> {
///         next.clone_from(state);
///         next.time_s += time_step_s;
///         next.step += 1;
///         *report = StepReport::default();
///         Ok(())
///     }
/// }
/// ```
pub trait Stepper: Send {
    /// Steps `state` by `time_step_s` (s, positive) into `next` and describes the step in `report`. The memory of both is reused;
    /// `state` stays as it is, so a step can be rejected, halved or repeated.
    ///
    /// A step that did not converge is no error: [`StepReport::is_trusted`] is false then.
    ///
    /// # Errors
    /// [`StepError`], naming step, time and cause; `next` and `report` are then not to be used.
    fn step_into(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError>;

    /// [`Stepper::step_into`] with a report of its own.
    ///
    /// # Errors
    /// As [`Stepper::step_into`].
    fn step(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
    ) -> Result<StepReport, StepError> {
        let mut report = StepReport::default();
        self.step_into(world, state, time_step_s, next, &mut report)?;
        Ok(report)
    }

    /// Reactions of joints and supports of `body` in the last step; empty if there was none, if it failed, or if the body or the
    /// stepper has no reactions.
    fn reactions(&self, body: BodyIdx) -> Reactions {
        let _ = body;
        Reactions::default()
    }
}

/// Reactions of one body in one step. Contacts, constraints, loads and inertia are accounted for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reactions {
    /// The wrench that each joint transmits from its parent to its child link.
    pub joints: Vec<JointReaction>,
    /// The force on each vertex that is fixed or whose motion is prescribed by the body's control. Vertices held by constraints
    /// have rows in the report instead.
    pub supports: Vec<SupportReaction>,
}

impl<S: Stepper + ?Sized> Stepper for Box<S> {
    fn step_into(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        (**self).step_into(world, state, time_step_s, next, report)
    }

    fn reactions(&self, body: BodyIdx) -> Reactions {
        (**self).reactions(body)
    }
}
