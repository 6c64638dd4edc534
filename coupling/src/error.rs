//! Errors of building and stepping a world.

use std::fmt;

use pliant_contact_sap::{BodyError, SolveError};
use pliant_hydroelastic::GeometryError;

use crate::state::State;
use crate::world::{BodyIdx, GeometryIdx, World};

/// Which part of a world an error is about.
///
/// ```
/// use pliant_coupling::WorldPart;
///
/// let pair = WorldPart::Pair("cup".into(), "saucer".into());
/// assert_eq!((pair.name(), pair.to_string().as_str()), (Some("cup"), "the pair \"cup\", \"saucer\""));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WorldPart {
    /// The world as a whole: gravity, settings.
    World,
    /// The stepper's settings.
    Stepper,
    /// The body of this name.
    Body(String),
    /// The geometry of this name.
    Geometry(String),
    /// The constraint of this name.
    Constraint(String),
    /// The group of this name.
    Group(String),
    /// The rule of the pair of these two geometries.
    Pair(String, String),
    /// The exclusion added as this one, counted from 0.
    Exclusion(usize),
}

impl WorldPart {
    /// Its name, the first of two; none for the world and for exclusions.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::World | Self::Stepper | Self::Exclusion(_) => None,
            Self::Body(name)
            | Self::Geometry(name)
            | Self::Constraint(name)
            | Self::Group(name)
            | Self::Pair(name, _) => Some(name),
        }
    }
}

impl fmt::Display for WorldPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::World => f.write_str("the world"),
            Self::Stepper => f.write_str("the stepper"),
            Self::Body(name) => write!(f, "body \"{name}\""),
            Self::Geometry(name) => write!(f, "geometry \"{name}\""),
            Self::Constraint(name) => write!(f, "constraint \"{name}\""),
            Self::Group(name) => write!(f, "group \"{name}\""),
            Self::Pair(a, b) => write!(f, "the pair \"{a}\", \"{b}\""),
            Self::Exclusion(index) => write!(f, "exclusion {index}"),
        }
    }
}

/// A world that cannot be built.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::Isometry3;
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// use pliant_coupling::{Geometry, Mount, WorldBuilder, WorldError};
///
/// let mut builder = WorldBuilder::default();
/// let body = builder.add_body("ball", Box::new(ball)); // it has one frame
/// let mount = Mount::Frame { body, frame: 1, X_FG: Isometry3::identity() };
/// builder.add_geometry(Geometry::new("shell", mount, Shape::sphere(0.1)?, ContactMaterial::default()));
/// let error = builder.build().err().expect("no such frame");
/// assert!(matches!(&error, WorldError::UnknownIndex { index: 1, count: 1, .. }));
/// assert!(error.to_string().starts_with("geometry \"shell\" refers to"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// Two bodies, two geometries or two constraints of the same name.
    #[error("{part} is there twice; names must be unique")]
    DuplicateName {
        /// The second of them.
        part: WorldPart,
    },
    /// A reference to a body, frame, geometry or group that does not exist.
    #[error("{part} refers to {kind} {index}, but there are only {count}")]
    UnknownIndex {
        /// The part with the reference.
        part: WorldPart,
        /// What kind of thing is referred to.
        kind: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A number is out of its range.
    #[error("{part}: {parameter} = {value} {allowed}")]
    Parameter {
        /// Whose it is.
        part: WorldPart,
        /// Which, with its unit.
        parameter: String,
        /// Its value.
        value: f64,
        /// The range allowed.
        allowed: &'static str,
    },
    /// An axis of anisotropic friction that moves with nothing rigid.
    #[error("{part}: the axis of friction {reason}")]
    FrictionAxis {
        /// The pair.
        part: WorldPart,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Contact of edges with a geometry that does not deform.
    #[error(
        "{part}: edges touch where both geometries deform; rigid hulls and meshes have particles along their edges with `edge_spacing`"
    )]
    EdgesOfRigid {
        /// The pair.
        part: WorldPart,
    },
    /// A constraint between two things that both cannot move.
    #[error("constraint \"{name}\" joins the world to itself; at least one side needs a body")]
    ConstraintWithoutBody {
        /// Name of the constraint.
        name: String,
    },
    /// A weld of a point.
    #[error(
        "constraint \"{name}\" is a weld, but one of its anchors is a point, which has no axes; use a ball constraint for each of several points"
    )]
    ConstraintWithoutAxes {
        /// Name of the constraint.
        name: String,
    },
    /// A constraint of a point that is fixed for good.
    #[error(
        "constraint \"{name}\" holds {point} of body \"{body}\", which is fixed already; remove it from the constraint or from the fixed points"
    )]
    ConstraintOfFixedPoint {
        /// Name of the constraint.
        name: String,
        /// Name of the body.
        body: String,
        /// The point, such as `vertex 4`.
        point: String,
    },
    /// A geometry on a frame or in the world without a shape.
    #[error("geometry \"{name}\" has no shape; only a geometry mounted on vertices goes without")]
    ShapeMissing {
        /// Name of the geometry.
        name: String,
    },
    /// A patch geometry on a mount without a frame.
    #[error(
        "geometry \"{name}\" is mounted on vertices, which have no frame for a patch geometry; leave it out"
    )]
    PatchOnVertices {
        /// Name of the geometry.
        name: String,
    },
    /// A compliance on what has no segments.
    #[error(
        "geometry \"{name}\" has a compliance, which is of the segments of a filament; give other geometries a patch geometry instead"
    )]
    ComplianceOffSegments {
        /// Name of the geometry.
        name: String,
    },
    /// A geometry on the segments of a body that has none.
    #[error(
        "geometry \"{name}\" is mounted on the segments of body \"{body}\", whose surface has none; mount it on vertices"
    )]
    NoSegments {
        /// Name of the geometry.
        name: String,
        /// Name of the body.
        body: String,
    },
    /// A material, the collision filter or a pair that is to touch in a patch is not right.
    #[error("{part}: {source}")]
    Geometry {
        /// Whose it is.
        part: WorldPart,
        /// What is wrong.
        source: Box<GeometryError>,
    },
}

