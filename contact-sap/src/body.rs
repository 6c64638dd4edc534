//! What a body must offer to take part in the contact problem.
//!
//! A [`DeformableModel`] is immutable; a [`BodyState`] is plain data; a [`BodyStep`] is the workspace of one step,
//! reused from step to step without allocating. A body never asks the stepper, the solver never asks a body.

use nalgebra::{Isometry3, Point3, Vector3};
use serde::{Deserialize, Serialize};

use crate::constraint_set::InternalConstraints;
use crate::dynamics::Dynamics;
use crate::error::BodyError;
use crate::rows::{Interpolation, Rows};
use crate::time_step::TimeStep;

/// A body with its own degrees of freedom: a kinematic tree, a finite-element mesh, material points, a rod, a user's own.
pub trait DeformableModel: Send + Sync {
    /// A state to start from.
    fn default_state(&self) -> BodyState;
    /// A control that asks for nothing: no targets, no loads, nothing held.
    fn default_control(&self) -> Control {
        Control::default()
    }
    /// A workspace for steps of this model.
    fn new_step(&self) -> Box<dyn BodyStep>;
    /// What can be touched, in the world frame; `out` is overwritten and its memory reused.
    fn surface(&self, state: &BodyState, out: &mut Surface);
    /// Energies and momenta at `state`, with the gravity (m/s²) that acts on the body.
    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy;
    /// Who keeps the body from passing through itself.
    fn self_contact(&self) -> SelfContact {
        SelfContact::Found
    }
}

/// Who keeps a body from passing through itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelfContact {
    /// Whoever looks for contact between the vertices of its surface.
    #[default]
    Found,
    /// The body, by its own dynamics: material points meet on their grid. Its vertices are not looked at for it.
    Inherent,
}

/// One step of one body, from [`BodyStep::begin`] to [`BodyStep::advance`]. Each stepper uses the part it needs.
///
/// Everything after `begin` is a pure function of its arguments: a step can be repeated, halved or rejected.
pub trait BodyStep: Send + Sync {
    /// Opens a step at `state`. The number of velocities may differ from the last step's.
    ///
    /// # Errors
    /// A state that does not belong to the model, or is not finite. [`BodyError::Unsupported`] for an
    /// [`Integration`](crate::Integration) that the body doesn't know.
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError>;
    /// The velocities at the start of the step, v0, length n.
    fn start_velocity(&self) -> &[f64];
    /// Strong-implicit steppers: computes A and b about v0, then offered by [`BodyStep::dynamics`].
    ///
    /// # Errors
    /// A matrix that cannot be formed, for instance of an inverted element.
    fn linearise(&mut self) -> Result<(), BodyError>;
    /// A and b of the last [`BodyStep::linearise`].
    fn dynamics(&self) -> &dyn Dynamics;

