//! Scene files as data: the world, events over time, measurements and expectations.
//!
//! A [`Scene`] is read from TOML and checked as far as the file alone allows; `docs/reference/scene` lists every key. Names
//! inside robot files are looked up later, when the [`runner`](crate::runner) builds the world; the scene keeps the
//! locations of all names for error messages.
//!
//! ```
//! use pliant::scene::{Scene, SceneOptions};
//!
//! let text = r#"
//!     schema = 1
//!     title = "a ball falls"
//!     [parameters]
//!     height = 2.0
//!     [simulation]
//!     smoke_s = 0.5
//!     [[bodies]]
//!     name = "ball"
//!     shape = { sphere = { radius = 0.1 } }
//!     pose = { position = [0, 0, "height + 0.1"] }
//! "#;
//! let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
//! assert_eq!(scene.bodies[0].pose.translation.z, 2.1);
//! # Ok::<(), pliant::scene::SceneError>(())
//! ```

mod body;
pub(crate) mod budget;
pub mod bundled;
mod camera;
mod constraint;
mod contact;
mod device;
mod digest;
mod drive;
mod error;
mod expect;
pub mod expression;
mod files;
mod fingerprint;
mod height_field;
mod image_sensor;
mod item;
mod key_override;
mod material;
mod model;
mod names;
mod observable;
mod pairs;
mod parameters;
mod pose;
mod quantity;
mod random;
mod read;
mod repeat;
mod run_time;
mod schema;
mod settings;
mod shape;
mod soft;
mod solver;
mod stepper;
mod table;
mod text;
mod track;
mod trajectory;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant_coupling::ContactSettings;

use crate::registry::Registry;
pub(crate) use body::FixedEntry;
pub use body::{BodyEntry, BodyTemplate, GravityEntry, PlacedShape};
pub(crate) use camera::CameraEntry;
pub(crate) use constraint::{ConstraintEntry, ConstraintKind};
pub(crate) use contact::register as register_contact_models;
pub use device::SharedDevice;
pub(crate) use digest::Digest;
pub use drive::{Drives, JointDrive};
pub(crate) use drive::{Follow, FrameTarget, LoadAxes, LoadEntry};
pub(crate) use error::remedy;
pub use error::{SceneError, SceneFault};
pub use expect::{Bounds, Expectation, Reduction, Window};
pub use fingerprint::{KeyChange, SceneFingerprint};
pub use height_field::HeightFieldEntry;
pub(crate) use height_field::{HeightRows, Heights};
pub(crate) use image_sensor::ImageSensorEntry;
pub use item::NamedReference;
pub use material::{Hydroelastic, Surface};
pub(crate) use material::{Materials, SOFT_INSTEAD};
pub(crate) use model::{
    ActuatorEntry, CompensationEntry, JointValues, ModelEntry, Positions, RootEntry,
};
pub(crate) use names::{NameKind, Names};
pub(crate) use observable::Among;
pub use observable::ObservableEntry;
pub(crate) use pairs::{FilterEntry, PairEntry};
pub use parameters::ParameterOverride;
pub use quantity::quantities_markdown;
pub(crate) use quantity::{Component, Subject};
pub use schema::{Key, REQUIRED, TableSchema, ValueKind, tables};
pub use settings::{RecordingRates, Simulation};
pub use shape::{MeshUse, ShapeEntry};
pub(crate) use soft::register_materials;
pub use soft::{
    CentrelineEntry, ClothEntry, FemEntry, GridEntry, Matter, NaturalScatter, OwnBodyEntry,
    PointsEntry, RodEntry, SoftBodies, SoftEntry,
};
pub(crate) use soft::{
    ClothShape, FilledPart, RegionEntry, RegionShape, RodEnd, RodModel, SelfContact, Shown,
    SolidMesh, SourceEntry, TouchesBy,
};
pub use solver::Solver;
pub(crate) use solver::register as register_solvers;
pub use stepper::SceneStepper;
pub(crate) use stepper::register as register_steppers;
pub use table::TableReader;
pub use text::{SceneText, SourceLocation};
pub(crate) use track::PoseTrack;
pub use track::{Track, TrackInterpolation};

/// The version of the schema this program reads.
pub const SCHEMA_VERSION: u32 = 1;