impl WorldError {
    /// The part of the world that is wrong, for readers of files that know where they have it from.
    #[must_use]
    pub fn part(&self) -> WorldPart {
        match self {
            Self::DuplicateName { part }
            | Self::UnknownIndex { part, .. }
            | Self::Parameter { part, .. }
            | Self::FrictionAxis { part, .. }
            | Self::EdgesOfRigid { part }
            | Self::Geometry { part, .. } => part.clone(),
            Self::ConstraintWithoutBody { name }
            | Self::ConstraintWithoutAxes { name }
            | Self::ConstraintOfFixedPoint { name, .. } => WorldPart::Constraint(name.clone()),
            Self::ShapeMissing { name }
            | Self::PatchOnVertices { name }
            | Self::ComplianceOffSegments { name }
            | Self::NoSegments { name, .. } => WorldPart::Geometry(name.clone()),
        }
    }
}

/// A step that was not taken; the next state is not to be used, the old one is untouched.
///
/// ```
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{State, Stepper, StrongImplicit, WorldBuilder};
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let world = WorldBuilder::default().build()?;
/// let error = stepper.step(&world, &world.default_state(), -1e-3, &mut State::default()).unwrap_err();
/// assert_eq!(error.to_string(), "time step -0.001 s must be positive and finite");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The time step is not a positive number.
    #[error("time step {0} s must be positive and finite")]
    TimeStep(f64),
    /// The state does not belong to this world.
    #[error("the state has {found} {what}, the world needs {expected}")]
    StateLength {
        /// Bodies, controls or constraints.
        what: &'static str,
        /// Entries found.
        found: usize,
        /// Entries needed.
        expected: usize,
    },
    /// Its [`Cancellation`](pliant_contact_sap::Cancellation) was requested.
    #[error("step {step} (t = {time_s} s) was cancelled")]
    Cancelled {
        /// Number of the step.
        step: u64,
        /// Time at its start.
        time_s: f64,
    },
    /// A body cannot take the step.
    #[error("step {step} (t = {time_s} s), body \"{body}\": {source}")]
    Body {
        /// Number of the step.
        step: u64,
        /// Time at its start.
        time_s: f64,
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: BodyError,
    },
    /// Fixed substeps are too long to be stable.
    #[error(
        "step {step} (t = {time_s} s), body \"{body}\": substeps are too long, {limit}; a step needs at least {least} of them: ask for as many, for an automatic number, or for unchecked ones"
    )]
    UnstableSubsteps {
        /// Number of the step.
        step: u64,
        /// Time at its start.
        time_s: f64,
        /// Name of the body.
        body: String,
        /// The object, its material and the limit.
        limit: String,
        /// The least number that is stable.
        least: u32,
    },
    /// A step would take more substeps than are allowed, for a body that is too fast or too stiff.
    #[error(
        "step {step} (t = {time_s} s), body \"{body}\": the step needs {needed:.1e} substeps, at most {most} are taken, as {limit}; take shorter steps, or find out why it is so fast or so stiff"
    )]
    TooManySubsteps {
        /// Number of the step.
        step: u64,
        /// Time at its start.
        time_s: f64,
        /// Name of the body.
        body: String,
        /// The object, its material, and the speed that sets the limit.
        limit: String,
        /// How many it needs.
        needed: f64,
        /// How many are allowed.
        most: u32,
    },
    /// Adaptive steps are too short to reach the end of the step.
    #[error(
        "step {step} (t = {time_s} s): more than {most} adaptive steps within one, the last ones of {length_s:.1e} s; allow a larger error, or a longer shortest step"
    )]
    TooManyAdaptiveSteps {
        /// Number of the step.
        step: u64,
        /// Time at its start.
        time_s: f64,
        /// Length of the last adaptive step, s.
        length_s: f64,
        /// How many are allowed.
        most: u32,
    },
    /// A contact geometry or a constraint refers to a point that its body does not have.
    #[error("step {step} (t = {time_s} s), {what}: body \"{body}\": {source}")]
    Point {
        /// Number of the step.
        step: u64,
        /// Time at its start.
        time_s: f64,
        /// Geometry or constraint.
        what: String,
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: BodyError,
    },
    /// Contact between two geometries could not be computed.
    #[error("step {step} (t = {time_s} s), geometries \"{a}\" and \"{b}\": {source}")]
    Geometry {
        /// Number of the step.
        step: u64,
        /// Time at its start.
        time_s: f64,
        /// First geometry.
        a: String,
        /// Second geometry.
        b: String,
        /// What is wrong.
        source: Box<GeometryError>,
    },
    /// No contact geometry handles this pair.
    #[error(
        "no contact geometry handles the pair \"{a}\", \"{b}\"; exclude the pair, change a shape, or add a contact geometry of your own"
    )]
    NoContactGeometry {
        /// First geometry.
        a: String,
        /// Second geometry.
        b: String,
    },
    /// The contact problem could not be solved.
    #[error("step {step} (t = {time_s} s): {source}{body}")]
    Solve {
        /// Number of the step.
        step: u64,
        /// Time at its start.
        time_s: f64,
        /// What is wrong.
        source: SolveError,
        /// Name of the body in question, as a phrase; empty if there is none.
        body: String,
    },
    /// A constraint's anchors are where the constraint has no direction.
    #[error(
        "step {step} (t = {time_s} s), constraint \"{constraint}\": its anchors are {distance:e} m apart, too close for a distance constraint of {length} m; use a ball constraint"
    )]
    ConstraintDegenerate {
        /// Number of the step.
        step: u64,
        /// Time at its start.
        time_s: f64,
        /// Name of the constraint.
        constraint: String,
        /// Distance between the anchors.
        distance: f64,
        /// Length asked for.
        length: f64,
    },
}