    /// The basis of material point `p`, and how its velocity follows from it; the memory of `out` is reused.
    ///
    /// # Errors
    /// [`BodyError::NoSuchPoint`]. Every point of the surface is known.
    fn interpolation(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError>;
    /// The rows u = B v + b of a basis. A twist basis is (ω, v_O), six rows in world axes, v_O the velocity of the
    /// point of the body that is at `p_WO` now; other bases have no use for `p_WO`. Only bases that [`BodyStep::interpolation`]
    /// named in this step are asked for.
    fn basis(&self, basis: BasisIdx, p_WO: &Point3<f64>, out: &mut Rows);
    /// Constraints of the body with itself: limits, actuators, dry friction, couplers.
    fn internal_constraints(&self, out: &mut InternalConstraints<'_>) {
        let _ = out;
    }
    /// The state after the step with end velocities `v`: positions moved by δt (θ_vq v + (1 − θ_vq) v0), see
    /// [`Integration`](crate::Integration). `next` is overwritten and its memory reused.
    ///
    /// # Errors
    /// A state that the model cannot be in.
    fn advance(&self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError>;

    /// Asynchronous steppers: the velocities after one explicit step without contact.
    ///
    /// # Errors
    /// [`BodyError::Unsupported`] unless overridden.
    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
        let _ = out;
        Err(BodyError::Unsupported {
            what: "explicit step",
        })
    }
    /// Steppers that solve implicit equations in full, and penalty steppers: the momentum residual m(v), zero at the free motion, N·s.
    /// Not linearised.
    ///
    /// # Errors
    /// [`BodyError::Unsupported`] unless overridden.
    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
        let _ = (v, out);
        Err(BodyError::Unsupported {
            what: "momentum residual",
        })
    }
    /// Whether m(v) is more than A v − b and the body offers what steppers need that solve the implicit equations in full:
    /// [`BodyStep::linearise_about`], [`BodyStep::residual`] and [`BodyStep::incremental_potential`].
    fn relinearises(&self) -> bool {
        false
    }
    /// The velocities about which [`BodyStep::linearise`] made A and b: those of the start, unless the body says otherwise.
    fn linearised_at(&self) -> &[f64] {
        self.start_velocity()
    }
    /// Computes A = ∂m/∂v at `v`, made positive definite, and b = A v − m(v), then offered by [`BodyStep::dynamics`] until the next
    /// [`BodyStep::linearise`].
    ///
    /// # Errors
    /// [`BodyError::Unsupported`] unless overridden.
    fn linearise_about(&mut self, v: &[f64]) -> Result<(), BodyError> {
        let _ = v;
        Err(BodyError::Unsupported {
            what: "linearisation about velocities found",
        })
    }
    /// E(v), J, whose gradient is m(v), up to a constant; infinite where the body has no energy.
    ///
    /// # Errors
    /// [`BodyError::Unsupported`] unless overridden.
    fn incremental_potential(&self, v: &[f64]) -> Result<f64, BodyError> {
        let _ = v;
        Err(BodyError::Unsupported {
            what: "incremental potential",
        })
    }
    /// Penalty steppers: y = (∂m/∂v) x at `v`; the derivative may be unsymmetric for some models.
    ///
    /// # Errors
    /// [`BodyError::Unsupported`] unless overridden.
    fn tangent(&self, v: &[f64], x: &[f64], y: &mut [f64]) -> Result<(), BodyError> {
        let _ = (v, x, y);
        Err(BodyError::Unsupported {
            what: "momentum tangent",
        })
    }
    /// Steppers that exchange impulses: the points whose velocities these are, three each in their order, with the mass that an
    /// explicit step gives them; `None`: the body is not made of such points. `out` is overwritten and its memory reused.
    fn point_masses(&self, out: &mut Vec<PointMass>) -> Option<()> {
        let _ = out;
        None
    }
    /// After [`BodyStep::linearise`], where nothing acts on the body in this step: what b foresees of the motion, such as where a
    /// rest shape turns, may be taken from the free motion. Returns that, A⁻¹b to what solvers of contact ask for, if the body had
    /// to find it: it is then solved already.
    ///
    /// # Errors
    /// An A that cannot be solved with.
    fn move_freely(&mut self) -> Result<Option<&[f64]>, BodyError> {
        Ok(None)
    }
    /// How far what b foresees of the motion is from velocities `v`, found with everything that acts on the body, as a multiple of
    /// what is tolerated: above 1 [`BodyStep::foresee`] makes another b of it. 0 of bodies that foresee nothing.
    fn foresight_error(&mut self, v: &[f64]) -> f64 {
        let _ = v;
        0.0
    }
    /// Takes what b foresees of the motion from the velocities of the last [`BodyStep::foresight_error`], so that they have to be
    /// found again; A stays.
    fn foresee(&mut self) {}
    /// Whether velocity i of this step stands for the same as velocity i of the last one, so that what constraints did to it then
    /// tells something of what they will do now. Not if they are those of a grid that is laid anew in every step.
    fn velocities_last(&self) -> bool {
        true
    }
    /// Velocities of all vertices of the surface while the body has velocities `v`, for bodies that know them faster than
    /// vertex by vertex; `None`: ask [`BodyStep::interpolation`]. `out` is overwritten and its memory reused.
    fn vertex_velocities(&self, v: &[f64], out: &mut Vec<Vector3<f64>>) -> Option<()> {
        let _ = (v, out);
        None
    }
    /// What can be touched at the start of the step, as [`DeformableModel::surface`] says it, for steps that have it at
    /// hand; `None`: ask the model. `out` is overwritten and its memory reused.
    fn start_surface(&self, out: &mut Surface) -> Option<()> {
        let _ = out;
        None
    }
    /// What each joint transmits in a step with velocities `v` while `outside` acts on the body's frames, besides its
    /// own loads; `out` is overwritten. Bodies without joints have nothing to say.
    fn joint_reactions(&self, v: &[f64], outside: &[FrameWrench], out: &mut Vec<JointReaction>) {
        let _ = (v, outside);
        out.clear();
    }
    /// What holds each vertex that is held in place or driven, in a step with velocities `v` while `outside` acts on the body
    /// besides its own loads; `out` is overwritten. Bodies without held vertices have nothing to say.
    fn support_reactions(&self, v: &[f64], outside: &[PointForce], out: &mut Vec<SupportReaction>) {
        let _ = (v, outside);
        out.clear();
    }
    /// Where material point `p` is at the end of a step with end velocities `v`, world frame.
    ///
    /// # Errors
    /// [`BodyError::NoSuchPoint`], as [`BodyStep::interpolation`].
    fn point(&self, v: &[f64], p: &MaterialPoint) -> Result<Point3<f64>, BodyError>;
}