/// Values that override those of a scene file, and the parts that the file may name.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let options = SceneOptions {
///     parameters: vec!["mu=0.3".parse()?, "contact.model=sap".parse()?],
///     time_step_s: Some(0.002),
///     ..SceneOptions::default()
/// };
/// let scene = Scene::load("box-on-incline", &options)?;
/// assert_eq!(scene.parameters["mu"], 0.3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SceneOptions {
    /// Values of parameters and keys.
    pub parameters: Vec<ParameterOverride>,
    /// Time step Δt, s; also the value of `dt` in expressions.
    pub time_step_s: Option<f64>,
    /// Name of the solver.
    pub solver: Option<String>,
    /// The parts that the file may name; the built-in ones by default.
    pub registry: Registry,
}

/// A scene, read and checked.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("box-stack", &SceneOptions::default())?;
/// assert_eq!(scene.bodies.len(), 10);
/// assert_eq!(scene.simulation.time_step_s, 0.005);
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scene {
    /// Its text, for error messages.
    pub text: Arc<SceneText>,
    /// The folder that paths in it are relative to; `None` for bundled scenes.
    pub folder: Option<PathBuf>,
    /// With what it was read.
    options: SceneOptions,
    uses: run_time::ParameterUses,
    acting: fingerprint::ActingKeys,
    /// Title, one line.
    pub title: String,
    /// Description, with suggestions for variations.
    pub description: String,
    /// Values of the parameters, overrides included.
    pub parameters: BTreeMap<String, f64>,
    /// Time step, lengths, gravity.
    pub simulation: Simulation,
    /// The time stepper.
    pub stepper: SceneStepper,
    /// The contact model.
    pub contact: ContactSettings,
    /// The solver.
    pub solver: Solver,
    /// How often frames and rows are recorded.
    pub recording: RecordingRates,
    /// Cameras of the replay; the first is that of the initial view.
    pub(crate) cameras: Vec<CameraEntry>,
    /// Cameras on bodies that take images.
    pub(crate) image_sensors: Vec<ImageSensorEntry>,
    /// Named surface materials.
    pub(crate) materials: Materials,
    /// Fixed shapes.
    pub(crate) fixed: Vec<FixedEntry>,
    /// Rigid bodies; those of repeats follow those of `[[bodies]]`.
    pub bodies: Vec<BodyEntry>,
    /// Names of repeats and the indices of their bodies.
    pub(crate) repeats: Vec<(NamedReference, std::ops::Range<usize>)>,
    /// Deformable bodies.
    pub soft: SoftBodies,
    /// Robots.
    pub(crate) models: Vec<ModelEntry>,
    /// Pairs without contact.
    pub(crate) filters: Vec<FilterEntry>,
    /// Contact parameters of pairs.
    pub(crate) pairs: Vec<PairEntry>,
    /// Constraints between bodies.
    pub(crate) constraints: Vec<ConstraintEntry>,
    /// Targets, prescribed motions and loads over time.
    pub drives: Drives,
    /// Columns of the table of observables.
    pub observables: Vec<ObservableEntry>,
    /// Checks of the results.
    pub expectations: Vec<Expectation>,
    /// What each name refers to.
    pub(crate) names: Names,
}

impl Scene {
    /// Reads a scene from `text`; error messages call it `name`.
    ///
    /// # Errors
    /// The first error, with line, column, the offending text and a remedy.
    pub fn parse(name: &str, text: &str, options: &SceneOptions) -> Result<Self, SceneError> {
        read::scene(SceneText::new(name, text), options)
    }

