//! The strong-implicit stepper: every body and every contact in one convex problem per time step.

mod adjoint;
mod advance;
mod contact_set;
mod friction_bounds;
mod outer_loop;
mod problem;
mod reactions;
mod relinearisation;
mod report;
mod response;
mod restitution;
mod rotations;
mod settings;

use std::sync::Arc;

use pliant_contact_sap::{Cancellation, ConvexContactSolver, TimeStep};
use pliant_hydroelastic::{ContactGeometry, GeometryDispatcher};

pub(crate) use adjoint::SolvedAdjoint;
use outer_loop::{Attempt, OuterLoop};
pub(crate) use problem::StepContext;
use problem::StepProblem;
pub(crate) use response::FrameResponse;
pub use settings::{Linearisation, StrongImplicitSettings};

use crate::adjoint::{Adjoint, AdjointError};
use crate::error::{StepError, WorldError};
use crate::report::StepReport;
use crate::state::State;
use crate::stepper::{Reactions, Stepper};
use crate::world::{BodyIdx, World};

/// Steps a [`World`] by one convex contact problem per time step; where friction bounds, the set of contacts, rotations or
/// linearisations lag behind the solution, by a sequence of them.
///
/// `S` solves the problem. The stepper keeps workspaces and the last step's solution, for [`Stepper::reactions`]; neither changes a
/// later step.
///
/// Source: Han, Masterjohn, Castro (2023), section VI.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use pliant_coupling::{State, Stepper, WorldBuilder};
/// use pliant_coupling::StrongImplicit;
///
/// # let (world, mut next) = (builder.build()?, State::default());
/// let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// let report = stepper.step(&world, &world.default_state(), 0.01, &mut next)?;
/// assert!(report.is_trusted());
/// // A ball in free fall, by backward Euler: v = −g δt, z = z0 + δt v.
/// assert!((next.bodies[0].v[5] + 0.0981).abs() < 1e-12);
/// assert!((next.bodies[0].q[2] - (0.3 - 0.000981)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StrongImplicit<S> {
    solver: S,
    geometry: Box<dyn ContactGeometry>,
    settings: StrongImplicitSettings,
    /// The world of the last step, for which the workspaces are.
    world: Option<World>,
    problem: StepProblem,
    outer_loop: OuterLoop,
    /// Contacts by pair.
    order: Vec<usize>,
    /// Δt of the last step, s; `None` if there was none or it failed.
    last_step_s: Option<f64>,
    cancellation: Cancellation,
}

impl<S: ConvexContactSolver> StrongImplicit<S> {
    /// With default settings and our own contact geometry.
    pub fn new(solver: S) -> Self {
        Self {
            solver,
            geometry: Box::new(GeometryDispatcher::default()),
            settings: StrongImplicitSettings::default(),
            world: None,
            problem: StepProblem::default(),
            outer_loop: OuterLoop::default(),
            order: Vec::new(),
            last_step_s: None,
            cancellation: Cancellation::default(),
        }
    }

    /// With these settings instead.
    ///
    /// # Errors
    /// [`WorldError::Parameter`] for settings out of range.
    pub fn with_settings(self, settings: StrongImplicitSettings) -> Result<Self, WorldError> {
        settings.validate()?;
        Ok(Self { settings, ..self })
    }

    /// With contact geometry of your own instead.
    #[must_use]
    pub fn with_geometry(self, geometry: Box<dyn ContactGeometry>) -> Self {
        Self { geometry, ..self }
    }

    /// The settings.
    pub fn settings(&self) -> &StrongImplicitSettings {
        &self.settings
    }

    /// Makes workspaces for a world other than the last step's.
    fn adopt(&mut self, world: &World) {
        let known = self.world.as_ref();
        if !known.is_some_and(|known| Arc::ptr_eq(&known.parts, &world.parts)) {
            self.problem.adopt(world);
            self.problem.cancel_with(&self.cancellation);
            self.world = Some(world.clone());
        }
    }
}

impl<S: ConvexContactSolver> Stepper for StrongImplicit<S> {
    /// A step like the last one allocates no memory, as long as bodies and contact geometry allocate none and islands are solved on one
    /// thread.
    fn step_into(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        StepError::check_time_step(time_step_s)?;
        check_lengths(world, state)?;
        self.last_step_s = None;
        self.adopt(world);
        let context = StepContext {
            world,
            state,
            time_step: TimeStep {
                length_s: time_step_s,
                integration: self.settings.integration,
            },
            geometry: &*self.geometry,
            cancellation: &self.cancellation,
        };
        let problem = &mut self.problem;
        problem.linearise(context)?;
        problem.predict(context)?;
        problem.constrain(context)?;
        problem.solve_free_bodies(context)?;
        let mut attempt = Attempt {
            context,
            solver: &mut self.solver,
            problem,
        };
        report.convergence = self
            .outer_loop
            .converge_with_impacts(&mut attempt, &self.settings)?;
        problem.describe(context, &mut self.order, report);
        problem.advance(context, next, report)?;
        problem.remember(context, self.outer_loop.friction_bounds(), &mut next.memory);
        self.last_step_s = Some(time_step_s);
        Ok(())
    }

    fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
        self.solver.cancel_with(cancellation);
        self.problem.cancel_with(cancellation);
    }

    fn adjoint(&mut self, slopes: &[(BodyIdx, &[f64])]) -> Result<Adjoint<'_>, AdjointError> {
        self.solve_adjoint(slopes)
    }

    fn reactions(&self, body: BodyIdx) -> Reactions {
        match (&self.world, self.last_step_s) {
            (Some(world), Some(time_step_s)) => self.problem.reactions(world, body, time_step_s),
            _ => Reactions::default(),
        }
    }
}

/// Checks that a state has as many parts as its world.
pub(crate) fn check_lengths(world: &World, state: &State) -> Result<(), StepError> {
    let parts = &world.parts;
    let lengths = [
        ("bodies", state.bodies.len(), parts.bodies.len()),
        ("controls", state.controls.len(), parts.bodies.len()),
        (
            "constraints",
            state.constraints.len(),
            parts.constraints.len(),
        ),
    ];
    for (what, found, expected) in lengths {
        if found != expected {
            return Err(StepError::StateLength {
                what,
                found,
                expected,
            });
        }
    }
    Ok(())
}