/// Names one basis of a body: a link, a triangle, a segment, a grid cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BasisIdx(pub u32);

/// Everything of a body that changes from step to step. Plain data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// Generalised positions.
    pub q: Vec<f64>,
    /// Generalised velocities.
    pub v: Vec<f64>,
    /// Whatever else changes results: plastic strains, reference frames, last rotations.
    pub history: Vec<f64>,
}

/// What drives a body from outside, held until changed. Empty vectors mean: none.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// Position targets of the actuators, one for each velocity (rad or m).
    pub position: Vec<f64>,
    /// Velocity targets of the actuators, one for each velocity.
    pub velocity: Vec<f64>,
    /// Feed-forward generalised force, one for each velocity (N·m or N), limited by the actuator's effort, without an
    /// actuator by the joint's.
    pub effort: Vec<f64>,
    /// Velocities that are prescribed and leave the solve: `Some(0.0)` locks a joint.
    pub held: Vec<Option<f64>>,
    /// Forces on material points.
    pub loads: Vec<Load>,
}

impl Clone for Control {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Reuses the memory there is, as every step does.
    fn clone_from(&mut self, other: &Self) {
        let Self {
            position,
            velocity,
            effort,
            held,
            loads,
        } = other;
        self.position.clone_from(position);
        self.velocity.clone_from(velocity);
        self.effort.clone_from(effort);
        self.held.clone_from(held);
        self.loads.clone_from(loads);
    }
}

/// A force and a torque that act on a frame of a body from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameWrench {
    /// Index of the frame in the body's surface.
    pub frame: u32,
    /// Where the force acts, at the start of the step, world frame.
    pub p_WQ: Point3<f64>,
    /// N, world axes.
    pub force_W: Vector3<f64>,
    /// N·m, world axes, besides the force's own moment.
    pub torque_W: Vector3<f64>,
}

/// A force on a material point of a body from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointForce {
    /// Where it acts.
    pub point: MaterialPoint,
    /// N, world axes.
    pub force_W: Vector3<f64>,
}

/// A point that carries mass: a node of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMass {
    /// m, world frame.
    pub p_WQ: Point3<f64>,
    /// kg.
    pub mass: f64,
    /// The part of the body's surface that it has most of its mass from.
    pub part: u32,
}

/// What holds a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportReaction {
    /// The vertex.
    pub vertex: u32,
    /// Where it was at the start of the step, world frame.
    pub p_WV: Point3<f64>,
    /// On the body, N, world axes; zero in directions that are free.
    pub force_W: Vector3<f64>,
}

/// What the parent of a joint exerts on its child: bearings, drive, spring, damper, friction and limit together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointReaction {
    /// Index of the joint in its body.
    pub joint: u32,
    /// Where the force acts, at the start of the step, world frame: the origin of the child's frame.
    pub p_WC: Point3<f64>,
    /// N, world axes, on the child.
    pub force_W: Vector3<f64>,
    /// N·m about `p_WC`, world axes, on the child.
    pub torque_W: Vector3<f64>,
}

