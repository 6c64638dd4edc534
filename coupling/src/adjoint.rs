//! Gradients of a function of the end velocities with respect to what acts during a step.

use nalgebra::Vector3;
use pliant_contact_sap::{BodyError, MaterialPoint, SolveError};

use crate::strong_implicit::SolvedAdjoint;
use crate::world::BodyIdx;

/// Gradients of a function L(v) of the velocities at the end of a step with respect to controls and forces; made by
/// [`Stepper::adjoint`](crate::Stepper::adjoint).
///
/// At the solution of the contact problem g(v, u) = A v − b(u) − Σ Jᵀγ(v, u) = 0. With its Hessian H = ∂g/∂v,
///
/// ```text
/// ∂v/∂u = −H⁻¹ ∂g/∂u,    ∂L/∂u = −(∂g/∂u)ᵀλ,    H λ = ∂L/∂v
/// ```
///
/// One linear system is solved, whatever the number of inputs. A force at a point Q has −(∂g/∂f)ᵀλ = δt J_Q λ: δt times the velocity that
/// Q has where λ are the velocities of its body.
///
/// Held fixed is what the convex problem takes as given: positions, distances and normals of contacts, friction bounds of the lagged
/// model, rotations of corotated bodies, the point of a linearisation, and the midpoint of a midpoint step. With the similar or the SAP
/// model the gradient of rigid bodies in backward Euler steps is therefore that of the step, except for contacts that begin in it or
/// began in the last. Where a constraint opens, closes or saturates there are two one-sided gradients; this is one of them.
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
/// # use nalgebra::Vector3;
/// # use pliant_coupling::{State, StrongImplicit, WorldBuilder};
/// use pliant_contact_sap::MaterialPoint;
/// use pliant_coupling::Stepper;
///
/// # let (world, mut next) = (builder.build()?, State::default());
/// // L = v_z of a free ball of 1 kg. A force at its centre for 1 ms changes it by δt/m.
/// assert!(stepper.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
/// let adjoint = stepper.adjoint(&[(body, &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0])])?;
/// let gradient = adjoint.load(body, &MaterialPoint::on_frame(0, Vector3::zeros()))?;
/// assert!((gradient.force_W.z - 1e-3).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Adjoint<'a> {
    solved: SolvedAdjoint<'a>,
}

/// The gradient with respect to the control of a body; empty vectors where nothing of the kind acts in the step, otherwise one entry for each
/// velocity of its state.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::Vector3;
/// use pliant_contact_sap::PdGains;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_multibody::{JointIdx, JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, SpatialInertia};
///
/// // L = ω of a turntable with I = 0.9 kg·m² on an actuator of k = 100 N·m/rad.
/// # let mut model = ModelBuilder::new("turntable");
/// # model.link(LinkSpec::new("base", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # model.link(LinkSpec::new("table", SpatialInertia::solid_cylinder(20.0, 0.3, 0.02)));
/// # model.joint(JointSpec::new("axis", JointKind::Continuous, "base", "table").about(Vector3::z()));
/// # let tree = RigidTree::new(Arc::new(model.build()?));
/// let gains = PdGains { proportional: 100.0, derivative: 0.0, effort_limit: f64::INFINITY };
/// let tree = tree.with_actuator(JointIdx(0), gains)?;
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("turntable", Box::new(tree));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// assert!(stepper.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
/// let gradient = &stepper.adjoint(&[(body, &[1.0])])?.controls()[body.0];
/// // I ω = δt k (target − δt ω)
/// let expected = 1e-3 * 100.0 / (0.9 + 1e-6 * 100.0);
/// assert!((gradient.position[0] - expected).abs() < 1e-9 * expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlGradient {
    /// With respect to the position targets of actuators, of L per rad or m.
    pub position: Vec<f64>,
    /// With respect to their velocity targets, of L per rad/s or m/s.
    pub velocity: Vec<f64>,
    /// With respect to efforts, of L per N·m or N.
    pub effort: Vec<f64>,
}

/// The gradient with respect to a load at a material point.
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
/// # use nalgebra::Vector3;
/// # use pliant_contact_sap::MaterialPoint;
/// # use pliant_coupling::{State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_coupling::LoadGradient;
///
/// # let (world, mut next) = (builder.build()?, State::default());
/// // L = ω_y of a free ball of 1 kg and 0.1 m, so that I = 0.004 kg·m².
/// assert!(stepper.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
/// let adjoint = stepper.adjoint(&[(body, &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0])])?;
/// let side = MaterialPoint::on_frame(0, Vector3::new(0.1, 0.0, 0.0));
/// let LoadGradient { force_W, torque_W } = adjoint.load(body, &side)?;
/// assert!((torque_W.y - 1e-3 / 0.004).abs() < 1e-9);
/// assert!((force_W.z + 0.1 * 1e-3 / 0.004).abs() < 1e-9); // p × f turns it the other way
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadGradient {
    /// With respect to the force, of L per N, world axes.
    pub force_W: Vector3<f64>,
    /// With respect to the torque, of L per N·m, world axes; zero for a point without axes.
    pub torque_W: Vector3<f64>,
}

/// Gradients that cannot be computed.
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
/// # use pliant_coupling::{State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_coupling::AdjointError;
///
/// # let (world, mut next) = (builder.build()?, State::default());
/// // Before the first step there is nothing to differentiate.
/// assert_eq!(stepper.adjoint(&[]).err(), Some(AdjointError::NoStep));
/// assert!(stepper.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
/// let error = stepper.adjoint(&[(body, &[1.0])]).err().expect("a free ball has six velocities");
/// assert_eq!(error, AdjointError::Length { body: "ball".into(), found: 1, expected: 6 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AdjointError {
    /// The stepper has none.
    #[error(
        "this stepper has no gradients; use the strong-implicit stepper with a fixed time step"
    )]
    Unsupported,
    /// No step was taken, or the last one failed.
    #[error("there is no step to differentiate; take one first")]
    NoStep,
    /// ∂L/∂v of a body has the wrong length.
    #[error(
        "∂L/∂v of body \"{body}\" has {found} values; it takes {expected}, one for each velocity"
    )]
    Length {
        /// Name of the body.
        body: String,
        /// Values found.
        found: usize,
        /// Values needed.
        expected: usize,
    },
    /// The velocities of the body are those of a grid of one step.
    #[error(
        "the velocities of body \"{body}\" are those of a grid, which every step builds anew; take a function of the velocities of other bodies"
    )]
    RebuiltVelocities {
        /// Name of the body.
        body: String,
    },
    /// A point that the body does not have.
    #[error("body \"{body}\": {source}")]
    Point {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: BodyError,
    },
    /// The system H λ = ∂L/∂v has no solution.
    #[error("the adjoint system: {0}")]
    Solve(#[from] SolveError),
}

impl<'a> Adjoint<'a> {
    pub(crate) fn new(solved: SolvedAdjoint<'a>) -> Self {
        Self { solved }
    }

    /// The gradient with respect to the control of every body, in their order.
    #[must_use]
    pub fn controls(&self) -> Vec<ControlGradient> {
        self.solved.controls()
    }

    /// The gradient with respect to a load at `point` of a body.
    ///
    /// That by gravity is the sum of the gradients by forces on the body's points with mass, each times its mass.
    ///
    /// # Errors
    /// [`AdjointError::Point`].
    pub fn load(&self, body: BodyIdx, point: &MaterialPoint) -> Result<LoadGradient, AdjointError> {
        self.solved.load(body, point)
    }
}
