//! Quantities that observables measure, by name.

use std::sync::Arc;

use nalgebra::{UnitQuaternion, Vector3};
use pliant_coupling::{State, StepReport, World};

use super::Registry;
use crate::runner::LayerCount;
use crate::runner::views::{ConstraintView, ContactView, FrameView, JointView, MassView, SoftView};
use crate::scene::{Component, Key, SceneError, Subject, TableReader};

/// Reads the settings of a quantity from `[[observables]]`.
pub type ReadQuantity = dyn Fn(&TableReader<'_>) -> Result<Quantity, SceneError> + Send + Sync;

/// What an observable measures: a name, a unit, and the measurement itself.
///
/// The built-in ones are in the [registry](Registry); [`Registry::quantity`] adds others.
///
/// ```
/// use pliant::Registry;
/// use pliant::registry::Snapshot;
/// use pliant::scene::{Scene, SceneOptions};
///
/// let mut registry = Registry::default();
/// registry.quantity("height", "m", &[], |_| Ok(|snapshot: &Snapshot<'_>| snapshot.state.bodies[0].q[2]));
/// let options = SceneOptions { registry, ..SceneOptions::default() };
/// let text = r#"
///     schema = 1
///     title = "a ball"
///     simulation = { smoke_s = 1 }
///     [[bodies]]
///     name = "ball"
///     shape = { sphere = { radius = 0.1 } }
///     [[observables]]
///     name = "ball.height"
///     quantity = "height"
/// "#;
/// let scene = Scene::parse("ball.toml", text, &options)?;
/// let quantity = &scene.observables[0].quantity;
/// assert_eq!((quantity.name(), quantity.unit()), ("height", "m"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Quantity {
    /// As `quantity = "..."` names it.
    pub(crate) name: String,
    /// Its components, the default first; empty for a plain number.
    pub(crate) components: &'static [Component],
    /// SI unit, empty for what has none.
    pub(crate) unit: &'static str,
    /// What it means.
    pub(crate) about: &'static str,
    pub(crate) measure: Measure,
}

impl Quantity {
    /// As `quantity = "..."` names it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SI unit, empty for what has none.
    pub fn unit(&self) -> &str {
        self.unit
    }

    /// What it is measured of.
    pub(crate) fn subject(&self) -> Subject {
        self.measure.subject()
    }
}

impl std::fmt::Debug for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Quantity")
            .field("name", &self.name)
            .field("unit", &self.unit)
            .finish_non_exhaustive()
    }
}

/// What a sensor on a link reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SensorKind {
    /// Specific force.
    Accelerometer,
    /// Angular velocity.
    Gyroscope,
    /// Force of the parent through the joint of the link.
    ReactionForce,
    /// Its torque.
    ReactionTorque,
}

impl SensorKind {
    /// Whether it needs a joint to a parent.
    pub(crate) fn is_of_a_joint(self) -> bool {
        matches!(self, Self::ReactionForce | Self::ReactionTorque)
    }
}

