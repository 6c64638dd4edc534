//! Errors of the benchmarks.

use pliant_constitutive::ParameterError;
use pliant_coupling::{StepError, WorldError};
use pliant_fem::FemError;
use pliant_hydroelastic::GeometryError;
use pliant_hydroelastic::mesh::MeshError;
use pliant_multibody::MultibodyError;

/// Why a benchmark could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A file cannot be read.
    #[error("{file}: {source}")]
    Unreadable {
        /// Its path.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error("{file}: {source}")]
    Unwritable {
        /// Its path.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
    /// Invalid JSON.
    #[error("{what}: {source}")]
    Json {
        /// The source of the text.
        what: String,
        /// The reason.
        source: serde_json::Error,
    },
    /// Invalid sizes of a shape.
    #[error("body \"{name}\": {source}")]
    Shape {
        /// Name of the body.
        name: String,
        /// The reason.
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
    /// A step whose solver did not converge.
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
        /// Message of the runner.
        reason: String,
    },
    /// A table has no row of that name.
    #[error("no row \"{name}\"; there are {known}")]
    NoSuchRow {
        /// The name.
        name: String,
        /// The known names.
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
    /// A scene that an engine does not support.
    #[error("{engine} does not run scene \"{scene}\": {why}")]
    Unsupported {
        /// The engine.
        engine: &'static str,
        /// The scene.
        scene: String,
        /// The reason.
        why: &'static str,
    },
}
