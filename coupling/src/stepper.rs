//! What every time stepper offers.

use pliant_contact_sap::{Cancellation, JointReaction, SupportReaction};

use crate::adjoint::{Adjoint, AdjointError};
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

    /// Does what a step of this state does before its device is needed. A [`Stepper::step_into`] with the same arguments goes on from there. A
    /// [`Batch`](crate::Batch) prepares the steps of all worlds before it takes them, so that worlds that share a device are taken together.
    /// Steppers without a device have nothing to prepare.
    ///
    /// # Errors
    /// As [`Stepper::step_into`].
    fn prepare(&mut self, world: &World, state: &State, time_step_s: f64) -> Result<(), StepError> {
        let _ = (world, state, time_step_s);
        Ok(())
    }

    /// Begins what was prepared on the device of this stepper, for other worlds included, without waiting for it. Returns whether a device now works on
    /// the step of this one, so that a [`Batch`](crate::Batch) can do other work meanwhile.
    fn start(&mut self) -> bool {
        false
    }

    /// Gradients of a function L(v) of the velocities at the end of the last step, by the adjoint system. `slopes` has ∂L/∂v of some
    /// bodies, one value for each velocity of the state; it is zero for the others.
    ///
    /// The velocities are those of the solution. A floating tree whose centre of mass is off the origin of its root stores them converted to
    /// its pose at the end, which the gradient leaves out, an error of order δt.
    ///
    /// # Errors
    /// [`AdjointError`].
    fn adjoint(&mut self, slopes: &[(BodyIdx, &[f64])]) -> Result<Adjoint<'_>, AdjointError> {
        let _ = slopes;
        Err(AdjointError::Unsupported)
    }

    /// Reactions of joints and supports of `body` in the last step; empty if there was none, if it failed, or if the body or the
    /// stepper has no reactions.
    fn reactions(&self, body: BodyIdx) -> Reactions {
        let _ = body;
        Reactions::default()
    }

    /// Steps end with [`StepError::Cancelled`] once `cancellation` is requested: between searches for contacts, iterations and substeps. A stepper
    /// without an implementation takes its steps to their end.
    fn cancel_with(&mut self, cancellation: &Cancellation) {
        let _ = cancellation;
    }
}

/// Reactions of one body in one step. Contacts, constraints, loads and inertia are accounted for.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{State, StrongImplicit, WorldBuilder};
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, SpatialInertia};
/// use pliant_coupling::Stepper;
///
/// // A turntable of 2 kg on a vertical axis.
/// # let mut model = ModelBuilder::new("turntable");
/// # model.link(LinkSpec::new("base", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # model.link(LinkSpec::new("table", SpatialInertia::solid_cylinder(2.0, 0.3, 0.02)));
/// # model.joint(JointSpec::new("axis", JointKind::Continuous, "base", "table").about(Vector3::z()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("turntable", Box::new(RigidTree::new(Arc::new(model.build()?))));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// # assert!(report.is_trusted());
/// let bearing = &stepper.reactions(body).joints[0];
/// assert!((bearing.force_W - Vector3::new(0.0, 0.0, 2.0 * 9.81)).norm() < 1e-9); // on the table
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reactions {
    /// The wrench that each joint transmits from its parent to its child link.
    pub joints: Vec<JointReaction>,
    /// The force on each vertex that is fixed or whose motion is prescribed by the body's control. Vertices held by constraints
    /// have rows in the report instead.
    pub supports: Vec<SupportReaction>,
}

impl<S: Stepper + ?Sized> Stepper for Box<S> {
    fn cancel_with(&mut self, cancellation: &Cancellation) {
        (**self).cancel_with(cancellation);
    }

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

    fn prepare(&mut self, world: &World, state: &State, time_step_s: f64) -> Result<(), StepError> {
        (**self).prepare(world, state, time_step_s)
    }

    fn start(&mut self) -> bool {
        (**self).start()
    }

    fn adjoint(&mut self, slopes: &[(BodyIdx, &[f64])]) -> Result<Adjoint<'_>, AdjointError> {
        (**self).adjoint(slopes)
    }

    fn reactions(&self, body: BodyIdx) -> Reactions {
        (**self).reactions(body)
    }
}
