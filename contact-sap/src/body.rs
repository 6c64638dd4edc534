//! The interface of a body: [`DeformableModel`], [`BodyStep`], and the capabilities that a step may offer.
//!
//! A [`DeformableModel`] is immutable; a [`BodyState`] is plain data; a [`BodyStep`] is the workspace of one time step,
//! reused from step to step. Steppers call bodies; bodies call neither steppers nor solvers.

mod balance;
mod control_adjoint;
mod end_frames;
mod explicit;
mod input;
mod lagged_terms;
mod material_point;
mod reactions;
mod state;
mod surface;
mod vertex_step;

use std::any::Any;

use nalgebra::{Point3, Vector3};

use crate::cancellation::Cancellation;
use crate::constraint_set::InternalConstraints;
use crate::dynamics::Dynamics;
use crate::error::BodyError;
use crate::rows::{Interpolation, Rows};

pub use balance::{BalanceTangent, MomentumBalance, NonlinearBalance, StartLinearisation};
pub use control_adjoint::ControlAdjoint;
pub use end_frames::EndFrames;
pub use explicit::{ExplicitStep, PointMass, PointMasses};
pub use input::{Control, Load, StepInput};
pub use lagged_terms::LaggedTerms;
pub use material_point::{MaterialPoint, Primitive};
pub use reactions::{FrameWrench, JointReaction, PointForce, Reactions, SupportReaction};
pub use state::{BodyReport, BodyState, Energy};
pub use surface::{FlatEdge, FlatOutline, Surface, SurfaceMotion};
pub use vertex_step::{RigidMotion, VertexFields, VertexStep};

/// A body with its own degrees of freedom: a kinematic tree, a finite-element mesh, material points, a rod, a user's own.
///
/// A stepper that has an implementation of its own for some kind of body finds it by [`Any`].
///
/// `examples/your_own_body.rs` implements one in 60 lines.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::conformance::{MassSpringNet, NetSettings};
/// use pliant_contact_sap::{DeformableModel, Surface};
///
/// // 100 masses of 0.5 g, at rest in the plane z = 0.5 m.
/// let net = MassSpringNet::new(NetSettings::default())?;
/// let state = net.default_state();
/// let mut surface = Surface::default();
/// net.surface(&state, &mut surface);
/// assert_eq!(surface.vertices.len(), 100);
/// let energy = net.energy(&state, &Vector3::new(0.0, 0.0, -9.81));
/// assert!((energy.potential - 0.05 * 9.81 * 0.5).abs() < 1e-12); // m g z
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
pub trait DeformableModel: Any + Send + Sync {
    /// The initial state.
    fn default_state(&self) -> BodyState;
    /// A control without targets, loads or prescribed velocities.
    fn default_control(&self) -> Control {
        Control::default()
    }
    /// A workspace for steps of this model.
    fn new_step(&self) -> Box<dyn BodyStep>;
    /// Checks that a step may begin at `state` under `control`; for states from files and callers. Unless implemented, it begins a step.
    ///
    /// ```
    /// # use pliant_contact_sap::conformance::MassSpringNet;
    /// use pliant_contact_sap::{Control, DeformableModel};
    ///
    /// let net = MassSpringNet::default();
    /// let mut state = net.default_state();
    /// net.check_state(&state, &Control::default())?;
    /// state.q.pop();
    /// assert!(net.check_state(&state, &Control::default()).is_err());
    /// # Ok::<(), pliant_contact_sap::BodyError>(())
    /// ```
    ///
    /// # Errors
    /// As [`BodyStep::begin`].
    fn check_state(&self, state: &BodyState, control: &Control) -> Result<(), BodyError> {
        let input = StepInput::new(1e-3, Vector3::zeros(), control);
        self.new_step().begin(state, &input)
    }
    /// The surface that takes part in contact, in the world frame. `out` is overwritten and its memory reused.
    fn surface(&self, state: &BodyState, out: &mut Surface);
    /// Energies and momenta at `state`, with the gravity (m/s²) that acts on the body.
    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy;
    /// Whether the contact search looks for contacts between the body's own vertices.
    fn self_contact(&self) -> SelfContact {
        SelfContact::Found
    }
    /// Whether velocity i is the same quantity in every step.
    fn velocity_layout(&self) -> VelocityLayout {
        VelocityLayout::Fixed
    }
}

