//! What can go wrong before anything is timed.

use pliant_constitutive::ParameterError;
use pliant_coupling::{StepError, WorldError};
use pliant_fem::FemError;
use pliant_hydroelastic::GeometryError;
use pliant_hydroelastic::mesh::MeshError;
use pliant_multibody::MultibodyError;

/// A scene that cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A file cannot be read.
    #[error("{file}: {source}")]
    Unreadable {
        /// Its path.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error("{file}: {source}")]
    Unwritable {
        /// Its path.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// Not the JSON that was expected.
    #[error("{what}: {source}")]
    Json {
        /// What was being read.
        what: String,
        /// Why not.
        source: serde_json::Error,
    },
    /// A shape that does not exist.
    #[error("body \"{name}\": {source}")]
    Shape {
        /// Whose shape.
        name: String,
        /// Why not.
        source: GeometryError,
    },
    /// A mesh file that cannot be used.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// An elastic constant out of range.
    #[error(transparent)]
    Material(#[from] ParameterError),
    /// A soft body that cannot be built.
    #[error(transparent)]
    Fem(#[from] FemError),
    /// A step whose solver gave up.
    #[error("the step to t = {time_s} s missed the solver's tolerance")]
    Unconverged {
        /// Time at its end.
        time_s: f64,
    },
    /// A bundled scene that could not be run.
    #[error("scene \"{name}\": {reason}")]
    Scene {
        /// Its name.
        name: String,
        /// What the runner says.
        reason: String,
    },
    /// A table has no row of that name.
    #[error("no row \"{name}\"; there are {known}")]
    NoSuchRow {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// A robot or body that cannot be built.
    #[error(transparent)]
    Multibody(#[from] MultibodyError),
    /// A world that cannot be built.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A step that was not taken.
    #[error(transparent)]
    Step(#[from] StepError),
    /// An engine that does not know this kind of scene.
    #[error("{engine} does not run scene \"{scene}\": {why}")]
    Unsupported {
        /// The engine.
        engine: &'static str,
        /// The scene.
        scene: String,
        /// What it lacks.
        why: &'static str,
    },
}
