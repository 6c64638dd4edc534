//! Everything of a world that changes.

use pliant_contact_sap::{BodyState, Control};
use serde::{Deserialize, Serialize};

use crate::asynchronous::{FrameForce, ParticleForce};
use crate::friction_bounds::PairLoad;
use crate::penalty_force::Attachment;
use crate::stiction::ContactMemory;

/// The state of a [`World`](crate::World) at one moment: plain data, all that a later step depends on.
///
/// Saved and loaded it goes on with the same bits; cloned it can be stepped in parallel. A step reads one state and writes
/// another, so it can be rejected, halved or repeated.
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
/// use pliant_coupling::{State, Stepper, StrongImplicit, WorldBuilder};
///
/// # let world = builder.build()?;
/// let (state, mut first, mut again) = (world.default_state(), State::default(), State::default());
/// assert!(stepper.step(&world, &state, 1e-3, &mut first)?.is_trusted());
/// // The state itself has not changed: repeated, the step has the same bits.
/// assert!(stepper.step(&world, &state, 1e-3, &mut again)?.is_trusted());
/// assert_eq!(first, again);
/// assert_eq!((first.time_s, first.step), (1e-3, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Time, s.
    pub time_s: f64,
    /// Steps taken.
    pub step: u64,
    /// State of each body.
    pub bodies: Vec<BodyState>,
    /// What drives each body, held until changed.
    pub controls: Vec<Control>,
    /// Whether each constraint holds.
    pub constraints: Vec<ConstraintState>,
    /// What steppers carry from step to step.
    #[serde(default)]
    pub memory: StepperMemory,
}

/// What steppers carry from one step to the next beside positions and velocities. Empty memory is valid for every world: the next
/// step then starts cold.
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
/// use pliant_coupling::StepperMemory;
///
/// # let (world, mut next, mut after) = (builder.build()?, State::default(), State::default());
/// // A ball falls by adaptive steps, which remember their length.
/// # let mut stepper = Adaptive::new(stepper, Accuracy { tolerance: 0.02, ..Accuracy::default() })?;
/// # assert!(stepper.step(&world, &world.default_state(), 0.1, &mut next)?.is_trusted());
/// assert!(next.memory.proposed_step_s.is_some_and(|length| length < 0.1));
/// let warm = stepper.step(&world, &next, 0.1, &mut after)?.adaptive.expect("of an adaptive stepper");
/// // Without it the next step is legal too, and tries long steps first.
/// next.memory = StepperMemory::default();
/// let cold = stepper.step(&world, &next, 0.1, &mut after)?.adaptive.expect("of an adaptive stepper");
/// assert!(warm.rejected == 0 && cold.rejected > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepperMemory {
    /// Contacts with friction memory, ascending; which ones remember is up to [`Stiction`](crate::Stiction).
    pub contacts: Vec<ContactMemory>,
    /// Normal loads of the last step for each pair with a deformable body, ascending by pair: the first friction bounds of the
    /// next step.
    pub loads: Vec<PairLoad>,
    /// v − v* of each body's velocities in the last step, the change by contacts and constraints; empty for bodies where it is
    /// unknown. Normal loads are predicted from it.
    pub velocity_change: Vec<Vec<f64>>,
    /// Forces of material points on frames in the last step of an [`Asynchronous`](crate::Asynchronous) stepper.
    #[serde(default)]
    pub frame_forces: Vec<FrameForce>,
    /// Forces of rigid geometries on material points in its last substep: where the contact solver starts.
    #[serde(default)]
    pub particle_forces: Vec<ParticleForce>,
    /// Attachments of a [`PenaltyForce`](crate::PenaltyForce) stepper, ascending by object, geometry of the particle, and particle.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// Length that an [`Adaptive`](crate::Adaptive) stepper tries first in the next step, s; `None` before its first.
    pub proposed_step_s: Option<f64>,
}

/// Whether a constraint holds.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use nalgebra::Isometry3;
/// # use pliant_coupling::{Anchor, Constraint, ConstraintCompliance, ConstraintKind, State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_coupling::ConstraintState;
///
/// // A ball on a thread, which is cut.
/// # let thread = builder.add_constraint(Constraint {
/// #     name: "thread".into(),
/// #     kind: ConstraintKind::Distance(1.0),
/// #     a: Anchor::Frame { body, frame: 0, X_FA: Isometry3::identity() },
/// #     b: Anchor::World(Isometry3::translation(0.0, 0.0, 1.0)),
/// #     compliance: ConstraintCompliance::NearRigid,
/// # });
/// # let (world, mut next) = (builder.build()?, State::default());
/// let mut state = world.default_state();
/// assert_eq!(state.constraints[thread.0], ConstraintState::Active);
/// state.constraints[thread.0] = ConstraintState::Released;
/// let report = stepper.step(&world, &state, 1e-3, &mut next)?;
/// assert!(report.constraint(thread).is_none());
/// assert!((next.bodies[0].v[5] + 9.81e-3).abs() < 1e-12); // it falls
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConstraintState {
    /// It holds.
    #[default]
    Active,
    /// It has been released.
    Released,
}