/// How a quantity is measured, and of what.
#[derive(Clone)]
pub(crate) enum Measure {
    /// Of a point of a rigid body, or of the centre of a soft body or region.
    Point {
        rigid: fn(&FrameView) -> Value,
        soft: fn(&SoftView<'_>) -> Value,
    },
    /// Of a rigid body.
    Frame(fn(&FrameView) -> Value),
    /// Of a sensor on a link.
    Sensor(SensorKind),
    /// Of a joint with one degree of freedom.
    Joint(fn(&JointView<'_>) -> f64),
    /// Of the contacts of the last step.
    Contact(fn(&ContactView<'_>) -> Value),
    /// Of anything that has mass.
    Mass(fn(&MassView<'_>) -> Value),
    /// Of a soft body or region.
    Soft(fn(&SoftView<'_>) -> Value),
    /// Of a soft body or region that has the same points at all times.
    SamePoints(fn(&SoftView<'_>) -> Value),
    /// Of a whole soft body.
    SoftBody(fn(&SoftView<'_>) -> Value),
    /// Crossings of rods, counted from the start of the run.
    StrandCrossings,
    /// Of the attachments of penalty forces, since the last measurement.
    AttachmentsChanged,
    /// Of whole cloths, by default all.
    ClothLayers(LayerCount),
    /// Of a constraint, after the first step.
    Constraint(fn(&ConstraintView<'_>) -> Value),
    /// Of the last step.
    Step(fn(&StepReport) -> f64),
    /// Arithmetic of other observables.
    Expression,
    /// One's own.
    Own(Arc<dyn Fn(&Snapshot<'_>) -> f64 + Send + Sync>),
}

impl Measure {
    pub(crate) fn subject(&self) -> Subject {
        match self {
            Self::Point { .. } | Self::Frame(_) => Subject::Frame,
            Self::Sensor(_) => Subject::Link,
            Self::Joint(_) => Subject::Joint,
            Self::Contact(_) | Self::AttachmentsChanged => Subject::Contact,
            Self::Mass(_) => Subject::Mass,
            Self::Soft(_) | Self::SamePoints(_) | Self::SoftBody(_) => Subject::Soft,
            Self::StrandCrossings => Subject::Rod,
            Self::ClothLayers(_) => Subject::Cloth,
            Self::Constraint(_) => Subject::Constraint,
            Self::Step(_) | Self::Expression | Self::Own(_) => Subject::Whole,
        }
    }
}

/// A measured value, before its component is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// A plain number.
    Scalar(f64),
    /// In world axes.
    Vector(Vector3<f64>),
    /// R_WF of a frame F.
    Orientation(UnitQuaternion<f64>),
    /// Of contact, N: the sum in world axes, that of its normal parts, and the length of what is left without them.
    Force {
        sum: Vector3<f64>,
        normal: f64,
        tangential: f64,
    },
}

impl Value {
    /// One component; NaN for one that such a value does not have.
    pub(crate) fn component(&self, component: Component) -> f64 {
        match self {
            Self::Scalar(value) => *value,
            Self::Vector(vector) => of_vector(vector, component),
            Self::Orientation(R_WF) => of_orientation(R_WF, component),
            Self::Force {
                sum,
                normal,
                tangential,
            } => match component {
                Component::Normal => *normal,
                Component::Tangential => *tangential,
                _ => of_vector(sum, component),
            },
        }
    }
}

pub(crate) fn of_vector(vector: &Vector3<f64>, component: Component) -> f64 {
    match component {
        Component::Norm => vector.norm(),
        Component::X => vector.x,
        Component::Y => vector.y,
        Component::Z => vector.z,
        Component::Along(direction) => direction.dot(vector),
        Component::Normal
        | Component::Tangential
        | Component::Tilt
        | Component::Roll
        | Component::Pitch
        | Component::Yaw => f64::NAN,
    }
}

fn of_orientation(R_WF: &UnitQuaternion<f64>, component: Component) -> f64 {
    let (roll, pitch, yaw) = R_WF.euler_angles();
    match component {
        Component::Roll => roll,
        Component::Pitch => pitch,
        Component::Yaw => yaw,
        Component::Tilt => {
            // atan2 keeps its digits near 0 and π, where acos loses half of them.
            let z = R_WF * Vector3::z();
            z.x.hypot(z.y).atan2(z.z)
        }
        Component::Norm
        | Component::X
        | Component::Y
        | Component::Z
        | Component::Along(_)
        | Component::Normal
        | Component::Tangential => f64::NAN,
    }
}

/// A state of the world and the step that led to it.
///
/// ```
/// use pliant::Registry;
/// use pliant::registry::Snapshot;
/// use pliant::runner::Simulation;
/// use pliant::scene::{Scene, SceneOptions};
///
/// // The change of the kinetic energy in the last step, J; there is none at the start.
/// let mut registry = Registry::default();
/// registry.quantity("work", "J", &[], |_| {
///     Ok(|snapshot: &Snapshot<'_>| {
///         let kinetic = |state| snapshot.world.energy(state).kinetic;
///         snapshot.step.map_or(f64::NAN, |(_, before)| kinetic(snapshot.state) - kinetic(before))
///     })
/// });
/// let options = SceneOptions { registry, ..SceneOptions::default() };
/// # let text = r#"
/// #     schema = 1
/// #     title = "a ball falls"
/// #     simulation = { smoke_s = 1, time_step_s = 0.01 }
/// #     [[bodies]]
/// #     name = "ball"
/// #     shape = { sphere = { radius = 0.1 } }
/// #     mass = 2
/// #     [[observables]]
/// #     name = "ball.work"
/// #     quantity = "work"
/// # "#;
/// let scene = Scene::parse("ball.toml", text, &options)?;
/// let mut simulation = Simulation::new(&scene)?;
/// assert!(simulation.measure()[0].is_nan());
/// simulation.step(|_| {})?;
/// // 2 kg from rest to g Δt.
/// assert!((simulation.measure()[0] - 0.0981_f64.powi(2)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    /// The world.
    pub world: &'a World,
    /// Its state.
    pub state: &'a State,
    /// The report of the last step and the state it started from; none at the start of a run.
    pub step: Option<(&'a StepReport, &'a State)>,
}

impl Registry {
    /// Registers a quantity for `[[observables]] quantity = "..."`.
    ///
    /// `keys` are its settings in that table; `read` reads them and returns what measures: NaN stands for no value. `unit` is
    /// printed in tables and plots.
    ///
    /// ```
    /// use pliant::Registry;
    /// use pliant::registry::Snapshot;
    /// use pliant::runner::Simulation;
    /// use pliant::scene::{Scene, SceneOptions};
    ///
    /// // Bodies above the plane z = 0.
    /// let mut registry = Registry::default();
    /// registry.quantity("bodies-above", "", &[], |_| {
    ///     Ok(|snapshot: &Snapshot<'_>| snapshot.state.bodies.iter().filter(|body| body.q[2] > 0.0).count() as f64)
    /// });
    /// let options = SceneOptions { registry, ..SceneOptions::default() };
    /// let text = r#"
    ///     schema = 1
    ///     title = "two balls"
    ///     simulation = { smoke_s = 1 }
    ///     [[bodies]]
    ///     name = "low"
    ///     shape = { sphere = { radius = 0.1 } }
    ///     pose = { position = [0, 0, -1] }
    ///     [[bodies]]
    ///     name = "high"
    ///     shape = { sphere = { radius = 0.1 } }
    ///     pose = { position = [0, 0, 1] }
    ///     [[observables]]
    ///     name = "above"
    ///     quantity = "bodies-above"
    /// "#;
    /// assert_eq!(Simulation::new(&Scene::parse("balls.toml", text, &options)?)?.measure(), [1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn quantity<M>(
        &mut self,
        name: &str,
        unit: &'static str,
        keys: &'static [Key],
        read: impl Fn(&TableReader<'_>) -> Result<M, SceneError> + Send + Sync + 'static,
    ) -> &mut Self
    where
        M: Fn(&Snapshot<'_>) -> f64 + Send + Sync + 'static,
    {
        let own = name.to_owned();
        let read: Box<ReadQuantity> = Box::new(move |table| {
            Ok(Quantity {
                name: own.clone(),
                components: &[],
                unit,
                about: "",
                measure: Measure::Own(Arc::new(read(table)?)),
            })
        });
        self.quantities.add(name.to_owned(), keys, read);
        self
    }

    pub(super) fn built_in_quantity(&mut self, quantity: Quantity) {
        let name = quantity.name.clone();
        let read: Box<ReadQuantity> = Box::new(move |_| Ok(quantity.clone()));
        self.quantities.add(name, &[], read);
    }
}