/// What resolves contact of a body with itself.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{BodyState, BodyStep, DeformableModel, Energy, SelfContact, Surface};
///
/// /// A net whose own springs keep its nodes apart.
/// struct Trampoline(MassSpringNet);
/// impl DeformableModel for Trampoline {
///     fn self_contact(&self) -> SelfContact { SelfContact::Inherent }
///     // everything else is the net's
/// #     fn default_state(&self) -> BodyState { self.0.default_state() }
/// #     fn new_step(&self) -> Box<dyn BodyStep> { self.0.new_step() }
/// #     fn surface(&self, state: &BodyState, out: &mut Surface) { self.0.surface(state, out) }
/// #     fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy { self.0.energy(state, gravity) }
/// }
/// assert_eq!(MassSpringNet::default().self_contact(), SelfContact::Found);
/// assert_eq!(Trampoline(MassSpringNet::default()).self_contact(), SelfContact::Inherent);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelfContact {
    /// The contact search, between the vertices of the body's surface.
    #[default]
    Found,
    /// The body's own dynamics: material points collide on their grid. The contact search skips pairs within the body.
    Inherent,
}

/// Whether velocity i of one step is the same quantity as velocity i of the step before.
///
/// Steppers warm start with what constraints did to each velocity in the last step, and predict loads of friction from it.
/// They do neither for velocities that are [rebuilt](Self::RebuiltEachStep).
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::{BlobSettings, MassSpringNet, ParticleBlob};
/// use pliant_contact_sap::{Control, DeformableModel, StepInput, VelocityLayout};
///
/// // Two particles a side on a grid of 20 mm: they have more nodes around them after they have moved by half a cell.
/// let blob = ParticleBlob::new(BlobSettings { n: 2, spacing: 5e-3, ..BlobSettings::default() })?;
/// let (control, mut step, mut state) = (Control::default(), blob.new_step(), blob.default_state());
/// let input = StepInput::new(0.01, Vector3::zeros(), &control);
/// step.begin(&state, &input)?;
/// let before = step.start_velocity().len();
/// state.q.iter_mut().step_by(3).for_each(|x| *x += 0.007);
/// step.begin(&state, &input)?;
/// assert_ne!(step.start_velocity().len(), before);
/// assert_eq!(blob.velocity_layout(), VelocityLayout::RebuiltEachStep);
/// assert_eq!(MassSpringNet::default().velocity_layout(), VelocityLayout::Fixed);
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VelocityLayout {
    /// The same quantity in every step with the same prescribed velocities.
    #[default]
    Fixed,
    /// Another one: velocities of a grid that every step builds around its material points.
    RebuiltEachStep,
}