impl StepError {
    pub(crate) fn check_time_step(time_step_s: f64) -> Result<(), Self> {
        match time_step_s > 0.0 && time_step_s.is_finite() {
            true => Ok(()),
            false => Err(Self::TimeStep(time_step_s)),
        }
    }

    pub(crate) fn of_body(world: &World, state: &State, body: BodyIdx, source: BodyError) -> Self {
        if source == BodyError::Cancelled {
            return Self::cancelled(state);
        }
        Self::Body {
            step: state.step,
            time_s: state.time_s,
            body: world.body_name(body).into(),
            source,
        }
    }

    pub(crate) fn cancelled(state: &State) -> Self {
        Self::Cancelled {
            step: state.step,
            time_s: state.time_s,
        }
    }

    pub(crate) fn of_point(
        world: &World,
        state: &State,
        what: String,
        body: BodyIdx,
        source: BodyError,
    ) -> Self {
        Self::Point {
            step: state.step,
            time_s: state.time_s,
            what,
            body: world.body_name(body).into(),
            source,
        }
    }

    pub(crate) fn of_pair(
        world: &World,
        state: &State,
        (a, b): (GeometryIdx, GeometryIdx),
        source: GeometryError,
    ) -> Self {
        let name = |g: GeometryIdx| world.geometries()[g.0].name.clone();
        Self::Geometry {
            step: state.step,
            time_s: state.time_s,
            a: name(a),
            b: name(b),
            source: Box::new(source),
        }
    }

    pub(crate) fn of_solve(world: &World, state: &State, source: SolveError) -> Self {
        if source == SolveError::Cancelled {
            return Self::cancelled(state);
        }
        let body = match source.participant() {
            Some(p) if p.0 < world.n_bodies() => {
                format!(
                    "; participant {p} is the body \"{}\"",
                    world.body_name(BodyIdx(p.0))
                )
            }
            _ => String::new(),
        };
        Self::Solve {
            step: state.step,
            time_s: state.time_s,
            source,
            body,
        }
    }
}