    /// Reads the bundled scene of that name, or the file at that path.
    ///
    /// # Errors
    /// [`SceneError::NoSuchScene`], [`SceneError::Unreadable`], or an error of [`Scene::parse`].
    pub fn load(name_or_path: &str, options: &SceneOptions) -> Result<Self, SceneError> {
        let path = Path::new(name_or_path);
        let is_bare_name = path.components().count() == 1 && path.extension().is_none();
        if is_bare_name && let Some(text) = bundled::scene(name_or_path) {
            return Self::parse(name_or_path, text, options);
        }
        if !path.is_file() {
            let stem = path
                .file_stem()
                .map_or(name_or_path.into(), |s| s.to_string_lossy());
            return Err(SceneError::NoSuchScene {
                name: name_or_path.into(),
                remedy: error::nearest(&stem, bundled::SCENES.iter().map(|(name, _)| *name))
                    .map(|near| format!("; did you mean `{near}`?"))
                    .unwrap_or_default(),
            });
        }
        let unreadable = |reason: String| SceneError::Unreadable {
            file: name_or_path.into(),
            reason,
        };
        let bytes = budget::read(path, budget::SCENE_BYTES);
        let bytes = bytes.map_err(|error| unreadable(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
        let mut scene = Self::parse(name_or_path, &text, options)?;
        scene.folder = path.parent().map(Path::to_owned);
        Ok(scene)
    }

    /// The content and the path of a file that it names.
    pub(crate) fn open(&self, file: &NamedReference) -> Result<(Vec<u8>, PathBuf), SceneError> {
        let found = files::open(self.folder.as_deref(), &file.name);
        found.map_err(|reason| self.text.error(file.at, SceneFault::File(reason)))
    }

    /// Parameters, keys, time step and solver that it was read with in place of those of its file, each as `name=value`.
    pub fn settings(&self) -> Vec<String> {
        let SceneOptions {
            parameters,
            time_step_s,
            solver,
            ..
        } = &self.options;
        let given = parameters
            .iter()
            .map(|setting| format!("{}={}", setting.name, setting.value));
        let time_step = time_step_s.map(|dt| format!("time_step_s={dt}"));
        let solver = solver.as_ref().map(|name| format!("solver={name}"));
        given.chain(time_step).chain(solver).collect()
    }

    /// The scene with other values of parameters, read anew from its text. What was set before stays set.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use pliant::scene::{Scene, SceneOptions};
    ///
    /// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
    /// let steep = scene.with_parameters(&BTreeMap::from([("angle".to_owned(), 1.0)]))?;
    /// assert_eq!((steep.parameters["angle"], steep.parameters["mu"]), (1.0, scene.parameters["mu"]));
    /// // What follows from the parameter is computed anew.
    /// assert!(steep.parameters["a"] > scene.parameters["a"]);
    /// # Ok::<(), pliant::scene::SceneError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scene::parse`].
    pub fn with_parameters(&self, values: &BTreeMap<String, f64>) -> Result<Self, SceneError> {
        let mut options = self.options.clone();
        let settings = values.iter().map(|(name, value)| ParameterOverride {
            name: name.clone(),
            value: format!("{value:?}"),
        });
        options.parameters.extend(settings);
        let mut scene = read::scene(Arc::clone(&self.text), &options)?;
        scene.folder.clone_from(&self.folder);
        for (model, own) in scene.models.iter_mut().zip(&self.models) {
            model.packages.clone_from(&own.packages);
        }
        Ok(scene)
    }

    /// The parameters whose change [acts](crate::runner::Simulation::set_parameter) on a run that goes on, without those that others
    /// define.
    ///
    /// ```
    /// use pliant::scene::{Scene, SceneOptions};
    ///
    /// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
    /// let adjustable: Vec<&str> = scene.adjustable_parameters().collect();
    /// // The angle enters the pose of the plane.
    /// assert!(adjustable.contains(&"mu") && !adjustable.contains(&"angle"));
    /// # Ok::<(), pliant::scene::SceneError>(())
    /// ```
    pub fn adjustable_parameters(&self) -> impl Iterator<Item = &str> {
        self.uses.adjustable()
    }

    /// The key of the scene file that the parameter `name` enters and that is fixed once a run has begun; `None` for a parameter that may
    /// be changed.
    ///
    /// ```
    /// use pliant::scene::{Scene, SceneOptions};
    ///
    /// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
    /// assert!(scene.parameter_fixed_at("angle").is_some_and(|key| key.contains("pose")));
    /// assert_eq!(scene.parameter_fixed_at("mu"), None);
    /// # Ok::<(), pliant::scene::SceneError>(())
    /// ```
    pub fn parameter_fixed_at(&self, name: &str) -> Option<&str> {
        self.uses.fixed_at(name)
    }

    /// Its name in reports: the bundled name, or the file's name without extension.
    ///
    /// ```
    /// use pliant::scene::{Scene, SceneOptions};
    ///
    /// let text = "schema = 1\ntitle = \"nothing\"\nsimulation = { smoke_s = 1 }\n";
    /// assert_eq!(Scene::parse("scenes/empty.toml", text, &SceneOptions::default())?.name(), "empty");
    /// # Ok::<(), pliant::scene::SceneError>(())
    /// ```
    pub fn name(&self) -> &str {
        let name = self.text.name();
        Path::new(name)
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or(name)
    }
}

#[cfg(test)]
mod tests;