/// One time step of one body, from [`BodyStep::begin`] to [`BodyStep::advance`].
///
/// The body's balance of momentum is m(v) = Jᵀγ in its end velocities v, n of them, with the impulses γ of its constraints.
/// The methods without a default are what a stepper of one convex problem per time step needs. Everything else is a capability,
/// which a stepper asks for by an `as_` method.
///
/// Everything after `begin` is a pure function of its arguments: a step can be repeated, halved or rejected.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{BodyState, BodyStep, Control, DeformableModel, StepInput};
///
/// // A net in free fall for 10 ms: A v = b has the solution v = δt g.
/// let net = MassSpringNet::default();
/// let (control, mut step, mut v0) = (Control::default(), net.new_step(), Vec::new());
/// step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::new(0.0, 0.0, -9.81), &control))?;
/// step.linearise_start(&mut v0)?;
/// let v: Vec<f64> = (0..v0.len()).map(|i| if i % 3 == 2 { -0.0981 } else { 0.0 }).collect();
/// let mut a_v = vec![0.0; v.len()];
/// step.dynamics().apply(&v, &mut a_v);
/// assert!(a_v.iter().zip(step.dynamics().right_hand_side()).all(|(a_v, b)| (a_v - b).abs() < 1e-15));
///
/// let mut next = BodyState::default();
/// let report = step.advance(&v, &mut next)?;
/// assert!(report.warnings.is_empty());
/// assert!((next.q[2] - (0.5 - 0.000981)).abs() < 1e-12); // backward Euler: z0 + δt v
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
pub trait BodyStep: Send + Sync {
    /// Opens a step at `state`. The number of velocities may differ from the last step's.
    ///
    /// # Errors
    /// A state that does not belong to the model, or is not finite. [`BodyError::Unsupported`] for an
    /// [`Integration`](crate::Integration) that the body does not implement.
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError>;
    /// The velocities at the start of the step, v0, length n.
    fn start_velocity(&self) -> &[f64];
    /// Computes A = ∂m/∂v at velocities `v`, modified where needed to be positive definite, and b = A v − m(v), then offered by
    /// [`BodyStep::dynamics`]. A body whose m is linear gives the same A and b for any `v`.
    ///
    /// # Errors
    /// A matrix that cannot be formed, for instance of an inverted element.
    fn linearise(&mut self, v: &[f64]) -> Result<(), BodyError>;
    /// A and b of the last linearisation.
    fn dynamics(&self) -> &dyn Dynamics;
    /// The basis of material point `p`, and how the point's velocity follows from it; the memory of `out` is reused.
    ///
    /// # Errors
    /// [`BodyError::NoSuchPoint`]. Every point of the surface is accepted.
    fn interpolation(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError>;
    /// The rows u = B v + b of a basis that [`BodyStep::interpolation`] returned in this step. A twist basis is (ω, v_O), six rows
    /// in world axes, with v_O the velocity of the body's point that is at `p_WO` at the start of the step; other bases ignore `p_WO`.
    fn basis(&self, basis: BasisIdx, p_WO: &Point3<f64>, out: &mut Rows);
    /// Constraints within the body: limits, actuators, dry friction, couplers.
    fn constraints(&self, out: &mut InternalConstraints<'_>) {
        let _ = out;
    }
    /// The state after the step with end velocities `v`: positions moved by δt (θ_vq v + (1 − θ_vq) v0), see
    /// [`Integration`](crate::Integration). `next` is overwritten and its memory reused.
    ///
    /// # Errors
    /// A state that the model does not allow.
    fn advance(&mut self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError>;
    /// Iterations of the body end with [`BodyError::Cancelled`] once `cancellation` is requested. A body without long iterations needs no
    /// implementation.
    fn cancel_with(&mut self, cancellation: &Cancellation) {
        let _ = cancellation;
    }

    /// The linearisation with which the step begins, of bodies that do not want that about the start velocities.
    fn as_start_linearisation(&mut self) -> Option<&mut dyn StartLinearisation> {
        None
    }
    /// m and its derivative, of bodies that evaluate them independently of A and b.
    fn as_balance(&self) -> Option<&dyn MomentumBalance> {
        None
    }
    /// m, its derivative and its potential, of bodies that can be linearised again within a step.
    fn as_nonlinear(&self) -> Option<&dyn NonlinearBalance> {
        None
    }
    /// Frames at the end of the step, of bodies that have frames.
    fn as_end_frames(&mut self) -> Option<&mut dyn EndFrames> {
        None
    }
    /// Terms of b that are evaluated at a predicted motion.
    fn as_lagged(&mut self) -> Option<&mut dyn LaggedTerms> {
        None
    }
    /// The explicit step.
    fn as_explicit(&self) -> Option<&dyn ExplicitStep> {
        None
    }
    /// The explicit step of bodies whose velocities are those of point masses. Offered before [`BodyStep::begin`], too.
    fn as_point_masses(&self) -> Option<&dyn PointMasses> {
        None
    }
    /// How b depends on efforts, for gradients of a step.
    fn as_control_adjoint(&self) -> Option<&dyn ControlAdjoint> {
        None
    }
    /// Reaction forces at joints and supports.
    fn as_reactions(&self) -> Option<&dyn Reactions> {
        None
    }
    /// Positions and velocities of the whole surface at once.
    fn as_surface(&self) -> Option<&dyn SurfaceMotion> {
        None
    }
}

impl dyn BodyStep + '_ {
    /// The linearisation with which a step begins: by [`StartLinearisation`] where the body has it, otherwise about the start
    /// velocities. `v` is overwritten with the velocities of the linearisation; its memory is reused.
    ///
    /// # Errors
    /// As [`BodyStep::linearise`].
    pub fn linearise_start(&mut self, v: &mut Vec<f64>) -> Result<(), BodyError> {
        if let Some(body) = self.as_start_linearisation() {
            return body.linearise_start(v);
        }
        v.clear();
        v.extend_from_slice(self.start_velocity());
        self.linearise(v)
    }

    /// A at the start of a step without a solution for the free motion, for steppers that iterate on [`MomentumBalance`] and use A as an approximation:
    /// by [`StartLinearisation`] where it solves nothing, otherwise about the start velocities. `v` is overwritten with the
    /// velocities of the linearisation.
    ///
    /// # Errors
    /// As [`BodyStep::linearise`].
    pub fn linearise_near_start(&mut self, v: &mut Vec<f64>) -> Result<(), BodyError> {
        if let Some(body) = self.as_start_linearisation()
            && !body.solves_free_motion()
        {
            return body.linearise_start(v);
        }
        v.clear();
        v.extend_from_slice(self.start_velocity());
        self.linearise(v)
    }
}

/// Index of a basis of a body: a link, a triangle, a segment, a grid cell.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{Control, DeformableModel, Interpolation, MaterialPoint, Primitive, StepInput};
///
/// # let (net, control) = (MassSpringNet::default(), Control::default());
/// # let mut step = net.new_step();
/// # step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
/// // Contacts at two points of one triangle share a basis; a point of another triangle has its own.
/// let mut basis = |triangle, weights| {
///     let point = MaterialPoint { primitive: Primitive::Triangle(triangle), weights, offset: Vector3::zeros() };
///     step.interpolation(&point, &mut Interpolation::Twist)
/// };
/// let corner = basis(0, [1.0, 0.0, 0.0, 0.0])?;
/// assert_eq!(basis(0, [0.2, 0.3, 0.5, 0.0])?, corner);
/// assert_ne!(basis(1, [1.0, 0.0, 0.0, 0.0])?, corner);
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BasisIdx(pub u32);