/// An external force on a material point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Where it acts.
    pub point: MaterialPoint,
    /// Force, N, world axes.
    pub force_W: Vector3<f64>,
    /// Torque, N·m, world axes; only bodies with frames take it.
    pub torque_W: Vector3<f64>,
}

/// What a step is asked for.
#[derive(Clone, Copy, Debug)]
pub struct StepInput<'a> {
    /// δt, positive, and the integration that the whole world shares.
    pub time_step: TimeStep,
    /// Gravity, m/s², world axes.
    pub gravity: Vector3<f64>,
    /// The body's control.
    pub control: &'a Control,
}

/// A material point: a place on a body that moves with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaterialPoint {
    /// The primitive it belongs to.
    pub primitive: Primitive,
    /// Barycentric weights of the primitive's vertices, unused ones zero.
    pub weights: [f64; 4],
    /// Offset from there, m: in frame axes for a frame, in world axes otherwise.
    pub offset: Vector3<f64>,
}

impl MaterialPoint {
    /// The point at `p_FQ` of frame `frame`.
    #[must_use]
    pub fn on_frame(frame: u32, p_FQ: Vector3<f64>) -> Self {
        Self {
            primitive: Primitive::Frame(frame),
            weights: [0.0; 4],
            offset: p_FQ,
        }
    }

    /// The vertex itself.
    #[must_use]
    pub fn on_vertex(vertex: u32) -> Self {
        Self {
            primitive: Primitive::Vertex(vertex),
            weights: [1.0, 0.0, 0.0, 0.0],
            offset: Vector3::zeros(),
        }
    }
}

/// A piece of a body's [`Surface`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Primitive {
    /// A rigid frame.
    Frame(u32),
    /// A vertex.
    Vertex(u32),
    /// An edge, two vertices.
    Edge(u32),
    /// A triangle, three vertices.
    Triangle(u32),
    /// A tetrahedron, four vertices.
    Tetrahedron(u32),
}

/// What of a body can be touched, in the world frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Poses X_WF of rigid frames, on which shapes are mounted.
    pub frames: Vec<Isometry3<f64>>,
    /// Vertices p_WV.
    pub vertices: Vec<Point3<f64>>,
    /// Radius about each vertex, m; empty: all zero.
    pub radii: Vec<f64>,
    /// Part of the body that each vertex belongs to, such as the objects on one grid; empty: there is only part 0.
    pub parts: Vec<u32>,
    /// Vertices of each edge.
    pub edges: Vec<[u32; 2]>,
    /// Section of each edge; empty: edges are round, with the radii of their vertices.
    pub sections: Vec<FlatEdge>,
    /// Vertices of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Vertices of each tetrahedron.
    pub tetrahedra: Vec<[u32; 4]>,
}

/// The section of an edge that is wider one way than the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatEdge {
    /// Unit vector across the edge, world frame.
    pub m_1: Vector3<f64>,
    /// Half of the extent along `m_1` and along t × m_1, m.
    pub half_extents: [f64; 2],
    /// Between those extents.
    pub outline: FlatOutline,
}

/// The outline of a section that is wider one way than the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlatOutline {
    /// A rectangle.
    Rectangle,
    /// An ellipse.
    Ellipse,
}

impl Surface {
    /// Empties everything, keeping the memory.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.vertices.clear();
        self.radii.clear();
        self.parts.clear();
        self.edges.clear();
        self.sections.clear();
        self.triangles.clear();
        self.tetrahedra.clear();
    }
}

/// Energies and momenta of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// J.
    pub kinetic: f64,
    /// Of gravity and springs, J.
    pub potential: f64,
    /// kg·m/s, world axes.
    pub linear_momentum_W: Vector3<f64>,
    /// About the world origin, kg·m²/s.
    pub angular_momentum_W: Vector3<f64>,
}

/// What a body says of a finished step.
#[must_use]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyReport {
    /// Anything suspicious, in words that name the place.
    pub warnings: Vec<String>,
}
